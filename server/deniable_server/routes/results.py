"""Results for everyone, where the survey says so: drawn by the analysis, and rarely.

A page is drawn when there are enough reports, and again only when there are so many more as the
survey says. Whoever watches it never sees what a single report changed. The drawn page is in the
database, so that several processes, or a restart, do not draw it more often.
"""

from __future__ import annotations

from flask import Blueprint, Response, current_app, render_template

from deniable_server.published import Published
from deniable_server.services import services

blueprint = Blueprint("results", __name__)


@blueprint.get("/s/<name>/results")
def results(name: str) -> Response | tuple[str, int]:
    """Show the results of the newest survey of a name, or say why there are none."""
    published = services().store.newest(name)
    if published is None:
        return render_template("missing.html"), 404
    if published.survey.results is None:
        return render_template("no-results.html", survey=published.survey, minimum=None), 404
    page = _page(published)
    if page is None:
        minimum = published.survey.results.minimum
        return render_template("no-results.html", survey=published.survey, minimum=minimum), 404
    response = Response(page, mimetype="text/html")
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {_style()}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return response


def _page(published: Published) -> str | None:
    store, rule = services().store, published.survey.results
    drawn = store.results(published)
    if rule is not None and rule.due(store.count(published), drawn and drawn[0]):
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
