"""What the numbers mean, in plain English for people who do not do statistics."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from deniable_protocol import Channel

from .estimate import Estimate, OptionEstimate, format_level
from .intervals import Method

METHOD_NAMES: Final[dict[Method, str]] = {
    "feldman-cousins": "Feldman–Cousins",
    "likelihood-ratio": "constrained likelihood ratio",
    "wilson": "Wilson",
    "clopper-pearson": "Clopper–Pearson",
    "wald": "Wald",
}
_AT_LEAST: Final[frozenset[Method]] = frozenset(["feldman-cousins", "clopper-pearson"])
_WIDE: Final = 0.4


def percent(share: float, digits: int = 1) -> str:
    r"""Write a share in per cent.

    >>> percent(-0.1), percent(-0.0001), percent(float("nan"))
    ('−10.0\xa0%', '0.0\xa0%', '–')
    """
    if math.isnan(share):
        return "–"
    rounded = round(100 * share, digits) + 0.0  # adding 0 turns −0.0 into 0.0
    return f"{'−' if rounded < 0 else ''}{abs(rounded):.{digits}f}\N{NO-BREAK SPACE}%"


def digits_of(found: Estimate) -> int:
    """Choose decimals of a per cent: one, or more where intervals are narrower than a point."""
    width = min((o.high - o.low for o in found.options if not o.outside), default=1.0)
    return 1 if width >= 0.01 else 2 if width >= 0.001 else 3


def with_error(option: OptionEstimate, digits: int) -> str:
    """Write the unbiased estimate with its standard error, where there is one."""
    share = percent(option.share, digits)
    return share if math.isnan(option.se) else f"{share} ± {percent(option.se, digits)}"


def reading(option: OptionEstimate, found: Estimate) -> str:
    """Say in one sentence what the reports tell about one option."""
    digits = digits_of(found)
    best, low, high = (percent(x, digits) for x in (option.best, option.low, option.high))
    said = f"“{option.label}”"
    if found.n == 0:
        return f"{said}: nothing is known yet; any share is possible."
    if option.outside:
        few = "Fewer" if option.share < 0 else "More"
        return (
            f"{few} reports hold {said} than fits any true share, even {best}: rare, but noise can "
            f"do that. The {METHOD_NAMES[found.method]} method has no interval for this case; "
            "feldman-cousins and likelihood-ratio always have one."
        )
    if option.low == 0 and option.high == 1:
        return f"{said}: the reports are too few to rule out any share."
    if option.low == 0 and option.best == 0:
        return f"{said}: perhaps nobody; at most {high} is plausible."
    if option.high == 1 and option.best == 1:
        return f"{said}: perhaps everybody; at least {low} is plausible."
    return f"{said}: most likely {best}; anything from {low} to {high} is plausible."


def promise(found: Estimate) -> str:
    """Say what an interval promises, and what it does not."""
    often = "at least" if found.method in _AT_LEAST else "about"
    return (
        f"An interval made this way holds the true share in {often} {format_level(found.level)} of "
        "surveys like this one. Each interval is for its own option alone, not for all at once."
    )


def caution(found: Estimate) -> str | None:
    """Say what to be careful about with one question; None if there is nothing."""
    widest = max(option.high - option.low for option in found.options)
    if found.n and widest > _WIDE:
        return (
            "These intervals are wide: the noise that protects each person is still larger than "
            "what can be seen. More reports narrow them; four times as many halve them."
        )
    return None


def protection(channel: Channel) -> str:
    """Say how reports to one question are randomized and what one report can reveal."""
    chance, other = _chances(channel.p), _chances(channel.q)
    held = "one option" if channel.subset == 1 else f"{channel.subset} options"
    return (
        f"Every report names {held} of {channel.options}: the true answer with a chance of "
        f"{chance}, each other with {other}. It shifts anyone’s odds between two answers by at "
        f"most {ratio(channel.odds)} (ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{channel.epsilon:.2f})."
    )


def ratio(odds: Fraction) -> str:
    """Write odds as a person reads them.

    >>> ratio(Fraction(3)), ratio(Fraction(1264, 465))
    ('3 : 1', '2.72 : 1')
    """
    if odds >= 1_000_000:
        return f"{float(odds):.2e} : 1" if odds < 10**300 else "more than 10^300 : 1"
    return f"{odds} : 1" if odds.denominator == 1 else f"{float(odds):.2f} : 1"


def _chances(chance: Fraction) -> str:
    return str(chance) if chance.denominator <= 20 else percent(float(chance))
