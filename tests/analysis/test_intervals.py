"""Intervals: against reference values, exact coverage by enumeration, and never empty."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from deniable_analysis import METHODS, Design, Method, interval
from deniable_analysis.intervals import EXACT_UP_TO, unclipped
from deniable_protocol import EstimateError

WARNER = Design(Fraction(1, 2), Fraction(1, 4))
FORCED = Design(Fraction(2, 3), Fraction(1, 6))
CROSSWISE = Design(Fraction(-1, 2), Fraction(3, 4))
DICE = Design(Fraction(-681075, 10**6), Fraction(8405375, 10**7))
REFERENCE = Path(__file__).parents[3] / "shared/reference/survey/ci_reference.json"
KEYS: dict[Method, str] = {
    "wald": "wald",
    "wilson": "wilson",
    "clopper-pearson": "clopper_pearson",
    "likelihood-ratio": "lr_constrained",
    "feldman-cousins": "feldman_cousins_grid2e-4",
}

# Count, reports, design: Wilson, Clopper-Pearson (neither clipped), likelihood ratio,
# Feldman-Cousins (taken on a grid of 2e-4 by another implementation).
PUBLISHED = [
    (12, 50, WARNER, (-0.214052, 0.248254), (-0.238780, 0.263381), (0, 0.239986), (0, 0.2534)),
    (40, 200, WARNER, (-0.199096, 0.021710), (-0.206211, 0.024453), (0, 0.058033), (0, 0.0476)),
    (60, 200, WARNER, (-0.018505, 0.233581), (-0.025221, 0.237300), (0, 0.231556), (0, 0.2332)),
    (
        831,
        2435,
        FORCED,
        (0.234056, 0.290513),
        (0.233654, 0.290739),
        (0.233922, 0.290398),
        (0.2338, 0.2904),
    ),
    (20, 200, FORCED, (-0.151494, -0.025891), (-0.156761, -0.024681), (0, 0.027549), (0, 0.0192)),
    (
        198,
        310,
        CROSSWISE,
        (0.119630, 0.332323),
        (0.115513, 0.335007),
        (0.118233, 0.331495),
        (0.1178, 0.3346),
    ),
    (
        859,
        1150,
        DICE,
        (0.101757, 0.175461),
        (0.100836, 0.175832),
        (0.101341, 0.175076),
        (0.1014, 0.1752),
    ),
]


@pytest.mark.parametrize(("count", "n", "design", "wilson", "exact", "ratio", "unified"), PUBLISHED)
def test_published_intervals(count, n, design, wilson, exact, ratio, unified):
    """Seven intervals computed elsewhere come out to their last printed digit."""
    for method, expected, tolerance in [
        ("wilson", wilson, 1e-6),
        ("clopper-pearson", exact, 1e-6),
        ("likelihood-ratio", ratio, 1e-6),
        ("feldman-cousins", unified, 4e-4),
    ]:
        low, high, _ = unclipped([count], n, design, method=method)
        assert (low[0], high[0]) == pytest.approx(expected, abs=tolerance), method


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference data is not beside this clone")
def test_all_reference_intervals():
    """All 22 reference cases agree for all five methods."""
    cases = json.loads(REFERENCE.read_text())
    assert len(cases) == 22
    for case in cases:
        design = Design(*(_exact(case[key]) for key in ("slope", "lambda0")))
        for method, key in KEYS.items():
            low, high, _ = unclipped([case["k"]], case["n"], design, method=method)
            tolerance = 4e-4 if method == "feldman-cousins" else 1e-6
            assert (low[0], high[0]) == pytest.approx(case[key], abs=tolerance), (case, method)


def _exact(value: float) -> Fraction:
    """Undo the rounding of 1/6 and of decimals with seven places."""
    short = Fraction(value).limit_denominator(12)
    return short if abs(short - Fraction(value)) < 1e-12 else Fraction(f"{value:.7f}")


def coverage(
    low: NDArray[np.float64], high: NDArray[np.float64], design: Design, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum the probability of every count whose interval holds the share: exact, no simulation."""
    n = len(low) - 1
    reported = float(design.slope) * shares + float(design.offset)
    law = binom.pmf(np.arange(n + 1)[:, None], n, reported)
    # An end may be a tie computed twice; what is within rounding of it is inside.
    holds = (low[:, None] <= shares + 1e-12) & (shares - 1e-12 <= high[:, None])
    return (law * holds).sum(axis=0)


GRID = np.linspace(0, 0.5, 1001)  # the other half mirrors it for Warner's design

# Exact coverage at shares 0, .01, .05, .2 and .5 as another implementation enumerated it.
PUBLISHED_COVERAGE = [
    (50, "wilson", (0.971, 0.949, 0.943, 0.963, 0.935)),
    (50, "likelihood-ratio", (0.971, 0.983, 0.981, 0.963, 0.935)),
    (50, "clopper-pearson", (0.986, 0.967, 0.962, 0.963, 0.967)),
    (50, "feldman-cousins", (0.971, 0.965, 0.962, 0.963, 0.967)),
    (200, "wilson", (0.977, 0.958, 0.953, 0.955, 0.944)),
    (200, "likelihood-ratio", (0.977, 0.977, 0.972, 0.955, 0.944)),
    (200, "clopper-pearson", (0.977, 0.958, 0.960, 0.955, 0.960)),
    (200, "feldman-cousins", (0.955, 0.954, 0.955, 0.955, 0.960)),
    (1000, "wilson", (0.973, 0.954, 0.949, 0.950, 0.946)),
    (1000, "likelihood-ratio", (0.977, 0.976, 0.949, 0.950, 0.946)),
    (1000, "clopper-pearson", (0.977, 0.954, 0.953, 0.953, 0.954)),
    (1000, "feldman-cousins", (0.956, 0.955, 0.957, 0.957, 0.954)),
]


@pytest.mark.parametrize(("n", "method", "expected"), PUBLISHED_COVERAGE)
def test_published_coverage(n, method, expected):
    """Exact coverage at Warner's 3/4 is the published one, to its third digit.

    It counts an interval that misses [0, 1] as its nearest end, as ``interval`` does.
    """
    ends = interval(np.arange(n + 1), n, WARNER, method=method)
    found = coverage(ends.low, ends.high, WARNER, np.array([0, 0.01, 0.05, 0.2, 0.5]))
    # Feldman-Cousins was published from a grid of shares, which moves an end by up to 2e-4, and
    # with it, at n = 1000, a count that had 0.4 % by itself.
    assert found == pytest.approx(expected, abs=5e-3 if method == "feldman-cousins" else 6e-4)


@pytest.mark.parametrize(
    ("n", "method", "least"),
    [
        (50, "wald", 0.912),
        (50, "wilson", 0.934),
        (50, "likelihood-ratio", 0.934),
        (200, "wald", 0.936),
        (200, "wilson", 0.940),
        (200, "likelihood-ratio", 0.941),
        (1000, "wald", 0.945),
        (1000, "wilson", 0.945),
        (1000, "likelihood-ratio", 0.945),
    ],
)
def test_least_coverage(n, method, least):
    """What is said of approximate methods holds: this is their least exact coverage."""
    low, high, _ = unclipped(np.arange(n + 1), n, WARNER, method=method)
    assert least <= coverage(low, high, WARNER, GRID).min() < least + 1.1e-3


@pytest.mark.parametrize("method", ["feldman-cousins", "clopper-pearson"])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize(
    "design", [WARNER, CROSSWISE, FORCED, DICE, Design(1, 0), Design(Fraction(1, 50), 0)]
)
def test_coverage_is_at_least_the_level(method, level, design):
    """Exact coverage is never below the level, at any of 801 shares, 7 sizes and 6 designs."""
    shares = np.linspace(0, 1, 801)
    for n in (1, 2, 3, 5, 12, 41, 120):
        found = interval(np.arange(n + 1), n, design, level=level, method=method)
        assert coverage(found.low, found.high, design, shares).min() >= level - 1e-9, n


@pytest.mark.parametrize("n", [50, 200, 1000])
def test_broken_intervals_are_caught(n):
    """Clipping the estimate and then using its curvature covers half of the time near 0."""
    counts = np.arange(n + 1)
    share = np.clip((counts / n - 0.25) / 0.5, 1e-8, 1 - 1e-8)
    error = np.sqrt(share * (1 - share) / n)
    found = coverage(share - 1.96 * error, share + 1.96 * error, WARNER, GRID)
    assert found.min() < 0.6
    # So are an interval that forgets the design, and one made for another level.
    low, high, _ = unclipped(counts, n, Design(1, 0), method="feldman-cousins")
    assert coverage(low, high, WARNER, GRID).min() < 0.5
    low, high, _ = unclipped(counts, n, WARNER, level=0.9, method="feldman-cousins")
    assert coverage(low, high, WARNER, GRID).min() < 0.94


@pytest.mark.parametrize("method", ["feldman-cousins", "likelihood-ratio"])
@pytest.mark.parametrize(
    "design", [WARNER, FORCED, CROSSWISE, Design(1, 0), Design(Fraction(1, 9), Fraction(1, 3))]
)
def test_never_empty(method, design):
    """Constrained methods hold the most likely share, for every count of up to 25 reports."""
    slope, offset = float(design.slope), float(design.offset)
    for n in range(1, 26):
        counts = np.arange(n + 1)
        best = np.clip((counts / n - offset) / slope, 0, 1)
        low, high, _ = unclipped(counts, n, design, method=method)
        assert np.all(low >= -1e-12)
        assert np.all(high <= 1 + 1e-12)
        assert np.all((low <= best + 1e-9) & (best <= high + 1e-9))
        assert not interval(counts, n, design, method=method).outside.any()


@pytest.mark.parametrize("design", [WARNER, FORCED, Design(Fraction(1, 10), Fraction(9, 10))])
@pytest.mark.parametrize("n", [1, 4, 9, 30])
def test_feldman_cousins_is_the_hull_of_its_acceptance_sets(design, n):
    """Ranking all counts by likelihood ratio, one share at a time, gives the same intervals."""
    step = 1 / 1000
    shares = np.linspace(0, 1, 1001)
    found = interval(np.arange(n + 1), n, design, method="feldman-cousins")
    held = np.array([_accepted(n, design, share) for share in shares])
    for count in range(n + 1):
        mine = shares[held[:, count]]
        assert found.low[count] <= mine.min() + 1e-9
        assert mine.max() <= found.high[count] + 1e-9
        assert mine.min() - found.low[count] <= step + 1e-9
        assert found.high[count] - mine.max() <= step + 1e-9


def _accepted(n: int, design: Design, share: float) -> NDArray[np.bool_]:
    counts = np.arange(n + 1)
    least, most = float(design.offset), float(design.offset + design.slope)
    reported = least + share * (most - least)
    law = binom.pmf(counts, n, reported)
    rank = law / binom.pmf(counts, n, np.clip(counts / n, least, most))
    # Counts of equal rank are taken in together.
    ahead = [law[rank > own * (1 + 1e-9)].sum() for own in rank]
    return np.array(ahead) < 0.95


def test_feldman_cousins_ends_are_exact():
    """Just outside an end a count is rejected and just inside it is accepted, to 1e-9."""
    found = interval(np.arange(51), 50, WARNER, method="feldman-cousins")
    for count, high in enumerate(found.high.tolist()):
        if high < 1:
            assert _accepted(50, WARNER, high - 1e-9)[count]
            assert not _accepted(50, WARNER, high + 1e-9)[count]


def test_a_negative_slope_mirrors():
    """A design that reports the opposite gives the interval of the opposite count."""
    for method in METHODS:
        there = unclipped([3, 20], 50, CROSSWISE, method=method)
        back = unclipped([47, 30], 50, WARNER, method=method)
        np.testing.assert_allclose(there[:2], back[:2], atol=1e-12)


def test_an_interval_that_misses_the_shares_is_marked():
    """Wilson and Clopper-Pearson may miss [0, 1]; the nearest end then stands in, flagged."""
    for method in ("wilson", "clopper-pearson", "wald"):
        found = interval([20, 180, 100], 200, FORCED, method=method)
        assert found.outside.tolist() == [True, True, False]
        assert (found.low[0], found.high[0]) == (0, 0)
        assert (found.low[1], found.high[1]) == (1, 1)


def test_no_reports_say_nothing():
    """Without reports every share is possible, whatever the method."""
    for method in METHODS:
        found = interval([0, 0], 0, WARNER, method=method)
        assert (found.low.tolist(), found.high.tolist()) == ([0, 0], [1, 1])
        assert not found.outside.any()


def test_the_default_method_follows_the_number_of_reports():
    """Feldman-Cousins is the default up to 10,000 reports, the likelihood ratio above."""
    assert interval([4000], EXACT_UP_TO, WARNER).method == "feldman-cousins"
    assert interval([4000], EXACT_UP_TO + 1, WARNER).method == "likelihood-ratio"
    exact, ratio = (interval([4000], 10_000, WARNER, method=m) for m in METHODS[:2])
    assert exact.low == pytest.approx(ratio.low, abs=5e-4)
    assert exact.high == pytest.approx(ratio.high, abs=5e-4)


@pytest.mark.parametrize(
    ("counts", "n", "options", "words"),
    [
        ([-1], 10, {}, "counts must be from 0"),
        ([11], 10, {}, "counts must be from 0"),
        ([1.5], 10, {}, "whole numbers"),
        ([1], 10, {"level": 1.0}, "level must be between 0 and 1"),
        ([1], 10, {"level": float("nan")}, "level must be between 0 and 1"),
        ([1], 10, {"method": "guess"}, "method must be one of feldman-cousins"),
    ],
)
def test_what_cannot_be_is_refused(counts, n, options, words):
    """Counts, levels and methods out of range are errors that say what was expected."""
    with pytest.raises(EstimateError, match=words):
        interval(counts, n, WARNER, **options)


@pytest.mark.parametrize("slope", [Fraction(0), Fraction(4, 5), Fraction(-1, 2)])
def test_impossible_designs_are_refused(slope):
    """A slope of 0, or one that leaves 0 to 1, is no design."""
    with pytest.raises(EstimateError):
        Design(slope, Fraction(1, 4))
