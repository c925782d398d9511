"""Gaussian differential privacy: one number μ, composed as a root of squares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from deniable_analysis.central.accountants import levels
from deniable_analysis.central.accountants.base import Accountant
from deniable_analysis.central.events import (
    ApproximateEvent,
    GaussianEvent,
    Leaf,
    PoissonSampledEvent,
    check_count,
    check_real,
    check_share,
)
from deniable_analysis.central.profiles import Floats, GaussianProfile, check_alpha

_UP = 1 + 1e-14


class GDPAccountant(Accountant):
    """Compose Gaussian mechanisms exactly: μ = √Σμᵢ² [DRS22, Corollary 3.3].

    An ε-private release is Gaussian-private with Φ(−μ/2) = 1/(1 + e^ε): the Gaussian trade-off
    curve through the corner of the ε-private one is convex and therefore lies below it.

    References:
        [DRS22] J. Dong, A. Roth and W. Su, *Gaussian Differential Privacy*, JRSS-B 84 (2022).
        [ST22] A. Smith and A. Thakurta, *Fully Adaptive Composition for Gaussian Differential
            Privacy*, arXiv:2210.17520: μ² may be stopped at any time.

    >>> from deniable_analysis.central.events import Neighbours
    >>> accountant = GDPAccountant(Neighbours.REPLACE_ONE).spend(GaussianEvent(2.0), 4)
    >>> accountant.mu, round(accountant.epsilon(1e-5), 6)
    (1.00000000000001, 4.377178)
    """

    name = "gdp"

    @property
    def mu(self) -> float:
        """The total μ, rounded up."""
        parts = [math.sqrt(count) * mu_of(release) for release, count in self.ledger.items()]
        return math.hypot(*parts) * _UP

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute Φ(Φ⁻¹(1 − α) − μ), exactly."""
        given = check_alpha(alpha)
        return GaussianProfile(self.mu).trade_off(given) if self.mu else np.asarray(1 - given)

    def filter_refusal(self, release: Leaf) -> str | None:
        """Allow adaptively chosen noise [ST22]."""
        return None

    def _refusal(self, release: Leaf) -> str | None:
        if isinstance(release, PoissonSampledEvent):
            return "the central limit theorem for samples is no bound: use rdp or pld"
        if isinstance(release, ApproximateEvent) and release.delta:
            return "a release with a delta of its own has no finite mu"
        if not isinstance(release, GaussianEvent) and levels.pure_level(release) is None:
            return "no mu is known for it"
        return None

    def _epsilon(self, delta: float) -> float:
        ceiling = levels.total_level(self.ledger)
        if delta == 0 or ceiling == 0 or math.isinf(self.mu):
            return ceiling
        return min(GaussianProfile(self.mu).epsilon(delta), ceiling)

    def _delta(self, epsilon: float) -> float:
        if epsilon >= levels.total_level(self.ledger):
            return 0.0
        if math.isinf(self.mu):
            return 1.0
        return float(GaussianProfile(self.mu).delta(epsilon)) * (1 + 1e-12)


def mu_of(release: Leaf) -> float:
    """Compute μ of one release."""
    if isinstance(release, GaussianEvent):
        return 1 / release.noise_multiplier
    level = float(levels.pure_level(release) or 0)
    # Φ(−μ/2) = 1/(1 + e^ε); beyond ε = 700 by ln Φ(−t) < −t²/2.
    corner = -2 * float(ndtri(1 / (1 + math.exp(min(level, 700.0))))) if level else 0.0
    return corner if level <= 700 else 2 * math.sqrt(2 * level)


def central_limit_mu(sampling_probability: float, noise_multiplier: float, steps: int) -> float:
    """Approximate μ of Gaussian noise on Poisson samples: **an estimate that can be too small**.

    q √(T (e^(1/σ²) − 1)) is the limit for T → ∞ with q√T fixed [DRS22, Corollary 5.4]. At finite T
    it is neither an upper nor a lower bound, so no accountant here ever uses it.

    Args:
        sampling_probability: q in [0, 1].
        noise_multiplier: σ over sensitivity; above 0.
        steps: T.

    >>> round(central_limit_mu(0.1, 2.0, 100), 9)
    0.53294035
    """
    q = check_share("sampling_probability", sampling_probability, one=True)
    sigma = check_real("noise_multiplier", noise_multiplier)
    square = 1 / sigma / sigma
    steps = check_count("steps", steps)
    return q * math.sqrt(steps * math.expm1(square)) if square < 700 else math.inf
