"""Who is drawn into a batch, and what noise its gradients get: exactly, or for a simulation.

``Exact`` is the one to train with on real records. Gradients are clipped, rounded *towards zero* to
whole steps of a grid and added up as integers, so one record moves the sum by at most the clipping
norm, exactly; the noise is the exact Gaussian of :mod:`deniable_analysis.central.cells` over the
operating system's randomness, and so is the draw of the batch. A floating-point sum does not have
that sensitivity, and floating-point noise has holes that show the true value.

``Simulated`` uses numpy's floats and a seed. It is some hundred times faster, it can be run again,
and it **protects nobody**: it is for made-up or public records.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deniable_analysis.central import cells
from deniable_analysis.central.profiles import Floats
from deniable_analysis.central.sampling import Source, system_below
from deniable_protocol.errors import MechanismError

STEPS = 2**20
"""Grid steps in a clipping norm."""

_BITS = 32  # a chance of being drawn is rounded down to a multiple of 2^-32
_INSIDE = 1 - 2.0**-40  # so that rounding never lifts a clipped gradient over the norm


class Noise(Protocol):
    """The two random parts of a training step."""

    def members(self, records: int, sampling_probability: float) -> NDArray[np.bool_]:
        """Draw each record independently."""

    def noisy_sum(self, gradients: Floats, clip: float, noise_multiplier: float) -> Floats:
        """Add up clipped gradients and add noise of standard deviation clip · multiplier."""


def clipped(gradients: Floats, clip: float) -> Floats:
    """Shorten every gradient that is longer than *clip*, in the L2 norm.

    >>> clipped(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0).round(6).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    norms = np.linalg.norm(gradients, axis=1)
    return np.asarray(
        gradients * np.minimum(1.0, clip * _INSIDE / np.maximum(norms, 1e-300))[:, None]
    )


class Exact:
    """System randomness, integer sums and exact noise; see the module.

    Args:
        below: The source of randomness; for tests only.
    """

    def __init__(self, below: Source = system_below) -> None:
        self._below = below

    def members(self, records: int, sampling_probability: float) -> NDArray[np.bool_]:
        """Draw each record with the chance rounded down to a multiple of 2⁻³²."""
        if records == 0:
            return np.zeros(0, dtype=np.bool_)
        most = int(Fraction(sampling_probability) * 2**_BITS)
        word = self._below(1 << _BITS * records)
        drawn = np.frombuffer(word.to_bytes(_BITS // 8 * records, "little"), dtype="<u4")
        return np.asarray(drawn.astype(np.int64) < most)

    def noisy_sum(self, gradients: Floats, clip: float, noise_multiplier: float) -> Floats:
        """Add integers and exact noise; the result is on the grid clip / 2²⁰, as floats."""
        total = self._sum(gradients, clip)
        variance = (Fraction(noise_multiplier) * STEPS) ** 2
        noisy = [
            cells.middle(cells.gaussian(variance, self._below), Fraction(int(part)), Fraction(1))
            for part in total
        ]
        return np.array([float(part) for part in noisy]) * (clip / STEPS)

    @staticmethod
    def _sum(gradients: Floats, clip: float) -> NDArray[np.int64]:
        steps = np.trunc(clipped(gradients, clip) / clip * STEPS).astype(np.int64)
        if np.any(np.sum(steps**2, axis=1) > STEPS**2):
            raise MechanismError(
                "a clipped gradient is longer than the clipping norm: not released"
            )
        return np.asarray(steps.sum(axis=0))


class Simulated:
    """Floating-point noise from a seeded generator: **for simulations only**.

    Args:
        rng: A numpy generator.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def members(self, records: int, sampling_probability: float) -> NDArray[np.bool_]:
        """Draw each record."""
        return np.asarray(self._rng.random(records) < sampling_probability)

    def noisy_sum(self, gradients: Floats, clip: float, noise_multiplier: float) -> Floats:
        """Add up floats and add floating-point noise."""
        total = clipped(gradients, clip).sum(axis=0)
        return np.asarray(total + self._rng.normal(scale=clip * noise_multiplier, size=total.shape))
