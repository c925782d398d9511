"""Composition theorems for (ε, δ): the advanced one, its refinement, and the optimum.

References:
    [DRV10] C. Dwork, G. Rothblum and S. Vadhan, *Boosting and Differential Privacy*, FOCS 2010.
    [KOV15] P. Kairouz, S. Oh and P. Viswanath, *The Composition Theorem for Differential Privacy*,
        ICML 2015 (arXiv:1311.0776), Theorems 3.3 to 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.signal import lfilter
from scipy.stats import binom

_UP = 1 + 1e-11
_LARGEST_LEVEL = 300.0
LEAST_SLACK = 1e-280  # of an optimal composition; below, its masses leave float64
MOST_STEPS = 10**6  # of an optimal composition; beyond, it is left to privacy loss distributions

Steps = Sequence[tuple[float, int]]


def dwork_rothblum_vadhan(steps: Steps, slack: float) -> float:
    """Compute √(2 ln(1/δ′) Σε²) + Σε(e^ε − 1) [DRV10].

    Args:
        steps: Pairs of an ε and how often it was spent.
        slack: δ′ > 0, the δ that composition costs on top of the steps' own.

    >>> round(dwork_rothblum_vadhan([(0.1, 100)], 1e-6), 4)
    6.3082
    """
    drift = sum(n * e * (math.expm1(e) if e < 700 else math.inf) for e, n in steps)
    return drift + _deviation(steps, slack)


def kairouz_oh_viswanath(steps: Steps, slack: float) -> float:
    """Compute the least of the three bounds of [KOV15, Theorem 3.5]."""
    drift = sum(n * e * math.tanh(e / 2) for e, n in steps)
    square = sum(n * e * e for e, n in steps)
    mild = math.sqrt(2 * square * math.log(math.e + math.sqrt(square) / slack))
    return min(sum(n * e for e, n in steps), drift + min(mild, _deviation(steps, slack)))


def _deviation(steps: Steps, slack: float) -> float:
    return math.sqrt(-2 * math.log(slack) * sum(n * e * e for e, n in steps))


def optimal_epsilon(level: float, count: int, slack: float) -> float:
    """Find the smallest ε for any ε₀-private step taken k times, at δ′ [KOV15, Theorem 3.3].

    No bound that knows only ε₀ can be smaller. δ′(ε) = Σ P(l)(1 − e^(ε − loss)) over the losses
    (k − 2l)ε₀ above ε is a straight line in e^ε between two losses, so it is inverted exactly.

    Args:
        level: ε₀ of each step; at least 0.
        count: k, 1 to a million.
        slack: δ′ in (0, 1).

    >>> round(optimal_epsilon(0.1, 100, 1e-6), 6)
    4.774568
    """
    if level == 0:
        return 0.0
    if level > _LARGEST_LEVEL:
        return count * level * _UP  # lower by less than ln(1 − δ′), which is lost in rounding
    wrong = np.arange(count // 2 + 1)  # the losses (k − 2l)ε₀ that are not below 0
    mass = binom.pmf(wrong, count, 1 / (1 + math.exp(level)))
    # W(l) = Σ P(j) e^(loss(l) − loss(j)) over j ≤ l; δ′ grows by (1 − e^(−2ε₀)) W per loss.
    weight = lfilter([1.0], [1.0, -math.exp(-2 * level)], mass)
    gained = np.concatenate([[0.0], np.cumsum(-math.expm1(-2 * level) * weight)])
    last = min(int(np.searchsorted(gained, slack, side="right")) - 1, len(weight) - 1)
    missing = max((slack - gained[last]) / weight[last], 0.0) if weight[last] > 0 else 0.0
    if missing >= 1:
        return 0.0
    return max((count - 2 * last) * level + math.log1p(-missing), 0.0) * _UP
