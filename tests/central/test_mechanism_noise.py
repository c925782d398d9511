"""Laplace and Gaussian noise: calibration against references, intervals, releases, refusals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random

import mpmath
import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

from deniable_analysis.central import (
    Additive,
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GaussianDP,
    Laplace,
    Neighbours,
    PureDP,
    RenyiDP,
    Sensitivity,
    ZeroConcentratedDP,
    analytic_multiplier,
    classic_multiplier,
    clipped_mean,
    clipped_sum,
    clipped_vector_sum,
    count,
    histogram,
)
from deniable_analysis.central.additive import grid_for
from deniable_analysis.central.discrete_profiles import (
    DiscreteGaussianProfile,
    DiscreteLaplaceProfile,
)
from deniable_protocol.errors import MechanismError, PrivacyError

F = Fraction
REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference" / "central"


def reference(name: str) -> dict:
    """Read a reference file, or skip where it is not there."""
    path = REFERENCE / name
    if not path.exists():
        pytest.skip("the reference files are not part of the repository")
    return json.loads(path.read_text())


def test_analytic_gaussian_against_sixty_digits() -> None:
    """All 191 reference values hold to 1e-9, and none is below the truth."""
    for row in reference("a_analytic_gaussian_sigma.json")["rows"]:
        truth = Fraction(row["truth"])
        found = Fraction(row["sens"]) * Fraction(analytic_multiplier(row["eps"], row["delta"]))
        assert 0 <= found / truth - 1 < 1e-9, row


@pytest.mark.parametrize(
    ("epsilon", "delta", "truth"),
    [
        (1.0, 1e-5, "3.7306316348"),
        (1.0, 1e-20, "8.8382269220"),
        (1e-6, 0.5, "0.741300676931104388512"),
        (1e-6, 1e-5, "38021.9814687474500497350695991"),
    ],
)
def test_analytic_gaussian_numbers(epsilon: float, delta: float, truth: str) -> None:
    """The numbers that two other packages get wrong by up to half, without the reference file."""
    assert analytic_multiplier(epsilon, delta) == pytest.approx(float(truth), rel=1e-10)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 40.0, 800.0, 1e5])
@pytest.mark.parametrize("delta", [1e-300, 1e-100, 1e-12, 0.3, 1 - 1e-12])
def test_analytic_gaussian_is_the_smallest(epsilon: float, delta: float) -> None:
    """At 60 digits, δ(ε) is at most δ at the σ found, and above it a billionth below."""
    found = analytic_multiplier(epsilon, delta)
    mpmath.mp.dps = 60
    mp = mpmath.mpf

    def exact_delta(sigma: mpmath.mpf) -> mpmath.mpf:
        def phi(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        e = mp(epsilon)
        return phi(1 / (2 * sigma) - e * sigma) - mpmath.exp(e) * phi(-1 / (2 * sigma) - e * sigma)

    # With few digits left (δ near 1e-300 at small ε) 60 are not enough for the difference.
    mpmath.mp.dps = 60 + 320
    assert exact_delta(mp(found)) <= mp(delta)
    assert exact_delta(mp(found) * (1 - mp(10) ** -9)) > mp(delta)


def test_classic_gaussian_against_reference() -> None:
    """The textbook formula up to ε = 1; above it, a refusal that names the analytic one."""
    for row in reference("b_classic_gaussian_sigma.json")["rows"]:
        if row["eps"] > 1:
            with pytest.raises(MechanismError, match=r"up to 1 only.*Gaussian\.analytic"):
                classic_multiplier(row["eps"], row["delta"])
            continue
        assert classic_multiplier(row["eps"], row["delta"]) == pytest.approx(
            row["formula"], rel=1e-12
        )
        assert analytic_multiplier(row["eps"], row["delta"]) == pytest.approx(
            row["analytic"], rel=1e-9
        )


def test_discrete_gaussian_against_reference() -> None:
    """The exact δ(ε) of the discrete Gaussian, from Theorem 7 of its paper, to 1e-9."""
    for row in reference("e_zcdp.json")["discrete_gaussian_delta"]:
        found = float(DiscreteGaussianProfile(math.sqrt(row["sigma2"])).delta(row["eps"]))
        assert found == pytest.approx(row["dg_delta"], rel=1e-9, abs=1e-290), row


@pytest.mark.parametrize(
    ("variance", "epsilon", "delta"),
    [(0.25, 0.1, 0.7753474296996304), (0.25, 5.0, 0.06755181900099133),
     (1.0, 1.0, 0.14135133940562192), (1.0, 2.0, 0.02481105182252767)],
)  # fmt: skip
def test_discrete_gaussian_numbers(variance: float, epsilon: float, delta: float) -> None:
    """The same, without the reference file."""
    found = float(DiscreteGaussianProfile(math.sqrt(variance)).delta(epsilon))
    assert found == pytest.approx(delta, rel=1e-12)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.7, 40.0])
@pytest.mark.parametrize("moved", [1, 3])
def test_discrete_profiles_are_hockey_stick_sums(sigma: float, moved: int) -> None:
    """δ(ε) = Σ (P − e^ε Q)₊, summed at 40 digits over all outcomes, also where it is 1e-60."""
    mpmath.mp.dps = 40
    reach = range(-int(20 * sigma) - 40, int(20 * sigma) + 41 + moved)
    bell = [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for x in reach]
    tent = [mpmath.exp(-abs(mpmath.mpf(x)) / mpmath.mpf(sigma)) for x in reach]
    for weights, profile in (
        (bell, DiscreteGaussianProfile(sigma, moved)),
        (tent, DiscreteLaplaceProfile(sigma, moved)),
    ):
        total = sum(weights)
        for epsilon in (0.0, 0.3 / sigma, 1.0, 5.0):
            grow = mpmath.exp(epsilon)
            exact = sum(
                max(p - grow * q, 0) for p, q in zip(weights[moved:], weights, strict=False)
            ) + sum(weights[:moved])
            if profile.ceiling <= epsilon:
                assert profile.log_delta(epsilon) == -math.inf
                continue
            if sigma < 30 or epsilon < 1:  # beyond, the tail that is cut above is the larger
                assert float(profile.delta(epsilon)) == pytest.approx(
                    float((exact - sum(weights[:moved])) / total), rel=1e-9, abs=1e-17
                )


def all_kinds() -> list[Additive]:
    return [
        Laplace.calibrate(PureDP(0.5), count()),
        DiscreteLaplace.calibrate(PureDP(0.5), count()),
        Gaussian.calibrate(ApproximateDP(2.0, 1e-6), count()),
        Gaussian.classic(ApproximateDP(0.5, 1e-6), count()),
        DiscreteGaussian.calibrate(ZeroConcentratedDP(0.02), count()),
    ]


@pytest.mark.parametrize("mechanism", all_kinds(), ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_cover_what_they_say(mechanism: Additive, level: float) -> None:
    """P(|noise| ≤ half width) is the level by the law; for integers, at least."""
    half, scale = mechanism.half_width(level), float(mechanism.scale)
    cover: Callable[[float], float]
    match mechanism:
        case Laplace():
            covered = -math.expm1(-(half - float(mechanism.grid) / 2) / scale)
        case Gaussian():
            covered = 1 - 2 * norm.sf((half - float(mechanism.grid) / 2) / scale)
        case DiscreteLaplace():
            cover = lambda w: 1 - 2 * math.exp(-(w + 1) / scale) / (1 + math.exp(-1 / scale))  # noqa: E731
            covered = cover(half)
            assert cover(half - 1) < level
        case _:
            x = np.arange(-200, 201)
            weights = np.exp(-(x**2) / (2 * scale**2))
            covered = weights[np.abs(x) <= half].sum() / weights.sum()
            assert weights[np.abs(x) <= half - 1].sum() / weights.sum() < level
    if isinstance(mechanism, Laplace | Gaussian):
        assert covered == pytest.approx(level, rel=1e-9)
    else:
        assert covered >= level


@pytest.mark.statistical(alpha=1e-9, detects="95 % intervals that cover 90 %")
def test_released_intervals_cover(rng: np.random.Generator) -> None:
    """From the release to the interval, coverage is not refuted; that of a third less noise is."""
    below = Random(int.from_bytes(rng.bytes(32))).randrange
    n = 1500
    least = binom.ppf(2e-10, n, 0.95)  # five mechanisms at 2e-10 each
    for mechanism in all_kinds():
        released = [mechanism.release(412, below) for _ in range(n)]
        hits = sum(low <= 412 <= high for low, high in (r.interval(0.95) for r in released))
        assert hits >= least, type(mechanism).__name__
        half = mechanism.half_width(0.95) * 0.6
        assert sum(abs(r.value - 412) <= half for r in released) < least


def test_vector_intervals_hold_together() -> None:
    """Independent coordinates each take the k-th root of the level."""
    mechanism = Laplace.calibrate(PureDP(1), histogram(4))
    released = mechanism.release([10, 20, 30, 40])
    (low, high), *_ = released.intervals(0.9)
    assert (high - low) / 2 == pytest.approx(mechanism.half_width(0.9**0.25))
    (low, high), *_ = released.intervals(0.9, together=False)
    assert (high - low) / 2 == pytest.approx(mechanism.half_width(0.9))
    with pytest.raises(MechanismError, match="vector"):
        _ = released.value
    assert len(released.values) == 4
    assert released.noise_scale == 2


def test_vectors_take_the_norm_they_must() -> None:
    """Laplace is scaled by L1 and Gaussian by L2: at 10⁶ coordinates they differ by √k."""
    gradient = clipped_vector_sum(1, coordinates=10**6)
    laplace = Laplace.calibrate(PureDP(1, Neighbours.ADD_OR_REMOVE_ONE), gradient)
    gaussian = Gaussian.calibrate(ApproximateDP(1, 1e-6, Neighbours.ADD_OR_REMOVE_ONE), gradient)
    assert laplace.scale == 1000
    assert float(gaussian.scale) == pytest.approx(4.2247, abs=1e-3)
    assert laplace.event.noise_multiplier == pytest.approx(1)


@pytest.mark.statistical(alpha=1e-9, detects="a shift by half a cell of a coarse grid")
def test_cells_wider_than_the_noise(rng: np.random.Generator) -> None:
    """On a coarse grid, drawn in finer steps, each cell has the chance the ideal noise gives it."""
    below = Random(int.from_bytes(rng.bytes(32))).randrange
    n, value, grid = 2000, F(13, 10), F(2)
    most = math.sqrt(math.log(2 * 2 * 4 / 1e-9) / (2 * n))  # Hoeffding: two laws, four cells
    edges = np.array([-2.0, 0.0, 2.0, 4.0, 6.0])
    for mechanism, cdf in (
        (Laplace(PureDP(1), count(), F(3, 4), grid), laplace(scale=0.75).cdf),
        (Gaussian(GaussianDP(1), count(), F(3, 4), grid), norm(scale=0.75).cdf),
    ):
        stated = np.diff(cdf(edges - float(value)))
        drawn = [float(mechanism.release(value, below).exact[0]) for _ in range(n)]
        found = np.histogram(drawn, edges)[0] / n
        assert np.abs(found - stated).max() < most
        shifted = np.diff(cdf(edges - float(value) + 1))
        assert np.abs(found - shifted).max() > most


def test_released_values_lie_on_the_stated_grid() -> None:
    """Every release is the middle of a cell of the grid, or a grid point for integer noise."""
    mechanism = Laplace.calibrate(PureDP(1), clipped_mean(0, 100, records=1000), grid=0.25)
    for value in (0, 0.1, F(1, 3), 1e9, -7):
        assert mechanism.release(value).exact[0] % F(1, 4) == F(1, 8)
    votes = DiscreteGaussian.calibrate(ZeroConcentratedDP(1), count())
    assert votes.release(3).exact[0].denominator == 1
    for scale in (F(1), F(3), F(1, 1000), F(10**30), F(1, 10**30)):
        assert scale / 2**21 < grid_for(scale) <= scale / 2**20


def test_noise_does_not_vanish_on_large_values() -> None:
    """2⁷⁰ comes back with noise, exactly; a float version returns 2⁷⁰ itself."""
    votes = DiscreteLaplace.calibrate(PureDP(0.1), count())
    drawn = {votes.release(2**70).exact[0] - 2**70 for _ in range(40)}
    assert len(drawn) > 5
    assert float(2**70) + 7.0 == float(2**70)
    mean = Laplace.calibrate(PureDP(1), clipped_mean(0, 100, records=1000))
    assert len({mean.release(1e300).exact[0] for _ in range(10)}) == 10


def test_simulation_has_the_same_scale() -> None:
    """The float sampler for simulations has the released noise's standard deviation (one seed)."""
    rng = np.random.default_rng(1)
    for mechanism in all_kinds():
        noise = mechanism.simulate(np.zeros(20_000), rng)
        assert noise.std() == pytest.approx(mechanism.standard_deviation, rel=0.1)


def test_calibration_to_every_definition() -> None:
    """Each formula of the definitions, at one point."""
    one = count()
    assert Laplace.calibrate(PureDP(0.5), one).scale == 2
    assert DiscreteLaplace.calibrate(PureDP(0.5), one).scale == 2
    assert float(Laplace.calibrate(ZeroConcentratedDP(0.125), one).scale) == pytest.approx(2)
    loose = Laplace.calibrate(ApproximateDP(0.5, 0.01), one)
    assert loose.delta(0.5) == pytest.approx(0.01, rel=1e-9)
    assert float(Gaussian.calibrate(ZeroConcentratedDP(0.125), one).scale) == pytest.approx(2)
    assert float(Gaussian.calibrate(GaussianDP(0.5), one).scale) == pytest.approx(2)
    renyi = RenyiDP(((2.0, 0.25), (8.0, 4.0)))
    assert float(Gaussian.calibrate(renyi, one).scale) == pytest.approx(2)
    exact = DiscreteGaussian.calibrate(ApproximateDP(1.0, 1e-5), one)
    assert exact.delta(1.0) <= 1e-5
    # Never far from the continuous value.
    assert float(exact.scale) == pytest.approx(3.7306, rel=0.02)


def test_two_neighbouring_relations_do_not_mix() -> None:
    """A sensitivity for one relation does not give a guarantee for the other."""
    for kind in (Laplace, DiscreteLaplace):
        with pytest.raises(MechanismError, match="same relation"):
            kind.calibrate(PureDP(1), count(Neighbours.ADD_OR_REMOVE_ONE))


IMPOSSIBLE = [math.nan, math.inf, -math.inf, 0, 0.0, -1, -1e-300, True, "1", [], 10**400]


@pytest.mark.parametrize("bad", IMPOSSIBLE, ids=lambda bad: repr(bad)[:8])
def test_impossible_parameters_are_refused(bad: object) -> None:
    """NaN, inf, zero, negative, not a number, beyond floats: an error everywhere, never ε = 0."""
    for refused in (
        lambda: PureDP(bad),  # type: ignore[arg-type]
        lambda: ApproximateDP(bad, 1e-6),  # type: ignore[arg-type]
        lambda: ApproximateDP(1.0, bad),  # type: ignore[arg-type]
        lambda: ZeroConcentratedDP(bad),  # type: ignore[arg-type]
        lambda: GaussianDP(bad),  # type: ignore[arg-type]
        lambda: RenyiDP(((bad, 1.0),)),  # type: ignore[arg-type]
        lambda: RenyiDP(((2.0, bad),)),  # type: ignore[arg-type]
        lambda: analytic_multiplier(bad, 1e-6),  # type: ignore[arg-type]
        lambda: analytic_multiplier(1.0, bad),  # type: ignore[arg-type]
        lambda: classic_multiplier(bad, 1e-6),  # type: ignore[arg-type]
        lambda: Laplace.calibrate(PureDP(1), count(), grid=bad),  # type: ignore[arg-type]
        lambda: Laplace(PureDP(1), count(), bad, F(1)),  # type: ignore[arg-type]
        lambda: DiscreteGaussianProfile(bad),  # type: ignore[arg-type]
        lambda: DiscreteLaplaceProfile(bad),  # type: ignore[arg-type]
        lambda: Laplace.calibrate(PureDP(1), count()).half_width(bad),  # type: ignore[arg-type]
    ):
        with pytest.raises(PrivacyError):
            refused()


def test_huge_and_tiny_parameters() -> None:
    """At the ends of the float range: the exact scale, or an error that says so."""
    assert Laplace.calibrate(PureDP(1e-300), count()).scale == 1 / F(1e-300)
    assert Laplace.calibrate(PureDP(1e300), count()).scale == 1 / F(1e300)
    with pytest.raises(MechanismError, match="noise scale"):
        Laplace.calibrate(PureDP(1e-300), clipped_sum(0, 1e300))
    assert Gaussian.calibrate(ApproximateDP(1, 1 - 2**-53), count()).scale > 0
    with pytest.raises(MechanismError, match="above 1"):
        RenyiDP(((1.0, 1.0),))
    with pytest.raises(MechanismError, match="none"):
        RenyiDP(())


@pytest.mark.parametrize("bad", [math.nan, math.inf, "3", None, True], ids=repr)
def test_values_that_cannot_be_released(bad: object) -> None:
    """A value that is not a finite number is refused, and the message does not repeat it."""
    mechanism = Laplace.calibrate(PureDP(1), histogram(2))
    with pytest.raises(MechanismError) as caught:
        mechanism.release([1, bad])  # type: ignore[list-item]
    assert repr(bad) not in str(caught.value)


def test_numpy_numbers_are_numbers() -> None:
    """Counts and means as numpy makes them can be released; its NaN and bool cannot."""
    votes = DiscreteLaplace.calibrate(PureDP(1), histogram(3))
    assert len(votes.release(np.bincount([0, 1, 1, 2])).values) == 3
    mean = Laplace.calibrate(PureDP(1), count())
    for value in (np.int64(3), np.float32(0.5), np.float64(0.1), np.uint8(7), F(1, 3)):
        assert abs(mean.release(value).value - float(value)) < 100
    top = int(np.iinfo(np.int64).max)
    assert abs(mean.release(np.int64(top)).exact[0] - top) < 100
    for bad in (np.float64(math.nan), np.float32(math.inf), np.bool_(True)):
        with pytest.raises(MechanismError):
            mean.release(bad)


def test_wrong_shapes_and_off_grid_values() -> None:
    """As many values as the sensitivity has coordinates, on the grid for integer noise."""
    with pytest.raises(MechanismError, match="3 numbers, got 2"):
        Laplace.calibrate(PureDP(1), histogram(3)).release([1, 2])
    with pytest.raises(MechanismError, match="multiples of the grid") as caught:
        DiscreteLaplace.calibrate(PureDP(1), count()).release(1234.5)
    assert "1234" not in str(caught.value)


def test_definitions_a_mechanism_cannot_meet() -> None:
    """Gaussian noise is never pure, and the error names the mechanism that is."""
    with pytest.raises(MechanismError, match="Laplace"):
        Gaussian.calibrate(PureDP(1), count())
    with pytest.raises(MechanismError, match="Gaussian"):
        Laplace.calibrate(GaussianDP(1), count())
    with pytest.raises(MechanismError, match="discrete Gaussian"):
        DiscreteGaussian.calibrate(PureDP(1), histogram(3))
    with pytest.raises(MechanismError, match="grid steps"):
        DiscreteGaussian.calibrate(ApproximateDP(1e-7, 1e-6), count()).delta(1.0)


def test_events_are_on_the_safe_side() -> None:
    """An event's float never claims more noise than there is."""
    third = Sensitivity("a third", F(1, 3), 1 / 3, Neighbours.REPLACE_ONE)
    for definition in (PureDP(0.7), PureDP(0.1), PureDP(3.3)):
        mechanism = Laplace.calibrate(definition, third)
        assert F(mechanism.event.noise_multiplier) <= mechanism.scale / third.l1
    normal = Gaussian.calibrate(ApproximateDP(0.7, 1e-7), third)
    assert F(normal.event.noise_multiplier) <= normal.scale / F(third.l2)
    votes = DiscreteLaplace.calibrate(PureDP(0.7), count())
    assert F(votes.event.scale) <= votes.scale
