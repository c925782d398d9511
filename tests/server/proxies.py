"""The recipes of docs/proxies.md, run as they stand there with the real nginx, Caddy and Apache.

``python -m tests.server.proxies`` sends marked reports and garbage through each that is installed,
stops the intake, sends more, and searches everything that the proxy wrote. Then each recipe is
broken by its log lines, to see that the search finds something. ``test_proxies`` asks each for what
only the machine itself may see.
"""

from __future__ import annotations

import http.client
import http.server
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .running import CLIENT, REPORTS, Server
from .samples import body, dump

MARK = "marker-4711"
PAGE = Path(__file__).parents[2] / "docs/proxies.md"
TOKEN = "open sesame"
PRIVATE = ("/metrics", "/operator")
DISGUISED = ("/metri%63s", "/%6fperator", "//metrics", "/./operator", "/s/../metrics", "/metrics?a",
             "/metrics/", "/METRICS", "/operator/", "/metrics;a", "/metrics%00")  # fmt: skip
HIDDEN = ("User-Agent", "Referer", "Cookie", "X-Forwarded-For")


@dataclass(frozen=True)
class Proxy:
    """A proxy's program, how its recipe is run here, and how the recipe is broken."""

    program: str
    fence: str
    words: tuple[str, ...]
    around: str
    changes: tuple[tuple[str, str], ...]
    breaks: tuple[tuple[str, str], ...]

    def recipe(self, port: int, back: int, folder: Path, *, broken: bool) -> str:
        """Take the recipe from the page, for a port without TLS and an intake of ours."""
        (text,) = re.findall(rf"```{self.fence}\n(.*?)```", PAGE.read_text("utf-8"), re.S)[:1]
        for pattern, other in (*self.changes, *(self.breaks if broken else ())):
            assert re.search(pattern, text), pattern
            text = re.sub(pattern, other, text)
        text = self.around.replace("RECIPE", text)
        where = {"PORT": str(port), "FOLDER": str(folder), "127.0.0.1:8000": f"127.0.0.1:{back}"}
        for name, value in where.items():
            text = text.replace(name, value)
        return text


PROXIES = (
    Proxy(
        "nginx", "nginx", ("-p", "FOLDER", "-e", "FOLDER/early", "-c", "FOLDER/recipe"),
        "daemon off; master_process off; pid FOLDER/pid; events {}\nhttp {\n"
        + "".join(f"{kind}_temp_path FOLDER/{kind};\n" for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        + "RECIPE}\n",
        ((r"listen 443 ssl;", "listen 127.0.0.1:PORT;"), (r"ssl_\w+ [^;]+;", "")),
        ((r"error_log [^;]+;", "error_log FOLDER/errors info;"),
         (r"access_log off;", "access_log FOLDER/accesses;")),
    ),
    Proxy(
        "caddy", "caddy", ("run", "--config", "FOLDER/recipe", "--adapter", "caddyfile"),
        "RECIPE",
        ((r"^\{\n", "{\nadmin off\n"),
         (r"survey\.example\.org", "http://127.0.0.1:PORT")),
        ((r"exclude http\n", "level INFO\n"),),
    ),
    Proxy(
        "apache2", "apache", ("-X", "-f", "FOLDER/recipe"),
        "ServerRoot FOLDER\nServerName x\nPidFile FOLDER/pid\nListen 127.0.0.1:PORT\n"
        "Mutex posixsem\nUser nobody\nGroup nogroup\n"
        + "".join(f"LoadModule {name}_module MODULES/mod_{name}.so\n" for name in (
            "mpm_event", "authz_core", "authz_host", "headers", "proxy", "proxy_http"))
        + "ErrorLog FOLDER/errors\nRECIPE",
        ((r"\*:443", "127.0.0.1:PORT"), (r"SSL\w+ \S+\n", "\n")),
        ((r"ErrorLogFormat .*\n", ""), (r"LogLevel crit", "LogLevel info")),
    ),
)  # fmt: skip


class Recorder(http.server.BaseHTTPRequestHandler):
    """Stand in for the intake, and keep the headers of what comes."""

    seen: list[str] = []  # noqa: RUF012  # one run at a time

    def do_GET(self) -> None:
        """Answer, and remember."""
        self.seen += [f"{name}: {value}" for name, value in self.headers.items()]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@contextmanager
def running(proxy: Proxy, folder: Path, back: int, *, broken: bool) -> Iterator[int]:
    """Run a proxy for an intake at a port, and give its own port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = shutil.which(proxy.program)
    assert program is not None
    modules = Path(program).parents[1] / "lib/apache2/modules"
    text = proxy.recipe(port, back, folder, broken=broken).replace("MODULES", str(modules))
    (folder / "recipe").write_text(text)
    words = [word.replace("FOLDER", str(folder)) for word in proxy.words]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen([program, *words], stdout=output, stderr=output, cwd=folder)
    try:
        for _ in range(400):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None, (folder / "output").read_text()
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def ask(port: int, method: str, path: str, content: bytes = b"") -> int:
    headers = {name: f"{MARK}-{name}" for name in (*HIDDEN, "Forwarded")}
    connection = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=20, source_address=(CLIENT, 0)
    )
    with closing(connection):
        connection.request(method, f"{path}?{MARK}", content, headers)
        return connection.getresponse().status


def statuses(proxy: Proxy, paths: Sequence[str], *, source: str) -> list[int]:
    """Ask for paths through a proxy, from an address of this machine, as whoever has the token."""
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as own:
        folder, found = Path(name), []
        folder.chmod(0o755)
        with Server(Path(own), DENIABLE_OPERATOR_TOKEN=TOKEN) as server, running(
            proxy, folder, server.port, broken=False
        ) as port:  # fmt: skip
            word = b64encode(f"x:{TOKEN}".encode()).decode()
            for path in paths:
                with closing(
                    http.client.HTTPConnection("127.0.0.1", port, 20, source_address=(source, 0))
                ) as connection:
                    connection.request("GET", path, headers={"Authorization": f"Basic {word}"})
                    found.append(connection.getresponse().status)
        return found


def send_garbage(port: int) -> None:
    for garbage in (
        f"{MARK}\r\n\r\n",
        f"GET /{MARK} HTTP/1.1\r\n\r\n",
        f"\x16\x03\x01{MARK}\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", port), 5, (CLIENT, 0)) as connection:
            connection.sendall(garbage.encode())
            with suppress(OSError):
                connection.recv(4096)


def traces(folder: Path) -> list[str]:
    """Give the files of a proxy that hold a mark or the client's address."""
    marks = (MARK.encode(), CLIENT.encode())
    return sorted(
        path.name for path in folder.rglob("*")
        if path.is_file() and any(mark in path.read_bytes() for mark in marks)
    )  # fmt: skip


def check(proxy: Proxy, *, broken: bool) -> list[str]:
    """Send everything through a proxy, also while the intake is down, and search what it wrote."""
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as own:
        folder = Path(name)
        folder.chmod(0o755)
        with Server(Path(own)) as server, running(
            proxy, folder, server.port, broken=broken
        ) as port:  # fmt: skip
            for _ in range(20):
                assert ask(port, "POST", REPORTS, dump(body())) == 201
            assert ask(port, "POST", REPORTS, b" " * 2_000_000 + dump([body()])) == 207
            assert ask(port, "GET", f"/{MARK}") == 404
            send_garbage(port)
            assert server.stop() == 0
            assert len(server.rows()) == 21
            assert ask(port, "GET", "/") in (502, 503)
        return traces(folder)


def arriving(proxy: Proxy) -> list[str]:
    """Give the headers that a proxy hands on although its recipe is there to drop them."""
    Recorder.seen.clear()
    with (
        tempfile.TemporaryDirectory() as name,
        http.server.HTTPServer(("127.0.0.1", 0), Recorder) as back,
    ):
        folder = Path(name)
        folder.chmod(0o755)
        threading.Thread(target=back.serve_forever, daemon=True).start()
        with running(proxy, folder, back.server_port, broken=False) as port:
            assert ask(port, "GET", "/") == 204
        back.shutdown()
    return [
        line for line in Recorder.seen
        if CLIENT in line or any(line.lower().startswith(f"{n.lower()}: {MARK}") for n in HIDDEN)
    ]  # fmt: skip


def main() -> None:
    """Run each recipe, whole and broken, and print what was seen."""
    for proxy in PROXIES:
        if shutil.which(proxy.program) is None:
            print(f"{proxy.program}: not installed here")
            continue
        whole, handed_on = check(proxy, broken=False), arriving(proxy)
        broken = check(proxy, broken=True)
        print(f"{proxy.program}: traces in {', '.join(whole) or 'no file'}; "
              f"handed on: {', '.join(handed_on) or 'nothing'}; "
              f"without its log lines, traces in {', '.join(broken)}", flush=True)  # fmt: skip
        assert not whole
        assert not handed_on
        assert broken


if __name__ == "__main__":
    main()
