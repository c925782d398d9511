"""Copies of a whole store in a file of its own."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from deniable_protocol import StoreError

from .contract import Store
from .merging import merge
from .store import ReportStore


def back_up(store: Store, path: Path) -> int:
    """Copy a store into a new SQLite file, as of one moment, while reports may be coming in.

    The copy has its rows in the order of their ids, and nothing of what was deleted. It is a
    database like any other: serve it, read it, or merge it into an empty one.

    Returns:
        The number of reports in the copy.

    Raises:
        StoreError: If the file is there already, or cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    if path.exists():
        raise StoreError(f"{path} is there already; a backup never replaces a file")
    try:
        part.unlink(missing_ok=True)
        if isinstance(store, ReportStore):
            store.copy_to(part)
        else:
            copy = ReportStore(part)
            try:
                merge(store, copy)
            finally:
                copy.close()
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
