"""What zCDP and RDP accountants share: a Rényi curve that adds up, and its best order."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from deniable_analysis.central.accountants import levels, renyi
from deniable_analysis.central.accountants.base import Accountant
from deniable_analysis.central.events import ApproximateEvent, Leaf, sampling_of
from deniable_analysis.central.profiles import Floats

_TABLE = np.exp(np.linspace(math.log(1e-4), math.log(1e5), 200))  # orders less 1, for whole curves


class MomentAccountant(Accountant):
    """Add up Rényi divergences order by order.

    An (ε, δ) release is, but for an event of probability δ, a function of randomized response at ε
    [KOV15], so its δ is set aside and the rest is accounted as ε-private.
    """

    @abstractmethod
    def curve(self, order: float) -> float:
        """Compute the Rényi divergence of everything spent at an order α > 1, in nats."""

    def _epsilon(self, delta: float) -> float:
        if not self.ledger:
            return 0.0
        lost = levels.lost(self.ledger)
        if delta < lost:
            return math.inf
        ceiling = levels.total_level(self.ledger)
        rest = (delta - lost) / (1 - lost) * (1 - 1e-15)
        return min(ceiling, self._best_epsilon(rest)) if rest > 0 else ceiling

    def _best_epsilon(self, delta: float) -> float:
        return renyi.best_epsilon(self.curve, delta)

    def _delta(self, epsilon: float) -> float:
        if not self.ledger:
            return 0.0
        lost = levels.lost(self.ledger)
        if epsilon >= levels.total_level(self.ledger):
            return lost
        return lost + (1 - lost) * math.exp(self._best_log_delta(epsilon))

    def _best_log_delta(self, epsilon: float) -> float:
        return renyi.best_log_delta(self.curve, epsilon)

    def _deltas(self, slopes: Floats) -> Floats:
        """Bound δ at each slope by a table of orders."""
        if not self.ledger:
            return np.zeros_like(slopes)
        lost = levels.lost(self.ledger)
        curve = np.array([self.curve(1 + theta) for theta in _TABLE.tolist()])
        peak = -np.log1p(_TABLE) - _TABLE * np.log1p(1 / _TABLE) + 1e-12
        with np.errstate(invalid="ignore"):
            bound = _TABLE * (curve - slopes[:, None]) + peak
        bound = np.where(np.isfinite(curve), bound, 0.0)
        found = np.exp(np.minimum(bound.min(axis=1), 0.0))
        found = np.where(slopes >= levels.total_level(self.ledger), 0.0, found)
        return np.asarray(lost + (1 - lost) * found)


def as_pure(release: Leaf) -> float | None:
    """Return the ε of a release that is only known to be (ε, δ)-private, for what is left of it."""
    inner = sampling_of(release)[1]
    return inner.epsilon if isinstance(inner, ApproximateEvent) else None
