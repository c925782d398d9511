"""Read a server's database, SQLite or PostgreSQL. It is only read, and within one transaction.

Where everything is, ``deniable_protocol.layout`` says; both kinds of database hold the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np

from deniable_protocol import EstimateError, Item, Survey
from deniable_protocol.layout import report_table, too_new

from .bits import Bits
from .reports import Reports, arm_codes
from .tally import UNSENT, Tally, checked, pack_indices

_SQLITE_HEADER: Final = b"SQLite format 3\x00"
_POSTGRES: Final = ("postgresql://", "postgres://")
_AT_ONCE: Final = 65_536


class Connection(Protocol):
    """What is needed of a database connection: run a statement, give its rows."""

    def execute(self, query: str, /) -> Iterable[Sequence[Any]]:
        """Run a statement and give its rows."""
        ...


def is_sqlite(path: Path) -> bool:
    """Say whether a file is a SQLite database, by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER


def is_postgres(source: str) -> bool:
    """Say whether a source is the address of a PostgreSQL database."""
    return source.startswith(_POSTGRES)


def read_sqlite(path: Path, wanted: Survey | str | None) -> Reports:
    """Read the reports to one survey from a SQLite file.

    Raises:
        EstimateError: If the file cannot be read, or does not hold the survey.
    """
    # Read-only, and one transaction: what a running server adds meanwhile is not half seen.
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        try:
            return _read_sqlite(uri, wanted)
        except sqlite3.OperationalError:
            # A copy in a folder that may not be written to: SQLite cannot make its side files. With
            # no write-ahead log there is no server either, so the file will not change.
            if path.with_name(f"{path.name}-wal").exists():
                raise
            return _read_sqlite(f"{uri}&immutable=1", wanted)
    except sqlite3.Error as error:
        raise EstimateError(f"cannot read {path}: {error}") from None


def _read_sqlite(uri: str, wanted: Survey | str | None) -> Reports:
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        _refuse_newer(connection, "_sqlite_migrations", "the file")
        return read_connection(connection, wanted)


def read_postgres(address: str, wanted: Survey | str | None) -> Reports:
    """Read the reports to one survey from a PostgreSQL database.

    Raises:
        EstimateError: If the driver is not installed, the database cannot be read, or it does not
            hold the survey. The address, which may hold a password, is never repeated.
    """
    try:
        import psycopg
    except ImportError:
        raise EstimateError(
            "reading PostgreSQL needs its driver: pip install 'deniable[postgres]'"
        ) from None
    try:
        with psycopg.connect(address) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            _refuse_newer(connection, "deniable_migrations", "the PostgreSQL database")
            return read_connection(connection, wanted)
    except psycopg.Error as error:
        reason = type(error).__name__
        raise EstimateError(f"cannot read the PostgreSQL database ({reason})") from None


def read_connection(connection: Connection, wanted: Survey | str | None) -> Reports:
    """Read the reports to one survey over an open connection.

    Args:
        connection: A connection with one snapshot for all its statements.
        wanted: The survey, its digest, its name (the newest version), ``name@version``, or None
            where there is only one name.

    Raises:
        EstimateError: If there is no such survey, or no choice among several was made.
    """
    query = "SELECT digest, name, version, json FROM surveys"
    rows = sorted(connection.execute(query), key=lambda row: row[2])
    key = wanted.digest if isinstance(wanted, Survey) else wanted
    matching = [row for row in rows if key is None or key in (*row[:2], f"{row[1]}@{row[2]}")]
    if len({row[1] for row in matching}) != 1:
        names = sorted({row[1] for row in rows})
        asked = f"no survey {key!r}" if key else f"{len(names)} surveys, so name one"
        raise EstimateError(f"the database holds {asked}; it has {', '.join(names) or 'none'}")
    _, name, version, data = matching[-1]
    survey = Survey.from_json(bytes(data))
    table = report_table(name, version)
    tallies = {
        item.name: Tally.of_bits(question, _column(connection, table, item), item)
        for question in survey.questions
        for item in question.items
    }
    arms = None
    if survey.arms:
        arms = [arm for (arm,) in connection.execute(_select("arm", table))]
    others = [row[2] for row in rows if row[1] == name and row[2] != version]
    note = _other_versions(connection, name, version, others)
    # No list of ten million Python numbers is ever held.
    ids = np.fromiter((key for (key,) in connection.execute(_select("id", table))), np.int64)
    return Reports(survey, MappingProxyType(tallies), arm_codes(survey, arms), note, ids)


def _refuse_newer(connection: Connection, steps: str, what: str) -> None:
    """See that the tables are not those of a later version, which may mean something else."""
    applied = [name for (name,) in connection.execute(f"SELECT name FROM {steps}")]  # noqa: S608  # ours
    if newer := too_new(applied):
        raise EstimateError(f"{what} {newer}")


def _other_versions(
    connection: Connection, name: str, version: int, others: Sequence[int]
) -> str | None:
    found = []
    for other in others:
        query = f"SELECT count(*) FROM {report_table(name, other)}"  # noqa: S608  # a checked name
        ((count,),) = connection.execute(query)
        if count:
            found.append(f"{count:,} in version {other} (to read: {name}@{other})")
    if not found:
        return None
    return (
        f"These are the reports to version {version} of the survey only. Other versions ask "
        f"something else or with other noise, so their reports are left out: {', '.join(found)}."
    )


def _select(column: str, table: str) -> str:
    # Names come from a validated survey, and the order of the key is the same for every item.
    return f'SELECT "{column}" FROM "{table}" ORDER BY id'  # noqa: S608  # as said above


def _column(connection: Connection, table: str, item: Item) -> Bits:
    values = (value for (value,) in connection.execute(_select(item.name, table)))
    channel = item.channel
    if channel.subset == 1:
        indices = np.fromiter((UNSENT if value is None else value for value in values), np.int64)
        if np.any((indices < UNSENT) | (indices >= channel.options)):
            raise EstimateError(f"indices of {item.name!r} must be from 0 to {channel.options - 1}")
        return checked(item, pack_indices(channel, indices[:, None]))
    width = (channel.options + 7) // 8
    stored, rows, none = bytearray(), 0, bytes(width)
    while some := [none if value is None else value for value in islice(values, _AT_ONCE)]:
        stored += b"".join(some)
        rows += len(some)
    if len(stored) != width * rows:
        raise EstimateError(f"a report to {item.name!r} must be stored in {width} bytes")
    return checked(item, np.frombuffer(stored, dtype=np.uint8).reshape(rows, width))
