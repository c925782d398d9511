"""Numbers and scales: unbiased by exact sums, and intervals that cover by exact sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import multinomial

from deniable_analysis import Reports, describe
from deniable_protocol import EstimateError, Survey

from .samples import EVERY_KIND, compositions, gathered


def asked(points: int, step: float, *, optional: bool = False, epsilon: float = 2.0) -> Survey:
    """Publish a survey with one number from 10 to 20."""
    question = {"name": "x", "kind": "number", "text": "X?", "min": 10, "max": 20, "step": step,
                "points": points, "optional": optional, "unit": "kg"}  # fmt: skip
    return Survey.load(
        {"name": "s", "title": "S", "privacy": {"epsilon": epsilon}, "questions": [question]}
    )


def law_of_index(survey: Survey, step: int) -> np.ndarray:
    """Give the exact law of one report's option for a true number: rounding, then channel."""
    question = survey["x"]
    grid, channel, points = question.grid, question.channel, question.points
    law = [Fraction(0)] * channel.options
    for t in range(grid.steps):
        index = (step * (points - 1) + t) // grid.steps
        for subset, chance in channel.law(index).items():
            law[subset[0]] += chance / grid.steps
    return np.array([float(chance) for chance in law])


@pytest.mark.parametrize(("points", "step"), [(2, 1), (3, 1), (5, 0.5), (11, 1)])
def test_mean_is_unbiased_exactly(points, step):
    """For every true number, the expected value of one report is that number."""
    survey = asked(points, step)
    for place in range(survey["x"].grid.steps + 1):
        law = law_of_index(survey, place)
        each = [
            describe(Reports.of_counts(survey, {"x": counts}), "x").mean.value
            for counts in np.eye(len(law), dtype=np.int64)
        ]
        assert law @ each == pytest.approx(10 + place * step, abs=1e-9)


def test_mean_and_error_are_those_of_the_scores():
    """The mean and its error are the respondents' unbiased values' own."""
    reports = gathered(200, survey=EVERY_KIND)
    found = describe(reports, "mood")
    values = reports["mood"].scores @ np.array([1.0, 2.0, 4.0])
    assert found.mean.value == pytest.approx(values.mean(), abs=1e-12)
    assert found.mean.se == pytest.approx(values.std(ddof=1) / math.sqrt(200), abs=1e-12)


def test_variance_and_what_rounding_adds():
    """With exact counts the variance is that of the points, and rounding is bounded."""
    survey = asked(3, 1)
    channel = survey["x"].channel
    shares = np.array([0.2, 0.5, 0.3])
    counts = np.rint(1e6 * (float(channel.p - channel.q) * shares + float(channel.q)))
    found = describe(Reports.of_counts(survey, {"x": counts.astype(np.int64)}), "x")
    points = np.array([10, 15, 20])
    mean = shares @ points
    assert found.mean.value == pytest.approx(mean, abs=1e-4)
    assert found.variance.value == pytest.approx(shares @ (points - mean) ** 2, abs=1e-3)
    assert found.spread == pytest.approx(math.sqrt(shares @ (points - mean) ** 2), abs=1e-3)
    assert found.rounding == 25 / 4
    assert describe(Reports.of_counts(asked(11, 1), {"x": [5] * 11}), "x").rounding == 0
    # Rounding 12 to 10 or 15 adds (12−10)(15−12) = 6, which is below the bound.
    law = np.array([0.6, 0.4, 0])
    assert law @ (points - 12) ** 2 == pytest.approx(6)


def test_error_of_the_variance_is_its_spread():
    """Over seeded resamples the variance scatters as its standard error says."""
    survey = asked(3, 1, epsilon=3)
    channel = survey["x"].channel
    rng = np.random.default_rng(5)
    law = float(channel.p - channel.q) * np.array([0.2, 0.5, 0.3]) + float(channel.q)
    found = [
        describe(Reports.of_counts(survey, {"x": rng.multinomial(400, law)}), "x", quantiles=())
        for _ in range(300)
    ]
    values = [one.variance.value for one in found]
    assert np.std(values) == pytest.approx(np.mean([one.variance.se for one in found]), rel=0.12)


@pytest.mark.parametrize("true", [(0.5, 0.3, 0.2), (0.1, 0.45, 0.45), (0.02, 0.08, 0.9)])
def test_quantiles_cover(true):
    """Summed over every outcome, the interval of the median holds it in at least 95 %."""
    survey = asked(3, 5, epsilon=2)
    channel, n = survey["x"].channel, 40
    outcomes = np.array(list(compositions(n, 3)))
    law = multinomial.pmf(
        outcomes, n, float(channel.p - channel.q) * np.array(true) + float(channel.q)
    )
    median = np.array([10, 15, 20])[int(np.argmax(np.cumsum(true) >= 0.5))]
    held = 0.0
    for counts, chance in zip(outcomes, law, strict=True):
        if chance > 1e-8:
            reports = Reports.of_counts(survey, {"x": counts})
            (half,) = describe(reports, "x", quantiles=[0.5]).quantiles
            held += chance * (half.low <= median <= half.high)
    assert held >= 0.95 - 1e-4


def test_a_coarse_grid_widens_quantiles():
    """All numbers within one cell: the interval holds the cell, whatever is inside."""
    survey = asked(3, 1, epsilon=8)
    for place in (1, 2, 4):
        counts = np.rint(20_000 * law_of_index(survey, place)).astype(np.int64)
        (half,) = describe(Reports.of_counts(survey, {"x": counts}), "x", quantiles=[0.5]).quantiles
        assert half.low <= 10 + place <= half.high
        assert 10 <= half.value <= 15


def test_cumulative_shares_rise_to_one():
    """The best fit never falls and ends at 1, and the intervals hold it."""
    for seed in range(5):
        reports = gathered(90, seed, EVERY_KIND)
        for name in ("mood", "sleep"):
            steps = describe(reports, name).cumulative
            shares = [step.share for step in steps]
            assert shares == sorted(shares)
            assert shares[-1] == pytest.approx(1)
            assert all(step.low - 1e-9 <= step.share <= step.high + 1e-9 for step in steps)


def test_those_who_skip_are_left_out():
    """Doubling "no answer" leaves the mean of the others where it is, and widens it."""
    survey = asked(3, 5, optional=True, epsilon=6)
    channel = survey["x"].channel

    def of(shares):
        law = float(channel.p - channel.q) * np.array(shares) + float(channel.q)
        return describe(Reports.of_counts(survey, {"x": np.rint(5_000 * law).astype(int)}), "x")

    few, many = of([0.2, 0.5, 0.2, 0.1]), of([0.1, 0.25, 0.1, 0.55])
    assert few.mean.value == pytest.approx(many.mean.value, abs=0.02)
    assert few.mean.high - few.mean.low < many.mean.high - many.mean.low
    assert few.variance.value == pytest.approx(many.variance.value, abs=0.1)


def test_no_reports_and_other_kinds():
    """Without reports every mean is possible; a choice has none."""
    found = describe(Reports.of_counts(asked(3, 1), {"x": [0, 0, 0]}), "x")
    assert math.isnan(found.mean.value)
    assert (found.mean.low, found.mean.high) == (10, 20)
    assert (found.quantiles[1].low, found.quantiles[1].high) == (10, 20)
    reports = gathered(20, survey=EVERY_KIND)
    with pytest.raises(EstimateError, match="a number or a scale"):
        describe(reports, "drank")
    with pytest.raises(EstimateError, match="between 0 and 1"):
        describe(reports, "mood", quantiles=[0.5, 1.5])


def test_two_points_have_exact_intervals():
    """A number that goes as one bit has the interval of a share, stretched to its range."""
    survey = asked(2, 1)
    found = describe(Reports.of_counts(survey, {"x": [120, 80]}), "x")
    assert 10 <= found.mean.low <= found.mean.value <= found.mean.high <= 20
    assert str(found).startswith("mean")
    assert " kg" in str(found)
