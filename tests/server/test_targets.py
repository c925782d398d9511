"""A target is exact, also where several intakes fill one survey in PostgreSQL."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from deniable_server.life import Limits
from deniable_server.opening import open_store
from deniable_server.published import Outcome

from .postgres import Postgres
from .running import Server
from .samples import OTHER, SURVEY, body, report

TABLE = "reports_canteen_2026_1"


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new_database()


def test_two_intakes_and_twenty_places(tmp_path: Path, url: str) -> None:
    """Of 50 reports that come at once through two processes, 20 are stored and 30 refused."""
    with closing(open_store(url)) as store:
        published = store.publish(SURVEY, Limits(target=20))
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    with (
        Server(folders[0], database=url) as one,
        Server(folders[1], database=url) as two,
        ThreadPoolExecutor(50) as pool,
    ):
        found = Counter(pool.map(lambda server: server.post(body())[0], [one, two] * 25))
    assert found == {201: 20, 403: 30}
    with closing(open_store(url)) as store:
        assert store.count(published) == store.held(published) == 20


@pytest.fixture(params=["read committed", "repeatable read"])
def isolation(request: pytest.FixtureRequest, url: str) -> Iterator[str]:
    """Let an administrator choose what transactions see of each other."""
    with psycopg.connect(url, autocommit=True) as db:
        setting = "ALTER ROLE deniable {} default_transaction_isolation"
        db.execute(f"{setting.format('SET')} = '{request.param}'".encode())
        yield request.param
        db.execute(setting.format("RESET").encode())


def test_the_last_places_are_given_once(url: str, isolation: str) -> None:
    """While one intake takes the last places, another waits to see whether it did; not elsewhere.

    The first is kept in the middle of it: somebody else is about to store one of its ids.
    """
    with (
        closing(open_store(url)) as one,
        closing(open_store(url)) as two,
        psycopg.connect(url) as hold,
        psycopg.connect(url, autocommit=True) as look,
        ThreadPoolExecutor(2) as pool,
    ):
        published, other = one.publish(SURVEY, Limits(target=2)), one.publish(OTHER)
        sent = [report(), report()]
        row = published.row(sent[1])
        insert = f"INSERT INTO {TABLE} VALUES ({', '.join(['%s'] * len(row))})"
        hold.execute(insert.encode(), row)
        first = pool.submit(one.add, [(published, each) for each in sent])
        while not waiting(look, "transactionid"):
            time.sleep(0.01)
        second = pool.submit(two.add, [(published, report())])
        while not (second.done() or waiting(look, "advisory")):
            time.sleep(0.01)
        assert two.add([(other, report(OTHER))]) == [Outcome.STORED], "it has no target"
        hold.rollback()
        assert first.result() == [Outcome.STORED, Outcome.STORED]
        assert second.result() == [Outcome.CLOSED]
        assert one.count(published) == one.held(published) == 2


def waiting(db: psycopg.Connection[tuple[int]], kind: str) -> bool:
    query = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = %s"
    return db.execute(query, (kind,)).fetchone() is not None
