"""The Flask application: its parts, the headers of every response, and what it may log."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from . import problems
from .issuer import Issuer
from .limits import RateLimiter
from .opening import open_store
from .routes import BLUEPRINTS
from .services import Services
from .settings import settled
from .store import ReportStore
from .writer import GroupWriter

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "browsing-topics=(), camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

_POSTGRES_WRITERS: Final = 3
"""So many groups are under way where one of them is held up, as by a survey that is just closed."""

_PUBLIC: Final = ("/v1/", "/client/")
"""Surveys, acknowledgements and scripts are public; a form may be on a page of another site."""

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Make the web application. It serves the surveys that its database holds.

    Settings come from *config*, else from variables such as ``DENIABLE_DATABASE``, else are:
    ``DATABASE`` ("deniable.db"; a SQLite file, or a ``postgresql://`` address) and ``QUEUE``
    (4,096, how many reports may wait for the disk before more are refused with 503),
    ``ISSUER`` (none; the issuer's file, if this server also signs invitations), ``LIMIT`` (0 for
    none; how many reports one network may send in a minute), ``PROXIES`` (0; how many proxies in
    front of it say where a request comes from) and ``OPERATOR_TOKEN`` (none: no operator's page).

    A process that forks must do so before this: database connections do not survive a fork.

    Privacy:
        The application writes to its database and to its log. The database has no place for
        anything but a report; the log gets no body, address, path or header.

    Raises:
        SettingError: If a setting is not what it must be.
        StoreError: If the database cannot be opened.
    """
    app = _QuietFlask("deniable_server")
    app.config.from_mapping(settled(config or {}), MAX_CONTENT_LENGTH=problems.MAX_BODY_BYTES)
    app.url_map.merge_slashes = False  # else a redirect repeats the path
    store = open_store(app.config["DATABASE"])
    issuer = Issuer(app.config["ISSUER"]) if app.config["ISSUER"] else None
    limiter = RateLimiter(app.config["LIMIT"]) if app.config["LIMIT"] else None
    # SQLite has one writer at a time, PostgreSQL many.
    threads = 1 if isinstance(store, ReportStore) else _POSTGRES_WRITERS
    queue = GroupWriter(store, capacity=app.config["QUEUE"], threads=threads)
    Services(store, queue, issuer, limiter).attach(app)
    if app.config["PROXIES"]:
        # Where a request comes from, and nothing else of what a proxy may say about it.
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=app.config["PROXIES"], x_proto=0)  # type: ignore[method-assign]  # Flask's own way
    problems.register(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.wsgi_app = _Protected(app.wsgi_app)  # type: ignore[method-assign]  # as above
    return app


class _QuietFlask(Flask):
    def log_exception(self, exc_info: _ExcInfo) -> None:
        """Log what failed and where in the code; never the request, and no value in the traceback.

        Flask would log the path, and an exception's own text may quote what it was given.
        """
        kind, _, trace = exc_info
        place = traceback.extract_tb(trace)[-1] if trace else None
        where = f"{Path(place.filename).name}:{place.lineno}" if place else "an unknown place"
        self.logger.error("%s at %s", kind.__name__ if kind else "error", where)


class _Protected:
    """Put the same headers onto every answer of an application.

    Not by Flask, which looks for each of them among all others: an eighth of its work on a report.
    """

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            given = {name.lower() for name, _ in headers}
            headers += [pair for pair in HEADERS.items() if pair[0].lower() not in given]
            if environ.get("PATH_INFO", "").startswith(_PUBLIC):
                headers.append(("Access-Control-Allow-Origin", "*"))
            return start_response(status, headers, *rest)

        return self._app(environ, start)
