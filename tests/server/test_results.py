"""The page of results while it is drawn: by one request, while others neither wait nor draw."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
from flask import Flask

from deniable_server import create_app
from deniable_server.services import services

from .postgres import Postgres
from .running import Server
from .samples import SHOWN, body, dump

PAGE = f"/s/{SHOWN.name}/results"
REPORTS = f"/v1/surveys/{SHOWN.name}/reports"
TABLE = "reports_shown_1"


def ask(server: Server) -> tuple[int, str | None, str]:
    with closing(server.connect()) as connection:
        connection.request("GET", PAGE)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Retry-After"), answer.read().decode()


def send(server: Server, count: int) -> None:
    assert server.post([body(SHOWN) for _ in range(count)], REPORTS)[0] == 207


def drawing(db: psycopg.Connection[tuple[int]]) -> int:
    """Count those who wait until they may read the reports."""
    found = db.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return found[0] if found else 0


def test_one_draws_for_all(tmp_path: Path, postgres: Postgres) -> None:
    """Nobody else waits or reads reports: others get the page before, or are told to come back."""
    url = postgres.new_database()
    with (
        Server(tmp_path, database=url, published=SHOWN) as server,
        psycopg.connect(url) as hold,
        psycopg.connect(url, autocommit=True) as look,
        ThreadPoolExecutor(1) as pool,
    ):

        def begin_to_draw() -> Future[tuple[int, str | None, str]]:
            """Let one request come as far as the reports, which this test keeps from it."""
            hold.execute(f"LOCK TABLE {TABLE} IN ACCESS EXCLUSIVE MODE".encode())
            asked = pool.submit(ask, server)
            while not drawing(look):
                assert not asked.done(), asked.result()
                time.sleep(0.01)
            return asked

        send(server, 25)
        first = begin_to_draw()
        for _ in range(5):
            status, later, text = ask(server)
            assert (status, later) == (503, "5")
            assert "being drawn" in text
        assert drawing(look) == 1
        hold.rollback()
        status, _, page = first.result()
        assert (status, "25" in page) == (200, True)

        send(server, 10)
        second = begin_to_draw()
        for _ in range(5):
            assert ask(server) == (200, None, page)
        assert drawing(look) == 1
        hold.rollback()
        newer = second.result()
        assert newer[0] == 200
        assert newer[2] != page
        assert ask(server) == newer


def test_watching_reads_no_report(tmp_path: Path) -> None:
    """Whether it is time to draw is asked of the counters, however many reports there are."""
    app: Flask = create_app({"DATABASE": tmp_path / "survey.db"})
    store, http = services(app).store, app.test_client()
    store.publish(SHOWN)
    for count in (19, 6):
        http.post(REPORTS, data=dump([body(SHOWN) for _ in range(count)]))
        http.get(PAGE)
    asked: list[str] = []
    store._reader.set_trace_callback(asked.append)  # type: ignore[attr-defined]  # it is SQLite's
    assert http.get(PAGE).status_code == 200
    assert any("FROM counters" in query for query in asked)
    assert not [query for query in asked if TABLE in query]
    services(app).close()
