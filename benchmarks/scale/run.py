"""A survey with ten million reports: ``deniable report`` from SQLite, and from Parquet with DuckDB.

    python benchmarks/scale/run.py --folder FOLDER

Makes the database once (the server's own tables; the reports are simulated), exports it with
``deniable export``, and then times the verbs in processes of their own: seconds by the clock,
seconds of computing, and the most memory each held. FOLDER keeps both files for another run, or for
another engine: see docs/growing.md.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from deniable_analysis.bits import unpack
from deniable_analysis.simulate import draw_bits
from deniable_protocol import Survey
from deniable_server import ReportStore
from deniable_server.published import Published

SURVEY = Survey.load(
    {
        "name": "scale",
        "title": "Ten million reports",
        "privacy": {"epsilon": 3},
        "questions": [
            {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "share": 1},
            {"name": "region", "kind": "choice", "text": "Where do you live?", "share": 2,
             "options": ["north", "east", "south", "west"]},
            {"name": "job", "kind": "choice", "text": "What is your work?", "share": 2,
             "options": [f"occupation {place}" for place in range(1, 41)]},
        ],
    }
)  # fmt: skip
_CHUNK = 500_000
_DAYS = 30


@dataclass(frozen=True)
class Run:
    """What one verb took."""

    clock: float
    computing: float
    memory: int

    def __str__(self) -> str:
        return (
            f"{self.clock:7.1f} s by the clock, {self.computing:7.1f} s of computing, "
            f"{self.memory / 2**20:6.2f} GiB at most"
        )


def main() -> None:
    """Make what is missing, and print what each verb took."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--folder", type=Path, required=True, help="where the files are kept")
    options.add_argument("--reports", type=int, default=10_000_000)
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    database, parquet = (given.folder / f"scale-{given.reports}.{end}" for end in ("db", "parquet"))
    survey = given.folder / "survey.json"
    survey.write_bytes(SURVEY.to_json())
    if not database.exists():
        start = time.perf_counter()
        fill(database, given.reports)
        print(f"made {database.name} in {time.perf_counter() - start:.0f} s", flush=True)
    if not parquet.exists():
        words = ["export", "scale", "--database", database, "--output", parquet]
        print(f"{'deniable export, Parquet':34} {run(words)}", flush=True)
    for path in (database, parquet):
        print(f"{path.name}: {path.stat().st_size / 1e6:,.0f} MB", flush=True)
    page = ["--output", given.folder / "page.html"]
    for name, words in {
        "deniable report, SQLite": ["report", database, *page],
        "deniable report, Parquet, DuckDB": ["report", parquet, "--survey", survey, *page],
        "deniable counts, SQLite": ["counts", "scale", "--database", database],
    }.items():
        print(f"{name:34} {run(words)}", flush=True)


def run(words: Sequence[object]) -> Run:
    """Run a verb in a process of its own, and measure it."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "deniable_protocol", *map(str, words)], stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words[0]} ended with {process.returncode}")
    return Run(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)


def fill(path: Path, reports: int) -> None:
    """Make a server's database with so many simulated reports.

    Rows go in in the order of their ids, past the store, which would check and compare each; the
    first and the last are then read back through it, which checks them.
    """
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    store = ReportStore(part)
    published = store.publish(SURVEY)
    store.close()
    marks = ", ".join("?" * len(published.column_names))
    with closing(sqlite3.connect(part, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute("BEGIN")
        for rows in _rows(published, reports):
            db.executemany(
                f"INSERT INTO {published.table} ({published.columns}) VALUES ({marks})", rows
            )
        days = [(SURVEY.digest, f"2026-03-{day + 1:02}", reports // _DAYS) for day in range(_DAYS)]
        db.executemany("INSERT INTO counters (digest, day, reports) VALUES (?, ?, ?)", days)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
        for order in ("ASC", "DESC"):
            query = f"SELECT {published.columns} FROM {published.table} ORDER BY id {order} LIMIT 9"
            for row in db.execute(query):
                published.report(row)
    part.rename(path)


def _rows(published: Published, reports: int) -> Iterator[Iterator[tuple[Any, ...]]]:
    rng = np.random.default_rng(1)
    shares = [rng.dirichlet(np.full(item.channel.options, 0.5)) for item in published.items]
    edges = np.linspace(0, 2.0**63, -(-reports // _CHUNK) + 1)
    for low, high in pairwise(edges):
        count = min(_CHUNK, reports)
        reports -= count
        ids = np.unique(rng.integers(int(low), int(high) - 1, count + 50, dtype=np.int64))[:count]
        columns: list[list[Any]] = [ids.tolist()]
        for item, share in zip(published.items, shares, strict=True):
            answers = rng.choice(item.channel.options, count, p=share)
            bits = draw_bits(item.channel, answers, rng)
            if item.channel.subset == 1:
                columns.append(unpack(bits, item.channel.options).argmax(axis=1).tolist())
            else:
                width = bits.shape[1]
                whole = bits.tobytes()
                columns.append([whole[n : n + width] for n in range(0, len(whole), width)])
        yield zip(*columns, strict=True)


if __name__ == "__main__":
    main()
