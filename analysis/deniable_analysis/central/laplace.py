"""Laplace noise for numbers and vectors whose L1 sensitivity is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable_protocol.errors import MechanismError

from . import cells
from .additive import Additive, grid_for
from .arguments import Number, above_zero, at_least_zero, exact, float_down, float_up, inside_unit
from .definitions import ApproximateDP, Definition, PureDP, ZeroConcentratedDP
from .discrete_profiles import WIDEST, DiscreteLaplaceProfile
from .events import DiscreteLaplaceEvent, LaplaceEvent, PureEvent
from .profiles import ApproximateProfile, LaplaceProfile
from .sampling import Source, discrete_laplace
from .sensitivity import Sensitivity


def pure_epsilon(definition: Definition) -> Fraction:
    """Return the largest ε for which ε-pure privacy implies a definition.

    Args:
        definition: ε itself; (ε, δ), where Laplace noise has δ(ε′) = 1 − e^((ε′ − ε)/2), so its own
            ε may be larger by −2 ln(1 − δ); or ρ, by ε²/2 ≤ ρ [BS16, Prop. 1.4].

    Raises:
        MechanismError: For a definition that Laplace noise is not calibrated to.
    """
    match definition:
        case PureDP():
            return exact("epsilon", definition.epsilon)
        case ApproximateDP():
            slack = -2 * math.log1p(-definition.delta)
            # Rounded down by more than the two operations can be wrong.
            return exact("epsilon", definition.epsilon) + exact("slack", slack * (1 - 1e-14))
        case ZeroConcentratedDP():
            return exact("epsilon", math.sqrt(2 * definition.rho) * (1 - 1e-15))
    raise MechanismError(
        f"Laplace noise is calibrated to PureDP, ApproximateDP or ZeroConcentratedDP, "
        f"got {type(definition).__name__}; Gaussian noise takes the others"
    )


@dataclass(frozen=True)
class Laplace(Additive):
    """Add Laplace noise of scale b = Δ₁/ε; the output is released to the grid cell, exactly.

    Privacy:
        The density of the output is e^(−|y − value|/b)/(2b) in each coordinate, so between
        neighbours it changes by a factor of at most e^(Σ|change|/b) ≤ e^(Δ₁/b) = e^ε. The profile
        of one coordinate that moves by Δ₁ bounds that of a vector: let L be the loss of one
        coordinate, at most ε₂, and δ₁ the profile of the others, which move by less; then
        δ(ε′) = E δ₁(ε′ − L) ≤ δ₁(ε′ − ε₂) = 1 − e^((ε′ − ε₁ − ε₂)/2), and so on by induction
        (the larger part is taken as the first). Rounding to a cell is post-processing.

    References:
        [DMNS06] C. Dwork, F. McSherry, K. Nissim and A. Smith, *Calibrating Noise to Sensitivity in
        Private Data Analysis*, TCC 2006.
        [BS16] see :mod:`deniable_analysis.central.definitions`.

    >>> from deniable_analysis.central import PureDP, clipped_mean
    >>> age = Laplace.calibrate(PureDP(1), clipped_mean(0, 100, records=1000))
    >>> float(age.scale), round(age.standard_deviation, 4), round(age.half_width(0.95), 4)
    (0.1, 0.1414, 0.2996)
    """

    @classmethod
    def calibrate(
        cls, definition: Definition, sensitivity: Sensitivity, *, grid: Number | None = None
    ) -> Laplace:
        """Choose the smallest scale that meets a definition; exact for :class:`PureDP`.

        Args:
            definition: PureDP, ApproximateDP or ZeroConcentratedDP.
            sensitivity: The query's; its L1 is used.
            grid: Distance of released values; a power of two near scale/2^20 if left out.
        """
        scale = sensitivity.l1 / pure_epsilon(definition)
        steps = grid_for(scale) if grid is None else above_zero("grid", grid)
        return cls(definition, sensitivity, scale, steps)

    @property
    def event(self) -> LaplaceEvent:
        """Laplace noise of this scale, as a multiple of the L1 sensitivity, rounded down."""
        return LaplaceEvent(float_down(self.scale / self.sensitivity.l1))

    @property
    def profile(self) -> LaplaceProfile:
        """The exact profile of a number; an upper bound for a vector."""
        return LaplaceProfile(float_up(self.largest_loss))

    def delta(self, epsilon: float) -> float:
        """Return 1 − e^((epsilon − ε)/2), from an exact difference: δ may be tiny."""
        beyond = self.largest_loss - at_least_zero("epsilon", epsilon)
        return -math.expm1(-float(beyond) / 2) if beyond > 0 else 0.0

    @property
    def largest_loss(self) -> Fraction:
        """ε = Δ₁/b."""
        return self.sensitivity.l1 / self.scale

    @property
    def standard_deviation(self) -> float:
        """√2 times the scale."""
        return math.sqrt(2) * float(self.scale)

    def half_width(self, level: float = 0.95) -> float:
        """Return b ln(1/(1 − level)) and half a grid cell for the rounding."""
        miss = math.log1p(-inside_unit("level", level))
        return -miss * float(self.scale) + float(self.grid) / 2

    def _noisy(self, value: Fraction, below: Source) -> Fraction:
        cuts = cells.finer(self.grid, self.scale)
        noise = cells.laplace(self.scale * cuts / self.grid, below)
        return cells.middle(noise, value, self.grid, cuts)

    def _float_noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.laplace(scale=float(self.scale), size=shape)


@dataclass(frozen=True)
class DiscreteLaplace(Additive):
    """Add an integer with P(x) ∝ e^(−|x|/b) to a count (the two-sided geometric mechanism).

    Privacy:
        As for :class:`Laplace`, with sums for integrals. Values must lie on the grid, so a change
        of L1 size Δ₁ is at most ⌊Δ₁/grid⌋ steps.

    References:
        [GRS12] A. Ghosh, T. Roughgarden and M. Sundararajan, *Universally Utility-Maximizing
        Privacy Mechanisms*, SIAM J. Comput. 41 (2012).

    >>> from deniable_analysis.central import PureDP, count
    >>> votes = DiscreteLaplace.calibrate(PureDP(1), count())
    >>> votes.event
    DiscreteLaplaceEvent(scale=1.0, sensitivity=1)
    >>> votes.release(412).value.is_integer()
    True
    """

    @classmethod
    def calibrate(
        cls, definition: Definition, sensitivity: Sensitivity, *, grid: Number = 1
    ) -> DiscreteLaplace:
        """Choose the smallest scale that meets a definition; exact for :class:`PureDP`.

        Args:
            definition: PureDP or ZeroConcentratedDP; for (ε, δ) its ε alone is used.
            sensitivity: The query's; its L1 is used.
            grid: Distance of the values the query can take; 1 for counts.
        """
        pure = PureDP(definition.epsilon) if isinstance(definition, ApproximateDP) else definition
        step = above_zero("grid", grid)
        moved = Fraction(_whole_steps(sensitivity.l1, step))
        return cls(definition, sensitivity, moved * step / pure_epsilon(pure), step)

    @property
    def event(self) -> DiscreteLaplaceEvent | PureEvent:
        """Its exact law for one number; for a vector, the ε that all coordinates share."""
        steps = _whole_steps(self.sensitivity.l1, self.grid)
        if self.sensitivity.coordinates > 1:
            return PureEvent(float_up(self.largest_loss))
        return DiscreteLaplaceEvent(float_down(self.scale / self.grid), steps)

    @property
    def profile(self) -> DiscreteLaplaceProfile | ApproximateProfile:
        """The exact profile of a number; for a vector, that of the worst mechanism with its ε."""
        steps = _whole_steps(self.sensitivity.l1, self.grid)
        if self.sensitivity.coordinates > 1 or steps > WIDEST:
            return ApproximateProfile(float_up(self.largest_loss))
        return DiscreteLaplaceProfile(float_down(self.scale / self.grid), steps)

    @property
    def largest_loss(self) -> Fraction:
        """ε = ⌊Δ₁/grid⌋·grid/b."""
        return _whole_steps(self.sensitivity.l1, self.grid) * self.grid / self.scale

    @property
    def standard_deviation(self) -> float:
        """√(2a)/(1 − a) steps for a = e^(−1/b)."""
        rate = float(self.grid / self.scale)
        return float(self.grid) * math.sqrt(2) * math.exp(-rate / 2) / -math.expm1(-rate)

    def half_width(self, level: float = 0.95) -> float:
        """Return the smallest w with P(|x| > w) = 2e^(−(w + 1)/b)/(1 + e^(−1/b)) ≤ 1 − level."""
        rate = float(self.grid / self.scale)
        miss = math.log1p(-inside_unit("level", level))
        steps = (math.log(2 / (1 + math.exp(-rate))) - miss) / rate - 1
        return float(self.grid) * max(0, math.ceil(steps))

    def _noisy(self, value: Fraction, below: Source) -> Fraction:
        return on_grid(value, self.grid) + self.grid * discrete_laplace(
            self.scale / self.grid, below
        )

    def _float_noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        stop = -math.expm1(-float(self.grid / self.scale))
        steps = rng.geometric(stop, size=shape) - rng.geometric(stop, size=shape)
        return np.asarray(steps * float(self.grid), dtype=np.float64)


def on_grid(value: Fraction, grid: Fraction) -> Fraction:
    """Return the value if it lies on the grid.

    Raises:
        MechanismError: If it does not. The value is not shown: it is a true answer.
    """
    if (value / grid).denominator != 1:
        raise MechanismError(f"discrete noise needs values that are multiples of the grid {grid}")
    return value


def _whole_steps(change: Fraction, grid: Fraction) -> int:
    return max(1, change // grid)
