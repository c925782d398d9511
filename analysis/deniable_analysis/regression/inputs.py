"""What a regression is given: an outcome, predictors seen and unseen, and how columns are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_analysis.paper_data import PaperAnswers
from deniable_analysis.reported import Reported
from deniable_analysis.tally import Tally
from deniable_protocol import EstimateError

from .rows import Terms

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Data = Mapping[str, Any]
"""Columns by name, such as a mapping of arrays or a data frame."""

INTERCEPT: Final = "Intercept"
_MOST_CELLS: Final = 4096


class Maker(Protocol):
    """How columns are made from data: by hand, or from a formula."""

    def __call__(
        self, data: Data, latent: Mapping[str, Reported], cells: Codes, rows: int
    ) -> Terms:
        """Make the columns for every row and cell."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """Hold the variables of a regression, before equal rows are put together.

    Attributes:
        name: Name of the outcome.
        outcome: Reports of the outcome, or numbers.
        data: Observed predictors.
        latent: Randomized predictors, by name.
        make: How columns are made.
    """

    name: str
    outcome: Reported | Floats
    data: Data
    latent: Mapping[str, Reported]
    make: Maker

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.outcome.n if isinstance(self.outcome, Reported) else len(self.outcome)

    @property
    def cells(self) -> Codes:
        """Every combination of states of the randomized predictors, shape (cells, predictors)."""
        sizes = [range(len(variable.states)) for variable in self.latent.values()]
        count = int(np.prod([len(size) for size in sizes])) if sizes else 1
        if count > _MOST_CELLS:
            raise EstimateError(
                f"these randomized predictors have {count:,} combinations of true answers, more "
                f"than the {_MOST_CELLS:,} that can be summed over: use fewer, or merge options"
            )
        return np.array(list(product(*sizes)), dtype=np.int64).reshape(count, len(sizes))

    def terms(self, data: Data | None = None) -> Terms:
        """Make the columns for every row and cell."""
        if data is None:
            return self.make(self.data, self.latent, self.cells, self.n)
        return self.make(data, self.latent, self.cells, rows_of(data))

    def given(self) -> Floats:
        """Columns that tell latent cells apart: the observed ones, or 1 where there are none."""
        terms = self.terms()
        alone = np.all(terms.latent == terms.latent[0], axis=0)  # not touched by a latent state
        columns = terms.observed[:, alone]
        constant = np.ptp(columns, axis=0) == 0 if len(columns) else np.ones(columns.shape[1], bool)
        ones = np.ones((self.n, 1))
        return np.hstack([ones, columns[:, ~constant]])

    def at(self, new: Data) -> Floats:
        """Make one design row for each row of new data, which states the randomized answers too."""
        terms = self.terms(new)
        rows = len(terms.observed)
        states = np.column_stack(
            [np.zeros((rows, 0), dtype=np.int64)]
            + [_states(name, variable, new, rows) for name, variable in self.latent.items()]
        )
        place = np.zeros(rows, dtype=np.int64)
        for column, variable in enumerate(self.latent.values()):
            place = place * len(variable.states) + states[:, column]
        return terms.observed * terms.latent[place]


def _states(name: str, variable: Reported, new: Data, rows: int) -> Codes:
    if name not in new:
        raise EstimateError(
            f"new data must say the true state of {name!r} for each row: one of "
            f"{', '.join(variable.states)}"
        )
    given = np.broadcast_to(np.asarray(new[name]), (rows,)).tolist()
    named = {state: place for place, state in enumerate(variable.states)}
    numbered = dict(enumerate(range(len(variable.states))))
    try:
        return np.array([named[v] if isinstance(v, str) else numbered[v] for v in given])
    except (KeyError, TypeError):
        raise EstimateError(
            f"{name!r} must be among its states: {', '.join(variable.states)}, or their places "
            f"from 0 to {len(variable.states) - 1}"
        ) from None


@dataclass(frozen=True)
class ByHand:
    """Make columns from arrays: an intercept, the observed ones, one for each other latent state.

    Attributes:
        order: Names of all predictors, in the order in which they were given.
        intercept: Whether there is an intercept.
    """

    order: tuple[str, ...]
    intercept: bool

    def __call__(
        self, data: Data, latent: Mapping[str, Reported], cells: Codes, rows: int
    ) -> Terms:
        """Make the columns for every row and cell."""
        absent = [name for name in self.order if name not in data and name not in latent]
        if absent:
            raise EstimateError(f"new data needs a column {', '.join(map(repr, absent))}")
        names = [INTERCEPT] if self.intercept else []
        observed = [np.ones(rows)] if self.intercept else []
        states = [np.ones(len(cells))] if self.intercept else []
        places = {name: place for place, name in enumerate(latent)}
        for name in self.order:
            if name not in latent:
                names.append(name)
                observed.append(numbers(name, data[name], rows))
                states.append(np.ones(len(cells)))
                continue
            variable, own = latent[name], cells[:, places[name]]
            for label, column in coded(name, variable):
                names.append(label)
                observed.append(np.ones(rows))
                states.append(column[own])
        if not names:
            raise EstimateError("expected at least one predictor, or an intercept")
        return Terms(tuple(names), np.column_stack(observed), np.column_stack(states))


def coded(name: str, variable: Reported) -> list[tuple[str, Floats]]:
    """Code a latent state: its number, or one indicator for each state but the first."""
    if variable.values is not None:
        return [(name, variable.values)]
    eye = np.eye(len(variable.states))
    return [
        (f"{name}[T.{state}]", eye[place])
        for place, state in enumerate(variable.states)
        if place
    ]  # fmt: skip


def numbers(name: str, column: ArrayLike, rows: int) -> Floats:
    """Read a column of numbers."""
    found = np.asarray(column)
    if found.dtype.kind == "O":
        try:
            found = found.astype(np.float64)
        except (TypeError, ValueError):
            found = found.astype(str)
    if found.dtype.kind not in "biuf":
        raise EstimateError(
            f"predictor {name!r} must be numbers, got {found.dtype}: turn text into columns of 0 "
            "and 1, or use a formula"
        )
    if found.shape not in ((rows,), ()):
        raise EstimateError(f"predictor {name!r} must have {rows} rows, got shape {found.shape}")
    return np.broadcast_to(found.astype(np.float64), (rows,))


def as_reported(value: object) -> Reported | None:
    """Take noisy reports in any form; None for anything else."""
    if isinstance(value, Tally):
        return Reported.of_tally(value)
    if isinstance(value, PaperAnswers):
        return value.reported
    return value if isinstance(value, Reported) else None


def by_name(predictors: object) -> dict[str, Any]:
    """Name the predictors: those of a mapping or data frame as they are, of a matrix x1, x2, …"""
    if predictors is None:
        return {}
    if isinstance(predictors, Mapping):
        return {str(name): value for name, value in predictors.items()}
    columns = getattr(predictors, "columns", None)
    if columns is not None:
        return {str(name): predictors[name] for name in columns}  # type: ignore[index]  # a data frame
    found = np.asarray(predictors)
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2:
        raise EstimateError(f"predictors must be a matrix or a mapping, got shape {found.shape}")
    return {f"x{place}": column for place, column in enumerate(found.T, start=1)}


def split(predictors: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Reported]]:
    """Tell observed predictors from randomized ones."""
    latent = {name: r for name, value in predictors.items() if (r := as_reported(value))}
    return {n: v for n, v in predictors.items() if n not in latent}, latent


def missing_rows(columns: Iterable[tuple[str, object]], rows: int) -> NDArray[np.bool_]:
    """Find rows with a value that is missing."""
    found = np.zeros(rows, dtype=np.bool_)
    for _, column in columns:
        values = np.asarray(column)
        if values.shape != (rows,):
            continue
        if values.dtype.kind == "f":
            found |= np.isnan(values)
        elif values.dtype.kind == "O":
            found |= np.array([v is None or bool(v != v) for v in values.tolist()])  # noqa: PLR0124  # NaN
    return found


def rows_of(data: Data) -> int:
    """Count the rows of data by name; values that are alone stand for every row."""
    return max([np.shape(data[name])[0] for name in data if np.shape(data[name])], default=1)
