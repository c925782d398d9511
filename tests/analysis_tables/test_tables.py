"""Two questions and several groups: published tables, enumeration, and what must not matter."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from statsmodels.stats.multitest import multipletests

from deniable_analysis import (
    Design,
    Reported,
    Reports,
    SampleDesign,
    compare,
    correlation,
    crosstab,
    estimate_weighted,
    regress,
)  # fmt: skip
from deniable_analysis.association import _log_delta, _odds_ratio
from deniable_analysis.compare_groups import adjust
from deniable_analysis.crosstab import _wald
from deniable_analysis.crosstab_scores import Pair
from deniable_protocol import EstimateError, Survey
from tests.analysis_regression.studies import columns

EIGHT = Design(Fraction(3, 5), Fraction(1, 5))
WARNER = Design(Fraction(1, 2), Fraction(1, 4))
MATRIX = np.array([[0.7, 0.1, 0.05], [0.2, 0.75, 0.15], [0.1, 0.15, 0.8]])
FRAUD, WORK = np.array([[1, 1], [1, 0], [0, 1], [0, 0]]).T
COUNTS = [68, 52, 103, 189]


def unemployment(**more: object):
    answers = {"fraud": Reported.of(FRAUD, EIGHT), "work": Reported.of(WORK, EIGHT)}
    return crosstab(answers, "fraud", "work", **({"counts": COUNTS} | more))  # type: ignore[arg-type]


def survey() -> Survey:
    """Two wide questions and a yes-no one."""
    return Survey.load({"name": "demo", "title": "D", "questions": [
        {"name": "wide", "kind": "choice", "text": "?", "odds": "3:1", "options": list("abcdef")},
        {"name": "wide2", "kind": "choice", "text": "?", "odds": "5:2", "options": list("uvwxy")},
        {"name": "yes", "kind": "yes-no", "text": "?", "truth": "3/4"}]})  # fmt: skip


def drawn(n: int, seed: int) -> tuple[Reports, np.ndarray]:
    """Simulate dependent answers and their reports, for tests only."""
    rng = np.random.default_rng(seed)
    form = survey()
    first = rng.integers(0, 6, n)
    second = np.where(rng.random(n) < 0.4, first % 5, rng.integers(0, 5, n))
    third = (rng.random(n) < 0.2 + 0.1 * first).astype(int)
    truth = np.column_stack([first, second, 1 - third])
    rows = {}
    for question, answers in zip(form.questions, truth.T, strict=True):
        laws = [question.channel.law(state) for state in range(question.channel.options)]
        reports = list(laws[0])
        chances = np.array([[float(law[report]) for report in reports] for law in laws])
        ladder = chances.cumsum(axis=1)[answers, :-1]
        rows[question.name] = np.array(reports)[(rng.random(n)[:, None] > ladder).sum(axis=1)]
    return Reports.of_subsets(form, rows), truth


def test_unemployment() -> None:
    """Van den Hout and van der Heijden's study: every number that was computed for it."""
    found = unemployment()
    moment = [0.6666666667, 0.1812297735, -0.0250809061, 0.1771844660]
    np.testing.assert_allclose(found.shares.ravel(), moment, atol=1e-9)
    best = [0.6448849845, 0.1901166606, 0.0, 0.1649983550]
    np.testing.assert_allclose(found.best.ravel(), best, atol=1e-8)
    assert found.fit.kkt < 1e-9
    assert found.at_boundary
    assert found.independence.method == "pearson"
    assert found.independence.statistic == pytest.approx(16.031683166561574, abs=1e-9)
    assert found.likelihood_ratio().statistic == pytest.approx(15.422601199489236, abs=1e-7)
    assert found.shares.sum(axis=1)[1] == pytest.approx(0.152104, abs=5e-7)
    assert found.shares.sum(axis=0)[1] == pytest.approx(0.358414, abs=5e-7)
    sure = estimate_weighted(Reported.of(np.repeat(FRAUD, COUNTS), EIGHT), SampleDesign.of(412))[1]
    assert sure.se == pytest.approx(0.037352, abs=5e-7)


def test_best_fit_is_the_regression() -> None:
    """The table's maximum and a logit of one variable on the other are the same likelihood."""
    found = unemployment(counts=[110, 82, 80, 140])
    fit = regress(
        Reported.of(FRAUD, EIGHT), {"work": Reported.of(WORK, EIGHT)}, counts=[110, 82, 80, 140]
    )
    best = found.best
    assert fit.converged
    odds = best[1, 1] * best[0, 0] / (best[0, 1] * best[1, 0])
    assert np.exp(fit["work[T.1]"]) == pytest.approx(odds, rel=1e-6)
    found_odds = found.association("1", "1").odds_ratio
    assert found_odds.value == pytest.approx(odds, rel=1e-6)
    assert found_odds.se == pytest.approx(odds * fit.bse[1], rel=0.02)
    assert found_odds.low < odds < found_odds.high


def test_odds_ratio_interval_by_hand() -> None:
    """At its ends the best log-likelihood with that odds ratio has fallen by 1.9207."""
    found = unemployment()
    odds = found.association("1", "1").odds_ratio
    assert odds.value == np.inf
    assert odds.high == np.inf
    law = np.array([[0.8, 0.2], [0.2, 0.8]])
    table = np.array([[189, 103], [52, 68]])

    def loss(shares: np.ndarray) -> float:
        seen = law @ shares.reshape(2, 2) @ law.T
        return -float((table * np.log(seen)).sum())

    def bound(theta: np.ndarray) -> float:
        a, b = theta
        logs = np.array([0.0, b, a, a + b + np.log(odds.low)])
        return loss(np.exp(logs - np.logaddexp.reduce(logs)))

    best = min(
        minimize(bound, start, method="Nelder-Mead", options={"fatol": 1e-10}).fun
        for start in ([-2.0, -1.0], [-4.0, -1.0])
    )
    assert best - loss(found.best.ravel()) == pytest.approx(3.841458821 / 2, abs=1e-5)
    turned = found.association("0", "1").odds_ratio
    assert turned.low == 0
    assert turned.high == pytest.approx(1 / odds.low, rel=1e-4)


def test_enumerated_law_of_the_table() -> None:
    """Over all reports of three people: unbiased, and the variance estimate has the true mean."""
    truth = np.array([[1, 1], [0, 1], [0, 0]])
    exact = np.zeros((2, 2))
    np.add.at(exact, tuple(truth.T), 1 / 3)
    mean, square, variance, total = np.zeros((2, 2)), 0.0, 0.0, 0.0
    for bits in product([0, 1], repeat=6):
        reports = np.array(bits).reshape(3, 2)
        chance = float(np.prod(np.where(reports == truth, 0.8, 0.2)))
        pair = Pair.of(*(Reported.of(column, EIGHT) for column in reports.T), None, None)
        left, right = pair.scores
        cells = np.array([[pair.means((left[:, i] * right[:, j])[:, None])[0][0] for j in (0, 1)]
                          for i in (0, 1)])  # fmt: skip
        mean += chance * cells
        square += chance * (cells[1, 1] - exact[1, 1]) ** 2
        variance += chance * pair.means((left[:, 1] * right[:, 1])[:, None])[1][0, 0]
        total += chance
    assert total == pytest.approx(1)
    np.testing.assert_allclose(mean, exact, atol=1e-12)
    # People differ, so a sample variance holds their spread as well: S²/n more than the noise.
    spread = np.var([1, 0, 0], ddof=1) / 3
    assert variance == pytest.approx(square + spread, rel=1e-10)


def test_wide_reports() -> None:
    """Reports of several options: near the truth, Wald's test, conditional shares, all cells."""
    reports, truth = drawn(20_000, 3)
    found = crosstab(reports, "wide", "wide2")
    exact = np.zeros((6, 5))
    np.add.at(exact, (truth[:, 0], truth[:, 1]), 1 / 20_000)
    assert np.abs((found.shares - exact) / found.errors).max() < 4.5
    assert np.abs(found.best - exact).max() < 0.03
    assert found.fit.kkt < 1e-6
    assert found.independence.method == "wald"
    assert found.independence.df == 20
    assert found.independence.pvalue < 1e-3
    np.testing.assert_allclose(found.shares.sum(), 1, atol=1e-9)
    share = found.conditional("b", "v")
    assert abs(share.value - exact[1, 1] / exact[1].sum()) < 4.5 * share.se
    assert share.low < share.value < share.high
    assert str(found).count("%") > 90


def test_wald_and_pearson_agree() -> None:
    """On a large table both tests of independence give nearly the same statistic."""
    reports, _ = drawn(5_000, 5)
    yes = Reported.of_tally(reports["yes"])
    third = Reported.of(np.arange(5_000) % 3, MATRIX)
    pair = Pair.of(yes, third, None, None)
    found = crosstab({"a": yes, "b": third}, "a", "b").independence
    assert found.method == "pearson"
    assert _wald(pair).statistic == pytest.approx(found.statistic, rel=0.05, abs=0.02)


def test_two_warner_correlation() -> None:
    """Two items of 2,000 people with Warner's 3/4 and 4/5: the published correlation."""
    one, two = np.array([[0, 0], [1, 0], [0, 1], [1, 1]]).T
    found = crosstab(
        {"a": Reported.of(one, WARNER), "b": Reported.of(two, EIGHT)}, "a", "b",
        counts=[771, 363, 427, 439],
    )  # fmt: skip
    assert found.association("1", "1").phi.value == pytest.approx(0.6832633966714, abs=1e-9)


def test_vignette_correlation() -> None:
    """Correlation with a number that is known: Warner with 1,000 people."""
    data = columns("rrreg_vignette_warner.csv")
    answers = Reported.of(data["response"], Design(Fraction(-2, 3), Fraction(5, 6)))
    found = correlation(answers, data["cov"])
    assert found.value == pytest.approx(0.4360658030133, abs=1e-9)
    assert found.low < found.value < found.high


def test_minarets_correlations() -> None:
    """Two groups with other dice, liars among them: the published correlations."""
    data = columns("minarets.csv")
    kept = data["RRdesign"] == 1
    admits = Fraction(0.6358063927586)  # the chance that those with the trait admit it
    other = {1.0: Fraction(10, 12), 2.0: Fraction(2, 12)}
    designs = [Design(admits - other[c], other[c]) for c in data["condition"][kept]]
    answers = Reported.of(data["rrt"][kept], designs)
    for name, truth in (("age", -0.054478), ("leftRight", 0.593345)):
        found = correlation(answers, data[name][kept])
        assert found.value == pytest.approx(truth, abs=2e-6)
        assert found.se > 0.05


def test_correlation_error() -> None:
    """The error of a correlation is that of a bootstrap; without noise, the textbook's."""
    rng = np.random.default_rng(31)
    x = rng.normal(size=4000)
    yes = (rng.random(4000) < 1 / (1 + np.exp(-x))).astype(int)
    plain = correlation(Reported.of(yes), x)
    assert plain.value == pytest.approx(np.corrcoef(yes, x)[0, 1], abs=1e-12)
    reports = np.where(rng.random(4000) < 0.75, yes, 1 - yes)
    found = correlation(Reported.of(reports, WARNER), x)
    draws = []
    for _ in range(300):
        pick = rng.integers(0, 4000, 4000)
        draws.append(correlation(Reported.of(reports[pick], WARNER), x[pick]).value)
    assert found.se == pytest.approx(np.std(draws), rel=0.2)
    assert abs(found.value - plain.value) < 4.5 * found.se


def test_relabelling_reordering_splitting() -> None:
    """Order of rows, split counts, names of options and mirrored designs change nothing."""
    found = unemployment()
    rows = np.repeat(np.arange(4), COUNTS)
    order = np.random.default_rng(1).permutation(412)
    answers = {
        "fraud": Reported.of(FRAUD[rows][order], EIGHT),
        "work": Reported.of(1 - WORK[rows][order], EIGHT.mirrored),
    }
    other = crosstab(answers, "fraud", "work")
    for name in ("shares", "errors", "low", "high", "best"):
        np.testing.assert_allclose(getattr(other, name), getattr(found, name), atol=1e-8)
    turned = crosstab(
        {"fraud": Reported.of(1 - FRAUD, EIGHT), "work": Reported.of(WORK, EIGHT)},
        "work", "fraud", counts=COUNTS,
    )  # fmt: skip
    np.testing.assert_allclose(turned.shares, found.shares[::-1].T, atol=1e-12)
    np.testing.assert_allclose(turned.high, found.high[::-1].T, atol=1e-8)
    weighted = crosstab(answers, "fraud", "work", sample=SampleDesign.of(412))
    np.testing.assert_allclose(weighted.shares, found.shares, atol=1e-12)
    np.testing.assert_allclose(weighted.errors, found.errors, rtol=1e-9)
    np.testing.assert_allclose(weighted.best, found.best, atol=1e-8)


def test_noiseless_is_a_plain_table() -> None:
    """Without noise: counts over n, the log odds ratio's textbook error, φ as a correlation."""
    found = crosstab({"a": Reported.of(FRAUD), "b": Reported.of(WORK)}, "a", "b", counts=COUNTS)
    np.testing.assert_allclose(found.shares.ravel() * 412, [189, 103, 52, 68], atol=1e-9)
    measures = found.association("1", "1")
    assert measures.reason == ""
    assert measures.odds_ratio.value == pytest.approx(68 * 189 / (52 * 103))
    textbook = np.sqrt((1 / np.array(COUNTS)).sum()) * np.sqrt(412 / 411)
    assert measures.odds_ratio.se / measures.odds_ratio.value == pytest.approx(textbook)
    rows = np.repeat(np.arange(4), COUNTS)
    assert measures.phi.value == pytest.approx(np.corrcoef(FRAUD[rows], WORK[rows])[0, 1])
    assert measures.difference.value == pytest.approx(68 / 120 - 103 / 292)
    assert measures.ratio.value == pytest.approx(68 / 120 / (103 / 292))
    assert found.conditional("1", "1").value == pytest.approx(68 / 120)


def test_gradient_of_measures() -> None:
    """The delta method's error is that of a bootstrap of the moments' normal law."""
    rng = np.random.default_rng(2)
    means = np.array([0.2, 0.4, 0.25, 0.6])
    covariance = 1e-6 * np.array(
        [[2, 1, 0.1, -1], [1, 3, -0.5, -3], [0.1, -0.5, 2, 0.5], [-1, -3, 0.5, 3]]
    )
    covariance += 1e-7 * np.eye(4)
    draws = rng.multivariate_normal(means, covariance, 40_000)
    found = _log_delta(_odds_ratio, means, covariance, 1.96)
    assert found.se == pytest.approx(_odds_ratio(draws.T).std(), rel=0.02)


def test_groups() -> None:
    """Differences, errors and the test of all groups by hand; other designs on the same scale."""
    yes = {"a": 140, "b": 180, "c": 184}
    groups = {
        name: Reported.of(np.repeat([1, 0], [count, 400 - count]), WARNER)
        for name, count in yes.items()
    }
    found = compare(groups)
    first = found.differences[0]
    assert first.difference == pytest.approx((140 - 180) / 400 / 0.5)
    variances = [count / 400 * (1 - count / 400) / 399 / 0.25 for count in yes.values()]
    assert first.se == pytest.approx(np.sqrt(variances[0] + variances[1]))
    raw = [d.pvalue for d in found.differences]
    for ours, theirs in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        np.testing.assert_allclose(adjust(raw, ours), multipletests(raw, method=theirs)[1])
    shares = np.array([(count / 400 - 0.25) / 0.5 for count in yes.values()])
    precision = 1 / np.array(variances)
    middle = precision @ shares / precision.sum()
    assert found.statistic == pytest.approx(precision @ (shares - middle) ** 2)
    assert found.df == 2
    mirrored = dict(groups)
    mirrored["b"] = Reported.of(np.repeat([0, 1], [180, 220]), WARNER.mirrored)
    assert compare(mirrored).differences[0].pvalue == pytest.approx(first.pvalue)
    plain = {name: SampleDesign.of(400) for name in yes}
    assert compare(groups, samples=plain).differences[0].se == pytest.approx(first.se)


def test_groups_of_reports() -> None:
    """Arms of a survey with many options: all pairs of all options, at most as sure as alone."""
    reports, _ = drawn(900, 9)
    place = np.arange(900) % 3
    arms = {f"arm {k}": reports.only(place == k) for k in range(3)}
    found = compare(arms, "wide", correction="benjamini-hochberg")
    assert len(found.differences) == 6 * 3
    assert all(d.adjusted >= d.pvalue - 1e-12 for d in found.differences)
    assert found.df == 10
    assert found.pvalue > 1e-4


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: unemployment(counts=[1, 2]), "counts must be 4 whole"),
        (lambda: unemployment(level=1), "level must be between"),
        (lambda: unemployment().conditional("maybe", "1"), "one of '0', '1', got 'maybe'"),
        (lambda: crosstab({"a": Reported.of(FRAUD)}, "a", "b"), "expected one of 'a', got 'b'"),
        (lambda: crosstab({"a": Reported.of(FRAUD)}, "a", "a"), "two different"),
        (lambda: crosstab({"a": Reported.of(FRAUD), "b": Reported.of([1])}, "a", "b"),
         "one row for each"),
        (lambda: crosstab({"a": Reported.of([1, -1]), "b": Reported.of([-1, 1])}, "a", "b"),
         "nobody reported both"),
        (lambda: compare({"a": Reported.of(FRAUD)}), "at least two"),
        (lambda: compare({"a": Reported.of(FRAUD), "b": Reported.of([1])}), "fewer than two"),
        (lambda: compare({"a": Reported.of(FRAUD),
                          "b": Reported.of(FRAUD, states=["x", "y"])}), "same states"),
        (lambda: correlation(Reported.of([0, 1, 2], MATRIX), [1, 2, 3]), "two states"),
    ],
)  # fmt: skip
def test_refusals(make, said: str) -> None:
    """What cannot be compared is refused in words."""
    with pytest.raises(EstimateError, match=said):
        make()


def test_undefined_measures_say_why() -> None:
    """Where an estimated share is outside [0, 1], a measure is missing and the reason is given."""
    found = crosstab(
        {"a": Reported.of(FRAUD, WARNER), "b": Reported.of(WORK, WARNER)}, "a", "b",
        counts=[5, 30, 60, 105],
    ).association("1", "1")  # fmt: skip
    assert found.reason
    assert np.isnan(found.phi.value) or np.isnan(found.ratio.value)
    assert 0 <= found.odds_ratio.low <= found.odds_ratio.high
