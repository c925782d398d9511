"""A picture of what privacy costs: respondents needed against ε, as SVG in plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import Final

from scipy.special import ndtri

from deniable_protocol import Channel, odds_at_most

from .design import DIRECT, Design
from .estimate import format_level
from .targets import Share

_WIDTH: Final = 640
_HEIGHT: Final = 400
_LEFT: Final = 84
_RIGHT: Final = 452
_TOP: Final = 56
_BOTTOM: Final = 344
_EPSILONS: Final = tuple(Fraction(tenths, 10) for tenths in range(3, 51))
_DASHES: Final = ("", "9 4", "3 3", "12 3 2 3")

# Ink is the colour of the text around it, so an inlined picture is dark on light and light on dark;
# as a file of its own it asks the reader's system. Lines differ in dashes and bear their names.
_STYLE: Final = (
    ".trade-off{font:13px system-ui,sans-serif;fill:currentColor;stroke:none}"
    ".trade-off .line{fill:none;stroke:currentColor;stroke-width:2}"
    ".trade-off .grid{stroke:currentColor;stroke-opacity:.18}"
    ".trade-off .head{font-size:15px;font-weight:600}"
    "@media (prefers-color-scheme:dark){.trade-off:root{color:#eee;background:#16181c}}"
)


def trade_off(
    *,
    options: int = 2,
    share: float = 0.5,
    half_widths: Sequence[float] = (0.01, 0.03, 0.05, 0.1),
    level: float = 0.95,
) -> str:
    """Draw how many respondents it takes for each ε, one line for each half-width.

    It reads without colour and on light or dark ground, and says in words what it shows.

    Args:
        options: Options of the question; ``Channel.best`` chooses the design at each ε.
        share: Expected share of the option, in (0, 1).
        half_widths: Half-widths of the interval, as shares; at most four.
        level: Confidence level.

    Returns:
        One ``<svg>`` element, to be inlined in a page or written to a file. The label of each line
        ends with the number of respondents that a direct question would need.

    >>> trade_off().startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    kept = sorted(half_widths)[: len(_DASHES)]
    designs = [Design.of(Channel.best(options, odds_at_most(epsilon))) for epsilon in _EPSILONS]
    numbers = [[_needed(share, design, half, level) for design in designs] for half in kept]
    direct = [_needed(share, DIRECT, half, level) for half in kept]
    low = math.floor(math.log10(max(1.0, min(direct))))
    high = math.ceil(math.log10(max(max(row) for row in numbers)))
    scale = _Scale(low, max(high, low + 1))
    said = (
        f"Respondents needed: {format_level(level)} intervals, {options} options, "
        f"a true share of {100 * share:.3g} %"
    )
    body = [*_axes(scale)]
    for row, bare, half, dash in zip(numbers, direct, kept, _DASHES, strict=False):
        body += _line(scale, row, bare, half, dash)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="trade-off" role="img" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-labelledby="trade-off-title trade-off-desc">'
        f"<style>{_STYLE}</style>"
        f'<title id="trade-off-title">{escape(said)}</title>'
        f'<desc id="trade-off-desc">{escape(_words(numbers, direct, kept))}</desc>'
        f'<text class="head" x="12" y="24">{escape(said)}</text>' + "".join(body) + "</svg>\n"
    )


class _Scale:
    """Place ε and respondents on the page; respondents go by powers of ten."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def x(self, epsilon: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * epsilon / float(_EPSILONS[-1])

    def y(self, respondents: float) -> float:
        place = (math.log10(respondents) - self.low) / (self.high - self.low)
        return _BOTTOM - (_BOTTOM - _TOP) * place


def _needed(share: float, design: Design, half: float, level: float) -> float:
    return float(ndtri((1 + level) / 2)) ** 2 * Share(share).variance(design) / half**2


def _axes(scale: _Scale) -> list[str]:
    found = []
    for power in range(scale.low, scale.high + 1):
        y = scale.y(10.0**power)
        found.append(f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        found.append(
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10**power:,}</text>'
        )
    for epsilon in range(int(_EPSILONS[-1]) + 1):
        x = scale.x(epsilon)
        found.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_BOTTOM}"/>')
        found.append(f'<text x="{x:.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{epsilon}</text>')
    middle = (_LEFT + _RIGHT) / 2
    found.append(f'<text x="12" y="44">respondents</text>'
                 f'<text x="{middle}" y="{_BOTTOM + 40}" text-anchor="middle">'
                 "epsilon of the question (less is more private)</text>")  # fmt: skip
    return found


def _line(scale: _Scale, row: list[float], direct: float, half: float, dash: str) -> list[str]:
    points = " ".join(
        f"{scale.x(float(epsilon)):.1f},{scale.y(n):.1f}"
        for epsilon, n in zip(_EPSILONS, row, strict=True)
    )
    end, points_word = scale.y(row[-1]), "point" if half == 0.01 else "points"
    return [
        f'<polyline class="line" stroke-dasharray="{dash or "none"}" points="{points}"/>',
        f'<text x="{_RIGHT + 8}" y="{end + 4:.1f}">±{100 * half:g} {points_word}; '
        f"{math.ceil(direct):,} directly</text>",
    ]


def _words(numbers: list[list[float]], direct: list[float], halves: Sequence[float]) -> str:
    place = _EPSILONS.index(Fraction(1))
    parts = [
        f"within {100 * half:g} percentage points: {math.ceil(row[place]):,} respondents at "
        f"epsilon 1, {math.ceil(bare):,} if asked directly"
        for half, row, bare in zip(halves, numbers, direct, strict=True)
    ]
    return "; ".join(parts) + "."
