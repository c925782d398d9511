"""The page that explains a survey's results: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from deniable_protocol.canonical import digest

from . import wording
from .checks import checks_of
from .estimate import format_level
from .intervals import Method
from .methods_text import methods_paragraph
from .reports import Reports
from .results import Results, analyse

_TICKS: Final = (0, 25, 50, 75, 100)
_OPEN_UP_TO: Final = 8
"""Options up to which every sentence is shown; longer lists are folded."""


def report(
    reports: Reports,
    *,
    level: float = 0.95,
    method: Method | None = None,
    simultaneous: bool = False,
    by_arm: bool = False,
    limit: float | None = None,
    crosstabs: Sequence[tuple[str, str]] = (),
) -> str:
    """Write one self-contained HTML page with the results of every question.

    No script, no font, no image and no address: it reads the same from a mail attachment in ten
    years. Colours follow the reader's light or dark setting, and nothing depends on them.

    Args:
        reports: The noisy reports.
        level: Confidence level of each interval, in (0, 1).
        method: How to make intervals; see ``estimate``.
        simultaneous: Make the intervals of one question hold all at once; see ``estimate``.
        by_arm: Show each collection arm by itself.
        limit: The widest interval whose best estimate is shown; see ``analyse``.
        crosstabs: Pairs of items to relate to each other.

    Raises:
        EstimateError: If there is no such level or method.
    """
    return render(
        analyse(reports, level=level, method=method, simultaneous=simultaneous, by_arm=by_arm,
                limit=limit, crosstabs=crosstabs)
    )  # fmt: skip


def render(results: Results) -> str:
    """Write the page for results that were made already."""
    rows = [row.found for block in results.blocks for row in (*block.rows, *block.among)]
    methods = dict.fromkeys(block.method for block in results.blocks)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            survey=results.reports.survey,
            results=results,
            n=results.reports.n,
            level=format_level(results.level),
            methods=", ".join(wording.METHOD_NAMES[method] for method in methods),
            promises=dict.fromkeys(wording.promise(results, method) for method in methods),
            hollow=any(found.best in (0, 1) for found in rows),
            ticks=_TICKS,
            open_up_to=_OPEN_UP_TO,
            checks=checks_of(results),
            paper=methods_paragraph(results).strip().split("\n\n") if results.reports.n else [],
            w=wording,
        )
    )


def style_source() -> str:
    """Name the page's style sheet as a ``style-src`` of a Content-Security-Policy.

    A server that sends the page can so forbid every other style, and all scripts.
    """
    return f"'{digest(_environment().get_template('report.css').render().encode())}'"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("deniable_analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
