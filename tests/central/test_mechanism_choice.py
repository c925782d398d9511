"""Exponential mechanism, permute-and-flip, report-noisy-max: laws, ε, and exact draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from scipy.integrate import quad

from deniable_analysis.central import (
    Exponential,
    GaussianDP,
    Neighbours,
    PermuteAndFlip,
    PureDP,
    ReportNoisyMax,
    count,
)
from deniable_analysis.central.selection import Selection
from deniable_protocol.errors import MechanismError

from .enumeration import law
from .test_mechanism_noise import reference
from .test_sampling import COINS, F, unit_exp

KINDS = [Exponential, PermuteAndFlip, ReportNoisyMax]


def calibrated(kind: type[Selection], epsilon: float, monotone: bool = False) -> Selection:
    return kind.calibrate(PureDP(epsilon), count(), monotone=monotone)


def test_probabilities_against_twenty_digits() -> None:
    """Exponential (both kinds) and permute-and-flip match the reference to 1e-9 of each value."""
    for case in reference("h_exponential.json")["cases"]:
        utilities, epsilon = case["utility"], case["eps"]
        for name, mechanism in (
            ("exponential", calibrated(Exponential, epsilon)),
            ("exponential_monotonic", calibrated(Exponential, epsilon, monotone=True)),
            ("permute_and_flip", calibrated(PermuteAndFlip, epsilon)),
        ):
            truth = [float(value) for value in case[name]]
            assert mechanism.probabilities(utilities) == pytest.approx(truth, rel=1e-9), name


def test_probabilities_typed_in() -> None:
    """The canteen vote, without the reference file."""
    votes = [30, 25, 5]
    exponential = calibrated(Exponential, 1).probabilities(votes)
    assert exponential == pytest.approx(
        [0.92413863728591026602, 0.075857918769905651986, 3.443944184081997868e-6], rel=1e-12
    )
    flip = calibrated(PermuteAndFlip, 1).probabilities(votes)
    assert flip == pytest.approx(
        [0.95895573932890473036, 0.041042448328229313947, 1.8123428659556978651e-6], rel=1e-12
    )


def flip_by_enumeration(q: Sequence[float]) -> list[float]:
    """Permute-and-flip from its definition: every order, every coin."""
    found = [0.0] * len(q)
    for order in itertools.permutations(range(len(q))):
        left = 1 / math.factorial(len(q))
        for candidate in order:
            found[candidate] += left * q[candidate]
            left *= 1 - q[candidate]
    return found


def test_permute_and_flip_is_its_definition() -> None:
    """The integral equals the sum over all orders, and never names worse than exponential."""
    for utilities in ([0, 0, 0, 0], [5, 3, 3, 1, 0], [2, 9], [7], [1, 1, 0, 0, 0, 0]):
        mechanism = calibrated(PermuteAndFlip, 0.7)
        q = [math.exp(0.35 * (u - max(utilities))) for u in utilities]
        found = mechanism.probabilities(utilities)
        assert found == pytest.approx(flip_by_enumeration(q), rel=1e-12)
        plain = calibrated(Exponential, 0.7).probabilities(utilities)
        assert found @ utilities >= plain @ utilities - 1e-12


def test_noisy_max_probabilities_are_the_integral() -> None:
    """P(i wins) = ∫ f(x − u_i) Π F(x − u_j) dx, by adaptive quadrature."""
    utilities = np.array([4.0, 3.0, 0.0, -60.0])

    def density(x: float) -> float:
        return math.exp(-abs(x)) / 2

    def cdf(x: float) -> float:
        return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2

    found = calibrated(ReportNoisyMax, 2).probabilities(utilities)
    for i, u in enumerate(utilities):
        others = np.delete(utilities, i)

        def integrand(x: float, u: float = u, others: np.ndarray = others) -> float:
            return density(x - u) * math.prod(cdf(x - v) for v in others)

        pieces = [-50, 0, 3, 4, 12, 60]
        exact = sum(quad(integrand, a, b, epsabs=1e-15)[0] for a, b in itertools.pairwise(pieces))
        assert found[i] == pytest.approx(exact, rel=1e-8, abs=1e-14)


def worst_ratio(mechanism: Selection, size: int, values: range, monotone: bool) -> float:
    """Return the largest log-ratio over all utility vectors that one person can connect."""
    moves = [m for m in itertools.product((-1, 0, 1), repeat=size) if any(m)]
    if monotone:
        moves = [m for m in moves if min(m) == 0 or max(m) == 0]
    worst = 0.0
    for utilities in itertools.product(values, repeat=size):
        here = np.log(mechanism.probabilities(utilities))
        for move in moves:
            there = np.log(mechanism.probabilities(np.add(utilities, move).tolist()))
            worst = max(worst, float(np.abs(here - there).max()))
    return worst


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("monotone", [False, True])
def test_epsilon_over_all_small_utilities(kind: type[Selection], monotone: bool) -> None:
    """Over every pair of neighbouring utility vectors, no ratio passes e^ε; a doubled rate does."""
    mechanism = calibrated(kind, 1.5, monotone)
    values = range(0, 7, 3)
    assert worst_ratio(mechanism, 3, values, monotone) <= 1.5 + 1e-9
    assert mechanism.largest_loss == F(3, 2)
    broken = kind(PureDP(1.5), count(), 2 * mechanism.rate, monotone)
    assert worst_ratio(broken, 3, values, monotone) > 1.5


def test_monotone_rate_is_not_for_everything() -> None:
    """With utilities that move against each other, the doubled rate breaks ε."""
    mechanism = calibrated(Exponential, 1.5, monotone=True)
    assert worst_ratio(mechanism, 2, range(3), monotone=False) > 1.6


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("utilities", [[3, 2, 1], [0, 0], [F(1, 2), F(3), 2.25]])
def test_draws_have_the_stated_law(
    kind: type[Selection], utilities: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every sequence of candidate and coin is run; the law is the one that is stated."""
    mechanism = calibrated(kind, 1)
    from deniable_analysis.central import selection

    def coin_exp(gamma: Fraction, below: object) -> object:
        return below.pick(unit_exp(gamma))  # type: ignore[attr-defined]

    monkeypatch.setattr(selection, "bernoulli_exp", coin_exp)
    found = law(lambda below: mechanism.release(utilities, below).index, monkeypatch, COINS, 1e-9)
    missing = 1 - sum(found.values())
    stated = mechanism.probabilities(utilities)
    for candidate, chance in found.items():
        assert chance <= stated[candidate] + 1e-12 <= chance + missing + 2e-12
    assert missing < 0.01


@pytest.mark.statistical(alpha=1e-9, detects="a candidate named 8 points too often")
def test_noisy_max_draws(rng: np.random.Generator) -> None:
    """Exact draws of report-noisy-max are not told from its law; those with twice the noise are."""
    n, utilities = 2000, [3, 2, 0, 0]
    below = Random(int.from_bytes(rng.bytes(32))).randrange
    mechanism = calibrated(ReportNoisyMax, 2)
    most = math.sqrt(math.log(2 * 4 / 1e-9) / (2 * n))  # Hoeffding, four candidates
    named = (
        np.bincount([mechanism.release(utilities, below).index for _ in range(n)], minlength=4) / n
    )
    assert np.abs(named - mechanism.probabilities(utilities)).max() < most
    assert np.abs(named - calibrated(ReportNoisyMax, 0.7).probabilities(utilities)).max() > most


def test_ties_and_one_candidate() -> None:
    """Equal utilities are equally likely; one candidate is certain; huge gaps do not hang."""
    for kind in KINDS:
        mechanism = calibrated(kind, 1)
        assert mechanism.probabilities([5, 5, 5]) == pytest.approx([1 / 3] * 3, rel=1e-9)
        assert mechanism.probabilities([-2]) == pytest.approx([1.0])
        assert mechanism.release([7]).index == 0
        assert mechanism.release([0, 10**6, 3]).index == 1
        assert mechanism.probabilities([1e300, 0.0]) == pytest.approx([1.0, 0.0])
        assert mechanism.probabilities([2**70 + 0, 2**70 + 2])[1] > 0.6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [[], [1, math.nan], [1, math.inf], [1, None], [1, "x"]], ids=repr)
def test_bad_utilities(kind: type[Selection], bad: list[object]) -> None:
    """NaN and infinite utilities are refused, without being repeated."""
    for refused in (calibrated(kind, 1).probabilities, calibrated(kind, 1).release):
        with pytest.raises(MechanismError, match=r"utility|candidate") as caught:
            refused(bad)  # type: ignore[arg-type]
        assert "nan" not in str(caught.value)


def test_definitions_and_relations() -> None:
    """Only pure ε, and one relation."""
    with pytest.raises(MechanismError, match="PureDP"):
        Exponential.calibrate(GaussianDP(1), count())
    with pytest.raises(MechanismError, match="same relation"):
        Exponential.calibrate(PureDP(1), count(Neighbours.ADD_OR_REMOVE_ONE))
    with pytest.raises(MechanismError, match="rate"):
        Exponential(PureDP(1), count(), F(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_choice_carries_its_noise_and_a_bound(kind: type[Selection], level: float) -> None:
    """The shortfall holds at its level in the worst case, and is sharp for exponential."""
    mechanism = calibrated(kind, 1)
    chosen = mechanism.release([3, 1, 4, 1, 5])
    assert chosen.candidates == 5
    assert chosen.noise_scale == 2
    below = chosen.shortfall(level)
    missed = 1 - mechanism.probabilities([0, *[-below] * 4])[0]
    assert missed <= 1 - level + 1e-12
    if kind is Exponential:
        assert missed == pytest.approx(1 - level, rel=1e-9)
    # Half the distance is not enough for any of them.
    assert 1 - mechanism.probabilities([0, *[-below / 3] * 4])[0] > 1 - level
    assert mechanism.release([7]).shortfall(level) == 0
    with pytest.raises(MechanismError, match="level"):
        chosen.shortfall(math.nan)


def test_numpy_utilities_do_not_overflow() -> None:
    """Counts as numpy makes them: the same law as Python's integers, also of a narrow type."""
    mechanism = calibrated(Exponential, 1)
    for kind in (np.int8, np.uint8, np.int64, np.float32):
        votes = np.array([100, 99, 120], dtype=kind)
        assert mechanism.probabilities(votes) == pytest.approx(
            mechanism.probabilities([100, 99, 120]), rel=1e-15
        )
        assert mechanism.release(votes).candidates == 3
    big = np.array([2**62, -(2**62)], dtype=np.int64)
    assert mechanism.probabilities(big).tolist() == [1, 0]
