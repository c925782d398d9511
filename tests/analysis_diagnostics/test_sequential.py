"""Intervals for daily looks: exact chance of ever missing the truth, and mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from deniable_analysis.design import Design
from deniable_analysis.intervals import interval
from deniable_analysis.sequential import (
    always_valid,
    always_valid_mean,
    daily_sentence,
    score_range,
)
from deniable_protocol import EstimateError

WARNER = Design(Fraction(1, 2), Fraction(1, 4))
LOOKS = (*range(1, 20), *range(20, 401, 20))


def chance_of_ever_missing(
    share: float, design: Design, ends: Callable[[int, int], tuple[float, float]]
) -> float:
    """Follow the exact law of the count from look to look, and take out what misses the share."""
    reported = float(design.offset) + float(design.slope) * share
    alive, before = np.ones(1), 0
    missed = 0.0
    for n in LOOKS:
        step = binom.pmf(np.arange(n - before + 1), n - before, reported)
        alive, before = np.convolve(alive, step), n
        for count in np.flatnonzero(alive > 1e-9).tolist():
            low, high = ends(count, n)
            if not low <= share <= high:
                missed += float(alive[count])
                alive[count] = 0.0
    return missed


@pytest.mark.parametrize(
    ("share", "design"), [(0.0, WARNER), (0.3, WARNER), (0.1, WARNER.mirrored)]
)
def test_never_missed_too_often(share: float, design: Design) -> None:
    """Looked at 39 times, the sequence misses with at most 10 %; ordinary intervals with more."""
    level = 0.9
    assert chance_of_ever_missing(
        share, design, lambda count, n: always_valid(count, n, design, level=level)
    ) <= 1 - level  # fmt: skip

    def ordinary(count: int, n: int) -> tuple[float, float]:
        found = interval([count], n, design, level=level, method="wilson")
        return float(found.low[0]), float(found.high[0])

    assert chance_of_ever_missing(share, design, ordinary) > 1 - level


def test_mean_never_missed_too_often() -> None:
    """The same for the mean of bounded scores."""
    low, high = score_range(WARNER, np.array([0.0, 1.0]))

    def ends(count: int, n: int) -> tuple[float, float]:
        total = count * high + (n - count) * low
        found = always_valid_mean(total, n, low, high, level=0.9, tuned_for=100)
        return found.low, found.high

    assert chance_of_ever_missing(0.3, WARNER, ends) <= 0.1


@pytest.mark.parametrize(("count", "n"), [(700, 2000), (3, 7), (0, 50), (500_000, 1_000_000)])
def test_against_mpmath(count: int, n: int) -> None:
    """The ends are where the averaged likelihood is 20 times that of the share, at 40 digits."""
    found = always_valid(count, n, WARNER)
    with mpmath.workdps(40):

        def log_likelihood(x: mpmath.mpf) -> mpmath.mpf:
            return count * mpmath.log(x) + (n - count) * mpmath.log(1 - x)

        least, most = mpmath.mpf(1) / 4, mpmath.mpf(3) / 4
        best = min(max(mpmath.mpf(count) / n, least), most)
        width = 12 * mpmath.sqrt(best * (1 - best) / n)
        near = [max(least, best - width), best, min(most, best + width)]
        points = sorted(
            set(mpmath.linspace(near[0], near[1], 12) + mpmath.linspace(near[1], near[2], 12))
        )
        average = mpmath.quad(
            lambda x: mpmath.exp(log_likelihood(x) - log_likelihood(best)), points
        ) / (most - least)
        for end, share in zip((least, most), found, strict=True):
            if 0 < share < 1:
                at = log_likelihood(least + (most - least) * mpmath.mpf(share)) - log_likelihood(
                    best
                )
                assert float(mpmath.log(average) - at) == pytest.approx(np.log(20), abs=1e-6)
            else:
                at = log_likelihood(end) - log_likelihood(best)
                assert float(mpmath.log(average) - at) <= np.log(20)


def test_impossible_reports_still_have_an_interval() -> None:
    """Whatever came, the interval is not empty; and it shrinks as reports come in."""
    assert always_valid(0, 1000, WARNER)[0] == 0
    assert always_valid(0, 1_000_000, WARNER)[1] < 1e-4
    assert always_valid(0, 0, WARNER) == (0, 1)
    widths = [np.diff(always_valid(n * 35 // 100, n, WARNER))[0] for n in (100, 1000, 10_000)]
    assert widths[0] > widths[1] > widths[2] > 0


def test_price_of_looking() -> None:
    """At 2,000 reports a daily look costs less than three quarters more length than one look."""
    once = interval([700], 2000, WARNER)
    daily = always_valid(700, 2000, WARNER)
    ratio = (daily[1] - daily[0]) / float(once.high[0] - once.low[0])
    assert 1.3 < ratio < 1.75


def test_in_words() -> None:
    """The promise is said in plain words."""
    assert daily_sentence(0.128, 0.275, 0.95) == (
        "Between 12.8 % and 27.5 %. This may be looked at as often as you like, and the survey "
        "stopped at any time: in 95 % of surveys every one of these intervals holds the true share."
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: always_valid(3, 2, WARNER), "from 0 to the number"),
        (lambda: always_valid(1, 2, WARNER, level=1.0), "level must be"),
        (lambda: always_valid_mean(1, 2, 1, 0), "finite bounds"),
        (lambda: always_valid_mean(9, 2, 0, 1), "does not fit"),
        (lambda: always_valid_mean(1, -2, 0, 1), "at least 0 reports"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    """What makes no sense is refused in words."""
    with pytest.raises(EstimateError, match=message):
        call()
    assert np.isnan(always_valid_mean(0.0, 0, 0, 1).value)
