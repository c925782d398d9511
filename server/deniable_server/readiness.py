"""Whether reports could be stored now: tried as storing does it, and then taken back."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, Protocol

from deniable_protocol import StoreError

Unready = Literal["disk-full", "disk-error", "read-only", "locked", "unreachable"]

TRIAL_SECONDS: Final = 1.0
"""So long a trial waits for a lock."""
_REMEMBER_SECONDS: Final = 1.0
_ROOM_BYTES: Final = 65_536
"""As much as the largest report."""

_SQLITE: Final[dict[int, Unready]] = {
    sqlite3.SQLITE_FULL: "disk-full",
    sqlite3.SQLITE_IOERR: "disk-error",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
}


class NotReadyError(StoreError):
    """A trial showed that reports cannot be stored.

    Attributes:
        reason: Why, as one of ``problems.PROBLEMS``.
    """

    def __init__(self, reason: Unready) -> None:
        self.reason: Unready = reason
        super().__init__(f"reports cannot be stored now: {reason}")


class Trial(Protocol):
    """What is asked of a store."""

    def try_storing(self) -> None:
        """Do what storing needs, and take it back."""
        ...


class Readiness:
    """Try a store, and remember for a second what came of it: anyone may ask, and as often.

    Args:
        store: What to try.
    """

    def __init__(self, store: Trial) -> None:
        self._store, self._lock = store, threading.Lock()
        self._tried, self._until = False, 0.0
        self._found: Unready | None = None

    def reason(self) -> Unready | None:
        """Say why reports cannot be stored; None if they can.

        Whoever asks during a trial is told what the one before showed: a database that is locked
        holds up one thread, and not all of them.
        """
        if not self._lock.acquire(blocking=not self._tried):
            return self._found
        try:
            if time.monotonic() >= self._until:
                self._found = self._try()
                self._tried, self._until = True, time.monotonic() + _REMEMBER_SECONDS
            return self._found
        finally:
            self._lock.release()

    def _try(self) -> Unready | None:
        try:
            self._store.try_storing()
        except NotReadyError as error:
            return error.reason
        return None


def try_sqlite(path: Path) -> None:
    """Write as much as a report may take into a SQLite file's log, and take it back.

    Nothing waits for the disk, since nothing is committed: it takes less than a millisecond.

    Raises:
        NotReadyError: If the disk, the file's mode or a lock is in the way.
    """
    uri = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(
            sqlite3.connect(uri, uri=True, timeout=TRIAL_SECONDS, isolation_level=None)
        ) as connection:
            connection.execute("PRAGMA cache_size = 1")  # so that it goes to the disk at once
            before = _commits_of_others(connection)
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                if _commits_of_others(connection) != before:
                    return  # it is only busy: others store all the time
                raise
            connection.execute("CREATE TABLE room (bytes BLOB)")
            connection.execute("INSERT INTO room VALUES (zeroblob(?))", (_ROOM_BYTES,))
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest says more exactly which
        raise NotReadyError(_SQLITE.get(code, "unreachable")) from None


def _commits_of_others(connection: sqlite3.Connection) -> int:
    """Give a number that changes whenever another connection has committed something."""
    (number,) = connection.execute("PRAGMA data_version").fetchone()
    return int(number)
