"""The production server behind ``deniable serve``: waitress, set to keep and write nothing."""

from __future__ import annotations

import resource
import signal
import socket
from types import FrameType
from typing import Final

from flask import Flask

from .connections import IntakeServer, Patience
from .services import services
from .silence import forbid_core_dumps, silence_waitress

THREADS: Final = 48
"""So many requests can wait for the disk together: commits are shared only by those that wait."""

_BACKLOG: Final = 1024


def open_port(host: str, port: int) -> socket.socket:
    """Listen on a port.

    Args:
        host: Name or address to listen on.
        port: Port, or 0 for a free one.

    Raises:
        OSError: If the host is unknown or the port taken.
    """
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(address[:2], family=family, backlog=_BACKLOG)


def listen(
    app: Flask,
    host: str,
    port: int,
    *,
    threads: int = THREADS,
    patience: Patience | None = None,
) -> IntakeServer:
    """Open a port and start the threads of an application; ``run`` then answers.

    Raises:
        OSError: If the host is unknown or the port taken.
    """
    return answer_on(open_port(host, port), app, threads=threads, patience=patience)


def answer_on(
    listener: socket.socket,
    app: Flask,
    *,
    threads: int = THREADS,
    patience: Patience | None = None,
) -> IntakeServer:
    """Start the threads of an application for an open port; ``run`` then answers.

    Returns:
        The server; its ``effective_port`` is the port in use.
    """
    silence_waitress()
    patience = patience or Patience()
    _allow_files(2 * patience.connections)
    return IntakeServer(app, listener, threads=threads, patience=patience)


def run(server: IntakeServer, app: Flask) -> None:
    """Answer until SIGINT or SIGTERM; then finish what was begun and close the database."""
    forbid_core_dumps()
    signal.signal(signal.SIGTERM, _stop)
    try:
        server.run()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        server.close()
        services(app).close()


def _allow_files(count: int) -> None:
    """Let this process hold as many connections as it is to serve, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft not in (resource.RLIM_INFINITY,) and soft < count:
        allowed = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _stop(signum: int, frame: FrameType | None) -> None:
    raise SystemExit(0)
