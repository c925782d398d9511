"""What an operator sees: how surveys fill by day, and whether the server is well.

There is no page at all unless a token was set. Browsers ask for it as a password; the name that
they ask for with it does not matter.
"""

from __future__ import annotations

import hmac

from flask import Blueprint, Response, abort, current_app, render_template, request

from deniable_server.metrics import exposition
from deniable_server.problems import problem
from deniable_server.services import services

blueprint = Blueprint("operator", __name__)


@blueprint.get("/operator")
def overview() -> Response | str:
    """Show every survey version with its state and its reports by day (UTC)."""
    if (refused := _refuse()) is not None:
        return refused
    store = services().store
    readable, unreadable = store.readable_surveys()
    rows = [(each, store.status(each), store.days(each)) for each in readable]
    return render_template("operator.html", rows=rows, unreadable=unreadable, database=store.name)


@blueprint.get("/metrics")
def metrics() -> Response:
    """Give counts to a Prometheus server, rounded down so that no single report shows."""
    found = exposition(services().store)
    if found is None:
        abort(404)
    return Response(found, mimetype="text/plain", headers={"Cache-Control": "no-store"})


@blueprint.get("/readyz")
def readyz() -> Response:
    """Say whether reports can be stored now, and if not, why."""
    if (reason := services().readiness.reason()) is not None:
        return problem(reason)
    return Response("ok\n", mimetype="text/plain")


def _refuse() -> Response | None:
    token = current_app.config["OPERATOR_TOKEN"]
    if not token:
        abort(404)
    given = request.authorization
    password = (given.password if given is not None else None) or ""
    if hmac.compare_digest(password.encode(), str(token).encode()):
        return None
    return Response(
        "The operator's token is needed.\n", 401, mimetype="text/plain",
        headers={"WWW-Authenticate": 'Basic realm="operator", charset="UTF-8"'},
    )  # fmt: skip
