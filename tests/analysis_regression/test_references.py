"""Every published regression that we know of, to the digits that were published."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from deniable_analysis import Design
from deniable_analysis.regression import regress
from deniable_analysis.reported import Reported

from .studies import FORCED, NIGERIA_CELLS, NIGERIA_COUNTS, columns, nigeria, reference


def test_nigeria_logit() -> None:
    """Coefficients, log-likelihood and all four kinds of errors of the converged fit."""
    truth = reference("converged.json")
    reports, predictors, _ = nigeria()
    found = regress(Reported.of(reports, FORCED), predictors)
    assert found.nobs == truth["n"]
    assert found.converged
    assert found.score < 1e-8
    assert found.llf == pytest.approx(-1540.117850475428, abs=1e-9)
    np.testing.assert_allclose(found.params, truth["est"], atol=1e-6)
    for kind in ("observed", "expected", "opg", "sandwich"):
        errors = np.sqrt(np.diag(found.cov_params(kind)))
        np.testing.assert_allclose(errors, truth[f"se_{kind}"], atol=1e-6)
    assert found.average_prediction().mean[0] == pytest.approx(0.2621314, abs=5e-7)
    posterior = [0.0468498, 0.5816338, 0.0775512, 0.1043264, 0.0562978]
    np.testing.assert_allclose(found.posterior()[:5, 1], posterior, atol=5e-6)


def test_nigeria_same_from_every_order() -> None:
    """40 random orders of the rows give the same numbers, to the last bit."""
    reports, predictors, _ = nigeria()
    first = regress(Reported.of(reports, FORCED), predictors)
    rng = np.random.default_rng(40)
    for _ in range(40):
        order = rng.permutation(len(reports))
        again = regress(
            Reported.of(reports[order], FORCED), {k: v[order] for k, v in predictors.items()}
        )
        assert again.params.tobytes() == first.params.tobytes()
        assert again.bse.tobytes() == first.bse.tobytes()
        assert again.llf == first.llf


def test_nigeria_randomized_predictor() -> None:
    """The joint maximum is above where the published fit stopped."""
    truth = reference("rr_predictor_exact_mle.json")
    reports, predictors, civic = nigeria()
    found = regress(civic, {**predictors, "contact": Reported.of(reports, FORCED)})
    assert found.llf >= truth["logLik"] - 1e-9
    assert found.score < 1e-8
    np.testing.assert_allclose(found.params, truth["est.t"], atol=1e-6)
    np.testing.assert_allclose(found.bse, truth["se.t"], rtol=2e-6)
    assert found["contact[T.1]"] == pytest.approx(0.406560, abs=5e-7)
    cells = found.fit.point.coefficients[len(found.params) :]
    np.testing.assert_allclose(cells, truth["est.b"], atol=1e-6)


def test_nigeria_counts() -> None:
    """The same survey in sixteen counts: logit of the report, and of civic on it, by hand."""
    female, married, civic, contact = NIGERIA_CELLS.T
    design = np.column_stack([np.ones(16), female, married])

    def loss(beta: np.ndarray) -> float:
        seen = 1 / 6 + 2 / 3 * expit(design @ beta)
        return -float(NIGERIA_COUNTS @ np.where(contact, np.log(seen), np.log(1 - seen)))

    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    found = regress(
        Reported.of(contact, FORCED), {"female": female, "married": married}, counts=NIGERIA_COUNTS
    )
    assert found.nobs == 2423
    assert found.llf == pytest.approx(-best.fun, abs=1e-8)
    np.testing.assert_allclose(found.params, best.x, atol=2e-5)

    def joint(theta: np.ndarray) -> float:
        has = expit(design @ theta[:3])
        total = np.zeros(16)
        for state, chance in ((0, 1 - has), (1, has)):
            acts = expit(design @ theta[3:6] + state * theta[6])
            seen = 1 / 6 + 2 / 3 * state
            total += chance * np.where(civic, acts, 1 - acts) * np.where(contact, seen, 1 - seen)
        return -float(NIGERIA_COUNTS @ np.log(total))

    best = minimize(joint, np.zeros(7), method="BFGS", options={"gtol": 1e-9})
    found = regress(
        civic,
        {"female": female, "married": married, "contact": Reported.of(contact, FORCED)},
        counts=NIGERIA_COUNTS,
    )
    assert found.llf == pytest.approx(-best.fun, abs=1e-7)
    np.testing.assert_allclose(found.params, best.x[3:], atol=5e-5)


def test_nigeria_intercept() -> None:
    """831 of 2,435: the logit of the share, as the other package has it."""
    found = regress(Reported.of([1, 0], FORCED), counts=[831, 2435 - 831])
    assert found.average_prediction().mean[0] == pytest.approx(0.26190965092402463, abs=1e-12)
    assert found.average_prediction().se[0] == pytest.approx(0.0144127, abs=5e-7)
    assert found.llf == pytest.approx(-1562.968812322, abs=1e-6)


@pytest.mark.parametrize("mixed", [False, True])
def test_minarets(mixed: bool) -> None:
    """Two cheating-detection groups, alone and with direct questions among them.

    Those who have the trait admit it with probability t; for each t the design differs between
    respondents, and t has the largest likelihood.
    """
    data = columns("minarets.csv")
    kept = np.ones(len(data["rrt"]), bool) if mixed else data["RRdesign"] == 1
    data = {name: column[kept] for name, column in data.items()}
    other = {1.0: Fraction(10, 12), 2.0: Fraction(2, 12)}
    direct = Design(Fraction(1), Fraction(0))
    left, age, randomized = data["leftRight_c"], data["age_c"], data["RRdesign"]
    predictors = {"left": left, "age": age}
    predictors |= (
        {"randomized": randomized, "both": left * randomized} if mixed else {"both": left * age}
    )

    def fit(t: float):
        designs = [
            direct if c == 0 else Design(Fraction(t) - other[c], other[c])
            for c in data["condition"]
        ]
        return regress(Reported.of(data["rrt"], designs), predictors)

    best = minimize_scalar(
        lambda t: -fit(t).llf, bounds=(0.5, 0.8), method="bounded", options={"xatol": 1e-7}
    )
    found = fit(best.x)
    assert found.converged
    assert found.llf == pytest.approx(-1050.84812531531 if mixed else -821.084, abs=2e-5)
    if mixed:
        assert best.x == pytest.approx(0.6522354, abs=1e-5)
        estimates = [found[name] for name in ("Intercept", "left", "randomized", "age", "both")]
        truth = [0.783836501505, 0.4843091317043, 1.07540831353, 0.01669110526326, 0.1054146924]
        # Ours is the larger likelihood: theirs stopped a little early.
        np.testing.assert_allclose(estimates, truth, atol=5e-5)
