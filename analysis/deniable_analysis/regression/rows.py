"""The rows that a likelihood sums over: different ones once each, in an order of their own.

Equal rows are put together and the different ones sorted, so that a fit does not depend on the
order in which rows came, to the last bit, and a million reports to a few questions cost no more
than the few dozen different rows that they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable_analysis.reported import Reported
from deniable_analysis.sample_design import SampleDesign
from deniable_protocol import EstimateError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Terms:
    """The linear predictor's columns: each is an observed part times a part of the latent cell.

    Column j of row i in cell s is ``observed[i, j] · latent[s, j]``; without randomized predictors
    there is one cell, and ``latent`` is 1.

    Attributes:
        names: One name for each column.
        observed: float64, shape (rows, columns).
        latent: float64, shape (cells, columns).
    """

    names: tuple[str, ...]
    observed: Floats
    latent: Floats

    def take(self, kept: NDArray[np.generic]) -> Terms:
        """Keep some of the rows."""
        return Terms(self.names, self.observed[kept], self.latent)

    def cell(self, place: int) -> Floats:
        """Give the design matrix of one cell, shape (rows, columns)."""
        found: Floats = self.observed * self.latent[place]
        return found


@dataclass(frozen=True, eq=False)
class Rows:
    """Different rows, each with how often it occurs.

    Attributes:
        terms: Columns of the outcome's linear predictor.
        given: Columns of the linear predictors of the latent cells, shape (rows, columns).
        outcome: Reports of the outcome, or None where it is a number.
        number: The outcome where it is a number, or None.
        latent: Randomized predictors.
        cells: State of each randomized predictor in each cell, int64, shape (cells, predictors).
        counts: How often each row occurs, int64.
        weights: Survey weight of one such row.
        groups: Stratum and cluster codes of each row, for standard errors; shape (rows, 2).
        place: For each row that came, where it is now.
    """

    terms: Terms
    given: Floats
    outcome: Reported | None
    number: Floats | None
    latent: tuple[Reported, ...]
    cells: Codes
    counts: Codes
    weights: Floats
    groups: Codes
    place: Codes

    @property
    def times(self) -> Floats:
        """How much each row counts in a sum over all that came."""
        found: Floats = self.counts * self.weights
        return found

    @property
    def n(self) -> int:
        """How many rows came, counted as often as they were said to occur."""
        return int(self.counts.sum())

    def likelihoods(self) -> Floats:
        """Chance of the reports of all randomized predictors in each cell, shape (cells, rows)."""
        found = np.ones((len(self.cells), len(self.counts)))
        for place, variable in enumerate(self.latent):
            found *= variable.likelihoods.T[self.cells[:, place]][:, variable.codes]
        return found

    def without_cell(self, place: int) -> Rows:
        """Leave out one cell."""
        terms = Terms(
            self.terms.names, self.terms.observed, np.delete(self.terms.latent, place, axis=0)
        )
        cells = np.delete(self.cells, place, axis=0)
        return Rows(
            terms, self.given, self.outcome, self.number, self.latent, cells,
            self.counts, self.weights, self.groups, self.place,
        )  # fmt: skip

    def with_columns(self, kept: Sequence[int]) -> Rows:
        """Keep some of the outcome's columns: the model of a likelihood-ratio test."""
        index = list(kept)
        terms = Terms(
            tuple(self.terms.names[j] for j in index),
            self.terms.observed[:, index],
            self.terms.latent[:, index],
        )
        return Rows(
            terms, self.given, self.outcome, self.number, self.latent, self.cells,
            self.counts, self.weights, self.groups, self.place,
        )  # fmt: skip


def gather(
    terms: Terms,
    given: Floats,
    outcome: Reported | Floats,
    latent: tuple[Reported, ...],
    cells: Codes,
    counts: Codes,
    sample: SampleDesign,
) -> Rows:
    """Put equal rows together and sort the different ones."""
    number = None if isinstance(outcome, Reported) else outcome
    reported = outcome if isinstance(outcome, Reported) else None
    codes = [v.codes for v in (*((reported,) if reported else ()), *latent)]
    groups = np.column_stack([sample.stratum_codes, sample.cluster_codes])
    keys: list[NDArray[np.generic]] = [*codes, *terms.observed.T, *given.T, *groups.T]
    keys += [sample.weights, *([] if number is None else [number])]
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), dtype=np.bool_)
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    new[:1] = True
    first = order[new]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, place, counts)
    return Rows(
        terms=terms.take(first),
        given=given[first],
        outcome=reported.only(first) if reported else None,
        number=None if number is None else number[first],
        latent=tuple(v.only(first) for v in latent),
        cells=cells,
        counts=totals,
        weights=sample.weights[first],
        groups=groups[first],
        place=place,
    )


def merged(terms: Terms, rows: Rows) -> Rows:
    """Put rows together that differ in nothing but columns that are left out."""
    groups, weights = rows.groups, rows.weights
    sample = SampleDesign(weights, groups[:, 0], None if groups[0, 1] < 0 else groups[:, 1])
    outcome = rows.number if rows.outcome is None else rows.outcome
    if outcome is None:
        raise EstimateError("there is no outcome")
    ones = np.ones((len(weights), 1))
    return gather(terms, ones, outcome, rows.latent, rows.cells, rows.counts, sample)


def check_columns(terms: Terms) -> None:
    """Make sure that columns can be told apart.

    Raises:
        EstimateError: If one is a combination of others, or has a value that is not a number.
    """
    names, cells = terms.names, range(len(terms.latent))
    finite = np.asarray(np.isfinite(terms.observed).all(axis=0))
    if not finite.all():
        bad = [name for name, good in zip(names, finite, strict=True) if not good]
        raise EstimateError(f"predictors: values that are not finite numbers in {', '.join(bad)}")
    products = sum(terms.cell(s).T @ terms.cell(s) for s in cells)
    length = np.sqrt(np.diag(products))
    empty = [name for name, size in zip(names, length, strict=True) if size == 0]
    if empty:
        raise EstimateError(f"predictors: nothing but zeros in {', '.join(empty)}")
    if np.linalg.eigvalsh(products / length[:, None] / length)[0] > 1e-8:
        return  # far from any combination: no need to look which
    columns = np.vstack([terms.cell(s) for s in cells])
    kept: list[int] = []
    for place, name in enumerate(names):
        basis = columns[:, kept] / length[kept]
        column = columns[:, place] / length[place]
        rest = column - basis @ np.linalg.lstsq(basis, column, rcond=None)[0] if kept else column
        if math.sqrt(float(rest @ rest)) < 1e-9:
            kind = "is constant, as the intercept is" if _constant(column) else "follows"
            earlier = "" if _constant(column) else f" from {', '.join(names[k] for k in kept)}"
            raise EstimateError(f"predictors: column {name!r} {kind}{earlier}; leave it out")
        kept.append(place)


def _constant(column: Floats) -> bool:
    return bool(np.ptp(column) == 0)
