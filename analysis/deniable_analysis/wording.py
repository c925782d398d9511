"""What the numbers mean, in plain English for people who do not do statistics."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Final

from deniable_protocol import Question

from .estimate import AmongEstimate, OptionEstimate, format_level
from .intervals import Method
from .numbers import NumberEstimate
from .results import Block, Results, Row

METHOD_NAMES: Final[dict[Method, str]] = {
    "feldman-cousins": "Feldman–Cousins",
    "likelihood-ratio": "constrained likelihood ratio",
    "wilson": "Wilson",
    "clopper-pearson": "Clopper–Pearson",
    "wald": "Wald",
}
_AT_LEAST: Final[frozenset[Method]] = frozenset(["feldman-cousins", "clopper-pearson"])
_WIDE: Final = 0.4
_BOUNDARY: Final = "The best fit is at the boundary, so its standard error says little."
_NO_FIT: Final = (
    "A weighted sample has no best fit: its share stands there, moved into 0 % to 100 %."
)
TOO_FEW: Final = "too few to say"


def percent(share: float, digits: int = 1) -> str:
    r"""Write a share in per cent.

    >>> percent(-0.1), percent(-0.0001), percent(float("nan"))
    ('−10.0\xa0%', '0.0\xa0%', '–')
    """
    if math.isnan(share):
        return "–"
    rounded = round(100 * share, digits) + 0.0  # adding 0 turns −0.0 into 0.0
    return f"{'−' if rounded < 0 else ''}{abs(rounded):.{digits}f}\N{NO-BREAK SPACE}%"


def digits_of(block: Block) -> int:
    """Choose decimals of a per cent: one, or more where intervals are narrower than a point."""
    shown = [row.found for row in (*block.rows, *block.among)]
    widths = [f.high - f.low for f in shown if isinstance(f, AmongEstimate) or not f.outside]
    width = min(widths, default=1.0)
    return 1 if width >= 0.01 else 2 if width >= 0.001 else 3


def rows_of(found: tuple[AmongEstimate, ...]) -> tuple[Row, ...]:
    """List estimates by their own labels."""
    return tuple(Row(one.label, one) for one in found)


def shown(found: OptionEstimate | AmongEstimate, results: Results, digits: int) -> str:
    """Write the best fit, or that the reports are too few for one."""
    return TOO_FEW if results.too_few(found) else percent(found.best, digits)


def ends(found: OptionEstimate | AmongEstimate, digits: int) -> str:
    """Write an interval; a method may have none."""
    if isinstance(found, OptionEstimate) and found.outside:
        return "none"
    return f"{percent(found.low, digits)} to {percent(found.high, digits)}"


def with_error(found: OptionEstimate | AmongEstimate, digits: int) -> str:
    """Write the unbiased estimate with its standard error, where there is one."""
    share = percent(found.share, digits)
    return share if math.isnan(found.se) else f"{share} ± {percent(found.se, digits)}"


def reading(row: Row, block: Block, results: Results) -> str:
    """Say in one sentence what the reports tell about one option."""
    found, digits = row.found, digits_of(block)
    best, low, high = (percent(x, digits) for x in (found.best, found.low, found.high))
    said = f"“{row.label}”"
    if block.n == 0:
        return f"{said}: nothing is known yet; any share is possible."
    if isinstance(found, OptionEstimate) and found.outside:
        few = "Fewer" if found.share < 0 else "More"
        return (
            f"{few} reports hold {said} than fits any true share, even {best}: rare, but noise can "
            f"do that. The {METHOD_NAMES[block.method]} method has no interval for this case; "
            "feldman-cousins and likelihood-ratio always have one."
        )
    if found.low == 0 and found.high == 1:
        return f"{said}: the reports are too few to rule out any share."
    if results.too_few(found):
        return f"{said}: too few reports to say; anything from {low} to {high} is plausible."
    if found.low == 0 and found.best == 0:
        return f"{said}: perhaps nobody; at most {high} is plausible. {_BOUNDARY}"
    if found.high == 1 and found.best == 1:
        return f"{said}: perhaps everybody; at least {low} is plausible. {_BOUNDARY}"
    return f"{said}: most likely {best}; anything from {low} to {high} is plausible."


def promise(results: Results, method: Method) -> str:
    """Say what an interval promises, and what it does not."""
    often = "at least" if method in _AT_LEAST else "about"
    level = format_level(results.level)
    if results.simultaneous:
        return (
            f"In about {level} of surveys like this one, all intervals of a question hold its true "
            "shares at once. They do not hold all at once over several questions."
        )
    return (
        f"An interval made this way holds the true share in {often} {level} of surveys like this "
        "one. Each interval is for its own option alone, not for all at once."
    )


def weighting(block: Block) -> str:
    """Say what weights and clusters do to precision, and that there is no best fit."""
    effects = [o.deff for found in block.weighted for o in found.options if not math.isnan(o.deff)]
    kish = block.weighted[0].kish
    text = f"Unequal weights alone multiply variances by {kish:.2f} (Kish’s design effect)"
    if not effects:
        return f"{text}. {_NO_FIT}"
    low, high = f"{min(effects):.2f}", f"{max(effects):.2f}"
    spread = low if low == high else f"{low} to {high}"
    return (
        f"{text}; with everything they are {spread} times those of a simple sample as large. "
        f"{_NO_FIT}"
    )


def caution(block: Block) -> str | None:
    """Say what to be careful about with one question; None if there is nothing."""
    if block.n and block.widest > _WIDE:
        return (
            "These intervals are wide: the noise that protects each person is still larger than "
            "what can be seen. More reports narrow them; four times as many halve them."
        )
    return None


def amount(value: float, unit: str = "") -> str:
    """Write a number with its unit, to four significant digits.

    >>> amount(1234.56, " h"), amount(-0.00123)
    ('1,235 h', '−0.00123')
    """
    if math.isnan(value):
        return "–"
    size = abs(value)
    digits = 0 if size >= 1000 else 3 - (math.floor(math.log10(size)) if size else 0)
    text = f"{size:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'−' if value < 0 and text != '0' else ''}{text}{unit}"


def average(number: NumberEstimate) -> str:
    """Say the mean, with its interval, in a sentence."""
    found, unit = number.mean, number.unit
    if math.isnan(found.value):
        return "Nothing is known yet about the average."
    digits = _decimals(found.high - found.low)
    text = f"On average {_fixed(found.value, digits)}{unit}"
    if not math.isnan(found.se):
        text += f" ± {_fixed(found.se, digits)}{unit} (standard error)"
    low, high = (_fixed(end, digits) for end in (found.low, found.high))
    return f"{text}; the {format_level(number.level)} interval is {low} to {high}{unit}."


def middle(number: NumberEstimate) -> str:
    """Say the quantiles in a sentence."""
    digits = _decimals(min(b.value - a.value for a, b in pairwise(number.cumulative)))
    parts = []
    for found in number.quantiles:
        value = _fixed(found.value, digits) if number.rounding else amount(found.value)
        ends = f"{amount(found.low)} to {amount(found.high, number.unit)}"
        parts.append(f"{_quantile_name(found.at)} {value}{number.unit} ({ends})")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "."


def _decimals(width: float) -> int:
    """Choose decimals so that a width has two or three digits."""
    return max(0, 1 - math.floor(math.log10(width))) if width > 0 else 2


def _fixed(value: float, digits: int) -> str:
    if math.isnan(value):
        return "–"
    rounded = round(value, digits) + 0.0
    return f"{'−' if rounded < 0 else ''}{abs(rounded):,.{digits}f}"


def rounding(number: NumberEstimate) -> str | None:
    """Say what rounding to points does to a number; None where it does nothing."""
    if not number.rounding:
        return None
    return (
        f"Devices round each number to one of {len(number.cumulative)} points, up or down by "
        "chance, so that averages stay right. A cumulative share at a point therefore stands for "
        "the stretch up to the next point, and quantiles lie between points."
    )


def _quantile_name(at: float) -> str:
    names = {0.25: "a quarter are at or below", 0.5: "half are at or below",
             0.75: "three quarters are at or below"}  # fmt: skip
    return names.get(at, f"{100 * at:g} % are at or below")


def protection(question: Question) -> str:
    """Say how reports to one question are randomized and what one report can reveal."""
    channel = question.channel
    chance, other = _chances(channel.p), _chances(channel.q)
    held = "one option" if channel.subset == 1 else f"{channel.subset} options"
    what = "Every report" if question.kind != "multiple" else "For every box, a report"
    text = (
        f"{what} names {held} of {channel.options}: the true answer with a chance of "
        f"{chance}, each other with {other}. It shifts anyone’s odds between two answers by at "
        f"most {ratio(channel.odds)} (ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{channel.epsilon:.2f})."
    )
    if question.kind == "multiple":
        text = f"{text[:-2]} for each box, and {ratio(question.odds)} for all that are sent)."
    return text


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
