"""Certified ε and δ for one order of neighbours: plan roughly, look, plan again where ε turned out.

The plan rests on moments of quadrature nodes, which guide but prove nothing; what is returned rests
on the transforms alone, and is inf where they have nothing to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable_analysis.central.accountants.base import Bounds
from deniable_analysis.central.accountants.pld.convolve import Convolved
from deniable_analysis.central.accountants.pld.pairs import Pair
from deniable_analysis.central.accountants.pld.plan import Plan, laws_of, plan_for
from deniable_analysis.central.accountants.pld.tilt import Sum

CONVOLVED = "privacy loss distribution"
LARGEST = "no finite loss is larger"
EXACT = "exact profile of one release"
LEAST_DELTA = 1e-250  # below, masses under a tilt leave float64

_ROUGH, _ROUGH_LARGEST = 1e-2, 2**16
_PASSES = 8
_CLOSE = 0.9
_RELATIVE = 1e-11  # error of an integral over one release
_LEAST_GUESS = 1e-3


@dataclass(frozen=True, slots=True)
class Direction:
    """The pairs of all releases for one order of two neighbours, and how often each happened."""

    pairs: Sequence[Pair]
    counts: Sequence[int]
    tolerance: float

    def _sum(self) -> Sum:
        return Sum(laws_of(self.pairs, self.counts))

    def lost(self) -> float:
        """Bound the mass of infinite losses, with what was cut off."""
        each = zip(self.pairs, self.counts, strict=True)
        return -math.expm1(sum(n * math.log1p(-p.infinite - p.cut) for p, n in each))

    def _kept_infinite(self) -> float:
        each = zip(self.pairs, self.counts, strict=True)
        return sum(n * math.log1p(-p.infinite) for p, n in each)

    def epsilon(self, delta: float, limit: float, *, lower: bool) -> Bounds:
        """Bound ε(δ), of which *limit* is a known bound; the lower end is 0 unless *lower*."""
        rest = delta - self.lost()
        if rest <= 0:
            return Bounds(0.0, math.inf, CONVOLVED)
        if sum(self.counts) == 1:
            return self._single(delta)
        theta, guess = self._sum().for_delta(math.log(rest))
        guess = min(max(guess, _LEAST_GUESS), limit)
        plan = self._plan(*self._settled(delta, guess, theta))
        found = plan.upper().upper_epsilon(delta)
        under = self._lower(plan, lambda c: c.lower_epsilon(delta)) if lower else 0.0
        return Bounds(under, found, CONVOLVED)

    def within(self, epsilon: float, delta: float) -> bool:
        """Say whether *epsilon* is certainly enough for δ, with as little work as that takes."""
        if not 0 < epsilon < math.inf or sum(self.counts) == 1 or self.lost() >= delta:
            return False
        rough = plan_for(self.pairs, self.counts, epsilon, tolerance=_ROUGH, largest=_ROUGH_LARGEST)
        if rough.upper().upper_delta(epsilon) <= delta:
            return True
        return self._plan(epsilon).upper().upper_delta(epsilon) <= delta

    def delta(self, epsilon: float, *, lower: bool) -> Bounds:
        """Bound δ(ε); the lower end is 0 unless *lower*."""
        if self.lost() >= 1:
            return Bounds(0.0, 1.0, CONVOLVED)
        if epsilon >= sum(n * p.ends()[1] for p, n in zip(self.pairs, self.counts, strict=True)):
            kept = -math.expm1(self._kept_infinite()) * (1 - _RELATIVE)
            return Bounds(kept, self.lost(), LARGEST)
        if sum(self.counts) == 1:
            pair, finite = self.pairs[0], self._single_delta(epsilon)
            under = (finite + pair.infinite) * (1 - _RELATIVE) if pair.exact else 0.0
            return Bounds(under, finite * (1 + _RELATIVE) + self.lost(), EXACT)
        plan = self._plan(max(epsilon, _LEAST_GUESS))
        found = plan.upper().upper_delta(epsilon)
        under = self._lower(plan, lambda c: c.lower_delta(epsilon)) if lower else 0.0
        return Bounds(under, found, CONVOLVED)

    def around(self, guess: float) -> Convolved:
        """Work out the upper bound on all of δ(ε), best near ε = *guess*."""
        return self._plan(guess).upper()

    def _plan(self, guess: float, theta: float | None = None) -> Plan:
        return plan_for(self.pairs, self.counts, guess, tolerance=self.tolerance, steep=theta)

    def _settled(self, delta: float, guess: float, theta: float) -> tuple[float, float]:
        """Come close to ε with small transforms, as tilt and step must suit ε, not its bound.

        Where a few large losses decide, the bound is far off and its tilt far too steep.
        """
        tilt, best, before = theta, theta, math.inf
        for _ in range(_PASSES):
            rough = plan_for(
                self.pairs,
                self.counts,
                guess,
                tolerance=_ROUGH,
                steep=tilt,
                largest=_ROUGH_LARGEST,
            )
            found = rough.upper().upper_epsilon(delta)
            if not 0 < found < guess:
                if found > _CLOSE * before:
                    break  # the small transform, not the tilt, is what is too rough
                tilt, before = tilt / 2, found
                continue
            close, guess, best = found > _CLOSE * guess, found, tilt
            if close:
                break
            tilt = self._sum().for_epsilon(guess)[0]
        return guess, best

    def _single_delta(self, epsilon: float) -> float:
        """Integrate P − e^ε Q over the finite losses of one release beyond ε."""
        pair = self.pairs[0]
        parts = [(pair.mass, pair.loss)]
        parts += [part.nodes(np.full(1, epsilon))[:2] for part in pair.smooth]
        return sum(float(m @ -np.expm1(np.minimum(epsilon - loss, 0.0))) for m, loss in parts)

    def _single(self, delta: float) -> Bounds:
        """Invert the exact profile of one release."""
        pair = self.pairs[0]
        low, high = 0.0, max(pair.ends()[1], 0.0)
        kept, lost = pair.infinite * (1 - _RELATIVE), self.lost()
        if kept + self._single_delta(0.0) * (1 - _RELATIVE) <= delta:
            return Bounds(0.0, self._root(delta - lost, _RELATIVE, low, high)[1], EXACT)
        under = self._root(delta - kept, -_RELATIVE, low, high)[0] if pair.exact else 0.0
        return Bounds(under, self._root(delta - lost, _RELATIVE, low, high)[1], EXACT)

    def _root(self, delta: float, error: float, low: float, high: float) -> tuple[float, float]:
        """Close in on the ε at which the finite losses leave δ, on its safe sides."""
        if self._single_delta(low) * (1 + error) <= delta:
            return low, low
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            if self._single_delta(middle) * (1 + error) > delta:
                low = middle
            else:
                high = middle
        return low, high

    @staticmethod
    def _lower(plan: Plan, read: Callable[[Convolved], float]) -> float:
        found = plan.lower()
        return 0.0 if found is None else max(read(found), 0.0)
