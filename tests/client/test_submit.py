"""Sending: the same bytes each time, and one stored row whatever the network does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from deniable_client import respond, submit
from deniable_client.submit import Receipt, survey_address
from deniable_protocol import Report, SubmitError, Survey


@pytest.fixture
def survey() -> Survey:
    question = {"name": "used", "kind": "yes-no", "text": "Used?", "odds": "3:1"}
    return Survey.load({"name": "a", "title": "A", "questions": [question]})


@contextmanager
def server(replies: list[bytes | None]) -> Iterator[tuple[str, list[bytes]]]:
    """Answer each connection with the next raw reply; None hangs up without a word."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run() -> None:
            for reply in replies:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    seen.append(_request(connection))
                    if reply is not None:
                        connection.sendall(reply)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/s/a", seen
    thread.join(5)


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    length = next(int(line[16:]) for line in head.split(b"\r\n")
                  if line.lower().startswith(b"content-length:"))  # fmt: skip
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def reply(status: str, body: bytes = b"{}") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


STORED, SAME = b'{"status": "stored"}', b'{"status": "same"}'


def test_retries_the_same_bytes(survey: Survey) -> None:
    """Lost replies and 503 are retried with back-off, and every attempt carries the same body."""
    report, waited = respond(survey, {"used": True}), list[float]()
    with server([None, reply("503 Busy"), b"garbage", reply("200 OK", SAME)]) as (url, seen):
        receipt = submit(report, url, sleep=waited.append)
    assert receipt == Receipt(new=False, attempts=4)
    assert {request.split(b"\r\n\r\n", 1)[1] for request in seen} == {report.to_json()}
    for wait, least in zip(waited, (1, 2, 4), strict=True):
        assert least <= wait <= 1.5 * least


def test_request_holds_nothing_else(survey: Survey) -> None:
    """The address, the headers and the body hold the report and no word about the device."""
    report = respond(survey, {"used": True})
    with server([reply("201 Created", STORED)]) as (url, seen):
        assert submit(report, url) == Receipt(new=True, attempts=1)
    head = seen[0].split(b"\r\n\r\n")[0].decode().split("\r\n")
    assert head[0] == "POST /v1/surveys/a/reports HTTP/1.1"
    names = {line.split(":")[0].lower() for line in head[1:]}
    assert names <= {
        "host", "user-agent", "content-type", "content-length", "connection", "accept-encoding"
    }  # fmt: skip
    assert "User-Agent: deniable" in head


@pytest.mark.parametrize("status", ["409 Conflict", "422 Refused", "404 Not Found", "413 Large"])
def test_refusals_are_not_retried(survey: Survey, status: str) -> None:
    """A refusal is final, and its title is shown without control characters."""
    body = b'{"title": "No\\u001b[31m such"}'
    report = respond(survey, {"used": True})
    with server([reply(status, body)]) as (url, seen), pytest.raises(SubmitError) as caught:
        submit(report, url, sleep=_never)
    assert len(seen) == 1
    assert str(caught.value) == f"the server answered {status[:3]}: No[31m such"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 Other", "307 Keep", "308 Keep"])
def test_no_detour_counts_as_an_acknowledgement(survey: Survey, status: str) -> None:
    """A log-in page that a network puts in the way has not stored the report."""
    there = f"HTTP/1.1 {status}\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n".encode()
    report = respond(survey, {"used": True})
    with (
        server([there]) as (url, seen),
        pytest.raises(SubmitError, match=f"{status[:3]}: it points"),
    ):
        submit(report, url, sleep=_never)
    assert len(seen) == 1


@pytest.mark.parametrize("page", [b"<h1>Log in</h1>", b"{}", b"[]", b'{"status": 1}', b""])
def test_no_page_counts_as_an_acknowledgement(survey: Survey, page: bytes) -> None:
    """What a network answers in the server's place is no acknowledgement; sending goes on."""
    report = respond(survey, {"used": True})
    with server([reply("200 OK", page), reply("201 Created", STORED)]) as (url, seen):
        assert submit(report, url, sleep=lambda _: None) == Receipt(new=True, attempts=2)
    assert len(seen) == 2
    with server([reply("200 OK", page)]) as (url, seen), pytest.raises(SubmitError) as caught:
        submit(report, url, waits=(), sleep=_never)
    assert "no acknowledgement" in str(caught.value)


def test_out_of_reach(survey: Survey) -> None:
    """After four waits the error says that trying again is safe."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    waited: list[float] = []
    with pytest.raises(SubmitError, match="after 5 attempts; it is safe to try again"):
        submit(respond(survey, {"used": True}), f"http://127.0.0.1:{port}/s/a", sleep=waited.append)
    assert len(waited) == 4


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://x/s/a", "x", "", "http://h/a", "http:///s/a"]
)
def test_wrong_addresses(survey: Survey, url: str) -> None:
    """Only the http address of a survey is accepted."""
    report = Report(survey.digest, "0" * 16, {"used": (0,)})
    with pytest.raises(SubmitError, match="expected an address"):
        submit(report, url, sleep=_never)


def test_addresses() -> None:
    """Every address of a survey leads to its published form."""
    for url in ("https://h/p/s/a", "https://h/p/s/a/", "https://h/p/v1/surveys/a",
                "https://h/p/v1/surveys/a/reports", "https://h/p/s/a?x=1#y"):  # fmt: skip
        assert survey_address(url) == "https://h/p/v1/surveys/a"


def _never(seconds: float) -> None:
    raise AssertionError("waited after a refusal")
