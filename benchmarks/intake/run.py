"""Reports per second of the intake, as ratios against the same server committing directly.

Run ``python benchmarks/intake/run.py``. All servers are the real one in processes of their own; the
connections are held by this process. Rounds alternate and medians are compared, because a shared
machine is faster at one moment than at the next. The processor time that a report takes, of the
intakes together, the database's own processes, and this one, changes less.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # for the tests' own PostgreSQL

from load import SURVEY, Round, load
from tests.server.postgres import Postgres, children

SERVE = ("-m", "deniable_protocol", "serve", "--port", "0")
DIRECT = str(Path(__file__).with_name("direct.py"))
BATCH = 100


@dataclass
class Variant:
    """One way to take reports, and what its rounds measured."""

    name: str
    program: tuple[str, ...] = SERVE
    batch: int | None = None
    hosts: tuple[str, ...] = ("127.0.0.1",)
    postgres: Postgres | None = None
    rounds: list[Round] = field(default_factory=list)
    work: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The median of the rounds' reports per second."""
        return statistics.median(found.rate for found in self.rounds)

    @property
    def slowest(self) -> float:
        """The median of the rounds' 99th percentiles, in milliseconds."""
        return statistics.median(found.slowest for found in self.rounds)

    def line(self, *, last: bool = False) -> str:
        """Write the last round, or the medians of all, as a line of the table."""
        rate, slowest, works = self.rate, self.slowest, self.work
        if last:
            rate, slowest, works = self.rounds[-1].rate, self.rounds[-1].slowest, self.work[-1:]
        intake, database, load = (statistics.median(work) for work in zip(*works, strict=True))
        return (
            f"{self.name:16} {rate:7,.0f} reports/s   99 % within {slowest:7.1f} ms   "
            f"processor: {intake:5.2f} + {database:.2f} + {load:.2f} ms a report"
        )

    def measure(self, folder: Path, connections: int, seconds: float) -> None:
        """Start servers with an empty database, load them, and stop them."""
        survey = folder / "survey.json"
        survey.write_bytes(SURVEY.to_json())
        database = str(folder / f"{secrets.token_hex(4)}.db")
        if self.postgres is not None:
            database = self.postgres.new_database()
        command = [sys.executable, *self.program, str(survey), "--database", database]
        with ExitStack() as stack:
            intakes = [
                _start([*command, *(["--host", host] if host != "127.0.0.1" else [])], stack)
                for host in self.hosts
            ]
            addresses = [address for _, address in intakes]
            before = self._worked([pid for pid, _ in intakes])
            found = load(addresses, connections=connections, seconds=seconds, batch=self.batch)
            after = self._worked([pid for pid, _ in intakes])
        spent = [then - earlier for earlier, then in zip(before, after, strict=True)]
        self.rounds.append(found)
        self.work.append(tuple(1000 * each / found.reports for each in (*spent, found.work)))

    def _worked(self, intakes: list[int]) -> tuple[float, float]:
        """Give the seconds of processor time of the intakes and of the database's processes."""
        database = children(self.postgres.process.pid) if self.postgres else []
        return sum(map(_worked, intakes)), sum(map(_worked, database))


def _worked(pid: int) -> float:
    """Give a process's seconds of processor time, its own and the system's for it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:  # one that the database had for a moment
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _start(command: list[str], stack: ExitStack) -> tuple[int, tuple[str, int]]:
    server = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    stack.callback(server.terminate)
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"Listening on http://([\d.]+):(\d+)/", line):
            return server.pid, (found[1], int(found[2]))
    raise SystemExit("a server did not start")


def main() -> None:
    """Print each round, the medians, and the ratios with what they have to be."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--connections", type=int, default=32)
    options.add_argument("--seconds", type=float, default=4.0, help="length of one round")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--folder", type=Path, help="where to put the databases: which disk")
    given = options.parse_args()
    grouped = Variant("group commit")
    direct = Variant("a commit each", (DIRECT, "own"))
    shared = Variant("each, in turn", (DIRECT, "shared"))
    batches = Variant(f"batches of {BATCH}", batch=BATCH)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder, Postgres() as postgres:
        several = Variant("PostgreSQL, two", hosts=("127.0.0.2", "127.0.0.3"), postgres=postgres)
        variants = [grouped, direct, shared, batches, several]
        for _ in range(given.rounds):
            for variant in variants:
                variant.measure(Path(folder), given.connections, given.seconds)
                print(variant.line(last=True), flush=True)
    print("\nmedians (processor: intakes + database + this program)")
    for variant in variants:
        print(variant.line())
    print("\nratios (and what they have to be at least)")
    for name, ratio, least in [
        ("reports/s: group commit to a commit each", grouped.rate / direct.rate, "1.5"),
        ("99 % within: a commit each to group commit", direct.slowest / grouped.slowest, "5"),
        (f"reports/s: batches of {BATCH} to single reports", batches.rate / grouped.rate, "5"),
        ("reports/s: PostgreSQL with two intakes to SQLite", several.rate / grouped.rate, "1"),
        ("reports/s: group commit to taking turns", grouped.rate / shared.rate, "-"),
    ]:
        print(f"{name:50} {ratio:7.2f}   ({least})")


if __name__ == "__main__":
    main()
