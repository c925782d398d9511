"""Gaussian noise for numbers and vectors whose L2 sensitivity is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

from deniable_protocol.errors import MechanismError

from . import cells
from .additive import Additive, grid_for
from .arguments import Number, above_zero, exact, inside_unit
from .definitions import ApproximateDP, Definition, GaussianDP, RenyiDP, ZeroConcentratedDP
from .events import GaussianEvent
from .profiles import GaussianProfile, gaussian_log_delta
from .sampling import Source
from .sensitivity import Sensitivity

# δ(ε) is computed to about 1e-13 relative, and σ depends on ln δ by less than one to one, so this
# keeps a computed σ on the safe side of the true one.
_ROUND_UP = 1 + 1e-12


def classic_multiplier(epsilon: float, delta: float) -> float:
    """Return σ/Δ₂ = √(2 ln(1.25/δ))/ε, the textbook's bound, proved for ε ≤ 1 only.

    Raises:
        MechanismError: If ε is above 1, where the formula gives too little noise.

    References:
        [DR14] C. Dwork and A. Roth, 2014, Theorem A.1 (for ε < 1; ε = 1 by direct computation).

    >>> round(classic_multiplier(1.0, 1e-5), 6)
    4.844805
    """
    above_zero("epsilon", epsilon)
    inside_unit("delta", delta)
    if epsilon > 1:
        raise MechanismError(
            f"the classic Gaussian formula is proved for epsilon up to 1 only, got {epsilon}; "
            "above it the noise can be too small: use Gaussian.analytic, which holds for all"
        )
    return math.sqrt(2 * (math.log(1.25) - math.log(delta))) / epsilon


def analytic_multiplier(epsilon: float, delta: float) -> float:
    """Find the smallest σ/Δ₂ for which Gaussian noise is (ε, δ)-private, rounded up.

    Solves δ(ε) = δ for the exact profile, in logarithms: from δ = 1e-300 to ε = 800 nothing
    underflows. A correctly rounded σ would be too small half the time; this one is 1e-12 larger.

    Raises:
        MechanismError: If a parameter is out of range, or no float can hold the result.

    References:
        [BW18] B. Balle and Y.-X. Wang, *Improving the Gaussian Mechanism for Differential Privacy*,
        ICML 2018 (arXiv:1805.06530), Theorem 8.

    >>> round(analytic_multiplier(1.0, 1e-5), 9), round(analytic_multiplier(1.0, 1e-20), 9)
    (3.730631635, 8.838226922)
    """
    above_zero("epsilon", epsilon)
    goal = math.log(inside_unit("delta", delta))

    def excess(log_mu: float) -> float:
        found = float(gaussian_log_delta(epsilon, math.exp(log_mu)))
        return max(found, -1e306) - goal

    # ln δ grows with ln μ. At μ = √(2ε)·10⁻³⁰⁰… every δ is met; the upper end only has to fail.
    high = math.log(math.sqrt(2 * epsilon) + 1.0)
    while excess(high) < 0:
        high += 1.0
    low = high - 1.0
    while excess(low) > 0:
        low -= 2.0
        if low < -690:
            raise MechanismError(
                f"no float can hold the noise for epsilon {epsilon!r} and delta {delta!r}"
            )
    root = float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15, maxiter=500))
    return math.exp(-root) * _ROUND_UP


@dataclass(frozen=True)
class Gaussian(Additive):
    """Add normal noise; the output is released to the grid cell, exactly. ``scale`` is σ.

    Privacy:
        For neighbours whose answers differ by a vector of length at most Δ₂, only the component
        along that vector tells them apart (the normal law is the same in every direction), so the
        pair is N(0, 1) against N(μ, 1), μ = Δ₂/σ, and δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)
        [BW18, Theorem 8]. Rounding to a cell is post-processing.

    References:
        [BW18] see :func:`analytic_multiplier`.
        [BS16], [Mir17], [DRS22] see :mod:`deniable_analysis.central.definitions`.

    >>> from deniable_analysis.central import ApproximateDP, histogram
    >>> noise = Gaussian.calibrate(ApproximateDP(1.0, 1e-6), histogram(8))
    >>> round(float(noise.scale), 4)
    5.9746
    """

    @classmethod
    def calibrate(
        cls, definition: Definition, sensitivity: Sensitivity, *, grid: Number | None = None
    ) -> Gaussian:
        """Choose the smallest σ that meets a definition, rounded up.

        Args:
            definition: ApproximateDP (by the analytic formula), ZeroConcentratedDP (Δ₂/√(2ρ)),
                GaussianDP (Δ₂/μ) or RenyiDP (Δ₂ √(α/2r) at the dearest order).
            sensitivity: The query's; its L2 is used.
            grid: Distance of released values; a power of two near σ/2^20 if left out.

        Raises:
            MechanismError: For PureDP: no normal noise meets it at any σ.
        """
        return cls._scaled(definition, sensitivity, multiplier(definition), grid)

    analytic = calibrate

    @classmethod
    def classic(
        cls, definition: ApproximateDP, sensitivity: Sensitivity, *, grid: Number | None = None
    ) -> Gaussian:
        """Choose σ by the textbook formula, for ε ≤ 1; it is 1.3 to 11 times the analytic one.

        Raises:
            MechanismError: If ε is above 1.
        """
        times = classic_multiplier(definition.epsilon, definition.delta)
        return cls._scaled(definition, sensitivity, times, grid)

    @classmethod
    def _scaled(
        cls, definition: Definition, sensitivity: Sensitivity, times: float, grid: Number | None
    ) -> Gaussian:
        scale = exact("noise scale", times) * exact("L2 sensitivity", sensitivity.l2)
        steps = grid_for(scale) if grid is None else above_zero("grid", grid)
        return cls(definition, sensitivity, scale, steps)

    @property
    def event(self) -> GaussianEvent:
        """Normal noise of this σ, as a multiple of the L2 sensitivity, rounded down."""
        times = float(self.scale / exact("L2 sensitivity", self.sensitivity.l2))
        return GaussianEvent(math.nextafter(times, 0.0))

    @property
    def profile(self) -> GaussianProfile:
        """The exact profile, of numbers and vectors alike."""
        return GaussianProfile(1 / self.event.noise_multiplier)

    @property
    def rho(self) -> Fraction:
        """ρ = Δ₂²/2σ²."""
        return (exact("L2 sensitivity", self.sensitivity.l2) / self.scale) ** 2 / 2

    @property
    def standard_deviation(self) -> float:
        """σ."""
        return float(self.scale)

    def half_width(self, level: float = 0.95) -> float:
        """Return σ times the normal quantile, and half a grid cell for the rounding."""
        tail = (1 - inside_unit("level", level)) / 2
        return -float(ndtri(tail)) * float(self.scale) + float(self.grid) / 2

    def _noisy(self, value: Fraction, below: Source) -> Fraction:
        cuts = cells.finer(self.grid, self.scale)
        noise = cells.gaussian((self.scale * cuts / self.grid) ** 2, below)
        return cells.middle(noise, value, self.grid, cuts)

    def _float_noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.normal(scale=float(self.scale), size=shape)


def multiplier(definition: Definition) -> float:
    """Return the smallest σ/Δ₂ that meets a definition, rounded up.

    Raises:
        MechanismError: If normal noise cannot meet it, or cannot be calibrated to it.

    >>> from deniable_analysis.central import GaussianDP
    >>> round(multiplier(GaussianDP(0.5)), 6)
    2.0
    """
    match definition:
        case ApproximateDP():
            return analytic_multiplier(definition.epsilon, definition.delta)
        case ZeroConcentratedDP():
            return _ROUND_UP / math.sqrt(2 * definition.rho)
        case GaussianDP():
            return _ROUND_UP / definition.mu
        case RenyiDP():
            return _ROUND_UP * max(math.sqrt(a / 2 / r) for a, r in definition.curve)
    raise MechanismError(
        f"Gaussian noise is calibrated to ApproximateDP, ZeroConcentratedDP, GaussianDP "
        f"or RenyiDP, got {type(definition).__name__}; Laplace noise meets PureDP"
    )
