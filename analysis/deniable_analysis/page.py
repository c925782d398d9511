"""The page that explains a survey's results: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from deniable_protocol.canonical import digest

from . import wording
from .estimate import Estimate, estimate, format_level
from .intervals import Method
from .reports import Reports

_TICKS: Final = (0, 25, 50, 75, 100)
_OPEN_UP_TO: Final = 8
"""Options up to which every sentence is shown; longer lists are folded."""


def report(reports: Reports, *, level: float = 0.95, method: Method | None = None) -> str:
    """Write one self-contained HTML page with the results of every question.

    No script, no font, no image and no address: it reads the same from a mail attachment in ten
    years. Colours follow the reader's light or dark setting, and nothing depends on them.

    Args:
        reports: The noisy reports.
        level: Confidence level of each interval, in (0, 1).
        method: How to make intervals; see ``estimate``.

    Raises:
        EstimateError: If there is no such level or method.
    """
    estimates = [estimate(reports, name, level=level, method=method) for name in reports.tallies]
    return render(reports, estimates)


def render(reports: Reports, estimates: Sequence[Estimate]) -> str:
    """Write the page for estimates that were made already, at least one.

    The estimates of one page share their level and method.
    """
    methods = dict.fromkeys(wording.METHOD_NAMES[found.method] for found in estimates)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            survey=reports.survey,
            n=reports.n,
            estimates=estimates,
            level=format_level(estimates[0].level),
            methods=", ".join(methods),
            promises=dict.fromkeys(wording.promise(found) for found in estimates),
            hollow=any(option.best in (0, 1) for found in estimates for option in found.options),
            ticks=_TICKS,
            open_up_to=_OPEN_UP_TO,
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
