"""Intervals that may be looked at every day: they hold at all times at once.

An ordinary interval holds for one look. Who looks daily, and stops when the answer pleases, will
find an interval that misses the truth sooner or later. A confidence sequence misses it at any time
ever with a chance of at most 1 − level. It needs only the count and the number of reports so far,
so it suits a server that does not store the order in which reports arrived.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import logsumexp, xlog1py, xlogy

from deniable_protocol import EstimateError

from .design import Design
from .linear import Measured
from .paper_fit import walk

Floats = NDArray[np.float64]

_NODES: Final = leggauss(200)
_DROP: Final = 60.0
"""Where the likelihood has fallen by e⁻⁶⁰, the integral is cut off: that only widens intervals."""


def always_valid(
    count: int, reports: int, design: Design, *, level: float = 0.95
) -> tuple[float, float]:
    """Give an interval for a share that holds at every number of reports at once.

    M(λ) = ∫ L(λ′) dλ′ / L(λ), averaged over the reported shares λ′ that can occur, is a martingale
    that starts at 1 if λ is true; by Ville's inequality it ever reaches 1/(1 − level) with a chance
    of at most 1 − level. The interval is where it has not. The best λ′ is always in it, so it is
    never empty, whatever came.

    Args:
        count: Reports that say yes (that hold the option) so far.
        reports: Number of reports so far.
        design: How true shares turn into reported ones.
        level: Confidence level for all times together, in (0, 1).

    Returns:
        Lower and upper end, within [0, 1].

    Raises:
        EstimateError: If the level or the count is out of range.

    References:
        [Rob70] H. Robbins, Statistical Methods Related to the Law of the Iterated Logarithm,
        Ann. Math. Stat. 41 (1970), 1397-1409.
        [Vil39] J. Ville, Étude critique de la notion de collectif, 1939.

    >>> from fractions import Fraction
    >>> low, high = always_valid(700, 2000, Design(Fraction(1, 2), Fraction(1, 4)))
    >>> round(low, 3), round(high, 3)
    (0.128, 0.275)
    """
    _check(level)
    if not 0 <= count <= reports:
        raise EstimateError(f"count must be from 0 to the number of reports, {reports}")
    if reports == 0:
        return 0.0, 1.0
    least, most = sorted(float(design.offset + design.slope * x) for x in (0, 1))

    def log_likelihood(reported: Floats | float) -> Floats:
        found: Floats = xlogy(count, reported) + xlog1py(reports - count, -np.asarray(reported))
        return found

    best = min(max(count / reports, least), most)
    top = float(log_likelihood(best))
    average = _log_average(log_likelihood, best, top, least, most)
    limit = average + math.log(1 - level)

    def kept(reported: float) -> bool:
        return bool(log_likelihood(reported) > limit)

    ends = walk(kept, best, least), walk(kept, best, most)
    low, high = sorted((end - float(design.offset)) / float(design.slope) for end in ends)
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def always_valid_mean(
    total: float, reports: int, low: float, high: float, *, level: float = 0.95,
    tuned_for: int = 1000,
) -> Measured:  # fmt: skip
    """Give an interval for a mean of bounded values that holds at every number of reports at once.

    Values between *low* and *high* are sub-Gaussian with standard deviation (high − low)/2, so
    with s = n(high − low)²/4 the normal mixture gives
    |mean − truth| ≤ √((s + ρ) ln((s + ρ)/(ρ α²))) / n at all n at once with chance 1 − α.

    Args:
        total: Sum of the values so far: of the de-biased scores of reports, or of anything.
        reports: Number of values so far.
        low: Least possible value; for scores of a scale see ``score_range``.
        high: Greatest possible value.
        level: Confidence level for all times together, in (0, 1).
        tuned_for: Number of reports at which the interval is to be shortest; chosen beforehand.

    Raises:
        EstimateError: If something is out of range.

    References:
        [HRMS21] S. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, Time-uniform, Nonparametric,
        Nonasymptotic Confidence Sequences, Ann. Stat. 49 (2021), 1055-1080, Section 3.2.

    >>> found = always_valid_mean(300.0, 1000, -0.5, 1.5)
    >>> round(found.low, 3), round(found.high, 3)
    (0.204, 0.396)
    """
    _check(level)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise EstimateError("expected finite bounds, the lower one first")
    if reports < 0 or tuned_for < 1:
        raise EstimateError("expected at least 0 reports, and tuned_for of at least 1")
    if reports == 0:
        return Measured(math.nan, math.nan, low, high)
    if not reports * low - 1e-6 <= total <= reports * high + 1e-6:
        raise EstimateError("the total does not fit the bounds")
    alpha, unit = 1 - level, (high - low) ** 2 / 4
    # ρ that makes the bound shortest near n: s/ρ ≈ −ln α² + ln(1 − ln α²) [HRMS21, Section 3.5].
    spread = -2 * math.log(alpha)
    rho = tuned_for * unit / (spread + math.log(1 + spread))
    seen = reports * unit
    half = math.sqrt((seen + rho) * math.log((seen + rho) / (rho * alpha**2))) / reports
    value = total / reports
    return Measured(value, math.nan, max(value - half, low), min(value + half, high))


def score_range(design: Design, values: NDArray[np.float64]) -> tuple[float, float]:
    """Give the least and greatest score of one report that holds one option, for its values.

    A report of option j has the score (v_j − offset · Σ v) / slope.

    >>> from fractions import Fraction
    >>> score_range(Design(Fraction(1, 2), Fraction(1, 4)), np.array([0.0, 1.0]))
    (-0.5, 1.5)
    """
    scores = (values - float(design.offset) * values.sum()) / float(design.slope)
    return float(scores.min()), float(scores.max())


def daily_sentence(low: float, high: float, level: float) -> str:
    """Say in plain words what such an interval promises."""
    return (
        f"Between {100 * low:.1f} % and {100 * high:.1f} %. This may be looked at as often as you "
        f"like, and the survey stopped at any time: in {100 * level:g} % of surveys every one of "
        "these intervals holds the true share."
    )


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")


def _log_average(
    log_likelihood: Callable[[Floats], Floats], best: float, top: float, least: float, most: float
) -> float:
    """Give the logarithm of the mean likelihood over [least, most], from below.

    The likelihood is log-concave, so all that matters is where it is near its top.
    """

    def near(reported: float) -> bool:
        return bool(log_likelihood(np.array(reported)) > top - _DROP)

    parts = []
    for edge in (least, most):
        end = walk(near, best, edge)
        half = abs(end - best) / 2
        if half > 0:
            points = (end + best) / 2 + half * _NODES[0]
            parts.append(log_likelihood(points) + np.log(half * _NODES[1]))
    return float(logsumexp(np.concatenate(parts))) - math.log(most - least)
