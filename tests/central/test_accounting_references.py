"""Every accountant against numbers that others computed: 50-digit truths and published tables."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from deniable_analysis.central.accountants import (
    AdvancedAccountant,
    BasicAccountant,
    GDPAccountant,
    PLDAccountant,
    RDPAccountant,
    ZCDPAccountant,
    central_limit_mu,
    dwork_rothblum_vadhan,
    kairouz_oh_viswanath,
)
from deniable_analysis.central.events import (
    ApproximateEvent,
    DiscreteGaussianEvent,
    GaussianEvent,
    Neighbours,
    PoissonSampledEvent,
    PureEvent,
    ZCDPEvent,
)
from deniable_analysis.central.profiles import GaussianProfile

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "reference" / "central"
ONE = Neighbours.ADD_OR_REMOVE_ONE

needs_references = pytest.mark.skipif(not FOLDER.exists(), reason="reference tables are elsewhere")


def table(name: str, part: str = "rows") -> list[dict[str, Any]]:
    (path,) = FOLDER.glob(f"{name}_*.json")
    rows: list[dict[str, Any]] = json.loads(path.read_text())[part]
    return rows


def bounds_truth(upper: float, truth: float, relative: float) -> bool:
    """Never below the truth, and above it by no more than *relative* (or than 1e-12)."""
    return truth * (1 - 1e-15) <= upper <= truth * (1 + relative) + 1e-12


@needs_references
def test_gaussian_noise_k_times() -> None:
    rows = table("c")
    assert len(rows) == 105
    for row in rows:
        spent = GaussianEvent(row["sigma"]), row["k"]
        for kind in (GDPAccountant, PLDAccountant):
            assert bounds_truth(
                kind(ONE).spend(*spent).epsilon(row["delta"]), row["exact_eps"], 1e-9
            )
        for kind in (ZCDPAccountant, RDPAccountant):
            found = kind(ONE).spend(*spent).epsilon(row["delta"])
            best = row["improved_cks_bbghs_continuous_alpha"]
            assert found == pytest.approx(best, rel=1e-9)
            assert found >= row["exact_eps"]
            assert found <= row["dp_accounting_rdp_default_orders"] * (1 + 1e-11)


@needs_references
def test_rho_to_epsilon_and_back() -> None:
    for row in table("e"):
        found = ZCDPAccountant(ONE).spend(ZCDPEvent(row["rho"])).epsilon(row["delta"])
        assert found == pytest.approx(row["cks20_continuous_alpha"], rel=1e-9)
    for row in table("e", "inverse"):
        at = ZCDPAccountant(ONE).spend(ZCDPEvent(row["cks20_rho"]))
        assert at.epsilon(row["delta"]) == pytest.approx(row["eps"], rel=1e-6)
        assert at.delta(row["eps"]) == pytest.approx(row["delta"], rel=1e-6)


@needs_references
def test_discrete_gaussian() -> None:
    for row in table("e", "discrete_gaussian_delta"):
        event = DiscreteGaussianEvent(math.sqrt(row["sigma2"]))
        found = PLDAccountant(ONE).spend(event).delta_bounds(row["eps"])
        assert found.upper == pytest.approx(row["dg_delta"], rel=1e-8, abs=1e-17)
        assert found.lower <= row["dg_delta"] + 1e-17 <= found.upper + 2e-17


@needs_references
def test_gaussian_privacy() -> None:
    for row in table("f"):
        truth = float(row["exact_eps"])
        found = GDPAccountant(ONE).spend(GaussianEvent(1 / row["mu"])).epsilon(row["delta"])
        assert bounds_truth(found, truth, 1e-9)
    for row in table("f", "deltas"):
        found = GDPAccountant(ONE).spend(GaussianEvent(1 / row["mu"])).delta(row["eps"])
        assert bounds_truth(found, float(row["exact_delta"]), 1e-9)
    for row in table("f", "compose"):
        accountant = GDPAccountant(ONE).spend(GaussianEvent(row["sigma"]), row["k"])
        assert accountant.mu == pytest.approx(row["mu"], rel=1e-12)
    for row in table("f", "clt"):
        mu = central_limit_mu(row["q"], row["sigma"], row["T"])
        assert mu == pytest.approx(row["mu_poisson"], rel=1e-9)
        epsilon = GaussianProfile(mu).epsilon(row["delta"])
        assert epsilon == pytest.approx(row["eps_clt_poisson"], rel=1e-9)


@needs_references
def test_composition_theorems() -> None:
    rows = table("g")
    assert len(rows) == 80
    for row in rows:
        step, k, delta = (row["eps"], row["k"], row["delta_total"])
        slack = row["best_delta_prime"]
        assert dwork_rothblum_vadhan([(step, k)], slack) == pytest.approx(
            row["advanced_DRV"], rel=1e-12
        )
        assert kairouz_oh_viswanath([(step, k)], slack) == pytest.approx(
            row["kov_thm3_4"], rel=1e-12
        )
        event = ApproximateEvent(step, row["delta"]) if row["delta"] else PureEvent(step)
        basic = BasicAccountant(ONE).spend(event, k).epsilon(delta)
        assert basic == pytest.approx(row["basic"], rel=1e-12)
        best = row["kov_optimal_exact_continuous"]
        for kind in (AdvancedAccountant, PLDAccountant):
            assert kind(ONE).spend(event, k).epsilon(delta) == pytest.approx(best, rel=1e-9)


# q, σ, steps, δ; Google's PLD (1e-4) and RDP; PRV's certified interval (0.01). All from their
# packages, dp-accounting 0.6 and prv-accountant 0.2.
TRAINING = [
    (256 / 60000, 1.1, 14062, 1e-5, 2.3816860032, 2.5965558698, (2.3714555066, 2.3917437037)),
    (0.01, 4.0, 10**4, 1e-5, 0.9469993060, 1.0354900660, (0.9368093560, 0.9569361857)),
    (0.001, 0.8, 10**5, 1e-6, 2.9151370138, 3.1878046638, (2.9043401203, 2.9246216585)),
    (0.5, 5.0, 200, 1e-5, 6.7011698971, 7.2317822395, (6.6908324235, 6.7115086275)),
    (1e-4, 0.6, 10**5, 1e-7, 1.4296303944, 2.7102447070, (1.4190200195, 1.4394565641)),
    (0.012788340630066182, 2.5, 71589, 8e-7, 7.4404055638, 7.9272647641, (7.4298568, 7.4504493023)),
    (256 / 60000, 1.1, 14062, 1e-12, 4.2056758147, 4.3858082056, (4.1643589627, 4.1845413275)),
    (256 / 60000, 1.1, 14062, 1e-30, math.inf, 8.1568837042, (0.0, math.inf)),
    (0.001, 1.0, 10**7, 1e-6, 27.6544541266, 29.1611066883, (27.5284615621, 27.7301577827)),
    (1e-6, 0.5, 10**6, 1e-7, 0.1407593156, 2.3390245221, (0.1282166062, 0.1483141841)),
    (0.5, 1.0, 1, 1e-5, 3.5339979860, 3.8935758859, (3.5237631705, 3.5442396613)),
]


@pytest.mark.parametrize("row", TRAINING, ids=lambda row: "{}-{}-{}-{}".format(*row))
def test_training_on_poisson_samples(row: tuple[Any, ...]) -> None:
    q, sigma, steps, delta, google, google_rdp, (low, high) = row
    step = PoissonSampledEvent(q, GaussianEvent(sigma))
    found = PLDAccountant(ONE).spend(step, steps).bounds(delta)
    assert found.method in ("privacy loss distribution", "exact profile of one release")
    assert found.upper <= google * 1.00002
    assert low <= found.lower <= found.upper <= high
    assert (found.upper - found.lower) / found.upper < 0.005
    renyi = RDPAccountant(ONE).spend(step, steps).epsilon(delta)
    assert found.upper <= renyi <= google_rdp * (1 + 1e-9)
