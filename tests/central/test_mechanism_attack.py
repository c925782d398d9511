"""The attack on floating-point Laplace noise (Mironov 2012), on a naive sampler and on ours.

A naive sampler computes x + b·ln u in floats, for u a multiple of 2⁻⁵³. Only some floats can come
out, and which ones depends on x: an output that x = 0 cannot produce gives away that x was not 0,
although the two answers should be as hard to tell apart as ε says.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from deniable_analysis.central import Laplace, PureDP, count

STEP = 2.0**-53
EPSILON = 1.0


def naive_release(value: float, rng: np.random.Generator) -> float:
    """Add Laplace noise as a textbook would in floats."""
    sign = 1.0 if rng.integers(2) else -1.0
    return value + sign * math.log((1 - rng.random()) or STEP) / EPSILON


def can_come_from(output: float, value: float) -> bool:
    """Tell whether some u, a multiple of 2⁻⁵³, makes the naive sampler return this output."""
    for sign in (1.0, -1.0):
        guess = math.exp(min(0.0, sign * (output - value) * EPSILON))
        nearest = round(guess / STEP)
        for k in range(nearest - 3, nearest + 4):
            if 0 < k * STEP <= 1 and value + sign * math.log(k * STEP) / EPSILON == output:
                return True
    return False


def test_the_attack_unmasks_naive_noise(rng: np.random.Generator) -> None:
    """One output in five betrays x = 1 with certainty at ε = 1; the attack never errs on x = 0."""
    ones = [naive_release(1.0, rng) for _ in range(2000)]
    zeros = [naive_release(0.0, rng) for _ in range(2000)]
    assert all(can_come_from(y, 0.0) for y in zeros)
    betrayed = np.mean([not can_come_from(y, 0.0) for y in ones])
    assert betrayed > 0.2


def test_the_attack_learns_nothing_from_ours() -> None:
    """Every value we release could have come from every other answer: the grid is the same.

    Which numbers can come out does not depend on the answer, whole, binary or neither; how likely
    each is has been enumerated in test_sampling.py.
    """
    mechanism = Laplace.calibrate(PureDP(EPSILON), count())
    grid = mechanism.grid
    for value in (0, 1, 0.1, Fraction(1, 3), 1e6 + 1e-9):
        for _ in range(200):
            (released,) = mechanism.release(value).exact
            assert (released / grid) % 1 == Fraction(1, 2)
            assert Fraction(float(released)) == released  # the float says nothing more
    # The attack's own question, asked of our outputs, has the same answer for both candidates.
    for value in (0, 1):
        outputs = [mechanism.release(value).value for _ in range(300)]
        reachable = [[(Fraction(y) - x) % grid == grid / 2 for x in (0, 1)] for y in outputs]
        assert all(all(pair) for pair in reachable)


def test_precision_does_not_give_the_value_away() -> None:
    """The released digits do not carry the precision of the answer (Haney et al. 2022).

    A float sum of a value near 2⁴⁰ and noise has a last digit of 2⁻¹²; ours has the grid's.
    """
    mechanism = Laplace.calibrate(PureDP(EPSILON), count())
    for value in (0.0, 2.0**40, 2.0**40 + 2.0**-11):
        denominators = {mechanism.release(value).exact[0].denominator for _ in range(30)}
        assert denominators == {2 * mechanism.grid.denominator}
