"""Discrete Gaussian noise for whole numbers (Canonne, Kamath & Steinke 2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from deniable_protocol.errors import MechanismError

from .additive import Additive
from .arguments import Number, above_zero, exact, float_up, inside_unit
from .definitions import ApproximateDP, Definition, ZeroConcentratedDP
from .discrete_profiles import WIDEST, ConcentratedProfile, DiscreteGaussianProfile
from .events import DiscreteGaussianEvent, ZCDPEvent
from .laplace import on_grid
from .sampling import Source, discrete_gaussian
from .sensitivity import Sensitivity


@dataclass(frozen=True)
class DiscreteGaussian(Additive):
    """Add an integer with P(x) ∝ e^(−x²/2σ²) to a count. ``scale`` is σ.

    Privacy:
        For one number that moves by at most Δ steps, δ(ε) = P[Y > εσ²/Δ − Δ/2] − e^ε P[Y > εσ²/Δ +
        Δ/2], exactly [CKS20, Theorem 7]. For a vector, ρ = Δ₂²/2σ² [CKS20, Theorem 14]. The exact
        profile is close to the normal one for σ above 1 and far from it below: nothing here
        replaces the one by the other.

    References:
        [CKS20] C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential
        Privacy*, NeurIPS 2020 (arXiv:2004.00010v5).

    >>> from deniable_analysis.central import ZeroConcentratedDP, count
    >>> noise = DiscreteGaussian.calibrate(ZeroConcentratedDP(0.5), count())
    >>> round(float(noise.scale), 9)
    1.0
    """

    @classmethod
    def calibrate(
        cls, definition: Definition, sensitivity: Sensitivity, *, grid: Number = 1
    ) -> DiscreteGaussian:
        """Choose the smallest σ that meets a definition, rounded up.

        Args:
            definition: ZeroConcentratedDP; or ApproximateDP, by the exact profile for a query of
                one number and by way of ρ for a vector.
            sensitivity: The query's; its L2 is used.
            grid: Distance of the values the query can take; 1 for counts.

        Raises:
            MechanismError: For another definition, or a σ too many grid steps wide to sum.
        """
        step = above_zero("grid", grid)
        match definition:
            case ZeroConcentratedDP():
                times = exact("sigma", (1 + 1e-12) / math.sqrt(2 * definition.rho))
                scale = times * exact("L2 sensitivity", sensitivity.l2)
            case ApproximateDP() if sensitivity.coordinates == 1:
                moved = max(1, sensitivity.l1 // step)
                scale = exact("sigma", _smallest_sigma(definition, moved)) * step
            case ApproximateDP():
                times = exact("sigma", (1 + 1e-12) / math.sqrt(2 * _largest_rho(definition)))
                scale = times * exact("L2 sensitivity", sensitivity.l2)
            case _:
                raise MechanismError(
                    "discrete Gaussian noise is calibrated to ZeroConcentratedDP or ApproximateDP, "
                    f"got {type(definition).__name__}"
                )
        return cls(definition, sensitivity, scale, step)

    @property
    def event(self) -> DiscreteGaussianEvent | ZCDPEvent:
        """Its exact law for one number; for a vector, its ρ, rounded up."""
        if self.sensitivity.coordinates > 1:
            return ZCDPEvent(math.nextafter(float(self.rho), math.inf))
        sigma = math.nextafter(float(self.scale / self.grid), 0.0)
        return DiscreteGaussianEvent(sigma, max(1, self.sensitivity.l1 // self.grid))

    @property
    def rho(self) -> Fraction:
        """ρ = Δ₂²/2σ²."""
        return exact("L2 sensitivity", self.sensitivity.l2) ** 2 / (2 * self.scale**2)

    @property
    def profile(self) -> DiscreteGaussianProfile | ConcentratedProfile:
        """The exact profile of a number; for a vector, what follows from its ρ."""
        if self.sensitivity.coordinates > 1:
            return ConcentratedProfile(float_up(self.rho))
        moved = max(1, self.sensitivity.l1 // self.grid)
        return DiscreteGaussianProfile(float(self.scale / self.grid), moved)

    @property
    def standard_deviation(self) -> float:
        """At most σ [CKS20, Corollary 9], and within a millionth of it for σ above 1 step."""
        return float(self.scale)

    def half_width(self, level: float = 0.95) -> float:
        """Return the smallest whole number of steps w with P(|x| > w) ≤ 1 − level."""
        miss = 1 - inside_unit("level", level)
        sigma = float(self.scale / self.grid)
        if sigma > WIDEST:
            raise MechanismError(f"sigma must be at most {WIDEST:g} grid steps, got {sigma:g}")
        x = np.arange(math.ceil(40 * sigma) + 2)
        chances = np.exp(-((x / sigma) ** 2) / 2) * np.where(x == 0, 1.0, 2.0)
        beyond = np.cumsum(chances[::-1])[::-1] / chances.sum()  # P(|x| ≥ w), from the small end
        return float(self.grid) * float(np.flatnonzero(beyond <= miss)[0] - 1)

    def _noisy(self, value: Fraction, below: Source) -> Fraction:
        variance = (self.scale / self.grid) ** 2
        return on_grid(value, self.grid) + self.grid * discrete_gaussian(variance, below)

    def _float_noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        # Rounded normal noise: close enough to simulate with when σ is above a grid step or so.
        grid = float(self.grid)
        return np.rint(rng.normal(scale=float(self.scale) / grid, size=shape)) * grid


def _smallest_sigma(definition: ApproximateDP, moved: int) -> float:
    """Find σ in grid steps from which on the exact profile stays at or below δ."""
    goal = math.log(definition.delta)

    def excess(sigma: float) -> float:
        profile = DiscreteGaussianProfile(sigma, moved)
        return max(float(profile.log_delta(definition.epsilon)), -1e306) - goal

    # The exact δ is not monotone in σ below a step or so, so the search starts at a σ that is
    # known to do and walks down; it returns a σ that meets the promise, if not always the least.
    high = float(moved)
    while excess(high) > 0:
        high *= 2
    low = high / 2
    while low > 1e-3 and excess(low) <= 0:
        high, low = low, low / 2
    if excess(low) <= 0:
        return high
    root = float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14, maxiter=300)) * (1 + 1e-12)
    return root if excess(root) <= 0 else high


def _largest_rho(definition: ApproximateDP) -> float:
    """Find the largest ρ, rounded down, that implies (ε, δ)."""
    goal = math.log(definition.delta)

    def excess(log_rho: float) -> float:
        profile = ConcentratedProfile(math.exp(log_rho))
        return max(float(profile.log_delta(definition.epsilon)), -1e306) - goal

    high = math.log(definition.epsilon)
    while excess(high) <= 0:
        high += 1.0
    low = high - 1.0
    while excess(low) > 0:
        low -= 2.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-13, rtol=1e-13))) * (1 - 1e-9)
