"""Decide on which lattice a composition is worked out, and work it out.

The plan is made on quadrature nodes, which stand for the exact laws: tilt, window and a first guess
of ε come from their cumulant generating function. The step is then chosen such that the upper bound
is about ``tolerance`` (relative) above the truth, as far as the largest transform allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from deniable_analysis.central.accountants.pld.cells import (
    SNAP,
    Cells,
    Lattice,
    Places,
    cells_of,
    fitted,
)
from deniable_analysis.central.accountants.pld.convolve import LOG_TAIL, Convolved, convolve
from deniable_analysis.central.accountants.pld.pairs import Pair
from deniable_analysis.central.accountants.pld.tilt import Law, Sum, Window

_WASTE = 2e-4  # of ε, that a lower bound may lose where the chains of shares meet
_LARGEST = 2**20  # places of a transform
_MARGIN = 0.95  # the answer may be this much below the guess
_FEWEST = 2**9
_ROUNDS = 4
_MOST_CELLS, _MOST_PLACES = 2**17, 2**24  # of one release
_WIDEST_GAP = 500.0  # its exponential must stay a float
_SPAN = 64.0  # nor need a step be wider


@dataclass(frozen=True, slots=True)
class Plan:
    """One order of neighbours: the pairs, how often each, and where their sum is looked at."""

    pairs: tuple[Pair, ...]
    counts: tuple[int, ...]
    laws: tuple[Law, ...]
    steep: float
    window: Window
    guess: float
    tolerance: float
    largest: int = _LARGEST

    def upper(self) -> Convolved:
        """Work out an upper bound."""
        return self._convolve([cells.upper() for cells in self._cells()])

    def lower(self) -> Convolved | None:
        """Work out a lower bound; None if a pair is worse than the release it stands for."""
        if not all(pair.exact for pair in self.pairs):
            return None
        finer = replace(self, largest=4 * self.largest)  # it loses more by a step than the upper
        return finer._convolve([cells.lower() for cells in finer._cells(fit=True)])

    def _convolve(self, lattices: list[Lattice]) -> Convolved:
        return convolve(lattices, self.counts, self.window.theta, _MARGIN * self.guess)

    def _cells(self, *, fit: bool = False) -> list[Cells]:
        """Collect every pair between knots of the chosen step."""
        exact = self._exact_cells()
        if exact is not None:
            return [exact]
        least = self._least_step()
        step = max(self._first_step(), least)
        for _ in range(_ROUNDS):
            cells = self._at_step(step)
            better = step * self._correction(cells)
            if better >= step:
                break
            step = max(better, least)
        return self._fitted(step) if fit else cells

    def _fitted(self, step: float) -> list[Cells]:
        """Collect every pair for a lower bound."""
        enough = _WASTE * self.guess / sum(self.counts)
        found = []
        for pair, law in zip(self.pairs, self.laws, strict=True):
            place_at = partial(knots, law, pair.ends(), self.steep, step)
            found.append(fitted(place_at, partial(_raised, pair, step), _median(law), enough))
        return found

    def _gain(self, law: Law, lattice: Lattice) -> float:
        """Compute by how much a lattice's losses are too large, as felt at the tilt."""
        coarse = Law(lattice.mass, lattice.losses, law.count)
        return (coarse.cgf(self.steep) - law.cgf(self.steep)) / self.steep

    def _exact_cells(self) -> Cells | None:
        """Use the losses' own lattice where there is one: nothing is rounded then."""
        if len(self.pairs) > 1:
            return None
        pair = self.pairs[0]
        gap = pair.spacing()
        if (
            gap is None
            or gap > _WIDEST_GAP
            or gap < (self.window.high - self.window.low) / self.largest
        ):
            return None
        first = float(pair.loss.min())
        place = np.unique(np.round((pair.loss - first) / gap).astype(np.int64))
        return cells_of(pair, first, gap, np.append(place, place[-1] + 1))

    def _at_step(self, step: float) -> list[Cells]:
        found = []
        for pair, law in zip(self.pairs, self.laws, strict=True):
            anchor = _median(law)
            place = knots(law, pair.ends(), self.steep, step, anchor)
            found.append(cells_of(pair, anchor, step, place))
        return found

    def _first_step(self) -> float:
        """Estimate the step: splitting a cell adds h²/6 to the variance of each loss."""
        variance = 12 * self.tolerance * self.guess / (self.steep + 1)
        step = math.sqrt(variance / sum(self.counts))
        widest = (self.window.high - self.window.low) / _FEWEST
        return min(step, widest or step, _SPAN)

    def _least_step(self) -> float:
        """Find the finest step for which the transform and the cells stay affordable."""
        widest = max(high - low for low, high in (pair.ends() for pair in self.pairs))
        step = max((self.window.high - self.window.low) / self.largest, widest / _MOST_PLACES)
        while step < _SPAN and self._most_cells(step) > _MOST_CELLS:
            step *= 2
        return step

    def _most_cells(self, step: float) -> int:
        both = zip(self.pairs, self.laws, strict=True)
        return max(len(knots(law, p.ends(), self.steep, step, _median(law))) for p, law in both)

    def _correction(self, cells: list[Cells]) -> float:
        """Compare the error that the cells make in ε with the tolerance: a factor for the step."""
        both = zip(cells, self.laws, strict=True)
        error = sum(law.count * self._gain(law, part.upper()) for part, law in both)
        wanted = self.tolerance * self.guess
        return 1.0 if error <= 2 * wanted else math.sqrt(wanted / error)


def _raised(pair: Pair, step: float, anchor: float, place: Places) -> Cells:
    return cells_of(pair, anchor, step, place, raised=SNAP * step)


def laws_of(pairs: Sequence[Pair], counts: Sequence[int]) -> tuple[Law, ...]:
    """Stand the exact law of each pair's finite losses by masses at quadrature nodes."""
    return tuple(Law(*pair.nodes(), n) for pair, n in zip(pairs, counts, strict=True))


def plan_for(
    pairs: Sequence[Pair],
    counts: Sequence[int],
    guess: float,
    *,
    tolerance: float,
    steep: float | None = None,
    largest: int = _LARGEST,
) -> Plan:
    """Plan to tell δ near ε = *guess*.

    *steep* is the tilt that suits δ there, found if not given; the tilt used is gentler.
    """
    laws = laws_of(pairs, counts)
    total = Sum(laws)
    if steep is None:
        steep = total.for_epsilon(guess)[0]
    window = total.window(total.gentle(steep, guess), _MARGIN * guess, LOG_TAIL)
    return Plan(tuple(pairs), tuple(counts), laws, steep, window, guess, tolerance, largest)


def knots(law: Law, ends: tuple[float, float], theta: float, step: float, anchor: float) -> Places:
    """Choose multiples of *step* around *anchor* that reach beyond all losses.

    A cell may be the wider the less tilted mass lies beyond it: with width ∝ (mass beyond)^(-1/3)
    the cells far out together err less than those in the bulk, and there are few of them.
    """
    order = np.argsort(law.loss)
    loss, weight = law.loss[order], law.tilted(theta)[order]
    beyond = np.cumsum(weight[::-1])[::-1]
    right = _side(loss - anchor, beyond, ends[1] - anchor, theta, step)
    before = np.cumsum(weight)[::-1]
    left = _side(anchor - loss[::-1], before, anchor - ends[0], theta, step)
    return np.concatenate([-left[:0:-1], right])


def _side(away: np.ndarray, beyond: np.ndarray, end: float, theta: float, step: float) -> Places:
    """Place knots from 0 outward, with strides that double as the mass beyond shrinks."""
    widest = 0.25 / (1 + theta)
    starts, stride = [0], 1
    pieces = []
    while True:
        nxt = 2 * stride
        at = int(np.searchsorted(-beyond, -((0.35 / nxt) ** 3)))
        far = end if at >= len(away) or nxt * step > widest else min(max(away[at], 0.0), end)
        last = starts[-1] + stride * math.ceil(max(far / step - starts[-1], 0.0) / stride)
        pieces.append(np.arange(starts[-1], last, stride, dtype=np.int64))
        starts.append(last)
        if far >= end:
            return np.concatenate([*pieces, np.arange(last, last + 3 * stride, stride)])
        stride = nxt


def _median(law: Law) -> float:
    """Find the loss that half of the mass lies below."""
    order = np.argsort(law.loss)
    total = np.cumsum(law.mass[order])
    return float(law.loss[order][int(np.searchsorted(total, total[-1] / 2))])
