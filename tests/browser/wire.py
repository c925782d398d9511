"""What is on the wire: a server between browser and server that notes every request whole.

It can also change what the browser gets, so that a page can be broken on purpose.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class Request:
    """One request as it came: nothing is left out."""

    method: str
    path: str
    headers: Headers
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def raw(self) -> bytes:
        head = "".join(f"{key}: {value}\r\n" for key, value in self.headers)
        return f"{self.method} {self.path}\r\n{head}\r\n".encode("latin-1") + self.body


class Wire:
    """Pass everything on to a port of this machine, and remember what was asked.

    Attributes:
        requests: Every request so far.
        replace: Texts to change in what the browser gets, headers included.
        answer: Asked before a request is passed on; a status answers it here instead.
        changed: What of those was found, so that no test breaks nothing by mistake.
        lose: Whether a report is passed on and then its acknowledgement lost.
    """

    def __init__(self, port: int) -> None:
        self.requests: list[Request] = []
        self.replace: dict[str, str] = {}
        self.answer: Callable[[Request], int | None] = lambda request: None
        self.lose = False
        self.changed: set[str] = set()
        self._target = port
        wire = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:
                    self.close_connection = True

            def do_GET(self) -> None:
                wire._pass(self)

            do_POST = do_OPTIONS = do_HEAD = do_PUT = do_GET  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._server.shutdown()
        self._server.server_close()

    @property
    def reports(self) -> list[Request]:
        """Every request that carried something."""
        return [request for request in self.requests if request.method != "GET"]

    def _pass(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        headers = list(handler.headers.items())
        request = Request(handler.command, handler.path, headers, body)
        self.requests.append(request)
        status = self.answer(request)
        if status is not None:
            self._reply(handler, status, [("Access-Control-Allow-Origin", "*")], b"")
            return
        with closing(http.client.HTTPConnection("127.0.0.1", self._target, timeout=20)) as link:
            plain = {"Accept-Encoding": "identity"}  # so that it can be changed
            link.request(request.method, request.path, body or None, dict(headers) | plain)
            found = link.getresponse()
            if self.lose and request.method == "POST":
                handler.close_connection = True
                return
            content = self._change(found.read())
            passed = [(k, self._change(v.encode()).decode()) for k, v in found.getheaders()]
            self._reply(handler, found.status, passed, content)

    def _change(self, text: bytes) -> bytes:
        for old, new in self.replace.items():
            if old.encode() in text:
                self.changed.add(old)
            text = text.replace(old.encode(), new.encode())
        return text

    @staticmethod
    def _reply(
        handler: BaseHTTPRequestHandler, status: int, headers: Iterable[tuple[str, str]],
        content: bytes,
    ) -> None:  # fmt: skip
        handler.send_response_only(status)
        for key, value in headers:
            if key.lower() not in ("content-length", "connection", "transfer-encoding"):
                handler.send_header(key, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
