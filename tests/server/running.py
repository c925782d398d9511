"""A real server in a process of its own, and clients that say exactly what they are told to."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType

from deniable_protocol import Survey
from deniable_server.contract import Store
from deniable_server.opening import is_postgres, open_store

from .samples import SURVEY, body, dump

REPORTS = f"/v1/surveys/{SURVEY.name}/reports"
TABLE = "reports_canteen_2026_1"
CLIENT = "127.0.0.77"
"""Where requests come from: an address that the server has no reason to name."""


class Server:
    """Run ``deniable serve``, or a script that behaves like it, on a free port."""

    def __init__(
        self, folder: Path, *, script: Path | None = None, options: Sequence[str] = (),
        database: str | None = None, host: str = "127.0.0.1", published: Survey = SURVEY,
        **env: str,
    ) -> None:  # fmt: skip
        self.database = folder / "survey.db"
        self.host = host
        self._outputs = (folder / "stdout", folder / "stderr")
        survey = folder / "survey.json"
        survey.write_bytes(published.to_json())
        program = [str(script)] if script else ["-m", "deniable_protocol", "serve", "--port", "0"]
        program += ["--host", host] if host != "127.0.0.1" else []
        with self._outputs[0].open("wb") as out, self._outputs[1].open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, *program, str(survey),
                 "--database", database or str(self.database), *options],
                stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=os.environ | env,
            )  # fmt: skip
        self.port = self._wait_for_port()

    def _wait_for_port(self) -> int:
        for _ in range(600):
            ports = re.findall(r"Listening on http://[\d.]+:(\d+)/", self.output())
            if ports:
                return int(ports[-1])
            assert self.process.poll() is None, self.output()
            time.sleep(0.025)
        raise AssertionError("the server did not start")

    def output(self) -> str:
        return "".join(path.read_text() for path in self._outputs if path.exists())

    def complaints(self) -> str:
        return self._outputs[1].read_text()

    def stop(self, signum: int = signal.SIGTERM) -> int:
        self.process.send_signal(signum)
        return self.process.wait(20)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(
            self.host, self.port, timeout=20, source_address=(CLIENT, 0)
        )

    def post(self, sent: object, path: str = REPORTS, **headers: str) -> tuple[int, bytes]:
        with closing(self.connect()) as connection:
            content = sent if isinstance(sent, bytes) else dump(sent)
            connection.request("POST", path, content, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def raw(self) -> socket.socket:
        return socket.create_connection(
            (self.host, self.port), timeout=20, source_address=(CLIENT, 0)
        )

    def exchange(self, sent: bytes) -> bytes:
        """Send bytes and read until the server closes or has answered."""
        with self.raw() as connection:
            connection.sendall(sent)
            found = b""
            while not _complete(found):
                try:
                    part = connection.recv(65536)
                except ConnectionResetError:
                    break
                if not part:
                    break
                found += part
            return found

    def rows(self) -> dict[str, tuple[int, bytes]]:
        """Read what is stored, by id, and check that the file is sound and its counters agree."""
        with closing(sqlite3.connect(self.database)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            found = {f"{key:016x}": (order, dish) for key, order, dish in
                     db.execute(f'SELECT id, "order", dish FROM {TABLE}')}  # fmt: skip
            (total,) = db.execute("SELECT coalesce(sum(reports), 0) FROM counters").fetchone()
        assert total == len(found)
        return found


def _complete(found: bytes) -> bool:
    head, separator, rest = found.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(separator and length and len(rest) >= int(length[1]))


class Load:
    """Post new reports over several connections, and remember the answers.

    Without *patient* it ends when the server is gone. With it, a connection that fails is made
    again, and a report that was not acknowledged is sent again, the same bytes, as devices do.
    """

    def __init__(self, *servers: Server, connections: int = 8, patient: bool = False) -> None:
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()
        self.statuses: Counter[int | str] = Counter()
        self._patient, self._stop = patient, threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(servers[n % len(servers)],))
            for n in range(connections)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, server: Server) -> None:
        sent = body()
        while not self._stop.is_set():
            with closing(server.connect()) as connection:
                try:
                    while not self._stop.is_set():
                        self.sent.add(sent["id"])
                        connection.request("POST", REPORTS, json.dumps(sent))
                        answer = connection.getresponse()
                        answer.read()
                        self.statuses[answer.status] += 1
                        if answer.status in (200, 201):
                            self.acknowledged.add(sent["id"])
                            sent = body()
                        elif self._patient:
                            time.sleep(0.02)
                        if answer.getheader("Connection") == "close":
                            break
                except (OSError, http.client.HTTPException) as error:
                    self.statuses[type(error).__name__] += 1
                    time.sleep(0.02)
            if not self._patient:
                return

    def wait_for(self, more: int, seconds: float = 60) -> None:
        """Wait until so many more reports are acknowledged."""
        goal, until = len(self.acknowledged) + more, time.monotonic() + seconds
        while len(self.acknowledged) < goal:
            assert time.monotonic() < until, f"stuck with {self.statuses}"
            time.sleep(0.005)

    def stop(self) -> None:
        self._stop.set()
        self.join()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()

    def check(self, address: str | Path) -> int:
        """Check that nothing acknowledged is missing, nothing is half there, and counters agree."""
        if not is_postgres(str(address)):
            with closing(sqlite3.connect(address)) as db:
                assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        with closing_quickly(open_store(str(address))) as store:
            published = store.newest(SURVEY.name)
            assert published is not None
            # Reading checks each row: what is half there is no report of the survey.
            found = [report for chunk in store.reports(published) for report in chunk]
            assert sum(store.days(published).values()) == len(found)
        assert self.acknowledged <= {report.id for report in found} <= self.sent
        whole = body()["answers"]
        assert all({n: list(a) for n, a in r.answers.items()} == whole for r in found)
        return len(found)


@contextmanager
def closing_quickly(store: Store) -> Iterator[Store]:
    try:
        yield store
    finally:
        store.close(rewrite=False)
