"""Sums of shares with weights, and ratios of two: means, groups of options, shares among some.

Whatever is linear in the true shares π is estimated by putting the unbiased scores z in their
place. Each respondent's value is then an ordinary observation, and ordinary survey statistics
apply; where reports hold one option, counts are enough.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from deniable_protocol import EstimateError

from .design import Design
from .intervals import Method, interval
from .tally import Tally

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """An estimated number with its interval.

    Attributes:
        value: The estimate; unbiased (for a ratio, nearly so), hence never clipped.
        se: Standard error of ``value``; NaN where it is not known.
        low: Lower end of the interval, within what is possible.
        high: Upper end.
    """

    value: float
    se: float
    low: float
    high: float


def weighted(tally: Tally, weights: ArrayLike) -> tuple[float, float]:
    """Estimate Σ weights_j π_j without bias.

    Args:
        tally: The reports to one item.
        weights: One number for each option.

    Returns:
        The estimate and its standard error. The error is NaN with fewer than two reports, and
        where reports hold several options of which only counts are known.
    """
    means, covariance = _moments(tally, np.asarray(weights, dtype=np.float64)[None, :])
    return float(means[0]), math.sqrt(max(covariance[0, 0], 0.0))


def mean_value(tally: Tally, weights: ArrayLike, *, level: float = 0.95) -> Measured:
    """Estimate Σ weights_j π_j, with a normal interval within what weights allow.

    The variance is taken about each value that is tried, as in a score test, and not about the
    estimate: (value − v)² ≤ z² (S² + (value − v)²)/n, a little longer and closer to the level.
    """
    factors = np.asarray(weights, dtype=np.float64)
    value, se = weighted(tally, factors)
    least, most = float(factors.min()), float(factors.max())
    z = float(ndtri((1 + level) / 2))
    if math.isnan(se) or tally.n <= z**2:
        return Measured(value, se, least, most)
    half = z * se * math.sqrt((tally.n - 1) / (tally.n - z**2))
    low, high = (min(max(end, least), most) for end in (value - half, value + half))
    return Measured(value, se, low, high)


def group_share(
    tally: Tally, options: Collection[int], *, level: float = 0.95, method: Method | None = None
) -> Measured:
    """Estimate the share of respondents whose true answer is one of several options.

    Where reports hold one option, the number of them within the group is binomial, so that the
    interval is as exact as that of a single option; else it is the normal one.

    Args:
        tally: The reports to one item.
        options: Indices of the options in the group; some but not all.
        level: Confidence level, in (0, 1).
        method: As in ``estimate``; used where the interval is exact.

    Raises:
        EstimateError: If the group is empty or has every option.
    """
    chosen, size = sorted(set(options)), tally.channel.options
    if not 0 < len(chosen) < size or chosen[0] < 0 or chosen[-1] >= size:
        raise EstimateError(f"expected some but not all of the options 0 to {size - 1}")
    weights = np.zeros(size)
    weights[chosen] = 1
    if tally.channel.subset > 1:
        return mean_value(tally, weights, level=level)
    value, se = weighted(tally, weights)
    design = Design.of_group(tally.channel, len(chosen))
    count = int(tally.counts[chosen].sum())
    found = interval([count], tally.n, design, level=level, method=method)
    return Measured(value, se, float(found.low[0]), float(found.high[0]))


def ratio(tally: Tally, top: ArrayLike, bottom: ArrayLike, *, level: float = 0.95) -> Measured:
    """Estimate Σ top_j π_j / Σ bottom_j π_j: a share or a mean among some of the respondents.

    The interval is Fieller's: every R for which Σ (top_j − R bottom_j) π_j is not significantly
    different from 0. Unlike value ± error it stays right where the denominator is barely known,
    and then grows to everything that is possible.

    Args:
        tally: The reports to one item.
        top: One number for each option; 0 outside the group.
        bottom: 1 for the options of the group and 0 for others.
        level: Confidence level, in (0, 1).

    Returns:
        The ratio of the two unbiased estimates, with a linearised standard error.

    References:
        [Fie54] E. C. Fieller, Some Problems in Interval Estimation, JRSS B 16 (1954), 175-185.
    """
    upper, lower = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    inside = upper[lower > 0]
    least, most = float(inside.min()), float(inside.max())
    means, covariance = _moments(tally, np.stack([upper, lower]))
    if math.isnan(covariance[0, 0]) or means[1] == 0:
        return Measured(float(means[0] / means[1]) if means[1] else math.nan, math.nan, least, most)
    value = float(means[0] / means[1])
    along = np.array([1.0, -value])
    se = math.sqrt(max(float(along @ covariance @ along), 0.0)) / abs(float(means[1]))
    z = float(ndtri((1 + level) / 2))
    # Under each R that is tried the expectation is 0, so its variance is taken about 0, as above.
    if tally.n <= z**2:
        return Measured(value, se, least, most)
    spread = covariance * ((tally.n - 1) / (tally.n - z**2))
    low, high = fieller(means, spread, z, least, most)
    return Measured(value, se, low, high)


def fieller(
    means: Floats, covariance: Floats, z: float, least: float, most: float
) -> tuple[float, float]:
    """Find the hull of the ratios R in [least, most] with (t − R b)² ≤ z² Var(t − R b).

    Args:
        means: Estimates of t and b, shape (2,).
        covariance: Theirs, shape (2, 2).
        z: Quantile of the normal law.
        least: The smallest ratio that is possible.
        most: The largest.
    """
    square = means[1] ** 2 - z**2 * covariance[1, 1]
    cross = means[0] * means[1] - z**2 * covariance[0, 1]
    rest = means[0] ** 2 - z**2 * covariance[0, 0]

    def fits(ratio: float) -> bool:
        return bool(square * ratio**2 - 2 * cross * ratio + rest <= 0)

    under_root = cross**2 - square * rest
    if square != 0 and under_root >= 0:
        roots = (cross + math.sqrt(under_root) * np.array([-1.0, 1.0])) / square
    else:
        roots = np.array([rest / (2 * cross)]) if square == 0 and cross != 0 else np.array([])
    ends = [float(root) for root in roots if least <= root <= most]
    ends += [end for end in (least, most) if fits(end)]
    if ends:
        return min(ends), max(ends)
    # Nothing possible fits: the nearest end stands in for an interval, as in ``Interval``. The
    # estimated ratio itself always fits, so here it is not possible.
    nearest = least if means[0] / means[1] < least else most
    return nearest, nearest


def _moments(tally: Tally, weights: Floats) -> tuple[Floats, Floats]:
    """Estimate several weighted sums, and the covariance of the estimates.

    Args:
        tally: The reports to one item.
        weights: float64, shape (sums, options).

    Returns:
        Estimates, shape (sums,), and covariances, shape (sums, sums); NaN where not known.
    """
    slope, offset = float(tally.design.slope), float(tally.design.offset)
    n, size = tally.n, len(weights)
    nothing = np.full((size, size), np.nan)
    if n == 0:
        return np.full(size, np.nan), nothing
    means = weights @ ((tally.counts / n - offset) / slope)
    if n == 1:
        return means, nothing
    if tally.channel.subset == 1:
        scored, times = (weights - offset * weights.sum(axis=1)[:, None]) / slope, tally.counts
    elif tally.bits is None:
        return means, nothing
    else:
        sent = tally.sent
        scored = np.stack([tally.values(row)[sent] for row in weights])
        times = np.ones(n, dtype=np.int64)
    off = scored - means[:, None]
    return means, np.asarray((off * times) @ off.T / (n - 1) / n, dtype=np.float64)
