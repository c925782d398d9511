"""The same server with one change, for comparison: each request commits its own report.

``direct.py own …`` gives every thread a database connection of its own, as web applications do;
``direct.py shared …`` lets all threads take turns on one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from deniable_protocol import Survey
from deniable_server import create_app
from deniable_server.published import Entry, Outcome
from deniable_server.services import Services, services
from deniable_server.store import ReportStore
from deniable_server.wsgi import listen, run


class SharedConnection:
    """Commit in the thread of the request, all threads on one connection in turn."""

    def __init__(self, store: ReportStore, database: str) -> None:
        self._store = store

    def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store reports and return when they are on disk."""
        return self._store.add(entries)

    def close(self) -> None:
        """Nothing waits."""


class OwnConnections:
    """Commit in the thread of the request, on the thread's own connection."""

    def __init__(self, store: ReportStore, database: str) -> None:
        self._database, self._held = database, threading.local()

    def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store reports and return when they are on disk."""
        if not hasattr(self._held, "store"):
            self._held.store = ReportStore(self._database)
        return self._held.store.add(entries)

    def close(self) -> None:
        """Nothing waits."""


def main() -> None:
    """Serve one survey: ``direct.py own|shared SURVEY --database FILE``."""
    kind, path, _, database = sys.argv[1:]
    app = create_app({"DATABASE": database})
    grouped = services(app)
    grouped.writer.close()
    grouped.store.publish(Survey.load(Path(path)))
    writer = {"own": OwnConnections, "shared": SharedConnection}[kind](grouped.store, database)
    Services(grouped.store, writer).attach(app)
    server = listen(app, "127.0.0.1", 0)
    print(f"Listening on http://127.0.0.1:{server.effective_port}/", flush=True)
    run(server, app)


if __name__ == "__main__":
    main()
