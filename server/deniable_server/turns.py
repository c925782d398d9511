"""Work that one thread of a process does for all: whoever else wants it need not wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Give out at most one turn for each key at a time.

    >>> turns = Turns()
    >>> with turns.turn("a") as first, turns.turn("a") as second, turns.turn("b") as other:
    ...     first, second, other
    (True, False, True)
    """

    def __init__(self) -> None:
        self._lock, self._taken = threading.Lock(), set[str]()

    @contextmanager
    def turn(self, key: str) -> Iterator[bool]:
        """Tell whether this thread has the turn, which it keeps until the context ends."""
        with self._lock:
            mine = key not in self._taken
            self._taken.add(key)
        try:
            yield mine
        finally:
            if mine:
                with self._lock:
                    self._taken.discard(key)
