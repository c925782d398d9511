"""Two noisy questions in one table: shares, independence, and how strongly they go together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, ndtri

from deniable_protocol import EstimateError

from .association import Association, associate
from .crosstab_scores import Pair, Variable, named, one_law
from .linear import Measured, fieller
from .paper_fit import fit_mixture, log_likelihood, profile_interval
from .reports import Reports
from .sample_design import SampleDesign
from .shares import BestFit

Floats = NDArray[np.float64]

_PROFILE_UP_TO: Final = 36
"""Cells up to which intervals are of the likelihood ratio."""
_FIT_UP_TO: Final = 20_000_000
"""Rows times cells up to which the best fit is looked for."""
_WALD_UP_TO: Final = 225


@dataclass(frozen=True)
class Independence:
    """Hold a test of independence of the true answers.

    Attributes:
        statistic: χ².
        df: Degrees of freedom.
        pvalue: Chance of a statistic as large where the true answers are independent.
        method: ``pearson`` on the noisy table, or ``wald`` on the de-biased covariance.
    """

    statistic: float
    df: int
    pvalue: float
    method: Literal["pearson", "wald", "likelihood-ratio"]


@dataclass(frozen=True, eq=False)
class CrossTab:
    """The joint shares of two variables.

    Attributes:
        names: Names of both variables.
        rows: States of the first.
        columns: States of the second.
        shares: Unbiased joint shares, the mean of z₁ z₂ᵀ; never clipped; shape (rows, columns).
        errors: Their standard errors.
        low: Lower ends of intervals, each for its own cell, within [0, 1].
        high: Upper ends.
        fit: The best fit of the cells, row by row; None where there are too many to look for it.
        independence: Test of independence; None where it cannot be made.
        level: Confidence level.
        pair: The reports.
    """

    names: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    shares: Floats
    errors: Floats
    low: Floats
    high: Floats
    fit: BestFit | None
    independence: Independence | None
    level: float
    pair: Pair

    @property
    def n(self) -> int:
        """Number of respondents with a report to both."""
        return self.pair.n

    @property
    def best(self) -> Floats:
        """Joint shares of the best fit: from 0 to 1, adding to 1; NaN where there is none."""
        if self.fit is None:
            return np.full(self.shares.shape, np.nan)
        return self.fit.shares.reshape(self.shares.shape)

    @property
    def at_boundary(self) -> bool:
        """Whether a cell's best fit is 0, or an unbiased share is not from 0 to 1."""
        return bool(np.any(self.best == 0) or np.any((self.shares < 0) | (self.shares > 1)))

    def conditional(self, row: str, column: str) -> Measured:
        """Estimate the share of *column* among those whose first true answer is *row*.

        The interval is Fieller's, which grows to [0, 1] where hardly anyone is in the row.
        """
        first, second = self.pair.scores
        inside = first[:, self._place(row, self.rows)]
        top = inside * second[:, self._place(column, self.columns)]
        means, covariance = self.pair.means(np.column_stack([top, inside]))
        if means[1] == 0 or not np.all(np.isfinite(covariance)):
            return Measured(math.nan, math.nan, 0.0, 1.0)
        value = float(means[0] / means[1])
        along = np.array([1.0, -value])
        se = math.sqrt(max(float(along @ covariance @ along), 0.0)) / abs(float(means[1]))
        z = float(ndtri((1 + self.level) / 2))
        return Measured(value, se, *fieller(means, covariance, z, 0.0, 1.0))

    def association(self, row: str, column: str, *, other: str | None = None) -> Association:
        """Say how much more common *column* is among those in *row* than among others.

        Args:
            row: A state of the first variable.
            column: A state of the second.
            other: The state of the first to compare with; None for everybody else.
        """
        places = self._place(row, self.rows), self._place(column, self.columns)
        against = None if other is None else self._place(other, self.rows)
        return associate(self.pair, *places, against, self.level)

    def likelihood_ratio(self) -> Independence:
        """Test independence by the likelihood ratio of constrained fits.

        Where cells are rare it is very conservative: ``independence`` is the better test.
        """
        if self.fit is None or self.pair.sample is not None:
            raise EstimateError("the likelihood ratio needs a best fit without survey weights")
        counts = self.pair.times
        free = log_likelihood(self.pair.likelihoods(), counts, self.fit.shares)
        bound = 0.0
        for variable in (self.pair.first, self.pair.second):
            rows = variable.likelihoods[variable.codes]
            bound += log_likelihood(rows, counts, fit_mixture(rows, counts).shares)
        df = (len(self.rows) - 1) * (len(self.columns) - 1)
        statistic = max(2 * (free - bound), 0.0)
        return Independence(statistic, df, float(chdtrc(df, statistic)), "likelihood-ratio")

    def _place(self, state: str, states: tuple[str, ...]) -> int:
        if state not in states:
            raise EstimateError(f"expected one of {', '.join(map(repr, states))}, got {state!r}")
        return states.index(state)

    def __str__(self) -> str:
        return written(self)


def crosstab(
    source: Reports | Mapping[str, Variable],
    first: str,
    second: str,
    *,
    sample: SampleDesign | None = None,
    counts: ArrayLike | None = None,
    level: float = 0.95,
) -> CrossTab:
    """Relate the true answers to two questions, from noisy reports to both.

    The noises are independent, so the product of two de-biased scores is unbiased for the true
    pair of answers, and the mean of z₁ z₂ᵀ for the joint shares. For the same reason Pearson's
    test on the noisy table is a valid test of independence of the true answers.

    Privacy:
        None is spent (post-processing); the odds of two reports multiply, as their survey says.

    Args:
        source: Reports to a survey; or variables by name: ``Reported``, paper answers, tallies.
        first: Name of the first variable, the table's rows.
        second: Name of the second.
        sample: Weights, strata and clusters. A finite population is taken as one without end.
        counts: How many respondents each row stands for.
        level: Confidence level of each interval by itself.

    Raises:
        EstimateError: If there is no such variable, they are not of the same respondents, or only
            counts are known of each.

    References:
        [HH02] A. van den Hout and P. G. M. van der Heijden, Randomized Response, Statistical
        Disclosure Control and Misclassification, International Statistical Review 70 (2002).
        [Kra80] H. C. Kraemer, Estimation and Testing of Bivariate Association Using Data Generated
        by the Randomized Response Technique, Psychological Bulletin 87 (1980), 304-308.

    >>> from fractions import Fraction
    >>> from deniable_analysis import Design, Reported
    >>> design = Design(slope=Fraction(3, 5), offset=Fraction(1, 5))
    >>> answers = {"fraud": Reported.of([1, 1, 0, 0], design, states=["no", "yes"]),
    ...            "work": Reported.of([1, 0, 1, 0], design, states=["no", "yes"])}
    >>> print(crosstab(answers, "fraud", "work", counts=[68, 52, 103, 189]))
    fraud   work = no                   work = yes
    no      66.7 % (56.1 % to 72.2 %)   18.1 % (10.6 % to 28.0 %)
    yes     −2.5 % (0.0 % to 5.4 %)     17.7 % (10.3 % to 23.1 %)
    412 respondents; unbiased shares with 95 % intervals, each for its own cell.
    Independence of the true answers: χ²(1) = 16.03, p-value < 0.0001.
    """
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")
    if first == second:
        raise EstimateError(f"expected two different variables, got {first!r} twice")
    pair = Pair.of(named(source, first), named(source, second), counts, sample)
    shares, errors = pair.cells()
    fit = None
    if len(pair.counts) * len(shares) <= _FIT_UP_TO:
        fit = fit_mixture(pair.likelihoods(), pair.times)
    low, high = _intervals(pair, shares, errors, fit, level)
    shape = len(pair.first.states), len(pair.second.states)
    return CrossTab(
        names=(first, second),
        rows=pair.first.states,
        columns=pair.second.states,
        shares=shares.reshape(shape),
        errors=errors.reshape(shape),
        low=low.reshape(shape),
        high=high.reshape(shape),
        fit=fit,
        independence=_independence(pair),
        level=level,
        pair=pair,
    )


def _intervals(
    pair: Pair, shares: Floats, errors: Floats, fit: BestFit | None, level: float
) -> tuple[Floats, Floats]:
    if fit is not None and pair.sample is None and len(shares) <= _PROFILE_UP_TO:
        rows = pair.likelihoods()
        if len(rows) <= 1000:
            ends = [
                profile_interval(rows, pair.times, fit, cell, level) for cell in range(len(shares))
            ]
            low, high = np.array(ends).T
            return low, high
    half = float(ndtri((1 + level) / 2)) * errors
    return np.clip(shares - half, 0, 1), np.clip(shares + half, 0, 1)


def _independence(pair: Pair) -> Independence | None:
    laws = one_law(pair.first), one_law(pair.second)
    if pair.sample is None and all(law is not None for law in laws):
        return _pearson(pair)
    return _wald(pair)


def _pearson(pair: Pair) -> Independence | None:
    """Test on the noisy table: λ = (P₁ ⊗ P₂) π, and π factors if and only if λ does."""
    one, rows = np.unique(pair.first.codes, return_inverse=True)
    two, columns = np.unique(pair.second.codes, return_inverse=True)
    table = np.zeros((len(one), len(two)))
    np.add.at(table, (rows, columns), pair.counts)
    df = (len(one) - 1) * (len(two) - 1)
    if df == 0:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return Independence(statistic, df, float(chdtrc(df, statistic)), "pearson")


def _wald(pair: Pair) -> Independence | None:
    left, right = (scores[:, 1:] for scores in pair.scores)
    df = left.shape[1] * right.shape[1]
    if df > _WALD_UP_TO or pair.n <= df:
        return None
    weights = pair.times / pair.times.sum()
    left, right = left - weights @ left, right - weights @ right
    products = (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
    means, covariance = pair.means(products)
    if np.linalg.matrix_rank(covariance) < df:
        return None
    statistic = float(means @ np.linalg.solve(covariance, means))
    return Independence(statistic, df, float(chdtrc(df, statistic)), "wald")


def written(found: CrossTab) -> str:
    """Write a table as plain text."""
    heads = [found.names[0], *(f"{found.names[1]} = {state}" for state in found.columns)]
    lines = [
        [state]
        + [
            f"{_percent(share)} ({_percent(low)} to {_percent(high)})"
            for share, low, high in zip(shares, lows, highs, strict=True)
        ]
        for state, shares, lows, highs in zip(
            found.rows, found.shares, found.low, found.high, strict=True
        )
    ]
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    text = [
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [heads, *lines]
    ]
    percent = f"{round(100 * found.level, 10):g} %"
    text.append(
        f"{found.n:,} respondents; unbiased shares with {percent} intervals, each for its own cell."
    )
    test = found.independence
    if test is not None:
        chance = "< 0.0001" if test.pvalue < 1e-4 else f"{test.pvalue:.4f}"
        text.append(
            f"Independence of the true answers: χ²({test.df}) = {test.statistic:.2f}, "
            f"p-value {chance}."
        )
    return "\n".join(text)


def _percent(share: float) -> str:
    rounded = round(100 * share, 1) + 0.0
    return f"{'−' if rounded < 0 else ''}{abs(rounded):.1f} %"
