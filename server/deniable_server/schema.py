"""Tables of the SQLite store: steps from any older schema to this one, and a survey's own table."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from sqlite_utils import Database, Migrations

from deniable_protocol import StoreError, Survey
from deniable_protocol.layout import STEPS, report_table, too_new
from deniable_protocol.question import Item

from .private_files import create_private
from .row_checks import arm_column, sampled_together, sent_together

_BUSY_SECONDS: Final = 10.0
_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # an acknowledged report survives a power cut
    "PRAGMA cache_size = -65536",
    "PRAGMA wal_autocheckpoint = 20000",
    "PRAGMA secure_delete = ON",  # what is deleted is overwritten, not only forgotten
    "PRAGMA trusted_schema = OFF",
)


def m001_surveys(database: Database) -> None:
    """Create the table of published surveys, and the counters of reports by day.

    A day's counter names a survey version and nothing else: no row of it leads to a report.
    """
    database.execute(
        "CREATE TABLE surveys (digest TEXT PRIMARY KEY, name TEXT NOT NULL,"
        " version INTEGER NOT NULL CHECK (version >= 1), json BLOB NOT NULL,"
        " UNIQUE (name, version)) STRICT"
    )
    database.execute(
        "CREATE TABLE counters (digest TEXT NOT NULL REFERENCES surveys (digest),"
        " day TEXT NOT NULL CHECK (day GLOB '????-??-??'),"
        " reports INTEGER NOT NULL CHECK (reports >= 1),"
        " PRIMARY KEY (digest, day)) STRICT, WITHOUT ROWID"
    )


def m002_life(database: Database) -> None:
    """Create the table of what the operator decided about each survey version."""
    database.execute(
        "CREATE TABLE life (digest TEXT PRIMARY KEY REFERENCES surveys (digest),"
        " state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'erased')),"
        " opens TEXT, closes TEXT, target INTEGER CHECK (target >= 1)) STRICT, WITHOUT ROWID"
    )
    database.execute("INSERT INTO life (digest, state) SELECT digest, 'open' FROM surveys")


def m003_spent_and_results(database: Database) -> None:
    """Create the table of used tokens, which leads to no report, and that of drawn results."""
    database.execute(
        "CREATE TABLE spent (hash BLOB PRIMARY KEY CHECK (length(hash) = 32)) STRICT, WITHOUT ROWID"
    )
    database.execute(
        "CREATE TABLE results (digest TEXT PRIMARY KEY REFERENCES surveys (digest),"
        " reports INTEGER NOT NULL, page TEXT NOT NULL) STRICT"
    )


_STEPS: Final = (m001_surveys, m002_life, m003_spent_and_results)


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection that threads may share under a lock, with the settings of this store.

    Privacy:
        A new file, and SQLite's files beside it, can be read by their owner alone.
    """
    create_private(path)
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a database to this version's schema.

    Raises:
        StoreError: If a newer version of deniable wrote it.
    """
    database = Database(connection, execute_plugins=False)
    migrations = Migrations("deniable")
    for step in _STEPS:
        migrations()(step)
    if newer := too_new(step.name for step in migrations.applied(database)):
        raise StoreError(f"{path} {newer}")
    if migrations.pending(database):
        # Two processes may open a new file at once; the second one finds nothing left to do.
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            migrations.apply(database)


def connect_to_look(path: Path) -> sqlite3.Connection:
    """Open a connection that changes nothing and leaves nothing behind."""
    uri = path.absolute().as_uri()
    if path.with_name(f"{path.name}-wal").exists():
        return _look(f"{uri}?mode=ro")  # may not fold a log into the file, as the last one to close
    try:
        return _look(f"{uri}?mode=rw")  # may take SQLite's side files away again
    except sqlite3.OperationalError:
        # A copy in a folder that may not be written to: SQLite cannot make its side files. With no
        # write-ahead log there is no server either, so the file will not change.
        return _look(f"{uri}?mode=ro&immutable=1")


def _look(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def known_steps(connection: sqlite3.Connection, path: Path) -> set[str]:
    """Tell which changes of the schema a database has had.

    Raises:
        StoreError: If something else than deniable wrote it, or a newer version.
    """
    tables = "SELECT name FROM sqlite_master WHERE name = '_sqlite_migrations'"
    steps = "SELECT name FROM _sqlite_migrations WHERE migration_set = 'deniable'"
    has_steps = connection.execute(tables).fetchone() is not None
    applied = {row[0] for row in connection.execute(steps)} if has_steps else set()
    if not applied:
        raise StoreError(f"{path} is not a database of deniable")
    if newer := too_new(applied):
        raise StoreError(f"{path} {newer}")
    return applied


def refuse_older(connection: sqlite3.Connection, path: Path) -> None:
    """See that a database that is only read has this version's schema.

    Raises:
        StoreError: If another version of deniable, or something else, wrote it.
    """
    if known_steps(connection, path) != set(STEPS):
        raise StoreError(
            f"{path} was written by an older version of deniable, and is only read here; make a "
            f"new copy of it and use that: deniable restore {path} --to NEW"
        )


def create_report_table(survey: Survey, version: int) -> str:
    """Write the statement that creates a survey version's own table.

    Its key is the report's random id, so the order of arrival is not kept, and its constraints
    refuse every row that no device can have sent.
    """
    parts = ["id INTEGER PRIMARY KEY CHECK (id >= 0)"]
    parts += arm_column(survey)
    parts += [_column(item) for item in survey.items]
    parts += [sent_together(question, survey.ask is not None) for question in survey.questions]
    parts += sampled_together(survey)
    return f"CREATE TABLE {report_table(survey.name, version)} ({', '.join(parts)}) STRICT"


def _column(item: Item) -> str:
    # Quoted, because a question may be called "order" or "select". A check passes NULL, which
    # stands for an item that was not drawn; how many of them there are is checked for the row.
    name, channel = item.name, item.channel
    if channel.subset == 1:
        return f'"{name}" INTEGER CHECK ("{name}" BETWEEN 0 AND {channel.options - 1})'
    size, spare = (channel.options + 7) // 8, -channel.options % 8
    highest = f"{0xFF >> spare:02X}"
    return (
        # hex() of NULL is an empty text and not NULL, so this check has to let NULL through itself.
        f'"{name}" BLOB CHECK ("{name}" IS NULL OR length("{name}") = {size}'
        f" AND substr(\"{name}\", -1) <= x'{highest}'"
        f" AND {_ones(name)} = {channel.subset})"
    )


def _ones(name: str) -> str:
    """Write an expression that counts the ones of a bitmap: SQLite has no function for it.

    Every hexadecimal digit is replaced by as many marks as it has ones; the marks are counted.
    """
    marks = f'hex("{name}")'
    for digit in range(16):
        marks = f"replace({marks}, '{digit:X}', '{'.' * digit.bit_count()}')"
    return f"length({marks})"
