"""A role for researchers: the grants of the guide are enough, and let nobody change anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from deniable_analysis import read_reports
from deniable_protocol import EstimateError, StoreError
from deniable_server.opening import open_store

from .postgres import Postgres
from .samples import OTHER, SURVEY, report
from .verbs import fill, typed_for

PAGE = Path(__file__).parents[2] / "docs/operating.md"
OWNER = "deniable"
"""Whom the tests' intake is in PostgreSQL."""


@pytest.fixture
def url(postgres: Postgres) -> Iterator[str]:
    """Give a database with a survey of two reports, and a role that may not read it yet."""
    url = postgres.new_database()
    fill(url, SURVEY, [report(), report()])
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE ROLE researcher LOGIN")
        yield url
        db.execute("DROP OWNED BY researcher")
        db.execute("DROP ROLE researcher")


def grant(url: str) -> None:
    """Do what the guide says."""
    (statements,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(statements.replace("ROLE intake", f"ROLE {OWNER}").encode())


def as_researcher(url: str) -> str:
    return url.replace("//deniable@", "//researcher@")


def test_the_grants_are_enough(url: str, tmp_path: Path) -> None:
    """For reports and the verbs that look; also for what is published or closed afterwards."""
    looking = typed_for(as_researcher(url))
    with pytest.raises(EstimateError, match="UndefinedTable"):  # a schema it may not look into
        read_reports(as_researcher(url), SURVEY.name)
    grant(url)
    assert read_reports(as_researcher(url), SURVEY.name).n == 2
    fill(url, OTHER, [report(OTHER)])
    typed_for(url)("close", SURVEY.name)
    for survey, count in ((SURVEY, 2), (OTHER, 1)):
        assert read_reports(as_researcher(url), survey.name).n == count
        page = tmp_path / "report.html"
        looking("report", as_researcher(url), "--survey", survey.name, "--output", page)
        looking("counts", survey.name)
        looking("export", survey.name, "--output", tmp_path / f"{survey.name}.csv")
    assert "canteen-2026@1  closed        2" in looking("surveys").output


def test_three_tables_are_read(url: str) -> None:
    """Each of those that the guide names for "deniable report", and no other."""
    table = "reports_canteen_2026_1"
    named = ("deniable_migrations", "surveys", table)
    grant(url)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM researcher")
        db.execute(f"GRANT SELECT ON {', '.join(named)} TO researcher".encode())
        assert read_reports(as_researcher(url), SURVEY.name).n == 2
        for each in named:
            db.execute(f"REVOKE SELECT ON {each} FROM researcher".encode())
            with pytest.raises(EstimateError, match="InsufficientPrivilege"):
                read_reports(as_researcher(url), SURVEY.name)
            db.execute(f"GRANT SELECT ON {each} TO researcher".encode())


def test_nothing_can_be_changed(url: str) -> None:
    """Not by a verb, and not past them."""
    grant(url)
    researcher = typed_for(as_researcher(url))
    for words in (("close", SURVEY.name), ("erase", SURVEY.name, "--yes")):
        assert "permission denied" in researcher(*words, status=1).output
    with (
        pytest.raises(StoreError, match="permission denied"),
        closing(open_store(as_researcher(url))) as store,
    ):
        store.publish(OTHER)
    with psycopg.connect(as_researcher(url), autocommit=True) as db:
        for statement in ("DELETE FROM surveys", "CREATE TABLE public.more (x int)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(statement.encode())
