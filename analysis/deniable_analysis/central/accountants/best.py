"""The tightest valid answer of all accountants, and which one gave it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from deniable_analysis.central.accountants.advanced import AdvancedAccountant
from deniable_analysis.central.accountants.base import Accountant, Bounds
from deniable_analysis.central.accountants.basic import BasicAccountant
from deniable_analysis.central.accountants.gdp import GDPAccountant
from deniable_analysis.central.accountants.pld.accountant import PLDAccountant
from deniable_analysis.central.accountants.rdp import RDPAccountant
from deniable_analysis.central.accountants.zcdp import ZCDPAccountant
from deniable_analysis.central.events import Leaf, Neighbours
from deniable_analysis.central.profiles import Floats
from deniable_protocol.errors import EventError

ACCOUNTANTS: dict[str, Callable[[Neighbours], Accountant]] = {
    "basic": BasicAccountant,
    "advanced": AdvancedAccountant,
    "zcdp": ZCDPAccountant,
    "rdp": RDPAccountant,
    "gdp": GDPAccountant,
    "pld": PLDAccountant,
}


def accountant_for(name: str, neighbours: Neighbours) -> Accountant:
    """Make an accountant by its name.

    Args:
        name: ``basic``, ``advanced``, ``zcdp``, ``rdp``, ``gdp``, ``pld`` or ``best``.
        neighbours: Which data sets count as neighbours.

    Raises:
        EventError: If there is no accountant of that name.
    """
    make = {**ACCOUNTANTS, "best": BestAccountant}.get(name)
    if make is None:
        names = ", ".join([*ACCOUNTANTS, "best"])
        raise EventError(f"accountant must be one of {names}; got {name!r}")
    return make(neighbours)


class BestAccountant(Accountant):
    """Ask every accountant that can take the whole ledger, and keep the smallest answer.

    Every answer is an upper bound, so the smallest is one too.

    >>> from deniable_analysis.central.events import LaplaceEvent
    >>> accountant = BestAccountant(Neighbours.REPLACE_ONE).spend(LaplaceEvent(10.0), 100)
    >>> found = accountant.bounds(1e-6)
    >>> found.method, round(found.upper, 3)
    ('pld: privacy loss distribution', 4.693)
    """

    name = "best"

    def bounds(self, delta: float) -> Bounds:
        """Bound ε at δ; ``method`` names the accountant and what its bound rests on."""
        checked = self._checked_delta(delta)
        found = {part.name: part.bounds(checked) for part in self._able()}
        name = min(found, key=lambda each: found[each].upper)
        upper, method = found[name].upper, found[name].method
        under = min(max(each.lower for each in found.values()), upper)
        return Bounds(under, upper, name if name == method else f"{name}: {method}")

    def _refusal(self, release: Leaf) -> str | None:
        taken = [_takers(each, self._neighbours) for each in (*self._counts, release)]
        if not frozenset.intersection(*taken):
            return "no single accountant can take it together with what was spent before"
        return None

    def _able(self) -> list[Accountant]:
        """Give the ledger to every accountant that takes it."""
        found = []
        for make in ACCOUNTANTS.values():
            try:
                found.append(make(self._neighbours).take(self.ledger))
            except EventError:
                continue
        return found

    def _epsilon(self, delta: float) -> float:
        return min(part.epsilon(delta) for part in self._able())

    def _delta(self, epsilon: float) -> float:
        return min(part.delta(epsilon) for part in self._able())

    def _deltas(self, slopes: Floats) -> Floats:
        every = [part._deltas(slopes) for part in self._able()]
        return np.asarray(np.min(every, axis=0), dtype=np.float64)


@lru_cache(maxsize=4096)
def _takers(release: Leaf, neighbours: Neighbours) -> frozenset[str]:
    """Name the accountants that have a theorem for one release."""
    return frozenset(n for n, make in ACCOUNTANTS.items() if make(neighbours).supports(release))
