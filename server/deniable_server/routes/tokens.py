"""Signing for invitation codes. The issuer is a service of its own; see ``deniable_server.issuer``.

An answer says no more than that a code is unknown or used. Nothing is logged.
"""

from __future__ import annotations

import json

from flask import Blueprint, Response, abort, request

from deniable_protocol import TokenError
from deniable_protocol.canonical import read_strict
from deniable_server.problems import problem
from deniable_server.services import services

blueprint = Blueprint("tokens", __name__)


@blueprint.post("/v1/surveys/<name>/tokens")
def sign(name: str) -> Response:
    """Sign the blinded message of one device for one code."""
    issuer = services().issuer
    if issuer is None:
        abort(404)
    if not services().admits(request.remote_addr):
        return problem("too-many")
    try:
        found = read_strict(request.get_data(cache=False))
        code, blinded = found["code"], bytes.fromhex(found["blinded"])
        if not isinstance(code, str) or set(found) != {"code", "blinded"}:
            raise TypeError
    except (ValueError, TypeError, KeyError):
        return problem("token-request")
    try:
        signed = issuer.sign(name, code, blinded)
    except TokenError:
        return problem("code")
    body = json.dumps({"signed": signed.hex()})
    return Response(body, 200, mimetype="application/json")
