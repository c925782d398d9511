"""Convolve lattices under a tilt and read certified δ(ε) and ε(δ) off the result.

Everything that float64 or the finite window may have lost is bounded and added to δ (upper bounds)
or taken from it (lower bounds):

- rounding of the transforms and of the powers, in the 2-norm; the constant is the textbook one for
  FFTs [Hig02] times eight, as it is not proved for the library used here;
- mass of the tilted sum outside the window, which the circular convolution folds back (Chernoff).

References:
    [Hig02] N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed. 2002, Thm 24.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len

from deniable_analysis.central.accountants.pld.cells import Lattice
from deniable_analysis.central.accountants.pld.spectrum import transformed
from deniable_analysis.central.accountants.pld.tilt import Law, Sum, Window, log_peak
from deniable_analysis.central.profiles import Floats

_ULP = 2.0**-53
_MASS_ERROR = 4e-15  # relative, of one mass: quadrature is right to 1e-15, exp and log to an ulp
LOG_TAIL = -32.0  # ln of the tilted mass that may lie outside the window
_LARGEST_POWER = 600.0  # e^600 is far from float64's end and far beyond any δ = 1


@dataclass(frozen=True, slots=True)
class Convolved:
    """The sum of privacy losses under a tilt, with everything that may be missing from it.

    Args:
        losses: Losses in the window, increasing; shape (n,).
        above: Suffix sums of P e^(−scale), over losses at and above each; shape (n + 1,).
        shrunk: The same of P e^(−(loss − centre)).
        scale: ln of the unit in which ``above`` and ``shrunk`` are.
        centre: A loss in the middle of what matters.
        theta: The tilt.
        step: The lattice's step.
        rounding: Bound on the 2-norm of the error of the tilted masses.
        under: Bound on the tilted mass below the window.
        fold: Logarithm and slope of a bound on the tilted mass beyond ``losses[-1] + e``, e ≥ 0.
        beyond: Bound on what losses above the window add to δ, in units of e^scale.
        infinite: P at infinite loss.
        raised: How much the sum may have been raised by rounding.
        slop: Relative error that rounding of the single masses may have added up to.
    """

    losses: Floats
    above: Floats
    shrunk: Floats
    scale: float
    centre: float
    theta: float
    step: float
    rounding: float
    under: float
    fold: tuple[float, float]
    beyond: float
    infinite: float
    raised: float
    slop: float

    def upper_delta(self, epsilon: float) -> float:
        """Bound δ(ε) from above."""
        value, doubt = self._delta(epsilon)
        return self._total((value + doubt + self.beyond) * math.exp(self.slop))

    def lower_delta(self, epsilon: float) -> float:
        """Bound δ(ε) from below."""
        value, doubt = self._delta(epsilon + self.raised)
        return self._total(max(value - doubt, 0.0) * math.exp(-self.slop))

    def upper_epsilon(self, delta: float) -> float:
        """Find an ε that is certainly enough for δ; inf if none in the window is."""
        if self.upper_delta(0.0) <= delta:
            return 0.0
        low, high = 0.0, float(self.losses[-1])
        if self.upper_delta(high) > delta:
            return math.inf
        return self._bisect(lambda e: self.upper_delta(e) > delta, low, high)[1]

    def lower_epsilon(self, delta: float) -> float:
        """Find an ε that is certainly not enough for δ, or 0.

        Far from the tilt the doubt exceeds δ, so the search starts at the last ε of a coarse row
        at which the bound still bites.
        """
        row = np.linspace(max(0.0, float(self.losses[0])), float(self.losses[-1]), 1024)
        biting = [e for e in row.tolist() if self.lower_delta(e) > delta]
        if not biting:
            return 0.0
        high = biting[-1] + float(row[1] - row[0])
        return self._bisect(lambda e: self.lower_delta(e) > delta, biting[-1], high)[0]

    @staticmethod
    def _bisect(fails: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
        """Close in on the border between failing and not failing, keeping both ends certain."""
        while high - low > 1e-13 * high:
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if fails(middle) else (low, middle)
        return low, high

    def _delta(self, epsilon: float) -> tuple[float, float]:
        """Compute the window's share of δ(ε) and its doubt, in units of e^scale."""
        at = int(np.searchsorted(self.losses, epsilon, side="right"))
        rise = math.exp(min(epsilon - self.centre, _LARGEST_POWER))
        value = self.above[at] - rise * self.shrunk[at]
        weight = math.exp(min(self.theta * (self.centre - epsilon), _LARGEST_POWER))
        spread = math.sqrt(min(len(self.losses), 1 + 1 / (2 * self.theta * self.step)))
        folded = self.fold[0] - self.fold[1] * max(epsilon - float(self.losses[0]), 0.0)
        outside = self.under + math.exp(min(folded, 0.0))
        doubt = weight * (self.rounding * spread + outside * math.exp(log_peak(self.theta)))
        summing = 2 * len(self.losses) * _ULP * (self.above[at] + rise * self.shrunk[at])
        return float(value), float(doubt + summing)

    def _total(self, finite: float) -> float:
        """Add the infinite losses to the finite ones."""
        with np.errstate(over="ignore"):
            part = float(np.exp(min(self.scale, _LARGEST_POWER))) * finite
        return min(self.infinite + part, 1.0)


def convolve(
    lattices: Sequence[Lattice], counts: Sequence[int], theta: float, epsilon: float
) -> Convolved:
    """Add up privacy losses: each lattice *counts* times, all of one step.

    Args:
        lattices: At least one.
        counts: How often each is added.
        theta: The tilt.
        epsilon: Where δ is to be told; far below it, the doubt is larger.

    Returns:
        The sum's law with its certificates.
    """
    laws = [Law(part.mass, part.losses, n) for part, n in zip(lattices, counts, strict=True)]
    total = Sum(tuple(laws))
    window = total.window(theta, epsilon, LOG_TAIL)
    step = lattices[0].step
    size = next_fast_len(math.ceil((window.high - window.low) / step) + 2, real=True)
    masses, rounding = transformed(lattices, laws, theta, size)
    anchor = sum(n * part.anchor for part, n in zip(lattices, counts, strict=True))
    first = math.floor((window.low - anchor) / step)
    masses = np.maximum(np.roll(masses, -(first % size)), 0.0)
    losses = anchor + step * (first + np.arange(size))
    return _certified(total, lattices, masses, losses, rounding, window)


def _certified(
    total: Sum,
    lattices: Sequence[Lattice],
    masses: Floats,
    losses: Floats,
    rounding: float,
    window: Window,
) -> Convolved:
    """Turn tilted masses back into suffix sums and attach what may be missing."""
    theta = window.theta
    centre = total.moments(theta)[0]
    scale = total.cgf(theta) - theta * centre
    power = np.clip(-theta * (losses - centre), -700.0, _LARGEST_POWER)
    plain = masses * np.exp(power)
    steeper = np.clip(-(1 + theta) * (losses - centre), -700.0, _LARGEST_POWER)
    shrunk = masses * np.exp(steeper)
    top, bottom = float(losses[-1]), float(losses[0])
    above = math.exp(min(total.log_tail(theta, window.up, top), 0.0))
    under = math.exp(min(total.log_tail(theta, -window.down, bottom), 0.0))
    fold = total.log_tail(theta, window.fold, top)
    counts = [law.count for law in total.laws]
    finite = sum(n * math.log1p(-part.infinite) for part, n in zip(lattices, counts, strict=True))
    return Convolved(
        losses=losses,
        above=_suffix_sums(plain),
        shrunk=_suffix_sums(shrunk),
        scale=scale,
        centre=centre,
        theta=theta,
        step=lattices[0].step,
        rounding=rounding,
        under=under,
        fold=(fold, window.fold),
        beyond=above * math.exp(min(theta * (centre - top), _LARGEST_POWER)),
        infinite=-math.expm1(finite),
        raised=sum(n * part.raised for part, n in zip(lattices, counts, strict=True)),
        slop=1e-12 + _MASS_ERROR * sum(counts),
    )


def _suffix_sums(values: Floats) -> Floats:
    """Add up from each place to the end; one longer than *values*."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)
