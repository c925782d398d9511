"""Published surveys, byte for byte as their digest names them."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from deniable_server.life import State
from deniable_server.openapi import document
from deniable_server.problems import problem
from deniable_server.services import services

blueprint = Blueprint("surveys", __name__)


@blueprint.get("/v1/surveys/<name>")
def published(name: str) -> Response:
    """Give the newest survey of a name as canonical JSON."""
    found = services().store.newest(name)
    if found is None:
        return problem("unknown-survey")
    if services().store.life(found).state is State.ERASED:
        return problem("erased")
    return Response(found.survey.to_json(), mimetype="application/json")


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """Describe what programs may ask of this server."""
    return jsonify(document())
