"""The likelihood of regression on noisy reports, summed over everything that nobody saw.

A row's latent cell s (the true states of all randomized predictors) has probability f_s given the
observed columns, a multinomial logit; the outcome has density g_s in that cell; the reports of
the predictors have likelihood m_s. So the row has likelihood Σ_s f_s · m_s · g_s. Without
randomized predictors there is one cell, f = m = 1. The score follows from Fisher's identity, the
observed information from Louis' formula: what the complete data would tell, less what is missing.

References:
    [Lou82] T. A. Louis, Finding the Observed Information Matrix when Using the EM Algorithm,
    JRSS B 44 (1982), 226-233.
    [HHHL07] A. van den Hout, P. van der Heijden and R. Gilchrist, The Logistic Regression Model
    with Response Variables Subject to Randomized Response, CSDA 51 (2007), 6060-6069.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .outcomes import Outcome, OutcomeAt, log_sum, spread
from .rows import Rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model:
    """Hold rows and the outcome's law: everything but the coefficients.

    Coefficients are one vector: those of the outcome, then for every cell but the first those of
    its log-odds against the first.
    """

    rows: Rows
    outcome: Outcome

    @property
    def cells(self) -> int:
        """Number of latent cells."""
        return len(self.rows.cells)

    @property
    def outcome_size(self) -> int:
        """Number of the outcome's coefficients."""
        return self.outcome.size

    @property
    def size(self) -> int:
        """Number of all coefficients."""
        return self.outcome.size + (self.cells - 1) * int(self.rows.given.shape[1])

    @cached_property
    def log_likelihoods(self) -> Floats:
        """Logarithms of m, shape (cells, rows)."""
        with np.errstate(divide="ignore"):
            return np.log(self.rows.likelihoods())

    def at(self, coefficients: Floats) -> Point:
        """Evaluate the model."""
        count = self.outcome.size
        found = self.outcome.at(coefficients[:count])
        return Point(self, coefficients, found, self.cell_logs(coefficients[count:]))

    def cell_logs(self, coefficients: Floats, given: Floats | None = None) -> Floats:
        """Logarithms of f for the cells' coefficients, shape (cells, rows)."""
        columns = self.rows.given if given is None else given
        slopes = coefficients.reshape(self.cells - 1, columns.shape[1])
        scale = np.vstack([np.zeros((1, len(columns))), slopes @ columns.T])
        return scale - log_sum(scale)


@dataclass(frozen=True, eq=False)
class Point:
    """The likelihood at one value of the coefficients."""

    model: Model
    coefficients: Floats
    outcome: OutcomeAt
    cell_logs: Floats

    @cached_property
    def _parts(self) -> Floats:
        found: Floats = self.cell_logs + self.model.log_likelihoods + self.outcome.log_densities
        return found

    @cached_property
    def row_logs(self) -> Floats:
        """Log-likelihood of each row."""
        return log_sum(self._parts)

    @property
    def value(self) -> float:
        """Log-likelihood."""
        return float(self.model.rows.times @ self.row_logs)

    @cached_property
    def posterior(self) -> Floats:
        """Chance of each cell given a row's outcome and reports, shape (cells, rows)."""
        return np.exp(self._parts - self.row_logs)

    @cached_property
    def row_scores(self) -> Floats:
        """Score of each row, shape (rows, coefficients)."""
        outcome = sum(
            self.posterior[s, :, None] * self.outcome.scores(s) for s in range(self.model.cells)
        )
        off = self.posterior[1:] - np.exp(self.cell_logs[1:])
        return np.hstack([outcome, *(self.model.rows.given * part[:, None] for part in off)])

    @cached_property
    def score(self) -> Floats:
        """Derivative of the log-likelihood."""
        found: Floats = self.model.rows.times @ self.row_scores
        return found

    @property
    def complete_information(self) -> Floats:
        """What the rows would tell if all true states were known; it is always positive."""
        times = self.model.rows.times
        count = self.model.outcome_size
        found = np.zeros((self.model.size, self.model.size))
        for s in range(self.model.cells):
            weights = times * self.posterior[s]
            found[:count, :count] += self.outcome.complete_information(s, weights)
        rows = self.model.rows
        found[count:, count:] = spread(np.exp(self.cell_logs), rows.given, rows.times)
        return found

    @cached_property
    def observed_information(self) -> Floats:
        """Minus the second derivative of the log-likelihood."""
        rows, count = self.model.rows, self.model.outcome_size
        found = np.zeros((self.model.size, self.model.size))
        mean = self.row_scores[:, :count]
        for s in range(self.model.cells):
            weights = rows.times * self.posterior[s]
            off = self.outcome.scores(s) - mean
            weighted = off * weights[:, None]
            found[:count, :count] += self.outcome.information(s, weights) - weighted.T @ off
            if s:
                block = slice(
                    count + (s - 1) * rows.given.shape[1], count + s * rows.given.shape[1]
                )
                found[block, :count] = -rows.given.T @ weighted
                found[:count, block] = found[block, :count].T
        given = rows.given
        found[count:, count:] = spread(np.exp(self.cell_logs), given, rows.times)
        found[count:, count:] -= spread(self.posterior, given, rows.times)
        return found
