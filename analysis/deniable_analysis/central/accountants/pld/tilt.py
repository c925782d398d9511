"""Choose the exponential tilt, the window and the step before anything is put on a lattice.

A sum S of privacy losses whose tail is as small as δ = 1e-30 cannot be convolved in float64: the
transform's rounding is 1e-16 of the *largest* mass. Weighted by e^(θS) the part that decides δ
becomes the bulk, and rounding is relative to δ itself. K(θ) = Σ ln E e^(θL), the cumulant
generating function under P, says which θ that is and where the tilted sum lies.

References:
    [CKS20] C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy*,
        NeurIPS 2020, Proposition 12: sup_x e^(−θx)(1 − e^(−x)) = θ^θ / (1 + θ)^(1 + θ).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from deniable_analysis.central.profiles import Floats

_FLATTEST, _STEEPEST = -9.0, 14.0  # ln θ


@dataclass(frozen=True, slots=True)
class Window:
    """Where a tilted sum is looked at, and the changes of θ that bound what lies outside.

    Args:
        theta: The tilt.
        low: Low end.
        high: High end.
        down: For the mass below ``low``.
        fold: For the mass so far above ``high`` that it is folded back above ε.
        up: For the mass above ``high``.
    """

    theta: float
    low: float
    high: float
    down: float
    fold: float
    up: float


@dataclass(frozen=True, slots=True)
class Law:
    """A law of one release's privacy loss, and how often it is added.

    Args:
        mass: P of each loss; above 0.
        loss: The losses; finite.
        count: How often the release happens.
    """

    mass: Floats
    loss: Floats
    count: int

    def cgf(self, theta: float) -> float:
        """Compute ln E e^(θL) of one release."""
        power = theta * self.loss
        top = float(power.max())
        return top + math.log(float(self.mass @ np.exp(power - top)))

    def tilted(self, theta: float) -> Floats:
        """Compute the masses of one release under the tilt θ; they add to 1."""
        power = theta * self.loss
        weight = self.mass * np.exp(power - power.max())
        return np.asarray(weight / weight.sum())


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of independent privacy losses, seen through its cumulant generating function."""

    laws: tuple[Law, ...]

    def cgf(self, theta: float) -> float:
        """Compute K(θ)."""
        return sum(law.count * law.cgf(theta) for law in self.laws)

    def moments(self, theta: float) -> tuple[float, float]:
        """Compute mean and variance of the sum under the tilt θ."""
        mean = variance = 0.0
        for law in self.laws:
            weight = law.tilted(theta)
            centre = float(weight @ law.loss)
            mean += law.count * centre
            variance += law.count * float(weight @ (law.loss - centre) ** 2)
        return mean, variance

    def for_delta(self, log_delta: float) -> tuple[float, float]:
        """Find the tilt that bounds ε best at δ, and that bound."""
        return _least(lambda t: (self.cgf(t) + log_peak(t) - log_delta) / t)

    def for_epsilon(self, epsilon: float) -> tuple[float, float]:
        """Find the tilt that bounds ln δ best at ε, and that bound."""
        return _least(lambda t: self.cgf(t) + log_peak(t) - t * epsilon)

    def gentle(self, steep: float, epsilon: float) -> float:
        """Find the smallest tilt whose bound on δ at ε is at most e^3 times that of *steep*.

        It loses little accuracy and keeps the window narrow where few large losses decide.
        """
        most = self.cgf(steep) - steep * epsilon + 3.0
        low, high = min(steep, 0.3 / epsilon), steep
        if self.cgf(low) - low * epsilon <= most:
            return low
        while high > 1.05 * low:
            middle = math.sqrt(low * high)
            if self.cgf(middle) - middle * epsilon <= most:
                high = middle
            else:
                low = middle
        return high

    def window(self, theta: float, epsilon: float, log_tail: float) -> Window:
        """Find the period that a circular convolution under the tilt θ needs to tell δ near ε.

        Below, the tilted sum must lie in the window but for e^*log_tail* (Chernoff). Above, less is
        needed: losses beyond the window are weighted by e^(−θS) in δ, and what is folded back lands
        below ε, where it adds nothing, unless it is beyond by more than ε − low.
        """
        base = self.cgf(theta)
        down, low = _least(lambda s: (self.cgf(theta - s) - base - log_tail) / s)
        low = min(-low, epsilon)
        fold, high = _least(lambda s: (self.cgf(theta + s) - base - log_tail) / s)
        up, needed = _least(
            lambda s: (self.cgf(theta + s) - base - log_tail + theta * epsilon) / (s + theta)
        )
        return Window(theta, low, max(high - epsilon + low, needed, epsilon), down, fold, up)

    def log_tail(self, theta: float, change: float, end: float) -> float:
        """Bound ln P(S beyond *end*) under the tilt θ by the exponential moment at θ + *change*."""
        return self.cgf(theta + change) - self.cgf(theta) - change * end


def log_peak(theta: float) -> float:
    """Compute ln sup_x e^(−θx)(1 − e^(−x)) [CKS20]."""
    return -math.log1p(theta) - theta * math.log1p(1 / theta)


def _least(objective: Callable[[float], float]) -> tuple[float, float]:
    """Minimise over a positive number on a logarithmic scale; any answer found is a valid bound."""
    found = minimize_scalar(
        lambda u: objective(math.exp(u)),
        bounds=(_FLATTEST, _STEEPEST),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return math.exp(found.x), float(found.fun)
