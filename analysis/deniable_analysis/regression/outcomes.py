"""The outcome's law in every latent cell: categories behind noise, or a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from .rows import Terms

Floats = NDArray[np.float64]


class OutcomeAt(Protocol):
    """The outcome's law at one value of its coefficients."""

    @property
    def log_densities(self) -> Floats:
        """Log-density of what is known of the outcome, shape (rows, cells)."""

    def scores(self, cell: int) -> Floats:
        """Derive the log-density in one cell, shape (rows, coefficients)."""

    def information(self, cell: int, weights: Floats) -> Floats:
        """Weighted sum of minus the second derivative of the log-density."""

    def complete_information(self, cell: int, weights: Floats) -> Floats:
        """Weighted sum of the expected information, as if the true outcome were known."""


class Outcome(Protocol):
    """The outcome's law, but for its coefficients."""

    @property
    def size(self) -> int:
        """Number of coefficients."""

    def at(self, coefficients: Floats) -> OutcomeAt:
        """Evaluate the law."""


@dataclass(frozen=True, eq=False)
class Categories:
    """A multinomial logit of the true category; with two of them, a logit.

    Attributes:
        terms: Columns of the linear predictor.
        likelihoods: Chance of each row's report under every category, shape (rows, categories).
    """

    terms: Terms
    likelihoods: Floats

    @property
    def categories(self) -> int:
        """Number of categories."""
        return int(self.likelihoods.shape[1])

    @property
    def size(self) -> int:
        """Number of coefficients: those of every category but the first, one after the other."""
        return (self.categories - 1) * len(self.terms.names)

    def at(self, coefficients: Floats) -> CategoriesAt:
        """Evaluate the law."""
        return CategoriesAt(self, self.chances(coefficients, self.terms))

    def chances(self, coefficients: Floats, terms: Terms) -> Floats:
        """Logarithms of the chances of the true category, shape (rows, cells, categories)."""
        slopes = coefficients.reshape(self.categories - 1, len(terms.names))
        scale = np.zeros((len(terms.observed), len(terms.latent), self.categories))
        for k, slope in enumerate(slopes, start=1):
            scale[:, :, k] = terms.observed @ (terms.latent * slope).T
        return np.asarray(log_softmax(scale, axis=2))


@dataclass(frozen=True, eq=False)
class CategoriesAt:
    """The law of a category at one value of its coefficients."""

    law: Categories
    log_chances: Floats

    @cached_property
    def _parts(self) -> Floats:
        with np.errstate(divide="ignore"):
            return self.log_chances + np.log(self.law.likelihoods)[:, None, :]

    @cached_property
    def log_densities(self) -> Floats:
        """Log-chance of each row's report in every cell."""
        return np.asarray(logsumexp(self._parts, axis=2))

    @cached_property
    def posterior(self) -> Floats:
        """Chance of each category given a row's report, shape (rows, cells, categories)."""
        with np.errstate(invalid="ignore"):  # a report that is impossible in a cell
            found = np.exp(self._parts - self.log_densities[:, :, None])
        return np.where(np.isnan(found), np.exp(self.log_chances), found)

    def scores(self, cell: int) -> Floats:
        """Derive the log-chance of the report."""
        off = self.posterior[:, cell, 1:] - np.exp(self.log_chances[:, cell, 1:])
        columns = self.law.terms.cell(cell)
        return (off[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)

    def information(self, cell: int, weights: Floats) -> Floats:
        """Take what the report leaves open from what a known category would tell."""
        return self.complete_information(cell, weights) - self._spread(
            self.posterior[:, cell], cell, weights
        )

    def complete_information(self, cell: int, weights: Floats) -> Floats:
        """Give what a known category would tell."""
        return self._spread(np.exp(self.log_chances[:, cell]), cell, weights)

    def _spread(self, chances: Floats, cell: int, weights: Floats) -> Floats:
        return spread(chances, self.law.terms.cell(cell), weights)


def spread(chances: Floats, columns: Floats, weights: Floats) -> Floats:
    """Σ weight · (diag(c) − c cᵀ) ⊗ x xᵀ over all categories but the first."""
    products = (chances[:, 1:, None] * columns[:, None, :]).reshape(len(columns), -1)
    found = -(products * weights[:, None]).T @ products
    width = columns.shape[1]
    for k in range(1, chances.shape[1]):
        block = slice((k - 1) * width, k * width)
        found[block, block] += (columns * (weights * chances[:, k])[:, None]).T @ columns
    return found


@dataclass(frozen=True, eq=False)
class Normal:
    """A number with normal errors; the last coefficient is the logarithm of their deviation.

    Attributes:
        terms: Columns of the mean.
        number: The outcome, shape (rows,).
    """

    terms: Terms
    number: Floats

    @property
    def size(self) -> int:
        """Number of coefficients: the columns', and log σ."""
        return len(self.terms.names) + 1

    def at(self, coefficients: Floats) -> NormalAt:
        """Evaluate the law."""
        means = self.terms.observed @ (self.terms.latent * coefficients[:-1]).T
        return NormalAt(self, self.number[:, None] - means, float(coefficients[-1]))


@dataclass(frozen=True, eq=False)
class NormalAt:
    """The law of a number at one value of its coefficients."""

    law: Normal
    errors: Floats
    log_sigma: float

    @property
    def precision(self) -> float:
        """1/σ²."""
        return math.exp(-2 * self.log_sigma)

    @cached_property
    def log_densities(self) -> Floats:
        """Log-density of each row's number in every cell."""
        half: Floats = self.errors**2 * self.precision / 2
        return -0.5 * math.log(2 * math.pi) - self.log_sigma - half

    def scores(self, cell: int) -> Floats:
        """Derive the log-density."""
        errors = self.errors[:, cell]
        slopes = (errors * self.precision)[:, None] * self.law.terms.cell(cell)
        return np.column_stack([slopes, errors**2 * self.precision - 1])

    def information(self, cell: int, weights: Floats) -> Floats:
        """Minus the second derivative."""
        columns, errors = self.law.terms.cell(cell), self.errors[:, cell]
        found = self.complete_information(cell, weights)
        cross = 2 * self.precision * (weights * errors) @ columns
        found[-1, :-1] = found[:-1, -1] = cross
        found[-1, -1] = 2 * self.precision * float(weights @ errors**2)
        return found

    def complete_information(self, cell: int, weights: Floats) -> Floats:
        """Its expectation, in which mean and deviation do not mix."""
        columns = self.law.terms.cell(cell)
        found = np.zeros((self.law.size, self.law.size))
        found[:-1, :-1] = (columns * weights[:, None]).T @ columns * self.precision
        found[-1, -1] = 2 * float(weights.sum())
        return found
