"""Whether a server is ready: it tries what storing needs, says what is in the way, adds nothing."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask import Flask

from deniable_protocol import StoreError
from deniable_server import create_app, readiness
from deniable_server.contract import Store
from deniable_server.opening import is_postgres, open_store
from deniable_server.readiness import NotReadyError, Readiness
from deniable_server.services import services

from .running import Server
from .samples import INVITED, SURVEY, body, report, token

STARTED = """
import sys
from pathlib import Path
from deniable_server.readiness import NotReadyError
from deniable_server import ReportStore
store = ReportStore(sys.argv[1])
Path(sys.argv[1]).chmod(0o444)
try:
    store.try_storing()
except NotReadyError as error:
    print(error.reason)
"""


@pytest.fixture
def app(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    monkeypatch.setattr(readiness, "_REMEMBER_SECONDS", 0)
    app = create_app({"DATABASE": database})
    yield app
    services(app).close()


def asked(app: Flask) -> tuple[int, Any]:
    found = app.test_client().get("/readyz")
    if found.status_code == 200:
        return 200, found.text
    assert found.mimetype == "application/problem+json"
    assert "Retry-After" in found.headers
    document = json.loads(found.text)
    assert document["title"].startswith("Reports cannot be stored: ")
    return found.status_code, document["reason"]


def why_not(store: Store) -> str | None:
    try:
        store.try_storing()
    except NotReadyError as error:
        return error.reason
    return None


@contextmanager
def held(database: str) -> Iterator[None]:
    """Let another program hold what storing needs."""
    if is_postgres(database):
        with psycopg.connect(database) as db:
            db.execute("LOCK TABLE counters")
            yield
    else:
        with closing(sqlite3.connect(database, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield


def everything(store: Store) -> list[object]:
    tables = ["surveys", "life", "counters", "spent", "results"]
    tables += [published.table for published in store.surveys()]
    with store._looking() as session:
        return [session.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


def test_ready(app: Flask) -> None:
    """A server is ready before the first survey and after reports, and asking leaves nothing."""
    assert asked(app) == (200, "ok\n")
    store = services(app).store
    published, invited = store.publish(SURVEY), store.publish(INVITED)
    store.add([(published, report()), (invited, report(INVITED, token=token()))])
    before = everything(store)
    for _ in range(20):
        assert asked(app) == (200, "ok\n")
    assert everything(store) == before
    assert store.add([(published, report())])[0].value == "stored"


def test_locked(app: Flask, database: str) -> None:
    """While another program holds the database, and no longer."""
    with held(database):
        assert asked(app) == (503, "locked")
    assert asked(app) == (200, "ok\n")


def test_gone(database: str) -> None:
    """A file that was taken away, or a PostgreSQL that no connection leads to."""
    store = open_store(database)
    if is_postgres(database):
        store.close()
    else:
        Path(database).unlink()
    assert why_not(store) == "unreachable"
    store.close()


def test_a_postgres_that_is_only_read(postgres: Any) -> None:
    """As one is that another machine has taken over from."""
    url = postgres.new_database()
    open_store(url).close()
    with closing(open_store(url, look_only=True)) as store:
        assert why_not(store) == "read-only"


def test_a_file_that_is_only_read(tmp_path: Path) -> None:
    """A file that may no longer be opened for writing."""
    prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []
    done = subprocess.run(
        [*prefix, sys.executable, "-c", STARTED, str(tmp_path / "survey.db")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "read-only\n"


def test_a_disk_that_refuses(tmp_path: Path) -> None:
    """A file may grow no further, and then may again."""
    with Server(tmp_path) as server:
        assert server.post(body())[0] == 201
        unlimited = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        size = server.database.with_name("survey.db-wal").stat().st_size
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, unlimited[1]))
        assert json.loads(get_ready(server, 503))["reason"] == "disk-error"
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)
        while get_ready(server) != b"ok\n":
            pass
        assert len(server.rows()) == 1


def test_a_full_disk(tmp_path: Path) -> None:
    """A file system that is full to the last block, and then has room."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("there is no mounting here")
    try:
        with closing(open_store(str(tmp_path / "survey.db"))) as store:
            ballast = tmp_path / "ballast"
            with pytest.raises(OSError, match="No space"):
                grow(ballast)
            assert why_not(store) == "disk-full"
            ballast.unlink()
            assert why_not(store) is None
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def grow(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


def test_a_busy_database(tmp_path: Path) -> None:
    """Others who store all the time, and hold the lock nearly always, are no trouble."""
    path, done = tmp_path / "survey.db", threading.Event()

    def keep_storing() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("CREATE TABLE busy (x)")
            while not done.is_set():
                db.execute("BEGIN IMMEDIATE")
                db.execute("INSERT INTO busy VALUES (1)")
                done.wait(0.1)
                db.execute("COMMIT")

    with closing(open_store(str(path))) as store:
        others = threading.Thread(target=keep_storing)
        others.start()
        try:
            assert [why_not(store) for _ in range(5)] == [None] * 5
        finally:
            done.set()
            others.join()


class Slow:
    """A store whose trial lasts as long as a test says."""

    def __init__(self) -> None:
        self.trials, self.begun, self.go_on = 0, threading.Event(), threading.Event()

    def try_storing(self) -> None:
        self.trials += 1
        if self.trials > 1:
            self.begun.set()
            self.go_on.wait()
            raise NotReadyError("locked")


def test_asking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks again soon, or during a trial, gets the last answer and holds up no thread."""
    store = Slow()
    ready = Readiness(store)
    assert [ready.reason() for _ in range(1000)] == [None] * 1000
    assert store.trials == 1
    monkeypatch.setattr(readiness, "_REMEMBER_SECONDS", 1000)
    ready._until = 0.0
    trial = threading.Thread(target=ready.reason)
    trial.start()
    store.begun.wait()
    assert [ready.reason() for _ in range(100)] == [None] * 100
    store.go_on.set()
    trial.join()
    assert ready.reason() == "locked"
    assert store.trials == 2


def test_what_is_raised() -> None:
    """Whoever knows nothing of readiness sees an error of the store."""
    with pytest.raises(StoreError, match="cannot be stored now: disk-full"):
        raise NotReadyError("disk-full")


def get_ready(server: Server, status: int | None = None) -> bytes:
    with closing(server.connect()) as connection:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        assert status in (None, answer.status)
        return answer.read()
