"""The production server behind ``deniable serve``: waitress, set to keep and write nothing."""

from __future__ import annotations

import signal
import socket
from types import FrameType
from typing import Any, Final

from flask import Flask
from waitress.channel import HTTPChannel
from waitress.server import create_server
from waitress.task import ErrorTask

from .app import HEADERS
from .problems import MAX_BODY_BYTES, plain_problem
from .services import services
from .silence import silence_waitress

THREADS: Final = 48
"""So many requests can wait for the disk together: commits are shared only by those that wait."""

_CONNECTIONS: Final = 1000


def listen(app: Flask, host: str, port: int, *, threads: int = THREADS) -> Any:
    """Open the port and start the threads of an application; ``run`` then answers.

    Args:
        host: Name or address to listen on.
        port: Port, or 0 for a free one; ``effective_port`` of the result is the one in use.
        threads: How many requests are answered at once.

    Returns:
        The waitress server.

    Raises:
        OSError: If the host is unknown or the port taken.
    """
    silence_waitress()
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    server = create_server(
        app,
        sockets=[socket.create_server(address[:2], family=family, backlog=1024)],
        threads=threads,
        connection_limit=_CONNECTIONS,
        asyncore_use_poll=True,
        ident="",
        send_bytes=1,  # each thread sends its own answer, also while the server stops
        log_socket_errors=False,
        # The application answers 413 itself up to twice its own limit, so that the sender reads it.
        max_request_body_size=2 * MAX_BODY_BYTES,
        inbuf_overflow=2 * MAX_BODY_BYTES,  # no body goes through a temporary file
    )
    server.channel_class = _Channel
    return server


def run(server: Any, app: Flask) -> None:
    """Answer until SIGINT or SIGTERM; then finish what was begun and close the database."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        server.run()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        server.close()
        services(app).close()


def _stop(signum: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


class _Refusal(ErrorTask):  # type: ignore[misc]  # waitress has no types
    """Answers what is not HTTP with a problem document; waitress would repeat what was sent."""

    def execute(self) -> None:
        answer = plain_problem(self.request.error.code)
        self.status = answer.status
        self.response_headers += [("Content-Type", answer.content_type), *HEADERS.items()]
        self.response_headers.append(("Connection", "close"))
        self.close_on_finish = True
        body = answer.get_data()
        self.content_length = len(body)
        self.write(body)


class _Channel(HTTPChannel):  # type: ignore[misc]  # as above
    error_task_class = _Refusal
