"""Published surveys and their noisy reports in one SQLite file.

``deniable_protocol.layout`` says where everything is. Beside it there is one more table,
``counters``: how many reports of a survey version (``digest``) came in on a ``day`` (UTC), so that
an operator sees a survey fill. Nothing links a report to a day, an address, a browser or another
report. While the server runs, its write-ahead log (FILE-wal) holds recent reports in the order of
their commits; closing the store folds it into the file, where only the random ids order them.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Final

from deniable_protocol import Report, StoreError, Survey
from deniable_protocol.layout import encode, report_table
from deniable_protocol.question import Item

from .schema import connect, create_report_table, migrate

_BY_DIGEST: Final = "SELECT digest, version, json FROM surveys WHERE digest = ?"
_NEWEST: Final = (
    "SELECT digest, version, json FROM surveys WHERE name = ? ORDER BY version DESC LIMIT 1"
)
_ALL: Final = "SELECT digest, version, json FROM surveys ORDER BY name, version"


class Outcome(Enum):
    """What became of a report: stored now, held already, or refused for another with its id."""

    STORED = "stored"
    SAME = "same"
    CONFLICT = "conflict"


@dataclass(frozen=True)
class Published:
    """A survey as it was published here.

    Attributes:
        version: 1 for the first survey of this name, 2 for the next.
    """

    survey: Survey
    version: int

    @property
    def table(self) -> str:
        """The table that holds its reports."""
        return report_table(self.survey.name, self.version)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The survey's items, made once rather than for every report."""
        return self.survey.items

    @cached_property
    def columns(self) -> str:
        """The columns of the table, in order, as a statement lists them."""
        names = ["id", *(("arm",) if self.survey.arms else ()), *(i.name for i in self.items)]
        return ", ".join(f'"{name}"' for name in names)

    def row(self, report: Report) -> tuple[int | str | bytes | None, ...]:
        """Give a report as the table holds it; None for what was not drawn."""
        arm = (report.arm,) if self.survey.arms else ()
        drawn = ((item.channel, report.answers.get(item.name)) for item in self.items)
        stored = (None if subset is None else encode(channel, subset) for channel, subset in drawn)
        return (report.key, *arm, *stored)


class ReportStore:
    """Keep published surveys and their reports in a SQLite file.

    Threads may share a store. Reading has a connection of its own, so that nobody who fetches a
    survey waits for a commit.

    Args:
        path: The database file; it is created if there is none.

    Raises:
        StoreError: If the file is not a database, cannot be written, or a newer version made it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._published: dict[str, Published] = {}
        self._write_lock, self._read_lock = threading.Lock(), threading.Lock()
        with _as_store_error(self._path):
            self._writer = connect(self._path)
            try:
                migrate(self._writer, self._path)
                self._reader = connect(self._path)
            except BaseException:
                self._writer.close()
                raise

    def publish(self, survey: Survey) -> Published:
        """Open a survey for reports; one that was published before stays as it is.

        Another survey of the same name becomes its next version. Reports that devices made for the
        earlier version are still taken, each into the table of its own version.
        """
        with self._transaction() as connection:
            known = connection.execute(_BY_DIGEST, (survey.digest,)).fetchone()
            if known is not None:
                return Published(survey, known[1])
            (latest,) = connection.execute(
                "SELECT max(version) FROM surveys WHERE name = ?", (survey.name,)
            ).fetchone()
            published = Published(survey, (latest or 0) + 1)
            connection.execute(
                "INSERT INTO surveys (digest, name, version, json) VALUES (?, ?, ?, ?)",
                (survey.digest, survey.name, published.version, survey.to_json()),
            )
            connection.execute(create_report_table(survey, published.version))
        return published

    def find(self, digest: str) -> Published | None:
        """Look up a published survey by its digest; None if there is none."""
        known = self._published.get(digest)  # never changes once published, so no lock
        return known or next(self._select(_BY_DIGEST, digest), None)

    def newest(self, name: str) -> Published | None:
        """Look up the newest survey of a name; None if there is none."""
        return next(self._select(_NEWEST, name), None)

    def open_surveys(self) -> list[Published]:
        """List the newest survey of every name."""
        found = self._select(_ALL)
        return list({published.survey.name: published for published in found}.values())

    def add(self, entries: Sequence[tuple[Published, Report]]) -> list[Outcome]:
        """Store reports in one transaction that is on disk when this returns.

        Returns:
            One outcome for each report, in order.

        Raises:
            StoreError: If the disk or the database failed; then none of the reports is stored.
        """
        with self._transaction() as connection:
            outcomes = [_add(connection, published, report) for published, report in entries]
            stored = Counter(
                published.survey.digest
                for (published, _), outcome in zip(entries, outcomes, strict=True)
                if outcome is Outcome.STORED
            )
            day = datetime.now(UTC).date().isoformat()
            connection.executemany(
                "INSERT INTO counters (digest, day, reports) VALUES (?, ?, ?)"
                " ON CONFLICT (digest, day) DO UPDATE SET reports = reports + excluded.reports",
                [(digest, day, count) for digest, count in stored.items()],
            )
        return outcomes

    def count(self, published: Published) -> int:
        """Count the reports of one survey version."""
        query = f"SELECT count(*) FROM {published.table}"  # noqa: S608  # the name was matched
        with self._read_lock, _as_store_error(self._path):
            return int(self._reader.execute(query).fetchone()[0])

    def close(self) -> None:
        """Rewrite the file in the order of the ids, fold the write-ahead log into it and close it.

        Privacy:
            The tables do not hold the order of arrival, but SQLite puts each new row of a page
            behind the one before, so the file's bytes would tell some of it. VACUUM writes every
            page anew in key order. It is left out if another process is using the file.
        """
        with self._write_lock, self._read_lock, _as_store_error(self._path):
            self._reader.close()
            with suppress(sqlite3.OperationalError):
                self._writer.execute("VACUUM")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    def _select(self, query: str, *values: str) -> Iterator[Published]:
        with self._read_lock, _as_store_error(self._path):
            rows = self._reader.execute(query, values).fetchall()
        for digest, version, json in rows:
            if digest not in self._published:
                self._published[digest] = Published(Survey.from_json(json), version)
            yield self._published[digest]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock, _as_store_error(self._path):
            self._writer.execute("BEGIN IMMEDIATE")
            with self._writer:  # commits, or rolls back on any error
                yield self._writer


@contextmanager
def _as_store_error(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from None


def _add(connection: sqlite3.Connection, published: Published, report: Report) -> Outcome:
    table, columns, row = published.table, published.columns, published.row(report)
    marks = ", ".join("?" * len(row))
    # Table and column names have been matched against patterns; values are bound.
    insert = f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING"  # noqa: S608
    if connection.execute(insert, row).rowcount:
        return Outcome.STORED
    select = f"SELECT {columns} FROM {table} WHERE id = ?"  # noqa: S608
    held = connection.execute(select, row[:1]).fetchone()
    return Outcome.SAME if held == row else Outcome.CONFLICT
