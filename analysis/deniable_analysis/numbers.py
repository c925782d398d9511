"""Means, spread and quantiles of numbers and scales, from the shares of a few points.

A number is rounded by the device to one of a few grid points, without bias, before noise is added.
So the mean of the points is the mean of the numbers. Their spread is a little larger, by at most a
quarter of the squared distance of two points, and their cumulative share at a point is the average
of the numbers' over the cell above it; both are said here and not hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from deniable_protocol import EstimateError, Question

from .intervals import interval
from .linear import Measured, group_share, mean_value, ratio, weighted
from .reports import Reports
from .shares import fit_counts, fit_subsets
from .tally import Tally

Floats = NDArray[np.float64]

QUANTILES: Final = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Cumulative:
    """How many are at most one value.

    Attributes:
        value: A grid point, or a score of a scale.
        share: Best estimate of the share at or below it, from 0 to 1 and never falling.
        low: Lower end of the interval for this value alone.
        high: Upper end.
    """

    value: float
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Quantile:
    """The value that a given share of people are at or below.

    Attributes:
        at: The share, 0.5 for the median.
        value: The estimate, between two points of a number; NaN without reports.
        low: Lower end of the interval.
        high: Upper end.
    """

    at: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class NumberEstimate:
    """What the reports say about a number or a scale, among those who gave an answer.

    Attributes:
        question: The question.
        n: Number of reports.
        mean: The mean, in the question's unit; unbiased where everybody answers.
        variance: The variance, in squared units. The estimate is not clipped: noise can make it
            negative. Its interval is at least 0.
        rounding: The most that rounding to points can have added to the variance; 0 for a scale,
            and for a number whose every step is a point.
        spread: Standard deviation of the best fit; NaN without one. Includes rounding.
        cumulative: One entry for each point, rising; the last share is 1.
        quantiles: One entry for each quantile asked for.
        level: Confidence level of each interval by itself.
    """

    question: Question
    n: int
    mean: Measured
    variance: Measured
    rounding: float
    spread: float
    cumulative: tuple[Cumulative, ...]
    quantiles: tuple[Quantile, ...]
    level: float

    @property
    def unit(self) -> str:
        """The unit with a space before it, or nothing."""
        grid = self.question.grid
        return f" {grid.unit}" if grid is not None and grid.unit is not None else ""

    def __str__(self) -> str:
        rows = [("mean", self.mean)]
        rows += [(f"{100 * q.at:g} % quantile", q) for q in self.quantiles]  # type: ignore[misc]  # both print alike
        return "\n".join(
            f"{name:<14}{found.value:.4g}{self.unit}  "
            f"({found.low:.4g} to {found.high:.4g}{self.unit})"
            for name, found in rows
        )


def describe(
    reports: Reports,
    question: str,
    *,
    level: float = 0.95,
    quantiles: Sequence[float] = QUANTILES,
) -> NumberEstimate:
    """Estimate mean, variance, quantiles and cumulative shares of a ``number`` or a ``scale``.

    Means and variances are linear in the unbiased shares, so no model of the answers is assumed.
    Where the question may be skipped or hidden, everything is about those who answered.

    Args:
        reports: The noisy reports.
        question: Name of the question.
        level: Confidence level of each interval, in (0, 1).
        quantiles: Shares to find the quantiles of, each in (0, 1).

    Raises:
        EstimateError: If the question is of another kind, or has no such name.

    References:
        [Woo52] R. Woodruff, Confidence Intervals for Medians and Other Position Measures, JASA 47
        (1952), 635-646: quantile intervals from those of the cumulative shares.

    >>> from deniable_protocol import Survey
    >>> from deniable_analysis import read_reports
    >>> survey = Survey.load({"name": "demo", "title": "Demo", "privacy": {"epsilon": 3},
    ...     "questions": [{"name": "hours", "kind": "number", "text": "Hours?", "min": 0, "max": 60,
    ...                    "step": 1, "unit": "h", "points": 4}]})
    >>> found = describe(read_reports({"hours": [100, 200, 400, 300]}, survey), "hours")
    >>> f"{found.mean.value:.2f}{found.unit} ± {found.mean.se:.2f}"
    '39.68 h ± 0.72'
    """
    tally = reports[question]
    points = _points(tally.question)
    if any(not 0 < at < 1 for at in quantiles):
        raise EstimateError(f"quantiles must be between 0 and 1, got {list(quantiles)!r}")
    best = _best(tally)
    grid = tally.question.grid
    coarse = grid is not None and grid.steps != len(points) - 1
    steps = _cumulative(tally, points, best, level)
    mean, variance = _mean_and_variance(tally, points, level)
    return NumberEstimate(
        question=tally.question,
        n=tally.n,
        mean=mean,
        variance=variance,
        rounding=float(np.diff(points).max() ** 2 / 4) if coarse else 0.0,
        spread=math.sqrt(max(0.0, float(best @ points**2 - (best @ points) ** 2))),
        cumulative=steps,
        quantiles=tuple(_quantile(at, steps, coarse) for at in quantiles),
        level=level,
    )


def _points(question: Question) -> Floats:
    if question.grid is not None:
        return np.array([float(value) for value in question.grid.points(question.points)])
    if question.scores:
        return np.array([float(score) for score in question.scores])
    raise EstimateError(
        f"expected a number or a scale, got question {question.name!r} of kind {question.kind!r}"
    )


def _best(tally: Tally) -> Floats:
    """Give the best fit among those who answered; NaN where there is none."""
    size = tally.answering
    if tally.n == 0 or (tally.channel.subset > 1 and tally.bits is None):
        return np.full(size, np.nan)
    if tally.channel.subset == 1:
        shares = fit_counts(tally.counts, tally.channel).shares
    else:
        shares = fit_subsets(tally.rows[tally.sent], tally.channel).shares
    total = shares[:size].sum()
    return shares[:size] / total if total > 0 else np.full(size, np.nan)


def _padded(tally: Tally, values: Floats) -> Floats:
    """Add a 0 for "no answer" and for "not asked"."""
    return np.concatenate([values, np.zeros(tally.channel.options - len(values))])


def _mean_and_variance(tally: Tally, points: Floats, level: float) -> tuple[Measured, Measured]:
    answered = _padded(tally, np.ones(len(points)))
    if tally.answering < tally.channel.options:
        mean = ratio(tally, _padded(tally, points), answered, level=level)
        square = ratio(tally, _padded(tally, points**2), answered, level=level)
        share = weighted(tally, answered)[0]
    else:
        mean = _mean(tally, points, level)
        square = mean_value(tally, points**2, level=level)
        share = 1.0
    value = square.value - mean.value**2
    # The first-order part: the variance moves by the mean of (x − m)² − v.
    along = _padded(tally, (points - mean.value) ** 2 - value)
    if math.isnan(mean.value):
        return mean, Measured(math.nan, math.nan, 0.0, _most_variance(points))
    se = weighted(tally, along)[1] / abs(share)
    if math.isnan(se):
        return mean, Measured(value, se, 0.0, _most_variance(points))
    half = se * float(ndtri((1 + level) / 2))
    low, high = (min(max(end, 0.0), _most_variance(points)) for end in (value - half, value + half))
    return mean, Measured(value, se, low, high)


def _mean(tally: Tally, points: Floats, level: float) -> Measured:
    if len(points) > 2:
        return mean_value(tally, points, level=level)
    # Two points: the mean is a share, and a share has exact intervals.
    value, se = weighted(tally, points)
    low, width = float(points[0]), float(points[1] - points[0])
    found = interval([int(tally.counts[1])], tally.n, tally.design, level=level)
    ends = sorted(low + width * float(end[0]) for end in (found.low, found.high))
    return Measured(value, se, ends[0], ends[1])


def _most_variance(points: Floats) -> float:
    return float((points.max() - points.min()) ** 2 / 4)


def _cumulative(tally: Tally, points: Floats, best: Floats, level: float) -> tuple[Cumulative, ...]:
    order = np.argsort(points, kind="stable")
    everyone = tally.answering == tally.channel.options
    answered = _padded(tally, np.ones(len(points)))
    found = []
    for place in range(len(points)):
        below = order[: place + 1]
        share = float(best[below].sum())
        if place == len(points) - 1:
            low = high = 1.0
        elif everyone:
            one = group_share(tally, below.tolist(), level=level)
            low, high = one.low, one.high
        else:
            held = np.zeros(tally.channel.options)
            held[below] = 1
            among = ratio(tally, held, answered, level=level)
            low, high = among.low, among.high
        found.append(Cumulative(float(points[order[place]]), min(share, 1.0), low, high))
    return tuple(found)


def _quantile(at: float, steps: tuple[Cumulative, ...], coarse: bool) -> Quantile:
    """Invert the cumulative shares.

    On a coarse grid P(point ≤ g_j) is the average of the numbers' cumulative share between g_j and
    g_{j+1}, so it stands at the middle of that cell, and lies between the cumulative shares at its
    two ends. That gives an interval that holds whatever the numbers are within their cells.
    """
    values = [step.value for step in steps]
    if math.isnan(steps[0].share):
        return Quantile(at, math.nan, values[0], values[-1])
    surely_above = [place for place, step in enumerate(steps) if step.high < at]
    surely_below = [place for place, step in enumerate(steps) if step.low >= at]
    first = surely_above[-1] if surely_above else -1
    last = surely_below[0] + coarse
    # On a fine grid a value that is not above g_first is at least the next point.
    low = values[max(first, 0)] if coarse else values[first + 1]
    high = values[min(last, len(values) - 1)]
    shares = np.array([step.share for step in steps])
    if not coarse:
        return Quantile(at, values[int(np.argmax(shares >= at - 1e-12))], low, high)
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    heights = np.concatenate([[0.0], shares[:-1], [1.0]])
    value = float(np.interp(at, heights, [values[0], *middles, values[-1]]))
    return Quantile(at, value, low, high)
