"""What other packages were seen to get wrong, tried here: the right answer or a clear error."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from deniable_analysis.central import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    Neighbours,
    PermuteAndFlip,
    PureDP,
    RandomizedResponse,
    ReportNoisyMax,
    Sensitivity,
    ZeroConcentratedDP,
    by_brute_force,
    clipped_mean,
    clipped_mean_unknown_size,
    clipped_sum,
    clipped_vector_sum,
    count,
    histogram,
    quantile_score,
    verify,
)
from deniable_analysis.central.discrete_profiles import ConcentratedProfile
from deniable_analysis.central.profiles import GaussianProfile, LaplaceProfile
from deniable_protocol import Channel
from deniable_protocol.errors import MechanismError, PrivacyError

F = Fraction
NOT_NUMBERS = [math.nan, math.inf, -math.inf, -1, True, "1", None, [], 10**400]
HUGE = 10**5000
"""More digits than Python writes out."""


def name(bad: object) -> str:
    return repr(bad) if not isinstance(bad, int) or abs(bad) < 9 else f"{bad.bit_length()} bits"


@pytest.mark.parametrize("scale", [F(1, 10**160), F(1, 10**300)])
def test_hardly_any_noise_is_not_perfect_privacy(scale: Fraction) -> None:
    """σ = 1e-160 has a δ of 1 and no finite ε; two accountants call it ε = 0."""
    normal = Gaussian(GaussianDP(1), count(), scale, F(1, 10**320))
    assert normal.delta(100.0) == 1
    assert normal.profile.epsilon(1e-5) > 1e100
    with pytest.raises(MechanismError, match="not proved"):
        verify(normal)
    thin = Laplace(PureDP(1), count(), scale, F(1, 10**320))
    assert thin.delta(100.0) == 1
    with pytest.raises(MechanismError, match="not proved"):
        verify(thin)


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 0], ids=name)
def test_scales_that_are_none(bad: object) -> None:
    """A NaN, zero or negative scale makes no mechanism, of any kind."""
    for made in (
        lambda: Laplace(PureDP(1), count(), bad, F(1)),  # type: ignore[arg-type]
        lambda: DiscreteLaplace(PureDP(1), count(), bad, F(1)),  # type: ignore[arg-type]
        lambda: Gaussian(GaussianDP(1), count(), bad, F(1)),  # type: ignore[arg-type]
        lambda: DiscreteGaussian(ZeroConcentratedDP(1), count(), bad, F(1)),  # type: ignore[arg-type]
        lambda: Laplace(PureDP(1), count(), F(1), bad),  # type: ignore[arg-type]
        lambda: Exponential(PureDP(1), count(), bad),  # type: ignore[arg-type]
        lambda: GaussianProfile(bad),  # type: ignore[arg-type]
        lambda: LaplaceProfile(bad),  # type: ignore[arg-type]
        lambda: ConcentratedProfile(bad),  # type: ignore[arg-type]
    ):
        with pytest.raises((PrivacyError, TypeError)):
            made()


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 0, HUGE], ids=name)
def test_sensitivities_that_are_none(bad: object) -> None:
    """Sensitivity 0 would need no noise at all, and NaN any: neither is one."""
    replace = Neighbours.REPLACE_ONE
    for made in (
        lambda: Sensitivity("query", bad, 1.0, replace),  # type: ignore[arg-type]
        lambda: Sensitivity("query", F(1), bad, replace),  # type: ignore[arg-type]
        lambda: clipped_mean(0, 1, records=bad),  # type: ignore[arg-type]
        lambda: clipped_mean_unknown_size(0, 1, at_least=bad),  # type: ignore[arg-type]
        lambda: clipped_vector_sum(bad, 3),  # type: ignore[arg-type]
        lambda: clipped_vector_sum(1, bad),  # type: ignore[arg-type]
        lambda: histogram(bad),  # type: ignore[arg-type]
        lambda: quantile_score(bad),  # type: ignore[arg-type]
        lambda: by_brute_force(sum, [0, 1], records=bad),  # type: ignore[arg-type]
    ):
        with pytest.raises(MechanismError):
            made()
    if bad not in (0, -1):
        for made in (lambda: clipped_sum(0, bad), lambda: clipped_sum(bad, 1)):  # type: ignore[arg-type]
            with pytest.raises(MechanismError):
                made()


def test_empty_ranges_and_constant_queries() -> None:
    """A range without width, or a query that nobody can move, has no sensitivity to hide."""
    for low, high in ((1, 1), (2, 1), (0, -5)):
        with pytest.raises(MechanismError, match="low must be below high"):
            clipped_sum(low, high)
    with pytest.raises(MechanismError, match="L1 sensitivity"):
        by_brute_force(lambda data: 7, [0, 1], records=2)


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 1, 1.5], ids=name)
def test_deltas_that_are_none(bad: object) -> None:
    """δ of 1 or more, below 0, or not a number: refused by promises and by inversion."""
    with pytest.raises(MechanismError, match="delta"):
        ApproximateDP(1.0, bad)  # type: ignore[arg-type]
    for profile in (GaussianProfile(1.0), LaplaceProfile(1.0), ConcentratedProfile(1.0)):
        with pytest.raises(MechanismError, match="delta"):
            profile.epsilon(bad)  # type: ignore[arg-type]


def test_pure_mechanisms_at_delta_zero() -> None:
    """δ = 0 gives ε itself and not infinity; for Gaussian noise it is infinity."""
    channel = Channel(options=2, subset=1, odds=F(3))
    for mechanism, epsilon in (
        (Laplace.calibrate(PureDP(0.5), count()), 0.5),
        (Laplace.calibrate(PureDP(0.5), histogram(7)), 0.5),
        (DiscreteLaplace.calibrate(PureDP(0.5), count()), 0.5),
        (DiscreteLaplace.calibrate(PureDP(0.5), histogram(7)), 0.5),
        (Exponential.calibrate(PureDP(0.5), count()), 0.5),
        (RandomizedResponse(PureDP(1.1), channel), math.log(3)),
    ):
        found = mechanism.profile.epsilon(0.0)
        assert epsilon <= found <= epsilon * (1 + 1e-14)
        assert mechanism.delta(found) == 0
    assert GaussianProfile(1e-3).epsilon(0.0) == math.inf
    assert ConcentratedProfile(1e-3).epsilon(0.0) == math.inf


@pytest.mark.parametrize(("epsilon", "delta"), [(8.0, 1e-2), (20.0, 1e-5), (100.0, 1e-9)])
def test_the_textbook_formula_above_one(epsilon: float, delta: float) -> None:
    """Taken by hand where it is refused, it makes noise that verify() finds to be too little."""
    sigma = F(math.sqrt(2 * math.log(1.25 / delta)) / epsilon)
    by_hand = Gaussian(ApproximateDP(epsilon, delta), count(), sigma, F(1, 2**30))
    with pytest.raises(MechanismError, match="not proved: delta at epsilon"):
        verify(by_hand)
    with pytest.raises(MechanismError, match=r"up to 1 only.*Gaussian\.analytic"):
        Gaussian.classic(ApproximateDP(epsilon, delta), count())
    assert verify(Gaussian.calibrate(ApproximateDP(epsilon, delta), count()))


def test_no_negative_epsilon() -> None:
    """A conversion that would go below 0 stops there."""
    for profile in (GaussianProfile(1e-9), LaplaceProfile(1e-9), ConcentratedProfile(1e-20)):
        assert profile.epsilon(0.5) == 0
        assert profile.epsilon(1e-3) >= 0


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, ReportNoisyMax])
def test_choices_at_the_edges(kind: type[Exponential]) -> None:
    """All equal: uniform. NaN, empty: refused. A sensitivity of 0 cannot even be stated."""
    mechanism = kind.calibrate(PureDP(1), count())
    assert mechanism.probabilities([4, 4, 4, 4]) == pytest.approx([0.25] * 4, rel=1e-12)
    assert mechanism.release([4, 4]).index in (0, 1)
    for bad in ([math.nan, 1], [], [math.inf, math.inf]):
        with pytest.raises(MechanismError):
            mechanism.release(bad)
    # e^(10^6) has no float; the probabilities do.
    assert mechanism.probabilities([10**6, 0])[0] == pytest.approx(1)
    assert mechanism.probabilities([-(10**6), 0])[1] == pytest.approx(1)


@pytest.mark.parametrize("grid", [F(1, 10**9), F(1), F(1000), F(10**30)])
def test_a_coarse_grid_costs_accuracy_and_no_privacy(grid: Fraction) -> None:
    """A grid wider than the noise: the promise is still proved, and the interval says so."""
    mechanism = Laplace.calibrate(PureDP(1), count(), grid=grid)
    assert verify(mechanism).method == "exact"
    assert mechanism.half_width() >= float(grid) / 2
    for _ in range(20):
        released = mechanism.release(F(1, 3))
        low, high = released.interval(1 - 1e-12)
        assert low <= 1 / 3 <= high
        assert released.noise_scale == 1


def test_large_values_keep_their_noise() -> None:
    """2⁷⁰ with noise of scale 1 is another number nearly every time, as an exact fraction."""
    for mechanism in (
        DiscreteLaplace.calibrate(PureDP(0.01), count()),
        DiscreteGaussian.calibrate(ZeroConcentratedDP(1e-4), count()),
        Laplace.calibrate(PureDP(0.01), count()),
        Gaussian.calibrate(GaussianDP(0.01), count()),
    ):
        released = {mechanism.release(2**70).exact[0] for _ in range(12)}
        assert len(released) > 6
        assert all(abs(value - 2**70) < 10**5 for value in released)
