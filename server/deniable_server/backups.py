"""Copies of a whole store in a file of its own, and back from such a file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from deniable_protocol import StoreError

from .contract import Store
from .merging import merge
from .private_files import create_private
from .schema import connect_to_look, known_steps
from .store import ReportStore

_SIDE_FILES: Final = ("-wal", "-shm", "-journal")


def back_up(store: Store, path: Path) -> int:
    """Copy a store into a new SQLite file, as of one moment, while reports may be coming in.

    The copy has its rows in the order of their ids, and nothing of what was deleted. It is a
    database like any other: serve it, read it, or merge it into an empty one.

    Returns:
        The number of reports in the copy.

    Raises:
        StoreError: If the file is there already, or cannot be written.
    """

    def write(part: Path) -> None:
        if isinstance(store, ReportStore):
            store.copy_to(part)
        else:
            with closing(ReportStore(part)) as copy:
                merge(store, copy)

    return _written(path, write)


def restore(copy: Path, path: Path) -> int:
    """Make a database of a copy, which stays as it is, also if an older version wrote it.

    Returns:
        The number of reports in it.

    Raises:
        StoreError: If the copy is damaged or no database of deniable, or anything of another
            database is in the way.
    """

    def write(part: Path) -> None:
        try:
            with closing(connect_to_look(copy)) as connection:
                known_steps(connection, copy)
                connection.execute("PRAGMA query_only = OFF")  # it forbids writing elsewhere too
                connection.execute("VACUUM INTO ?", (str(part),))
        except sqlite3.Error as error:
            raise StoreError(f"{copy}: {error}") from None

    return _written(path, write)


def _written(path: Path, write: Callable[[Path], None]) -> int:
    """Write a database that is complete, sound and of this version's schema, or not there."""
    _refuse_to_replace(path)
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        create_private(part)  # SQLite copies into an empty file as it does into none
        write(part)
        count = _checked(part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return count


def _refuse_to_replace(path: Path) -> None:
    # SQLite would take the log of an earlier file for that of the new one, and damage it.
    files = [path, *(path.with_name(path.name + end) for end in _SIDE_FILES)]
    if there := [str(file) for file in files if file.exists()]:
        raise StoreError(
            f"there already: {', '.join(there)}; nothing is ever replaced, so move that away first"
        )


def _checked(path: Path) -> int:
    """Count a copy's reports, and see that the file is sound."""
    with closing(sqlite3.connect(path)) as connection:
        (sound,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            raise StoreError(f"{path} cannot be read back: {sound}")
    copy = ReportStore(path)
    try:
        return sum(copy.count(published) for published in copy.surveys())
    finally:
        copy.close(rewrite=False)
