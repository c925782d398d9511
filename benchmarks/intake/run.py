"""Reports per second of the intake at 32 connections: group commit against one commit each.

Run ``python benchmarks/intake/run.py``. Both servers are the real one in a process of its own; the
connections are held by one more process. Rounds alternate, and medians are compared, because a
shared machine is faster at one moment than at the next.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

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
VARIANTS = {
    "group commit": ["-m", "deniable_protocol", "serve", "--port", "0"],
    "direct commits": [str(Path(__file__).with_name("direct.py"))],
}


@dataclass(frozen=True)
class Round:
    """What one round measured: reports per second, and every request's milliseconds."""

    rate: float
    waits: list[float]

    @property
    def slowest(self) -> float:
        """The 99th percentile of the waits."""
        return statistics.quantiles(self.waits, n=100)[98]


def request(port: int) -> bytes:
    """Write one report as an HTTP request."""
    answers = {
        item.name: sorted(secrets.SystemRandom().sample(range(5), item.channel.subset))
        for item in SURVEY.items
    }
    report = {"survey": SURVEY.digest, "id": f"{secrets.randbits(63):016x}", "answers": answers}
    body = json.dumps(report).encode()
    head = (
        f"POST /v1/surveys/{SURVEY.name}/reports HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def load(port: int, connections: int, seconds: float) -> Round:
    """Keep one request waiting on every connection; all are written beforehand."""
    ready = [request(port) for _ in range(int(seconds * 4000))]
    poll = selectors.DefaultSelector()
    started: dict[socket.socket, float] = {}
    answers: dict[socket.socket, bytes] = {}
    waits: list[float] = []

    def send(connection: socket.socket) -> None:
        started[connection], answers[connection] = time.perf_counter(), b""
        connection.sendall(ready.pop())

    begin = time.perf_counter()
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(connection, selectors.EVENT_READ)
        send(connection)
    while (now := time.perf_counter()) < begin + seconds:
        for key, _ in poll.select(0.1):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            answer = answers[connection] = answers[connection] + connection.recv(65536)
            if not answer.endswith(b"}\n"):  # head and body may come apart
                continue
            if not answer.startswith(b"HTTP/1.1 201"):
                raise SystemExit(f"expected 201, got {answer[:60]!r}")
            waits.append(1000 * (time.perf_counter() - started[connection]))
            send(connection)
    for connection in started:
        connection.close()
    return Round(len(waits) / (now - begin), waits)


def measure(variant: str, folder: Path, connections: int, seconds: float) -> Round:
    """Start a server, load it from a process of its own, and stop it."""
    survey = folder / "survey.json"
    survey.write_bytes(SURVEY.to_json())
    database = folder / f"{secrets.token_hex(4)}.db"
    command = [sys.executable, *VARIANTS[variant], str(survey), "--database", str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = next(
                int(found[1])
                for line in server.stdout
                if (found := re.search(r"Listening on http://127\.0\.0\.1:(\d+)/", line))
            )
            return load(port, connections, seconds)
        finally:
            server.terminate()


def main() -> None:
    """Print the medians of both variants and their ratio."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--connections", type=int, default=32)
    options.add_argument("--seconds", type=float, default=4.0, help="length of one round")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--folder", type=Path, help="where to put the databases: which disk")
    given = options.parse_args()
    found: dict[str, list[Round]] = {variant: [] for variant in VARIANTS}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for _ in range(given.rounds):
            for variant, rounds in found.items():
                rounds.append(measure(variant, Path(folder), given.connections, given.seconds))
                last = rounds[-1]
                print(
                    f"{variant:15} {last.rate:6.0f} reports/s   99 % within {last.slowest:6.1f} ms"
                )
    medians = {name: statistics.median(r.rate for r in rounds) for name, rounds in found.items()}
    print()
    for name, rounds in found.items():
        slowest = statistics.median(r.slowest for r in rounds)
        print(f"median, {name}: {medians[name]:.0f} reports/s, 99 % within {slowest:.1f} ms")
    grouped, direct = medians.values()
    print(f"ratio of the medians: {grouped / direct:.2f}")


if __name__ == "__main__":
    main()
