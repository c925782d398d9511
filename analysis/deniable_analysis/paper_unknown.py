"""The unrelated question with an unknown prevalence: two groups give two equations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtri, xlog1py, xlogy

from deniable_protocol import EstimateError

from .cheating import Pair, checked_pair
from .linear import Measured
from .paper import Chance, chance
from .paper_fit import walk


@dataclass(frozen=True)
class UnrelatedUnknown:
    """Hold the shares of both traits.

    Attributes:
        trait: The sensitive one.
        unrelated: The other one.
        best: Best fit of both, from 0 to 1.
        level: Confidence level of each interval by itself.
    """

    trait: Measured
    unrelated: Measured
    best: tuple[float, float]
    level: float


def unrelated_unknown(
    groups: Pair, asked: Sequence[Chance], *, level: float = 0.95
) -> UnrelatedUnknown:
    """Estimate both traits from two groups that were asked the question with different chances.

    λᵢ = pᵢπ + (1 − pᵢ)u, so π = (λ₁(1 − p₂) − λ₂(1 − p₁))/(p₁ − p₂). Intervals are those of the
    likelihood ratio with both shares from 0 to 1, the other one free; never empty.

    Args:
        groups: Counts (no, yes) of the two groups, to which people were assigned at random.
        asked: Chance of the sensitive question in each group; different.
        level: Confidence level of each interval by itself.

    Raises:
        EstimateError: If counts or chances do not fit.

    References:
        [GASH69] B. G. Greenberg, A.-L. Abul-Ela, W. R. Simmons and D. G. Horvitz, The Unrelated
        Question Randomized Response Model, JASA 64 (1969), 520-539.

    >>> found = unrelated_unknown([(110, 90), (130, 70)], ["0.7", "0.3"])
    >>> round(found.trait.value, 6), round(found.unrelated.value, 6)
    (0.525, 0.275)
    """
    table = checked_pair(groups)
    if len(asked) != 2:
        raise EstimateError("expected a chance for each of two groups")
    p = np.array([float(chance("asked", value)) for value in asked])
    if abs(p[0] - p[1]) < 1e-12:
        raise EstimateError("the two groups need different chances")
    sizes = table.sum(axis=1)
    seen = table[:, 1] / sizes
    inverse = np.linalg.inv(np.column_stack([p, 1 - p]))
    shares = inverse @ seen
    spread = seen * (1 - seen) / np.maximum(sizes - 1, 1)
    errors = np.sqrt(inverse**2 @ spread)

    def likelihood(trait: float, unrelated: float) -> float:
        said = np.clip(p * trait + (1 - p) * unrelated, 0, 1)
        return float((xlogy(table[:, 1], said) + xlog1py(table[:, 0], -said)).sum())

    trait_best, top = _largest(lambda t: _largest(lambda u: likelihood(t, u))[1])
    unrelated_best = _largest(lambda u: likelihood(trait_best, u))[0]
    least = top - float(chdtri(1, 1 - level)) / 2

    def trait_kept(share: float) -> bool:
        return _largest(lambda u: likelihood(share, u))[1] >= least

    def unrelated_kept(share: float) -> bool:
        return _largest(lambda t: likelihood(t, share))[1] >= least

    return UnrelatedUnknown(
        _measured(float(shares[0]), float(errors[0]), trait_kept, trait_best),
        _measured(float(shares[1]), float(errors[1]), unrelated_kept, unrelated_best),
        (trait_best, unrelated_best),
        level,
    )


def _measured(value: float, error: float, kept: Callable[[float], bool], best: float) -> Measured:
    return Measured(value, error, walk(kept, best, 0.0), walk(kept, best, 1.0))


def _largest(of: Callable[[float], float]) -> tuple[float, float]:
    """Maximise a concave function over [0, 1], its ends included."""
    found = minimize_scalar(
        lambda x: -of(float(x)) if math.isfinite(of(float(x))) else 1e300,
        bounds=(0, 1), method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return max(((x, of(x)) for x in (float(found.x), 0.0, 1.0)), key=lambda pair: pair[1])
