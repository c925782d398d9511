"""Tables of the PostgreSQL store: steps from any older schema, and a survey's own table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from deniable_protocol import StoreError
from deniable_protocol.layout import STEPS, too_new
from deniable_protocol.question import Item

from .published import Published
from .row_checks import arm_column, sampled_together, sent_together

Execute = Callable[[str], Any]

_SYSTEM_COLUMNS: Final = {"cmax", "cmin", "ctid", "oid", "tableoid", "xmax", "xmin"}
_MOST_COLUMNS: Final = 1600
_LOCK: Final = 0x64656E6961626C65
"""Whoever changes the schema holds this lock: two processes may open a new database at once."""


def m001_surveys(execute: Execute) -> None:
    """Create the table of published surveys, and the counters of reports by day.

    A counter has several slots, because two transactions cannot add to one row at the same time; a
    slot is drawn at random and means nothing.
    """
    execute(
        "CREATE TABLE surveys (digest TEXT PRIMARY KEY, name TEXT NOT NULL,"
        " version INTEGER NOT NULL CHECK (version >= 1), json BYTEA NOT NULL,"
        " UNIQUE (name, version))"
    )
    execute(
        "CREATE TABLE counters (digest TEXT NOT NULL REFERENCES surveys (digest),"
        " day TEXT NOT NULL CHECK (day LIKE '____-__-__'), slot SMALLINT NOT NULL,"
        " reports BIGINT NOT NULL CHECK (reports >= 1), PRIMARY KEY (digest, day, slot))"
    )


def m002_life(execute: Execute) -> None:
    """Create the table of what the operator decided about each survey version."""
    execute(
        "CREATE TABLE life (digest TEXT PRIMARY KEY REFERENCES surveys (digest),"
        " state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'erased')),"
        " opens TEXT, closes TEXT, target BIGINT CHECK (target >= 1))"
    )
    execute("INSERT INTO life (digest, state) SELECT digest, 'open' FROM surveys")


def m003_spent_and_results(execute: Execute) -> None:
    """Create the table of used tokens, which leads to no report, and that of drawn results."""
    execute("CREATE TABLE spent (hash BYTEA PRIMARY KEY CHECK (length(hash) = 32))")
    execute(
        "CREATE TABLE results (digest TEXT PRIMARY KEY REFERENCES surveys (digest),"
        " reports BIGINT NOT NULL, page TEXT NOT NULL)"
    )


_STEPS: Final = (m001_surveys, m002_life, m003_spent_and_results)


def migrate(connection: Any, name: str) -> None:
    """Bring a database to this version's schema.

    Raises:
        StoreError: If a newer version of deniable wrote it.
    """
    with connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        connection.execute("CREATE TABLE IF NOT EXISTS deniable_migrations (name TEXT PRIMARY KEY)")
        applied = {row[0] for row in connection.execute("SELECT name FROM deniable_migrations")}
        if newer := too_new(applied):
            raise StoreError(f"{name} {newer}")
        for step in _STEPS:
            if step.__name__ not in applied:
                step(connection.execute)
                connection.execute("INSERT INTO deniable_migrations VALUES (%s)", (step.__name__,))


def refuse_older(connection: Any, name: str) -> None:
    """See that a database that is only read has this version's tables.

    Raises:
        StoreError: If another version of deniable wrote them, or there are none.
    """
    table = connection.execute("SELECT to_regclass('deniable_migrations')").fetchone()[0]
    if table is None:
        raise StoreError(f"{name} is not a database of deniable; publish a survey there first")
    applied = {row[0] for row in connection.execute("SELECT name FROM deniable_migrations")}
    if newer := too_new(applied):
        raise StoreError(f"{name} {newer}")
    if applied != set(STEPS):
        raise StoreError(
            f"{name} was written by an older version of deniable, and is only read here; "
            '"deniable serve" or "deniable publish" brings it up to date'
        )


def create_report_table(published: Published) -> str:
    """Write the statement that creates a survey version's own table.

    Its key is the report's random id, and its constraints refuse every row that no device can have
    sent.

    Raises:
        StoreError: If PostgreSQL has no room or no name for a column.
    """
    survey = published.survey
    names = {item.name for item in published.items}
    if taken := names & _SYSTEM_COLUMNS:
        raise StoreError(
            f"question {sorted(taken)[0]!r}: every table of PostgreSQL has a column of that name; "
            "rename the question, or use SQLite"
        )
    if len(published.column_names) > _MOST_COLUMNS:
        raise StoreError(
            f"{survey.name} has {len(names):,} items, a table of PostgreSQL fewer than "
            f"{_MOST_COLUMNS:,} columns; use SQLite"
        )
    parts = ["id BIGINT PRIMARY KEY CHECK (id >= 0)"]
    parts += arm_column(survey)
    parts += [_column(item) for item in published.items]
    parts += [sent_together(question, survey.ask is not None) for question in survey.questions]
    parts += sampled_together(survey)
    return f"CREATE TABLE {published.table} ({', '.join(parts)})"


def _column(item: Item) -> str:
    # A check passes NULL, which stands for an item that was not drawn; how many of them there are
    # is checked for the row.
    name, channel = item.name, item.channel
    if channel.subset == 1:
        return f'"{name}" INTEGER CHECK ("{name}" BETWEEN 0 AND {channel.options - 1})'
    size, spare = (channel.options + 7) // 8, -channel.options % 8
    return (
        f'"{name}" BYTEA CHECK (CASE WHEN length("{name}") = {size}'
        f' THEN get_byte("{name}", {size - 1}) <= {0xFF >> spare}'
        f' AND bit_count("{name}") = {channel.subset} ELSE "{name}" IS NULL END)'
    )
