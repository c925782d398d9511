"""The exact samplers: their law by enumeration, at large parameters by a declared rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from deniable_analysis.central import cells, sampling
from deniable_protocol.errors import EntropyError, MechanismError

from .enumeration import Path, distance, law

F = Fraction


def coin(chance: float) -> dict[bool, float]:
    return {True: float(chance), False: 1 - float(chance)}


def unit_exp(gamma: Fraction) -> dict[bool, float]:
    return coin(math.exp(-gamma))


def geometric_law(scale: Fraction) -> dict[int, float]:
    return {k: -math.expm1(-1 / scale) * math.exp(-k / scale) for k in range(int(35 * scale) + 2)}


def laplace_law(scale: Fraction) -> dict[int, float]:
    top = math.tanh(1 / scale / 2)
    reach = int(35 * scale) + 2
    return {x: top * math.exp(-abs(x) / scale) for x in range(-reach, reach + 1)}


def gaussian_law(variance: Fraction) -> dict[int, float]:
    reach = int(9 * math.sqrt(variance)) + 2
    weights = {x: math.exp(-(x**2) / (2 * variance)) for x in range(-reach, reach + 1)}
    return {x: weight / sum(weights.values()) for x, weight in weights.items()}


COINS = {"bernoulli": coin, "_bernoulli_exp_unit": unit_exp, "bernoulli_exp": unit_exp}


@pytest.mark.parametrize("chance", [F(0), F(1), F(1, 2), F(2, 3), F(7, 12)])
def test_bernoulli_is_exact(chance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the denominator's equally likely integers, exactly the numerator's count say true."""
    found = law(lambda below: sampling.bernoulli(chance, below), monkeypatch)
    assert found.get(True, 0.0) == pytest.approx(float(chance), abs=1e-15)


@pytest.mark.parametrize("gamma", [F(0), F(1, 3), F(1, 2), F(7, 8), F(1), F(5, 2), F(10)])
def test_bernoulli_exp_is_exact(gamma: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The race of coins says true with chance exp(−γ)."""
    # Whole parts are runs of the unit coin, which the cases up to 1 have enumerated by then.
    known = {"bernoulli": coin} | ({"_bernoulli_exp_unit": unit_exp} if gamma > 1 else {})
    found = law(lambda below: sampling.bernoulli_exp(gamma, below), monkeypatch, known)
    assert found.get(True, 0.0) == pytest.approx(math.exp(-gamma), abs=1e-12)


SCALES = [F(1), F(1, 2), F(3, 2), F(7, 3), F(4)]


@pytest.mark.parametrize("scale", SCALES)
def test_geometric_law(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """P(g) is proportional to exp(−g/scale)."""
    found = law(lambda below: sampling.geometric(scale, below), monkeypatch, COINS)
    stated = geometric_law(scale)
    assert distance(found, lambda k: stated.get(k, 0.0)) < 1e-11
    assert sum(found.values()) == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_law(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """P(x) = tanh(1/2b) exp(−|x|/b)."""
    known = COINS | {"geometric": geometric_law}
    found = law(lambda below: sampling.discrete_laplace(scale, below), monkeypatch, known)
    assert distance(found, laplace_law(scale).__getitem__) < 1e-11


@pytest.mark.parametrize("variance", [F(1, 4), F(1), F(9, 4), F(10)])
def test_discrete_gaussian_law(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """P(x) is proportional to exp(−x²/2σ²)."""
    known = COINS | {"discrete_laplace": laplace_law}
    found = law(lambda below: sampling.discrete_gaussian(variance, below), monkeypatch, known)
    stated = gaussian_law(variance)
    assert distance(found, lambda x: stated.get(x, 0.0)) < 1e-11


def test_broken_samplers_have_another_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """The enumeration catches the classical mistakes: zero twice, a wrong scale, modulo bias."""

    def zero_twice(below: sampling.Source) -> int:
        size = sampling.geometric(F(1), below)
        return -size if sampling.bernoulli(F(1, 2), below) else size

    def wrong_scale(below: sampling.Source) -> int | None:
        drawn = sampling.discrete_laplace(F(1), below)  # ⌊σ⌋ instead of ⌊σ⌋ + 1
        gamma = (abs(drawn) - F(1, 2)) ** 2 / 2
        return drawn if sampling.bernoulli_exp(gamma, below) else None

    known = COINS | {"geometric": geometric_law}
    found = law(zero_twice, monkeypatch, known)
    assert distance(found, laplace_law(F(1)).__getitem__) > 0.1

    known = COINS | {"discrete_laplace": laplace_law}
    found = law(lambda below: sampling.until(wrong_scale, below), monkeypatch, known)
    assert distance(found, lambda x: gaussian_law(F(1)).get(x, 0.0)) > 0.01

    biased = law(lambda below: sampling.bernoulli(F(1, 3), lambda n: below(4) % n), monkeypatch)
    assert biased[True] == 0.5


def slope(u: Fraction) -> Fraction:
    return u * (2 + u) / 2


def parabola(u: Fraction) -> Fraction:
    return 2 * u * u


@pytest.mark.parametrize("gamma", [slope, parabola])
def test_comparison_of_numbers_known_by_their_digits(
    gamma: Callable[[Fraction], Fraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    """V < γ(U)/2 holds with chance ∫γ/2: what is decided after some bits brackets it exactly."""

    def compares(below: sampling.Source) -> bool:
        one, other = cells.Remainder(below, bits=1), cells.Remainder(below, bits=1)
        return cells._is_below(one, gamma, 2, other)

    def decides_too_early(below: sampling.Source) -> bool:
        return F(below(2), 2) * 2 < gamma(F(below(2), 2))

    exact = quad(lambda u: gamma(u) / 2, 0, 1, epsabs=1e-13)[0]
    found = law(compares, monkeypatch, smallest=1e-6)
    missing = 1 - sum(found.values())
    assert missing < 0.01
    assert found[True] <= exact <= found[True] + missing
    broken = law(decides_too_early, monkeypatch)
    assert not broken[True] <= exact <= broken[True] + missing


@pytest.mark.parametrize("gamma", [slope, parabola])
@pytest.mark.parametrize("u", [F(0), F(1, 8), F(1, 2), F(7, 8)])
def test_acceptance_on_demand(
    gamma: Callable[[Fraction], Fraction], u: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each u, acceptance has chance exp(−γ(u)), also where γ is above 1."""

    def accepts(below: Path) -> bool:
        def is_below(_: object, gamma: Callable[[Fraction], Fraction], n: int, __: object) -> bool:
            return bool(below.pick(coin(gamma(u) / n)))

        monkeypatch.setattr(cells, "_is_below", is_below)
        return cells.accept_exp(gamma, cells.Remainder(below), below)

    found = law(accepts, monkeypatch)
    assert found[True] == pytest.approx(math.exp(-gamma(u)), abs=1e-9)


@pytest.mark.parametrize("variance", [F(1, 4), F(1), F(9, 4), F(10)])
def test_whole_part_of_a_normal_number(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell k of |Z| has the normal law's mass between k and k + 1."""

    def accepted(gamma: Callable[[float], float]) -> dict[bool, float]:
        return coin(quad(lambda u: math.exp(-gamma(u)), 0, 1, epsabs=1e-14)[0])

    known = COINS | {"geometric": geometric_law, "accept_exp": accepted}
    found = law(lambda below: cells.gaussian(variance, below).floor(), monkeypatch, known)
    sigma = math.sqrt(variance)
    assert distance(found, lambda k: norm.cdf((k + 1) / sigma) - norm.cdf(k / sigma)) < 1e-11


@pytest.mark.parametrize("scale", [F(1, 2), F(1), F(7, 3)])
def test_whole_part_of_a_laplace_number(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell k of Z has the Laplace law's mass between k and k + 1."""
    known = COINS | {"geometric": geometric_law, "accept_exp": lambda _: coin(0.5)}
    found = law(lambda below: cells.laplace(scale, below).floor(), monkeypatch, known)
    width = -math.expm1(-1 / scale) / 2
    assert distance(found, lambda k: width * math.exp(-max(k, -1 - k) / scale)) < 1e-11


def test_floor_and_order_wait_until_they_are_certain() -> None:
    """A number on the edge of a cell draws digits until it is on one side."""
    digits = iter([1, 1, 0])
    number = cells.Real(False, 2, cells.Remainder(lambda _: next(digits), bits=1), F(1, 8))
    assert number.floor() == 2  # binary 2.110… + 1/8 is known to be below 3 after three digits
    assert list(digits) == []

    high = cells.Real(False, 1, cells.Remainder(Random(1).randrange, bits=1))
    low = cells.Real(False, 1, cells.Remainder(Random(2).randrange, bits=1))
    assert high.is_above(low) != low.is_above(high)
    negative = cells.Real(True, 0, cells.Remainder(Random(3).randrange))
    assert negative.floor() == -1
    assert not negative.is_above(low)


def furthest(sample: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> float:
    """Return the Kolmogorov-Smirnov distance of integers to a law on integers."""
    values, counts = np.unique(sample, return_counts=True)
    return float(np.max(np.abs(np.cumsum(counts) / len(sample) - cdf(values))))


N = 5500
FURTHEST = math.sqrt(math.log(2 / 1e-10) / (2 * N))
"""P(distance above this) ≤ 1e-10 for every law: Massart 1990, with his constant."""


def laplace_cdf(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.where(x < 0, np.exp(x / scale) / 2, 1 - np.exp(-x / scale) / 2)


LARGE = {
    "discrete Laplace": (
        lambda below: sampling.discrete_laplace(F(10**6), below),
        laplace_cdf(1e6),
    ),
    "discrete Gaussian": (
        lambda below: sampling.discrete_gaussian(F(10**12), below),
        lambda x: norm.cdf(x / 1e6),
    ),
    "Laplace cell": (
        lambda below: cells.laplace(F(10**6), below).floor(),
        laplace_cdf(1e6),
    ),
    "Gaussian cell": (
        lambda below: cells.gaussian(F(10**12), below).floor(),
        lambda x: norm.cdf(x / 1e6),
    ),
    "Gaussian cell wider than its noise": (
        lambda below: cells.gaussian(F(1, 4), below).floor(),
        lambda x: norm.cdf((x + 1) * 2),
    ),
}


@pytest.mark.statistical(
    alpha=1e-9, detects="a scale 1.7 times too large, a shift of a quarter of the scale"
)
def test_large_parameters(rng: np.random.Generator) -> None:
    """At parameters too large to enumerate, the law is not refuted; a wrong one is."""
    below = Random(int.from_bytes(rng.bytes(32))).randrange
    for name, (draw, cdf) in LARGE.items():
        sample = np.array([draw(below) for _ in range(N)])
        assert furthest(sample, cdf) < FURTHEST + 1e-5, name  # + the cells of the discrete laws
        if "wider" not in name:
            assert furthest(sample * 1.7, cdf) > FURTHEST, name
            assert furthest(sample + 2.5e5, cdf) > FURTHEST, name


@pytest.mark.statistical(alpha=1e-9, detects="a bit that is 1 in 54 % of draws, modulo bias")
def test_system_randomness_is_uniform() -> None:
    """Draws below 6 and below 6 · 2^70 fall evenly; a modulo-biased draw does not."""
    n = 30_000
    # Two-sided Hoeffding bound for each of 6 + 6 shares, at 1e-9 in all.
    most = math.sqrt(math.log(2 * 12 / 1e-9) / (2 * n))
    small = np.bincount([sampling.system_below(6) for _ in range(n)], minlength=6) / n
    large = np.bincount([sampling.system_below(6 << 70) >> 70 for _ in range(n)], minlength=6) / n
    assert np.abs(small - 1 / 6).max() < most
    assert np.abs(large - 1 / 6).max() < most
    biased = np.bincount([sampling.system_below(8) % 6 for _ in range(n)], minlength=6) / n
    assert np.abs(biased - 1 / 6).max() > most


@pytest.mark.parametrize("n", [0, -1])
def test_nothing_to_draw_from(n: int) -> None:
    """A draw below 0 is refused, not returned."""
    with pytest.raises(MechanismError, match="at least 1"):
        sampling.system_below(n)


def test_missing_randomness_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """No randomness means no release: nothing falls back to a weaker generator."""

    def missing(_: int) -> bytes:
        raise NotImplementedError

    monkeypatch.setattr(sampling.os, "urandom", missing)
    with pytest.raises(EntropyError):
        sampling.system_below(6)


@pytest.mark.parametrize(
    "draw",
    [
        lambda below: sampling.bernoulli_exp(F(-1), below),
        lambda below: sampling.geometric(F(0), below),
        lambda below: sampling.discrete_gaussian(F(0), below),
        lambda below: cells.gaussian(F(0), below),
        lambda below: cells.laplace(F(-1), below),
    ],
)
def test_impossible_scales(draw: Callable[[sampling.Source], object]) -> None:
    """A scale of zero or below is refused before anything is drawn."""
    with pytest.raises(MechanismError):
        draw(sampling.system_below)
