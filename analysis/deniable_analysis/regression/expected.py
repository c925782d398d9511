"""Expected information of a noisy category, and Jeffreys' penalty, which is half its log-volume."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deniable_analysis.reported import Reported
from deniable_protocol import EstimateError

from .model import Model, Point
from .outcomes import Categories, CategoriesAt

Floats = NDArray[np.float64]


def has_expected(model: Model) -> bool:
    """Whether the expected information has a form that can be added up."""
    if model.cells > 1 or not isinstance(model.outcome, Categories):
        return model.cells == 1
    outcome = model.rows.outcome
    return outcome is not None and bool(np.all(outcome.law_of[outcome.codes] >= 0))


def expected_information(point: Point) -> Floats:
    """Give the mean of the observed information over all reports that could have come.

    Raises:
        EstimateError: With randomized predictors, or reports of too many kinds to list.
    """
    model = point.model
    if not has_expected(model):
        raise EstimateError(
            "the expected information would need a sum over every set of reports that could have "
            "come; ask for the observed one"
        )
    if not isinstance(point.outcome, CategoriesAt):
        return point.complete_information
    columns, times = model.rows.terms.cell(0), model.rows.times
    width, others = columns.shape[1], len(point.outcome.log_chances) - 1
    found = np.zeros((others, width, others, width))
    for index, _, scores, chances in _reports(point):
        weights = times[index, None] * chances
        for j in range(others):
            for k in range(j + 1):
                volume = (weights * scores[:, :, j] * scores[:, :, k]).sum(axis=1)
                block = (columns[index] * volume[:, None]).T @ columns[index]
                found[j, :, k] += block
                if j != k:
                    found[k, :, j] += block.T
    return found.reshape(others * width, others * width)


def penalty(point: Point) -> tuple[float, Floats]:
    """Give ½ log |expected information| and its derivative.

    References:
        [Fir93] D. Firth, Bias Reduction of Maximum Likelihood Estimates, Biometrika 80 (1993).
    """
    information = expected_information(point)
    sign, volume = np.linalg.slogdet(information)
    if sign <= 0 or not np.isfinite(volume):
        return -np.inf, np.zeros(len(information))
    model, outcome = point.model, _category(point)
    columns, times = model.rows.terms.cell(0), model.rows.times
    width, others = columns.shape[1], len(information) // columns.shape[1]
    inverse = np.linalg.inv(information).reshape(others, width, others, width)
    slope = np.zeros((others, width))
    for index, known, scores, chances in _reports(point):
        x = columns[index]
        spread = np.einsum("ia,jakb,ib->ijk", x, inverse, x, optimize=True)
        prior = np.exp(outcome.log_chances[1:, 0, index]).T[:, None, :]
        pulled = np.einsum("ijk,irk->irj", spread, scores)  # H s, for every report r
        whole = (scores * pulled).sum(axis=2, keepdims=True)
        turned = known * (pulled - (known * pulled).sum(axis=2, keepdims=True))
        turned -= prior * (pulled - (prior * pulled).sum(axis=2, keepdims=True))
        change = (chances[:, :, None] * (scores * whole + 2 * turned)).sum(axis=1)
        slope += (change * times[index, None]).T @ x
    return float(volume) / 2, slope.ravel() / 2


def _reports(point: Point) -> Iterator[tuple[NDArray[np.int64], Floats, Floats, Floats]]:
    """For each law: its rows, and for every report that could have come the posterior, the score
    (both without the first category) and the chance: shapes (rows, reports, …).
    """
    outcome, reported = _category(point), point.model.rows.outcome
    if not isinstance(reported, Reported):
        raise EstimateError("a category needs reports")
    own = reported.law_of[reported.codes]
    for place, law in enumerate(reported.laws):
        index = np.flatnonzero(own == place)
        if len(index) == 0:
            continue
        prior = np.exp(outcome.log_chances[:, 0, index]).T
        joint = prior[:, None, :] * law
        chances = joint.sum(axis=2)
        safe = np.where(chances > 0, chances, 1.0)  # a report that cannot come has no weight
        known = joint / safe[:, :, None]
        yield index, known[:, :, 1:], known[:, :, 1:] - prior[:, None, 1:], chances


def _category(point: Point) -> CategoriesAt:
    if not isinstance(point.outcome, CategoriesAt):
        raise EstimateError("Jeffreys' penalty is for outcomes in categories")
    return point.outcome
