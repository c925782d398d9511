"""The one mechanism: k-ary randomized response with a subset, as exact fractions.

Everything about a channel that anyone needs (its law, its de-biasing constants, its ε) is computed
here, once, from three numbers. Nothing in this module draws randomness: drawing is the client's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Final

from .errors import ChannelError

MAX_OPTIONS: Final = 1000
MAX_WEIGHT: Final = 2**32
"""The largest number of equally likely values of one draw (four bytes)."""
_MAX_LAW: Final = 200_000


@dataclass(frozen=True, slots=True)
class Channel:
    """Describe how one answer is randomized, exactly.

    A report is a set of ``subset`` of the ``options``. A set that holds the true answer has odds
    ``odds`` against one that does not; within each group all sets are equally likely. With
    ``subset = 1`` this is k-ary randomized response, and with two options Warner's (1965) design.

    Privacy:
        For any two answers x, x' of one respondent and any report S,
        P(S | x) ≤ odds · P(S | x'), because P(S | x) takes only the two values a/Z and b/Z, where
        Z = a·C(k−1, d−1) + b·C(k−1, d) does not depend on x. So a report is ln(odds)-locally
        differentially private, and no larger odds are ever attained: the bound is exact.

    Args:
        options: Number of options k, 2 to 1,000.
        subset: Size d of a report, 1 ≤ d < k.
        odds: e^ε = a/b as an exact fraction above 1 (an int is taken as int:1).

    Raises:
        ChannelError: If a value is out of range, or one draw would need more than 32 bits.

    References:
        [War65] S. L. Warner, Randomized Response, JASA 60 (1965), 63-69.
        [YB18] M. Ye and A. Barg, Optimal Schemes for Discrete Distribution Estimation Under
        Locally Differential Privacy, IEEE Trans. Inf. Theory 64 (2018), 5662-5676, Section III.

    >>> warner = Channel(options=2, subset=1, odds=Fraction(3))
    >>> warner.p, warner.q
    (Fraction(3, 4), Fraction(1, 4))
    >>> warner.law(0)
    {(0,): Fraction(3, 4), (1,): Fraction(1, 4)}
    """

    options: int
    subset: int
    odds: Fraction

    def __post_init__(self) -> None:
        _check_int("options", self.options, 2, MAX_OPTIONS)
        _check_int("subset", self.subset, 1, self.options - 1)
        object.__setattr__(self, "odds", _checked_odds(self.odds))
        if self.weight > MAX_WEIGHT:
            raise ChannelError(
                f"odds {self.a}:{self.b} with {self.options} options need draws below "
                f"{self.weight}, more than the {MAX_WEIGHT} that four random bytes give"
            )

    @property
    def a(self) -> int:
        """Weight of a set that holds the true answer."""
        return self.odds.numerator

    @property
    def b(self) -> int:
        """Weight of a set that does not."""
        return self.odds.denominator

    @property
    def weight(self) -> int:
        """Number of equally likely values of the draw that decides whether the truth is kept."""
        return self.a * self.subset + self.b * (self.options - self.subset)

    @property
    def p(self) -> Fraction:
        """P(x ∈ S | x): the chance that a report holds the true answer."""
        return Fraction(self.a * self.subset, self.weight)

    @property
    def q(self) -> Fraction:
        """P(j ∈ S | x ≠ j): the chance that a report holds one given other option."""
        return (self.p * (self.subset - 1) + (1 - self.p) * self.subset) / (self.options - 1)

    @property
    def epsilon(self) -> float:
        """ln(odds) in nats, rounded up: a stated ε is never below the true one."""
        return epsilon_of(self.odds)

    def law(self, answer: int) -> dict[tuple[int, ...], Fraction]:
        """Give the probability of every report for one true answer.

        Args:
            answer: Index of the true answer, 0 to k − 1.

        Returns:
            Sorted index tuples with their exact probabilities; they sum to 1.

        Raises:
            ChannelError: If the index is out of range, or there are over 200,000 reports to list.
        """
        k, d = self.options, self.subset
        if not 0 <= answer < k:
            raise ChannelError(f"an option index is 0 to {k - 1}")
        if math.comb(k, d) > _MAX_LAW:
            raise ChannelError(f"{math.comb(k, d)} possible reports are too many to list")
        total = self.a * math.comb(k - 1, d - 1) + self.b * math.comb(k - 1, d)
        inside, outside = Fraction(self.a, total), Fraction(self.b, total)
        return {s: inside if answer in s else outside for s in combinations(range(k), d)}

    def variance(self) -> Fraction:
        """Sum n·Var of the de-biased shares over the options, all options being equally common.

        >>> round(float(Channel(options=10, subset=3, odds=odds_at_most(1)).variance()), 2)
        30.0
        """
        share = Fraction(self.subset, self.options)  # every option is reported equally often
        return self.options * share * (1 - share) / (self.p - self.q) ** 2

    @classmethod
    def best(cls, options: int, odds: Fraction) -> Channel:
        """Choose the subset size with the least total variance at the uniform distribution.

        The optimum is near k/(1 + e^ε) [YB18], so binary and small questions come out as plain
        randomized response. Ties go to the smaller subset.

        >>> Channel.best(100, odds_at_most(1)).subset
        27
        """
        _check_int("options", options, 2, MAX_OPTIONS)
        return _best(options, _checked_odds(odds))


@lru_cache(maxsize=1024)
def _best(options: int, odds: Fraction) -> Channel:
    # Σ Var is unimodal in d with its minimum next to k/(1 + e^ε); one place each side is slack.
    middle = int(options / (1 + odds))
    candidates = {min(max(d, 1), options - 1) for d in range(middle - 1, middle + 3)}
    channels = [Channel(options, d, odds) for d in sorted(candidates)]
    return min(channels, key=Channel.variance)


def epsilon_of(odds: Fraction) -> float:
    """Turn exact odds into ε in nats, rounded up so that it is never understated.

    >>> epsilon_of(Fraction(3)) >= math.log(3)
    True
    """
    # Two logarithms and a difference, each within one unit in the last place.
    logs = math.log(odds.numerator), math.log(odds.denominator)
    return logs[0] - logs[1] + 2 * (math.ulp(logs[0]) + math.ulp(logs[1]))


def odds_at_most(epsilon: object, *, max_denominator: int = 1000) -> Fraction:
    """Find the largest fraction that is at most e^ε, so that the asked ε is never exceeded.

    Args:
        epsilon: ε in nats; an int, float, Decimal or Fraction, 0.001 to 15, so that every draw
            fits in four bytes.
        max_denominator: Largest denominator of the result.

    Raises:
        ChannelError: If ε is not such a number.

    >>> odds_at_most(math.log(3)), odds_at_most(1)
    (Fraction(3, 1), Fraction(1264, 465))
    """
    bound = _exp_below(read_epsilon(epsilon))
    return max(Fraction(math.floor(bound * den), den) for den in range(1, max_denominator + 1))


def parse_odds(text: object) -> Fraction:
    """Read odds such as ``"3:1"``.

    >>> parse_odds("3:1")
    Fraction(3, 1)
    """
    parts = text.split(":") if isinstance(text, str) else []
    if len(parts) != 2 or not all(
        part.strip().isascii() and part.strip().isdigit() for part in parts
    ):
        raise ChannelError(f'odds must be written like "3:1", got {text!r}')
    a, b = (int(part) for part in parts)
    if b == 0:
        raise ChannelError(f'odds must be written like "3:1", got {text!r}')
    return _checked_odds(Fraction(a, b))


def parse_truth(text: object, options: int) -> Fraction:
    """Turn the chance of sending the truth, such as ``"3/4"``, into odds for one of ``options``.

    With a subset of 1, p = a/(a + b(k−1)), so the odds are p(k−1)/(1−p).

    >>> parse_truth("3/4", 2)
    Fraction(3, 1)
    """
    try:
        truth = Fraction(text) if isinstance(text, str) else None
    except (ValueError, ZeroDivisionError):
        truth = None
    if truth is None or not Fraction(1, options) < truth < 1:
        raise ChannelError(
            f'truth must be written like "3/4", above 1/{options} and below 1, got {text!r}'
        )
    return _checked_odds(truth * (options - 1) / (1 - truth))


def read_epsilon(epsilon: object, *, most: int = 15) -> Fraction:
    """Check that ε is a number in range and give it exactly.

    Raises:
        ChannelError: If it is not a number from 0.001 to *most*.
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | Decimal | Fraction):
        raise ChannelError(f"epsilon must be a number, got {epsilon!r}")
    try:
        exact = Fraction(epsilon)
    except (ValueError, OverflowError):  # not a number, or infinite
        exact = Fraction(0)
    if not Fraction(1, 1000) <= exact <= most:
        shown = f"{float(exact):g}" if isinstance(epsilon, Fraction) else epsilon
        raise ChannelError(f"epsilon must be from 0.001 to {most}, got {shown}")
    return exact


def _exp_below(exact: Fraction) -> Fraction:
    """e^ε as a fraction that is below the true value by less than one part in 10^39."""
    context = Context(prec=60)
    power = context.exp(context.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
    return Fraction(power) * (1 - Fraction(1, 10**40))


def _checked_odds(odds: object) -> Fraction:
    if isinstance(odds, bool) or not isinstance(odds, int | Fraction):
        raise ChannelError(f"odds must be an exact Fraction above 1, got {odds!r}")
    if odds <= 1:
        raise ChannelError(f"odds must be above 1, got {odds}")
    return Fraction(odds)


def _check_int(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ChannelError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
