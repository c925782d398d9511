"""Waitress with limits for every connection, so that nobody who is slow keeps others out.

A connection costs a place and no thread until its request is complete. Places are limited; when all
are taken, the connection that went longest without a complete request makes room for the next.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from typing import Any, Final

from flask import Flask
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask

from deniable_protocol.survey import MAX_REPORT_BYTES

from .app import HEADERS
from .polling import Poll
from .problems import MAX_BODY_BYTES, plain_problem

_STOP_SECONDS: Final = 40.0


@dataclass(frozen=True)
class Patience:
    """What one connection may cost.

    Attributes:
        request: Seconds from the first byte of a request to its last.
        idle: Seconds between a connection's requests.
        answer: Seconds in which an answer must have been read.
        connections: Connections held at once.
        waiting: Bytes of bodies held at once, of unfinished requests and of those that wait for a
            thread. Beyond it, whoever sends more than one report's size is let go.
    """

    request: float = 30.0
    idle: float = 20.0
    answer: float = 60.0
    connections: int = 1000
    waiting: int = 64 * 1024 * 1024


class IntakeServer(TcpWSGIServer):  # type: ignore[misc]  # waitress has no types
    """Answer on an open socket.

    Args:
        app: The application.
        listener: The bound socket; several processes may share it.
        threads: How many requests are answered at once.
        patience: What one connection may cost.
    """

    def __init__(
        self, app: Flask, listener: socket.socket, *, threads: int, patience: Patience
    ) -> None:
        self.patience = patience
        self._next_look = 0.0
        self.poll = Poll()
        settings = Adjustments(
            threads=threads,
            ident="",
            send_bytes=1,  # each thread sends its own answer, also while the server stops
            recv_bytes=65536,
            log_socket_errors=False,
            # The application answers 413 itself up to twice its own limit: the sender reads it.
            max_request_body_size=2 * MAX_BODY_BYTES,
            inbuf_overflow=2 * MAX_BODY_BYTES,  # no body goes through a temporary file
            # Else X-Forwarded-For never reaches the application, which believes as many proxies as
            # its PROXIES says, and by default none.
            clear_untrusted_proxy_headers=False,
        )
        where = (listener.family, listener.type, listener.proto, listener.getsockname())
        super().__init__(app, _sock=listener, adj=settings, sockinfo=where, bind_socket=False)
        self.channel_class = Channel
        for channel in (self.trigger, self):
            self.poll.add(channel)

    def run(self) -> None:
        """Answer until SystemExit or KeyboardInterrupt; finish what was begun, take nothing new."""
        try:
            while True:
                self._look_after_connections()
                self.poll.ask(self)  # whether there is a place
                self.poll.turn(1.0)
        except (SystemExit, KeyboardInterrupt):
            self.accepting = False
            self.poll.remove(self)
            self.socket.close()
            self.task_dispatcher.shutdown(timeout=_STOP_SECONDS)

    def pull_trigger(self) -> None:
        """Wake the thread that waits for connections, if it has one to look after.

        Waitress does so after every answer, but most leave nothing to do.
        """
        if self.poll.asks:
            super().pull_trigger()

    def close(self) -> None:
        """Let go of the port and of every connection."""
        self.poll.close()
        super().close()

    def readable(self) -> bool:
        """Say whether there is a place for another connection."""
        return self.accepting and len(self.active_channels) < self.patience.connections

    def _look_after_connections(self) -> None:
        """End connections that are over their time, and one to make room where all are taken.

        Not while events are handled: the next connection could get the closed one's number, and
        then its events.
        """
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + min(1.0, self.patience.request / 4)
            for channel in list(self.active_channels.values()):
                if channel.overdue(now):
                    channel.handle_close()
        if len(self.active_channels) >= self.patience.connections:
            longest_quiet_first = self.active_channels.values()
            idle = next((each for each in longest_quiet_first if not each.requests), None)
            if idle is not None:
                idle.handle_close()


class _Refusal(ErrorTask):  # type: ignore[misc]  # as above
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


class _Task(WSGITask):  # type: ignore[misc]  # as above
    """Sends an answer's head and body together: one packet, and half the work."""

    wrote_header: bool

    def write(self, data: bytes) -> None:
        if self.wrote_header or not self.complete or not data or self.content_length != len(data):
            super().write(data)
            return
        head = self.build_response_header()
        self.wrote_header = True
        if not self.has_body or self.chunked_response:
            self.channel.write_soon(head)
            super().write(data)
            return
        self.channel.write_soon(head + data)
        self.content_bytes_written += len(data)


class Channel(HTTPChannel):  # type: ignore[misc]  # as above
    """A connection that knows how long it has been waited for."""

    task_class = _Task
    error_task_class = _Refusal

    def __init__(self, server: IntakeServer, *rest: Any, **named: Any) -> None:
        self._quiet_since = time.monotonic()
        self._begun: float | None = None
        self._owing_since: float | None = None
        super().__init__(server, *rest, **named)

    def received(self, data: bytes) -> bool:
        """Take some bytes, and note when the request that they are part of began."""
        self._quiet_since = time.monotonic()
        if self._begun is None:
            self._begun = self._quiet_since
        found = super().received(data)
        if self.request is None:
            self._begun = None
            held = self.server.active_channels
            held[self._fileno] = held.pop(self._fileno)  # now the one that was quiet shortest
        if self.held > MAX_REPORT_BYTES:
            held = sum(channel.held for channel in self.server.active_channels.values())
            if held > self.server.patience.waiting:
                self.will_close = True
        return bool(found)

    def add_channel(self, map: Any = None) -> None:
        """Begin to wait for this connection."""
        super().add_channel(map)
        self.server.poll.add(self)

    def del_channel(self, map: Any = None) -> None:
        """Wait for this connection no longer."""
        self.server.poll.remove(self)
        super().del_channel(map)

    def write_soon(self, data: Any) -> int:
        """Send what can be sent now; the thread that waits for connections sends the rest."""
        try:
            return int(super().write_soon(data))
        finally:
            self._hand_over()

    def service(self) -> None:
        """Answer a request. The thread that waits for connections ends this one if it is to end."""
        super().service()
        self._hand_over()

    def _hand_over(self) -> None:
        if self.writable():
            self.server.poll.ask(self)
            self.server.trigger.pull_trigger()

    def _flush_some(self, do_close: bool = True) -> bool:
        self._quiet_since = time.monotonic()
        return bool(super()._flush_some(do_close))

    @property
    def held(self) -> int:
        """Bytes of bodies that came over this connection and wait."""
        requests = [*self.requests, *([self.request] if self.request else [])]
        return sum(request.body_bytes_received for request in requests)

    def overdue(self, now: float) -> bool:
        """Say whether this connection took too long."""
        patience: Patience = self.server.patience
        if self.total_outbufs_len:
            self._owing_since = self._owing_since or now
            return now - self._owing_since > patience.answer
        self._owing_since = None
        if self.requests:
            return False  # it is us who are slow
        if self._begun is not None:
            return now - self._begun > patience.request
        return now - self._quiet_since > patience.idle
