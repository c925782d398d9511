"""Time our accountants beside Google's PLD and RDP and Microsoft's PRV, in one run.

    python benchmarks/accounting/run.py --repeats 3 --write docs/accounting.md

Each row is a training run with Poisson batches. All accountants take turns in one process with one
thread, caches emptied before each turn, so their ratios do not depend on the machine. Google's is
`dp-accounting` (a development dependency); PRV is `pip install --no-deps prv-accountant`, and left
out if it is not there.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import signal
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from dp_accounting import dp_event, pld, rdp

from deniable_analysis.central.accountants import PLDAccountant, RDPAccountant, renyi
from deniable_analysis.central.accountants.pld import accountant as engine
from deniable_analysis.central.events import (
    GaussianEvent,
    Neighbours,
    PoissonSampledEvent,
)

try:
    import prv_accountant
except ImportError:
    prv_accountant = None

ADD = Neighbours.ADD_OR_REMOVE_ONE
BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"
GRID = 1e-4  # of Google's PLD
PRV_ERROR = 0.01  # of PRV, in epsilon


@dataclass(frozen=True)
class Row:
    """A training run: name, sampling probability, noise, steps, delta."""

    name: str
    q: float
    sigma: float
    steps: int
    delta: float


ROWS = [
    Row("MNIST, 60 epochs", 256 / 60000, 1.1, 14062, 1e-5),
    Row("MNIST, batch 250", 250 / 60000, 1.1, 14400, 1e-5),
    Row("Abadi et al.", 0.01, 4.0, 10**4, 1e-5),
    Row("little noise, rare", 0.001, 0.8, 10**5, 1e-6),
    Row("half of all", 0.5, 5.0, 200, 1e-5),
    Row("very rare", 1e-4, 0.6, 10**5, 1e-7),
    Row("ImageNet, batch 16384", 16384 / 1281167, 2.5, 71589, 8e-7),
    Row("delta 1e-12", 256 / 60000, 1.1, 14062, 1e-12),
    Row("delta 1e-30", 256 / 60000, 1.1, 14062, 1e-30),
    Row("ten million steps", 0.001, 1.0, 10**7, 1e-6),
    Row("one in a million", 1e-6, 0.5, 10**6, 1e-7),
    Row("one step", 0.5, 1.0, 1, 1e-5),
]


def ours(row: Row) -> float:
    """Our upper bound."""
    renyi.divergence.cache_clear()
    engine._pairs.cache_clear()
    step = PoissonSampledEvent(row.q, GaussianEvent(row.sigma))
    return PLDAccountant(ADD).spend(step, row.steps).epsilon(row.delta)


def ours_renyi(row: Row) -> float:
    """Our Rényi bound."""
    renyi.divergence.cache_clear()
    step = PoissonSampledEvent(row.q, GaussianEvent(row.sigma))
    return RDPAccountant(ADD).spend(step, row.steps).epsilon(row.delta)


def _composed(row: Row) -> dp_event.DpEvent:
    step = dp_event.PoissonSampledDpEvent(row.q, dp_event.GaussianDpEvent(row.sigma))
    return dp_event.SelfComposedDpEvent(step, row.steps)


def google(row: Row) -> float:
    """Google's upper bound."""
    accountant = pld.PLDAccountant(value_discretization_interval=GRID)
    return float(accountant.compose(_composed(row)).get_epsilon(row.delta))


def google_renyi(row: Row) -> float:
    """Google's Rényi bound, at its own orders."""
    return float(rdp.RdpAccountant().compose(_composed(row)).get_epsilon(row.delta))


def prv(row: Row) -> float:
    """Microsoft's upper bound, certified to 0.01."""
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    accountant = PRVAccountant(
        prvs=PoissonSubsampledGaussianMechanism(
            sampling_probability=row.q, noise_multiplier=row.sigma
        ),
        max_self_compositions=row.steps,
        eps_error=PRV_ERROR,
        delta_error=row.delta / 1000,
    )
    return float(accountant.compute_epsilon(row.delta, row.steps)[2])


def lower(row: Row) -> float:
    """Our certified lower bound; not timed."""
    step = PoissonSampledEvent(row.q, GaussianEvent(row.sigma))
    return PLDAccountant(ADD).spend(step, row.steps).bounds(row.delta).lower


@dataclass
class Measured:
    """What one accountant answered for one row, and how long it took each time."""

    value: float | str
    seconds: list[float]

    @property
    def median(self) -> float:
        """Median time in seconds."""
        return statistics.median(self.seconds) if self.seconds else math.nan


def measure(run: Callable[[Row], float], row: Row, found: Measured | None, limit: int) -> Measured:
    """Run once more, within a limit in seconds."""
    if found is not None and isinstance(found.value, str):
        return found
    signal.alarm(limit)
    started = time.perf_counter()
    try:
        value: float | str = run(row)
    except TimeoutError:
        value = f"over {limit} s"
    except Exception as error:  # noqa: BLE001  # a peer's failure is a result of the benchmark
        value = type(error).__name__
    finally:
        signal.alarm(0)
    took = time.perf_counter() - started
    before = found.seconds if found else []
    return Measured(value, before if isinstance(value, str) else [*before, took])


def _late(*_: object) -> None:
    raise TimeoutError


def shown(value: float | str) -> str:
    """Write an epsilon."""
    return value if isinstance(value, str) else f"{value:.5f}"


def ratio(peer: Measured, own: Measured) -> str:
    """Write how many times longer the peer took."""
    return "" if isinstance(peer.value, str) else f"{peer.median / own.median:.1f}"


def table(repeats: int, limit: int) -> list[str]:
    """Measure every row and write it as a table."""
    runs = {"ours": ours, "google": google, "ours_renyi": ours_renyi, "google_renyi": google_renyi}
    if prv_accountant is not None:
        runs["prv"] = prv
    lines = [
        "| setting | q | noise | steps | delta | lower | upper | Google PLD | PRV upper | RDP | "
        "Google RDP | seconds | Google / ours | PRV / ours | RDP: Google / ours |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        found: dict[str, Measured] = {}
        for _ in range(repeats):
            for name, run in runs.items():
                found[name] = measure(run, row, found.get(name), limit)
        missing = Measured("not installed", [])
        other = found.get("prv", missing)
        own = found["ours"]
        cells = [row.name, f"{row.q:.4g}", f"{row.sigma:g}", f"{row.steps:,}", f"{row.delta:g}"]
        cells += [shown(lower(row)), shown(own.value), shown(found["google"].value)]
        cells += [shown(other.value), shown(found["ours_renyi"].value)]
        cells += [shown(found["google_renyi"].value), f"{own.median:.2f}"]
        cells += [ratio(found["google"], own), ratio(other, own)]
        cells += [ratio(found["google_renyi"], found["ours_renyi"])]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Run, print, and write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=int, default=120, help="seconds for one turn")
    parser.add_argument("--write", type=Path, help="page whose table is replaced")
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, _late)
    lines = table(given.repeats, given.limit)
    if given.write:
        page = given.write.read_text()
        before, rest = page.split(BEGIN)
        today = datetime.date.today().isoformat()
        note = (
            f"Measured on {today}: medians of {given.repeats} turns, all accountants by turns in "
            f"one process with one thread. Seconds are ours; ratios say how many times longer the "
            f"other took. Google's grid is {GRID:g}, PRV's error {PRV_ERROR:g}."
        )
        table_text = "\n".join([BEGIN, "", note, "", *lines, "", END])
        given.write.write_text(before + table_text + rest.split(END)[1])


if __name__ == "__main__":
    main()
