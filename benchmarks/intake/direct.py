"""The same server with one change, for comparison: each request commits its own report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from deniable_protocol import Survey
from deniable_server import create_app
from deniable_server.services import Services, services
from deniable_server.store import Outcome, ReportStore
from deniable_server.writer import Entry
from deniable_server.wsgi import listen, run


class DirectWriter:
    """Commit in the thread of the request, one after the other."""

    def __init__(self, store: ReportStore) -> None:
        self._store = store

    def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store reports and return when they are on disk."""
        return self._store.add(entries)

    def close(self) -> None:
        """Nothing waits."""


def main() -> None:
    """Serve one survey: ``direct.py SURVEY --database FILE``."""
    path, _, database = sys.argv[1:]
    app = create_app({"DATABASE": database})
    grouped = services(app)
    grouped.writer.close()
    grouped.store.publish(Survey.load(Path(path)))
    Services(grouped.store, DirectWriter(grouped.store)).attach(app)
    server = listen(app, "127.0.0.1", 0)
    print(f"Listening on http://127.0.0.1:{server.effective_port}/", flush=True)
    run(server, app)


if __name__ == "__main__":
    main()
