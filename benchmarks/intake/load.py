"""Load for an intake: every connection always has one request waiting for its answer."""

from __future__ import annotations

import itertools
import json
import secrets
import selectors
import socket
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deniable_protocol import Survey

SURVEY = Survey.load(
    {
        "name": "benchmark",
        "title": "Benchmark",
        "privacy": {"epsilon": 2},
        "questions": [
            {"name": f"q{n}", "kind": "choice", "text": "?", "options": list("abcde")}
            for n in range(5)
        ],
    }
)


@dataclass(frozen=True)
class Round:
    """What one round measured.

    Attributes:
        rate: Reports per second.
        waits: Every request's milliseconds.
        reports: How many were acknowledged.
        work: Seconds of processor time that asking took.
    """

    rate: float
    waits: list[float]
    reports: int
    work: float

    @property
    def slowest(self) -> float:
        """The 99th percentile of the waits."""
        return statistics.quantiles(self.waits, n=100)[98]


def report() -> dict[str, object]:
    """Make a report with a new id."""
    answers = {
        item.name: sorted(secrets.SystemRandom().sample(range(5), item.channel.subset))
        for item in SURVEY.items
    }
    return {"survey": SURVEY.digest, "id": f"{secrets.randbits(63):016x}", "answers": answers}


def request(batch: int | None) -> bytes:
    """Write one report, or an array of several, as an HTTP request."""
    body = json.dumps(report() if batch is None else [report() for _ in range(batch)]).encode()
    head = (
        f"POST /v1/surveys/{SURVEY.name}/reports HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


@dataclass
class _Exchange:
    started: float
    answer: bytes = b""

    @property
    def complete(self) -> bool:
        head, separator, body = self.answer.partition(b"\r\n\r\n")
        if not separator:
            return False
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return len(body) >= int(length)


def load(
    addresses: Sequence[tuple[str, int]],
    *,
    connections: int,
    seconds: float,
    batch: int | None = None,
) -> Round:
    """Spread connections over the servers, and count what they acknowledge.

    All requests are written beforehand, so that writing them costs the servers nothing.
    """
    most = int(seconds * (4000 if batch is None else 20_000 / batch)) + connections
    ready = iter([request(batch) for _ in range(most)])
    expected = b"HTTP/1.1 201" if batch is None else b"HTTP/1.1 207"
    poll = selectors.DefaultSelector()
    waits: list[float] = []
    begin, before = time.perf_counter(), time.process_time()
    held = [_open(address) for address in itertools.islice(itertools.cycle(addresses), connections)]
    for connection in held:
        poll.register(connection, selectors.EVENT_READ, _sent(connection, ready))
    while (now := time.perf_counter()) < begin + seconds:
        for key, _ in poll.select(0.1):
            connection, exchange = key.fileobj, key.data
            assert isinstance(connection, socket.socket)
            exchange.answer += connection.recv(65536)
            if not exchange.complete:
                continue
            if not exchange.answer.startswith(expected):
                raise SystemExit(f"expected {expected!r}, got {exchange.answer[:60]!r}")
            waits.append(1000 * (time.perf_counter() - exchange.started))
            poll.modify(connection, selectors.EVENT_READ, _sent(connection, ready))
    work, reports = time.process_time() - before, len(waits) * (batch or 1)
    for connection in held:
        connection.close()
    return Round(reports / (now - begin), waits, reports, work)


def _open(address: tuple[str, int]) -> socket.socket:
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _sent(connection: socket.socket, ready: Iterator[bytes]) -> _Exchange:
    started = time.perf_counter()
    connection.sendall(next(ready))
    return _Exchange(started)
