"""Pages for people: which surveys are open, the form of one, and what a problem means."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request

from deniable_server.life import Status
from deniable_server.problems import PROBLEMS
from deniable_server.services import services

blueprint = Blueprint("pages", __name__)


@blueprint.get("/")
def index() -> str:
    """List the surveys that are open here."""
    return render_template("index.html", surveys=services().store.open_surveys())


@blueprint.get("/s/<name>")
def form(name: str) -> tuple[str, int]:
    """Give the page into which the browser module puts the form.

    ``?arm=…`` names the collection arm, as a link handed to one wave, site or group does. A survey
    by invitation shows its form before it opens, so that codes can be used some time before answers
    are taken.
    """
    store = services().store
    published = store.newest(name)
    if published is None:
        return render_template("missing.html"), 404
    status = store.status(published)
    moment = store.life(published).limits.opens if status is Status.NOT_YET else None
    opens = moment and f"{moment.day} {moment:%B %Y at %H:%M}"
    early = status is Status.NOT_YET and published.survey.invite_key is not None
    if status is not Status.OPEN and not early:
        code = 410 if status is Status.ERASED else 200
        return render_template("closed.html", survey=published.survey, opens=opens), code
    arm = request.args.get("arm")
    return render_template("form.html", survey=published.survey, arm=arm, opens=opens), 200


@blueprint.get("/problems/<reason>")
def explained(reason: str) -> str:
    """Say what a problem document's type means."""
    if reason not in PROBLEMS:
        abort(404)
    return render_template("problem.html", problem=PROBLEMS[reason])
