"""Basic composition: every ε and every δ added up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from deniable_analysis.central.accountants import levels
from deniable_analysis.central.accountants.base import Accountant
from deniable_analysis.central.arguments import float_up
from deniable_analysis.central.events import Leaf
from deniable_analysis.central.profiles import ApproximateProfile


class BasicAccountant(Accountant):
    """Add up ε and δ [DMNS06, DKM06].

    Releases without an ε of their own (Gaussian noise) share what is left of δ equally, and each
    has the exact ε of its share.

    References:
        [DKM06] C. Dwork et al., *Our Data, Ourselves*, EUROCRYPT 2006, Theorem 1.

    >>> from deniable_analysis.central.events import Neighbours, PureEvent
    >>> BasicAccountant(Neighbours.REPLACE_ONE).spend(PureEvent(0.25), 8).epsilon(0.0)
    2.0
    """

    name = "basic"

    def _refusal(self, release: Leaf) -> str | None:
        return levels.refusal(release)

    def filter_refusal(self, release: Leaf) -> str | None:
        """Allow adaptively chosen releases whose ε and δ are fixed when they are chosen."""
        if levels.pure_level(release) is None:
            return "its share of delta depends on what comes later"
        return None

    def _epsilon(self, delta: float) -> float:
        return sum_at(self.ledger, delta)

    def _delta(self, epsilon: float) -> float:
        known = levels.total_level(self.ledger)
        own = levels.total_delta(self.ledger)
        if own >= 1:
            return 1.0
        if math.isfinite(known):
            return float(ApproximateProfile(known, float_up(own)).delta(epsilon)) * (1 + 1e-12)
        return self._delta_by_search(epsilon, float_up(own))


def sum_at(ledger: Mapping[Leaf, int], delta: float) -> float:
    """Compute basic composition's ε at a total δ."""
    rest = Fraction(delta) - levels.total_delta(ledger)
    if rest < 0:
        return math.inf
    unsettled = [release for release in ledger if levels.pure_level(release) is None]
    known = levels.total_level({r: n for r, n in ledger.items() if r not in unsettled})
    if not unsettled:
        return known
    share = float(rest / sum(ledger[release] for release in unsettled)) * (1 - 4e-16)
    if share == 0:
        return math.inf
    found = sum(ledger[release] * levels.level_at(release, share) for release in unsettled)
    return (found + known) * (1 + 1e-14)
