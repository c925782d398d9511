"""The browser module's files, and whether the server is alive."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, abort, send_from_directory

blueprint = Blueprint("files", __name__)

# Written out: what the system's own table says of .js differs, and browsers insist.
_TYPES: Final = {".js": "text/javascript", ".css": "text/css"}


@blueprint.get("/client/<name>")
def client_file(name: str) -> Response:
    """Serve one file of the browser module; browsers keep it and ask whether it changed."""
    kind = _TYPES.get(Path(name).suffix)
    if kind is None:
        abort(404)
    response = send_from_directory(_browser_folder(), name, mimetype=kind)
    response.headers["Cache-Control"] = "no-cache"
    return response


@blueprint.get("/healthz")
def healthz() -> Response:
    """Say that the server answers."""
    return Response("ok\n", mimetype="text/plain", headers={"Cache-Control": "no-store"})


@cache
def _browser_folder() -> Path:
    """Find the files without importing the client: server code stays away from the randomizer."""
    spec = find_spec("deniable_client")
    if spec is None or not spec.submodule_search_locations:
        abort(404)
    return Path(spec.submodule_search_locations[0]) / "browser"
