"""A picture of a comparison: the interval that each way gives, as SVG in plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from textwrap import shorten
from typing import Final

from deniable_analysis.estimate import format_level

from .compare_rows import NAMES, Comparison, Row
from .compare_words import half_width, head, sentences

_WIDTH: Final = 720
_LEFT: Final = 206
_RIGHT: Final = 590
_LINE: Final = 26
_PANEL: Final = 5 * _LINE + 88

# Ink is the colour of the text around it, so an inlined picture is dark on light and light on dark;
# as a file of its own it asks the reader's system. Nothing depends on colour.
_STYLE: Final = (
    ".compare{font:13px system-ui,sans-serif;fill:currentColor;stroke:none}"
    ".compare .bar{stroke:currentColor;stroke-width:2;fill:none}"
    ".compare .dot{stroke:currentColor;stroke-width:2;fill:none}"
    ".compare .real{fill:currentColor}"
    ".compare .grid{stroke:currentColor;stroke-opacity:.18}"
    ".compare .truth{stroke:currentColor;stroke-opacity:.6;stroke-dasharray:4 4}"
    ".compare .head{font-size:15px;font-weight:600}"
    ".compare .small{font-size:12px}"
    "@media (prefers-color-scheme:dark){.compare:root{color:#eee;background:#16181c}}"
)


def picture(comparisons: Sequence[Comparison]) -> str:
    """Draw one panel for each question, one interval for each way to add noise.

    It reads without colour and on light or dark ground, and says in words what it shows.

    Args:
        comparisons: At least one; all at the same level.

    Returns:
        One ``<svg>`` element, to be inlined in a page or written to a file.

    >>> from deniable_analysis.central.compare import compare
    >>> picture([compare(respondents=1000, epsilon=1)]).startswith("<svg xmlns=")
    True
    """
    level = format_level(comparisons[0].level)
    said = f"What it costs not to trust a curator: {level} intervals"
    real = any(row.measured for found in comparisons for row in found.rows)
    note = (
        "Full dot: estimated from real reports. Open dot: expected, for the same value."
        if real
        else "Expected intervals; each way promises one respondent the same epsilon."
    )
    height = 64 + _PANEL * len(comparisons)
    body = [
        _panel(found, 64 + place * _PANEL) for place, found in enumerate(comparisons)
    ]  # fmt: skip
    words = " ".join(f"{head(found)}. {_words(found)}" for found in comparisons)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="compare" role="img" '
        f'viewBox="0 0 {_WIDTH} {height}" aria-labelledby="compare-title compare-desc">'
        f"<style>{_STYLE}</style>"
        f'<title id="compare-title">{escape(said)}</title>'
        f'<desc id="compare-desc">{escape(words)}</desc>'
        f'<text class="head" x="12" y="26">{escape(said)}</text>'
        f'<text class="small" x="12" y="46">{escape(note)}</text>' + "".join(body) + "</svg>\n"
    )


class _Scale:
    """Place values on the page: around the one in question, and within 0 to 1."""

    def __init__(self, found: Comparison) -> None:
        low = max(0.0, min(row.low for row in found.rows))
        high = min(1.0, max(row.high for row in found.rows))
        room = 0.04 * (high - low)
        self.low, self.high = max(0.0, low - room), min(1.0, high + room)
        self.measure = found.measure

    def x(self, place: float) -> float:
        held = min(max(place, self.low), self.high)
        return _LEFT + (_RIGHT - _LEFT) * (held - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """List three to seven places whose values are round."""
        start, width = self.measure.low, self.measure.width
        low, high = start + width * self.low, start + width * self.high
        rough = (high - low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [(count * step - start) / width for count in range(first, last + 1)]


def _panel(found: Comparison, top: int) -> str:
    scale, bottom = _Scale(found), top + 24 + 5 * _LINE
    parts = [
        f'<text class="small" x="12" y="{top + 10}">{escape(shorten(head(found), 110))}</text>'
    ]
    for place in scale.ticks():
        x = scale.x(place)
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top + 20}" y2="{bottom}"/>'
            f'<text x="{x:.1f}" y="{bottom + 17}" class="small" text-anchor="middle">'
            f"{escape(found.measure.tick(place))}</text>"
        )
    truth = scale.x(found.value)
    parts.append(
        f'<line class="truth" x1="{truth:.1f}" x2="{truth:.1f}" y1="{top + 20}" y2="{bottom}"/>'
    )
    for line, row in enumerate(found.rows):
        parts.append(_interval(row, found, scale, top + 24 + line * _LINE + _LINE // 2))
    return "".join(parts)


def _interval(row: Row, found: Comparison, scale: _Scale, y: int) -> str:
    low, high = scale.x(row.low), scale.x(row.high)
    middle = scale.x(found.value)
    caps = "".join(
        f"M{x:.1f} {y - 5}V{y + 5}"
        for x, end in ((low, row.low), (high, row.high))
        if scale.low <= end <= scale.high
    )
    kind = "dot real" if row.measured else "dot"
    # The line stops at the open dot, so that the dot stays open on any ground.
    left, right = max(low, middle - 4), min(high, middle + 4)
    stroke = f"M{low:.1f} {y}H{left:.1f}M{right:.1f} {y}H{high:.1f}{caps}"
    return (
        f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(NAMES[row.way])}</text>'
        f'<path class="bar" d="{stroke}"/>'
        f'<circle class="{kind}" cx="{middle:.1f}" cy="{y}" r="4"/>'
        f'<text x="{_RIGHT + 12}" y="{y + 4}">{escape(half_width(found, row))}</text>'
    )


def _words(found: Comparison) -> str:
    widths = "; ".join(f"{NAMES[row.way]} {half_width(found, row)}" for row in found.rows)
    return f"Intervals: {widths}. {' '.join(sentences(found))}"
