"""How an author's budget becomes exact odds for each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from .channel import Channel, epsilon_of, odds_at_most, parse_odds, parse_truth, read_epsilon
from .errors import ChannelError

OWN_KEYS: Final = ("epsilon", "odds", "truth")


@dataclass(frozen=True)
class Claim:
    """What one question asks of the budget: odds of its own, or a share of the survey's ε."""

    options: int
    own: Channel | None
    share: Fraction


def claim(question: Mapping[str, Any], options: int) -> Claim:
    """Read ``epsilon``, ``odds``, ``truth`` or ``share`` of one question.

    Raises:
        ChannelError: If more than one is given, or its value is out of range.
    """
    given = [key for key in (*OWN_KEYS, "share") if key in question]
    if len(given) > 1:
        raise ChannelError(f"give only one of {', '.join(given)}")
    key = given[0] if given else "share"
    value = question.get(key, 1)
    if key == "truth":  # stated for a subset of one, so that is what it gets
        return Claim(options, Channel(options, 1, parse_truth(value, options)), Fraction(0))
    if key == "share":
        if isinstance(value, bool) or not isinstance(value, int | Decimal | float) or not value > 0:
            raise ChannelError(f"share must be a number above 0, got {value!r}")
        if not value <= 1000:
            raise ChannelError(f"share must be at most 1000, got {value!r}")
        return Claim(options, None, Fraction(value))
    odds = parse_odds(value) if key == "odds" else odds_at_most(value)
    return Claim(options, Channel.best(options, odds), Fraction(0))


def read_total(total: object) -> Fraction:
    """Check ε of a whole survey.

    Raises:
        ChannelError: If it is not a number from 0.001 to 1,000.
    """
    return read_epsilon(total, most=1000)


def split(total: object, claims: Sequence[Claim]) -> list[Channel]:
    """Give every question its channel, so that all together stay within the total.

    Questions with odds of their own take theirs first; the others divide the rest by share.

    Args:
        total: ε of the whole survey in nats, or None where every question states its own.
        claims: One for each question.

    Raises:
        ChannelError: If nothing is left to divide, or no total is given where one is needed.

    >>> [c.odds for c in split(Decimal("2.2"), [claim({}, 2), claim({"odds": "3:1"}, 2)])]
    [Fraction(361, 120), Fraction(3, 1)]
    """
    needy = sum((c.share for c in claims), start=Fraction(0))
    if total is None:
        if needy:
            raise ChannelError("expected an epsilon for the survey, or one in every question")
        return [c.own for c in claims if c.own]
    budget = read_total(total)
    taken = sum((Fraction(epsilon_of(c.own.odds)) for c in claims if c.own), start=Fraction(0))
    rest = budget - taken
    if rest < 0 or (needy and rest == 0):
        raise ChannelError(
            f"the questions with a budget of their own take epsilon {float(taken):.4f} of {total}"
        )
    return [c.own or Channel.best(c.options, odds_at_most(rest * c.share / needy)) for c in claims]
