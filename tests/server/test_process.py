"""The real server process: what it acknowledges, what it survives, and what it never writes."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import signal
import socket
import sqlite3
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from deniable_server.app import HEADERS

from .running import CLIENT, REPORTS, Load, Server
from .samples import SURVEY, WIDTH, body, dump, other_answers

CANARY = "canary-9c41"
BITMAP = ((1 << WIDTH) - 1).to_bytes(2, "little")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server")) as server:
        yield server


def check_silence(server: Server) -> None:
    """Check that no output names a client, a path, a header or a body."""
    for marker in (CANARY, CLIENT, "127.0.0", "/v1/", "Traceback", "answers"):
        assert marker not in server.complaints()
    for marker in (CANARY, CLIENT):
        assert marker not in server.output()


def test_announcement(server: Server) -> None:
    """The operator reads where the form is, which survey it is and what a report reveals."""
    output = server.output()
    assert f"http://127.0.0.1:{server.port}/s/{SURVEY.name}" in output
    assert SURVEY.digest in output
    assert f"epsilon {SURVEY.epsilon:.3f}" in output
    assert "by a factor of at most 2.71" in output


def test_twenty_at_once(server: Server) -> None:
    """Of 20 simultaneous reports with one id, one is stored and acknowledged as new."""
    for other in (False, True):
        sent = body()
        bodies = [other_answers(sent) if other and n % 2 else sent for n in range(20)]
        barrier = threading.Barrier(20)

        def post(each: object, barrier: threading.Barrier = barrier) -> int:
            barrier.wait()
            return server.post(each)[0]

        with ThreadPoolExecutor(20) as pool:
            found = Counter(pool.map(post, bodies))
        assert found == ({201: 1, 200: 9, 409: 10} if other else {201: 1, 200: 19})
        assert server.rows()[sent["id"]][1] == BITMAP


GARBAGE = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + CANARY.encode() + b"\r\n\r\n",
    b"get /" + CANARY.encode() + b" HTTP/1.1\r\n\r\n",
    CANARY.encode() + b"\r\n\r\n",
    b"GET /" + CANARY.encode() + b" HTTP/9.9 " + CANARY.encode() + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n" + CANARY.encode() + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nX: " + CANARY.encode() + b"\ny\r\n\r\n",
    b"GET / HTTP/1.1\r\n " + CANARY.encode() + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nX: " + CANARY.encode() * 40_000 + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: " + CANARY.encode() + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: -1\r\nX: " + CANARY.encode() + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: " + CANARY.encode() + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + CANARY.encode() + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc" + CANARY.encode() + b"\r\n",
    b"PROXY TCP4 " + CANARY.encode() + b" 10.0.0.1 1 2\r\n\r\n",
]


@pytest.mark.parametrize("sent", GARBAGE)
def test_garbage(server: Server, sent: bytes) -> None:
    """What is not HTTP gets an error that repeats nothing, and leaves nothing behind."""
    before = server.rows()
    found = server.exchange(sent)
    head, _, rest = found.partition(b"\r\n\r\n")
    assert int(head.split()[1]) in (400, 404, 405, 431, 501)
    assert json.loads(rest)["status"] == int(head.split()[1])
    assert CANARY.encode() not in found
    assert b"\r\nServer:" not in head
    for name, value in HEADERS.items():
        assert f"{name}: {value}".encode() in head
    assert server.rows() == before
    assert server.post(body())[0] == 201
    check_silence(server)


def test_garbage_that_waitress_trips_over(tmp_path: Path) -> None:
    """What makes waitress log the client's address leaves one line that names a place in code."""
    with Server(tmp_path) as server:
        assert server.exchange(b"GET http://[" + CANARY.encode() + b"/ HTTP/1.1\r\n\r\n") == b""
        assert server.post(body())[0] == 201
        check_silence(server)
        assert server.stop() == 0
        assert re.fullmatch(r"web server: error at wasyncore:\d+\n", server.complaints())


def chunked(parts: Iterator[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("length", "status", "reason"),
    [(0, 201, None), (100_000, 413, "too-large"), (5 << 20, 413, "batch-too-large")],
)
def test_chunked(server: Server, length: int, status: int, reason: str | None) -> None:
    """A body that does not say how long it is has the same limits."""
    head = f"POST {REPORTS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    blanks = itertools.repeat(b" " * 16384, length // 16384)
    found = server.exchange(head + chunked(itertools.chain(blanks, [dump(body())])))
    assert int(found.split()[1]) == status
    assert json.loads(found.partition(b"\r\n\r\n")[2]).get("reason") == reason


def test_announced_as_too_long(server: Server) -> None:
    """A body that is far too long is refused before it is read."""
    head = f"POST {REPORTS} HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n".encode()
    assert server.exchange(head).startswith(b"HTTP/1.1 413 ")


def test_resets(server: Server) -> None:
    """Clients that vanish at any moment leave no trace and stop nobody else."""
    request = f"POST {REPORTS}?{CANARY} HTTP/1.1\r\nHost: x\r\nContent-Length: "
    content = dump(body())
    whole = f"{request}{len(content)}\r\n\r\n".encode() + content
    for length in [*range(0, len(whole), 20), *[len(whole)] * 20]:
        connection = server.raw()
        connection.sendall(whole[:length])
        # Zero seconds of lingering: closing sends a reset instead of a goodbye.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    assert server.post(body())[0] == 201
    check_silence(server)


def varint(key: int) -> bytes:
    """Write a key of more than 56 bits as SQLite's file format does: 8 times 7 bits, then 8."""
    return bytes(0x80 | key >> shift & 0x7F for shift in range(57, 7, -7)) + bytes([key & 0xFF])


def test_nothing_but_the_report(server: Server) -> None:
    """Marked headers, query and address of an accepted report are nowhere: files or output."""
    sent = body(id="7" + body()["id"][1:])
    headers = {
        name: f"{CANARY}-{name}"
        for name in ("User-Agent", "Referer", "Cookie", "X-Forwarded-For", "Forwarded", "Origin",
                     "Accept-Language", "Authorization")
    }  # fmt: skip
    assert server.post(sent, f"{REPORTS}?who={CANARY}", **headers)[0] == 201
    assert server.rows()[sent["id"]] == (0, BITMAP)
    found = b"".join(path.read_bytes() for path in server.database.parent.iterdir())
    assert varint(int(sent["id"], 16)) in found, "the search would not have found anything"
    assert CANARY.encode() not in found
    assert CLIENT.encode() not in found
    assert socket.inet_aton(CLIENT) not in found
    check_silence(server)


def test_keeps_serving(server: Server) -> None:
    """After all of the above the server has complained of nothing."""
    assert server.process.poll() is None
    assert server.complaints() == ""


def test_kill_finds_a_server_that_acknowledges_too_early(tmp_path: Path) -> None:
    """The test above can fail: a server that acknowledges before the commit loses reports."""
    with Server(tmp_path, script=Path(__file__).with_name("eager.py")) as server:
        load = Load(server)
        load.wait_for(150)
        server.stop(signal.SIGKILL)
        load.join()
    assert not load.acknowledged <= set(server.rows())


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_stops_gracefully(tmp_path: Path, signum: signal.Signals) -> None:
    """A server that is asked to stop commits what it took and leaves one file and no complaint."""
    with Server(tmp_path) as server:
        load = Load(server)
        load.wait_for(100)
        assert server.stop(signum) == 0
        load.join()
    assert not server.database.with_name("survey.db-wal").exists()
    assert load.acknowledged <= set(server.rows())
    check_silence(server)


def test_full_queue(tmp_path: Path) -> None:
    """While the disk is stuck, what does not fit is refused with 503, and the rest is stored."""
    with Server(tmp_path, DENIABLE_QUEUE="2") as server, ThreadPoolExecutor(2) as pool:
        with closing(sqlite3.connect(server.database, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            waiting = []
            for _ in range(2):  # the first fills the commit that is stuck, the second the queue
                waiting.append(pool.submit(server.post, [body(), body()]))
                time.sleep(0.3)
            with closing(server.connect()) as connection:
                connection.request("POST", REPORTS, dump(body()))
                answer = connection.getresponse()
                assert answer.status == 503
                assert answer.getheader("Retry-After") == "5"
                assert json.loads(answer.read())["reason"] == "unavailable"
                connection.request("GET", "/healthz")
                assert connection.getresponse().read() == b"ok\n"
            db.execute("ROLLBACK")
        stored = [{"status": 201}, {"status": 201}]
        assert [(s, json.loads(b)) for s, b in (w.result() for w in waiting)] == [(207, stored)] * 2
        assert len(server.rows()) == 4
        assert server.complaints().count("reports wait for the disk") == 1
        check_silence(server)


def test_keep_alive_survives_a_refusal(server: Server) -> None:
    """A refused report does not cost the connection."""
    with closing(server.connect()) as connection:
        for sent, status in [(b"{}", 422), (dump(body()), 201), (b"", 422), (dump(body()), 201)]:
            connection.request("POST", REPORTS, sent)
            answer: http.client.HTTPResponse = connection.getresponse()
            answer.read()
            assert answer.status == status
