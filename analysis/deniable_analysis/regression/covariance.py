"""Covariance of coefficients: from curvature, from scores, or from both."""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deniable_analysis.sample_design import SampleDesign, covariance_of_sums
from deniable_protocol import EstimateError

from .expected import expected_information
from .model import Point
from .rows import Rows

Floats = NDArray[np.float64]

Covariance = Literal["observed", "expected", "opg", "sandwich", "design"]
COVARIANCES: Final[tuple[Covariance, ...]] = get_args(Covariance)


def covariance_of(point: Point, kind: Covariance, sample: SampleDesign) -> Floats:
    """Estimate the covariance of all coefficients.

    Args:
        point: The likelihood at the estimate.
        kind: ``observed`` or ``expected`` information, inverted; ``opg``, the inverse of the outer
            products of the rows' scores; ``sandwich``, O⁻¹ (Σ s sᵀ) O⁻¹ with O the observed
            information; ``design``, the same with the middle estimated from strata and clusters.
        sample: How respondents were sampled.

    Returns:
        float64, shape (coefficients, coefficients); NaN throughout where the matrix that would be
        inverted is not positive.

    References:
        [Whi82] H. White, Maximum Likelihood Estimation of Misspecified Models, Econometrica 50
        (1982).
        [Bin83] D. Binder, On the Variances of Asymptotically Normal Estimators from Complex
        Surveys, International Statistical Review 51 (1983).
    """
    if kind not in COVARIANCES:
        raise EstimateError(f"covariance must be one of {', '.join(COVARIANCES)}, got {kind!r}")
    rows = point.model.rows
    if kind == "expected":
        return inverted(expected_information(point))
    scores = point.row_scores * rows.weights[:, None]
    if kind == "opg":
        return inverted((scores * rows.counts[:, None]).T @ scores)
    bread = inverted(point.observed_information)
    if kind == "observed":
        return bread
    if kind == "sandwich":
        middle = (scores * rows.counts[:, None]).T @ scores
    else:
        middle = middle_of(scores, rows, sample)
    found: Floats = bread @ middle @ bread
    return found


def middle_of(scores: Floats, rows: Rows, sample: SampleDesign) -> Floats:
    """Estimate the covariance of the sum of weighted scores from how respondents were sampled.

    Args:
        scores: One row for each different row, times its weight.
        rows: The rows.
        sample: The sample, one entry for each row that came.

    Raises:
        EstimateError: If a stratum has a single unit, or calibrated weights come with counts.
    """
    if sample.calibration is None:
        strata, clusters = rows.groups.T
        return covariance_of_sums(scores, rows.counts, strata, clusters, sample.fractions)
    if rows.n != sample.n:
        raise EstimateError("post-stratified or raked weights need a row for each respondent")
    return sample.covariance_of_total((scores / rows.weights[:, None])[rows.place])


def inverted(information: Floats) -> Floats:
    """Invert a positive matrix with columns scaled alike; NaN throughout if it is not one."""
    diagonal = np.diag(information)
    nothing = np.full_like(information, np.nan)
    if not np.all(np.isfinite(information)) or np.any(diagonal <= 0):
        return nothing
    scale = 1 / np.sqrt(diagonal)
    scaled = information * scale[:, None] * scale
    if np.linalg.eigvalsh(scaled)[0] <= 1e-13:
        return nothing
    found: Floats = np.linalg.inv(scaled) * scale[:, None] * scale
    return (found + found.T) / 2
