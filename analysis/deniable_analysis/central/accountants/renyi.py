"""Rényi divergences of single releases, and the best (ε, δ) that a Rényi curve gives.

All divergences are upper bounds that are exact but for rounding, except that of the discrete
Gaussian (for which its ρα is used). Sampled releases take the larger of both orders of neighbours.

References:
    [Mir17] I. Mironov, *Rényi Differential Privacy*, CSF 2017 (arXiv:1702.07476), Table II.
    [MTZ19] I. Mironov, K. Talwar and L. Zhang, *Rényi Differential Privacy of the Sampled Gaussian
        Mechanism*, arXiv:1908.10530: Theorem 4 gives the integral, Theorem 5 its worst order.
    [ACG16] M. Abadi et al., *Deep Learning with Differential Privacy*, CCS 2016: the moments
        accountant, which is the same bound at whole orders.
    [TW14] L. N. Trefethen and J. A. C. Weideman, *The Exponentially Convergent Trapezoidal Rule*,
        SIAM Review 56 (2014), Theorem 5.1.
    [CKS20] C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy*,
        NeurIPS 2020 (arXiv:2004.00010v5), Proposition 12. The same bound is in
    [BBG20] B. Balle, G. Barthe, M. Gaboardi, J. Hsu and T. Sato, *Hypothesis Testing
        Interpretations and Rényi Differential Privacy*, AISTATS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar

from deniable_analysis.central.accountants.pld.pairs import Pair, pairs_of
from deniable_analysis.central.accountants.pld.tilt import Law
from deniable_analysis.central.events import (
    ApproximateEvent,
    DiscreteGaussianEvent,
    GaussianEvent,
    LaplaceEvent,
    Leaf,
    PoissonSampledEvent,
    ZCDPEvent,
    sampling_of,
)
from deniable_analysis.central.profiles import Floats

_UP = 1 + 1e-12
_ROUNDING = 1e-15  # of one integral, absolute
_NATS = 70.0  # the trapezoidal rule and the range are right to e^-70
_WIDEST_STEP = 0.25
_MOST_POINTS = 2**18
_LEAST_ORDER, _LARGEST_ORDER = 1e-6, 1e8  # of α − 1
_COARSE = 64
_PAST = 8  # orders, each 1.7 times the last, that are tried beyond the best


@lru_cache(maxsize=2**14)
def divergence(release: Leaf, order: float) -> float:
    """Bound the Rényi divergence of one release at an order α.

    Args:
        release: A release other than an (ε, δ) one, which has none.
        order: α > 1.

    Returns:
        Nats, rounded up; inf where it is infinite or would take more than a second to find.

    >>> divergence(GaussianEvent(1.0), 3.0) == 1.5 * (1 + 1e-12)
    True
    """
    rate, inner = sampling_of(release)
    if isinstance(inner, GaussianEvent) and rate < 1:
        return sampled_gaussian(rate, inner.noise_multiplier, order)
    if isinstance(inner, GaussianEvent):
        return order / 2 / inner.noise_multiplier / inner.noise_multiplier * _UP
    if isinstance(inner, DiscreteGaussianEvent):
        ratio = inner.sensitivity / inner.sigma
        return order / 2 * ratio * ratio * _UP
    if isinstance(inner, ZCDPEvent):
        return order * inner.rho * _UP
    if isinstance(inner, LaplaceEvent) and rate == 1:
        return _laplace(1 / inner.noise_multiplier, order)
    return _of_law(release, order)


def refusal(release: Leaf) -> str | None:
    """Say why no Rényi divergence of *release* is known, if so."""
    if isinstance(release, PoissonSampledEvent):
        if isinstance(release.event, ZCDPEvent):
            return "rho alone does not say what sampling gains: name the mechanism"
        if isinstance(release.event, DiscreteGaussianEvent | ApproximateEvent):
            return "sampling it is proved for the pld accountant only"
    return None


def sampled_gaussian(rate: float, sigma: float, order: float) -> float:
    """Bound the Rényi divergence of the Gaussian mechanism on a Poisson sample [MTZ19].

    With y = q (e^u − 1), u = (2x − 1/σ)/2σ the loss of the unsampled mechanism at x ~ N(0, 1), it
    is ln E (1 + y)^α / (α − 1). As E y = 0, the mean of (1 + y)^α − 1 − αy ≥ 0 is taken instead:
    nothing cancels, however rare sampling is. The integrand has no pole within πσ of the real line
    and there it grows by e^(d²/2) at most, so the trapezoidal rule converges geometrically [TW14].

    Args:
        rate: q in (0, 1).
        sigma: Noise multiplier.
        order: α > 1, any real number.

    Returns:
        Nats, rounded up.
    """
    if not 1e-100 < sigma < 1e100:  # beyond float64; sampling never costs privacy
        return order / 2 / sigma / sigma * _UP
    strip = min(math.pi * sigma * 0.999, 6.0)
    step = min(_WIDEST_STEP, math.tau * strip / (_NATS + strip**2 / 2))
    reach = math.sqrt(2 * _NATS)
    # E (1 + y)^α ≤ E e^(αu)⁺ + 1, the bulk of which lies between 0 and α/σ
    points = (2 * reach + order / sigma) / step
    if not points < _MOST_POINTS:
        return order / 2 / sigma / sigma * _UP
    x = step * np.arange(-math.ceil(reach / step), math.ceil((order / sigma + reach) / step) + 1)
    u = (2 * x - 1 / sigma) / (2 * sigma)
    log_weight = math.log(step) - math.log(math.tau) / 2 - x**2 / 2
    log_moment = _log_moment(order, np.asarray(u), np.asarray(log_weight), rate)
    return min((log_moment * _UP) / (order - 1), order / 2 / sigma / sigma * _UP)


def _log_moment(order: float, u: Floats, log_weight: Floats, rate: float) -> float:
    """Compute ln (1 + Σ weight ((1 + y)^α − 1 − αy)), y = q (e^u − 1)."""
    small = np.minimum(u, 300.0)
    y = rate * np.expm1(small)
    log1y = np.where(u <= 1, np.log1p(y), u + np.log(rate + (1 - rate) * np.exp(-np.abs(u))))
    power = order * log1y
    top = max(float((power + log_weight).max()), 0.0)
    if top > 0 or float(power.max()) > 600.0:
        # Nothing cancels in the logarithm of so large a moment, so it is taken as it is.
        return top + math.log(float(np.exp(power + log_weight - top).sum())) + 10 * _ROUNDING
    excess = np.expm1(power) - order * y
    tiny = np.abs(order * y) < 1e-2
    excess = np.where(tiny, _series(order, np.where(tiny, y, 0.0)), excess)
    return math.log1p(float(np.exp(log_weight) @ np.maximum(excess, 0.0)))


def _series(order: float, y: Floats) -> Floats:
    """Compute (1 + y)^α − 1 − αy for small αy by the binomial series."""
    term = np.asarray(order * (order - 1) / 2 * y * y)
    total = term.copy()
    for k in range(3, 10):
        term = term * y * (order - k + 1) / k
        total += term
    return total


def _laplace(level: float, order: float) -> float:
    """Compute the divergence of Laplace noise [Mir17]; it is at most ε and at most its limit."""
    a = order
    first = math.log(a / (2 * a - 1)) + (a - 1) * level
    second = math.log((a - 1) / (2 * a - 1)) - a * level
    if a * level > 1:
        return min((float(np.logaddexp(first, second)) / (a - 1) + 1e-15) * _UP, level)
    # The mean of e^((α−1)ε) and e^(−αε) with weights α and α − 1, less 1, without cancellation.
    up, down = _expm1_less(np.array([(a - 1) * level, -a * level])).tolist()
    return min(math.log1p((a * up + (a - 1) * down) / (2 * a - 1)) / (a - 1) * _UP, level)


def _expm1_less(x: Floats) -> Floats:
    """Compute e^x − 1 − x without cancellation."""
    term = np.asarray(x * x / 2)
    total = term.copy()
    near = np.abs(x) < 0.1
    for k in range(3, 12):
        term = np.where(near, term, 0.0) * x / k
        total += term
    return np.where(near, total, np.expm1(x) - x)


def _of_law(release: Leaf, order: float) -> float:
    """Compute the divergence from the law of the privacy loss, the worse order of neighbours."""
    return max(_of_pair(pair, order - 1) for pair in pairs_of(release, 0.0))


def _of_pair(pair: Pair, theta: float) -> float:
    ceiling = pair.ends()[1] * _UP
    if pair.infinite:
        return math.inf
    # Quadrature must resolve e^(θL): its pieces span a quarter of a unit of θL.
    parts = tuple(replace(p, piece=min(p.piece, 0.25 / theta)) for p in pair.smooth)
    if sum((part.high - part.low) / part.piece for part in parts) > _MOST_POINTS:
        return ceiling
    mass, loss = replace(pair, smooth=parts).nodes()
    if (1 + theta) * float(np.abs(loss).max()) < 1:
        # As E e^(−L) = 1, this is E e^(θL) − 1: what is of first order in L cancels beforehand.
        excess = _expm1_less(theta * loss) + theta * _expm1_less(-loss)
        log_moment = math.log1p(float(mass @ excess))
    else:
        log_moment = Law(mass, loss, 1).cgf(theta) + _ROUNDING
    return min(log_moment * _UP / theta, ceiling)


def best_epsilon(curve: Callable[[float], float], delta: float) -> float:
    """Find the smallest ε that a Rényi curve gives at δ > 0, over all orders.

    Args:
        curve: Divergence in nats at each order α > 1; inf where there is none.
        delta: In (0, 1).
    """
    # ε falls steeply and then rises with the order; large orders cost most.
    return least(lambda theta: epsilon_at(theta, curve(1 + theta), delta), past=_PAST)


def best_log_delta(curve: Callable[[float], float], epsilon: float) -> float:
    """Find the smallest ln δ that a Rényi curve gives at ε, over all orders."""
    return least(lambda theta: log_delta_at(theta, curve(1 + theta), epsilon))


def epsilon_at(theta: float, value: float, delta: float) -> float:
    """Turn a divergence at order 1 + θ into an ε at δ [CKS20]."""
    if not value < math.inf:
        return math.inf
    # TV² ≤ 1 − e^(−KL) (Bretagnolle and Huber): a divergence this small needs no ε.
    if value < -math.log1p(-(delta**2)):
        return 0.0
    gain = math.log1p(theta) + math.log(delta) + theta * math.log1p(1 / theta)
    return max(value - gain / theta, 0.0) * _UP


def log_delta_at(theta: float, value: float, epsilon: float) -> float:
    """Turn a divergence at order 1 + θ into a ln δ at ε [CKS20]."""
    if not value < math.inf:
        return 0.0
    peak = -math.log1p(theta) - theta * math.log1p(1 / theta)
    apart = math.log(-math.expm1(-value)) / 2 if value > 0 else -math.inf
    bound = theta * (value - epsilon) + peak
    return min(bound + 1e-12 * (1 + abs(bound)), apart, 0.0)


def least(objective: Callable[[float], float], past: int = _COARSE) -> float:
    """Minimise over θ = α − 1 > 0: a coarse row of orders, then bounded search near its best.

    Any order gives a valid bound, so the search can only cost tightness.

    Args:
        objective: What to minimise.
        past: How many orders in a row may be worse than the best before the row is cut short.
    """
    row = np.linspace(math.log(_LEAST_ORDER), math.log(_LARGEST_ORDER), _COARSE)
    values: list[float] = []
    at = 0
    for t in row.tolist():
        values.append(objective(math.exp(t)))
        at = at if values[at] < values[-1] else len(values) - 1
        if len(values) > at + past and values[at] < math.inf:
            break
    found = minimize_scalar(
        lambda t: objective(math.exp(t)),
        bounds=(float(row[max(at - 1, 0)]), float(row[min(at + 1, _COARSE - 1)])),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return min(values[at], float(found.fun))
