"""The certified bounds against truth: exact sums, closed forms, 1-dimensional integrals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from deniable_analysis.central.accountants import PLDAccountant
from deniable_analysis.central.accountants.pld import cells, spectrum
from deniable_analysis.central.accountants.pld.cells import Lattice
from deniable_analysis.central.accountants.pld.pairs import pairs_of
from deniable_analysis.central.events import (
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    Neighbours,
    PoissonSampledEvent,
    RandomizedResponseEvent,
)

ADD, REPLACE = Neighbours.ADD_OR_REMOVE_ONE, Neighbours.REPLACE_ONE
mpmath.mp.dps = 30


@pytest.mark.parametrize(("options", "subset", "times"), [(2, 1, 40), (5, 1, 12), (7, 2, 30)])
def test_randomized_response_is_a_trinomial_sum(options: int, subset: int, times: int) -> None:
    """The bridge from local to central: exact finite sums of fractions, no grid."""
    odds = Fraction(3, 2)
    event = RandomizedResponseEvent(options, odds, subset)
    accountant = PLDAccountant(REPLACE).spend(event, times)
    high = odds * (options - subset) * subset / ((options - 1) * (odds * subset + options - subset))
    weights = {1: high, 0: 1 - high - high / odds, -1: high / odds}
    law = {0: Fraction(1)}
    for _ in range(times):
        law_next: dict[int, Fraction] = {}
        for place, mass in law.items():
            for step, weight in weights.items():
                law_next[place + step] = law_next.get(place + step, Fraction(0)) + mass * weight
        law = law_next
    for power in (1, 3, 9):  # ε = power · ln odds + ln 1.1
        ratio = odds**power * Fraction(11, 10)
        truth = sum(m * (1 - ratio / odds**j) for j, m in law.items() if odds**j > ratio)
        found = accountant.delta_bounds(math.log(ratio))
        assert found.lower <= float(truth) <= found.upper
        assert found.upper <= float(truth) * (1 + 1e-9)
        assert found.lower >= float(truth) * (1 - 1e-6)


def sampled_delta(epsilon: float, q: float, sigma: float, remove: bool) -> float:
    """δ of one sampled Gaussian release, at any ε, in closed form."""

    def mixture(x: float) -> float:  # P(X > x), X from the sampled law
        return float((1 - q) * ndtr(-x / sigma) + q * ndtr((1 - x) / sigma))

    level = epsilon if remove else -epsilon
    if math.exp(level) <= 1 - q:  # every outcome is likelier than that, or none
        return 1 - math.exp(epsilon) if remove else 0.0
    at = sigma**2 * math.log((math.exp(level) - 1 + q) / q) + 0.5
    normal = float(ndtr(-at / sigma))
    if remove:
        return mixture(at) - math.exp(epsilon) * normal
    return (1 - normal) - math.exp(epsilon) * (1 - mixture(at))


def twice(epsilon: float, q: float, sigma: float, remove: bool) -> float:
    """δ of two sampled Gaussian releases: the second's closed form, integrated over the first."""

    def loss(x: float) -> float:
        return math.log(1 - q + q * math.exp((2 * x - 1) / (2 * sigma**2)))

    def integrand(x: float) -> float:
        normal = math.exp(-(x**2) / 2 / sigma**2)
        moved = math.exp(-((x - 1) ** 2) / 2 / sigma**2)
        density = (1 - q) * normal + q * moved if remove else normal
        rest = epsilon - (loss(x) if remove else -loss(x))
        scale = sigma * math.sqrt(math.tau)
        return density / scale * sampled_delta(rest, q, sigma, remove)

    ends = (-12 * sigma, 1 + 12 * sigma)
    return float(quad(integrand, *ends, epsabs=1e-13, epsrel=1e-12, limit=500, points=[0, 1])[0])


@pytest.mark.parametrize(("q", "sigma"), [(0.1, 1.0), (0.5, 2.0), (0.01, 0.5)])
def test_two_sampled_gaussian_releases(q: float, sigma: float) -> None:
    accountant = PLDAccountant(ADD).spend(PoissonSampledEvent(q, GaussianEvent(sigma)), 2)
    single = PLDAccountant(ADD).spend(PoissonSampledEvent(q, GaussianEvent(sigma)))
    for epsilon in (0.3, 1.0):
        truth = max(twice(epsilon, q, sigma, remove) for remove in (True, False))
        found = accountant.delta_bounds(epsilon)
        assert found.lower <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= found.upper
        assert found.upper - found.lower <= 2e-3 * truth
        alone = max(sampled_delta(epsilon, q, sigma, remove) for remove in (True, False))
        assert single.delta_bounds(epsilon).upper == pytest.approx(alone, rel=1e-8)
        ends = accountant.bounds(truth)
        assert ends.lower <= epsilon * (1 + 1e-9)
        assert epsilon * (1 - 1e-9) <= ends.upper


def test_laplace_twice_in_closed_form() -> None:
    """Two Laplace releases with ε₀ each: δ(ε) by integrating over the loss of the first."""
    level = 0.7
    accountant = PLDAccountant(ADD).spend(LaplaceEvent(1 / level), 2)

    def one(epsilon: float) -> float:
        if epsilon >= level:
            return 0.0
        return 1 - math.exp(epsilon) if epsilon <= -level else 1 - math.exp((epsilon - level) / 2)

    for epsilon in (0.2, 0.9, 1.3):
        bulk = quad(
            lambda v, e=epsilon: math.exp((v - level) / 2) / 4 * one(e - v),
            -level,
            level,
            epsabs=1e-14,
            points=[p for p in (epsilon - level, epsilon + level) if -level < p < level] or None,
        )[0]
        truth = bulk + one(epsilon - level) / 2 + math.exp(-level) / 2 * one(epsilon + level)
        found = accountant.delta_bounds(epsilon)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 1e-2 * truth  # point masses fall between knots


def exceeds(monkeypatch: pytest.MonkeyPatch, name: str, law: Any) -> bool:
    """Whether bounds with a broken lattice exclude the truth for two sampled releases."""
    monkeypatch.setattr(cells.Cells, name, law)
    step = PoissonSampledEvent(0.1, GaussianEvent(1.0))
    found = PLDAccountant(ADD, tolerance=1e-3).spend(step, 2).delta_bounds(0.5)
    truth = max(twice(0.5, 0.1, 1.0, remove) for remove in (True, False))
    return not found.lower <= truth <= found.upper


def test_broken_lattices_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    upper, lower = cells.Cells.upper, cells.Cells.lower

    def left(self: cells.Cells) -> Lattice:  # every loss rounded down, as an optimist would
        return Lattice(self.anchor, self.step, self.place[:-1], np.maximum(self.mass, 1e-300), 0.0)

    def right(self: cells.Cells) -> Lattice:
        return Lattice(self.anchor, self.step, self.place[1:], np.maximum(self.mass, 1e-300), 0.0)

    with monkeypatch.context() as patch:
        assert not exceeds(patch, "upper", upper)
        assert not exceeds(patch, "lower", lower)
    with monkeypatch.context() as patch:
        assert exceeds(patch, "upper", left)
    with monkeypatch.context() as patch:
        assert exceeds(patch, "lower", right)


def test_a_lattice_keeps_both_masses_and_dominates() -> None:
    """Connecting the dots keeps P and Q of every cell, so its δ is above the lower bound's."""
    for pair in pairs_of(PoissonSampledEvent(0.2, GaussianEvent(0.8)), 1e-12):
        step = 0.05
        low, high = pair.ends()
        place = np.arange(math.floor(low / step) - 3, math.ceil(high / step) + 4)
        found = cells.cells_of(pair, 0.0, step, place)
        up, down = found.upper(), found.lower()
        assert float(up.mass.sum()) == pytest.approx(1 - pair.cut, abs=1e-11)
        assert float(up.mass @ np.exp(-up.losses)) == pytest.approx(1.0, abs=1e-8)
        mass, loss = pair.nodes()
        for epsilon in np.linspace(-0.2, 2.0, 23):
            kind, exact, unkind = (
                float(weight @ np.maximum(-np.expm1(epsilon - losses), 0.0))
                for weight, losses in ((down.mass, down.losses), (mass, loss), (up.mass, up.losses))
            )
            assert kind - 1e-5 <= exact <= unkind + 1e-5  # quadrature across the corner at ε


def test_frequencies_are_summed_to_their_error_bound() -> None:
    rng = np.random.default_rng(5)
    place = np.unique(rng.integers(-3000, 60000, 1500))
    weight = np.exp(-np.abs(place) / 50.0)
    weight /= weight.sum()
    size, few = 2**17, np.array([0, 1, 2, 63, 64, 65, 700, 12345])
    found, lost = spectrum._less_one(place, weight, size, few)
    for frequency, value, bound in zip(few.tolist(), found.tolist(), lost.tolist(), strict=True):
        turn = -2j * mpmath.pi * frequency / size
        both = zip(place.tolist(), weight.tolist(), strict=True)
        exact = mpmath.fsum(mpmath.mpf(w) * (mpmath.exp(turn * p) - 1) for p, w in both)
        assert abs(complex(exact) - value) <= bound < 1e-12


@pytest.mark.parametrize(
    ("event", "times", "google"),
    [
        (PoissonSampledEvent(0.05, LaplaceEvent(1.0)), 50, "laplace"),
        (DiscreteLaplaceEvent(5.0, 2), 20, "discrete laplace"),
    ],
)
def test_google_agrees(event: Event, times: int, google: str) -> None:
    """dp-accounting's pessimistic and optimistic bounds surround ours, or nearly."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    grid = {"value_discretization_interval": 1e-4}
    if google == "laplace":
        other = [
            pld.from_laplace_mechanism(1.0, sampling_prob=0.05, pessimistic_estimate=p, **grid)
            for p in (True, False)
        ]
    else:
        other = [
            pld.from_discrete_laplace_mechanism(0.2, 2, pessimistic_estimate=p, **grid)
            for p in (True, False)
        ]
    above, below = (part.self_compose(times).get_epsilon_for_delta(1e-6) for part in other)
    found = PLDAccountant(ADD).spend(event, times).bounds(1e-6)
    assert below <= found.upper * (1 + 1e-9)
    assert found.lower <= above
    assert found.upper <= above * (1 + 1e-4)
    assert (found.upper - found.lower) / found.upper < 0.01
