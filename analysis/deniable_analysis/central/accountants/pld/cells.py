"""Put a privacy loss distribution on a lattice of losses, once too pessimistic and once too kind.

Losses are collected in cells between knots, which are multiples of a step h (counted from an
anchor) but may leave multiples out where hardly any mass lies. Sums of lattice losses are lattice
losses, so composition becomes convolution. What makes the two lattices bounds is what is done with
a cell (a, b] that holds mass M of P and A of Q:

- *upper* ("connect the dots" [DGKK22]): replace it by masses at both ends that keep both M and A.
  The true pair is a garbling of that pair, so no test gets harder.
- *lower* (new here): merge the cell into one outcome, which is a garbling of the true pair, and
  split that outcome between the two ends in such a proportion that what arrives at a knot from its
  left and from its right has together at least the loss of that knot. The anchor is chosen so that
  the proportions fit exactly.

Both err by O(h²) per step, not O(h): the upper adds at most variance h²/4 to the loss of a step and
the lower removes about h²/3.

References:
    [DGKK22] V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar and P. Manurangsi, *Connect the Dots:
        Tighter Discrete Approximations of Privacy Loss Distributions*, PoPETs 2022,
        arXiv:2207.04380, Section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable_analysis.central.accountants.pld.pairs import Pair
from deniable_analysis.central.profiles import Floats

Places: TypeAlias = NDArray[np.int64]

_ULP = 2.0**-53
# A point mass this close above a knot (in steps) is counted as on it; the lower bound pays for it.
SNAP = 1e-9
_MOVES = 8  # quarters of a step, to each side
_DOUBLINGS, _HALVINGS = 24, 20


@dataclass(frozen=True, slots=True)
class Lattice:
    """Masses at losses ``anchor + step * place``.

    Args:
        anchor: Loss of place 0.
        step: h > 0.
        place: Whole numbers, increasing.
        mass: P at each place.
        infinite: P at infinite loss.
        raised: How much each finite loss may have been raised by rounding (lower bounds only).
    """

    anchor: float
    step: float
    place: Places
    mass: Floats
    infinite: float
    raised: float = 0.0

    @property
    def losses(self) -> Floats:
        """The losses at which the masses sit."""
        return np.asarray(self.anchor + self.step * self.place, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Cells:
    """A privacy loss distribution collected between knots.

    Args:
        pair: Where it came from.
        anchor: Loss of place 0.
        step: h > 0.
        place: The knots; shape (cells + 1,).
        mass: M, P of each cell; shape (cells,).
        above: ∫ (P − e^a Q), how far the cell is above its left end a.
        below: ∫ (e^b Q − P), how far it is below its right end b.
        raised: How much every loss was raised first (lower bounds only): an outcome that misses a
            knot by rounding alone must not fall to the next one.
    """

    pair: Pair
    anchor: float
    step: float
    place: Places
    mass: Floats
    above: Floats
    below: Floats
    raised: float = 0.0

    def upper(self) -> Lattice:
        """Build a lattice that is at least as bad for privacy as the pair [DGKK22]."""
        width = self.step * np.diff(self.place)
        right = self.above / -np.expm1(-width)
        # The losses are right to some ulps; pushing right by as much keeps the bound a bound.
        doubt = 64 * _ULP * (np.abs(self._losses()[1:]) / width + 2)
        right = np.clip(right + doubt * self.mass, 0.0, self.mass)
        mass = np.append(self.mass - right, 0.0)
        mass[1:] += right
        return self._lattice(mass, self.pair.infinite + self.pair.cut)

    def lower(self) -> Lattice:
        """Build a lattice that is no worse for privacy than the pair."""
        share = self._left_shares()[0]
        mass = np.append(share * self.mass, 0.0)
        mass[1:] += (1 - share) * self.mass
        rounded = 64 * _ULP * float(np.abs(self._losses()).max())
        return self._lattice(mass, self.pair.infinite, self.raised + rounded)

    def surplus(self) -> float:
        """Compute by how much the split at the anchor errs: above 0 if the anchor is too low."""
        return self._left_shares()[1]

    def _losses(self) -> Floats:
        return np.asarray(self.anchor + self.step * self.place, dtype=np.float64)

    def _lattice(self, mass: Floats, infinite: float, raised: float = 0.0) -> Lattice:
        used = mass > 0
        place = self.place[used]
        return Lattice(self.anchor, self.step, place, mass[used], infinite, raised)

    def _left_shares(self) -> tuple[Floats, float]:
        """Choose for each cell the share that goes to its left end, as small as allowed.

        At the knot between cells j and j + 1 the excess share_{j+1} above_{j+1} must make up for
        the deficit (1 − share_j) below_j. The recursion is solved from both ends towards the
        anchor, the direction in which it forgets where it started.
        """
        above, below = self.above.tolist(), self.below.tolist()
        middle = int(np.searchsorted(self.place, 0))  # the first cell right of the anchor
        share = [0.0] * middle + [1.0] * (len(above) - middle)
        for j in range(len(above) - 2, middle - 1, -1):
            paid = share[j + 1] * above[j + 1]
            share[j] = 1.0 - paid / below[j] if paid < below[j] else 0.0
        for j in range(middle - 1):
            due = (1.0 - share[j]) * below[j]
            if due > above[j + 1]:
                share[j], share[j + 1] = 1.0 - above[j + 1] / below[j], 1.0
            else:
                share[j + 1] = due / above[j + 1] if due > 0 else 0.0
        return self._joined(share, above, below, middle)

    @staticmethod
    def _joined(
        share: list[float], above: list[float], below: list[float], middle: int
    ) -> tuple[Floats, float]:
        """Make the two chains meet at the anchor without owing anything."""
        paid = share[middle] * above[middle] if middle < len(above) else 0.0
        due = (1.0 - share[middle - 1]) * below[middle - 1] if middle > 0 else 0.0
        if due > paid:
            share[middle - 1] = 1.0 - paid / below[middle - 1]
        return np.array(share), paid - due


def cells_of(
    pair: Pair, anchor: float, step: float, place: Places, *, raised: float = 0.0
) -> Cells:
    """Collect *pair* between the knots at *place*; they must reach beyond all its losses."""
    knots = np.asarray(anchor + step * place, dtype=np.float64)
    found = [np.searchsorted(knots, pair.loss + SNAP * step, side="right") - 1]
    parts = [(pair.mass, np.maximum(pair.loss, knots[found[0]]))]
    for part in pair.smooth:
        mass, loss, middle = part.nodes(knots)
        parts.append((mass, loss))
        found.append(np.searchsorted(knots, middle, side="right") - 1)
    mass, loss = (np.concatenate(column) for column in zip(*parts, strict=True))
    at = np.concatenate(found)
    above = -mass * np.expm1(knots[at] - loss - raised)
    below = mass * np.expm1(knots[at + 1] - loss - raised)
    cells = len(place) - 1
    mass, above, below = (
        np.asarray(np.bincount(at, weights=part, minlength=cells), dtype=np.float64)
        for part in (mass, above, below)
    )
    return Cells(
        pair, anchor, step, place, mass, np.maximum(above, 0), np.maximum(below, 0), raised
    )


def fitted(
    place_at: Callable[[float], Places],
    at: Callable[[float, Places], Cells],
    near: float,
    enough: float,
) -> Cells:
    """Collect a pair for a lower bound between knots whose anchor makes the split fit.

    At the anchor the two chains of shares meet with a surplus, which is wasted, or a debt, which
    costs more. With the pattern of knots kept, both change steadily as all of them are moved, so a
    root is looked for within two steps. If there is none, they are moved far: left of all losses
    there is a surplus, right of them a debt.

    Args:
        place_at: The knots for an anchor.
        at: The cells for an anchor and its knots.
        near: Where to put the anchor first.
        enough: The surplus that does no harm.

    Returns:
        Cells with a small surplus if possible.
    """
    place = place_at(near)
    first = at(near, place)
    ends, step = first.pair.ends(), first.step
    last = {1.0: first, -1.0: first}
    for move in range(_MOVES):
        for side in (1.0, -1.0):
            edge = at(min(max(near + side * (move + 1) * step / 4, ends[0]), ends[1]), place)
            found = _between(last[side], edge, lambda anchor: at(anchor, place), enough)
            if found is not None:
                return found
            last[side] = edge
    towards = 1.0 if first.surplus() > 0 else -1.0
    for doubling in range(_DOUBLINGS):
        anchor = min(max(near + towards * step * 2.0**doubling, ends[0]), ends[1])
        edge = at(anchor, place_at(anchor))
        found = _between(first, edge, lambda anchor: at(anchor, place_at(anchor)), enough)
        if found is not None or anchor in ends:
            return found or first
    return first


def _between(one: Cells, other: Cells, at: Callable[[float], Cells], enough: float) -> Cells | None:
    """Halve the way from surplus to debt, if there is one of each."""
    rich, poor = (one, other) if one.surplus() > other.surplus() else (other, one)
    for halving in range(_HALVINGS):
        for end in (rich, poor):
            if -enough / 16 <= end.surplus() <= enough:
                return end
        if not poor.surplus() < 0 < rich.surplus():
            return rich if halving else None
        middle = at((rich.anchor + poor.anchor) / 2)
        rich, poor = (middle, poor) if middle.surplus() > 0 else (rich, middle)
    return rich
