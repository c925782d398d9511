"""Means of products of de-biased scores, with their covariance: what tables are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import EstimateError

from .paper_data import PaperAnswers
from .reported import Reported
from .reports import Reports
from .sample_design import SampleDesign
from .tally import Tally

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Variable = Reported | Tally | PaperAnswers


@dataclass(frozen=True, eq=False)
class Pair:
    """Hold two variables of the same respondents, those with a report to both.

    Without a sample design, respondents with the same two reports are put together.

    Attributes:
        first: Reports of the first variable, one for each row.
        second: Reports of the second.
        counts: Respondents of each row.
        sample: The sample design, row by row; None where every respondent counts alike.
        lost: Respondents without a report to one of the two.
    """

    first: Reported
    second: Reported
    counts: Codes
    sample: SampleDesign | None
    lost: int

    @classmethod
    def of(
        cls,
        first: Variable,
        second: Variable,
        counts: ArrayLike | None,
        sample: SampleDesign | None,
    ) -> Pair:
        """Put two variables side by side.

        Raises:
            EstimateError: If they are not of the same respondents, or nobody reported both.
        """
        one, two = reported(first), reported(second)
        if one.n != two.n or (sample is not None and sample.n != one.n):
            raise EstimateError(
                f"expected one row for each respondent, in the same order, got {one.n} and {two.n}"
            )
        times = np.ones(one.n, dtype=np.int64) if counts is None else np.asarray(counts)
        if times.shape != (one.n,) or times.dtype.kind not in "iu" or np.any(times < 0):
            raise EstimateError(f"counts must be {one.n} whole numbers of at least 0")
        if sample is not None and counts is not None:
            raise EstimateError("counts and a sample design do not go together")
        both = one.sent & two.sent
        lost = int(times[~both].sum())
        if not times[both].any():
            raise EstimateError("nobody reported both variables")
        one, two, times = one.only(both), two.only(both), times[both]
        if sample is not None:
            endless = sample.infinite
            return cls(one, two, times, endless if both.all() else endless.only(both), lost)
        keys, first_of, place = np.unique(
            one.codes * (two.codes.max() + 1) + two.codes, return_index=True, return_inverse=True
        )
        totals = np.zeros(len(keys), dtype=np.int64)
        np.add.at(totals, place, times)
        return cls(one.only(first_of), two.only(first_of), totals, None, lost)

    @property
    def n(self) -> int:
        """Number of respondents with both reports."""
        return int(self.counts.sum())

    @property
    def times(self) -> Floats:
        """How much each row counts: respondents, times their weight."""
        weights = np.ones(len(self.counts)) if self.sample is None else self.sample.weights
        return np.asarray(self.counts * weights, dtype=np.float64)

    @cached_property
    def scores(self) -> tuple[Floats, Floats]:
        """De-biased indicators of both variables, each of shape (rows, states)."""
        first, second = self.first, self.second
        return first.scores[first.codes], second.scores[second.codes]

    def means(self, columns: Floats) -> tuple[Floats, Floats]:
        """Average columns over respondents; also the covariance of the averages."""
        weights = self.times / self.times.sum()
        means = np.asarray(weights @ columns, dtype=np.float64)
        off = columns - means
        if self.sample is not None:
            total = float(self.times.sum())
            return means, self.sample.covariance_of_total(off) / total**2
        if self.n < 2:
            return means, np.full((len(means), len(means)), np.nan)
        spread = (off * self.counts[:, None]).T @ off / (self.n * (self.n - 1))
        return means, np.asarray(spread, dtype=np.float64)

    def cells(self) -> tuple[Floats, Floats]:
        """Average every product z₁ z₂ᵀ; also the standard errors. Cells go row by row."""
        left, right = self.scores
        if self.sample is None:
            weights = (self.counts / self.n)[:, None]
            means = (left * weights).T @ right
            squares = (left**2 * weights).T @ right**2
            with np.errstate(invalid="ignore", divide="ignore"):
                errors = np.sqrt(np.maximum(squares - means**2, 0) / np.float64(self.n - 1))
            return means.ravel(), np.where(self.n < 2, np.nan, errors).ravel()
        found = [
            self.means((left[:, row] * right[:, column])[:, None])
            for row in range(left.shape[1])
            for column in range(right.shape[1])
        ]
        return (
            np.array([mean[0] for mean, _ in found]),
            np.sqrt(np.array([covariance[0, 0] for _, covariance in found])),
        )

    def likelihoods(self) -> Floats:
        """Chance of each row's two reports under each pair of states, shape (rows, pairs)."""
        left, right = (v.likelihoods[v.codes] for v in (self.first, self.second))
        return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def reported(variable: Variable) -> Reported:
    """Take noisy reports in any form.

    Raises:
        EstimateError: If only counts are known, or it is nothing of the kind.
    """
    if isinstance(variable, Tally):
        return Reported.of_tally(variable)
    if isinstance(variable, PaperAnswers):
        return variable.reported
    if not isinstance(variable, Reported):
        raise EstimateError(
            "expected reports to a question, paper answers or Reported, "
            f"got {type(variable).__name__}"
        )
    return variable


def named(source: Reports | Mapping[str, Variable], name: str) -> Variable:
    """Find a variable by its name.

    Raises:
        EstimateError: If there is none of this name.
    """
    if not isinstance(source, Reports) and name not in source:
        raise EstimateError(f"expected one of {', '.join(map(repr, source))}, got {name!r}")
    return source[name]


def one_law(variable: Reported) -> Floats | None:
    """Give the law of all reports, where they have the same, with as many reports as states."""
    laws = {int(law) for law in variable.law_of[np.unique(variable.codes)]}
    if len(laws) != 1 or min(laws) < 0:
        return None
    law = variable.laws[laws.pop()]
    return law if law.shape[0] == law.shape[1] else None
