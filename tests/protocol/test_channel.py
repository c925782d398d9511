"""The channel: the published accuracy table, the best subset, and ranges."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable_protocol import Channel, ChannelError, odds_at_most
from deniable_protocol.channel import epsilon_of

TABLE = [
    (0.5, 5, 2, "50.26"), (0.5, 10, 4, "127.2"), (1, 2, 1, "2.341"), (1, 10, 3, "30.00"),
    (1, 100, 27, "360.9"), (2, 10, 1, "5.922"), (2, 100, 12, "70.97"), (4, 100, 2, "7.473"),
    (4, 1000, 18, "75.87"),
]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "options", "subset", "variance"), TABLE)
def test_best_matches_the_table(epsilon: float, options: int, subset: int, variance: str) -> None:
    """Subset sizes and total variances are those of the measured comparison with other methods."""
    channel = Channel.best(options, odds_at_most(epsilon))
    assert channel.subset == subset
    digits = len(variance.partition(".")[2])
    assert abs(float(channel.variance()) - float(variance)) <= 0.6 * 10**-digits


@given(st.integers(2, 120), st.fractions(Fraction(1001, 1000), 60, max_denominator=1000))
def test_best_is_best(options: int, odds: Fraction) -> None:
    """No subset size has less variance: every one is tried."""
    every = [Channel(options, d, odds) for d in range(1, options)]
    assert Channel.best(options, odds) == min(every, key=Channel.variance)


@given(st.floats(0.001, 15))
def test_odds_never_exceed_epsilon(epsilon: float) -> None:
    """The odds are at most e^ε, judged with 60 digits, and close to it."""
    odds = odds_at_most(epsilon)
    with mpmath.workdps(60):
        exact = mpmath.exp(mpmath.mpf(epsilon))
        ours = mpmath.mpf(odds.numerator) / odds.denominator
        assert ours <= exact
        assert exact - ours < mpmath.mpf(1) / 990
    assert odds.denominator <= 1000


@given(st.fractions(Fraction(1001, 1000), 10**6, max_denominator=10**6))
def test_epsilon_is_rounded_up(odds: Fraction) -> None:
    """A stated ε is never below ln(odds)."""
    with mpmath.workdps(60):
        exact = mpmath.log(mpmath.mpf(odds.numerator) / odds.denominator)
        assert exact <= mpmath.mpf(epsilon_of(odds)) <= exact + mpmath.mpf(10) ** -13


def test_named_epsilons() -> None:
    """Ln 3 gives 3:1, as a float and as a decimal text of it."""
    assert odds_at_most(math.log(3)) == 3
    assert odds_at_most(Decimal("1.1")) == odds_at_most(Fraction(11, 10))


@pytest.mark.parametrize(
    "epsilon",
    [0, -1, 800, 1e-9, math.nan, math.inf, -math.inf, 10**400, Decimal("NaN"), Decimal("Infinity"),
     True, "1", None],
)  # fmt: skip
def test_no_such_epsilon(epsilon: Any) -> None:
    """Zero, negative, infinite, huge and not-a-number are refused in words."""
    with pytest.raises(ChannelError, match="epsilon must be"):
        odds_at_most(epsilon)


@pytest.mark.parametrize(
    ("options", "subset", "odds"),
    [(1, 1, 3), (1001, 1, 3), (2, 0, 3), (2, 2, 3), (2.0, 1, 3), (True, 1, 3), (2, 1, 1),
     (2, 1, Fraction(1, 2)), (2, 1, 3.0), (2, 1, True), (2, 1, 2**32), (2, 1, None)],
)  # fmt: skip
def test_no_such_channel(options: Any, subset: Any, odds: Any) -> None:
    """Anything out of range is refused: no channel without noise, none without a signal."""
    with pytest.raises(ChannelError):
        Channel(options, subset, odds)


def test_law_limits() -> None:
    """A law that is too long to list, or of an option that is not there, is refused."""
    with pytest.raises(ChannelError, match="too many"):
        Channel(100, 27, Fraction(3)).law(0)
    with pytest.raises(ChannelError, match="0 to 1"):
        Channel(2, 1, Fraction(3)).law(2)
