"""The tightest accountant: certified privacy loss distributions, with exact cases taken exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from deniable_analysis.central.accountants import levels
from deniable_analysis.central.accountants.base import Accountant, Bounds
from deniable_analysis.central.accountants.pld.direction import LEAST_DELTA, Direction
from deniable_analysis.central.accountants.pld.pairs import Pair, pairs_of
from deniable_analysis.central.accountants.rdp import RDPAccountant
from deniable_analysis.central.events import GaussianEvent, Leaf, Neighbours, ZCDPEvent, check_real
from deniable_analysis.central.profiles import Floats, GaussianProfile
from deniable_protocol.errors import EventError

GAUSSIAN = "exact Gaussian profile"
PURE = "sum of the largest losses"
FALL_BACK = "Rényi bound (fall-back of pld)"

_TAIL = 1e-9  # share of δ that may be cut off and counted as infinite loss
_LEAST_TAIL = 1e-290
_EXACT = 1e-11  # relative error of an inverted closed form
_MANY, _FINEST = 1e4, 0.05  # fewer releases cost less, so they are taken more finely
_CENTRES = 5  # places at which a whole curve is worked out


class PLDAccountant(Accountant):
    """Compose the losses' distributions themselves, and bound ε from both sides.

    Gaussian noise on everybody is merged beforehand (exactly, as μ = √Σμᵢ²); ledgers of nothing
    else, and single releases, are answered from closed forms. Otherwise the losses are put on a
    lattice and convolved; see :mod:`deniable_analysis.central.accountants.pld.cells`. Where that
    cannot do better (δ below 1e-250) the Rényi bound is the answer, and ``method`` says so.

    Args:
        neighbours: Which data sets count as neighbours.
        tolerance: By how much, relatively, the upper bound may exceed the true ε; 1e-7 to 1e-2.
            Time grows with its inverse root. The largest transform is limited, so bounds for some
            ten million steps are wider, and say so by their lower end.

    >>> from deniable_analysis.central.events import PoissonSampledEvent
    >>> step = PoissonSampledEvent(256 / 60000, GaussianEvent(1.1))
    >>> accountant = PLDAccountant(Neighbours.ADD_OR_REMOVE_ONE).spend(step, 14062)
    >>> round(accountant.epsilon(1e-5), 3)
    2.382
    """

    name = "pld"

    def __init__(self, neighbours: Neighbours, *, tolerance: float = 1e-5) -> None:
        super().__init__(neighbours)
        if not 1e-7 <= check_real("tolerance", tolerance) <= 1e-2:
            raise EventError(f"tolerance must be from 1e-7 to 1e-2, got {tolerance!r}")
        self._tolerance = tolerance

    def bounds(self, delta: float) -> Bounds:
        """Bound ε at δ from both sides; twice to three times the work of :meth:`epsilon`."""
        return self._bounds(self._checked_delta(delta), lower=True)

    def delta_bounds(self, epsilon: float) -> Bounds:
        """Bound δ at ε from both sides.

        Raises:
            EventError: If ε is out of range.
        """
        return self._delta_bounds(check_real("epsilon", epsilon, zero=True), lower=True)

    def _refusal(self, release: Leaf) -> str | None:
        inner = getattr(release, "event", release)
        if isinstance(inner, ZCDPEvent):
            return "rho does not say which losses are likely: use zcdp, rdp or best"
        try:
            _pairs(release, 1e-15)
        except EventError as error:
            return str(error)
        return None

    def _epsilon(self, delta: float) -> float:
        return self._bounds(delta, lower=False).upper

    def _delta(self, epsilon: float) -> float:
        return self._delta_bounds(epsilon, lower=False).upper

    def _bounds(self, delta: float, *, lower: bool) -> Bounds:
        ledger = merged(self.ledger)
        ceiling = levels.total_level(ledger) if delta >= levels.lost(ledger) else math.inf
        if not ledger or ceiling == 0:
            return Bounds(0.0, 0.0, PURE)
        profile = _only_gaussian(ledger)
        if profile is not None and delta > 0:
            found = profile.epsilon(delta)
            return Bounds(found * (1 - _EXACT), found, GAUSSIAN)
        if delta < LEAST_DELTA:
            rest = min(self._renyi(ledger).epsilon(delta) if delta else math.inf, ceiling)
            return Bounds(0.0, rest, PURE if rest == ceiling else FALL_BACK)
        return self._worked_out(ledger, delta, ceiling, lower=lower)

    def _worked_out(
        self, ledger: Mapping[Leaf, int], delta: float, ceiling: float, *, lower: bool
    ) -> Bounds:
        other = self._renyi(ledger).epsilon(delta)
        limit = min(other, ceiling)
        if limit == 0:
            return Bounds(0.0, 0.0, FALL_BACK)
        ends: list[Bounds] = []
        for direction in self._directions(ledger, delta):
            known = max((end.upper for end in ends), default=0.0)
            if not direction.within(known, delta):
                ends.append(direction.epsilon(delta, limit, lower=lower))
        worst = max(ends, key=lambda end: end.upper)
        under = max(end.lower for end in ends)
        if worst.upper <= limit:
            return Bounds(min(under, worst.upper), worst.upper, worst.method)
        return Bounds(min(under, limit), limit, PURE if limit == ceiling else FALL_BACK)

    def _delta_bounds(self, epsilon: float, *, lower: bool) -> Bounds:
        ledger = merged(self.ledger)
        lost = levels.lost(ledger)
        if not ledger or epsilon >= levels.total_level(ledger):
            return Bounds(lost * (1 - _EXACT), lost, PURE)
        profile = _only_gaussian(ledger)
        if profile is not None:
            found = float(profile.delta(epsilon))
            return Bounds(found * (1 - _EXACT), found * (1 + _EXACT), GAUSSIAN)
        best = Bounds(0.0, self._renyi(ledger).delta(epsilon), FALL_BACK)
        # What may be cut off depends on δ itself, so δ is found once roughly and once well.
        for share in (1e-6, _TAIL):
            if best.upper <= LEAST_DELTA:
                break
            tail = best.upper * share / _TAIL
            ends = [d.delta(epsilon, lower=lower) for d in self._directions(ledger, tail)]
            worst = max(ends, key=lambda end: end.upper)
            if worst.upper < best.upper:
                best = Bounds(best.lower, worst.upper, worst.method)
            best = Bounds(max(best.lower, *(end.lower for end in ends)), best.upper, best.method)
        return best

    def _deltas(self, slopes: Floats) -> Floats:
        """Read δ at many ε off a few compositions, each best near an ε of its own."""
        ledger = merged(self.ledger)
        if not ledger or _only_gaussian(ledger) is not None:
            return super()._deltas(slopes)
        found = self._renyi(ledger)._deltas(slopes)
        for centre in np.linspace(0.0, float(slopes.max()), _CENTRES + 1)[1:].tolist():
            both = np.zeros_like(found)
            for direction in self._directions(ledger, 1e-9):
                convolved = direction.around(centre)
                read = [convolved.upper_delta(slope) for slope in slopes.tolist()]
                both = np.maximum(both, read)
            found = np.minimum(found, both)
        return np.asarray(
            np.where(slopes >= levels.total_level(ledger), levels.lost(ledger), found)
        )

    def _renyi(self, ledger: Mapping[Leaf, int]) -> Accountant:
        """Account for what has a Rényi curve; of the rest nothing is known, so inf."""
        try:
            return RDPAccountant(self._neighbours).take(ledger)
        except EventError:
            return _Nothing(self._neighbours)

    def _directions(self, ledger: Mapping[Leaf, int], delta: float) -> list[Direction]:
        """Line up the pairs of all releases, for each order of two neighbours."""
        counts = tuple(ledger.values())
        tail = max(delta * _TAIL / sum(counts), _LEAST_TAIL)
        found = [_pairs(release, tail) for release in ledger]
        orders = (0, 1) if any(len(pairs) > 1 for pairs in found) else (0,)
        tolerance = self._tolerance * min(1.0, max(sum(counts) / _MANY, _FINEST))
        return [
            Direction(tuple(pairs[min(i, len(pairs) - 1)] for pairs in found), counts, tolerance)
            for i in orders
        ]


class _Nothing(RDPAccountant):
    """What is known where nothing is."""

    def _epsilon(self, delta: float) -> float:
        return math.inf

    def _delta(self, epsilon: float) -> float:
        return 1.0

    def _deltas(self, slopes: Floats) -> Floats:
        return np.ones_like(slopes)


@lru_cache(maxsize=256)
def _pairs(release: Leaf, tail: float) -> Sequence[Pair]:
    return pairs_of(release, tail)


def merged(ledger: Mapping[Leaf, int]) -> dict[Leaf, int]:
    """Replace all Gaussian releases by the one they amount to, and drop what costs nothing."""
    rest: dict[Leaf, int] = {
        release: count
        for release, count in ledger.items()
        if not isinstance(release, GaussianEvent)
        and (levels.pure_level(release) != 0 or levels.own_delta(release))
    }
    noise = [
        math.sqrt(n) / r.noise_multiplier for r, n in ledger.items() if isinstance(r, GaussianEvent)
    ]
    mu = math.hypot(*noise) * (1 + 1e-14)
    if mu > 0:
        rest[GaussianEvent(min(max(1 / mu, 5e-324), 1e300))] = 1
    return rest


def _only_gaussian(ledger: Mapping[Leaf, int]) -> GaussianProfile | None:
    for release, count in ledger.items():
        if isinstance(release, GaussianEvent) and len(ledger) == count == 1:
            return GaussianProfile(min(1 / release.noise_multiplier, 1e300))
    return None
