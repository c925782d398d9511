"""Averages over the rows: predicted shares, and what a change of one predictor does to them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from deniable_protocol import EstimateError

from .outcomes import Categories
from .rows import Terms

if TYPE_CHECKING:
    from .results import RegressionResults

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Hold predictions: shares of the true answer, or means of a number.

    Attributes:
        mean: float64, shape (rows,), or (rows, states) for more than two states.
        se: Standard errors by the delta method, in the same shape.
        low: Lower ends of intervals; those of shares are made on the log-odds scale.
        high: Upper ends.
        level: Confidence level.
    """

    mean: Floats
    se: Floats
    low: Floats
    high: Floats
    level: float


@dataclass(frozen=True)
class Effect:
    """Hold what a change of one predictor does, on average over the rows, to the true answer.

    Attributes:
        variable: The predictor.
        change: What was changed: a unit of a number, or one state instead of another.
        outcome: The state of the outcome whose share changes; empty for a number.
        effect: Change of the share (0.1 is 10 percentage points), or of the number.
        se: Standard error by the delta method.
        low: Lower end of the interval.
        high: Upper end.
        pvalue: Two-sided.
    """

    variable: str
    change: str
    outcome: str
    effect: float
    se: float
    low: float
    high: float
    pvalue: float


def interval(mean: Floats, se: Floats, level: float, *, share: bool) -> Prediction:
    """Put intervals around predictions."""
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")
    far = ndtri((1 + level) / 2)
    if not share:
        return Prediction(mean, se, mean - far * se, mean + far * se, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = logit(mean)
        half = far * se / (mean * (1 - mean))
        low, high = expit(middle - half), expit(middle + half)
    edge = (mean <= 0) | (mean >= 1)
    return Prediction(mean, se, np.where(edge, mean, low), np.where(edge, mean, high), level)


def mean_and_slopes(results: RegressionResults, columns: Floats) -> tuple[Floats, Floats]:
    """Predict at design rows, with derivatives by the outcome's coefficients.

    Returns:
        Predictions, shape (rows, states but the first), and derivatives, shape (rows, states but
        the first, coefficients of columns).
    """
    width = columns.shape[1]
    law = None if results.fit is None else results.fit.point.model.outcome
    if not isinstance(law, Categories):
        return (columns @ results.params)[:, None], columns[:, None, :]
    terms = Terms(results.inputs.terms().names, columns, np.ones((1, width)))
    chances = np.exp(law.chances(results.params, terms))[1:, 0].T
    eye = np.eye(chances.shape[1])
    spread = chances[:, :, None] * (eye - chances[:, None, :])
    slopes = spread[:, :, :, None] * columns[:, None, None, :]
    return chances, slopes.reshape(len(columns), chances.shape[1], -1)


def predict(results: RegressionResults, columns: Floats, level: float) -> Prediction:
    """Predict the true outcome at design rows."""
    means, slopes = mean_and_slopes(results, columns)
    covariance = results.cov_params()
    share = results.family != "linear"
    if share and means.shape[1] > 1:  # the first state's share is what the others leave
        means = np.column_stack([1 - means.sum(axis=1), means])
        slopes = np.concatenate([-slopes.sum(axis=1, keepdims=True), slopes], axis=1)
    errors = np.sqrt(np.einsum("ija,ab,ijb->ij", slopes, covariance, slopes, optimize=True))
    if means.shape[1] == 1:
        means, errors = means[:, 0], errors[:, 0]
    return interval(means, errors, level, share=share)


@dataclass(frozen=True, eq=False)
class Average:
    """A weighted mean over rows and cells of Σ factor · prediction, with its derivative."""

    value: Floats
    slopes: Floats


def average(results: RegressionResults, parts: Sequence[tuple[Terms, float]]) -> Average:
    """Average predictions over the rows, latent cells being as likely as the model says.

    Args:
        results: The fit.
        parts: Columns for all rows and cells, with what their predictions are multiplied by.
    """
    chances = results.cell_chances()
    times = results.counts * results.sample.weights
    times = times / times.sum()
    others = len(results.outcome_states) - 1 if results.outcome_states else 1
    value = np.zeros(others)
    slopes = np.zeros((others, len(results.params)))
    by_cell = np.zeros((len(times), chances.shape[1], others))
    for terms, factor in parts:
        for s in range(chances.shape[1]):
            means, by = mean_and_slopes(results, terms.cell(s))
            weights = factor * times * chances[:, s]
            value += weights @ means
            slopes += np.einsum("i,ija->ja", weights, by)
            by_cell[:, s] += factor * means
    rest = _cell_slopes(results, times, chances, by_cell)
    return Average(value, np.hstack([slopes, rest]))


def _cell_slopes(
    results: RegressionResults, times: Floats, chances: Floats, by_cell: Floats
) -> Floats:
    """Derive by the coefficients of the latent cells: the cells' shares are estimates too."""
    others = by_cell.shape[2]
    fit = results.fit
    if fit is None or chances.shape[1] == 1:
        extra = 0 if fit is None else len(fit.point.coefficients) - len(results.params)
        return np.zeros((others, extra))
    model = fit.point.model
    given = model.rows.given[model.rows.place]
    sigma = np.zeros((others, model.outcome_size - len(results.params)))
    found = [sigma]
    mean = np.einsum("is,isj->ij", chances, by_cell)
    for s in range(1, chances.shape[1]):
        off = (times * chances[:, s])[:, None] * (by_cell[:, s] - mean)
        found.append(off.T @ given)
    return np.hstack(found)


def average_prediction(results: RegressionResults, level: float) -> Prediction:
    """Predict the share of each true state (or the mean) over all rows."""
    found = average(results, [(results.terms(), 1.0)])
    se = _errors(results, found)
    return interval(found.value, se, level, share=results.family != "linear")


def effects(results: RegressionResults, level: float) -> tuple[Effect, ...]:
    """Give the average marginal effect of every predictor."""
    rows: list[Effect] = []
    far = ndtri((1 + level) / 2)
    states = results.outcome_states[1:] if results.outcome_states else ("",)
    for variable, change, parts in _changes(results):
        found = average(results, parts)
        for place, (value, se) in enumerate(
            zip(found.value.tolist(), _errors(results, found).tolist(), strict=True)
        ):
            z = abs(value) / se if se > 0 else math.nan
            rows.append(
                Effect(
                    variable,
                    change,
                    states[place],
                    value,
                    se,
                    float(value - far * se),
                    float(value + far * se),
                    float(2 * ndtr(-z)),
                )
            )
    return tuple(rows)


def _errors(results: RegressionResults, found: Average) -> Floats:
    covariance = results.covariance
    found_errors: Floats = np.sqrt(np.einsum("ja,ab,jb->j", found.slopes, covariance, found.slopes))
    return found_errors


def _changes(results: RegressionResults) -> Iterator[tuple[str, str, list[tuple[Terms, float]]]]:
    inputs = results.inputs
    for name in inputs.data:
        yield from (
            (name, change, [(results.terms({**inputs.data, name: up}), factor),
                            (results.terms({**inputs.data, name: down}), -factor)])
            for change, up, down, factor in _moves(inputs.data[name])
        )  # fmt: skip
    for place, (name, variable) in enumerate(inputs.latent.items()):
        for state in range(1, len(variable.states)):
            change = f"{variable.states[state]} instead of {variable.states[0]}"
            up, down = (_forced(results, place, s) for s in (state, 0))
            yield name, change, [(up, 1.0), (down, -1.0)]


def _moves(column: Any) -> Iterator[tuple[str, Any, Any, float]]:
    values = np.asarray(column)
    if values.dtype.kind not in "biuf":
        named = np.unique(values.astype(str)).tolist()
        for state in named[1:]:
            up, down = (np.full(len(values), s, dtype=object) for s in (state, named[0]))
            yield f"{state} instead of {named[0]}", up, down, 1.0
        return
    numbers = values.astype(np.float64)
    if set(np.unique(numbers)) <= {0.0, 1.0}:
        yield "1 instead of 0", np.ones(len(values)), np.zeros(len(values)), 1.0
        return
    step = 2.0 ** math.floor(math.log2(1e-4 * float(numbers.std()) + 1e-300))
    yield "per unit", numbers + step, numbers - step, 1 / (2 * step)


def _forced(results: RegressionResults, place: int, state: int) -> Terms:
    """Columns as if one randomized predictor were in the same state for everybody."""
    terms, cells = results.inputs.terms(), results.inputs.cells
    known = {tuple(cell): at for at, cell in enumerate(cells.tolist())}
    forced = results.cells.copy()
    forced[:, place] = state
    index = [known[tuple(cell)] for cell in forced.tolist()]
    return Terms(terms.names, terms.observed, terms.latent[index])
