"""How an author's budget becomes exact odds for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, Final

from .channel import Channel, epsilon_of, odds_at_most, parse_odds, parse_truth, read_epsilon
from .errors import ChannelError
from .fields import is_number

OWN_KEYS: Final = ("epsilon", "odds", "truth")
MAX_POINTS: Final = 64  # the best grid is finer only beyond the largest epsilon of a question
Build = Callable[[Fraction], Channel]
"""Make the channel of one item from its odds."""


@dataclass(frozen=True)
class Claim:
    """What one question asks of the budget: a channel of its own, or a share of the survey's ε."""

    build: Build
    pieces: int
    own: Channel | None
    share: Fraction

    def channel(self, epsilon: Fraction) -> Channel:
        """Give each item its equal part of a question's ε."""
        if self.own:
            return self.own
        try:
            odds = odds_at_most(epsilon / self.pieces)
        except ChannelError as error:
            raise ChannelError(f"{error} for one question or box, once it is divided") from None
        return self.build(odds)


def claim(question: Mapping[str, Any], build: Build, options: int | None, pieces: int = 1) -> Claim:
    """Read ``epsilon``, ``odds``, ``truth`` or ``share`` of one question.

    Args:
        question: The author's table.
        build: How this question's channel comes from its odds.
        options: Number of options, which ``truth`` needs; None if the odds decide it.
        pieces: How many items share the question's ε.

    Raises:
        ChannelError: If more than one is given, or its value is out of range.
    """
    given = [key for key in (*OWN_KEYS, "share") if key in question]
    if len(given) > 1:
        raise ChannelError(f"give only one of {', '.join(given)}")
    key = given[0] if given else "share"
    value = question.get(key, 1)
    if key == "share":
        return Claim(build, pieces, None, _read_share(value))
    if key == "truth":  # stated for a subset of one, so that is what it gets
        if options is None:
            raise ChannelError("truth needs points as well: the odds follow from both")
        own = Channel(options, 1, parse_truth(value, options))
    else:
        odds = parse_odds(value) if key == "odds" else odds_at_most(read_epsilon(value) / pieces)
        own = build(odds)
    return Claim(build, pieces, own, Fraction(0))


def split(total: object, claims: Sequence[Claim]) -> list[Channel]:
    """Give every question its channel, so that all together stay within the total.

    Questions with odds of their own take theirs first; the others divide the rest by share.

    Args:
        total: ε of the whole survey in nats, or None where every question states its own.
        claims: One for each question.

    Raises:
        ChannelError: If nothing is left to divide, or no total is given where one is needed.

    >>> from decimal import Decimal
    >>> def coin(odds): return Channel(2, 1, odds)
    >>> claims = [claim({}, coin, 2), claim({"odds": "3:1"}, coin, 2)]
    >>> [channel.odds for channel in split(Decimal("2.2"), claims)]
    [Fraction(361, 120), Fraction(3, 1)]
    """
    needy = sum((c.share for c in claims), start=Fraction(0))
    if total is None:
        if needy:
            raise ChannelError("expected an epsilon for the survey, or one in every question")
        return [c.own for c in claims if c.own]
    taken = sum(
        (c.pieces * Fraction(epsilon_of(c.own.odds)) for c in claims if c.own), start=Fraction(0)
    )
    rest = read_total(total) - taken
    if rest < 0 or (needy and rest == 0):
        raise ChannelError(
            f"the questions with a budget of their own take epsilon {float(taken):.4f} of {total}"
        )
    return [c.channel(rest * c.share / needy if needy else rest) for c in claims]


def sample(total: object, claims: Sequence[Claim], ask: int) -> list[Channel]:
    """Give every question ε/ask, since only ``ask`` of them are ever sent.

    Raises:
        ChannelError: If there is no total, or a question wants a budget of its own.
    """
    if total is None:
        raise ChannelError('allocation = "sample" needs an epsilon for the survey')
    if any(c.own or c.share != 1 for c in claims):
        raise ChannelError('with allocation = "sample" no question has a budget of its own')
    return [c.channel(read_total(total) / ask) for c in claims]


@cache
def best_points(odds: Fraction, steps: int, extras: int) -> Channel:
    """Choose how many grid points a number is rounded to: the least worst-case variance.

    With answers in [−1, 1], one report's score for the mean is v_S/(p − q), where v_S is the
    reported point and 0 for an extra option. For an answer x in the cell [l, u], rounding gives
    E v² = (l + u)x − l·u, so the variance (q Σv² + (p − q)((l + u)x − l·u))/(p − q)² − x² is a
    parabola in x, and its greatest value in each cell is at x = (l + u)/(2(p − q)) or an end.

    >>> from math import log
    >>> [best_points(odds_at_most(e), 1000, 0).options for e in (1, 2, 4, 8)]
    [2, 3, 5, 17]
    """

    def worst(points: int) -> Fraction:
        return _worst_variance(Channel(points + extras, 1, odds), points)

    best = min(range(2, min(steps + 1, MAX_POINTS) + 1), key=worst)
    return Channel(best + extras, 1, odds)


def _worst_variance(channel: Channel, points: int) -> Fraction:
    values = [Fraction(2 * place, points - 1) - 1 for place in range(points)]
    gap, noise = channel.p - channel.q, channel.q * sum(v * v for v in values)
    worst = Fraction(0)
    for low, high in pairwise(values):
        x = min(max((low + high) / (2 * gap), low), high)
        worst = max(worst, (noise + gap * ((low + high) * x - low * high)) / gap**2 - x * x)
    return worst


def _read_share(value: object) -> Fraction:
    if not is_number(value):
        raise ChannelError(f"share must be a number above 0, got {value!r}")
    if not 0 < value <= 1000:
        raise ChannelError(f"share must be above 0 and at most 1000, got {value}")
    return Fraction(value)


def read_total(total: object) -> Fraction:
    """Check ε of a whole survey.

    Raises:
        ChannelError: If it is not a number from 0.001 to 1,000.
    """
    return read_epsilon(total, most=1000)
