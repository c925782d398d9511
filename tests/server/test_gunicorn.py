"""Behind the real gunicorn, with our settings, nothing is written either."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from deniable_server import ReportStore
from deniable_server.app import HEADERS

from .postgres import children
from .running import CLIENT, REPORTS, Server
from .samples import SURVEY, body, other_answers
from .test_process import CANARY, GARBAGE

OURS = ("-c", "python:deniable_server.gunicorn")


class Gunicorn(Server):
    """Run gunicorn with an application, as an operator would."""

    def __init__(self, folder: Path, *options: str, **env: str) -> None:
        self.database, self.host = folder / "survey.db", "127.0.0.1"
        self._outputs = (folder / "stdout", folder / "stderr")
        if not self.database.exists():
            with closing(ReportStore(self.database)) as store:
                store.publish(SURVEY)
        with self._outputs[0].open("wb") as out, self._outputs[1].open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", *options, "-b", "127.0.0.1:0",
                 "deniable_server:create_app()"],
                stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder,
                env=os.environ | {"DENIABLE_DATABASE": str(self.database)} | env,
            )  # fmt: skip
        self.port = self._wait_for_port()

    def _wait_for_port(self) -> int:
        for _ in range(800):
            if found := re.search(r"Listening at: http://127\.0\.0\.1:(\d+)", self.output()):
                return int(found[1])
            assert self.process.poll() is None, self.output()
            time.sleep(0.025)
        raise AssertionError("gunicorn did not start")


@contextmanager
def running(folder: Path, *options: str, **env: str) -> Iterator[Gunicorn]:
    with Gunicorn(folder, *options, **env) as server:
        yield server


def ask_everything(server: Server) -> None:
    """Send reports, requests for what is not there, and what is not HTTP, all of it marked."""
    headers = dict.fromkeys(("User-Agent", "Referer", "Cookie", "X-Forwarded-For"), CANARY)
    sent = body()
    for each, status in ((sent, 201), (sent, 200), (other_answers(sent), 409), ({CANARY: 1}, 422)):
        assert server.post(each, f"{REPORTS}?who={CANARY}", **headers)[0] == status
    with closing(server.connect()) as connection:
        connection.request("GET", f"/{CANARY}", headers=headers)
        assert connection.getresponse().status == 404
    for garbage in GARBAGE:
        server.exchange(garbage)
    assert server.post(body())[0] == 201


def traces(server: Server) -> list[str]:
    """Give the marks that the output, or a file beside the database, holds."""
    found = [path.read_bytes() for path in server.database.parent.iterdir() if path.is_file()]
    return [mark for mark in (CANARY, CLIENT, "/v1/") if any(mark.encode() in f for f in found)]


def test_nothing_is_written(tmp_path: Path) -> None:
    """Not of reports, not of garbage, even when every log that gunicorn has is switched on."""
    options = ("--access-logfile", "access", "--log-level", "debug", "--capture-output")
    with running(tmp_path, *OURS, *options) as server:
        ask_everything(server)
        # "Current configuration", which is logged before a request comes, may say what it likes.
        assert traces(server) == []
        for worker in children(server.process.pid):
            limits = Path(f"/proc/{worker}/limits").read_text()
            assert re.search(r"Max core file size +0 +0 ", limits)
        assert server.stop() == 0
        assert traces(server) == []
        assert len(server.rows()) == 2
        assert not server.database.with_name("survey.db-wal").exists()


def test_without_our_settings_it_would_be(tmp_path: Path) -> None:
    """The search finds what gunicorn writes by itself, with its access log off."""
    with running(tmp_path, "-k", "gthread") as server:
        ask_everything(server)
        assert {CANARY, CLIENT} <= set(traces(server))


def test_garbage(tmp_path: Path) -> None:
    """What is not HTTP gets a problem document that repeats nothing."""
    with running(tmp_path, *OURS) as server:
        for sent in GARBAGE:
            found = server.exchange(sent)
            if not found:  # a request that never ends
                continue
            head, _, rest = found.partition(b"\r\n\r\n")
            assert CANARY.encode() not in found
            assert int(head.split()[1]) >= 400
            # A second answer may follow, to what was taken for a second request.
            first, _ = json.JSONDecoder().raw_decode(rest.decode())
            assert first["status"] == int(head.split()[1])
            for name, value in HEADERS.items():
                assert f"{name}: {value}".encode() in head
        assert server.stop() == 0


def test_several_workers_and_a_kill(tmp_path: Path) -> None:
    """Workers open the database for themselves; one that is killed is replaced."""
    with running(tmp_path, *OURS, "--workers", "2") as server:
        for _ in range(20):
            assert server.post(body())[0] == 201
        victim = children(server.process.pid)[0]
        os.kill(victim, signal.SIGKILL)
        stored = 0
        for _ in range(100):
            try:
                stored += server.post(body())[0] == 201
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
            if stored == 20:
                break
        assert stored == 20
        assert server.stop() == 0
        assert len(server.rows()) == 40


@pytest.mark.parametrize(
    ("options", "env", "said"),
    [
        (("--preload",), {}, "leave out --preload"),
        ((), {"DENIABLE_DATABASE": "/nowhere/survey.db"}, "/nowhere/survey.db"),
        ((), {"DENIABLE_PROXIES": "10"}, "DENIABLE_PROXIES: expected a whole number, 0 to 9"),
    ],
)
def test_refusals_are_in_words(
    tmp_path: Path, options: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    """What cannot work ends gunicorn, and its output says why."""
    (tmp_path / "survey.db").touch()
    done = subprocess.run(
        [sys.executable, "-m", "gunicorn", *OURS, *options, "-b", "127.0.0.1:0",
         "deniable_server:create_app()"],
        capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path,
        env=os.environ | {"DENIABLE_DATABASE": str(tmp_path / "survey.db")} | env,
    )  # fmt: skip
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
