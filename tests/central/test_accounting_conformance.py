"""What every accountant has to do, whatever its theorem; and a broken one that does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from deniable_analysis.central.accountants import (
    ACCOUNTANTS,
    Accountant,
    BestAccountant,
    PLDAccountant,
    RDPAccountant,
)
from deniable_analysis.central.events import (
    ApproximateEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    Neighbours,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from deniable_protocol.errors import EventError

ADD, REPLACE = Neighbours.ADD_OR_REMOVE_ONE, Neighbours.REPLACE_ONE
DELTAS = (1e-10, 1e-4)
EVERY = {**ACCOUNTANTS, "best": BestAccountant}

LEDGERS: dict[str, tuple[Neighbours, tuple[tuple[Event, int], ...]]] = {
    "gaussian": (ADD, ((GaussianEvent(3.0), 20),)),
    "laplace": (ADD, ((LaplaceEvent(4.0), 12),)),
    "pure": (REPLACE, ((PureEvent(0.1), 50),)),
    "approximate": (REPLACE, ((ApproximateEvent(0.2, 1e-13), 5),)),
    "response": (REPLACE, ((RandomizedResponseEvent(5, Fraction(3), 2), 8),)),
    "discrete": (ADD, ((DiscreteGaussianEvent(5.0), 6), (DiscreteLaplaceEvent(9.0, 2), 3))),
    "mixed": (ADD, ((GaussianEvent(2.0), 3), (LaplaceEvent(5.0), 4), (PureEvent(0.3), 2))),
    "sampled": (ADD, ((PoissonSampledEvent(0.02, GaussianEvent(1.0)), 200),)),
    "sampled-laplace": (ADD, ((PoissonSampledEvent(0.1, LaplaceEvent(2.0)), 6),)),
    "sampled-mixed": (
        ADD,
        ((PoissonSampledEvent(0.1, PureEvent(1.0)), 9), (GaussianEvent(4.0), 2)),
    ),
    "rho": (ADD, ((ZCDPEvent(0.05), 4),)),
}
SUPPORTED = {
    "basic": set(LEDGERS) - {"rho"},
    "advanced": set(LEDGERS) - {"rho"},
    "zcdp": {name for name in LEDGERS if not name.startswith("sampled")},
    "rdp": set(LEDGERS),
    "gdp": {"gaussian", "laplace", "pure", "response", "mixed"},
    "pld": set(LEDGERS) - {"rho"},
    "best": set(LEDGERS),
}
CURVES = ("gaussian", "response", "rho", "sampled")
PAIRS = [(name, ledger) for name in EVERY for ledger in sorted(SUPPORTED[name])]


def spent(make: Callable[[Neighbours], Accountant], ledger: str, times: int = 1) -> Accountant:
    neighbours, events = LEDGERS[ledger]
    accountant = make(neighbours)
    for event, count in events:
        accountant.spend(event, count * times)
    return accountant


@lru_cache
def certainly_not(ledger: str, delta: float) -> float:
    return spent(PLDAccountant, ledger).bounds(delta).lower


def complaints(make: Callable[[Neighbours], Accountant], ledger: str) -> list[str]:
    """List what an accountant does wrong on a ledger."""
    accountant, twice = spent(make, ledger), spent(make, ledger, 2)
    found = []
    epsilons = [accountant.epsilon(delta) for delta in DELTAS]
    if epsilons != sorted(epsilons, reverse=True) or epsilons[-1] < 0:
        found.append("epsilon does not fall with delta")
    if any(twice.epsilon(d) < e for d, e in zip(DELTAS, epsilons, strict=True)):
        found.append("more releases cost less")
    for delta, epsilon in zip(DELTAS, epsilons, strict=True):
        if epsilon and math.isfinite(epsilon):
            back = accountant.delta(epsilon)
            if not back <= delta * (1 + 1e-3):
                found.append(f"delta(epsilon({delta})) = {back}")
            if accountant.delta(1.5 * epsilon) > back:
                found.append("delta does not fall with epsilon")
    if ledger in SUPPORTED["pld"]:
        for delta, epsilon in zip(DELTAS, epsilons, strict=True):
            if epsilon < certainly_not(ledger, delta):
                found.append(f"epsilon({delta}) is below the certified lower bound")
    return found


@pytest.mark.parametrize(("name", "ledger"), PAIRS)
def test_every_accountant(name: str, ledger: str) -> None:
    assert complaints(EVERY[name], ledger) == []


@pytest.mark.parametrize("name", EVERY)
def test_what_an_accountant_has_no_theorem_for(name: str) -> None:
    for ledger, (neighbours, events) in LEDGERS.items():
        supported = all(EVERY[name](neighbours).supports(event) for event, _ in events)
        assert supported == (ledger in SUPPORTED[name])


class Careless(RDPAccountant):
    """Believes that two releases cost as much as one."""

    def curve(self, order: float) -> float:
        return super().curve(order) / 2


class Optimist(PLDAccountant):
    """Answers with its lower bound, less a hair."""

    def _epsilon(self, delta: float) -> float:
        return self._bounds(delta, lower=True).lower * 0.999


@pytest.mark.parametrize("make", [Careless, Optimist])
def test_broken_accountants_are_caught(make: type[Accountant]) -> None:
    assert complaints(make, "gaussian")
    assert complaints(make, "sampled")


@pytest.mark.parametrize(("name", "ledger"), [pair for pair in PAIRS if pair[1] in CURVES])
def test_trade_off_curves(name: str, ledger: str) -> None:
    accountant = spent(EVERY[name], ledger)
    alpha = np.linspace(0.0, 1.0, 101)
    beta = accountant.trade_off(alpha)
    assert beta.shape == alpha.shape
    assert np.all((beta >= 0) & (beta <= 1 - alpha + 1e-12))
    assert np.all(np.diff(beta) <= 1e-12)
    assert np.all(np.diff(beta, 2) >= -1e-9)
    # No line that a certified lower bound on δ rules out may lie below the curve.
    if ledger in SUPPORTED["pld"]:
        truth = spent(PLDAccountant, ledger)
        assert isinstance(truth, PLDAccountant)
        for slope in (0.1, 1.0):
            best = float(np.min(beta + math.exp(slope) * alpha))
            assert best <= 1 - truth.delta_bounds(slope).lower + 1e-2


@pytest.mark.parametrize("name", EVERY)
def test_nothing_spent_costs_nothing(name: str) -> None:
    accountant = EVERY[name](REPLACE)
    assert accountant.epsilon(0.0) == accountant.epsilon(1e-5) == accountant.delta(0.0) == 0.0
    assert accountant.spend(ComposedEvent(())).epsilon(1e-5) == 0.0
    assert np.allclose(accountant.trade_off([0.0, 0.3, 1.0]), [1.0, 0.7, 0.0])


@pytest.mark.parametrize("name", EVERY)
def test_how_events_are_written_does_not_matter(name: str) -> None:
    one, other = PureEvent(0.1), LaplaceEvent(7.0)
    flat = EVERY[name](ADD).spend(one, 6).spend(other, 3)
    nested = EVERY[name](ADD).spend(
        SelfComposedEvent(ComposedEvent((one, other, SelfComposedEvent(one, 1))), 3)
    )
    mixed = EVERY[name](ADD).spend_all([one, other, one, one, other, one, one, other, one])
    one_by_one = EVERY[name](ADD)
    for event in (one, other, one, one, other, one, one, other, one):
        one_by_one.spend(event)
    assert flat.ledger == nested.ledger == mixed.ledger == one_by_one.ledger
    assert flat.epsilon(1e-6) == pytest.approx(nested.epsilon(1e-6), rel=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_a_refused_event_leaves_nothing_half_done(name: str) -> None:
    accountant = EVERY[name](ADD).spend(PureEvent(0.1))
    bad = RandomizedResponseEvent(2, Fraction(3))  # means nothing under add-or-remove-one
    before = dict(accountant.ledger), accountant.epsilon(1e-6)
    for refused in (
        lambda: accountant.spend(ComposedEvent((PureEvent(0.5), bad))),
        lambda: accountant.spend_all([PureEvent(0.5), GaussianEvent(1.0), bad]),
        lambda: accountant.take({PureEvent(0.5): 2, bad: 1}),
        lambda: accountant.spend(PureEvent(0.5), 10**12 + 1),
        lambda: accountant.spend(PureEvent(0.1), 10**12),
    ):
        with pytest.raises(EventError):
            refused()
        assert (dict(accountant.ledger), accountant.epsilon(1e-6)) == before


def test_best_names_the_accountant_it_took() -> None:
    assert spent(BestAccountant, "gaussian").bounds(1e-6).method.startswith(("gdp", "pld"))
    assert spent(BestAccountant, "sampled").bounds(1e-6).method.startswith("pld")
    assert spent(BestAccountant, "rho").bounds(1e-6).method in ("zcdp", "rdp")
    assert spent(BestAccountant, "pure").bounds(0.0).upper == pytest.approx(5.0)
    for ledger in LEDGERS:
        best = spent(BestAccountant, ledger).epsilon(1e-6)
        others = [
            spent(EVERY[n], ledger).epsilon(1e-6) for n in ACCOUNTANTS if ledger in SUPPORTED[n]
        ]
        assert best == min(others)


def test_best_refuses_what_no_single_accountant_can_take() -> None:
    accountant = BestAccountant(ADD).spend(ZCDPEvent(0.1))
    with pytest.raises(EventError, match="no single accountant"):
        accountant.spend(PoissonSampledEvent(0.1, DiscreteGaussianEvent(3.0)))
    assert len(accountant.ledger) == 1


def test_tightness_in_the_order_theory_says() -> None:
    """Gaussian noise: the exact profile is tighter than zCDP, which is tighter than δ-splitting."""
    found = {name: spent(EVERY[name], "gaussian").epsilon(1e-6) for name in ACCOUNTANTS}
    assert found["gdp"] == pytest.approx(found["pld"], rel=1e-9)
    assert found["pld"] < found["rdp"] == pytest.approx(found["zcdp"], rel=1e-9)
    assert found["zcdp"] < found["advanced"] <= found["basic"]
