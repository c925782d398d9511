"""The outcome's law in every latent cell: categories behind noise, or a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .rows import Terms

Floats = NDArray[np.float64]


class OutcomeAt(Protocol):
    """The outcome's law at one value of its coefficients."""

    @property
    def log_densities(self) -> Floats:
        """Log-density of what is known of the outcome, shape (cells, rows)."""

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
        """Logarithms of the chances of the true category, shape (categories, cells, rows)."""
        slopes = coefficients.reshape(self.categories - 1, len(terms.names))
        scale = np.zeros((self.categories, len(terms.latent), len(terms.observed)))
        for k, slope in enumerate(slopes, start=1):
            scale[k] = (terms.latent * slope) @ terms.observed.T
        return scale - log_sum(scale)


@dataclass(frozen=True, eq=False)
class CategoriesAt:
    """The law of a category at one value of its coefficients."""

    law: Categories
    log_chances: Floats

    @cached_property
    def chances(self) -> Floats:
        """Chance of each category, shape (categories, cells, rows)."""
        return np.exp(self.log_chances)

    @cached_property
    def _parts(self) -> Floats:
        with np.errstate(divide="ignore"):
            return self.log_chances + np.log(self.law.likelihoods.T)[:, None, :]

    @cached_property
    def log_densities(self) -> Floats:
        """Log-chance of each row's report in every cell."""
        return log_sum(self._parts)

    @cached_property
    def posterior(self) -> Floats:
        """Chance of each category given a row's report, shape (categories, cells, rows)."""
        with np.errstate(invalid="ignore"):  # a report that is impossible in a cell
            found = np.exp(self._parts - self.log_densities)
        return np.where(np.isnan(found), self.chances, found)

    def scores(self, cell: int) -> Floats:
        """Derive the log-chance of the report."""
        off = self.posterior[1:, cell] - self.chances[1:, cell]
        columns = self.law.terms.cell(cell)
        return np.hstack([columns * part[:, None] for part in off])

    def information(self, cell: int, weights: Floats) -> Floats:
        """Take what the report leaves open from what a known category would tell."""
        return self.complete_information(cell, weights) - self._spread(
            self.posterior[:, cell], cell, weights
        )

    def complete_information(self, cell: int, weights: Floats) -> Floats:
        """Give what a known category would tell."""
        return self._spread(self.chances[:, cell], cell, weights)

    def _spread(self, chances: Floats, cell: int, weights: Floats) -> Floats:
        return spread(chances, self.law.terms.cell(cell), weights)


def spread(chances: Floats, columns: Floats, weights: Floats) -> Floats:
    """Sum weight · (diag(c) − c cᵀ) ⊗ x xᵀ over all categories but the first.

    Args:
        chances: Chances c, shape (categories, rows).
        columns: x, shape (rows, columns).
        weights: Shape (rows,).
    """
    width, others = columns.shape[1], len(chances) - 1
    if others == 1:
        found: Floats = (columns * (weights * chances[1] * (1 - chances[1]))[:, None]).T @ columns
        return found
    if others == 0:
        return np.zeros((0, 0))
    products = np.hstack([columns * chance[:, None] for chance in chances[1:]])
    found = -(products * weights[:, None]).T @ products
    for k in range(others):
        block = slice(k * width, (k + 1) * width)
        found[block, block] += (products[:, block] * weights[:, None]).T @ columns
    return found


def log_sum(parts: Floats) -> Floats:
    """Add up numbers given by their logarithms, over the first axis."""
    top = parts.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(parts - top).sum(axis=0)) + top
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
        means = (self.terms.latent * coefficients[:-1]) @ self.terms.observed.T
        return NormalAt(self, self.number - means, float(coefficients[-1]))


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
        errors = self.errors[cell]
        slopes = (errors * self.precision)[:, None] * self.law.terms.cell(cell)
        return np.column_stack([slopes, errors**2 * self.precision - 1])

    def information(self, cell: int, weights: Floats) -> Floats:
        """Minus the second derivative."""
        columns, errors = self.law.terms.cell(cell), self.errors[cell]
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
