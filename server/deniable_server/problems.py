"""Problem documents (RFC 9457): what went wrong, in words, and never what was sent.

A document has a ``reason`` from the closed set ``PROBLEMS``; programs read that, people the title.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from flask import Flask, Response
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from deniable_protocol import ReportError, StoreError
from deniable_protocol.errors import REASONS

from . import metrics

MAX_BATCH: Final = 1000
MAX_BODY_BYTES: Final = 4 * 1024 * 1024
RETRY_SECONDS: Final = 5
_COMPLAIN_SECONDS: Final = 60.0
_MOST_COMPLAINTS: Final = 100
_last_complaints: Final[dict[str, float]] = {}


@dataclass(frozen=True)
class Problem:
    """One kind of problem: its status, and what a person reads."""

    status: int
    title: str


PROBLEMS: Final[dict[str, Problem]] = {
    **{reason: Problem(422, title) for reason, title in REASONS.items()},
    "too-large": Problem(413, REASONS["too-large"]),
    "batch-too-large": Problem(
        413, f"At most {MAX_BATCH:,} reports and {MAX_BODY_BYTES >> 20} MiB can be sent at once."
    ),
    "conflict": Problem(409, "Another report with this id is stored; it stays as it is."),
    "closed": Problem(403, "This survey does not take reports now. Nothing was stored."),
    "erased": Problem(410, "This survey and all of its reports were erased."),
    "spent": Problem(409, "This invitation was used already; the first report stays."),
    "code": Problem(403, "There is no such invitation code, or it was used by another device."),
    "token-request": Problem(422, "A request for a token has a code and a blinded message."),
    "too-many": Problem(429, "Too many requests came from your network just now. Try again later."),
    "unknown-survey": Problem(404, "There is no survey of this name here."),
    "unavailable": Problem(
        503, "The report could not be stored just now. Sending it again is safe."
    ),
    "disk-full": Problem(503, "Reports cannot be stored: the disk is full."),
    "disk-error": Problem(503, "Reports cannot be stored: the disk refuses to be written to."),
    "read-only": Problem(503, "Reports cannot be stored: the database can only be read."),
    "locked": Problem(
        503, "Reports cannot be stored: another program locks the database, or its disk is stuck."
    ),
    "unreachable": Problem(503, "Reports cannot be stored: the database does not answer."),
}


def problem(reason: str) -> Response:
    """Answer with one of ``PROBLEMS``."""
    found = PROBLEMS[reason]
    metrics.refused(reason)
    response = _document(found.status, found.title, type=f"/problems/{reason}", reason=reason)
    if found.status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def plain_problem(status: int) -> Response:
    """Answer with what HTTP itself says of a status."""
    return _document(status, HTTPStatus(status).phrase, type="about:blank")


def register(app: Flask) -> None:
    """Answer every error of an application with a problem document."""
    app.register_error_handler(ReportError, lambda error: problem(error.reason))
    app.register_error_handler(HTTPException, _http_problem)

    @app.errorhandler(StoreError)
    def unavailable(error: StoreError) -> Response:
        complain(app, str(error))  # names the database and what ails it; holds no report
        return problem("unavailable")


def complain(app: Flask, message: str) -> None:
    """Log what ails the server, at most once a minute.

    A line for every refused report would fill the disk that may be what is full, and would tell
    whoever adds times to the log when each report came.
    """
    now = time.monotonic()
    if now - _last_complaints.get(message, -_COMPLAIN_SECONDS) < _COMPLAIN_SECONDS:
        return
    if len(_last_complaints) >= _MOST_COMPLAINTS:
        _last_complaints.clear()
    _last_complaints[message] = now
    app.logger.error("%s", message)


def _http_problem(error: HTTPException) -> Response:
    if isinstance(error, RequestEntityTooLarge):
        return problem("batch-too-large")
    response = plain_problem(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    for name, value in error.get_headers():
        if name in ("Allow", "Retry-After"):
            response.headers[name] = value
    return response


def _document(status: int, title: str, **members: str) -> Response:
    body = json.dumps({**members, "title": title, "status": status})
    return Response(body, status, mimetype="application/problem+json")
