"""Estimates: what must not matter does not, extremes hold, and shares among some are right."""

from __future__ import annotations

import dataclasses
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial

from deniable_analysis import (
    METHODS,
    Design,
    Reports,
    Tally,
    estimate,
    estimate_share,
    group_share,
    interval,
    mean_value,
    ratio,
)
from deniable_analysis.linear import weighted
from deniable_protocol import Channel, EstimateError, Item, Survey

from .samples import EVERY_KIND, SAMPLED, SURVEY, compositions, gathered, some_reports

NUMBERS = ("count", "share", "se", "mle", "low", "high", "at_boundary", "outside")


def choice(options: int, *, optional: bool = False, epsilon: float = 1.0) -> Survey:
    """Publish a survey with one question of so many options."""
    labels = [f"option {place}" for place in range(options)]
    asked = {"name": "q", "kind": "choice", "text": "Q?", "options": labels, "optional": optional}
    return Survey.load(
        {"name": "s", "title": "S", "privacy": {"epsilon": epsilon}, "questions": [asked]}
    )


def numbers(found):
    return [[getattr(option, name) for name in NUMBERS] for option in found.options]


@settings(max_examples=40)
@given(st.data())
def test_relabelling_commutes(data):
    """Options in another order have the same numbers in that order, whatever the method."""
    size = data.draw(st.integers(2, 5))
    survey = choice(size)
    assert survey["q"].channel.subset == 1
    counts = np.array(data.draw(st.lists(st.integers(0, 60), min_size=size, max_size=size)))
    order = np.array(data.draw(st.permutations(range(size))))
    method = data.draw(st.sampled_from(METHODS))
    there = estimate(Reports.of_counts(survey, {"q": counts}), "q", method=method)
    back = estimate(Reports.of_counts(survey, {"q": counts[order]}), "q", method=method)
    expected = [numbers(there)[place] for place in order]
    for mine, other in zip(numbers(back), expected, strict=True):
        assert mine == pytest.approx(other, abs=1e-12, nan_ok=True)


def test_order_of_reports_does_not_matter():
    """Rows in another order, or from a retry twice, give the same numbers to the last bit."""
    reports = some_reports(60)
    forward = Reports.of_reports(SURVEY, reports)
    back = Reports.of_reports(SURVEY, [*reports[::-1], *reports[:5]])
    for name in ("stolen", "dish"):
        mine, other = numbers(estimate(forward, name)), numbers(estimate(back, name))
        assert np.array(mine) == pytest.approx(np.array(other), abs=1e-10)


def test_counts_and_rows_agree():
    """Counts alone give the same shares, errors and intervals as the reports."""
    reports = gathered(80)
    counts = Reports.of_counts(SURVEY, {n: t.counts for n, t in reports.tallies.items()})
    for name in ("stolen", "dish"):
        rows, alone = estimate(reports, name), estimate(counts, name)
        for mine, other in zip(rows.options, alone.options, strict=True):
            same = dataclasses.replace(mine, mle=other.mle, at_boundary=other.at_boundary)
            assert same == other
    assert math.isnan(alone["dish a"].mle)
    assert estimate(counts, "stolen")["Yes"].mle == estimate(reports, "stolen")["Yes"].mle


@pytest.mark.parametrize("method", METHODS)
def test_splitting_and_adding_counts(method):
    """Ten times the reports leave the share and narrow the interval by about the root of ten."""
    small = estimate_share(30, 100, Design(Fraction(1, 2), Fraction(1, 4)), method=method)
    large = estimate_share(300, 1000, Design(Fraction(1, 2), Fraction(1, 4)), method=method)
    assert small.share == large.share
    assert small.se / large.se == pytest.approx(math.sqrt(999 / 99), rel=1e-12)
    assert large.high - large.low < small.high - small.low


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "slope", [Fraction(1, 2), Fraction(-1, 2), Fraction(1, 10**6), Fraction(1)]
)
@pytest.mark.parametrize(("count", "n"), [(0, 0), (0, 1), (1, 1), (0, 10**9), (10**9, 10**9)])
def test_extremes_hold(method, slope, count, n):
    """Nothing overflows or warns at n = 0, 1 and a thousand million, and at any strength."""
    if method == "feldman-cousins" and n > 10**6:
        pytest.skip("it goes through every count, and is not the default there")
    offset = max(Fraction(0), -slope)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = estimate_share(count, n, Design(slope, offset), method=method)
    assert 0 <= found.low <= found.high <= 1
    if n:
        assert 0 <= found.mle <= 1
    else:
        assert (found.low, found.high) == (0, 1)
        assert math.isnan(found.share)


@pytest.mark.parametrize("odds", [Fraction(1_000_001, 1_000_000), Fraction(10**9)])
def test_extreme_odds(odds):
    """Almost no privacy and almost no information both end in numbers."""
    survey = choice(4)
    question = dataclasses.replace(survey["q"], channel=Channel(4, 1, odds))
    tally = Tally.of_counts(question, [5, 6, 7, 2])
    found = estimate(Reports(survey, {"q": tally}), "q")
    assert sum(o.share for o in found.options) == pytest.approx(1, abs=1e-6)
    assert sum(o.mle for o in found.options) == pytest.approx(1, abs=1e-9)
    if odds > 2:
        assert found["option 0"].share == pytest.approx(0.25, abs=1e-6)
    else:
        assert [(o.low, o.high) for o in found.options] == [(0.0, 1.0)] * 4


def test_simultaneous_intervals_hold_at_once():
    """Summed over every outcome, all intervals hold together in at least 94 % of surveys."""
    survey = choice(3)
    channel = survey["q"].channel
    n = 60
    outcomes = np.array(list(compositions(n, 3)))
    for method, least in [("wilson", 0.94), ("clopper-pearson", 0.95), ("feldman-cousins", 0.95)]:
        ends = interval(np.arange(n + 1), n, Design.of(channel), level=1 - 0.05 / 3, method=method)
        found = estimate(
            Reports.of_counts(survey, {"q": [10, 20, 30]}), "q", method=method, simultaneous=True
        )
        assert [o.low for o in found.options] == [ends.low[c] for c in (10, 20, 30)]
        for true in [(1, 0, 0), (0.5, 0.5, 0), (0.6, 0.3, 0.1), (1 / 3, 1 / 3, 1 / 3)]:
            shares = np.array(true)
            reported = float(channel.p - channel.q) * shares + float(channel.q)
            law = multinomial.pmf(outcomes, n, reported)
            held = (ends.low[outcomes] <= shares + 1e-12) & (shares <= ends.high[outcomes] + 1e-12)
            assert law @ held.all(axis=1) >= least
            # Each for itself, they do not hold at once: the check would see it.
            alone = interval(np.arange(n + 1), n, Design.of(channel), method="wilson")
            held = (alone.low[outcomes] <= shares) & (shares <= alone.high[outcomes])
        assert law @ held.all(axis=1) < 0.92


def test_two_options_need_no_correction():
    """The intervals of two options mirror each other, so they hold together as they are."""
    reports = Reports.of_counts(SURVEY, {"stolen": [40, 160]})
    one, both = (
        estimate(reports, "stolen", method="wilson", simultaneous=flag) for flag in (False, True)
    )
    assert one == both
    assert one.simultaneous


def test_a_group_of_options_is_binomial():
    """A group's count has the law of its design: enumerated; and its complement mirrors it."""
    channel = Channel(5, 1, Fraction(3))
    design = Design.of_group(channel, 2)
    for true in range(5):
        held = sum(chance for subset, chance in channel.law(true).items() if subset[0] in (1, 4))
        assert held == design.reported(Fraction(true in (1, 4)))
    survey = choice(4)
    tally = Reports.of_counts(survey, {"q": [30, 20, 25, 25]})["q"]
    one, other = group_share(tally, [0, 2]), group_share(tally, [1, 3])
    assert one.value + other.value == pytest.approx(1)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))
    alone = estimate(Reports.of_counts(survey, {"q": tally.counts}), "q")["option 2"]
    single = group_share(tally, [2])
    assert (single.value, single.se) == pytest.approx((alone.share, alone.se))
    assert (single.low, single.high) == pytest.approx((alone.low, alone.high))
    with pytest.raises(EstimateError, match="some but not all"):
        group_share(tally, [0, 1, 2, 3])


@pytest.mark.parametrize("survey", [SURVEY, choice(4)])
def test_weighted_sums_are_means_of_scores(survey):
    """A weighted sum and its error are the mean and standard error of the respondents' values."""
    for name in gathered(70, survey=survey).tallies:
        tally = gathered(70, survey=survey)[name]
        weights = np.linspace(-1, 2, tally.channel.options)
        values = tally.scores @ weights
        assert tally.values(weights) == pytest.approx(values, abs=1e-12)
        value, se = weighted(tally, weights)
        assert value == pytest.approx(values.mean(), abs=1e-12)
        assert se == pytest.approx(values.std(ddof=1) / math.sqrt(70), abs=1e-12)
        found = mean_value(tally, weights)
        half = 1.959964 * se * math.sqrt(69 / (70 - 1.959964**2))
        assert found.low == pytest.approx(max(value - half, -1), abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_fieller_is_the_hull_of_what_fits(seed):
    """Going through ratios one by one gives the same interval, however weak the denominator."""
    tally = gathered(40 + 30 * seed, seed, choice(2, optional=True))["q"]
    values = tally.scores
    found = ratio(tally, [1, 0, 0], [1, 1, 0])
    grid = np.linspace(0, 1, 20_001)
    mean = values.mean(axis=0)
    along = np.stack([1 - grid, -grid, 0 * grid])
    centred = np.einsum("ig,ij,jg->g", along, np.cov(values.T, ddof=0), along)
    off = along.T @ mean
    fits = len(values) * off**2 <= 1.959964**2 * (centred + off**2)
    inside = grid[fits]
    assert (found.low, found.high) == pytest.approx((inside.min(), inside.max()), abs=1e-4)
    assert found.value == pytest.approx(mean[0] / (mean[0] + mean[1]))


@pytest.mark.parametrize("true", [(0.3, 0.5, 0.2), (0.05, 0.9, 0.05), (0.1, 0.1, 0.8)])
def test_shares_among_those_who_answered_cover(true):
    """Summed over every outcome, Fieller's interval holds the share among some in at least 93 %."""
    survey = choice(2, optional=True, epsilon=1.5)
    channel = survey["q"].channel
    n = 60
    reported = float(channel.p - channel.q) * np.array(true) + float(channel.q)
    outcomes = np.array(list(compositions(n, 3)))
    law = multinomial.pmf(outcomes, n, reported)
    likely = law > 1e-7
    share = true[0] / (true[0] + true[1])
    held = 0.0
    for counts, chance in zip(outcomes[likely], law[likely], strict=True):
        found = estimate(Reports.of_counts(survey, {"q": counts}), "q").among[0]
        held += chance * (found.low <= share <= found.high)
    assert held > 0.93
    assert law[likely].sum() > 0.9999


def test_unsent_questions_are_left_out():
    """Where devices send some of the questions, those that came are used, and no other."""
    reports = gathered(300, survey=SAMPLED)
    assert reports.n == 300
    assert sum(tally.n for tally in reports.tallies.values()) == 600
    tally = reports["two"]
    assert np.isnan(tally.scores[~tally.sent]).all()
    assert not np.isnan(tally.scores[tally.sent]).any()
    found = estimate(reports, "two")
    assert found.n == tally.n == tally.sent.sum()
    assert [o.share for o in found.options] == pytest.approx(np.nanmean(tally.scores, axis=0))
    assert found.kkt < 1e-9


def test_arms_and_parts():
    """Arms split the reports, and a part is what it says."""
    reports = gathered(120, survey=EVERY_KIND)
    parts = reports.by_arm()
    assert list(parts) == ["north", "south"]
    assert sum(part.n for part in parts.values()) == 120
    for name, tally in reports.tallies.items():
        total = sum(part[name].counts for part in parts.values())
        assert tally.counts.tolist() == total.tolist()
    with pytest.raises(EstimateError, match="'north', 'south'"):
        reports.arm("west")
    with pytest.raises(EstimateError, match="120 booleans"):
        reports.only(np.ones(3, dtype=np.bool_))


def test_boxes_are_named():
    """A box has the name of its question with a number, and says which box it is."""
    reports = gathered(50, survey=EVERY_KIND)
    found = estimate(reports, "drugs.2")
    assert found.box == "MDMA"
    assert isinstance(found.item, Item)
    assert [option.label for option in found.options] == ["Yes", "No"]
    with pytest.raises(EstimateError, match=r"'drugs\.1'"):
        estimate(reports, "drugs")


def test_the_published_table():
    """The table shows shares, errors, best fit and interval; shares among some come below."""
    found = estimate(Reports.of_counts(choice(2, optional=True), {"q": [60, 90, 50]}), "q")
    lines = found.table().splitlines()
    assert lines[0].split() == ["option", "share", "±", "SE", "best", "fit", "95", "%", "interval"]
    assert lines[4] == "of those who answered:"
    assert len({line.rindex(" to ") for line in lines if " to " in line}) <= 2
    assert str(found) == found.table()


def test_failures_of_other_packages_at_the_boundary():
    """Counts at which others report an error of 2e-6, or an estimate of −22 without a word."""
    warner, forced = Design(Fraction(1, 2), Fraction(1, 4)), Design(Fraction(2, 3), Fraction(1, 6))
    for count, design, share, high in [
        (40, warner, -0.1, 0.0476),
        (50, warner, 0.0, None),  # exactly what noise makes where nobody has it
        (20, forced, -0.1, 0.0192),
    ]:
        found = estimate_share(count, 200, design)
        assert found.share == pytest.approx(share, abs=1e-12)
        assert 0.03 < found.se < 0.07  # the error of the unbiased estimate, whatever its sign
        assert (found.mle, found.low) == (0, 0)
        assert high is None or found.high == pytest.approx(high, abs=4e-4)
        assert found.high > 0.01
        assert found.at_boundary
