"""Advanced composition, with the best δ′ and never worse than basic."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.optimize import minimize_scalar

from deniable_analysis.central.accountants import levels
from deniable_analysis.central.accountants.base import Accountant, Bounds
from deniable_analysis.central.accountants.basic import sum_at
from deniable_analysis.central.accountants.composition import (
    LEAST_SLACK,
    MOST_STEPS,
    dwork_rothblum_vadhan,
    kairouz_oh_viswanath,
    optimal_epsilon,
)
from deniable_analysis.central.arguments import float_up
from deniable_analysis.central.events import Leaf

BASIC = "basic composition"
ADVANCED = "advanced composition (Dwork, Rothblum and Vadhan)"
REFINED = "advanced composition (Kairouz, Oh and Viswanath, Theorem 3.5)"
OPTIMAL = "optimal composition (Kairouz, Oh and Viswanath, Theorem 3.3)"

_COARSE = 13  # shares of δ that are tried before the search


class AdvancedAccountant(Accountant):
    """Take the smallest ε of the composition theorems for (ε, δ).

    They are basic composition, [DRV10], [KOV15, Theorem 3.5] and, where all steps have the same ε,
    the optimum [KOV15, Theorem 3.3]. With fixed ε and δ per step the best δ′ is simply all that is
    left; where noise leaves the split between δ′ and the steps' own δ open, it is searched for.

    References:
        [DRV10], [KOV15] see :mod:`deniable_analysis.central.accountants.composition`.

    >>> from deniable_analysis.central.events import Neighbours, PureEvent
    >>> accountant = AdvancedAccountant(Neighbours.REPLACE_ONE).spend(PureEvent(0.1), 1000)
    >>> round(accountant.epsilon(1e-6), 4), accountant.bounds(1e-6).method
    (19.3447, 'optimal composition (Kairouz, Oh and Viswanath, Theorem 3.3)')
    """

    name = "advanced"

    def bounds(self, delta: float) -> Bounds:
        """Bound ε at δ from above and say which theorem did best."""
        return self._bounds(self._checked_delta(delta))

    def _refusal(self, release: Leaf) -> str | None:
        return levels.refusal(release)

    def _epsilon(self, delta: float) -> float:
        return self._bounds(delta).upper

    def _delta(self, epsilon: float) -> float:
        lost = levels.lost(self.ledger)
        if epsilon >= levels.total_level(self.ledger):
            return lost
        return self._delta_by_search(epsilon, lost)

    def _bounds(self, delta: float) -> Bounds:
        ledger = self.ledger
        found = Bounds(0.0, sum_at(ledger, delta), BASIC)
        if delta == 0 or not ledger:
            return found
        if all(levels.pure_level(release) is not None for release in ledger):
            return min(found, composed(ledger, delta, 0.0), key=_upper)
        row = np.linspace(-14.0, 6.0, _COARSE)  # logits of the share

        def at(logit: float) -> float:
            return composed(ledger, delta, 1 / (1 + math.exp(-logit))).upper

        values = [at(logit) for logit in row.tolist()]
        best = int(np.argmin(values))
        ends = float(row[max(best - 1, 0)]), float(row[min(best + 1, _COARSE - 1)])
        near = minimize_scalar(at, bounds=ends, method="bounded", options={"xatol": 1e-4})
        logit = float(near.x) if near.fun < values[best] else float(row[best])
        return min(found, composed(ledger, delta, 1 / (1 + math.exp(-logit))), key=_upper)


def composed(ledger: Mapping[Leaf, int], delta: float, share: float) -> Bounds:
    """Compose a ledger at δ, of which *share* goes to the steps whose ε depends on it."""
    own = float_up(levels.total_delta(ledger))
    unsettled = [release for release in ledger if levels.pure_level(release) is None]
    if delta <= own:
        return Bounds(0.0, math.inf, REFINED)
    given = share * (delta - own) if unsettled else 0.0
    each = given / sum(ledger[release] for release in unsettled) if unsettled else 0.0
    steps: dict[float, int] = {}
    for release, count in ledger.items():
        pure = levels.pure_level(release)
        level = levels.level_at(release, each) if pure is None else float_up(pure)
        steps[level] = steps.get(level, 0) + count
    if max(steps) == math.inf:
        return Bounds(0.0, math.inf, REFINED)
    # δ = 1 − (1 − lost)(1 − δ′) [KOV15]; Dwork, Rothblum and Vadhan subtract.
    lost = min(levels.lost(ledger) + given, own + given)
    plain, slack = delta - own - given, (delta - lost) / (1 - lost)
    return _least(sorted(steps.items()), plain * (1 - 1e-15), slack * (1 - 1e-15))


def _least(steps: list[tuple[float, int]], plain: float, slack: float) -> Bounds:
    up = 1 + 1e-13
    found = [Bounds(0.0, kairouz_oh_viswanath(steps, slack) * up, REFINED)]
    found.append(Bounds(0.0, dwork_rothblum_vadhan(steps, plain) * up, ADVANCED))
    if len(steps) == 1 and steps[0][1] <= MOST_STEPS and slack > LEAST_SLACK:
        found.append(Bounds(0.0, optimal_epsilon(*steps[0], slack), OPTIMAL))
    return min(found, key=_upper)


def _upper(bounds: Bounds) -> float:
    return bounds.upper
