"""Confidence intervals for one share, from the exact binomial law of its noisy count.

Every method works on the reported share λ = slope · share + offset. That λ can only lie between
offset and offset + slope is what sets randomized response apart: methods that know it
(Feldman-Cousins, likelihood ratio) never give an empty interval, the others may.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, betaincinv, chdtri, expit, ndtri, xlog1py, xlogy

from deniable_protocol import EstimateError

from .design import Design

Method = Literal["feldman-cousins", "likelihood-ratio", "wilson", "clopper-pearson", "wald"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
EXACT_UP_TO: Final = 10_000
"""Reports up to which the default is Feldman-Cousins; above, likelihood ratio."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Interval:
    """Hold one interval for each count.

    Attributes:
        low: Lower ends, shares within [0, 1], in the shape of the counts.
        high: Upper ends, likewise; never below ``low``.
        method: The method that was used.
        outside: True where the method's own interval missed [0, 1]. Its nearest end, 0 or 1, then
            stands in for it as an interval of no length: the reports are unlikely whatever the
            share is, and the length says nothing about precision. Never for Feldman-Cousins and
            likelihood ratio.
    """

    low: Floats
    high: Floats
    method: Method
    outside: NDArray[np.bool_]


def default_method(reports: int) -> Method:
    """Name the method that is used where none is asked for.

    >>> default_method(2_000), default_method(1_000_000)
    ('feldman-cousins', 'likelihood-ratio')
    """
    return "feldman-cousins" if reports <= EXACT_UP_TO else "likelihood-ratio"


def interval(
    counts: ArrayLike,
    reports: int,
    design: Design,
    *,
    level: float = 0.95,
    method: Method | None = None,
) -> Interval:
    """Give a confidence interval for the true share behind each noisy count.

    Each interval is for its own share alone: intervals of several options do not hold all at
    once with the stated level.

    Args:
        counts: Reports that hold the option, 0 to *reports*; any shape.
        reports: Number of reports n; with none, every interval is [0, 1].
        design: How true shares turn into reported ones.
        level: Confidence level in (0, 1).
        method: One of ``METHODS``, or None for ``default_method(reports)``. Coverage is at least
            the level for ``feldman-cousins`` and ``clopper-pearson``, about the level for the
            others (at n = 50 and Warner's 3/4: at least 0.934 for ``wilson`` and
            ``likelihood-ratio``, 0.912 for ``wald``, all at a level of 0.95).

    Returns:
        The intervals, intersected with [0, 1].

    Raises:
        EstimateError: If a count, the level or the method is out of range.

    References:
        [FC98] G. J. Feldman and R. D. Cousins, Unified Approach to the Classical Statistical
        Analysis of Small Signals, Phys. Rev. D 57 (1998), 3873-3889.
        [CP34] C. J. Clopper and E. S. Pearson, The Use of Confidence or Fiducial Limits,
        Biometrika 26 (1934), 404-413.
        [Wil27] E. B. Wilson, Probable Inference, JASA 22 (1927), 209-212.

    >>> from fractions import Fraction
    >>> found = interval([40, 60], 200, Design(Fraction(1, 2), Fraction(1, 4)))
    >>> found.low.round(3).tolist(), found.high.round(3).tolist()
    ([0.0, 0.0], [0.048, 0.233])
    """
    found = np.asarray(counts)
    flat = _checked(found, reports).ravel()
    low, high, used = unclipped(flat, reports, design, level=level, method=method)
    return Interval(
        np.clip(low, 0, 1).reshape(found.shape),
        np.clip(high, 0, 1).reshape(found.shape),
        used,
        ((low > 1) | (high < 0)).reshape(found.shape),
    )


def unclipped(
    counts: ArrayLike,
    reports: int,
    design: Design,
    *,
    level: float = 0.95,
    method: Method | None = None,
) -> tuple[Floats, Floats, Method]:
    """Give the intervals as the method makes them, before they are intersected with [0, 1].

    For pooling with other studies, and for coverage: ``interval`` is what people should read.

    Returns:
        Lower ends, upper ends (shares, in the shape of the counts) and the method used.
    """
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")
    used = method or default_method(reports)
    if used not in _RULES:
        raise EstimateError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    found = _checked(np.asarray(counts), reports)
    if design.slope < 0:
        found, design = reports - found, design.mirrored
    if reports == 0:
        return np.zeros(found.shape), np.ones(found.shape), used
    least, most = float(design.offset), float(design.offset + design.slope)
    low, high = _RULES[used](found, reports, least, most, level)
    return (low - least) / (most - least), (high - least) / (most - least), used


def _checked(counts: NDArray[np.generic], reports: int) -> Counts:
    if counts.dtype.kind not in "iu" and counts.size:
        raise EstimateError(f"counts must be whole numbers, got {counts.dtype}")
    found = counts.astype(np.int64)
    if reports < 0 or np.any(found < 0) or np.any(found > reports):
        raise EstimateError(f"counts must be from 0 to the number of reports, {reports}")
    return found


def _wald(
    counts: Counts, n: int, _least: float, _most: float, level: float
) -> tuple[Floats, Floats]:
    seen = counts / n
    half = ndtri((1 + level) / 2) * np.sqrt(seen * (1 - seen) / n)
    return seen - half, seen + half


def _wilson(
    counts: Counts, n: int, _least: float, _most: float, level: float
) -> tuple[Floats, Floats]:
    seen, z2 = counts / n, ndtri((1 + level) / 2) ** 2
    centre = (seen + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (seen * (1 - seen) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return centre - half, centre + half


def _clopper_pearson(
    counts: Counts, n: int, _least: float, _most: float, level: float
) -> tuple[Floats, Floats]:
    tail = (1 - level) / 2
    low = betaincinv(np.maximum(counts, 1), n - np.maximum(counts, 1) + 1, tail)
    high = betaincinv(np.minimum(counts, n - 1) + 1, n - np.minimum(counts, n - 1), 1 - tail)
    return np.where(counts == 0, 0.0, low), np.where(counts == n, 1.0, high)


def _likelihood_ratio(
    counts: Counts, n: int, least: float, most: float, level: float
) -> tuple[Floats, Floats]:
    best = np.clip(counts / n, least, most)
    top = _log_likelihood(counts, n, best)
    cutoff = top - chdtri(1, 1 - level) / 2

    def end(edge: float) -> Floats:
        """Walk from the maximum towards one edge, to where the likelihood falls to the cutoff."""
        inside, outside = best.copy(), np.full_like(best, edge)
        accepted = _log_likelihood(counts, n, outside) >= cutoff
        for _ in range(60):
            middle = (inside + outside) / 2
            kept = _log_likelihood(counts, n, middle) >= cutoff
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        return np.where(accepted, edge, inside)

    return end(least), end(most)


def _log_likelihood(counts: Counts, n: int, reported: Floats) -> Floats:
    value: Floats = xlogy(counts, reported) + xlog1py(n - counts, -reported)
    return value


def _feldman_cousins(
    counts: Counts, n: int, least: float, most: float, level: float
) -> tuple[Floats, Floats]:
    different, places = np.unique(counts, return_inverse=True)
    every = np.arange(n + 1)
    best = _log_likelihood(every, n, np.clip(every / n, least, most))
    ends = np.array(
        [
            # The lower end is the upper end of "not reported".
            (1 - _upper(n - c, best[::-1], 1 - least, level), _upper(c, best, most, level))
            for c in different.tolist()
        ]
    ).reshape(-1, 2)[places]
    return np.maximum(ends[:, 0], least), np.minimum(ends[:, 1], most)


def _upper(count: int, best: Floats, most: float, level: float) -> float:
    """Find the largest λ whose acceptance set holds *count*, exactly.

    At λ, counts c are accepted in the order of log R(c) = ℓ(c; λ) − best(c) until their
    probability reaches the level [FC98, Section IV], so *count* is accepted iff the counts ahead
    of it have together less than that. Above the estimate those ahead are count + 1 … h − 1, where
    h is the first with R(h) ≤ R(count). Equality R(h) = R(count) is linear in logit λ, which gives
    the λ between any two values of h in closed form; between them h is constant, and
    P(count < c < h; λ) rises and then falls, since its derivative is n times the difference of the
    binomial (n − 1) probabilities of count and h − 1. So the last h accepted at its right end
    bounds the answer, but for a first part of the piece after it. What lies in between may be
    rejected: the interval is the convex hull, which only adds coverage.

    Args:
        count: The count, 0 to n.
        best: The largest log-likelihood of each count 0 … n over the λ that can occur.
        most: The largest λ that can occur.
        level: Confidence level.
    """
    n = len(best) - 1
    firsts = np.arange(count + 1, n + 2)
    # best is convex in the count, so the right ends rise with h.
    chords = (best[count + 1 :] - best[count]) / (firsts[:-1] - count)
    ends = np.append(np.minimum(expit(chords), most), most)
    # By Chernoff's bound P(c ≤ count) and P(c ≥ h) are at most R(count): acceptance, which
    # needs them to sum to more than 1 − level, is out of the question where R is under half that.
    ahead = _log_likelihood(np.array(count), n, ends) - best[count] >= math.log((1 - level) / 2)
    window = max(1, int(np.flatnonzero(ahead)[-1]) + 1) if ahead.any() else 1
    within = bdtr(firsts[:window] - 1, n, ends[:window]) - bdtr(count, n, ends[:window])
    last = int(np.flatnonzero(within < level)[-1])  # the first piece has nothing ahead of count

    def accepted(reported: float) -> bool:
        return bool(bdtr(count + last + 1, n, reported) - bdtr(count, n, reported) < level)

    inside = float(ends[last])
    if last + 1 == len(ends) or not accepted(inside):
        return inside
    outside = float(ends[last + 1])
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if accepted(middle) else (inside, middle)
    return inside


_Rule = Callable[[Counts, int, float, float, float], tuple[Floats, Floats]]
_RULES: Final[dict[Method, _Rule]] = {
    "feldman-cousins": _feldman_cousins,
    "likelihood-ratio": _likelihood_ratio,
    "wilson": _wilson,
    "clopper-pearson": _clopper_pearson,
    "wald": _wald,
}
