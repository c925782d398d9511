"""Tests of coefficients: Wald, and likelihood ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from deniable_protocol import EstimateError

if TYPE_CHECKING:
    from .results import RegressionResults

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChiSquareTest:
    """Hold a test whose statistic is χ² under the null.

    Attributes:
        statistic: The statistic.
        df: Degrees of freedom.
        pvalue: Chance of a statistic at least as large if the null holds.
        null: The null in words.
    """

    statistic: float
    df: int
    pvalue: float
    null: str

    @classmethod
    def of(cls, statistic: float, df: int, null: str) -> ChiSquareTest:
        """Look up the p-value, by its tail and not as 1 − cdf."""
        return cls(statistic, df, float(chdtrc(df, max(statistic, 0.0))), null)

    def __str__(self) -> str:
        return f"χ²({self.df}) = {self.statistic:.4f}, p-value {self.pvalue:.4g} ({self.null})"


def wald(
    results: RegressionResults, columns: str | Sequence[str] | ArrayLike, values: ArrayLike = 0.0
) -> ChiSquareTest:
    """Test that coefficients, or combinations of them, have given values.

    Raises:
        EstimateError: If there is no such coefficient, or the covariance is not known.
    """
    matrix, null = _restrictions(results, columns)
    off = matrix @ results.params - np.asarray(values, dtype=np.float64)
    spread = matrix @ results.cov_params() @ matrix.T
    if not np.all(np.isfinite(spread)) or np.linalg.matrix_rank(spread) < len(matrix):
        raise EstimateError("the covariance of these coefficients cannot be inverted")
    return ChiSquareTest.of(float(off @ np.linalg.solve(spread, off)), len(matrix), null)


def likelihood_ratio(full: RegressionResults, restricted: RegressionResults) -> ChiSquareTest:
    """Test a model against a smaller one that it contains.

    Raises:
        EstimateError: If the two are not of the same rows, or a likelihood is missing or weighted.
    """
    for found in (full, restricted):
        if found.fit is None or found.fit.penalised or not found.likelihood_counts:
            raise EstimateError(
                "a likelihood-ratio test needs two maximum-likelihood fits without survey weights, "
                "strata or clusters; use wald_test"
            )
    df = full.size - restricted.size
    if full.nobs != restricted.nobs or full.family != restricted.family or df < 1:
        raise EstimateError(
            "expected a smaller model of the same outcome and rows: "
            f"got {full.nobs} and {restricted.nobs} rows, {df} coefficients fewer"
        )
    lost = sorted(set(full.names) - set(restricted.names))
    statistic = 2 * (full.llf - restricted.llf)
    if statistic < -1e-6:
        raise EstimateError("the restricted model is not part of the full one: it fits better")
    return ChiSquareTest.of(statistic, df, f"nothing of {', '.join(lost)}")


def _restrictions(
    results: RegressionResults, columns: str | Sequence[str] | ArrayLike
) -> tuple[Floats, str]:
    names = [columns] if isinstance(columns, str) else columns
    if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
        unknown = [name for name in names if name not in results.names]
        if unknown or not names:
            raise EstimateError(
                f"expected coefficients among {', '.join(results.names)}, "
                f"got {', '.join(map(str, unknown)) or 'none'}"
            )
        index = [results.names.index(str(name)) for name in names]
        return np.eye(len(results.names))[index], f"nothing of {', '.join(map(str, names))}"
    matrix = np.atleast_2d(np.asarray(names, dtype=np.float64))
    if matrix.shape[1] != len(results.names):
        raise EstimateError(f"expected rows of {len(results.names)} numbers, got {matrix.shape}")
    return matrix, f"{len(matrix)} linear restrictions"
