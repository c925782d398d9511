"""Results for everyone, where the survey says so: drawn by the analysis, and rarely.

A page is drawn when there are enough reports, and again only when there are so many more as the
survey says. Whoever watches it never sees what a single report changed. The drawn page is in the
database, so that several processes, or a restart, do not draw it more often.

Drawing reads every report. Whether it is time is therefore asked of the counters, and one request
of a process draws for all: those that come meanwhile get the page before, and so cannot take every
thread from those who report.
"""

from __future__ import annotations

from flask import Blueprint, Response, current_app, render_template

from deniable_protocol.survey import Results
from deniable_server.problems import RETRY_SECONDS
from deniable_server.published import Published
from deniable_server.services import services

blueprint = Blueprint("results", __name__)


@blueprint.get("/s/<name>/results")
def results(name: str) -> Response | tuple[str, int] | tuple[str, int, dict[str, str]]:
    """Show the results of the newest survey of a name, or say why there are none."""
    published = services().store.newest(name)
    if published is None:
        return render_template("missing.html"), 404
    survey, rule = published.survey, published.survey.results
    if rule is None:
        return render_template("no-results.html", survey=survey, minimum=None), 404
    page = _page(published, rule)
    if page is None and rule.due(services().store.held(published), None):
        later = {"Retry-After": str(RETRY_SECONDS)}
        return render_template("drawing.html", survey=survey), 503, later
    if page is None:
        return render_template("no-results.html", survey=survey, minimum=rule.minimum), 404
    response = Response(page, mimetype="text/html")
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {_style()}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return response


def _page(published: Published, rule: Results) -> str | None:
    """Give the page as it is; drawn now, if it is time and nobody else is drawing it."""
    store = services().store
    with services().drawing.turn(published.survey.digest) as mine:
        drawn = store.results(published)
        if mine and rule.due(store.held(published), drawn and drawn[0]):
            reports, page = _draw(published)
            store.keep_results(published, reports, page)
            drawn = store.results(published)  # another process may have drawn it first
    return None if drawn is None else drawn[1]


def _draw(published: Published) -> tuple[int, str]:
    # Imported here: taking reports needs no numpy.
    from deniable_analysis import read_reports, report

    found = read_reports(current_app.config["DATABASE"], published.survey)
    return found.n, report(found)


def _style() -> str:
    from deniable_analysis.page import style_source

    return style_source()
