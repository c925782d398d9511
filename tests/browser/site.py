"""A real `deniable serve` in a process of its own, and what it has kept and said."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from deniable_protocol import Survey, layout
from deniable_server.issuer import Issuer

from .surveys import INVITED, SURVEYS


class Site:
    """Serve every survey of the browser tests."""

    def __init__(self, folder: Path, surveys: dict[str, Survey] = SURVEYS) -> None:
        self.folder = folder
        self.issuer = Issuer(folder / "issuer.db")
        invited = INVITED | {"invite_key": self.issuer.key("invited").published}
        self.surveys = surveys | {"invited": Survey.load(invited)}
        self.database = folder / "survey.db"
        files = []
        for name, survey in self.surveys.items():
            files.append(folder / f"{name}.json")
            files[-1].write_bytes(survey.to_json())
        self._output = folder / "output.txt"
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "deniable_protocol", "serve", "--port", "0",
                 "--database", str(self.database), "--issuer", str(folder / "issuer.db"),
                 *map(str, files)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self.port = self._wait_for_port()

    def _wait_for_port(self) -> int:
        for _ in range(600):
            if ports := re.findall(r"Listening on http://127\.0\.0\.1:(\d+)/", self.output()):
                return int(ports[-1])
            assert self._process.poll() is None, self.output()
            time.sleep(0.025)
        raise AssertionError("the server did not start")

    def __enter__(self) -> Site:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._process.terminate()
        self._process.wait(20)

    def output(self) -> str:
        return self._output.read_text()

    def kept(self) -> bytes:
        """Everything on disk that the server has written: database, WAL, output."""
        own = [path for path in self.folder.iterdir() if path.suffix != ".json"]
        return b"".join(path.read_bytes() for path in sorted(own))

    def row(self, report: bytes) -> dict[str, Any] | None:
        """Find the stored row of a report, decoded: item to drawn options, NULL to None."""
        sent = json.loads(report)
        (survey,) = [s for s in self.surveys.values() if s.digest == sent["survey"]]
        table = layout.report_table(survey.name, 1)
        with closing(sqlite3.connect(self.database)) as db:
            db.row_factory = sqlite3.Row
            found = db.execute(f"SELECT * FROM {table} WHERE id = ?", (int(sent["id"], 16),))
            row = found.fetchone()
        if row is None:
            return None
        values = dict(row)
        for item in survey.items:
            stored = values[item.name]
            values[item.name] = None if stored is None else layout.decode(item.channel, stored)
        return values

    def count(self, name: str) -> int:
        with closing(sqlite3.connect(self.database)) as db:
            (count,) = db.execute(f"SELECT count(*) FROM {layout.report_table(name, 1)}").fetchone()
        return int(count)
