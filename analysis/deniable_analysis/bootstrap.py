"""Bootstrap intervals: what resampling the reports says, for when no formula does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from deniable_protocol import EstimateError

from .bits import column_sums, distinct
from .reports import Reports
from .shares import fill, fit_subsets
from .tally import Tally

Floats = NDArray[np.float64]
Estimator = Literal["mle", "moments"]

LEAST_REPLICATES: Final = 200


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """What an estimator does over resampled reports.

    Attributes:
        replicates: The estimated shares of each resample, float64, shape (replicates, options).
        low: Lower end of each option's percentile interval.
        high: Upper end.
        se: Standard deviation over resamples, for each option.
        level: Confidence level aimed at for each option by itself.
        seed: What the resampling started from; the same seed gives the same numbers.
    """

    replicates: Floats
    low: Floats
    high: Floats
    se: Floats
    level: float
    seed: int


def bootstrap(
    reports: Reports,
    question: str,
    *,
    estimator: Estimator = "mle",
    replicates: int = 2_000,
    level: float = 0.95,
    seed: int = 0,
) -> Bootstrap:
    """Resample the reports to one item and estimate its shares each time.

    Use it for functions of shares that have no interval of their own: take the function of each
    row of ``replicates``. For shares themselves the intervals of ``estimate`` are better: a
    percentile interval covers less than it says where shares are near 0, as
    ``docs/coverage.md`` shows.

    Args:
        reports: The noisy reports.
        question: Name of the item.
        estimator: The constrained maximum-likelihood shares, or the unbiased ones.
        replicates: Number of resamples; at least 200, and for tails beyond 2.5 % some thousands.
        level: Confidence level, in (0, 1).
        seed: Where the resampling starts. It is public and protects nothing.

    Raises:
        EstimateError: If there are no reports, or only counts of reports of several options.

    References:
        [Efr79] B. Efron, Bootstrap Methods: Another Look at the Jackknife, Ann. Stat. 7 (1979).

    >>> from deniable_protocol import Survey
    >>> from deniable_analysis import read_reports
    >>> survey = Survey.load({"name": "demo", "title": "Demo", "questions": [
    ...     {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "truth": "3/4"}]})
    >>> found = bootstrap(read_reports({"smokes": [60, 140]}, survey), "smokes")
    >>> found.low.round(2).tolist(), found.high.round(2).tolist()
    ([0.0, 0.78], [0.22, 1.0])
    """
    tally = reports[question]
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")
    if replicates < LEAST_REPLICATES:
        raise EstimateError(f"expected at least {LEAST_REPLICATES} replicates, got {replicates}")
    if tally.n == 0:
        raise EstimateError(f"there are no reports to {question!r} to resample")
    rng = np.random.default_rng(seed)
    drawn = _resampled(tally, estimator, replicates, rng)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Bootstrap(drawn, low, high, drawn.std(axis=0, ddof=1), level, seed)


def _resampled(
    tally: Tally, estimator: Estimator, replicates: int, rng: np.random.Generator
) -> Floats:
    channel, n = tally.channel, tally.n
    slope, offset = float(tally.design.slope), float(tally.design.offset)
    if channel.subset == 1:
        drawn = rng.multinomial(n, tally.counts / n, size=replicates)
        if estimator == "mle":
            return fill(drawn, channel)
        return np.asarray((drawn / n - offset) / slope, dtype=np.float64)
    rows, times = distinct(tally.rows[tally.sent], channel.options, channel.subset)
    found = np.empty((replicates, channel.options))
    for place in range(replicates):
        again = rng.multinomial(n, times / n).astype(np.float64)
        kept = again > 0
        if estimator == "mle":
            found[place] = fit_subsets(rows[kept], channel, again[kept]).shares
        else:
            found[place] = (column_sums(rows, again, channel.options) / n - offset) / slope
    return found
