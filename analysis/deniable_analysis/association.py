"""How strongly two true answers go together: difference, ratio, odds ratio, φ, correlation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import chdtri, log_softmax, logsumexp, ndtri

from deniable_protocol import EstimateError

from .crosstab_scores import Pair, Variable, reported
from .linear import Measured
from .paper_fit import fit_mixture, log_likelihood

Floats = NDArray[np.float64]

_MOST_LOG_ODDS: Final = 30.0


@dataclass(frozen=True)
class Association:
    """Say how the second variable differs between two groups of the first's true answers.

    Where an estimated share is not between 0 and 1, as noise can have it, some of these are not
    numbers; ``reason`` then says why. Their intervals may still be known.

    Attributes:
        difference: Share in the group less that in the other, −1 to 1.
        ratio: The one share over the other.
        odds_ratio: The one's odds over the other's. For two variables of two states each the
            interval is of the likelihood ratio, which no estimate outside [0, 1] can break.
        phi: Correlation of the two indicators, −1 to 1.
        reason: Why a number is missing; empty if none is.
    """

    difference: Measured
    ratio: Measured
    odds_ratio: Measured
    phi: Measured
    reason: str


def associate(pair: Pair, row: int, column: int, other: int | None, level: float) -> Association:
    """Compare those in a row with another row, or with everybody else, by one column."""
    left, right = pair.scores
    inside = left[:, row]
    against = 1 - inside if other is None else left[:, other]
    hit = right[:, column]
    means, covariance = pair.means(np.column_stack([inside * hit, inside, against * hit, against]))
    reason = _reason(means)
    z = float(ndtri((1 + level) / 2))
    nothing = Measured(math.nan, math.nan, math.nan, math.nan)
    groups_known = means[1] > 0 and means[3] > 0
    difference = _delta(_difference, means, covariance, z, (-1, 1)) if groups_known else Measured(
        math.nan, math.nan, -1.0, 1.0
    )  # fmt: skip
    shares = means[[0, 2]] / means[[1, 3]] if groups_known else np.array([math.nan, math.nan])
    ratio = _log_delta(_ratio, means, covariance, z) if np.all(shares > 0) else nothing
    inner = bool(np.all((shares > 0) & (shares < 1)))
    odds = _log_delta(_odds_ratio, means, covariance, z) if inner else nothing
    if other is None and left.shape[1] == right.shape[1] == 2 and pair.sample is None:
        odds = _profiled(pair, odds, level, flip=(row + column) % 2 == 1)
    total = means[0] + means[2]
    margins = groups_known and 0 < total < means[1] + means[3]
    phi = _delta(_phi, means, covariance, z, (-1, 1)) if margins else nothing
    return Association(difference, ratio, odds, phi, reason)


def correlation(variable: Variable, numbers: ArrayLike, *, level: float = 0.95) -> Measured:
    """Correlate true answers with numbers that are known of each respondent.

    The covariance of z with the numbers is that of the true answers; only its scale must be that
    of the true answers' variance, which follows from their share (or from a scale's numbers).

    Args:
        variable: Reports of a variable with two states, or whose states are numbers.
        numbers: One number for each respondent.
        level: Confidence level.

    Returns:
        The correlation, with a delta-method error; NaN where an estimated share is not between 0
        and 1, so that the true answers' variance is not known.

    References:
        [FT84] J. A. Fox and P. E. Tracy, Measuring Associations with Randomized Response, Social
        Science Research 13 (1984), 188-197.
    """
    answers = reported(variable)
    values = answers.values
    if values is None:
        if len(answers.states) != 2:
            raise EstimateError("a correlation needs two states, or states that are numbers")
        values = np.array([0.0, 1.0])
    known = np.asarray(numbers, dtype=np.float64)
    if known.shape != (answers.n,) or not np.all(np.isfinite(known)):
        raise EstimateError(f"expected {answers.n} finite numbers, one for each respondent")
    sent = answers.sent
    codes = answers.codes[sent]
    found = _Correlated.of(answers.scores[codes], values, known[sent], answers.law_of[codes])
    if found is None:
        return Measured(math.nan, math.nan, -1.0, 1.0)
    z = float(ndtri((1 + level) / 2))
    low, high = (min(max(found.value + side * z * found.se, -1.0), 1.0) for side in (-1, 1))
    return Measured(found.value, found.se, low, high)


@dataclass(frozen=True)
class _Correlated:
    """A correlation with its error, from the influence of every respondent on it."""

    value: float
    se: float

    @classmethod
    def of(
        cls, scores: Floats, values: Floats, known: Floats, laws: NDArray[np.int64]
    ) -> _Correlated | None:
        """Average the correlations under each design, the more precise with more weight.

        Scores under a design of little slope are scattered widely; put together without regard to
        that, a few of them would drown the rest.
        """
        first, second = scores @ values, scores @ values**2
        parts = [part for law in np.unique(laws) if (part := laws == law).sum() > 2]
        if not parts:
            return None
        weights = np.array([part.sum() / max(float(first[part].var()), 1e-300) for part in parts])
        weights /= weights.sum()
        mean, square = (
            sum(w * column[part].mean() for w, part in zip(weights, parts, strict=True))
            for column in (first, second)
        )
        spread = float(square - mean**2)
        if spread <= 0 or any(known[part].var() <= 0 for part in parts):
            return None
        value, moved = 0.0, []
        for weight, part in zip(weights, parts, strict=True):
            off, away = first[part] - first[part].mean(), known[part] - known[part].mean()
            slope, size = float((off * away).mean()), float((away**2).mean())
            share = weight * slope / math.sqrt(size * spread)
            value += share
            by_slope = weight * (off * away - slope) / math.sqrt(size * spread)
            by_size = -share * (away**2 - size) / (2 * size)
            moved.append(by_slope + by_size)
        variance = 0.0
        for weight, part, own in zip(weights, parts, moved, strict=True):
            by_spread = (
                second[part] - second[part].mean() - 2 * mean * (first[part] - first[part].mean())
            )
            influence = own - value * weight * by_spread / (2 * spread)
            variance += float((influence**2).mean()) / int(part.sum())
        return cls(value, math.sqrt(variance))


def _difference(m: Any) -> Any:
    return m[0] / m[1] - m[2] / m[3]


def _ratio(m: Any) -> Any:
    return m[0] * m[3] / (m[1] * m[2])


def _odds_ratio(m: Any) -> Any:
    return m[0] * (m[3] - m[2]) / (m[2] * (m[1] - m[0]))


def _phi(m: Any) -> Any:
    total, hits = m[1] + m[3], m[0] + m[2]
    return (m[0] * m[3] - m[2] * m[1]) / np.sqrt(m[1] * m[3] * hits * (total - hits))


def _gradient(measure: Callable[[Any], Any], means: Floats) -> Floats:
    """Differentiate by an imaginary step, which loses no digits."""
    step = 1e-30
    shifts = means + 1j * step * np.eye(len(means))
    return np.array([float(measure(m).imag) / step for m in shifts])


def _delta(
    measure: Callable[[Any], Any], means: Floats, covariance: Floats, z: float,
    within: tuple[float, float],
) -> Measured:  # fmt: skip
    value = float(measure(means))
    slope = _gradient(measure, means)
    se = math.sqrt(max(float(slope @ covariance @ slope), 0.0))
    low, high = (min(max(end, within[0]), within[1]) for end in (value - z * se, value + z * se))
    return Measured(value, se, low, high)


def _log_delta(
    measure: Callable[[Any], Any], means: Floats, covariance: Floats, z: float
) -> Measured:
    found = _delta(measure, means, covariance, z, (-math.inf, math.inf))
    with np.errstate(over="ignore"):
        factor = float(np.exp(z * found.se / found.value))
    return Measured(found.value, found.se, found.value / factor, found.value * factor)


def _reason(means: Floats) -> str:
    if means[1] <= 0 or means[3] <= 0:
        return "one of the two groups has an estimated share of 0 or less"
    shares = means[[0, 2]] / means[[1, 3]]
    if np.any((shares <= 0) | (shares >= 1)):
        return "an estimated share within a group is not between 0 and 1"
    return ""


def _profiled(pair: Pair, found: Measured, level: float, *, flip: bool) -> Measured:
    """Put the likelihood-ratio interval around an odds ratio of two states by two."""
    rows, counts = pair.likelihoods(), pair.times
    fit = fit_mixture(rows, counts)
    top = log_likelihood(rows, counts, fit.shares)
    drop = float(chdtri(1, 1 - level)) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(fit.shares)
        middle = float(logs[0] + logs[3] - logs[1] - logs[2])
        parts = np.log(rows)
    inside = min(max(0.0 if math.isnan(middle) else middle, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)
    floored = np.log(np.maximum(fit.shares, 1e-13))
    to_row, to_column, to_both = (
        floored[2] - floored[0],
        floored[1] - floored[0],
        (floored[3] - floored[0]),
    )

    def above(log_odds: float) -> float:
        def loss(margins: Floats) -> tuple[float, Floats]:
            cells = log_softmax(np.array([0.0, margins[1], margins[0], margins.sum() + log_odds]))
            joint = parts + cells
            rows_logs = logsumexp(joint, axis=1, keepdims=True)
            off = counts @ np.exp(joint - rows_logs) - counts.sum() * np.exp(cells)
            return -float(counts @ rows_logs[:, 0]), -np.array([off[2] + off[3], off[1] + off[3]])

        starts = (
            [to_row, to_column],
            [to_both - to_column - log_odds, to_column],
            [to_row, to_both - to_row - log_odds],
        )
        ends = [minimize(loss, np.array(start), jac=True, method="BFGS") for start in starts]
        return drop - top - min(float(end.fun) for end in ends)

    def end(edge: float) -> float:
        if inside == edge or above(edge) >= 0:
            return math.copysign(math.inf, edge)
        return float(brentq(above, inside, edge, xtol=1e-6)) if above(inside) > 0 else inside

    low, high = end(-_MOST_LOG_ODDS), end(_MOST_LOG_ODDS)
    if flip:
        low, high, middle = -high, -low, -middle
    value = found.value
    if math.isnan(value) and not math.isnan(middle):
        value = math.exp(middle) if abs(middle) < 700 else (0.0 if middle < 0 else math.inf)
    ends = [math.exp(e) if math.isfinite(e) else (0.0 if e < 0 else math.inf) for e in (low, high)]
    return Measured(value, found.se, ends[0], ends[1])
