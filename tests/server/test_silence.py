"""Marked submissions, and then a search for the marks in everything that an intake leaves."""

from __future__ import annotations

import http.client
import re
import resource
import sqlite3
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
from click.testing import CliRunner

from deniable_server.copies_cli import backup, export
from deniable_server.surveys_cli import surveys

from .leaky import LEAKS
from .postgres import Postgres, children
from .running import Server
from .samples import SHOWN, body, dump

MARK = "marker-4711"
NETWORK = "127.77."
REPORTS = f"/v1/surveys/{SHOWN.name}/reports"
TABLE = "reports_shown_1"
OPERATOR = {"DENIABLE_OPERATOR_TOKEN": "open sesame"}
TABLES = {"surveys", "counters", "life", "spent", "results", TABLE}
MIGRATIONS = {"_sqlite_migrations", "deniable_migrations"}  # when the tables were made

Files = Mapping[str, bytes]


def submit(server: Server, count: int) -> tuple[list[dict[str, Any]], set[int]]:
    """Send reports from different addresses, every part of each request marked.

    Returns:
        The reports that were acknowledged, and the seconds in which that was.
    """
    time.sleep(1.1 - time.time() % 1)  # what was written at the start, was in an earlier second
    start = int(time.time())
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda number: _submit(server, number), range(count)))
    taken = [sent for status, sent in done if status == 201]
    assert {status for status, _ in done} == {201, 422}
    assert len(taken) == count - len(range(9, count, 10))
    seconds = set(range(start, int(time.time()) + 1))
    time.sleep(1.1 - time.time() % 1)  # a copy that is made next notes when, in a later second
    return taken, seconds


def _submit(server: Server, number: int) -> tuple[int, dict[str, Any]]:
    mark = f"{MARK}-{number:03}"
    sent = body(SHOWN) | ({f"{mark}-key": mark} if number % 10 == 9 else {})
    source = f"{NETWORK}{number // 250}.{number % 250 + 1}"
    names = ("User-Agent", "Referer", "Cookie", "X-Forwarded-For", "Forwarded", "Authorization",
             "Accept-Language", "Origin", "From", "X-Real-IP")  # fmt: skip
    headers = {name: f"{mark}-{name}" for name in names}
    connection = http.client.HTTPConnection(
        server.host, server.port, timeout=60, source_address=(source, 0)
    )
    with closing(connection):
        connection.request("POST", f"{REPORTS}?{mark}={mark}", dump(sent), headers)
        answer = connection.getresponse()
        assert MARK.encode() not in answer.read()
        return answer.status, sent


def verb(command: click.Command, *words: object) -> bytes:
    """Run a verb as an operator does, and give what it printed."""
    done = CliRunner().invoke(command, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output.encode()


def page(server: Server, path: str, **headers: str) -> bytes:
    with closing(server.connect()) as connection:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().read()


def pages(server: Server) -> Files:
    """Ask for everything that the server shows."""
    # "x:open sesame", as a browser sends a password
    operator = {"Authorization": "Basic eDpvcGVuIHNlc2FtZQ=="}
    return {
        "results": page(server, f"/s/{SHOWN.name}/results"),
        "metrics": page(server, "/metrics"),
        "operator": page(server, "/operator", **operator),
        "index": page(server, "/"),
        "output": server.output().encode(),
    }


def copies(folder: Path, database: str) -> Files:
    """Make a backup and every kind of export."""
    printed = verb(backup, folder / "backup.db", "--database", database)
    for kind in ("jsonl", "csv", "parquet"):
        output = folder / f"reports.{kind}"
        printed += verb(export, "shown", "--output", output, "--database", database)
    printed += verb(surveys, "shown", "--database", database)
    names = ("backup.db", "reports.jsonl", "reports.csv", "reports.parquet")
    return {name: (folder / name).read_bytes() for name in names} | {"printed": printed}


def beside(folder: Path) -> Files:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def traces(files: Files, seconds: set[int]) -> set[str]:
    """Give the files in which a mark is, an address, or the time of a report."""
    marks = {MARK, NETWORK} | {
        form
        for second in seconds
        for form in (str(second), time.strftime("%H:%M:%S", time.gmtime(second)))
    }
    pattern = re.compile(b"|".join(re.escape(mark.encode()) for mark in sorted(marks)))
    return {name for name, content in files.items() if pattern.search(content)}


def wrong_values(rows: Mapping[str, Sequence[Sequence[Any]]], seconds: set[int]) -> list[str]:
    """Give the tables that should not be, and those with a number that may be a time or an address.

    A search of bytes cannot find those, so each value is looked at. Ids are left out here: they are
    compared with what was sent.
    """
    found = sorted(set(rows) - TABLES - MIGRATIONS)
    for name, table in rows.items():
        numbers = [value for row in table for value in row[name == TABLE :] if type(value) is int]
        moments = {number // scale for number in numbers for scale in (1, 10**3, 10**6, 10**9)}
        found += [name] if moments & seconds else []
    return found


def sqlite_rows(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(path)) as db:
        names = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def postgres_rows(url: str) -> dict[str, list[Any]]:
    with psycopg.connect(url) as db:
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        names = [name for (name,) in db.execute(query)]
        return {name: db.execute(f"SELECT * FROM {name}".encode()).fetchall() for name in names}


def check_ids(rows: Mapping[str, Sequence[Sequence[Any]]], taken: Sequence[dict[str, Any]]) -> None:
    assert sorted(row[0] for row in rows[TABLE]) == sorted(int(sent["id"], 16) for sent in taken)


def test_nothing_of_a_submission_is_left(tmp_path: Path) -> None:
    """SQLite: 500 marked submissions, and no mark in any file, page, copy or output."""
    (tmp_path / "copies").mkdir()
    options = ["--limit", "100000", "--proxies", "1"]
    with Server(tmp_path, published=SHOWN, options=options, **OPERATOR) as server:
        taken, seconds = submit(server, 500)
        running = beside(tmp_path)
        assert {"survey.db", "survey.db-wal", "survey.db-shm", "stdout", "stderr"} <= set(running)
        assert len(running["survey.db-wal"]) > 100_000
        shown, copied = pages(server), copies(tmp_path / "copies", str(server.database))
        assert b"450" in shown["results"]
        assert b"deniable_refused_total" in shown["metrics"]
        assert server.stop() == 0
    for files in (running, shown, copied, beside(tmp_path)):
        assert traces(files, seconds) == set()
    rows = sqlite_rows(server.database)
    check_ids(rows, taken)
    assert wrong_values(rows, seconds) == []
    assert server.complaints() == ""


def test_postgres_leaves_nothing_either(tmp_path: Path) -> None:
    """The same with PostgreSQL: its tables, its whole folder and its own log."""
    with Postgres() as postgres:
        url, log = postgres.new_database(), postgres.log.read_bytes()
        with Server(tmp_path, database=url, published=SHOWN, **OPERATOR) as server:
            taken, seconds = submit(server, 500)
            shown, copied = pages(server), copies(tmp_path, url)
            assert server.stop() == 0
        assert postgres.log.read_bytes() == log, "its log got a line while reports came in"
        rows = postgres_rows(url)
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("CHECKPOINT")
        # What PostgreSQL notes of its own start is no time of a report.
        folder = {n: data for n, data in beside(postgres.data).items() if "postmaster" not in n}
    assert any(name.startswith("pg_wal/") for name in folder)
    for files in (shown, copied, beside(tmp_path), folder):
        assert traces(files, seconds) == set()
    check_ids(rows, taken)
    assert wrong_values(rows, seconds) == []


@pytest.mark.parametrize("leak", LEAKS)
def test_each_leak_is_found(tmp_path: Path, leak: str) -> None:
    """The search finds an access log, agents or moments in tables, times in the log, bodies."""
    script = Path(__file__).with_name("leaky.py")
    with Server(tmp_path, published=SHOWN, script=script, LEAK=leak) as server:
        _, seconds = submit(server, 20)
        files = beside(tmp_path)
        assert server.stop() == 0
    rows = sqlite_rows(server.database)
    found = traces(files, seconds) | set(wrong_values(rows, seconds))
    expected = {
        "access_log": {"stderr"}, "agents": {"survey.db-wal", "agents"}, "moments": {"moments"},
        "clock_in_log": {"stdout"}, "bodies": {"bodies"},
    }  # fmt: skip
    assert expected[leak] <= found


def test_a_crash_leaves_no_memory(tmp_path: Path) -> None:
    """However the system is set, each process of the server may write no core file."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        with Server(tmp_path, options=["--workers", "2"]) as server:
            for _ in range(20):
                assert server.post(body())[0] == 201
            workers = children(server.process.pid)
            limits = [Path(f"/proc/{pid}/limits").read_text() for pid in workers]
            assert server.stop() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert len(limits) == 2
    assert all(re.search(r"Max core file size +0 +0 ", text) for text in limits)
