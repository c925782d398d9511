"""Exact privacy profiles of integer noise, as finite sums of positive terms.

A number drawn as 0 + noise is told from one drawn as Δ + noise by the sign of how far it lies
beyond the middle, so δ(ε) = Σ P(x)(1 − e^(ε − loss(x))) over the x whose loss is above ε. No two
large numbers are subtracted, so δ is accurate however small it is.

References:
    [CKS20] C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy*,
    NeurIPS 2020 (arXiv:2004.00010v5), Theorem 7.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable_protocol.errors import MechanismError

from .arguments import above_zero
from .profiles import Floats, Profile, check_above, check_alpha

WIDEST = 2e5
"""Largest σ (and shift) in grid steps whose profile is summed; more would take minutes."""


class IntegerNoise(Profile):
    """A profile given by the likelihoods and losses of integer outcomes.

    Subclasses list the outcomes between which the loss moves; ends may stand for whole tails.
    """

    @abstractmethod
    def outcomes(self) -> tuple[Floats, Floats]:
        """Return ln P(x) and the loss ln P(x)/Q(x) of each outcome, losses decreasing."""

    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute ln δ(ε) = ln Σ P (1 − e^(ε − loss))₊."""
        chance, loss = self.outcomes()
        given = np.asarray(epsilon, dtype=np.float64)
        found = [_log_gain(chance, loss, float(one)) for one in given.ravel()]
        return np.asarray(found, dtype=np.float64).reshape(given.shape)

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute β by straight lines between the likelihood-ratio tests."""
        given = check_alpha(alpha)
        chance, loss = self.outcomes()
        # Q is rejected for the outcomes likeliest under P first: α adds up Q, and 1 − β adds up P.
        false_alarm = np.concatenate([[0.0], np.cumsum(np.exp(chance - loss))])
        miss = np.concatenate([np.cumsum(np.exp(chance)[::-1])[::-1], [0.0]])
        found = np.interp(given, np.minimum(false_alarm, 1.0), np.minimum(miss, 1.0))
        return np.asarray(found)


def _log_gain(chance: Floats, loss: Floats, epsilon: float) -> float:
    above = loss > epsilon
    if not above.any():
        return -math.inf
    terms = chance[above] + np.log(-np.expm1(epsilon - loss[above]))
    top = float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum())) if top > -math.inf else top


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceProfile(IntegerNoise):
    """Integer noise P(x) ∝ e^(−|x|/b), moved by some steps.

    Args:
        scale: b, in steps; above 0.
        sensitivity: How many steps the value moves; at least 1.

    >>> profile = DiscreteLaplaceProfile(1.0)
    >>> round(float(profile.delta(0.0)), 12) == round((math.e - 1) / (math.e + 1), 12)
    True
    """

    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        above_zero("scale", self.scale)
        _check_steps("sensitivity", self.sensitivity)

    @property
    def ceiling(self) -> float:
        """ε = steps/scale, rounded up."""
        return math.nextafter(self.sensitivity / self.scale, math.inf)

    def outcomes(self) -> tuple[Floats, Floats]:
        """List x ≤ 0 as one outcome, 1 … Δ − 1, and x ≥ Δ as one."""
        rate, moved = 1 / self.scale, self.sensitivity
        x = np.arange(moved + 1, dtype=np.float64)
        loss = rate * (moved - 2 * x)
        log_total = -math.log1p(math.exp(-rate))  # P(x ≤ 0) = 1/(1 + e^(−1/b))
        inner = -rate * x + log_total + math.log(-math.expm1(-rate))
        inner[0] = log_total
        inner[-1] = log_total - rate * moved
        return inner, loss


@dataclass(frozen=True, slots=True)
class DiscreteGaussianProfile(IntegerNoise):
    """Integer noise P(x) ∝ e^(−x²/2σ²), moved by some steps.

    Args:
        sigma: σ, in steps; above 0, at most 200,000.
        sensitivity: How many steps the value moves; at least 1.

    >>> round(float(DiscreteGaussianProfile(1.0).delta(1.0)), 12)
    0.141351339406
    """

    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        _check_steps("sensitivity", self.sensitivity)
        if above_zero("sigma", self.sigma) > WIDEST:
            raise MechanismError(f"sigma must be at most {WIDEST:g} grid steps, got {self.sigma!r}")

    @property
    def ceiling(self) -> float:
        """No finite ε bounds the loss."""
        return math.inf

    def outcomes(self) -> tuple[Floats, Floats]:
        """List every x that a likelihood of 1e-340 or more can reach, from the far left."""
        reach = math.ceil(40 * self.sigma) + self.sensitivity + 2
        return self._likelihood(np.arange(-reach, reach + 1, dtype=np.float64))

    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute ln δ(ε), summing leftwards from the first outcome whose loss is above ε."""
        given = np.asarray(epsilon, dtype=np.float64)
        found = [self._log_delta_at(float(one)) for one in given.ravel()]
        return np.asarray(found, dtype=np.float64).reshape(given.shape)

    def _log_delta_at(self, epsilon: float) -> float:
        edge = self.sensitivity / 2 - epsilon * self.sigma**2 / self.sensitivity
        if edge < -1e15:
            return -math.inf
        first = math.ceil(edge)
        # Terms fall off at least as fast as the bell itself, 12σ beyond its middle or the edge.
        last = min(first, 0) - math.ceil(12 * self.sigma) - 2
        chance, loss = self._likelihood(np.arange(last, first + 1, dtype=np.float64))
        return _log_gain(chance, loss, epsilon)

    def _likelihood(self, x: Floats) -> tuple[Floats, Floats]:
        wide = np.arange(1, math.ceil(12 * self.sigma) + 2, dtype=np.float64)
        total = math.log1p(2 * float(np.sum(np.exp(-((wide / self.sigma) ** 2) / 2))))
        step = self.sensitivity / self.sigma
        loss = step * (step / 2 - x / self.sigma)
        return np.asarray(-((x / self.sigma) ** 2) / 2 - total), np.asarray(loss)


@dataclass(frozen=True, slots=True)
class ConcentratedProfile(Profile):
    """An upper bound for everything that is ρ-zero-concentrated, as integer noise on vectors is.

    Args:
        rho: Finite, above 0.

    References:
        [CKS20] Proposition 12.

    >>> round(ConcentratedProfile(0.5).epsilon(1e-6), 4)
    5.2215
    """

    rho: float

    def __post_init__(self) -> None:
        check_above("rho", self.rho)

    @property
    def ceiling(self) -> float:
        """No finite ε bounds the loss."""
        return math.inf

    def log_delta(self, epsilon: ArrayLike) -> Floats:
        """Compute the least (α − 1)(αρ − ε) + (α − 1) ln(1 − 1/α) − ln α over orders α > 1."""
        given = np.asarray(epsilon, dtype=np.float64)
        found = [self._log_delta_at(float(one)) for one in given.ravel()]
        return np.asarray(found, dtype=np.float64).reshape(given.shape)

    def _log_delta_at(self, epsilon: float) -> float:
        # Any order gives a valid bound, so a grid around the best one, refined, is certain.
        start = max((epsilon - self.rho) / (2 * self.rho), 1 / math.sqrt(2 * self.rho))
        above = start * np.logspace(-6, 3, 400)
        for _ in range(3):
            with np.errstate(over="ignore", invalid="ignore"):
                gain = above * ((1 + above) * self.rho - epsilon)
                bound = gain - above * np.log1p(1 / above) - np.log1p(above)
            best = int(np.nanargmin(bound))
            ends = above[max(best - 1, 0)], above[min(best + 1, len(above) - 1)]
            above = np.geomspace(*ends, 400)
        return min(0.0, float(np.nanmin(bound)))

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute a lower bound of β, the largest that δ(ε) at some ε gives [DRS22, Prop. 6]."""
        given = check_alpha(alpha)
        epsilons = np.concatenate([[0.0], self.rho + math.sqrt(self.rho) * np.logspace(-3, 2, 200)])
        known = self.delta(epsilons)
        found = np.zeros_like(given)
        for epsilon, delta in zip(epsilons, known, strict=True):
            with np.errstate(over="ignore", divide="ignore"):
                steep = 1 - delta - np.where(given > 0, np.exp(epsilon + np.log(given)), 0.0)
            found = np.maximum(found, np.maximum(steep, np.exp(-epsilon) * (1 - delta - given)))
        return np.asarray(found)


def _check_steps(name: str, steps: int) -> None:
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= WIDEST:
        raise MechanismError(f"{name} must be 1 to {WIDEST:g} grid steps, got {steps!r}")
