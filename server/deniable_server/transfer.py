"""Reports from one store to another."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deniable_protocol import StoreError

from .contract import Store
from .life import State
from .published import Outcome, Published
from .store import ReportStore

_AT_ONCE: Final = 5000


@dataclass
class Merged:
    """What became of one survey version of a source.

    Attributes:
        source: The version there.
        target: The version here; they may be numbered differently.
        counts: How many reports had which outcome.
        conflicts: Ids under which the two stores hold different reports.
    """

    source: Published
    target: Published
    counts: Counter[Outcome] = field(default_factory=Counter)
    conflicts: list[str] = field(default_factory=list)


def merge(source: Store, target: Store) -> Iterator[Merged]:
    """Add everything that one store holds to another, one survey version after the other.

    The same report is stored once. Of two reports with one id the one here stays. A survey that is
    new here brings its dates, its target, its state and its counters along. What was erased here
    stays erased.
    """
    with source.frozen():
        target.adopt_spent(source.spent())
        for theirs in source.surveys():
            known = target.find(theirs.survey.digest) is not None
            life = source.life(theirs)
            if known and target.life(theirs).state is State.ERASED:
                ours = target.find(theirs.survey.digest) or theirs
            else:
                ours = target.publish(theirs.survey, None if known else life.limits)
            done = Merged(theirs, ours)
            for reports in source.reports(theirs, chunk=_AT_ONCE):
                outcomes = target.add([(ours, each) for each in reports], although_closed=True)
                done.counts.update(outcomes)
                done.conflicts += [
                    report.id
                    for report, outcome in zip(reports, outcomes, strict=True)
                    if outcome is Outcome.CONFLICT
                ]
            if not known:
                target.adopt_days(ours, source.days(theirs))
                if life.state is State.ERASED:
                    target.erase_survey(ours)
                elif life.state is State.CLOSED:
                    target.close_survey(ours)
            yield done


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
                for _ in merge(store, copy):
                    pass
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
