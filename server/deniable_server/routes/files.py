"""The browser module's files, and whether the server is alive."""

from __future__ import annotations

from functools import cache

from flask import Blueprint, Response, abort, request

from deniable_server.browser_files import BrowserFiles

blueprint = Blueprint("files", __name__)


@blueprint.get("/client/<path:name>")
def client_file(name: str) -> Response:
    """Serve one file of the browser module; browsers keep it and ask whether it changed."""
    found = _files().find(name)
    if found is None:
        abort(404)
    zipped = request.accept_encodings["gzip"] > 0
    response = Response(found.compressed if zipped else found.body, mimetype=found.type)
    if zipped:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = "no-cache"
    response.set_etag(f"{found.integrity}{'-gzip' * zipped}")
    response.make_conditional(request)
    return response


@blueprint.get("/healthz")
def healthz() -> Response:
    """Say that the server answers."""
    return Response("ok\n", mimetype="text/plain", headers={"Cache-Control": "no-store"})


@cache
def _files() -> BrowserFiles:
    return BrowserFiles()
