"""What goes wrong elsewhere: each item gives the right answer here, or a refusal in words."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from deniable_analysis import Design
from deniable_analysis.regression import regress
from deniable_analysis.regression.fit import maximise
from deniable_analysis.reported import Reported
from deniable_protocol import EstimateError

from .studies import FORCED, NIGERIA_CELLS, NIGERIA_COUNTS, WARNER, nigeria

FEMALE, MARRIED, CIVIC, CONTACT = NIGERIA_CELLS.T


def table(**more: object):
    data = {"female": FEMALE, "married": MARRIED, "civic": CIVIC, "contact": CONTACT}
    return data | more


def test_no_random_start() -> None:
    """40 fits of the documented example: the same numbers, no error, no hang."""
    fits = {
        regress(
            "contact ~ female * married", data=table(), designs={"contact": FORCED},
            counts=NIGERIA_COUNTS,
        ).params.tobytes()
        for _ in range(40)
    }  # fmt: skip
    assert len(fits) == 1


@pytest.mark.parametrize(
    "design",
    [
        FORCED,
        Design(Fraction(1, 2), Fraction(1, 4)),  # Warner's with 3/4
        Design(Fraction(2, 3), Fraction(1, 6)),  # unrelated question of prevalence 1/2
        Design(Fraction(1, 2), Fraction(0)),  # disguised
    ],
)
def test_randomized_predictor_with_every_design(design: Design) -> None:
    """No design is left out where the randomized item is the predictor."""
    found = regress(CIVIC, {"contact": Reported.of(CONTACT, design)}, counts=NIGERIA_COUNTS)
    assert found.converged
    shares = np.array([1 - CONTACT, CONTACT]) @ NIGERIA_COUNTS / 2423
    expected = (shares[1] - float(design.offset)) / float(design.slope)
    assert found.latent_shares()["contact"][1] == pytest.approx(expected, abs=1e-6)


def test_warner_with_one_third() -> None:
    """A slope below 0 is Warner's design all the same: the mirror image of 2/3."""
    x = {"female": FEMALE}
    one_third = Reported.of(CONTACT, Design(Fraction(-1, 3), Fraction(2, 3)))
    two_thirds = Reported.of(1 - CONTACT, Design(Fraction(1, 3), Fraction(1, 3)))
    below = regress(one_third, x, counts=NIGERIA_COUNTS)
    above = regress(two_thirds, x, counts=NIGERIA_COUNTS)
    np.testing.assert_allclose(below.params, above.params, rtol=1e-9)
    np.testing.assert_allclose(below.bse, above.bse, rtol=1e-9)
    assert below.llf == pytest.approx(above.llf, abs=1e-9)


def test_mirrored_nigeria() -> None:
    """The survey as if by Warner's 2/3: the published numbers are a hill, not the top.

    The likelihood grows past it, to where the trait has a chance of 0 for some: so there is no
    finite estimate, and that is what is said.
    """
    reports, predictors, _ = nigeria()
    found = regress(Reported.of(reports, Design(Fraction(1, 3), Fraction(1, 3))), predictors)
    published = np.array([1.357486, 0.231802, -1.074014, -2.50188, 0.294977, 0.006448, -1.502157])
    model = found.fit.point.model
    assert model.at(published).value == pytest.approx(-1547.946128, abs=1e-5)
    hill = maximise(model, published)
    assert not hill.separated
    assert hill.point.value == pytest.approx(-1547.946128, abs=1e-5)
    assert found.llf > -1547.0
    assert found.separated
    steady = regress(
        Reported.of(reports, Design(Fraction(1, 3), Fraction(1, 3))), predictors, penalty="jeffreys"
    )
    assert steady.converged


def test_predictions_of_new_data() -> None:
    """A formula in a variable, one level of a factor, and a factor of text all predict."""
    formula = "contact ~ city + female"
    data = table(city=np.array(list("abcdbadccdabdcba")))
    found = regress(formula, data=data, designs={"contact": FORCED}, counts=NIGERIA_COUNTS)
    one = found.predict({"city": ["b"], "female": [1]})
    many = found.predict({"city": ["a", "b", "c"], "female": [1, 1, 0]})
    assert one.mean[0] == pytest.approx(many.mean[1], abs=1e-12)
    assert 0 < one.low[0] < one.mean[0] < one.high[0] < 1
    for new, said in (({"city": ["a"]}, "female"), ({"city": ["z"], "female": [1]}, "categories")):
        with pytest.raises(EstimateError, match=f"does not fit the data.*{said}"):
            found.predict(new)


@pytest.mark.parametrize(
    ("outcome", "predictors", "said"),
    [
        (Reported.of(CONTACT, FORCED), {"one": np.full(16, 3.0)}, "'one' is constant"),
        (Reported.of(CONTACT, FORCED), {"a": FEMALE, "b": 2 * FEMALE}, "'b' follows from"),
        (CIVIC + 1, {"a": FEMALE}, "0 and 1, got int64 with other values"),
        (np.where(CIVIC == 1, "yes", "no"), {"a": FEMALE}, "0 and 1, got <U3 with other"),
        (Reported.of(CONTACT, FORCED), {"a": np.where(FEMALE == 1, np.nan, 0)}, "missing value in"),
        (Reported.of(CONTACT, FORCED), {"a": np.where(FEMALE == 1, np.inf, 0)}, "not finite"),
        (Reported.of(CONTACT, FORCED), {"a": np.array(["m", "f"] * 8)}, "must be numbers"),
        (Reported.of(CONTACT, FORCED), {"a": FEMALE[:4]}, "'a' has 4 rows"),
    ],
)
def test_refusals(outcome: object, predictors: dict[str, np.ndarray], said: str) -> None:
    """Constant and repeated columns, 1/2 coding, gaps and text are refused by name."""
    with pytest.raises(EstimateError, match=said):
        regress(outcome, predictors, family="logit", counts=NIGERIA_COUNTS)


def test_reports_coded_one_two() -> None:
    """Reports that are coded 1 and 2 have no place in the design."""
    with pytest.raises(EstimateError, match="coded 0 to 1, and some are coded higher"):
        Reported.of(CONTACT + 1, FORCED)
    with pytest.raises(EstimateError, match="slope must not be 0"):
        Design(Fraction(0), Fraction(1, 2))


@pytest.mark.parametrize(("yes", "n"), [(20, 200), (40, 240), (15, 200)])
def test_boundary(yes: int, n: int) -> None:
    """Fewer reports than noise alone gives: a warning, and not an error of millions."""
    found = regress(Reported.of([1, 0], FORCED), counts=[yes, n - yes])
    assert found.separated
    assert not found.converged
    assert np.isnan(found.bse).all()
    assert np.isnan(found.conf_int()).all()
    assert "no finite estimate" in found.summary()
    steady = regress(Reported.of([1, 0], FORCED), counts=[yes, n - yes], penalty="jeffreys")
    assert steady.converged
    assert not steady.separated
    assert np.isfinite(steady.bse).all()
    assert -8 < steady.params[0] < 0


def test_two_sided() -> None:
    """P-values are two-sided: .1238 where the other package prints .0619 under Pr(>|z|)."""
    found = regress(Reported.of(CONTACT, FORCED), {"married": MARRIED}, counts=NIGERIA_COUNTS)
    np.testing.assert_allclose(found.pvalues, 2 * norm.sf(np.abs(found.tvalues)), rtol=1e-9)


def test_weights_are_used() -> None:
    """Survey weights change the estimate, and whole ones are rows repeated, but for the errors."""
    answer, x = Reported.of(CONTACT, FORCED), {"female": FEMALE}
    weights = np.where(MARRIED == 1, 2.0, 1.0)
    plain = regress(answer, x, counts=NIGERIA_COUNTS)
    weighted = regress(answer, x, counts=NIGERIA_COUNTS, weights=weights)
    repeated = regress(answer, x, counts=NIGERIA_COUNTS * weights.astype(int))
    assert not np.allclose(plain.params, weighted.params, atol=1e-3)
    np.testing.assert_allclose(weighted.params, repeated.params, rtol=1e-9)
    assert weighted.covariance_kind == "sandwich"
    assert weighted.nobs == 2423
    assert np.isnan(weighted.aic)
    with pytest.raises(EstimateError, match="above 0"):
        regress(answer, x, weights=weights - 1)


def test_criteria_and_missing_reports() -> None:
    """AIC, BIC, logical reports and gaps: numbers, not empty vectors, zeros or crashes."""
    found = regress(Reported.of(CONTACT == 1, FORCED), {"female": FEMALE}, counts=NIGERIA_COUNTS)
    assert found.llf < -1000
    assert found.aic == pytest.approx(4 - 2 * found.llf)
    assert found.bic == pytest.approx(2 * np.log(2423) - 2 * found.llf)
    gaps = {"contact": [0, 1, np.nan, 1, 0, 0], "x": [1.0, 2, 3, 4, 5, np.nan]}
    with pytest.raises(EstimateError, match="2 rows have a missing value in x, contact"):
        regress("contact ~ x", data=gaps, designs={"contact": FORCED})
    dropped = regress("contact ~ x", data=gaps, designs={"contact": FORCED}, missing="drop")
    assert (dropped.nobs, dropped.dropped) == (4, 2)


def test_formula_library_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without formulaic, a formula says what to install, and arrays work."""
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(EstimateError, match=r"pip install 'deniable\[formula\]'"):
        regress("contact ~ female", data=table(), designs={"contact": FORCED})
    assert regress(Reported.of(CONTACT, FORCED), {"female": FEMALE}).nobs == 16


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("contact ~ absent", "no column 'absent'"),
        ("contact", "expected a formula|one outcome"),
        ("contact + female ~ married", "expected one outcome"),
        ("civic ~ female + contact:female + I(married ** female)", None),
    ],
)
def test_formulas(formula: str, said: str | None) -> None:
    """Formulas that cannot be used are refused in words; interactions with noise are fitted."""
    designs = {"contact": FORCED}
    if said is None:
        found = regress(formula.rsplit(" +", 1)[0], data=table(), designs=designs,
                        counts=NIGERIA_COUNTS)  # fmt: skip
        assert found.converged
        return
    with pytest.raises(EstimateError, match=said):
        regress(formula, data=table(), designs=designs)


def test_names_with_dots() -> None:
    """The boxes of a question are columns like ``q.1``, in backticks as formulas have it."""
    data = {"q.1": CIVIC, "q.2": CONTACT, "x": FEMALE + 1.0}
    found = regress("`q.1` ~ `q.2` + np.log(x)", data=data, designs={"q.2": FORCED},
                    counts=NIGERIA_COUNTS)  # fmt: skip
    assert found.names == ("Intercept", "q.2[T.1]", "np.log(x)")
    assert [effect.variable for effect in found.marginal_effects()] == ["x", "q.2"]


def test_local_maximum() -> None:
    """Starting anywhere ends at the same likelihood: the climb from 0 is not stuck on a hill."""
    found = regress(
        CIVIC, {"female": FEMALE, "contact": Reported.of(CONTACT, FORCED)}, counts=NIGERIA_COUNTS
    )
    model = found.fit.point.model
    rng = np.random.default_rng(6)
    ends = [maximise(model, rng.normal(size=model.size)).point.value for _ in range(20)]
    assert max(ends) <= found.llf + 1e-9


def test_nobody_in_a_state() -> None:
    """Where nobody seems to have a predictor's state, its coefficient is not made up."""
    trait = Reported.of([1, 0, 1, 0], FORCED, states=["no", "yes"])
    found = regress([1, 1, 0, 0], {"trait": trait}, counts=[5, 95, 5, 95])
    assert found.separated
    assert np.isnan(found.bse).all()
    assert np.abs(found.params).max() < 100
    assert "nobody seems to have trait = yes" in found.summary()
    assert found.latent_shares()["trait"].tolist() == [1.0, 0.0]


def test_mean_alone() -> None:
    """A linear model without predictors is the mean and its maximum-likelihood error."""
    numbers = np.array([1.0, 4.0, 2.0, 7.0, 5.0, 6.5])
    found = regress(numbers)
    assert found.converged
    assert found.params[0] == pytest.approx(numbers.mean())
    assert found.bse[0] == pytest.approx(numbers.std() / np.sqrt(6))


def test_too_many_cells() -> None:
    """A sum over more combinations than anyone can wait for is refused."""
    reports = {f"q{i}": Reported.of(CONTACT, WARNER) for i in range(13)}
    with pytest.raises(EstimateError, match="8,192 combinations"):
        regress(CIVIC, reports)
