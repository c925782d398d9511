"""Point estimates: unbiased by exact sums, and the maximum likelihood three ways."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from deniable_analysis.design import Design
from deniable_analysis.shares import fit_counts, fit_subsets, moments, nearest_shares
from deniable_protocol import Channel

from .samples import WARNER, WIDE, compositions, draw, likelihood_matrix, packed

CHANNELS = [
    WARNER,
    Channel(4, 1, Fraction(3, 2)),
    Channel(5, 1, Fraction(20)),
    Channel(4, 2, Fraction(3)),
    WIDE,
]


def em(matrix: NDArray[np.float64], times: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Maximise a mixture's likelihood by the textbook's EM, from the middle."""
    shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
    for _ in range(steps):
        mixture = matrix @ shares
        shares = shares * (matrix.T @ (times / mixture)) / times.sum()
    return shares


def log_likelihood(
    matrix: NDArray[np.float64], times: NDArray[np.float64], shares: NDArray[np.float64]
) -> float:
    return float(times @ np.log(matrix @ shares))


@pytest.mark.parametrize("channel", [c for c in CHANNELS if c.subset == 1])
def test_water_filling_is_em_and_brute_force(channel):
    """For every count vector of six reports: equal to EM, and no point of a fine grid is better."""
    matrix, subsets = likelihood_matrix(channel)
    assert [s[0] for s in subsets] == list(range(channel.options))
    grid = np.array(list(compositions(20, channel.options))) / 20
    scores = np.log(grid @ matrix.T)
    for counts in compositions(6, channel.options):
        times = np.array(counts)
        found = fit_counts(times, channel)
        assert found.kkt < 1e-12
        assert found.shares.sum() == pytest.approx(1, abs=1e-12)
        value = log_likelihood(matrix, times, found.shares)
        assert value >= (scores @ times).max() - 1e-12
    # EM creeps where a share is 0, so it is asked for the likelihood and not for the shares.
    for counts in list(compositions(6, channel.options))[:: max(1, channel.options**2)]:
        times = np.array(counts, dtype=np.float64)
        best = log_likelihood(matrix, times, fit_counts(np.array(counts), channel).shares)
        assert log_likelihood(matrix, times, em(matrix, times, 20_000)) == pytest.approx(
            best, abs=1e-3
        )


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("people", [1, 2, 40, 3_000])
def test_subset_fit_is_em_and_meets_its_conditions(channel, people):
    """The Newton fit is never worse than 5,000 EM steps, its conditions hold to 1e-9."""
    rng = np.random.default_rng(people)
    answers = rng.choice(channel.options, people, p=rng.dirichlet(np.full(channel.options, 0.4)))
    drawn = draw(channel, answers, rng)
    found = fit_subsets(packed(channel, drawn), channel)
    matrix, subsets = likelihood_matrix(channel)
    place = {subset: index for index, subset in enumerate(subsets)}
    times = np.bincount([place[tuple(row)] for row in drawn.tolist()], minlength=len(subsets))
    assert found.kkt < 1e-9
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1, abs=1e-12)
    value = log_likelihood(matrix, times, found.shares)
    assert value >= log_likelihood(matrix, times, em(matrix, times, 5_000)) - 1e-9
    if channel.subset == 1:
        counts = np.bincount(drawn[:, 0], minlength=channel.options)
        assert found.shares == pytest.approx(fit_counts(counts, channel).shares, abs=1e-7)


def test_broken_fits_are_caught():
    """Clipping and renormalising, and a fit for other odds, break the conditions that are kept."""
    counts = np.array([2, 90, 60, 48])
    channel = Channel(4, 1, Fraction(3))
    matrix, _ = likelihood_matrix(channel)
    best = fit_counts(counts, channel).shares
    design = Design.of(channel)
    clipped = np.maximum(moments(counts, 200, design)[0], 0)
    wrong = fit_counts(counts, Channel(4, 1, Fraction(4))).shares
    for shares in (clipped / clipped.sum(), wrong):
        assert log_likelihood(matrix, counts, shares) < log_likelihood(matrix, counts, best) - 1e-3
        ratios = matrix.T @ (counts / (matrix @ shares)) / 200
        assert np.abs(ratios[shares > 0] - 1).max() > 1e-2


def test_times_count_rows():
    """A row that counts twice is a row that is there twice."""
    rng = np.random.default_rng(1)
    bits = packed(WIDE, draw(WIDE, rng.integers(0, 7, 60), rng))
    twice = fit_subsets(np.concatenate([bits, bits[:20]]), WIDE)
    times = np.ones(60)
    times[:20] = 2
    assert fit_subsets(bits, WIDE, times).shares == pytest.approx(twice.shares, abs=1e-8)


@pytest.mark.parametrize("design", [Design.of(WARNER), Design(Fraction(-1, 3), Fraction(1, 2))])
def test_moments_are_unbiased_exactly(design):
    """Summed over every count, the estimate is the truth and the squared error its variance."""
    n = 9
    counts = np.arange(n + 1)
    shares, errors = moments(counts, n, design)
    for true in np.linspace(0, 1, 11):
        law = binom.pmf(counts, n, float(design.slope) * true + float(design.offset))
        assert law @ shares == pytest.approx(true, abs=1e-12)
        variance = law @ (shares - true) ** 2
        assert law @ errors**2 == pytest.approx(variance, abs=1e-12)
        # Clipping the estimate, which other programs do, is caught.
        if true in (0.0, 1.0):
            assert abs(law @ np.clip(shares, 0, 1) - true) > 0.05


def test_published_moments():
    """Warner, forced response and the counts of a published unemployment study."""
    forced = Design(Fraction(2, 3), Fraction(1, 6))
    share, error = moments(np.array([831]), 2435, forced)
    assert (share[0], error[0]) == pytest.approx((0.2619097, 0.0144127), abs=4e-6)
    kept = Design(Fraction(3, 5), Fraction(1, 5))
    share, error = moments(np.array([120]), 412, kept)
    assert (share[0], error[0]) == pytest.approx((0.152104, 0.037352), abs=1e-6)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8))
def test_nearest_shares_are_shares(values):
    """The projection is a point of the simplex, and no corner or middle is nearer."""
    found = nearest_shares(np.array(values))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    others = [*np.eye(len(values)), np.full(len(values), 1 / len(values))]
    distance = np.linalg.norm(found - values)
    assert all(distance <= np.linalg.norm(other - values) + 1e-9 for other in others)
