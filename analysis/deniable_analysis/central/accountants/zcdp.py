"""Zero-concentrated differential privacy: one number ρ that adds up."""

from __future__ import annotations

import math

from deniable_analysis.central.accountants import levels
from deniable_analysis.central.accountants.moments import MomentAccountant
from deniable_analysis.central.events import (
    DiscreteGaussianEvent,
    GaussianEvent,
    Leaf,
    PoissonSampledEvent,
    ZCDPEvent,
)

_UP = 1 + 1e-14


class ZCDPAccountant(MomentAccountant):
    """Add up ρ [BS16] and turn the sum into (ε, δ) by the best order [CKS20, Proposition 12].

    Gaussian noise has ρ = Δ²/2σ². An ε-private release has ρ = ε tanh(ε/2), which is below ε²/2:
    for randomized response, the worst of them, ln cosh(√y) is concave in y = ((α − ½)ε)², so its
    divergence over α falls with α, from the Kullback–Leibler divergence ε tanh(ε/2) at α = 1.

    References:
        [BS16] M. Bun and T. Steinke, *Concentrated Differential Privacy*, TCC 2016.
        [WRRW23] J. Whitehouse, A. Ramdas, R. Rogers and S. Wu, *Fully-Adaptive Composition in
            Differential Privacy*, ICML 2023, Theorem 1.
        [CKS20] see :mod:`deniable_analysis.central.accountants.renyi`.

    >>> from deniable_analysis.central.events import Neighbours
    >>> accountant = ZCDPAccountant(Neighbours.REPLACE_ONE).spend(ZCDPEvent(0.1))
    >>> round(accountant.epsilon(1e-5), 9)
    1.914238832
    """

    name = "zcdp"

    @property
    def rho(self) -> float:
        """The total ρ of everything spent (but for δ of its own), rounded up."""
        return math.fsum(count * rho_of(release) for release, count in self.ledger.items()) * _UP

    def curve(self, order: float) -> float:
        """Compute ρα."""
        return self.rho * order

    def filter_refusal(self, release: Leaf) -> str | None:
        """Allow adaptively chosen noise: a sum of ρ may be stopped at any time [WRRW23]."""
        return None

    def _refusal(self, release: Leaf) -> str | None:
        if isinstance(release, PoissonSampledEvent):
            return "zero-concentrated privacy gains nothing from sampling: use rdp or pld"
        return None


def rho_of(release: Leaf) -> float:
    """Compute ρ of one unsampled release, to an ulp or two."""
    match release:
        case GaussianEvent():
            return 0.5 / release.noise_multiplier / release.noise_multiplier
        case DiscreteGaussianEvent():
            ratio = release.sensitivity / release.sigma
            return 0.5 * ratio * ratio
        case ZCDPEvent():
            return release.rho
        case _:
            level = float(levels.pure_level(release) or 0)
            return level * math.tanh(level / 2)
