"""Sensitivity formulas against brute force over every pair of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from deniable_analysis.central import (
    Neighbours,
    Sensitivity,
    by_brute_force,
    clipped_mean,
    clipped_mean_unknown_size,
    clipped_sum,
    clipped_vector_sum,
    count,
    histogram,
    quantile_score,
)
from deniable_protocol.errors import MechanismError

REPLACE, ADD = Neighbours.REPLACE_ONE, Neighbours.ADD_OR_REMOVE_ONE
F = Fraction
BINS = range(3)
VALUES = [F(-3), F(-1), F(0), F(2), F(5)]  # clipped to [-1, 2], so both ends are reached


def clip(value: Fraction) -> Fraction:
    return min(max(value, F(-1)), F(2))


def tally(data: tuple[int, ...]) -> list[int]:
    return [data.count(b) for b in BINS]


def total(data: tuple[Fraction, ...]) -> Fraction:
    return sum(map(clip, data), F(0))


def guarded_mean(data: tuple[Fraction, ...], at_least: int = 2) -> Fraction:
    middle = F(1, 2)
    return middle + sum((clip(x) - middle for x in data), F(0)) / max(len(data), at_least)


def score(data: tuple[Fraction, ...]) -> Fraction:
    return -abs(sum(x <= 0 for x in data) - F(1, 4) * len(data))


CASES: list[tuple[Callable[..., object], list[object], Neighbours, Sensitivity]] = [
    (sum, [0, 1], REPLACE, count()),
    (sum, [0, 1], ADD, count(ADD)),
    (tally, list(BINS), REPLACE, histogram(3)),
    (tally, list(BINS), ADD, histogram(3, ADD)),
    (total, VALUES, REPLACE, clipped_sum(-1, 2)),
    (total, VALUES, ADD, clipped_sum(-1, 2, ADD)),
    (lambda data: total(data) / 4, VALUES, REPLACE, clipped_mean(-1, 2, records=4)),
    (guarded_mean, VALUES, ADD, clipped_mean_unknown_size(-1, 2, at_least=2)),
    (score, VALUES, REPLACE, quantile_score(F(1, 4))),
    (score, VALUES, ADD, quantile_score(F(1, 4), ADD)),
]


@pytest.mark.parametrize(("query", "domain", "neighbours", "stated"), CASES)
def test_formula_equals_brute_force(
    query: Callable[..., object], domain: list[object], neighbours: Neighbours, stated: Sensitivity
) -> None:
    """Every formula is attained by some pair of neighbours, and passed by none."""
    found = by_brute_force(query, domain, records=4, neighbours=neighbours)  # type: ignore[arg-type]
    assert (found.l1, found.coordinates) == (stated.l1, stated.coordinates)
    assert found.l2 == pytest.approx(stated.l2, rel=1e-15)
    assert stated.neighbours is neighbours


def test_brute_force_catches_an_unclipped_mean() -> None:
    """The usual mistake, a mean that is not clipped, moves by more than the formula says."""
    found = by_brute_force(lambda data: sum(data, F(0)) / 4, VALUES, records=4)
    assert found.l1 == 2 > clipped_mean(-1, 2, records=4).l1


def test_the_empty_data_set_counts() -> None:
    """A plain mean of unknown n moves most where one record joins none."""
    found = by_brute_force(
        lambda data: sum(data, F(0)) / len(data) if data else F(0), [F(0), F(1)], 3, ADD
    )
    assert found.l1 == 1 > clipped_mean_unknown_size(0, 1, at_least=1).l1


def test_vectors_of_bounded_length() -> None:
    """A vector of length C has L1 norm up to C√k, which equal entries attain."""
    stated = clipped_vector_sum(F(3), coordinates=4)
    assert (stated.l1, stated.l2) == (6, 3.0)
    entry = F(3, 2)
    found = by_brute_force(lambda data: [entry * len(data)] * 4, [0], 1, ADD)
    assert (found.l1, found.l2) == (6, 3.0)
    assert clipped_vector_sum(3, 4, REPLACE).l2 == 6.0


def test_l2_is_rounded_up() -> None:
    """The float that stands for √2 is not below it."""
    for bins in (2, 7):
        assert Fraction(histogram(bins).l2) ** 2 >= 2
    odd = clipped_sum(0.1, 0.7)
    assert Fraction(odd.l2) >= odd.l1


NO = [math.nan, math.inf, -math.inf, True, "1", None]


@pytest.mark.parametrize("bad", NO)
def test_numbers_that_are_none(bad: object) -> None:
    """What is not a finite number is refused, and the message says what was expected."""
    for refused in (
        lambda: clipped_sum(bad, 1),  # type: ignore[arg-type]
        lambda: clipped_mean(0, bad, 10),  # type: ignore[arg-type]
        lambda: quantile_score(bad),  # type: ignore[arg-type]
        lambda: clipped_vector_sum(bad, 3),  # type: ignore[arg-type]
    ):
        with pytest.raises(MechanismError, match="must be"):
            refused()


@pytest.mark.parametrize(
    "refused",
    [
        lambda: clipped_sum(1, 1),
        lambda: clipped_sum(2, 1),
        lambda: clipped_mean(0, 1, 0),
        lambda: clipped_mean(0, 1, -3),
        lambda: clipped_mean(0, 1, 2.5),  # type: ignore[arg-type]
        lambda: clipped_mean_unknown_size(0, 1, at_least=0),
        lambda: histogram(1),
        lambda: quantile_score(0),
        lambda: quantile_score(1),
        lambda: Sensitivity("none", F(0), 0.0, REPLACE),
        lambda: Sensitivity("negative", F(-1), 1.0, REPLACE),
        lambda: Sensitivity("not finite", F(1), math.nan, REPLACE),
        lambda: Sensitivity("not a relation", F(1), 1.0, "replace-one"),  # type: ignore[arg-type]
        lambda: by_brute_force(lambda data: 0, [0, 1], 3),
        lambda: by_brute_force(sum, list(range(100)), 3),
        lambda: by_brute_force(lambda data: math.nan, [0, 1], 3),
    ],
)
def test_sensitivities_that_do_not_exist(refused: Callable[[], object]) -> None:
    """Empty ranges, no records, zero and unknown sensitivities are errors, never a number."""
    with pytest.raises(MechanismError):
        refused()


def test_huge_and_tiny_ranges_are_exact() -> None:
    """Sensitivities are fractions, so the ends of the float range lose nothing."""
    assert clipped_sum(-1e308, 0).l1 == Fraction(1e308)
    assert clipped_mean(0, 2**70, records=3).l1 == Fraction(2**70, 3)
    with pytest.raises(MechanismError, match="between"):
        clipped_sum(-1e308, 1e308)
    with pytest.raises(MechanismError, match="between"):
        clipped_mean(0, 5e-324, records=4)
