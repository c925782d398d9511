"""Real-valued noise, seen through a grid: the exact cell in which the ideal output lies.

The textbook Laplace and Gaussian mechanisms add a *real* number, which no computer holds. What is
released here is the cell of a grid that the ideal output ``value + noise`` falls in, with exactly
the chance the ideal mechanism gives it. A cell is a function of the ideal output (post-processing),
so every theorem about the real-valued mechanism holds for what is released, unchanged: for floats,
for vectors of any length, in every accountant. The grid costs resolution, never privacy.

A real number is drawn as a whole number of steps plus a remainder in [0, 1) whose binary digits are
drawn only when a comparison needs them (:class:`Remainder`), so every decision is one about
integers.

References:
    [Kar16] C. F. F. Karney, *Sampling Exactly from the Normal Distribution*, ACM TOMS 42 (2016):
    digits on demand.
    [CKS20] see :mod:`deniable_analysis.central.sampling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from deniable_protocol.errors import MechanismError

from .sampling import (
    Source,
    bernoulli,
    bernoulli_exp,
    floor_sqrt,
    geometric,
    until,
)

_BITS = 32


class Remainder:
    """A uniform real number in [0, 1), known to as many binary digits as were needed so far."""

    def __init__(self, below: Source, bits: int = _BITS) -> None:
        self._below = below
        self.bits = bits
        self._digits = 0
        self._scale = 1

    @property
    def low(self) -> Fraction:
        """The largest number known not to be above it."""
        return Fraction(self._digits, self._scale)

    @property
    def high(self) -> Fraction:
        """The smallest number known not to be below it."""
        return Fraction(self._digits + 1, self._scale)

    def refine(self) -> None:
        """Draw the next digits."""
        self._digits = (self._digits << self.bits) | self._below(1 << self.bits)
        self._scale <<= self.bits


@dataclass(frozen=True)
class Real:
    """A real ``sign · (steps + remainder) + offset``, known as well as was needed."""

    negative: bool
    steps: int
    remainder: Remainder
    offset: Fraction = Fraction(0)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return two fractions that the number lies between."""
        near = self.steps + self.remainder.low
        far = self.steps + self.remainder.high
        if self.negative:
            near, far = -far, -near
        return self.offset + near, self.offset + far

    def floor(self) -> int:
        """Return the largest whole number below it; digits are drawn until it is certain.

        A real number is whole with chance 0, so this ends with chance 1.
        """
        while True:
            low, high = self.bounds()
            first = low // 1
            # The number lies strictly inside its bounds (with chance 1), so an upper bound that
            # is itself whole does not belong to the next cell.
            if high <= first + 1:
                return int(first)
            self.remainder.refine()

    def is_above(self, other: Real) -> bool:
        """Tell which of two is larger; digits are drawn until it is certain."""
        while True:
            low, high = self.bounds()
            other_low, other_high = other.bounds()
            if low >= other_high:
                return True
            if high <= other_low:
                return False
            self.remainder.refine()
            other.remainder.refine()


def accept_exp(gamma: Callable[[Fraction], Fraction], remainder: Remainder, below: Source) -> bool:
    """Draw true with chance exp(−gamma(u)), exactly, for a u known only by its digits.

    Args:
        gamma: Increasing in u, at least 0 on [0, 1].
        remainder: The number u.
        below: The source of randomness.
    """
    # exp(−γ) is the chance that `pieces` independent exp(−γ/pieces) all succeed; the race of
    # [CKS20], Algorithm 1 needs a γ of at most 1.
    pieces = max(1, -(-gamma(Fraction(1)) // 1))
    return all(_race(gamma, int(pieces), remainder, below) for _ in range(int(pieces)))


def _race(
    gamma: Callable[[Fraction], Fraction], pieces: int, remainder: Remainder, below: Source
) -> bool:
    k = 1
    while _is_below(Remainder(below, remainder.bits), gamma, pieces * k, remainder):
        k += 1
    return k % 2 == 1


def _is_below(
    uniform: Remainder, gamma: Callable[[Fraction], Fraction], divisor: int, remainder: Remainder
) -> bool:
    """Tell whether uniform < gamma(remainder)/divisor; draw digits of both until it is certain."""
    while True:
        if uniform.high * divisor <= gamma(remainder.low):
            return True
        if uniform.low * divisor >= gamma(remainder.high):
            return False
        uniform.refine()
        remainder.refine()


def exponential(scale: Fraction, below: Source, bits: int = _BITS) -> tuple[int, Remainder]:
    """Draw a real number with density proportional to exp(−z/scale), z ≥ 0.

    Args:
        scale: A fraction above 0.
        below: The source of randomness.
        bits: Digits drawn at a time.

    Returns:
        Its whole part and its remainder; they are independent.
    """

    def accepted(below: Source) -> Remainder | None:
        remainder = Remainder(below, bits)
        return remainder if accept_exp(lambda u: u / scale, remainder, below) else None

    return geometric(scale, below), until(accepted, below)


def laplace(scale: Fraction, below: Source, bits: int = _BITS) -> Real:
    """Draw a real number with density exp(−|z|/scale)/(2·scale).

    >>> from deniable_analysis.central.sampling import system_below
    >>> isinstance(laplace(Fraction(3), system_below).floor(), int)
    True
    """
    steps, remainder = exponential(scale, below, bits)
    return Real(bernoulli(Fraction(1, 2), below), steps, remainder)


def gaussian(variance: Fraction, below: Source, bits: int = _BITS) -> Real:
    """Draw a real normal number with mean 0 and exactly this variance.

    With z = k + u the density exp(−z²/2σ²) is exp(−k²/2σ²) · exp(−u(2k + u)/2σ²): the whole part
    is a candidate drawn as in [CKS20], Algorithm 3, and the remainder accepts or refuses it.

    >>> from deniable_analysis.central.sampling import system_below
    >>> isinstance(gaussian(Fraction(9), system_below).floor(), int)
    True
    """
    if variance <= 0:
        raise MechanismError(f"variance must be above 0, got {variance}")
    t = floor_sqrt(variance) + 1

    def accepted(below: Source) -> tuple[int, Remainder] | None:
        steps = geometric(Fraction(t), below)
        if not bernoulli_exp((steps - variance / t) ** 2 / (2 * variance), below):
            return None
        remainder = Remainder(below, bits)
        kept = accept_exp(_normal_exponent(steps, variance), remainder, below)
        return (steps, remainder) if kept else None

    steps, remainder = until(accepted, below)
    return Real(bernoulli(Fraction(1, 2), below), steps, remainder)


def _normal_exponent(steps: int, variance: Fraction) -> Callable[[Fraction], Fraction]:
    return lambda u: u * (2 * steps + u) / (2 * variance)


def finer(grid: Fraction, scale: Fraction) -> int:
    """Return into how many steps to cut a grid cell so that none is wider than the noise.

    Noise far narrower than a step would be drawn by rejection for a long time.

    >>> finer(Fraction(1), Fraction(10)), finer(Fraction(1), Fraction(2, 5))
    (1, 3)
    """
    return max(1, math.ceil(grid / scale))


def middle(noise: Real, value: Fraction, grid: Fraction, cuts: int = 1) -> Fraction:
    """Return the middle of the grid cell that the value and its noise fall in.

    Args:
        noise: Drawn in steps of grid/cuts.
        value: The true answer.
        grid: Width of a cell.
        cuts: Steps to a cell; see :func:`finer`.

    >>> from deniable_analysis.central.sampling import system_below
    >>> middle(laplace(Fraction(1), system_below), Fraction(7, 3), Fraction(1, 2)) % Fraction(1, 2)
    Fraction(1, 4)
    """
    step = replace(noise, offset=value * cuts / grid).floor()
    return (step // cuts + Fraction(1, 2)) * grid
