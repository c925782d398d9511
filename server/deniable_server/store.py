"""Published surveys and their noisy reports in one SQLite file.

While the server runs, its write-ahead log (FILE-wal) holds recent reports in the order of their
commits; closing the store folds it into the file, where only the random ids order them.
"""

from __future__ import annotations

import mmap
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Final

from deniable_protocol import StoreError

from .catalogue import Session
from .contract import Store
from .life import Clock, utc_now
from .published import Published, Row, listed
from .readiness import try_sqlite
from .schema import connect, connect_to_look, create_report_table, migrate, refuse_older

_WIPE_SECONDS: Final = 30.0


class ReportStore(Store):
    """Keep published surveys and their reports in a SQLite file.

    Threads may share a store. Reading has a connection of its own, so that nobody who fetches a
    survey waits for a commit.

    Args:
        path: The database file; it is created if there is none.
        clock: Tells the time, for the counters and for opening and closing.
        look_only: Whether to change nothing, not even tables of an older version.

    Raises:
        StoreError: If the file is not a database, cannot be written, or a newer version made it.
    """

    _dialect = "sqlite"
    _count_up: ClassVar[str] = (
        "INSERT INTO counters (digest, day, reports) VALUES (?, ?, ?)"
        " ON CONFLICT (digest, day) DO UPDATE SET reports = reports + excluded.reports"
    )

    def __init__(
        self, path: str | os.PathLike[str], clock: Clock = utc_now, *, look_only: bool = False
    ) -> None:
        super().__init__(str(path), clock)
        self._path, self._look_only = Path(path), look_only
        self._write_lock, self._read_lock = threading.Lock(), threading.Lock()
        connecting, fitting = (connect_to_look, refuse_older) if look_only else (connect, migrate)
        with self._as_store_error():
            self._writer = connecting(self._path)
            try:
                fitting(self._writer, self._path)
                self._reader = connecting(self._path)
            except BaseException:
                self._writer.close()
                raise

    def close(self, *, rewrite: bool = True) -> None:
        """Rewrite the file in the order of the ids, fold the write-ahead log into it and close it.

        Privacy:
            The tables do not hold the order of arrival, but SQLite puts each new row of a page
            behind the one before, so the file's bytes would tell some of it. VACUUM writes every
            page anew in key order. It is left out if another process is using the file.
        """
        with self._write_lock, self._read_lock, self._as_store_error():
            self._reader.close()
            if rewrite:
                with suppress(sqlite3.OperationalError), self._impatient():
                    self._writer.execute("VACUUM")
            if not self._look_only:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy, in key order, without holding up those who store reports.

        Raises:
            StoreError: If there is such a file already and it is not empty, or it cannot be
                written.
        """
        with self._as_store_error():
            connection = connect(self._path)
            try:
                connection.execute("VACUUM INTO ?", (str(path),))
            finally:
                connection.close()

    def try_storing(self) -> None:
        """Write into the file's log on a connection of its own, and take it back.

        Raises:
            NotReadyError: If a report could not be stored now.
        """
        try_sqlite(self._path)

    @contextmanager
    def _adding(self, digests: Sequence[str]) -> Iterator[Session]:
        with self._deciding() as session:
            yield session

    def _alone(self, session: Session, digest: str) -> None:
        """Do nothing: SQLite has one writer."""

    @contextmanager
    def _deciding(self, digest: str = "") -> Iterator[Session]:
        with self._write_lock, self._as_store_error():
            self._writer.execute("BEGIN IMMEDIATE")
            with self._writer:  # commits, or rolls back on any error
                yield _Session(self._writer)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with self._read_lock, self._as_store_error():
            self._reader.execute("BEGIN")
            try:
                yield _Session(self._reader)
            finally:
                self._reader.execute("ROLLBACK")

    def _create_table(self, published: Published) -> str:
        return create_report_table(published.survey, published.version)

    def _settle(self, session: Session, published: Published) -> None:
        """Do nothing: the key orders the rows, and closing the store orders the bytes."""

    def _wipe(self, ids: Sequence[int]) -> None:
        patterns = [_varint(key) for key in ids]
        until = time.monotonic() + _WIPE_SECONDS
        with self._write_lock, self._as_store_error(), self._impatient():
            while True:  # another process may be reading what was there before
                try:
                    self._writer.execute("VACUUM")
                    (busy, *_) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                except sqlite3.OperationalError as error:
                    busy = str(error)
                if not busy and not self._traces(patterns):
                    return
                if time.monotonic() > until:
                    break
                time.sleep(0.2)
        raise StoreError(
            f"the reports are deleted, but {self.name} still holds their bytes, because another "
            "process keeps it from being rewritten; stop that and erase again"
        )

    @contextmanager
    def _impatient(self) -> Iterator[None]:
        (before,) = self._writer.execute("PRAGMA busy_timeout").fetchone()
        self._writer.execute("PRAGMA busy_timeout = 500")
        try:
            yield
        finally:
            self._writer.execute(f"PRAGMA busy_timeout = {before}")

    def _traces(self, patterns: Sequence[bytes]) -> bool:
        """Look for the keys of deleted reports in the file and its write-ahead log."""
        if self._writer.execute("PRAGMA freelist_count").fetchone()[0]:
            return True
        for path in (self._path, Path(f"{self._path}-wal")):
            with suppress(FileNotFoundError), path.open("rb") as file:
                if not path.stat().st_size:
                    continue
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    if any(content.find(pattern) >= 0 for pattern in patterns):
                        return True
        return False

    @contextmanager
    def _as_store_error(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.name}: {error}") from None


class _Session:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, query: str, values: Sequence[object] = ()) -> Any:
        return self._connection.execute(query, tuple(values))

    def insert(self, table: str, columns: Mapping[str, str], rows: Sequence[Row]) -> list[bool]:
        marks = ", ".join("?" * len(columns))
        key = next(iter(columns))
        query = (
            f"INSERT INTO {table} ({listed(columns)}) VALUES ({marks})"  # noqa: S608  # a matched name
            f" ON CONFLICT ({key}) DO NOTHING"
        )
        return [self._connection.execute(query, row).rowcount > 0 for row in rows]


def _varint(key: int) -> bytes:
    """Write a key as SQLite's file does: 7 bits to a byte, and 8 in the ninth.

    >>> _varint(300).hex()
    '822c'
    """
    if key < 1 << 56:
        parts = [key & 0x7F]
        while key := key >> 7:
            parts.append(0x80 | key & 0x7F)
        return bytes(reversed(parts))
    return bytes(0x80 | key >> shift & 0x7F for shift in range(57, 7, -7)) + bytes([key & 0xFF])
