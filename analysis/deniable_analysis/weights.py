"""Making weights fit what is known of the population: post-stratification and raking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import EstimateError

from .sample_design import SampleDesign

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_ROUNDS: Final = 10_000
_FITS: Final = 1e-10
"""Relative error of a margin that counts as none."""


def poststratify(
    sample: SampleDesign, groups: ArrayLike, totals: Mapping[object, float]
) -> SampleDesign:
    """Scale weights so that each group of respondents stands for its part of the population.

    Errors shrink by what the groups explain: the variance is that of the residuals from the
    groups' means.

    Args:
        sample: The sample, with the weights to start from.
        groups: Group of each respondent, something known of the population such as age class.
        totals: Size of each group in the population.

    Raises:
        EstimateError: If a group has no total, or a group of the population has no respondent.

    References:
        [HS79] D. Holt and T. M. F. Smith, Post Stratification, JRSS A 142 (1979), 33-46.

    >>> found = poststratify(SampleDesign.of(3), ["a", "a", "b"], {"a": 60, "b": 40})
    >>> found.weights.tolist()
    [30.0, 30.0, 40.0]
    """
    return rake(sample, {"groups": (groups, totals)})


def rake(
    sample: SampleDesign, margins: Mapping[str, tuple[ArrayLike, Mapping[object, float]]]
) -> SampleDesign:
    """Scale weights by iterative proportional fitting until every margin has its totals.

    Args:
        sample: The sample, with the weights to start from.
        margins: For each margin the group of every respondent, and the size of each group in the
            population. Sizes of every margin must add up to the same population.

    Returns:
        The sample with new weights, and the margins' columns as its ``calibration``, by which
        standard errors become those of residuals.

    Raises:
        EstimateError: If a group has no total or no respondent, the margins contradict each other,
            or the fit does not settle (empty combinations can prevent it).

    References:
        [DS92] J.-C. Deville and C.-E. Särndal, Calibration Estimators in Survey Sampling, JASA 87
        (1992), 376-382.

    >>> found = rake(SampleDesign.of(4), {"age": (["y", "y", "o", "o"], {"y": 50, "o": 50}),
    ...                                   "sex": (["f", "m", "f", "m"], {"f": 60, "m": 40})})
    >>> found.weights.tolist()
    [30.0, 20.0, 30.0, 20.0]
    """
    if not margins:
        raise EstimateError("expected at least one margin")
    coded = [_margin(name, sample.n, *given) for name, given in margins.items()]
    sizes = [float(totals.sum()) for _, totals in coded]
    if max(sizes) - min(sizes) > 1e-6 * max(sizes):
        said = ", ".join(f"{name} {size:g}" for name, size in zip(margins, sizes, strict=True))
        raise EstimateError(f"every margin must add up to the same population, got {said}")
    weights = sample.weights.copy()
    for _ in range(_ROUNDS):
        for codes, totals in coded:
            weights *= (totals / np.bincount(codes, weights, len(totals)))[codes]
        if all(_off(weights, *margin) < _FITS for margin in coded):
            break
    else:
        raise EstimateError(
            "raking does not settle: some combinations of groups have no respondents; merge groups"
        )
    columns = np.hstack([np.eye(len(totals))[codes] for codes, totals in coded])
    return SampleDesign(weights, sample.strata, sample.clusters, sample.population, columns)


def _margin(
    name: str, respondents: int, groups: ArrayLike, totals: Mapping[object, float]
) -> tuple[Codes, Floats]:
    given = np.asarray(groups)
    if given.shape != (respondents,):
        raise EstimateError(
            f"{name} must have one entry for each of {respondents} respondents, "
            f"got shape {given.shape}"
        )
    labels, codes = np.unique(given, return_inverse=True)
    known = {str(label): float(total) for label, total in totals.items()}
    named = [str(label) for label in labels.tolist()]
    without, empty = sorted(set(named) - set(known)), sorted(set(known) - set(named))
    if without or empty:
        raise EstimateError(
            f"{name}: "
            + (f"no total for {', '.join(without)}" if without else "")
            + (" and " if without and empty else "")
            + (f"no respondents in {', '.join(empty)}, merge it" if empty else "")
        )
    sizes = np.array([known[label] for label in named])
    if not np.all(np.isfinite(sizes)) or np.any(sizes <= 0):
        raise EstimateError(f"{name}: totals must be finite numbers above 0")
    return codes.astype(np.int64), sizes


def _off(weights: Floats, codes: Codes, totals: Floats) -> float:
    return float(np.max(np.abs(np.bincount(codes, weights, len(totals)) / totals - 1)))
