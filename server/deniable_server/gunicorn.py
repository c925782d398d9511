"""Settings with which gunicorn keeps the promises of ``deniable serve``.

    gunicorn -c python:deniable_server.gunicorn 'deniable_server:create_app()'

With its access log off, gunicorn still writes the address of whoever sends garbage, repeats the
garbage in its answer, and logs the path of a request that failed. Here it does none of that,
whatever its log options say. Names without an underscore are gunicorn's own settings; they may be
given again on its command line, except that ``--preload`` is refused.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from gunicorn.glogging import Logger as _Logger
from gunicorn.http import errors as _errors
from gunicorn.workers.gthread import ThreadWorker as _ThreadWorker

from .app import HEADERS as _HEADERS
from .problems import plain_problem as _plain_problem
from .services import services as _services
from .silence import forbid_core_dumps as _forbid_core_dumps
from .wsgi import THREADS as _THREADS

_STATUS: Final = (
    (_errors.LimitRequestLine, HTTPStatus.REQUEST_URI_TOO_LONG),
    (_errors.LimitRequestHeaders, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
    (_errors.UnsupportedTransferCoding, HTTPStatus.NOT_IMPLEMENTED),
    (_errors.ExpectationFailed, HTTPStatus.EXPECTATION_FAILED),
)


class QuietLogger(_Logger):  # type: ignore[misc]  # gunicorn has no types
    """Log what processes do; of requests only the code line where one failed, and no time."""

    def setup(self, cfg: Any) -> None:
        """Set up the log for errors; there is none for accesses, whatever the settings say."""
        super().setup(cfg)
        self.access_log.handlers.clear()
        self.access_log.disabled = True
        for handler in self.error_log.handlers:
            handler.setFormatter(_Formatter())
            handler.addFilter(_says_something)

    def access(self, resp: Any, req: Any, environ: Any, request_time: Any) -> None:
        """Write nothing."""


class _Formatter(logging.Formatter):
    """Keep the words of gunicorn's main process, which sees no request; of all else the place."""

    def format(self, record: logging.LogRecord) -> str:
        place = _place()
        if place.startswith("arbiter:") and not record.exc_info:
            return record.getMessage()
        kind = record.exc_info[0] if record.exc_info else None
        return f"web server: {kind.__name__ if kind else record.levelname.lower()} at {place}"


def _says_something(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR or _place().startswith("arbiter:")


def _place() -> str:
    """Find where in gunicorn a message came from: the first caller that is no part of logging."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        name = frame.f_globals.get("__name__", "")
        if name.startswith("gunicorn.") and name != "gunicorn.glogging":
            return f"{name.rpartition('.')[2]}:{frame.f_lineno}"
    return "an unknown place"


class QuietWorker(_ThreadWorker):  # type: ignore[misc]  # as above
    """Answer what is not HTTP with a problem document; gunicorn would repeat what was sent."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that could not be read or not be answered; log no more than a place."""
        ours = not isinstance(exc, _errors.ParseException | OSError)
        if ours:
            self.log.error("a request failed", exc_info=exc)
        found = (status for kind, status in _STATUS if isinstance(exc, kind))
        otherwise = HTTPStatus.INTERNAL_SERVER_ERROR if ours else HTTPStatus.BAD_REQUEST
        status = next(found, otherwise)
        answer = _plain_problem(status)
        head = {"Content-Type": answer.content_type, "Content-Length": answer.content_length,
                "Connection": "close"} | _HEADERS  # fmt: skip
        lines = [f"HTTP/1.1 {answer.status}", *(f"{name}: {value}" for name, value in head.items())]
        with suppress(OSError):
            client.sendall("\r\n".join([*lines, "", ""]).encode() + answer.get_data())


logger_class = QuietLogger
worker_class = QuietWorker
accesslog = None
threads = _THREADS
workers = int(os.environ.get("WEB_CONCURRENCY", "1"))
"""One, because SQLite has one writer. More of them pay with PostgreSQL."""
preload_app = False
"""Each worker opens the database for itself: connections do not survive a fork."""
keepalive = 20
graceful_timeout = 40
limit_request_line = 4094


def on_starting(server: Any) -> None:
    """Refuse what would break the intake, before a worker is started."""
    if server.cfg.preload_app:
        raise SystemExit("deniable: leave out --preload; each worker opens the database for itself")
    _forbid_core_dumps()


def post_fork(server: Any, worker: Any) -> None:
    """See in each worker that a crash writes nothing."""
    _forbid_core_dumps()


def worker_exit(server: Any, worker: Any) -> None:
    """Store what waits, and close the database."""
    app = getattr(worker, "wsgi", None)
    if app is not None:
        _services(app).close()
