"""Counts for a Prometheus server, which asks every few seconds and keeps what it was told.

So that its records do not hold when a single report came in, counts are rounded down to tens.
"""

from __future__ import annotations

import os
from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING, Final

from .contract import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

STEP: Final = 10

_refused: Counter[str] = Counter()
_lock = Lock()


def refused(reason: str) -> None:
    """Count a refusal of this process, by its reason and nothing else."""
    with _lock:
        _refused[reason] += 1


def exposition(store: Store) -> bytes | None:
    """Write all counts in Prometheus' text format; None if its library is not installed."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest
    except ModuleNotFoundError:
        return None
    registry = CollectorRegistry()
    registry.register(_Counts(store))
    return generate_latest(registry)


class _Counts:
    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """Make the counts as they are now."""
        from prometheus_client.core import CounterMetricFamily

        stored = CounterMetricFamily(
            "deniable_reports", f"Reports stored, rounded down to a multiple of {STEP}.",
            labels=["survey", "version"],
        )  # fmt: skip
        for each in self._store.readable_surveys()[0]:
            count = sum(self._store.days(each).values())
            stored.add_metric([each.survey.name, str(each.version)], count // STEP * STEP)
        yield stored
        # Refusals are counted in each process by itself; a worker that is replaced starts at 0.
        answers = CounterMetricFamily(
            "deniable_refused", f"Requests refused, rounded down to a multiple of {STEP}.",
            labels=["reason", "worker"],
        )  # fmt: skip
        with _lock:
            counts = sorted(_refused.items())
        for reason, count in counts:
            answers.add_metric([reason, str(os.getpid())], count // STEP * STEP)
        yield answers
