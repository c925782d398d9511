"""Point estimates of every option's share: unbiased moments, and the maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from deniable_protocol import Channel

from .bits import Bits, column_sums, distinct, gram, row_sums
from .design import Design

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_NEWTON_STEPS: Final = 100
_TOLERANCE: Final = 1e-9
_CURVATURE_ROWS: Final = 32_768
_STALE: Final = 0.3
"""A step that leaves more than this of the violation asks for the curvature at the new place."""


@dataclass(frozen=True, eq=False)
class BestFit:
    """Hold the shares that make the reports most likely, among those from 0 to 1 that add to 1.

    Attributes:
        shares: float64, shape (options,); 0 at the boundary, exactly.
        kkt: The largest violation of the optimality conditions: κ_j = 1 where a share is above 0
            and κ_j ≤ 1 where it is 0, κ_j being the mean over reports of P(S | j) / P(S).
    """

    shares: Floats
    kkt: float


def moments(counts: Counts, reports: int, design: Design) -> tuple[Floats, Floats]:
    """Estimate shares without bias, each with its standard error.

    The estimate is the mean of the reports' de-biased scores z. It is not clipped, so it may lie
    outside [0, 1]: only so is it unbiased, and fit for pooling with other studies.

    Args:
        counts: Reports that hold each option, shape (options,).
        reports: Number of reports n.
        design: How true shares turn into reported ones.

    Returns:
        Shares and standard errors, both float64 of the shape of *counts*; the squared error is
        the unbiased sample variance of z over n (so it divides by n − 1). NaN where n is too
        small: 0 for the share, 1 for the error.

    >>> from fractions import Fraction
    >>> share, error = moments(np.array([60]), 200, Design(Fraction(1, 2), Fraction(1, 4)))
    >>> round(float(share[0]), 6), round(float(error[0]), 6)
    (0.1, 0.06497)
    """
    slope, offset = float(design.slope), float(design.offset)
    nothing = np.full(np.shape(counts), np.nan)
    if reports == 0:
        return nothing, nothing
    seen = counts / reports
    shares = (seen - offset) / slope
    if reports == 1:
        return shares, nothing
    return shares, np.sqrt(seen * (1 - seen) / (reports - 1)) / abs(slope)


def fit_counts(counts: Counts, channel: Channel) -> BestFit:
    """Find the maximum-likelihood shares for reports of one option, in closed form.

    Maximising Σ C_j log(q + (p−q) π_j) gives π_j = max(0, C_j/μ − t), t = q/(p−q): water filling
    from the largest count down, with μ such that the shares add to 1.

    Args:
        counts: Reports that hold each option, shape (options,), with at least one report.
        channel: A channel with subset size 1.
    """
    bottom = float(channel.q / (channel.p - channel.q))
    shares = fill(counts[None, :], channel)[0]
    mixture = bottom + shares
    # A count of 0 can have no say, and the others cannot have a mixture of 0.
    ratios = np.divide(counts, mixture, where=counts > 0, out=np.zeros(len(counts)))
    return BestFit(shares, _violation(shares, (bottom * ratios.sum() + ratios) / counts.sum()))


def fill(counts: Counts, channel: Channel) -> Floats:
    """Find the shares of ``fit_counts`` for many tables of counts at once.

    Args:
        counts: Shape (tables, options), each table with at least one report.
        channel: A channel with subset size 1.

    Returns:
        float64, shape (tables, options).
    """
    bottom = float(channel.q / (channel.p - channel.q))
    size = counts.shape[1]
    falling = -np.sort(-counts, axis=1).astype(np.float64)
    levels = np.cumsum(falling, axis=1) / (1 + bottom * np.arange(1, size + 1))
    # The last option, from the largest count down, that stands above the water.
    support = size - 1 - np.argmax((falling > bottom * levels)[:, ::-1], axis=1)
    level = np.take_along_axis(levels, support[:, None], axis=1)
    shares = np.maximum(0.0, counts / level - bottom)
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found


def fit_subsets(bits: Bits, channel: Channel, times: Floats | None = None) -> BestFit:
    """Find the maximum-likelihood shares for reports of any subset size.

    A report S has likelihood proportional to Σ_j π_j (1 + (r−1)·1[j ∈ S]), r = odds, which makes
    the log-likelihood concave. The unbiased estimate, moved to the nearest point of the simplex,
    is the neighbourhood; Newton steps that keep every share at least 0 then find which are 0, and
    end with the optimality conditions met to rounding.

    Args:
        bits: One row for each report, at least one.
        channel: The channel of the question.
        times: How often each row counts; once where there is nothing given.

    References:
        [KCSA20] Y. Kim, P. Carbonetto, M. Stephens and M. Anitescu, A Fast Algorithm for Maximum
        Likelihood Estimation of Mixture Proportions Using Sequential Quadratic Programming,
        JCGS 29 (2020), 261-273, Section 3: the same steps, with the sum constraint relaxed.
    """
    likelihood = _Likelihood.of(bits, channel, times)
    held = column_sums(likelihood.rows, likelihood.times, channel.options)
    start = (held - float(channel.q)) / float(channel.p - channel.q)
    here = likelihood.at(nearest_shares(start))
    root = likelihood.root_of_curvature(here)
    for _ in range(_NEWTON_STEPS):
        if here.violation <= _TOLERANCE:
            break
        moved = _step(likelihood, root, here)
        if moved is None:  # no step improves the likelihood by more than rounding
            break
        if moved.violation > _STALE * here.violation:
            root = likelihood.root_of_curvature(moved)
        here = moved
    return BestFit(here.shares, here.violation)


def nearest_shares(values: Floats) -> Floats:
    """Find the shares (at least 0, adding to 1) nearest to *values*, in Euclid's sense.

    >>> nearest_shares(np.array([0.75, 0.5, -0.25])).tolist()
    [0.625, 0.375, 0.0]
    """
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    shares = np.maximum(values - levels[np.flatnonzero(falling > levels)[-1]], 0.0)
    return np.asarray(shares / shares.sum(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Point:
    """Shares with what the likelihood says about them.

    Attributes:
        mixtures: Likelihood of each row, A x with A = 1 + (r−1)·[j ∈ S], up to a factor.
        value: Mean log-likelihood less the sum of the shares.
        gradient: κ, what EM multiplies the shares by.
    """

    shares: Floats
    mixtures: Floats
    value: float
    gradient: Floats

    @property
    def violation(self) -> float:
        return _violation(self.shares, self.gradient)


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The mean log-likelihood of reports: different rows with how often they occur."""

    rows: Bits
    times: Floats
    options: int
    gain: float
    """r − 1: what holding the true answer adds to the weight of a report."""

    @classmethod
    def of(cls, bits: Bits, channel: Channel, times: Floats | None) -> _Likelihood:
        rows, counted = (
            distinct(bits, channel.options, channel.subset) if times is None else (bits, times)
        )
        # Column by column, as every pass goes through them.
        rows, gain = np.asfortranarray(rows), float(channel.odds - 1)
        return cls(rows, counted / counted.sum(), channel.options, gain)

    def at(self, shares: Floats) -> _Point:
        mixtures = shares.sum() + self.gain * row_sums(self.rows, shares)
        weights = self.times / mixtures
        held = column_sums(self.rows, weights, self.options)
        value = float(self.times @ np.log(mixtures) - shares.sum())
        return _Point(shares, mixtures, value, weights.sum() + self.gain * held)

    def root_of_curvature(self, here: _Point) -> Floats:
        """Give the lower triangular root of the mean of A Aᵀ / (A x)².

        From at most about 32,768 rows: steps need it only roughly. A ridge lets a singular matrix
        through (fewer reports than options).
        """
        pick = slice(None, None, 1 + len(self.rows) // _CURVATURE_ROWS)
        rows, times = self.rows[pick], self.times[pick]
        weights = times / times.sum() / here.mixtures[pick] ** 2
        pairs = gram(rows, weights, self.options)
        held = self.gain * np.diag(pairs)
        found = weights.sum() + held[:, None] + held + self.gain**2 * pairs
        ridge = 1e-10 * np.trace(found) / self.options
        return np.linalg.cholesky(found + ridge * np.eye(self.options))


def _step(likelihood: _Likelihood, root: Floats, here: _Point) -> _Point | None:
    """Take one Newton step within shares ≥ 0, shortened until the likelihood has grown enough.

    The objective f(x) = −mean log(A x) + Σ x has the constrained maximum as its minimum over
    x ≥ 0, without the condition Σ x = 1 [KCSA20, Proposition 3.2].
    """
    # The curvature is root·rootᵀ: least squares within shares ≥ 0.
    pull = root.T @ here.shares + solve_triangular(root, here.gradient - 1, lower=True)
    direction = nnls(root.T, pull)[0] - here.shares
    slope = float((here.gradient - 1) @ direction)
    size = 1.0 if slope > 0 else 0.0
    while size > 1e-10:
        trial = np.maximum(here.shares + size * direction, 0.0)
        there = likelihood.at(trial / trial.sum())
        # At the last digits the likelihood is flat to rounding: 1e-15 lets the step through.
        if there.value >= here.value + 0.01 * size * slope - 1e-15 * abs(here.value):
            return there
        size /= 2
    return None


def _violation(shares: Floats, gradient: Floats) -> float:
    off = gradient - 1
    return float(np.max(np.where(shares > 0, np.abs(off), np.maximum(off, 0.0))))
