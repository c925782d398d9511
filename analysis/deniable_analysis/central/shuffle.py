"""What mixing the reports adds: reports that nobody can tell whose they are hide among each other.

If a shuffler removes who sent what and in which order, an observer sees only the multiset of
reports. Each respondent then has the local guarantee still, and a far better one besides, because
the reports of the others that would have come out the same whatever their answer was (the *clones*,
or the *blanket*) hide his own.

The server of this package is not such a shuffler: it drops the order of arrival, but whoever runs
it sees each report come in. What is computed here holds where someone else mixes the reports first.

Why this is a bound. Let every respondent but one be known. Whatever his answer, another one's
report is drawn, with chance ``blanket``, from one law U that is the same for everybody (for the
survey's channel: uniform over the reports that do not hold both of the compared answers). Show the
observer the reports not so drawn, and, with chance 1 − ``distinct``, that the victim's report
distinguishes nothing. What is left is a multiset of N = B + 1 reports, B binomial, of which i hold
the one answer and j the other; it has probability U(multiset)·(N + (r − 1)i)/(NZ) under the one
answer and the same with j under the other, with r = e^ε₀ and Z = 1 + (r − 1)·pair. All that was
shown can only help the observer, so the hockey-stick divergence of the two is at least the true δ.

For an arbitrary ε₀-private randomizer ``blanket`` is e^(−ε₀) [FMT21, Theorem 3.1, numerical form];
for two options it is 2/(e^ε₀ + 1), as in [FMT23]. For more options [FMT23] keeps hidden whether the
victim's report distinguishes anything; its errata report an error in the proof of that step, and
restrict it to certain randomizers. Here the blanket covers the indifferent reports too, as in
[BBGN19], so that nothing rests on it.

References:
    [BBGN19] B. Balle, J. Bell, A. Gascón and K. Nissim, *The Privacy Blanket of the Shuffle
    Model*, CRYPTO 2019 (arXiv:1903.02837).
    [FMT21] V. Feldman, A. McMillan and K. Talwar, *Hiding Among the Clones*, FOCS 2021
    (arXiv:2012.12803).
    [FMT23] V. Feldman, A. McMillan and K. Talwar, *Stronger Privacy Amplification by Shuffling for
    Rényi and Approximate Differential Privacy*, SODA 2023 (arXiv:2208.04591, with errata).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from deniable_protocol import Channel
from deniable_protocol.errors import MechanismError

from .arguments import above_zero, at_least_zero, exact, inside_unit, whole
from .events import ApproximateEvent
from .profiles import log_odds

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

MOST_MIXED = 10**7
"""Reports beyond this many are left out of the computation; they could only hide more."""

_TAIL = 1e-40
# Binomial terms are right to about 1e-12; a thousand times that is added to every δ.
_ROUNDING = 1e-9
# Where to cut the blanket's size into blocks, in its standard deviations.
_CUTS = np.array([-9, -7, -6, -5, -4.5, -4, -3.5, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3])
_FEW_CUTS = np.array([-9, -6, -4, -2, 0])  # for sizes that differ by less than a thousandth
_MOST_SIZES = 100


@dataclass(frozen=True)
class Shuffled:
    """One report among many that a shuffler has mixed.

    Built by :meth:`of` from a survey's channel, or by :meth:`of_epsilon` for any randomizer.

    Privacy:
        Local ε₀ for everyone, against anybody; (ε, δ) as computed here against those who see only
        the mixed reports, also if all other respondents' answers are known to them. Neighbours
        replace one answer.

    Args:
        odds: r = e^ε₀ of one report.
        blanket: Chance that another's report is drawn from U.
        pair: Chance that a report from U holds the one answer and not the other.
        distinct: Chance that the victim's report does not hold both.
        respondents: n, how many reports are mixed.

    >>> mixed = Shuffled.of(Channel(options=2, subset=1, odds=Fraction(3)), 1000)
    >>> round(mixed.epsilon(1e-6), 3)
    0.168
    """

    odds: Fraction
    blanket: float
    pair: float
    distinct: float
    respondents: int

    def __post_init__(self) -> None:
        above_zero("odds", self.odds)
        whole("respondents", self.respondents)
        for name, value, most in (
            ("blanket", self.blanket, 1.0), ("pair", self.pair, 0.5),
            ("distinct", self.distinct, 1.0),
        ):  # fmt: skip
            if not 0 < float(exact(name, value)) <= most:
                raise MechanismError(f"{name} must be above 0 and at most {most:g}, got {value!r}")
        if self.odds <= 1:
            raise MechanismError(f"odds must be above 1, got {self.odds}")

    @classmethod
    def of(cls, channel: Channel, respondents: int) -> Shuffled:
        """Mix the reports to one question of a survey.

        Args:
            channel: The question's channel.
            respondents: How many reports are mixed.
        """
        k, d, odds = channel.options, channel.subset, channel.odds
        least = 1 / (odds * Fraction(d, k) + Fraction(k - d, k))  # least ratio of a report to 1/#
        both = Fraction(d * (d - 1), k * (k - 1))
        pair = Fraction(d * (k - d), k * (k - 1)) / (1 - both)
        return cls(
            odds, float(least * (1 - both)), float(pair), float(1 - least * odds * both),
            whole("respondents", respondents),
        )  # fmt: skip

    @classmethod
    def of_epsilon(cls, epsilon: float, respondents: int) -> Shuffled:
        """Mix the reports of any ε₀-private randomizer [FMT21, Theorem 3.1].

        Args:
            epsilon: ε₀ of one report, at most 500.
            respondents: How many reports are mixed.
        """
        if above_zero("epsilon", epsilon) > 500:
            raise MechanismError(f"epsilon of one report must be at most 500, got {epsilon!r}")
        # Rounded up: a larger ε₀ has a larger δ.
        odds = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**12))
        return cls(odds, math.exp(-epsilon) * (1 - 1e-12), 0.5, 1.0, respondents)

    @property
    def local_epsilon(self) -> float:
        """ε₀ of one report by itself; the mixed ε is never above it."""
        return log_odds(self.odds)

    def delta(self, epsilon: float) -> float:
        """Return a certified upper bound of δ(ε)."""
        return self._delta(float(at_least_zero("epsilon", epsilon)), _TAIL)

    def epsilon(self, delta: float) -> float:
        """Find an ε that is certified to hold with δ; at most the local one.

        Args:
            delta: In (0, 1).
        """
        wanted = inside_unit("delta", delta)
        tail, most = max(wanted * 1e-5, 1e-305), self.local_epsilon

        def excess(epsilon: float) -> float:
            return math.log(max(self._delta(epsilon, tail), 1e-320)) - math.log(wanted)

        if excess(0.0) <= 0:
            return 0.0
        low, high = 0.0, most
        while high > 1e-12 and excess(high / 2) <= 0:
            high /= 2
        low = high / 2 if high < most or excess(most * (1 - 1e-9)) <= 0 else most
        if low == most:
            return most
        high = min(high, most * (1 - 1e-9))
        found = float(brentq(excess, low, high, xtol=1e-12, rtol=1e-10))
        step = 1e-10
        while found < most and excess(found) > 0:
            found, step = found * (1 + step), 4 * step
        return min(found, most)

    def meets(self, epsilon: float, delta: float) -> bool:
        """Tell whether (ε, δ) is certified for the mixed reports."""
        wanted = inside_unit("delta", delta)
        tail = max(wanted * 1e-5, 1e-305)
        return self._delta(float(at_least_zero("epsilon", epsilon)), tail) <= wanted

    def event(self, delta: float) -> ApproximateEvent:
        """Give the mixed release as an event, for the accountants."""
        return ApproximateEvent(self.epsilon(delta), inside_unit("delta", delta))

    def _delta(self, epsilon: float, tail: float) -> float:
        if epsilon >= self.local_epsilon:
            return 0.0
        others = min(self.respondents, MOST_MIXED) - 1
        hidden, weights = _law(np.array([float(others)]), self.blanket, tail)[:2]
        if self.pair == 0.5:
            return min(
                1.0, self.distinct * (self._sum(epsilon, hidden + 1, hidden + 1, weights) + tail)
            )
        hidden, weights = _blocks(hidden, weights, others * self.blanket)
        held, chances, place = _law(hidden + 1, 2 * self.pair, tail)
        found = self._sum(epsilon, (hidden + 1)[place], held, chances * weights[place])
        return min(1.0, self.distinct * (found + 2 * tail))

    def _sum(self, epsilon: float, n: Floats, held: Floats, chances: Floats) -> float:
        """Sum the divergence over how many of n reports hold exactly one of the two answers."""
        excess, grow = float(self.odds - 1), math.exp(epsilon)
        edge = (math.expm1(epsilon) * n / excess + grow * held) / (1 + grow)
        first = np.floor(edge) + 1
        # E(I − edge)₊ of a fair binomial: by de Moivre, Σ_{i ≥ t} (i − m/2) b(i) = t b(t)/2, which
        # leaves a difference of numbers of the same size and not of two huge ones.
        middle = first / 2 * binom.pmf(first, held, 0.5)
        beyond = (edge - held / 2) * binom.sf(first - 1, held, 0.5)
        mean = np.maximum(middle - beyond, 0.0) + _ROUNDING * (middle + np.abs(beyond))
        total = n * (1 + excess * self.pair)
        return float(np.sum(chances * excess * (1 + grow) * mean / total))


def _law(trials: Floats, chance: float, tail: float) -> tuple[Floats, Floats, Places]:
    """List values and chances of several binomials, but for `tail` of each (Bernstein).

    Returns:
        The values of all, one binomial after the other; their chances; and whose each is.
    """
    lost, spread = math.log(2 / tail), trials * chance * (1 - chance)
    reach = lost / 3 + np.sqrt((lost / 3) ** 2 + 2 * lost * spread)
    low = np.maximum(np.floor(trials * chance - reach), 0)
    high = np.minimum(np.ceil(trials * chance + reach), trials)
    lengths = (high - low + 1).astype(np.int64)
    place = np.repeat(np.arange(len(trials)), lengths)
    first = np.cumsum(lengths) - lengths
    values = low[place] + (np.arange(len(place)) - first[place])
    return values, np.asarray(binom.pmf(values, trials[place], chance) * (1 + 1e-11)), place


def _blocks(sizes: Floats, weights: Floats, mean: float) -> tuple[Floats, Floats]:
    """Merge sizes of the blanket into few; a block counts as its smallest, which hides least."""
    if len(sizes) <= _MOST_SIZES:
        return sizes, weights
    deviation = math.sqrt(float(np.sum(weights * (sizes - mean) ** 2)))
    cuts = _CUTS if deviation > mean / 1000 else _FEW_CUTS
    starts = np.unique(np.searchsorted(sizes, mean + deviation * cuts).clip(0, len(sizes) - 1))
    starts = np.union1d([0], starts)
    return sizes[starts], np.add.reduceat(weights, starts)
