"""Weights, strata, clusters: against enumeration of every sample and report, and statsmodels."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
import statsmodels.api as sm

from deniable_analysis import Design, Reported, SampleDesign, estimate
from deniable_analysis.reading import read_reports
from deniable_analysis.weights import poststratify, rake
from deniable_analysis.weights_estimate import estimate_weighted
from deniable_protocol import EstimateError, Survey

WARNER = Design(Fraction(1, 2), Fraction(1, 4))
RNG = np.random.default_rng(23)
N = 400
YES = RNG.integers(0, 2, N)
WEIGHTS = RNG.uniform(0.5, 4, N)
STRATA = RNG.integers(0, 3, N)
CLUSTERS = RNG.integers(0, 30, N)
ANSWERS = Reported.of(YES, WARNER)
SCORES = (YES - 0.25) / 0.5


def every_outcome(truth: np.ndarray, strata: np.ndarray, take: dict[int, int]):
    """Give every stratified sample without replacement, every report, and the chance of both."""
    groups = [
        list(combinations(np.flatnonzero(strata == h).tolist(), size)) for h, size in take.items()
    ]
    samples = [sum(parts, ()) for parts in product(*groups)]
    for sample in samples:
        chances = 0.25 + 0.5 * truth[list(sample)]
        for reports in product([0, 1], repeat=len(sample)):
            chance = np.prod(np.where(reports, chances, 1 - chances)) / len(samples)
            yield np.array(sample), np.array(reports), float(chance)


def test_enumeration_of_samples() -> None:
    """Over all samples and all noise: unbiased, and the variance estimate has the true mean.

    With a finite population the noise's share of the variance does not shrink with 1 − f. The
    check is seen to fail without the noise term.
    """
    truth = np.array([1, 0, 0, 1, 1, 0, 0, 1])
    strata = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    values, variances, shrunk = [], [], []
    chances = []
    for sample, reports, chance in every_outcome(truth, strata, {0: 2, 1: 3}):
        weights = np.where(strata[sample] == 0, 2.0, 4 / 3)
        design = SampleDesign.of(5, weights, strata=strata[sample], population={0: 4, 1: 4})
        found = estimate_weighted(
            Reported.of(reports, WARNER), design, estimator="horvitz-thompson", size=8
        )[1]
        values.append(found.share)
        variances.append(found.se**2)
        scores = (reports - 0.25)[:, None] / 0.5
        shrunk.append(design.covariance_of_total(scores)[0, 0] / 64)
        chances.append(chance)
    weight, value = np.array(chances), np.array(values)
    assert weight.sum() == pytest.approx(1)
    assert weight @ value == pytest.approx(truth.mean(), abs=1e-12)
    true = weight @ (value - truth.mean()) ** 2
    assert weight @ np.array(variances) == pytest.approx(true, rel=1e-10)
    assert weight @ np.array(shrunk) < 0.8 * true


def test_clusters_by_hand() -> None:
    """The textbook sum over clusters within strata, written out."""
    design = SampleDesign.of(N, WEIGHTS, strata=STRATA, clusters=CLUSTERS)
    found = estimate_weighted(ANSWERS, design)[1]
    total = WEIGHTS.sum()
    mean = WEIGHTS @ SCORES / total
    assert found.share == pytest.approx(mean, abs=1e-12)
    variance = 0.0
    for h in range(3):
        sums = [
            (WEIGHTS * (SCORES - mean))[(h == STRATA) & (c == CLUSTERS)].sum() / total
            for c in np.unique(CLUSTERS[h == STRATA])
        ]
        variance += len(sums) * np.var(sums, ddof=1)
    assert found.se == pytest.approx(np.sqrt(variance), rel=1e-12)
    unstratified = SampleDesign.of(N, WEIGHTS, clusters=CLUSTERS)
    theirs = sm.WLS(SCORES, np.ones(N), weights=WEIGHTS).fit(
        cov_type="cluster", cov_kwds={"groups": CLUSTERS, "use_correction": False}
    )
    many = len(np.unique(CLUSTERS))
    ours = estimate_weighted(ANSWERS, unstratified)[1]
    assert ours.se == pytest.approx(theirs.bse[0] * np.sqrt(many / (many - 1)), rel=1e-9)


def test_weights_of_one() -> None:
    """Weights of 1 are no weights: the share, its error and Wilson's ends are the plain ones."""
    survey = Survey.load({"name": "demo", "title": "D", "questions": [
        {"name": "q", "kind": "yes-no", "text": "?", "truth": "3/4"}]})  # fmt: skip
    counts = [int(YES.sum()), int(N - YES.sum())]
    plain = estimate(read_reports({"q": counts}, survey), "q", method="wilson")
    tally = read_reports({"q": 1 - YES}, survey, rows=True)["q"]
    for answers in (ANSWERS, tally):
        found = estimate_weighted(answers, SampleDesign.of(N))
        assert found[1].share == pytest.approx(plain["Yes"].share, abs=1e-12)
        assert found[1].se == pytest.approx(plain["Yes"].se, rel=1e-12)
        assert found[1].deff == pytest.approx(N / (N - 1), rel=1e-9)
        assert found[1].low == pytest.approx(plain["Yes"].low, abs=2e-3)
        assert found[1].high == pytest.approx(plain["Yes"].high, abs=2e-3)
        assert found.kish == 1
    scaled = estimate_weighted(ANSWERS, SampleDesign.of(N, np.full(N, 7.0)))
    assert scaled[1].se == pytest.approx(plain["Yes"].se, rel=1e-12)


def test_splitting_and_order() -> None:
    """The order of respondents does not matter; a mirrored design gives mirrored shares."""
    design = SampleDesign.of(N, WEIGHTS, strata=STRATA, clusters=CLUSTERS)
    order = RNG.permutation(N)
    moved = SampleDesign.of(N, WEIGHTS[order], strata=STRATA[order], clusters=CLUSTERS[order])
    first, second = (
        estimate_weighted(ANSWERS, design),
        estimate_weighted(ANSWERS.only(order), moved),
    )
    assert second[1].se == pytest.approx(first[1].se, rel=1e-12)
    mirrored = estimate_weighted(Reported.of(1 - YES, WARNER.mirrored), design)
    assert mirrored[1].share == pytest.approx(first[1].share, abs=1e-12)
    assert mirrored[1].low == pytest.approx(first[1].low, abs=1e-9)
    assert first[0].share + first[1].share == pytest.approx(1, abs=1e-12)


def test_poststratification() -> None:
    """Post-stratified shares are the groups' shares put together, and so are their variances."""
    totals = {0: 5000.0, 1: 3000.0, 2: 2000.0}
    sample = poststratify(SampleDesign.of(N), STRATA, totals)
    found = estimate_weighted(ANSWERS, sample)[1]
    parts = np.array([0.5, 0.3, 0.2])
    means = np.array([SCORES[g == STRATA].mean() for g in range(3)])
    assert found.share == pytest.approx(parts @ means, abs=1e-12)
    within = np.array([((SCORES - means[g])[g == STRATA] ** 2).sum() for g in range(3)])
    sizes = np.bincount(STRATA)
    by_hand = (parts**2 * within / sizes**2).sum() * N / (N - 1)
    assert found.se == pytest.approx(np.sqrt(by_hand), rel=1e-10)
    raked = rake(SampleDesign.of(N), {"g": (STRATA, totals)})
    np.testing.assert_allclose(raked.weights, sample.weights, rtol=1e-12)


def test_raking() -> None:
    """Raked weights fit every margin, and are of the product form that raking must have."""
    other = (YES + RNG.integers(0, 2, N)) % 3
    margins = {"a": (STRATA, {0: 50, 1: 30, 2: 20}), "b": (other, {0: 40, 1: 35, 2: 25})}
    sample = rake(SampleDesign.of(N, WEIGHTS), margins)  # type: ignore[arg-type]
    for groups, totals in margins.values():
        sums = np.bincount(groups, sample.weights)
        np.testing.assert_allclose(sums, list(totals.values()), rtol=1e-9)
    ratio = np.log(sample.weights / WEIGHTS)
    dummies = np.column_stack([np.eye(3)[STRATA], np.eye(3)[other]])
    rest = ratio - dummies @ np.linalg.lstsq(dummies, ratio, rcond=None)[0]
    assert np.abs(rest).max() < 1e-9


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SampleDesign.of(3, [1, 0, 2]), "above 0"),
        (lambda: SampleDesign.of(3, strata=[1, 2]), "strata must have one entry"),
        (lambda: SampleDesign.of(3, strata=[1, 1, 2], population=10), "for each of them"),
        (lambda: SampleDesign.of(3, population=2), "at least the number"),
        (lambda: poststratify(SampleDesign.of(2), ["a", "b"], {"a": 1}), "no total for b"),
        (lambda: poststratify(SampleDesign.of(1), ["a"], {"a": 1, "c": 1}), "no respondents in c"),
        (lambda: rake(SampleDesign.of(2), {"x": (["a", "b"], {"a": 1, "b": 1}),
                                           "y": (["a", "b"], {"a": 1, "b": 2})}), "same pop"),
        (lambda: estimate_weighted(ANSWERS, SampleDesign.of(3)), "describes 3 respondents"),
        (lambda: estimate_weighted(ANSWERS, SampleDesign.of(N), estimator="horvitz-thompson"),
         "needs size"),
        (lambda: estimate_weighted(ANSWERS, SampleDesign.of(N, strata=[0] + [1] * (N - 1))),
         "single sampling unit"),
    ],
)  # fmt: skip
def test_refusals(make, said: str) -> None:
    """What cannot be estimated is refused in words."""
    with pytest.raises(EstimateError, match=said):
        make()
