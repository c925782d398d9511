"""What must not matter does not: order, labels, splitting, coding, and which package is asked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm

from deniable_analysis import Design, estimate_weighted, poststratify
from deniable_analysis.regression import regress
from deniable_analysis.reported import Reported
from deniable_analysis.sample_design import SampleDesign

from .studies import FORCED, NIGERIA_CELLS, NIGERIA_COUNTS, WARNER
from .test_likelihood import MATRIX

RNG = np.random.default_rng(17)
N = 300
X = RNG.normal(size=N)
GROUP = RNG.integers(0, 25, N)
YES = RNG.integers(0, 2, N)
THREE = RNG.integers(0, 3, N)
NUMBER = 1 + 2 * X + YES + RNG.normal(size=N)
WEIGHTS = RNG.uniform(0.5, 3, N)


def test_noiseless_is_statsmodels() -> None:
    """Without noise: logit, multinomial and least squares as statsmodels has them."""
    design = sm.add_constant(X)
    for ours, theirs in (
        (regress(YES, {"x": X}), sm.Logit(YES, design).fit(disp=0, tol=1e-12)),
        (regress(THREE, {"x": X}, family="multinomial"),
         sm.MNLogit(THREE, design).fit(disp=0, tol=1e-12)),
    ):  # fmt: skip
        np.testing.assert_allclose(ours.params, np.ravel(theirs.params, order="F"), atol=1e-8)
        np.testing.assert_allclose(ours.bse, np.ravel(theirs.bse, order="F"), rtol=1e-7)
        assert ours.llf == pytest.approx(theirs.llf, abs=1e-9)
        assert ours.aic == pytest.approx(theirs.aic)
        assert ours.bic == pytest.approx(theirs.bic)
    least = sm.OLS(NUMBER, design).fit()
    ours = regress(NUMBER, {"x": X})
    np.testing.assert_allclose(ours.params, least.params, rtol=1e-10)
    assert ours.llf == pytest.approx(least.llf, abs=1e-9)
    np.testing.assert_allclose(ours.bse * np.sqrt(N / (N - 2)), least.bse, rtol=1e-8)
    moments = regress(NUMBER, {"x": X}, method="moments")
    np.testing.assert_allclose(moments.params, least.params, rtol=1e-10)
    np.testing.assert_allclose(moments.bse, sm.OLS(NUMBER, design).fit(cov_type="HC0").bse)


def test_robust_errors_are_statsmodels() -> None:
    """Weights, clusters and marginal effects, without noise, as statsmodels has them."""
    design = sm.add_constant(X)
    glm = sm.GLM(YES, design, family=sm.families.Binomial(), freq_weights=WEIGHTS)
    base = glm.fit(tol=1e-12)
    bread = np.linalg.inv((design * (WEIGHTS * base.mu * (1 - base.mu))[:, None]).T @ design)
    scores = design * (WEIGHTS * (YES - base.mu))[:, None]
    ours = regress(YES, {"x": X}, weights=WEIGHTS)
    np.testing.assert_allclose(ours.params, base.params, atol=1e-9)
    np.testing.assert_allclose(ours.cov_params(), bread @ scores.T @ scores @ bread, rtol=1e-7)
    clustered = regress(YES, {"x": X}, clusters=GROUP)
    theirs = sm.Logit(YES, design).fit(
        disp=0, tol=1e-12, cov_type="cluster",
        cov_kwds={"groups": GROUP, "use_correction": False},
    )  # fmt: skip
    many = len(np.unique(GROUP))
    np.testing.assert_allclose(clustered.bse, theirs.bse * np.sqrt(many / (many - 1)), rtol=1e-7)
    plain = sm.Logit(YES, design).fit(disp=0, tol=1e-12)
    effect = plain.get_margeff()
    (found,) = regress(YES, {"x": X}).marginal_effects()
    assert found.effect == pytest.approx(effect.margeff[0], rel=1e-6)
    assert found.se == pytest.approx(effect.margeff_se[0], rel=1e-5)


def test_rows_counts_and_weights_agree() -> None:
    """Rows, rows put together with counts, counts split in two, and weights of 1."""
    contact, female = NIGERIA_CELLS[:, 3], NIGERIA_CELLS[:, 0]
    counted = regress(Reported.of(contact, FORCED), {"f": female}, counts=NIGERIA_COUNTS)
    long = np.repeat(np.arange(16), NIGERIA_COUNTS)
    rows = regress(Reported.of(contact[long], FORCED), {"f": female[long]})
    weighted = regress(Reported.of(contact[long], FORCED), {"f": female[long]},
                       weights=np.ones(len(long)))  # fmt: skip
    split = regress(
        Reported.of(np.tile(contact, 2), FORCED),
        {"f": np.tile(female, 2)},
        counts=np.concatenate([NIGERIA_COUNTS // 2, NIGERIA_COUNTS - NIGERIA_COUNTS // 2]),
    )
    for other in (rows, weighted, split):
        assert other.params.tobytes() == counted.params.tobytes()
        assert other.bse.tobytes() == counted.bse.tobytes()
        assert other.llf == counted.llf


def test_order_of_rows() -> None:
    """Every kind of model gives the same bits from shuffled rows."""
    order = RNG.permutation(N)
    yes, three = Reported.of(YES, WARNER), Reported.of(THREE, MATRIX)
    for make in (
        lambda i: regress(three.only(i), {"x": X[i]}),
        lambda i: regress(NUMBER[i], {"yes": yes.only(i), "x": X[i]}),
        lambda i: regress(yes.only(i), {"x": X[i]}, weights=WEIGHTS[i], clusters=GROUP[i]),
        lambda i: regress(yes.only(i), {"x": X[i]}, penalty="jeffreys"),
    ):
        first, second = make(np.arange(N)), make(order)
        assert first.params.tobytes() == second.params.tobytes()
        assert first.bse.tobytes() == second.bse.tobytes()


def test_labels_of_states() -> None:
    """Another reference category: other coefficients, the same likelihood and predictions."""
    turn = np.array([2, 0, 1])
    first = regress(Reported.of(THREE, MATRIX), {"x": X})
    other = regress(Reported.of(THREE, MATRIX[:, turn]), {"x": X})
    assert other.llf == pytest.approx(first.llf, abs=1e-9)
    np.testing.assert_allclose(other.predict().mean, first.predict().mean[:, turn], atol=1e-7)
    np.testing.assert_allclose(other.predict().se, first.predict().se[:, turn], atol=1e-7)
    reports = Reported.of(turn[THREE], MATRIX[np.argsort(turn)])
    same = regress(reports, {"x": X})  # reports are called otherwise, with their rows
    np.testing.assert_allclose(same.params, first.params, atol=1e-9)


def test_states_of_a_predictor() -> None:
    """Another reference state of a randomized predictor moves its coefficients, nothing else."""
    flipped = FORCED.mirrored
    first = regress(NUMBER, {"yes": Reported.of(YES, FORCED), "x": X})
    other = regress(NUMBER, {"yes": Reported.of(1 - YES, flipped), "x": X})
    np.testing.assert_allclose(first.params, other.params, atol=1e-7)
    turned = regress(NUMBER, {"no": Reported.of(1 - YES, FORCED), "x": X})
    assert turned.llf == pytest.approx(first.llf, abs=1e-8)
    assert turned["no[T.1]"] == pytest.approx(-first["yes[T.1]"], abs=1e-6)
    first_effects = {e.variable: e for e in first.marginal_effects()}
    assert first_effects["yes"].effect == pytest.approx(first["yes[T.1]"], abs=1e-9)
    assert first_effects["yes"].se == pytest.approx(first.bse[1], rel=1e-6)


def test_scale_of_predictors() -> None:
    """Calendar years, or thousandths of them, are no trouble."""
    years = 1950 + 10 * X
    first = regress(Reported.of(YES, FORCED), {"x": X})
    for factor in (1e-3, 1.0, 1e3):
        other = regress(Reported.of(YES, FORCED), {"year": factor * years})
        assert other.converged
        assert other.params[1] * factor * 10 == pytest.approx(first.params[1], rel=1e-6)
        assert other.llf == pytest.approx(first.llf, abs=1e-8)


def test_strata() -> None:
    """Strata change errors and not estimates."""
    answer = Reported.of(YES, FORCED)
    plain = regress(answer, {"x": X})
    strata = SampleDesign.of(N, strata=(X > 0))
    found = regress(answer, {"x": X}, sample=strata)
    np.testing.assert_allclose(found.params, plain.params, atol=1e-10)
    assert not np.allclose(found.bse, plain.bse, rtol=1e-3)


def test_unsent_reports_say_nothing() -> None:
    """Rows that a device did not send change nothing, and are not counted as missing."""
    more = np.concatenate([YES, np.full(50, -1)])
    x = np.concatenate([X, np.zeros(50)])
    found, plain = (
        regress(Reported.of(more, FORCED), {"x": x}),
        regress(Reported.of(YES, FORCED), {"x": X}),
    )
    np.testing.assert_allclose(found.params, plain.params, atol=1e-10)
    np.testing.assert_allclose(found.bse, plain.bse, rtol=1e-9)
    assert found.nobs == N + 50


def test_tests_agree() -> None:
    """Wald of one coefficient is z²; the likelihood ratio is that of two fits."""
    answer = Reported.of(YES, FORCED)
    full, less = regress(answer, {"x": X, "n": NUMBER}), regress(answer, {"x": X})
    assert full.wald_test("n").statistic == pytest.approx(full.tvalues[2] ** 2)
    assert full.wald_test([[0, 0, 1]]).pvalue == pytest.approx(full.pvalues[2])
    assert full.lr_test(less).statistic == pytest.approx(full.lr_tests()["n"].statistic, abs=1e-8)
    assert full.lr_test(less).df == 1


def test_intercept_alone_is_the_weighted_share() -> None:
    """A linear model with an intercept is the Hájek share, with the same linearised error."""
    answer = Reported.of(YES, FORCED)
    samples = {
        "strata": SampleDesign.of(N, WEIGHTS, strata=X > 0, clusters=GROUP),
        "raked": poststratify(SampleDesign.of(N, WEIGHTS), X > 0, {True: 300, False: 700}),
        "population": SampleDesign.of(N, WEIGHTS),
    }
    for sample in samples.values():
        share = estimate_weighted(answer, sample)[1]
        found = regress(answer, family="linear", sample=sample)
        assert found.params[0] == pytest.approx(share.share, abs=1e-12)
        factor = 1 if not sample.simple else N / (N - 1)
        assert found.bse[0] ** 2 * factor == pytest.approx(share.se**2, rel=1e-9)
        logit = regress(answer, sample=sample)
        assert logit.average_prediction().mean[0] == pytest.approx(share.share, abs=1e-9)
        se = logit.average_prediction().se[0]
        assert se**2 * factor == pytest.approx(share.se**2, rel=1e-7)
    finite = regress(answer, {"x": X}, sample=SampleDesign.of(N, strata=X > 0,
                     population={True: 400, False: 400}))  # fmt: skip
    endless = regress(answer, {"x": X}, sample=SampleDesign.of(N, strata=X > 0))
    assert finite.bse.tobytes() == endless.bse.tobytes()


@pytest.mark.parametrize("slope", ["1/1000", "-1/2", "999999/1000000"])
@pytest.mark.parametrize("counts", [[1, 0], [1, 1], [10**9, 10**9], [3 * 10**8, 7 * 10**8]])
def test_extreme_noise_and_numbers(slope: str, counts: list[int]) -> None:
    """One report or a thousand million, hardly any noise or nothing else: an answer or a word."""
    design = Design(Fraction(slope), (1 - Fraction(slope)) / 2)
    found = regress(Reported.of([1, 0], design), counts=counts)
    assert found.converged != found.separated
    assert np.isfinite(found.bse).all() == found.converged
    steady = regress(Reported.of([1, 0], design), counts=counts, penalty="jeffreys")
    assert steady.converged
    assert np.isfinite(steady.bse).all()
