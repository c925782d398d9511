"""How far one person can move a query's answer, in L1 and L2.

A mechanism hides a change of the size of the sensitivity, and no larger one. Two relations between
data sets are in use, and each sensitivity names its own:

- ``Neighbours.REPLACE_ONE``: the same number of people, one of them with other data. The number n
  is public.
- ``Neighbours.ADD_OR_REMOVE_ONE``: one person more or fewer. The number n is protected too.

The bounds hold for exact arithmetic. A sum of floats depends on the order of its terms and may move
by more (Casacuberta et al. 2022); add integers or fractions where a released value depends on it.

References:
    [DR14] C. Dwork and A. Roth, *Algorithmic Foundations of Differential Privacy*, 2014, Def. 3.1,
    3.8.
    [CSVW22] S. Casacuberta, M. Shoemate, S. Vadhan and C. Wagaman, *Widespread Underestimation of
    Sensitivity in Differentially Private Libraries and How to Fix It*, CCS 2022 (arXiv:2207.10635).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeVar

from deniable_protocol.errors import MechanismError

from .arguments import Number, above_zero, exact, inside_unit, root_up, shown, whole
from .events import Neighbours

T = TypeVar("T")


@dataclass(frozen=True)
class Sensitivity:
    """The largest change of a query between two neighbouring data sets.

    Args:
        query: What is asked, in words.
        l1: Largest sum of absolute changes; a fraction, in the query's units.
        l2: Largest Euclidean length of the change; a float, rounded up, in the query's units.
        neighbours: Which data sets count as neighbours.
        coordinates: How many numbers the query returns.

    >>> Sensitivity("visits per person", Fraction(3), 3.0, Neighbours.REPLACE_ONE).l1
    Fraction(3, 1)
    """

    query: str
    l1: Fraction
    l2: float
    neighbours: Neighbours
    coordinates: int = 1

    def __post_init__(self) -> None:
        above_zero("L1 sensitivity", self.l1)
        above_zero("L2 sensitivity", self.l2)
        whole("coordinates", self.coordinates)
        if not isinstance(self.neighbours, Neighbours):
            raise MechanismError(f"neighbours must be a Neighbours, got {self.neighbours!r}")


def count(neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Sensitivity:
    """Bound the number of people with some property: one person moves it by at most 1."""
    return Sensitivity("count", Fraction(1), 1.0, neighbours)


def histogram(bins: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Sensitivity:
    """Bound the counts of `bins` exclusive groups: one person leaves one and enters another.

    >>> histogram(8).l1, round(histogram(8).l2, 6)
    (Fraction(2, 1), 1.414214)
    >>> histogram(8, Neighbours.ADD_OR_REMOVE_ONE).l1
    Fraction(1, 1)
    """
    whole("bins", bins, 2)
    moved = Fraction(2) if neighbours is Neighbours.REPLACE_ONE else Fraction(1)
    return Sensitivity("histogram", moved, root_up(moved), neighbours, bins)


def clipped_sum(
    low: Number, high: Number, neighbours: Neighbours = Neighbours.REPLACE_ONE
) -> Sensitivity:
    """Bound a sum of values clipped to [low, high].

    >>> clipped_sum(-10, 50).l1, clipped_sum(-10, 50, Neighbours.ADD_OR_REMOVE_ONE).l1
    (Fraction(60, 1), Fraction(50, 1))
    """
    width = _width(low, high)
    largest = max(abs(exact("low", low)), abs(exact("high", high)))
    moved = width if neighbours is Neighbours.REPLACE_ONE else largest
    return Sensitivity("clipped sum", moved, root_up(moved**2), neighbours)


def clipped_mean(low: Number, high: Number, records: int) -> Sensitivity:
    """Bound the mean of a *fixed, public* number of values clipped to [low, high].

    Args:
        low: Smallest value after clipping, in the data's units.
        high: Largest value after clipping.
        records: How many values there are; public, so neighbours are replace-one.

    >>> clipped_mean(0, 100, records=1000).l1
    Fraction(1, 10)
    """
    moved = _width(low, high) / whole("records", records)
    return Sensitivity("clipped mean, n fixed", moved, root_up(moved**2), Neighbours.REPLACE_ONE)


def clipped_mean_unknown_size(low: Number, high: Number, at_least: int = 1) -> Sensitivity:
    """Bound the mean of values clipped to [low, high] when their number is itself private.

    The query is ``middle + Σ(x − middle) / max(n, at_least)``: the ordinary mean as soon as there
    are `at_least` values, and drawn to the middle of the range below that, so the bound holds for
    *every* data set, the empty one included. One value joining n ≥ at_least others moves it by at
    most width/(n + 1); below, by at most width/(2·at_least), which is never more.

    >>> clipped_mean_unknown_size(0, 100, at_least=999).l1
    Fraction(1, 10)
    """
    moved = _width(low, high) / (whole("at_least", at_least) + 1)
    return Sensitivity(
        "clipped mean, n unknown", moved, root_up(moved**2), Neighbours.ADD_OR_REMOVE_ONE
    )


def clipped_vector_sum(
    norm: Number, coordinates: int, neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE
) -> Sensitivity:
    """Bound a sum of vectors each scaled down to Euclidean length at most `norm` (as in DP-SGD).

    The same vectors may be √coordinates long in L1, which is why Laplace noise loses here.

    >>> bound = clipped_vector_sum(1, coordinates=1_000_000)
    >>> float(bound.l1), bound.l2
    (1000.0, 1.0)
    """
    people = 2 if neighbours is Neighbours.REPLACE_ONE else 1
    l2 = people * above_zero("norm", norm)
    l1 = Fraction(root_up(l2**2 * whole("coordinates", coordinates)))
    return Sensitivity("clipped vector sum", l1, root_up(l2**2), neighbours, coordinates)


def quantile_score(share: Number, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Sensitivity:
    """Bound the score −|#{x ≤ t} − share·n| of a candidate t for a quantile.

    Args:
        share: Which quantile; ½ is the median.
        neighbours: With add-remove, n moves as well: the bound is max(share, 1 − share).

    >>> quantile_score(Fraction(1, 2), Neighbours.ADD_OR_REMOVE_ONE).l1
    Fraction(1, 2)
    """
    inside_unit("share", share)
    below = exact("share", share)
    moved = Fraction(1) if neighbours is Neighbours.REPLACE_ONE else max(below, 1 - below)
    return Sensitivity("quantile score", moved, root_up(moved**2), neighbours)


def by_brute_force(
    query: Callable[[tuple[T, ...]], Number | Sequence[Number]],
    domain: Sequence[T],
    records: int,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
) -> Sensitivity:
    """Measure a query's sensitivity by trying every pair of neighbours of a small domain.

    Exact for data sets of at most this many records from this domain; for larger ones it is a lower
    bound, good for refuting a formula and not for proving one.

    Args:
        query: Any function of a tuple of records; returns a number or a sequence of them.
        domain: Every value a record can take.
        records: How many records (replace-one), or the most there are (add-remove).
        neighbours: Which pairs to try.

    Raises:
        MechanismError: If more than 200,000 data sets would be tried, or the query never moves.

    >>> by_brute_force(max, [0, 1, 5], records=3).l1
    Fraction(5, 1)
    """
    whole("records", records)
    if len(domain) > 1 and records * math.log(len(domain)) > math.log(200_000):
        raise MechanismError(
            f"brute force tries at most 200000 data sets, got {len(domain)}^{records}"
        )
    l1 = square = Fraction(0)
    coordinates = 1
    for one, other in _neighbours(domain, records, neighbours):
        change = [a - b for a, b in zip(_vector(query(one)), _vector(query(other)), strict=True)]
        coordinates = len(change)
        l1 = max(l1, sum(map(abs, change), Fraction(0)))
        square = max(square, sum((x * x for x in change), Fraction(0)))
    return Sensitivity("by brute force", l1, root_up(square), neighbours, coordinates)


def _neighbours(
    domain: Sequence[T], records: int, neighbours: Neighbours
) -> Iterator[tuple[tuple[T, ...], tuple[T, ...]]]:
    if neighbours is Neighbours.REPLACE_ONE:
        for data in product(domain, repeat=records):
            for place, value in product(range(records), domain):
                yield data, (*data[:place], value, *data[place + 1 :])
    else:
        for size in range(1, records + 1):
            for data in product(domain, repeat=size):
                for place in range(size):
                    yield data, data[:place] + data[place + 1 :]


def _vector(found: Number | Sequence[Number]) -> list[Fraction]:
    values = found if isinstance(found, Sequence) else [found]
    return [exact("query value", value) for value in values]


def _width(low: Number, high: Number) -> Fraction:
    width = exact("high", high) - exact("low", low)
    if width <= 0:
        raise MechanismError(f"low must be below high, got {shown(low)} and {shown(high)}")
    return width
