"""Maximum likelihood for a mixture of known laws, with profile-likelihood intervals.

Each different report r has a known chance A[r, s] under every true state s, so the reports have
the log-likelihood Σ_r n_r log Σ_s A[r, s] π_s, which is concave in the shares π.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, nnls
from scipy.special import chdtri

from .shares import BestFit

Floats = NDArray[np.float64]

_NEWTON_STEPS: Final = 200
_TOLERANCE: Final = 1e-12
_FAR: Final = 1e9
"""Stands for an infinite loss of log-likelihood where a root is looked for."""


def fit_mixture(likelihoods: Floats, counts: Floats) -> BestFit:
    """Find the shares, at least 0 and adding to 1, that make the reports most likely.

    Newton steps on −mean log(A x) + Σ x over x ≥ 0, which has the same minimum as the simplex
    [KCSA20, Proposition 3.2], each with the exact curvature and shortened until it gains.

    Args:
        likelihoods: A, shape (reports, states); at least one state can have sent each report seen.
        counts: How often each report came, shape (reports,), at least one in all.

    References:
        [KCSA20] Y. Kim, P. Carbonetto, M. Stephens and M. Anitescu, A Fast Algorithm for Maximum
        Likelihood Estimation of Mixture Proportions Using Sequential Quadratic Programming,
        JCGS 29 (2020), 261-273, Section 3.
    """
    seen = counts > 0
    rows, weights = likelihoods[seen], counts[seen] / counts.sum()
    size = rows.shape[1]
    shares = np.full(size, 1 / size)
    for _ in range(_NEWTON_STEPS):
        mixed = rows @ shares
        gradient = rows.T @ (weights / mixed)
        if _violation(shares, gradient) <= _TOLERANCE:
            break
        curvature = (rows * (weights / mixed**2)[:, None]).T @ rows
        curvature += 1e-12 * np.trace(curvature) / size * np.eye(size)
        root = np.linalg.cholesky(curvature)
        pull = np.linalg.solve(root, curvature @ shares + gradient - 1)
        direction = nnls(root.T, pull)[0] - shares
        moved = _search(rows, weights, shares, direction, float((gradient - 1) @ direction))
        if moved is None:
            break
        shares = moved
    return BestFit(shares, _violation(shares, rows.T @ (weights / (rows @ shares))))


def log_likelihood(likelihoods: Floats, counts: Floats, shares: Floats) -> float:
    """Give Σ_r n_r log Σ_s A[r, s] π_s; −∞ where a report that came is impossible."""
    seen = counts > 0
    with np.errstate(divide="ignore"):
        return float(counts[seen] @ np.log(np.maximum(likelihoods[seen] @ shares, 0)))


def profile_interval(
    likelihoods: Floats, counts: Floats, fit: BestFit, state: int, level: float
) -> tuple[float, float]:
    """Give the shares of one state that the likelihood ratio does not reject, the others free.

    Within [0, 1] and never empty, since the best fit is always in it.

    Args:
        likelihoods: A, shape (reports, states).
        counts: How often each report came.
        fit: The best fit to them.
        state: Column of the state.
        level: Confidence level; the ratio is compared with chi-square on one degree of freedom.
    """
    top = log_likelihood(likelihoods, counts, fit.shares)
    drop = float(chdtri(1, 1 - level)) / 2
    others = np.delete(likelihoods, state, axis=1)
    own = likelihoods[:, state]

    def above(share: float) -> float:
        # With u the shares among the others, A π = (t·own + (1 − t)·others) u: a mixture again.
        fixed = share * own[:, None] + (1 - share) * others
        if np.any((fixed.max(axis=1) <= 0) & (counts > 0)):
            return -_FAR
        inner = fit_mixture(fixed, counts)
        return max(log_likelihood(fixed, counts, inner.shares) - top + drop, -_FAR)

    best = float(fit.shares[state])
    return _root(above, best, 0.0), _root(above, best, 1.0)


def _root(above: Callable[[float], float], inside: float, edge: float) -> float:
    """Find where something that is above 0 at *inside* falls to 0 on the way to *edge*."""
    if inside == edge or above(edge) >= 0:
        return edge
    return float(brentq(above, inside, edge, xtol=1e-12))


def walk(kept: Callable[[float], bool], inside: float, edge: float) -> float:
    """Find where a region that holds *inside* ends on the way to *edge*, by halving."""
    if kept(edge):
        return edge
    outside = edge
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if kept(middle) else (inside, middle)
    return inside


def _search(
    rows: Floats, weights: Floats, shares: Floats, direction: Floats, slope: float
) -> Floats | None:
    value, size = float(weights @ np.log(rows @ shares)), 1.0 if slope > 0 else 0.0
    while size > 1e-12:
        trial = np.maximum(shares + size * direction, 0.0)
        trial /= trial.sum()
        mixed = rows @ trial
        # At the last digits the likelihood is flat to rounding: 1e-15 lets the step through.
        if mixed.min() > 0 and float(weights @ np.log(mixed)) >= (
            value + 0.01 * size * slope - 1e-15 * abs(value)
        ):
            return np.asarray(trial)
        size /= 2
    return None


def _violation(shares: Floats, gradient: Floats) -> float:
    off = gradient - 1
    return float(np.max(np.where(shares > 0, np.abs(off), np.maximum(off, 0.0))))
