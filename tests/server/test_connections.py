"""Connections that are slow, idle, many or deaf do not keep others out, and cost little."""

from __future__ import annotations

import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from .drills import memory
from .running import REPORTS, Server
from .samples import body, dump


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    script = Path(__file__).with_name("impatient.py")
    with Server(tmp_path_factory.mktemp("impatient"), script=script) as server:
        yield server


def is_closed(connection: socket.socket) -> bool:
    """Say whether the server ends a connection within the socket's timeout."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def head(length: int) -> bytes:
    return f"POST {REPORTS} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode()


def test_slow_request(server: Server) -> None:
    """A request that dribbles in is ended after its time, however steadily it dribbles."""
    content = dump(body())
    with server.raw() as connection:
        connection.settimeout(0.1)
        connection.sendall(head(len(content)))
        start = time.monotonic()
        ended = False
        for byte in content:
            try:
                connection.sendall(bytes([byte]))
            except OSError:
                ended = True
                break
            if ended := is_closed(connection):
                break
        assert ended
        assert time.monotonic() - start < 8
    assert server.post(body())[0] == 201


def test_idle(server: Server) -> None:
    """A connection that says nothing is ended, before and after a request."""
    with server.raw() as silent, server.raw() as used:
        used.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"\r\n\r\nok\n"):
            answer += used.recv(1)
        assert is_closed(silent)
        assert is_closed(used)


def test_no_place_left(server: Server) -> None:
    """With every place taken by idle or unfinished connections, each newcomer is still served."""
    held = [server.raw() for _ in range(120)]  # three times as many as there are places
    for connection in held[::2]:
        connection.sendall(head(100) + b"{")
    for _ in range(10):
        assert server.post(body())[0] == 201
    for connection in held:
        connection.close()


def test_more_while_an_answer_is_due(server: Server) -> None:
    """What a client sends, or that it sends no more, is not lost while its report is stored."""
    reports = [body() for _ in range(4)]
    requests = [head(len(dump(sent))) + dump(sent) for sent in reports]
    with (
        closing(sqlite3.connect(server.database)) as other,
        server.raw() as eager,
        server.raw() as done,
    ):
        other.execute("BEGIN IMMEDIATE")  # so that nothing is stored for a moment
        for sent in requests[:3]:
            eager.sendall(sent)
            time.sleep(0.1)
        done.sendall(requests[3])
        done.shutdown(socket.SHUT_WR)
        time.sleep(0.1)
        other.rollback()
        answers = b""
        while answers.count(b'"stored"') < 3:
            answers += eager.recv(65536)
        assert answers.count(b"HTTP/1.1 201") == 3
        assert done.makefile("rb").read().startswith(b"HTTP/1.1 201")
    assert {sent["id"] for sent in reports} <= set(server.rows())


def test_deaf(server: Server) -> None:
    """Whoever asks much and reads nothing is let go, and no thread waits for him for ever."""
    request = b"GET /client/deniable.js HTTP/1.1\r\nHost: x\r\n\r\n"
    held = []
    for _ in range(8):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(5)
        connection.connect((server.host, server.port))
        connection.sendall(request * 400)
        held.append(connection)
    assert server.post(body())[0] == 201
    time.sleep(3)
    assert server.post(body())[0] == 201
    for connection in held:
        connection.settimeout(1)
        received = 0
        try:
            while part := connection.recv(1 << 20):
                received += len(part)
        except OSError:  # a reset, which is what it should get
            pass
        connection.close()
        assert received < 400 * 4000


def test_bodies_are_bounded(server: Server) -> None:
    """Unfinished bodies together stay within bounds; a single report always has room."""
    held = [server.raw() for _ in range(12)]
    for connection in held:
        connection.sendall(head(1 << 20))
    refused = 0
    for connection in held:
        try:
            connection.sendall(b" " * (900 << 10))
            connection.settimeout(0.2)
            refused += is_closed(connection)
        except OSError:
            refused += 1
    assert server.post(body())[0] == 201
    assert refused >= 8
    for connection in held:
        connection.close()


def test_many_repeats_of_one_id(server: Server) -> None:
    """The same report again and again costs no memory and no row."""
    content = dump([body()] * 1000)
    assert server.post(content)[0] == 207
    before, rows = memory(server), len(server.rows())

    def repeat() -> None:
        for _ in range(5):
            assert server.post(content)[0] == 207

    threads = [threading.Thread(target=repeat) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.rows()) == rows
    assert memory(server) - before < 40_000


def test_silent_about_all_of_it(server: Server) -> None:
    """After all of the above the server has complained of nothing."""
    assert server.post(body())[0] == 201
    assert server.complaints() == ""
