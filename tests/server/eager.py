"""A server broken on purpose: it acknowledges reports before they are on disk."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deniable_protocol import Survey
from deniable_server import ReportStore, create_app
from deniable_server.published import Entry, Outcome
from deniable_server.services import Services
from deniable_server.wsgi import listen, run


class EagerWriter:
    def __init__(self, store: ReportStore) -> None:
        self._store, self._thread = store, ThreadPoolExecutor(1)

    def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        self._thread.submit(self._later, list(entries))
        return [Outcome.STORED for _ in entries]

    def close(self) -> None:
        self._thread.shutdown()

    def _later(self, entries: list[Entry]) -> None:
        time.sleep(0.05)
        self._store.add(entries)


if __name__ == "__main__":
    survey, _, database = sys.argv[1:]
    app = create_app({"DATABASE": database})
    store = ReportStore(database)
    store.publish(Survey.load(Path(survey)))
    Services(store, EagerWriter(store)).attach(app)
    server = listen(app, "127.0.0.1", 0)
    print(f"Listening on http://127.0.0.1:{server.effective_port}/", flush=True)
    run(server, app)
