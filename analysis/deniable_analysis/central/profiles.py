"""Closed-form privacy profiles δ(ε) and trade-off curves f(α) of single mechanisms.

A profile answers both questions one can ask about two neighbouring data sets: the smallest δ for
which (ε, δ)-differential privacy holds, and the smallest error β an attacker can reach who is wrong
about the first data set with probability α. Everything is computed in logarithms or as integrals
without cancellation, so that δ = 1e-300 is as accurate as δ = 0.1.

References:
    [BW18] B. Balle and Y.-X. Wang, *Improving the Gaussian Mechanism*, ICML 2018, Theorem 8.
    [DRS22] J. Dong, A. Roth and W. Su, *Gaussian Differential Privacy*, JRSS B 84 (2022).
    [KOV15] P. Kairouz, S. Oh and P. Viswanath, *The Composition Theorem for Differential Privacy*,
        ICML 2015.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from deniable_protocol.errors import MechanismError

Floats: TypeAlias = NDArray[np.float64]

# Our logarithms of δ are right to about 1e-13; an inverted ε is moved up by ten times that.
_SLACK = 1e-12
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def check_delta(delta: float) -> float:
    """Return *delta* as a float in [0, 1), or refuse it.

    Raises:
        MechanismError: If it is anything else.
    """
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise MechanismError(f"delta must be in [0, 1), got {delta!r}")
    return float(delta)


def check_above(name: str, value: float, *, zero: bool = False) -> float:
    """Return *value* as a finite float above 0 (or at least 0, if *zero*), or refuse it.

    Raises:
        MechanismError: If it is anything else.
    """
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not abs(value) <= sys.float_info.max or value < 0 or (value == 0 and not zero):
        wanted = "of at least 0" if zero else "above 0"
        raise MechanismError(f"{name} must be a finite number {wanted}, got {value!r}")
    return float(value)


def log_odds(odds: Fraction) -> float:
    """Compute ln *odds*, rounded up, without loss when the odds are close to 1.

    >>> log_odds(Fraction(3)) >= math.log(3)
    True
    """
    excess = odds - 1
    found = (
        math.log1p(excess) if excess < 1 else math.log(odds.numerator) - math.log(odds.denominator)
    )
    return math.nextafter(math.nextafter(found, math.inf), math.inf)


def gaussian_log_delta(epsilon: ArrayLike, mu: float) -> Floats:
    """Compute ln δ(ε) of the Gaussian mechanism.

    With t = ε/μ − μ/2 and Mills' ratio R, δ = φ(t) (R(t) − R(t + μ)) [BW18]. For μ < 1 the
    difference is integrated as ∫ (1 − sR(s)) ds, which never cancels; for t < 0 it is a difference
    of normal tails of which the second is the smaller by far.

    Args:
        epsilon: At least 0; any shape.
        mu: Δ₂ / σ; finite, above 0.

    Returns:
        ln δ; the shape of *epsilon*; 0, which promises nothing, where float64 has no answer.

    References:
        [BW18] Theorem 8.

    >>> f"{math.exp(gaussian_log_delta(1.0, 1 / 3.7306316348)):.6e}"
    '1.000000e-05'
    """
    given = np.asarray(epsilon, dtype=np.float64)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        low = given / mu - mu / 2
        if mu < 1:
            points = low[..., None] + mu * (_NODES + 1) / 2
            gap = mu / 2 * np.sum(_WEIGHTS * _mills_slope(points), axis=-1)
            return np.asarray(-(low**2) / 2 - math.log(math.tau) / 2 + np.log(gap))
        first = log_ndtr(-low)
        density = -(low**2) / 2 - math.log(math.tau) / 2
        tails = first + np.log1p(-np.exp(density + np.log(_mills(low + mu)) - first))
        ahead = np.maximum(low, 0.0)
        gap = _mills(ahead) - _mills(ahead + mu)
        found = np.where(low > 0, density + np.log(gap), tails)
    return np.asarray(np.where(np.isnan(found), 0.0, found))  # out of range: promise nothing


def _mills(t: Floats) -> Floats:
    """Compute Mills' ratio (1 − Φ(t)) / φ(t)."""
    return np.asarray(math.sqrt(math.pi / 2) * erfcx(t / math.sqrt(2)))


def _mills_slope(t: Floats) -> Floats:
    """Compute 1 − tR(t), minus the slope of Mills' ratio; its asymptotic series beyond t = 50."""
    near = 1 - t * _mills(np.minimum(t, 50.0))
    square = 1 / np.maximum(t, 50.0) ** 2
    far = square * (1 - square * (3 - square * (15 - square * (105 - 945 * square))))
    return np.asarray(np.where(t < 50, near, far))


class Profile(ABC):
    """The exact privacy of one mechanism for its worst pair of neighbours."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """The ε beyond which δ falls no further; inf if it always falls."""

    @abstractmethod
    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute ln δ(ε) for each ε ≥ 0."""

    @abstractmethod
    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute the smallest type II error β = f(α) for each type I error α in [0, 1]."""

    def delta(self, epsilon: ArrayLike) -> Floats:
        """Compute the smallest δ for each ε ≥ 0; the shape of *epsilon*."""
        return np.asarray(np.exp(self.log_delta(epsilon)))

    def epsilon(self, delta: float) -> float:
        """Find the smallest ε for *delta*, rounded up.

        Args:
            delta: In [0, 1).

        Returns:
            ε ≥ 0; inf where no finite ε reaches *delta*.

        Raises:
            MechanismError: If *delta* is not in [0, 1).
        """
        wanted = check_delta(delta)
        if wanted == 0:
            return self.ceiling if self.pure else math.inf
        goal = math.log(wanted) - _SLACK

        def excess(epsilon: float) -> float:
            return max(float(self.log_delta(epsilon)), -1e306) - goal

        if excess(0.0) <= 0:
            return 0.0
        low = high = min(1.0, self.ceiling)
        while excess(high) > 0:
            if high >= min(self.ceiling, 1e290):
                return math.inf
            low, high = high, min(4 * high, self.ceiling)
        while excess(low) <= 0:
            low, high = low / 4, low
        return self._conservative(float(brentq(excess, low, high, xtol=1e-290, rtol=1e-15)), excess)

    @property
    def pure(self) -> bool:
        """Whether δ = 0 at the ceiling."""
        return math.isfinite(self.ceiling) and float(self.log_delta(self.ceiling)) == -math.inf

    @staticmethod
    def _conservative(found: float, excess: Callable[[float], float]) -> float:
        """Move a root up until it satisfies what was asked, not nearly so."""
        found, step = found * (1 + 1e-15), 4e-16
        while excess(found) > 0:
            found, step = found * (1 + step) + 5e-324, 2 * step
        return found


@dataclass(frozen=True, slots=True)
class GaussianProfile(Profile):
    """The Gaussian mechanism, and anything that is μ-Gaussian differentially private.

    Args:
        mu: Δ₂ / σ; finite, above 0.

    References:
        [BW18] Theorem 8; [DRS22] Definition 2.2.

    >>> round(GaussianProfile(1.0).epsilon(1e-5), 6)
    4.377178
    """

    mu: float

    def __post_init__(self) -> None:
        check_above("mu", self.mu)

    @property
    def ceiling(self) -> float:
        """There is none."""
        return math.inf

    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute ln δ(ε); see :func:`gaussian_log_delta`."""
        return gaussian_log_delta(epsilon, self.mu)

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute Φ(Φ⁻¹(1 − α) − μ)."""
        return np.asarray(ndtr(-ndtri(check_alpha(alpha)) - self.mu))


@dataclass(frozen=True, slots=True)
class LaplaceProfile(Profile):
    """The Laplace mechanism with continuous noise.

    Args:
        ceiling: ε₀ = Δ₁ / b; finite, above 0.

    References:
        [DRS22] Proposition A.6 gives the trade-off curve.

    >>> float(LaplaceProfile(1.0).trade_off(0.5)) == math.exp(-1) / 2
    True
    """

    ceiling: float

    def __post_init__(self) -> None:
        check_above("ceiling", self.ceiling)

    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute ln (1 − e^((ε − ε₀) / 2)) below ε₀, −inf above."""
        short = np.maximum(self.ceiling - np.asarray(epsilon, dtype=np.float64), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(-np.expm1(-short / 2)))

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute β: two straight ends joined by a hyperbola."""
        given = check_alpha(alpha)
        shrink = math.exp(-self.ceiling)
        with np.errstate(divide="ignore", over="ignore"):
            curve = np.where(given <= 0.5, shrink / (4 * given), shrink * (1 - given))
            rise = np.where(given > 0, np.exp(self.ceiling + np.log(given)), 0.0)
        return np.asarray(np.where(given < shrink / 2, 1 - rise, curve))


@dataclass(frozen=True, slots=True)
class ResponseProfile(Profile):
    """The survey's randomizer: randomized response over k options, or d-subsets of them.

    Two answers differ on the reports that hold one of them and not the other; those have weight
    ``weight`` under the one and ``weight / odds`` under the other, and all others are alike.

    Args:
        options: k, at least 2.
        odds: e^ε exactly; above 1.
        subset: d, 1 ≤ d < k.

    >>> round(float(ResponseProfile(2, Fraction(3)).delta(0.0)), 12)
    0.5
    """

    options: int
    odds: Fraction
    subset: int = 1

    def __post_init__(self) -> None:
        if not (1 <= self.subset < self.options) or self.odds <= 1:
            raise MechanismError(
                "expected 1 <= subset < options and odds above 1, "
                f"got options {self.options}, subset {self.subset}, odds {self.odds}"
            )

    @property
    def weight(self) -> Fraction:
        """The chance of a report that holds the true answer and not the compared one."""
        k, d = self.options, self.subset
        return self.odds * (k - d) / ((k - 1) * (self.odds * d + (k - d))) * d

    @property
    def ceiling(self) -> float:
        """The level ln(odds), rounded up."""
        return log_odds(self.odds)

    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute ln (weight (1 − e^ε / odds))."""
        short = np.maximum(self.ceiling - np.asarray(epsilon, dtype=np.float64), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(math.log(self.weight) + np.log(-np.expm1(-short)))

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute the three straight pieces through (w/r, 1 − w) and (1 − w, w/r)."""
        w, v = float(self.weight), float(self.weight / self.odds)
        return np.asarray(np.interp(check_alpha(alpha), [0.0, v, 1 - w, 1.0], [1.0, 1 - w, v, 0.0]))


@dataclass(frozen=True, slots=True)
class ApproximateProfile(Profile):
    """The least private mechanism among all that are (ε₀, δ₀)-differentially private.

    Args:
        ceiling: ε₀; finite, at least 0.
        floor: δ₀ in [0, 1).

    References:
        [KOV15] Section 3: it dominates every (ε₀, δ₀)-private mechanism.

    >>> f"{ApproximateProfile(1.0, 1e-6).delta(2.0):.6g}"
    '1e-06'
    """

    ceiling: float
    floor: float = 0.0

    def __post_init__(self) -> None:
        check_above("ceiling", self.ceiling, zero=True)
        check_delta(self.floor)

    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute ln (δ₀ + (1 − δ₀)(e^ε₀ − e^ε)₊ / (1 + e^ε₀))."""
        short = np.maximum(self.ceiling - np.asarray(epsilon, dtype=np.float64), 0.0)
        rest = (1 - self.floor) * -np.expm1(-short) / (1 + math.exp(-self.ceiling))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.floor + rest))

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute max {0, 1 − δ₀ − e^ε₀ α, e^(−ε₀)(1 − δ₀ − α)}."""
        given = check_alpha(alpha)
        with np.errstate(divide="ignore", over="ignore"):
            steep = 1 - self.floor - np.where(given > 0, np.exp(self.ceiling + np.log(given)), 0.0)
        flat = math.exp(-self.ceiling) * (1 - self.floor - given)
        return np.asarray(np.maximum(0.0, np.maximum(steep, flat)))


def check_alpha(alpha: ArrayLike) -> Floats:
    """Return *alpha* as floats in [0, 1], or refuse it.

    Raises:
        MechanismError: If a value is outside or not a number.
    """
    given = np.asarray(alpha, dtype=np.float64)
    if not np.all((given >= 0) & (given <= 1)):
        raise MechanismError("alpha must be in [0, 1] everywhere")
    return given
