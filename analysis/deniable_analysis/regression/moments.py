"""Linear regression without a law for anything: normal equations of de-biased products.

For cells s of randomized predictors, Z_s = Π z is unbiased for the one-hot cell, since the noises
are independent; so Σ_s Z_s x_s x_sᵀ and Σ_s Z_s x_s y* are unbiased for the products that the
normal equations add up, y* being the outcome or its de-biased value. No answer needs a
distribution, and errors come from the spread of the equations themselves.

References:
    [Nak90] T. Nakamura, Corrected Score Function for Errors-in-Variables Models, Biometrika 77
    (1990), 127-137.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable_analysis.sample_design import SampleDesign
from deniable_protocol import EstimateError

from .covariance import middle_of
from .rows import Rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Hold corrected least squares.

    Attributes:
        params: Coefficients.
        covariance: Their covariance.
        used: Rows with every report, counted as often as they occur.
    """

    params: Floats
    covariance: Floats
    used: int


def least_squares(rows: Rows, sample: SampleDesign) -> Moments:
    """Solve the de-biased normal equations.

    Raises:
        EstimateError: If they have no solution that means anything: too few rows for the noise.
    """
    cells = _cell_scores(rows)
    number = _numbers(rows)
    used = ~np.isnan(cells[:, 0]) & ~np.isnan(number)
    cells, number, times = cells[used], number[used], rows.times[used]
    terms = rows.terms.take(used)
    width = len(terms.names)
    products, sums = np.zeros((width, width)), np.zeros(width)
    for s in range(cells.shape[1]):
        columns = terms.cell(s)
        weighted = columns * (times * cells[:, s])[:, None]
        products += weighted.T @ columns
        sums += weighted.T @ number
    if not len(number) or np.linalg.eigvalsh(products)[0] <= 1e-10 * np.trace(products) / width:
        raise EstimateError(
            "the reports are too few, or too noisy, for this many coefficients: the de-biased "
            "products of the predictors are not those of any true answers"
        )
    params = np.asarray(np.linalg.solve(products, sums), dtype=np.float64)
    scores = np.zeros((len(number), width))
    for s in range(cells.shape[1]):
        columns = terms.cell(s)
        scores += columns * (cells[:, s] * (number - columns @ params))[:, None]
    every = np.zeros((len(used), width))  # rows that are not used add nothing to the equations
    every[used] = scores * rows.weights[used, None]
    if sample.simple:
        middle = (every * rows.counts[:, None]).T @ every
    else:
        middle = middle_of(every, rows, sample)
    bread = np.asarray(np.linalg.inv(products), dtype=np.float64)
    return Moments(params, bread @ middle @ bread.T, int(rows.counts[used].sum()))


def _cell_scores(rows: Rows) -> Floats:
    found = np.ones((len(rows.counts), len(rows.cells)))
    for place, variable in enumerate(rows.latent):
        found *= variable.scores[variable.codes][:, rows.cells[:, place]]
    return found


def _numbers(rows: Rows) -> Floats:
    if rows.number is not None:
        return rows.number
    values = None if rows.outcome is None else rows.outcome.values
    if rows.outcome is None or values is None:
        raise EstimateError(
            "a linear model needs a number for each state of the outcome: give values=…"
        )
    found: Floats = rows.outcome.scores[rows.outcome.codes] @ values
    return found
