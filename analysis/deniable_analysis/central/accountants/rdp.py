"""Rényi differential privacy: a divergence at every order, each of which adds up."""

from __future__ import annotations

import math

from deniable_analysis.central.accountants import renyi
from deniable_analysis.central.accountants.moments import MomentAccountant, as_pure
from deniable_analysis.central.events import Leaf, Neighbours, PureEvent, check_real
from deniable_protocol.errors import EventError


class RDPAccountant(MomentAccountant):
    """Add up Rényi divergences [Mir17]; with Poisson samples, the moments accountant [ACG16].

    All orders above 1 are searched, not a list of them, so no list can be a bad one.

    Args:
        neighbours: Which data sets count as neighbours.
        order: A single order α > 1 to account at, fixed before the data is seen. It costs
            tightness and makes the accountant valid for noise that is chosen adaptively [FZ21].

    References:
        [Mir17], [ACG16] see :mod:`deniable_analysis.central.accountants.renyi`.
        [FZ21] V. Feldman and T. Zrnic, *Individual Privacy Accounting via a Rényi Filter*,
            NeurIPS 2021, Theorem 4.3.

    >>> from deniable_analysis.central.events import GaussianEvent, PoissonSampledEvent
    >>> step = PoissonSampledEvent(256 / 60000, GaussianEvent(1.1))
    >>> accountant = RDPAccountant(Neighbours.ADD_OR_REMOVE_ONE).spend(step, 14062)
    >>> round(accountant.epsilon(1e-5), 4)
    2.5965
    """

    name = "rdp"

    def __init__(self, neighbours: Neighbours, *, order: float | None = None) -> None:
        super().__init__(neighbours)
        if order is not None and check_real("order", order) <= 1:
            raise EventError(f"order must be above 1, got {order!r}")
        self._order = order

    def curve(self, order: float) -> float:
        """Compute the Rényi divergence of everything spent at an order α > 1, in nats."""
        if self._order not in (None, order):
            return math.inf
        return math.fsum(n * renyi.divergence(_known(r), order) for r, n in self.ledger.items())

    def filter_refusal(self, release: Leaf) -> str | None:
        """Allow adaptively chosen noise at a single order."""
        return super().filter_refusal(release) if self._order is None else None

    def _refusal(self, release: Leaf) -> str | None:
        return renyi.refusal(release)

    def _best_epsilon(self, delta: float) -> float:
        if self._order is None:
            return super()._best_epsilon(delta)
        return renyi.epsilon_at(self._order - 1, self.curve(self._order), delta)

    def _best_log_delta(self, epsilon: float) -> float:
        if self._order is None:
            return super()._best_log_delta(epsilon)
        return renyi.log_delta_at(self._order - 1, self.curve(self._order), epsilon)


def _known(release: Leaf) -> Leaf:
    level = as_pure(release)
    return release if level is None else PureEvent(level)
