"""The guide's list of what is kept names every column of both databases, and no other."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from deniable_server.opening import is_postgres

from .samples import INVITED, SAMPLED, SHOWN, SURVEY
from .verbs import fill

PAGE = Path(__file__).parents[2] / "docs/operating.md"
SURVEYS = (SURVEY, SAMPLED, INVITED, SHOWN)


def listed(kind: str) -> set[str]:
    """Read the list, without what only the other kind of database has."""
    (section,) = re.findall(r"## What is kept\n(.*?)\n## ", PAGE.read_text("utf-8"), re.DOTALL)
    rows = [row.split("|")[1:-1] for row in re.findall(r"^\| `.*\|$", section, re.MULTILINE)]
    assert all(len(row) == 4 and all(cell.strip() for cell in row) for row in rows)
    columns: list[str] = []
    for first, *_ in rows:
        only = re.search(r"\((\w+)\)", first)
        if only is None or only[1] == kind:
            columns += re.findall(r"`([^`]+)`", first)
    assert len(columns) == len(set(columns))
    return set(columns)


def actual(database: str) -> set[tuple[str, str]]:
    if is_postgres(database):
        query = (
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        )
        with psycopg.connect(database) as db:
            return {(table, column) for table, column in db.execute(query.encode())}
    query = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c"
    with closing(sqlite3.connect(database)) as db:
        return set(db.execute(f"{query} WHERE m.type IN ('table', 'view')"))


def named(table: str, column: str) -> str:
    """Name a column as the guide does: what depends on the survey stands in angle brackets."""
    for survey in SURVEYS:
        if table == f"reports_{survey.name.replace('-', '_')}_1":
            table = "reports_<name>_<version>"
            column = "<item>" if column in {item.name for item in survey.items} else column
            break
    return f"{table}.{column}"


def test_the_list_is_the_schema(database: str) -> None:
    """With surveys of every sort: arms, sampled questions, invitations, results for everyone."""
    for survey in SURVEYS:
        fill(database, survey, [])
    columns = actual(database)
    assert len({table for table, _ in columns}) == 6 + len(SURVEYS)
    kind = "PostgreSQL" if is_postgres(database) else "SQLite"
    assert {named(*each) for each in columns} == listed(kind)
