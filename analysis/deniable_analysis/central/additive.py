"""What every mechanism that adds noise to numbers shares: release, simulation, intervals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol.errors import MechanismError

from .arguments import Number, above_zero, at_least_zero, fraction, inside_unit
from .definitions import Definition
from .events import Event
from .profiles import Profile
from .sampling import Source, system_below
from .sensitivity import Sensitivity

Interval: TypeAlias = tuple[float, float]

# The grid is the largest power of two that cuts the noise scale into at least 2^20 steps: the
# released numbers are floats without rounding, and the grid widens an interval by a millionth.
_STEPS = 2**20


def grid_for(scale: Fraction) -> Fraction:
    """Return the default grid for a noise scale: a power of two, at most a 2^20-th of it.

    >>> grid_for(Fraction(1))
    Fraction(1, 1048576)
    """
    target = scale / _STEPS
    power = target.numerator.bit_length() - target.denominator.bit_length()
    grid = Fraction(2) ** power
    return grid if grid <= target else grid / 2


@dataclass(frozen=True)
class Additive(ABC):
    """Add noise to a number, or to each number of a vector.

    Built by a subclass's ``calibrate`` from a definition and a sensitivity; built by hand, it
    claims what it is told to claim, and :func:`deniable_analysis.central.verify` says whether that
    is true.

    Args:
        promise: The definition it is to meet.
        sensitivity: How far one person moves the query.
        scale: Scale of the noise, a fraction in the query's units.
        grid: Distance of neighbouring released values, a fraction in the query's units.
    """

    promise: Definition
    sensitivity: Sensitivity
    scale: Fraction
    grid: Fraction

    def __post_init__(self) -> None:
        above_zero("noise scale", self.scale)
        above_zero("grid", self.grid)
        if self.promise.neighbours is not self.sensitivity.neighbours:
            raise MechanismError(
                f"the promise is for {self.promise.neighbours.value} neighbours, the sensitivity "
                f"for {self.sensitivity.neighbours.value} ones: use the same relation"
            )

    @property
    @abstractmethod
    def event(self) -> Event:
        """What a release costs, for the accountants."""

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """Its δ(ε) and trade-off curve: exact for one number, a bound for a vector."""

    def delta(self, epsilon: float) -> float:
        """Return δ(ε): exact for one number, an upper bound for a vector."""
        return float(self.profile.delta(float(at_least_zero("epsilon", epsilon))))

    @property
    def largest_loss(self) -> Fraction | None:
        """The exact ε of the mechanism, or None if no finite ε holds."""
        return None

    @property
    def rho(self) -> Fraction | None:
        """The exact ρ of the mechanism, or None if it is not Gaussian."""
        return None

    @property
    @abstractmethod
    def standard_deviation(self) -> float:
        """Standard deviation of the noise, in the query's units."""

    @abstractmethod
    def half_width(self, level: float = 0.95) -> float:
        """Return half the width of one number's confidence interval, in the query's units."""

    @abstractmethod
    def _noisy(self, value: Fraction, below: Source) -> Fraction:
        """Draw one released number."""

    @abstractmethod
    def _float_noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw noise for a simulation."""

    def release(self, values: Number | Sequence[Number], below: Source = system_below) -> Released:
        """Release the query's answer with exact noise from the operating system.

        Privacy:
            Meets ``promise`` if ``verify`` passes. Spends ``event`` once.

        Args:
            values: The true answer: a number, or one number per coordinate; int, float or Fraction,
                numpy's included.
            below: The source of randomness; for tests only. There is no seed.

        Returns:
            The noisy answer on the grid, with its interval.

        Raises:
            MechanismError: If a value is not finite, or their number is not the sensitivity's.
        """
        numbers = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
        if len(numbers) != self.sensitivity.coordinates:
            raise MechanismError(
                f"the sensitivity is for {self.sensitivity.coordinates} numbers, got {len(numbers)}"
            )
        exact = [_true_value(number) for number in numbers]
        return Released(self, tuple(self._noisy(value, below) for value in exact))

    def simulate(self, values: ArrayLike, rng: np.random.Generator) -> NDArray[np.float64]:
        """Add floating-point noise, for simulations only: **never release what this returns**.

        Floating-point noise leaks the true value through its last digits (Mironov 2012), and a
        seeded generator can be run again. It is some hundred times faster than :meth:`release`.

        Args:
            values: Made-up answers, any shape.
            rng: A numpy generator.

        Returns:
            Noisy values, float64, the shape of `values`.
        """
        made_up = np.asarray(values, dtype=np.float64)
        return made_up + self._float_noise(made_up.shape, rng)


@dataclass(frozen=True)
class Released:
    """A noisy answer that may be published, with the noise it carries.

    Args:
        mechanism: Where it comes from.
        exact: The released numbers, as fractions on the mechanism's grid.
    """

    mechanism: Additive
    exact: tuple[Fraction, ...]

    @property
    def value(self) -> float:
        """The released number, for a query of one number."""
        if len(self.exact) != 1:
            raise MechanismError(f"a vector of {len(self.exact)} numbers was released: use .values")
        return float(self.exact[0])

    @property
    def values(self) -> tuple[float, ...]:
        """The released numbers, in the query's units."""
        return tuple(map(float, self.exact))

    @property
    def noise_scale(self) -> float:
        """Scale of the noise, in the query's units."""
        return float(self.mechanism.scale)

    def intervals(self, level: float = 0.95, *, together: bool = True) -> tuple[Interval, ...]:
        """Return intervals for the *true answers*: they account for the noise and for nothing else.

        Args:
            level: Chance of covering, in (0, 1).
            together: Whether the chance is for all coordinates at once. Their noise is independent,
                so each then has level^(1/coordinates), exactly.

        Returns:
            One (low, high) per coordinate, in the query's units.
        """
        inside_unit("level", level)
        each = level ** (1 / len(self.exact)) if together else level
        # Outwards: beside a very coarse grid a float loses the noise itself.
        half = math.nextafter(self.mechanism.half_width(each), math.inf)
        return tuple((value - half, value + half) for value in self.values)

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval for the true answer of a query that is one number."""
        (only,) = self.intervals(level)
        return only


def _true_value(value: Number) -> Fraction:
    # The message must not show the value: it is a true answer.
    found = fraction(value)
    if found is None:
        raise MechanismError("a value to release must be a finite int, float or Fraction")
    return found
