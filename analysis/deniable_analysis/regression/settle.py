"""Fitting, with latent cells that nobody seems to be in taken out of the sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable_protocol import EstimateError

from .expected import has_expected
from .fit import Fit, maximise
from .model import Model
from .outcomes import Categories, Normal, Outcome
from .rows import Rows, merged

Floats = NDArray[np.float64]

_NOBODY: Final = 0.01
"""Respondents expected in a cell below which it is tried without."""
_SAME: Final = 1e-6


@dataclass(frozen=True, eq=False)
class Settled:
    """A fit, and the cells that were taken out because the likelihood is largest without them."""

    fit: Fit
    empty: tuple[tuple[int, ...], ...]


def outcome_of(rows: Rows) -> Outcome:
    """Choose the outcome's law: categories behind noise, or a number."""
    if rows.outcome is not None:
        return Categories(rows.terms, rows.outcome.likelihoods[rows.outcome.codes])
    if rows.number is None:
        raise EstimateError("there is no outcome")
    return Normal(rows.terms, rows.number)


def settle(rows: Rows, start: Floats | None = None, *, penalised: bool = False) -> Settled:
    """Fit, and take out cells of randomized predictors whose share is estimated as 0.

    Args:
        rows: The rows.
        start: Coefficients of the outcome to start from; 0 if left out.
        penalised: Whether to add Jeffreys' penalty.
    """
    model = Model(rows, outcome_of(rows))
    first = np.zeros(model.size)
    if start is not None:
        first[: len(start)] = start
    elif len(rows.cells) > 1 and rows.given.shape[1] > 1:
        first = _coarse(model)
    fit = maximise(model, first, penalised=penalised)
    if fit.separated and has_expected(model) and isinstance(model.outcome, Categories):
        # The likelihood may have a finite maximum as well, and a higher one: look from its middle.
        middle = maximise(model, first, penalised=True)
        again = maximise(model, middle.point.coefficients)
        fit = again if again.point.value > fit.point.value else fit
    empty: list[tuple[int, ...]] = []
    while len(fit.point.model.rows.cells) > 1:
        smaller = _without_emptiest(fit, penalised)
        if smaller is None:
            break
        cells = {tuple(cell) for cell in smaller.point.model.rows.cells.tolist()}
        gone = {tuple(cell) for cell in fit.point.model.rows.cells.tolist()} - cells
        empty.extend(gone)
        fit = smaller
    return Settled(fit, tuple(sorted(empty)))


def _coarse(model: Model) -> Floats:
    """Start where a model without the observed columns ends: it has few different rows."""
    rows = model.rows
    constant = np.flatnonzero(np.ptp(rows.terms.observed, axis=0) == 0)
    found = np.zeros(model.size)
    if len(constant) == 0:
        return found
    kept = rows.with_columns(constant.tolist())
    less = merged(kept.terms, kept)
    small = Model(less, outcome_of(less))
    ended = maximise(small, np.zeros(small.size)).point.coefficients
    width = len(rows.terms.names)
    slopes = found[: model.outcome_size].reshape(-1, width)
    slopes[:, constant] = ended[: small.outcome_size].reshape(-1, len(constant))
    cells = found[model.outcome_size :].reshape(model.cells - 1, -1)
    cells[:, 0] = ended[small.outcome_size :]
    return found


def _without_emptiest(fit: Fit, penalised: bool) -> Fit | None:
    model = fit.point.model
    expected = np.exp(fit.point.cell_logs) @ model.rows.times
    place = int(np.argmin(expected))
    if expected[place] > _NOBODY:
        return None
    rows = model.rows.without_cell(place)
    smaller = Model(rows, outcome_of(rows))
    start = np.zeros(smaller.size)
    start[: model.outcome_size] = fit.point.coefficients[: model.outcome_size]
    found = maximise(smaller, start, penalised=penalised)
    return found if found.point.value >= fit.point.value - _SAME else None
