"""What must not change: other names, another order, the opposite report, split counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_analysis.design import Design
from deniable_analysis.paper import direct_question, warner
from deniable_analysis.paper_data import read_paper
from deniable_analysis.paper_estimate import PaperEstimate, estimate_paper
from deniable_analysis.paper_matrix import MatrixDesign

chances = st.fractions(Fraction(1, 40), Fraction(39, 40), max_denominator=40)
counts = st.integers(0, 500)


def numbers(found: PaperEstimate, state: int | str) -> tuple[float, ...]:
    option = found[state]
    return option.share, option.se, option.mle, option.low, option.high


@given(least=chances, most=chances, no=counts, yes=counts)
@settings(max_examples=40, deadline=None)
def test_saying_the_opposite(least: Fraction, most: Fraction, no: int, yes: int) -> None:
    """Swapping yes and no in the reports and in the design changes nothing; c < 0 is legal."""
    if abs(least - most) < Fraction(1, 20) or no + yes < 2:
        return
    design = Design(most - least, least)
    plain = estimate_paper([no, yes], design)
    opposite = estimate_paper([yes, no], design.mirrored)
    assert numbers(plain, "yes") == pytest.approx(numbers(opposite, "yes"), abs=1e-9)
    assert plain["yes"].low <= plain["yes"].mle + 1e-9
    assert plain["yes"].mle <= plain["yes"].high + 1e-9


@given(st.permutations(range(4)), st.permutations(range(3)), st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_other_names_and_order(rows: list[int], columns: list[int], seed: int) -> None:
    """Reports and states in another order, under other names, give the same numbers."""
    rng = np.random.default_rng(seed)
    law = [[Fraction(int(v), 60) for v in column] for column in (
        rng.multinomial(60, [0.25] * 4) for _ in range(3))]  # fmt: skip
    matrix = [[law[s][r] for s in range(3)] for r in range(4)]
    seen = rng.multinomial(400, [0.4, 0.3, 0.2, 0.1]) + 1
    try:
        design = MatrixDesign.of(matrix)
    except ValueError:  # two states alike
        return
    if any(not any(row) for row in matrix) or np.linalg.cond(design.law) > 1e3:
        return
    other = MatrixDesign.of([[matrix[r][s] for s in columns] for r in rows], states=["x", "y", "z"])
    plain, moved = estimate_paper(seen, design), estimate_paper(seen[rows], other)
    for place, state in enumerate(columns):
        assert numbers(plain, state)[:2] == pytest.approx(numbers(moved, place)[:2], abs=1e-9)
        assert numbers(plain, state)[2:] == pytest.approx(numbers(moved, place)[2:], abs=1e-5)


def test_split_counts() -> None:
    """A group cut in two has the same best fit and interval, and nearly the same error."""
    whole = estimate_paper([[70, 30], [50, 20]], [warner("3/4"), direct_question()])
    parts = estimate_paper(
        [[40, 10], [30, 20], [50, 20]], [warner("3/4"), warner("3/4"), direct_question()]
    )
    assert numbers(whole, "yes")[2:] == pytest.approx(numbers(parts, "yes")[2:], abs=1e-9)
    assert whole["yes"].share == pytest.approx(parts["yes"].share)
    assert whole["yes"].se == pytest.approx(parts["yes"].se, rel=0.02)


def test_order_of_rows() -> None:
    """Forty orders of the same rows give the same numbers to the last bit."""
    rng = np.random.default_rng(2)
    said, way = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    designs = {"0": warner("3/4"), "1": direct_question()}
    found = set()
    for _ in range(40):
        order = rng.permutation(300)
        columns = {"said": said[order], "way": way[order].astype(str)}
        found.add(numbers(read_paper(columns, "said", designs, by="way").estimate(), "yes"))
    assert len(found) == 1


@pytest.mark.parametrize("n", [1, 2, 10**9])
@pytest.mark.parametrize("odds", [Fraction(1001, 1000), Fraction(3_000_000)])
def test_extremes(n: int, odds: Fraction) -> None:
    """One report and a billion, hardly any noise and hardly anything but noise: still an answer."""
    found = estimate_paper([n - n // 3, n // 3], warner(odds / (1 + odds)))["yes"]
    assert 0 <= found.low <= found.mle + 1e-12 <= found.high + 2e-12 <= 1 + 2e-12
    assert np.isnan(found.se) == (n == 1)


def test_a_wrong_design_is_noticed() -> None:
    """The checks above are not blind: a design with swapped chances gives other numbers."""
    right = estimate_paper([60, 40], Design(Fraction(1, 2), Fraction(1, 5)))
    swapped = estimate_paper([60, 40], Design(Fraction(1, 2), Fraction(3, 10)))
    assert numbers(right, "yes") != pytest.approx(numbers(swapped, "yes"), abs=1e-3)
