"""verify(): true promises are proved, broken ones are refused."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from deniable_analysis.central import (
    Additive,
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    PermuteAndFlip,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    ReportNoisyMax,
    TradeOffDP,
    ZeroConcentratedDP,
    clipped_sum,
    count,
    histogram,
    verify,
)
from deniable_analysis.central.accountants import BestAccountant
from deniable_analysis.central.discrete_profiles import ConcentratedProfile, IntegerNoise
from deniable_analysis.central.profiles import ApproximateProfile, GaussianProfile
from deniable_analysis.central.proof import Mechanism, pure_renyi
from deniable_protocol import Channel
from deniable_protocol.errors import MechanismError

from .test_mechanism_noise import reference

F = Fraction
TRUE: list[Additive] = [
    Laplace.calibrate(PureDP(0.3), count()),
    Laplace.calibrate(PureDP(1.1), histogram(5)),
    Laplace.calibrate(ApproximateDP(1, 1e-300), count()),
    Laplace.calibrate(ApproximateDP(1, 0.2), count()),
    Laplace.calibrate(ZeroConcentratedDP(0.7), count()),
    DiscreteLaplace.calibrate(PureDP(0.3), count()),
    DiscreteLaplace.calibrate(PureDP(0.3), histogram(3)),
    DiscreteLaplace.calibrate(ApproximateDP(0.3, 1e-9), count()),
    Gaussian.calibrate(ApproximateDP(1e-6, 0.5), count()),
    Gaussian.calibrate(ApproximateDP(1, 1e-300), count()),
    Gaussian.calibrate(ApproximateDP(800, 1e-10), histogram(9)),
    Gaussian.classic(ApproximateDP(1, 1e-5), count()),
    Gaussian.calibrate(ZeroConcentratedDP(0.02), histogram(9)),
    Gaussian.calibrate(GaussianDP(0.3), count()),
    Gaussian.calibrate(RenyiDP(((1.5, 0.1), (30.0, 2.0))), count()),
    DiscreteGaussian.calibrate(ZeroConcentratedDP(0.02), histogram(9)),
    DiscreteGaussian.calibrate(ApproximateDP(1, 1e-9), count()),
    DiscreteGaussian.calibrate(ApproximateDP(6, 1e-3), count()),
    DiscreteGaussian.calibrate(ApproximateDP(1, 1e-9), histogram(9)),
    DiscreteGaussian.calibrate(ApproximateDP(800, 1e-300), histogram(9)),
]
BOUNDS = [TRUE[4], *TRUE[-2:]]
"""Proved by way of a theorem that gives something away."""


SLACK = [Gaussian.classic(ApproximateDP(1, 1e-5), count())]
"""The textbook formula asks for more noise than is needed."""


@pytest.mark.parametrize("mechanism", TRUE, ids=lambda m: f"{type(m).__name__} {m.promise}")
def test_calibrated_mechanisms_are_proved_and_weaker_ones_refused(mechanism: Additive) -> None:
    """What calibrate returns passes; with two thirds of its noise it does not."""
    proof = verify(mechanism)
    assert proof.mechanism is mechanism
    assert proof.because
    assert proof.method == ("bound" if mechanism in BOUNDS else "exact")
    weaker = dataclasses.replace(mechanism, scale=mechanism.scale * F(2, 3))
    if mechanism in SLACK:
        weaker = dataclasses.replace(mechanism, scale=mechanism.scale / 2)
    with pytest.raises(MechanismError, match="not proved"):
        verify(weaker)


@pytest.mark.parametrize(
    "mechanism",
    [m for m in TRUE if not isinstance(m, DiscreteLaplace | DiscreteGaussian) and m not in SLACK],
    ids=lambda m: f"{type(m).__name__} {m.promise}",
)
def test_a_hair_less_noise_is_refused(mechanism: Additive) -> None:
    """The proofs are sharp: a billionth less noise than calibrated is too little."""
    with pytest.raises(MechanismError, match="not proved"):
        verify(dataclasses.replace(mechanism, scale=mechanism.scale * (1 - F(1, 10**9))))


def test_laplace_is_exact_to_the_last_bit() -> None:
    """Fractions are compared: ε and its next neighbours are told apart."""
    mechanism = Laplace.calibrate(PureDP(1), count())
    verify(mechanism)
    with pytest.raises(MechanismError, match="above epsilon = 1"):
        verify(dataclasses.replace(mechanism, scale=F(1) - F(1, 10**40)))


@pytest.mark.parametrize(
    ("mechanism", "promise"),
    [
        (Gaussian.calibrate(GaussianDP(1), count()), PureDP(50)),
        (DiscreteGaussian.calibrate(ZeroConcentratedDP(1), histogram(3)), ApproximateDP(2, 0.1)),
        (DiscreteGaussian.calibrate(ZeroConcentratedDP(1), histogram(3)), GaussianDP(9)),
        (Laplace.calibrate(PureDP(1), count()), GaussianDP(0.9)),
        (Laplace.calibrate(PureDP(1), count()), RenyiDP(((2.0, 0.7),))),
        (Laplace.calibrate(PureDP(1), count()), ZeroConcentratedDP(0.49)),
    ],
)
def test_promises_of_another_kind_are_refused(mechanism: Additive, promise: object) -> None:
    """A promise that does not follow is not proved, whatever the noise is."""
    with pytest.raises(MechanismError, match="not proved"):
        verify(dataclasses.replace(mechanism, promise=promise))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("promise", "method"),
    [
        (GaussianDP(2 * norm.isf(1 / (1 + math.e)) + 1e-9), "bound"),
        (RenyiDP(((2.0, 0.7354),)), "bound"),
        (ZeroConcentratedDP(0.5), "bound"),
        (ApproximateDP(0.5, -math.expm1(-0.25) + 1e-12), "exact"),
        (PureDP(1), "exact"),
    ],
)
def test_what_follows_from_pure_epsilon(promise: object, method: str) -> None:
    """One Laplace mechanism, seen through every definition, each at its threshold."""
    mechanism = Laplace.calibrate(PureDP(1), count())
    assert verify(dataclasses.replace(mechanism, promise=promise)).method == method  # type: ignore[arg-type]


def test_trade_off_promises() -> None:
    """A trade-off function is met if it is nowhere above the mechanism's, and refused if it is."""
    normal = Gaussian.calibrate(GaussianDP(1), count())
    held = TradeOffDP(lambda a: float(norm.cdf(norm.isf(a) - 1.0000001)), "Gaussian, mu 1")
    broken = TradeOffDP(lambda a: float(norm.cdf(norm.isf(a) - 0.99)), "Gaussian, mu 0.99")
    assert verify(dataclasses.replace(normal, promise=held)).method == "checked on a grid"
    with pytest.raises(MechanismError, match="miss rate"):
        verify(dataclasses.replace(normal, promise=broken))
    nan = TradeOffDP(lambda a: math.nan, "not a number")
    with pytest.raises(MechanismError, match="not proved"):
        verify(dataclasses.replace(normal, promise=nan))


def test_randomized_response_is_proved_exactly() -> None:
    """Odds 3:1 meet ε = 1.0987 and not 1.0986."""
    channel = Channel(options=2, subset=1, odds=F(3))
    assert verify(RandomizedResponse(PureDP(1.0987), channel)).delta(0) == pytest.approx(0.5)
    with pytest.raises(MechanismError, match="not proved"):
        verify(RandomizedResponse(PureDP(1.0986), channel))
    for epsilon, options in ((0.1, 2), (1, 10), (4, 100), (math.log(3), 2)):
        verify(RandomizedResponse.calibrate(PureDP(epsilon), options))
    with pytest.raises(MechanismError, match="PureDP"):
        RandomizedResponse.calibrate(GaussianDP(1), 2)


def test_choices_are_proved() -> None:
    """The exponential mechanism's ε is an equality of fractions; a rate above it is refused."""
    mechanism = Exponential.calibrate(PureDP(0.1), count())
    assert verify(mechanism).method == "exact"
    with pytest.raises(MechanismError, match="not proved"):
        verify(dataclasses.replace(mechanism, rate=mechanism.rate * 2))
    with pytest.raises(MechanismError, match="not proved"):
        verify(dataclasses.replace(mechanism, promise=GaussianDP(0.05)))


def test_exact_profiles_are_reported() -> None:
    """The proof hands out δ(ε), which for one count is the textbook's."""
    proof = verify(Laplace.calibrate(PureDP(1), count()))
    assert proof.delta(0.5) == pytest.approx(1 - math.exp(-0.25))
    assert proof.delta(1) == 0
    vector = verify(DiscreteGaussian.calibrate(ZeroConcentratedDP(0.5), histogram(3)))
    assert vector.delta(5.3) < 1e-6 < vector.delta(5.1)


@pytest.mark.parametrize("bad", [math.nan, -1, math.inf, True, "1"])
def test_profile_arguments(bad: object) -> None:
    """δ(ε) of NaN, a negative number or infinity is an error, for every mechanism."""
    kinds: list[Mechanism] = [
        *TRUE[:1],
        TRUE[5],
        TRUE[9],
        Exponential.calibrate(PureDP(1), count()),
        RandomizedResponse.calibrate(PureDP(1), 3),
    ]
    for mechanism in kinds:
        with pytest.raises(MechanismError, match="epsilon"):
            mechanism.delta(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("split", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_one_laplace_coordinate_is_the_worst_case(split: float, epsilon: float) -> None:
    """Moving two coordinates by parts of Δ₁ is never easier to see than moving one by all of it."""
    first, second = epsilon * split, epsilon * (1 - split)
    losses, chances = [], []
    for part in (first, second):
        edges = np.linspace(-part, part, 1501)
        middle = (edges[:-1] + edges[1:]) / 2
        inner = np.diff(np.exp((edges - part) / 2)) / 2
        losses.append(np.concatenate([middle, [part, -part]]))
        chances.append(np.concatenate([inner, [0.5, math.exp(-part) / 2]]))
        assert chances[-1].sum() == pytest.approx(1, abs=1e-12)
    together = np.add.outer(*losses)
    weight = np.multiply.outer(*chances)
    for at in np.linspace(0, 1, 12) * epsilon:
        both = (weight * np.maximum(0, -np.expm1(at - together))).sum()
        assert both <= -math.expm1((at - epsilon) / 2) + 1e-6


def test_pure_renyi_bounds_every_pure_mechanism() -> None:
    """Laplace's own divergence is below the bound for its ε; the bound is randomized response's."""
    mpmath.mp.dps = 50
    for epsilon, order in ((0.5, 2.0), (1.0, 1.01), (3.0, 40.0), (1e-6, 2.0), (700.0, 3.0)):
        e, a = mpmath.mpf(epsilon), mpmath.mpf(order)
        laplace = mpmath.log(
            a / (2 * a - 1) * mpmath.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mpmath.exp(-a * e)
        ) / (a - 1)
        response = mpmath.log(
            (mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e))
        ) / (a - 1)
        assert laplace <= pure_renyi(epsilon, order) <= epsilon
        assert pure_renyi(epsilon, order) == pytest.approx(float(response), rel=2e-12)


@pytest.mark.parametrize("index", [5, 16, 17])
def test_integer_trade_off_is_the_dual_of_the_profile(index: int) -> None:
    """The trade-off curve gives back δ(ε) = max 1 − f(α) − e^ε α (Dong, Roth & Su, Prop. 6)."""
    profile = TRUE[index].profile
    assert isinstance(profile, IntegerNoise)
    alpha = np.concatenate([np.linspace(0, 1, 20001), np.logspace(-12, 0, 4001)])
    beta = profile.trade_off(alpha)
    assert beta[0] == pytest.approx(1)
    for epsilon in (0.0, 0.1, 0.25):
        dual = float(np.max(1 - beta - math.exp(epsilon) * alpha))
        assert dual == pytest.approx(float(profile.delta(epsilon)), abs=2e-4)


def test_what_follows_from_rho() -> None:
    """(ε, δ) from ρ, and ρ from (ε, δ): the reference's Proposition 12, to 1e-9 of each."""
    for row in reference("e_zcdp.json")["rows"]:
        found = ConcentratedProfile(row["rho"]).epsilon(row["delta"])
        assert found == pytest.approx(row["cks20_continuous_alpha"], rel=1e-6)
        assert found >= row["gaussian_exact_eps"]
    for row in reference("e_zcdp.json")["inverse"]:
        promise = ApproximateDP(row["eps"], row["delta"])
        noise = DiscreteGaussian.calibrate(promise, histogram(3))
        assert noise.rho == pytest.approx(row["cks20_rho"], rel=1e-6)


@pytest.mark.parametrize("rho", [1e-9, 0.02, 3.0])
def test_rho_never_promises_more_than_the_gaussian(rho: float) -> None:
    """Normal noise is ρ-concentrated: its δ(ε) and trade-off are never worse than what ρ says."""
    bound, normal = ConcentratedProfile(rho), GaussianProfile(math.sqrt(2 * rho))
    at = rho + math.sqrt(rho) * np.linspace(0, 20, 40)
    assert (bound.log_delta(at) >= normal.log_delta(at)).all()
    alpha = np.concatenate([[0, 1], np.logspace(-12, -0.01, 60)])
    curve = bound.trade_off(alpha)
    assert (curve <= normal.trade_off(alpha) + 1e-15).all()
    assert (curve >= 0).all()


def test_a_relation_must_be_named() -> None:
    """Every definition refuses neighbours that are not one of the two relations."""
    for made in (
        lambda: PureDP(1, "replace"),  # type: ignore[arg-type]
        lambda: GaussianDP(1, None),  # type: ignore[arg-type]
        lambda: TradeOffDP(lambda a: 1 - a, "perfect", 1),  # type: ignore[arg-type]
    ):
        with pytest.raises(MechanismError, match="neighbours"):
            made()
    with pytest.raises(MechanismError, match="function"):
        TradeOffDP(0.5, "a number")  # type: ignore[arg-type]
    for kind in (PureDP(1), ApproximateDP(1, 1e-6), RenyiDP(((2, 1),)), GaussianDP(1)):
        assert "replace-one neighbours" in str(kind)


@pytest.mark.parametrize("mechanism", TRUE, ids=lambda m: f"{type(m).__name__} {m.promise}")
@pytest.mark.parametrize("delta", [1e-4, 1e-9])
def test_accountants_agree_with_the_profile(mechanism: Additive, delta: float) -> None:
    """One release costs in the ledger what its own profile says: the event names the same noise.

    Vectors whose event is only a bound may cost more, and none may cost less than the exact ε.
    """
    profile = mechanism.profile.epsilon(delta)
    spent = BestAccountant(mechanism.promise.neighbours).spend(mechanism.event).epsilon(delta)
    exact = not isinstance(mechanism.profile, ConcentratedProfile | ApproximateProfile)
    if exact and mechanism.sensitivity.coordinates == 1:
        assert spent == pytest.approx(profile, rel=1e-4, abs=1e-9)
    assert spent >= profile * (1 - 1e-9) or not exact
    assert spent <= profile * 1.01 + 1e-9


@settings(derandomize=True, max_examples=80, deadline=None)
@given(
    log_epsilon=st.floats(-14, 7),
    log_delta=st.floats(-690, -0.01),
    width=st.fractions(F(1, 10**6), 10**6),
    bins=st.integers(2, 50),
)
def test_whatever_is_calibrated_is_proved(
    log_epsilon: float, log_delta: float, width: Fraction, bins: int
) -> None:
    """Over twenty-one powers of e of ε and three hundred powers of ten of δ, nothing slips."""
    epsilon, delta = math.exp(log_epsilon), math.exp(log_delta)
    total, groups = clipped_sum(0, width), histogram(bins)
    for mechanism in (
        Laplace.calibrate(PureDP(epsilon), total),
        Laplace.calibrate(ApproximateDP(epsilon, delta), total),
        Laplace.calibrate(ZeroConcentratedDP(epsilon), groups),
        DiscreteLaplace.calibrate(PureDP(epsilon), groups),
        Gaussian.calibrate(ApproximateDP(epsilon, delta), total),
        Gaussian.calibrate(ZeroConcentratedDP(epsilon), groups),
        Gaussian.calibrate(GaussianDP(epsilon), total),
        Gaussian.calibrate(RenyiDP(((1 + epsilon, delta), (2.0, epsilon))), total),
        DiscreteGaussian.calibrate(ZeroConcentratedDP(epsilon), groups),
        DiscreteGaussian.calibrate(ApproximateDP(epsilon, delta), groups),
    ):
        assert verify(mechanism)
        # A tenth less noise is refused (a count moves by whole steps, so its noise may have slack).
        if not isinstance(mechanism, DiscreteLaplace | DiscreteGaussian):
            weaker = dataclasses.replace(mechanism, scale=mechanism.scale * F(9, 10))
            with pytest.raises(MechanismError, match="not proved"):
                verify(weaker)
    for kind in (Exponential, PermuteAndFlip, ReportNoisyMax):
        assert verify(kind.calibrate(PureDP(epsilon), count()))
