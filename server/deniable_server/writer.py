"""Group commit: all reports that arrive during one commit share the next one.

A commit that survives a power cut waits for the disk, and 32 of them in turn wait 32 times. Here
one thread writes; while it waits for the disk, others queue up, and then go to disk together. A
database that takes several writers at once gets several such threads, so that a group that has to
wait there does not hold up the others. They take turns all the same: a commit costs far more than a
report, so that one of twelve is better than three of four.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Protocol

from deniable_protocol import StoreError

from .published import Entry, Outcome

DEFAULT_CAPACITY: Final = 4096
MOST_CALLERS: Final = 40
"""So many may wait for a disk that is stuck; the server's other threads go on answering."""

_STUCK_SECONDS: Final = 2.0
_TURN_SECONDS: Final = 0.05
"""So long a group grows while the one before it is written; then it no longer waits for that."""


class Sink(Protocol):
    """What the writer needs of a store."""

    def add(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store all entries durably in one transaction, or none."""
        ...


@dataclass
class _Group:
    """Reports that will be committed together."""

    entries: list[Entry] = field(default_factory=list)
    commit: Future[list[Outcome]] | None = None


class GroupWriter:
    """Write reports from many threads through one or a few, several to a commit.

    Args:
        store: Where the reports go.
        capacity: How many reports may wait for the disk; more are refused rather than queued.
        patience: Seconds after which a caller stops waiting for the disk.
        threads: How many groups may be written at once.
    """

    def __init__(
        self,
        store: Sink,
        *,
        capacity: int = DEFAULT_CAPACITY,
        patience: float = 30.0,
        threads: int = 1,
    ) -> None:
        self._store, self._capacity, self._patience = store, capacity, patience
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._next = _Group()
        self._callers, self._running = 0, dict[int, float]()
        self._thread = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="writer")

    def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store reports and return when they are on disk.

        Returns:
            One outcome for each report, in order.

        Raises:
            StoreError: If too many reports wait already, the writer is closed, or the disk failed
                or is too slow. A report may still be stored after the last of these; sending it
                again is safe.
        """
        if not entries:
            return []
        with self._lock:
            if self._callers >= MOST_CALLERS and self._is_stuck():
                raise StoreError(f"the disk has been busy for more than {_STUCK_SECONDS:g} seconds")
            group, start = self._next, len(self._next.entries)
            if start + len(entries) > self._capacity:
                raise StoreError(f"more than {self._capacity} reports wait for the disk")
            if group.commit is None:
                try:
                    group.commit = self._thread.submit(self._commit_next)
                except RuntimeError:
                    raise StoreError("the server is stopping") from None
            group.entries.extend(entries)
            patience = self._patience if self._callers < MOST_CALLERS else _STUCK_SECONDS
            self._callers += 1
        try:
            outcomes = group.commit.result(min(patience, self._patience))
        except TimeoutError:
            raise StoreError(f"the disk took more than {patience:g} seconds") from None
        finally:
            with self._lock:
                self._callers -= 1
        return outcomes[start : start + len(entries)]

    def close(self) -> None:
        """Commit everything that waits, then stop."""
        self._thread.shutdown(wait=True)

    def _is_stuck(self) -> bool:
        began = min(self._running.values(), default=None)
        return began is not None and time.monotonic() - began > _STUCK_SECONDS

    def _commit_next(self) -> list[Outcome]:
        key = threading.get_ident()
        in_turn = self._turn.acquire(timeout=_TURN_SECONDS)
        with self._lock:
            group, self._next = self._next, _Group()
            self._running[key] = time.monotonic()
        try:
            return self._store.add(group.entries)
        finally:
            with self._lock:
                del self._running[key]
            if in_turn:
                self._turn.release()
