"""Dominating pairs: the two output laws that are hardest to tell apart, by their privacy loss.

A pair (P, Q) dominates a mechanism if no two neighbours can be told apart better than P from Q
[ZDW22]. All that composition needs of it is the law of the privacy loss L = ln(dP/dQ) under P:
point masses, a smooth part integrated by quadrature, and the mass where Q has none (L = ∞).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri_exp

from deniable_analysis.central.events import (
    ApproximateEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    Leaf,
    PureEvent,
    RandomizedResponseEvent,
    Single,
    sampling_of,
)
from deniable_analysis.central.profiles import Floats, ResponseProfile, log_odds
from deniable_protocol.errors import EventError

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
# 4-point Gauss-Legendre on pieces of 1/32 standard deviation is right to 2e-12 at 15 standard
# deviations and to 1e-15 in the bulk (its remainder is w⁹ f⁽⁸⁾ / 1.8e9).
_PIECES = 32
_LEAST = 1e-300  # masses below this are lost to float64; they are counted as infinite loss

_LEAST_NOISE, _MOST_NOISE = 5e-4, 1e6  # less hides nothing; more is counted as this much
_MOST_LEVEL = 500.0  # a Laplace release with a larger ε is as good as randomized response
_MOST_ATOMS = 10**7

Atoms: TypeAlias = tuple[Floats, Floats, Floats]
Ends: TypeAlias = tuple[tuple[float, float], ...]
Curve: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Smooth:
    """A part of a pair with a density, along a coordinate in which the loss increases.

    Args:
        density: Density of P at each coordinate.
        loss: ln(dP/dQ) at each coordinate, increasing.
        inverse: The coordinate at which a loss is reached; ±inf outside the range.
        low: First coordinate.
        high: Last coordinate.
        piece: Widest piece that quadrature may take at once.
    """

    density: Curve
    loss: Curve
    inverse: Curve
    low: float
    high: float
    piece: float

    def nodes(self, knots: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """Integrate P over pieces that never cross one of the losses *knots*.

        Returns:
            Mass, loss and loss at the middle of the piece, each of shape (pieces * 4,).
        """
        edges = np.linspace(self.low, self.high, 2 + math.ceil((self.high - self.low) / self.piece))
        if knots is not None:
            crossings = self.inverse(knots)
            inside = (crossings > self.low) & (crossings < self.high)
            edges = np.sort(np.concatenate([edges, crossings[inside]]))
        half = np.diff(edges)[:, None] / 2
        middle = edges[:-1, None] + half
        points = middle + half * _NODES
        mass = half * _WEIGHTS * self.density(points)
        return mass.ravel(), self.loss(points).ravel(), np.repeat(self.loss(middle), len(_NODES))


@dataclass(frozen=True, slots=True)
class Pair:
    """The law of the privacy loss of one release.

    Args:
        mass: P of each point mass; shape (atoms,).
        loss: Its loss; finite; shape (atoms,).
        smooth: The parts with a density.
        infinite: P where Q has no mass.
        cut: P that was left out; an upper bound must count it as infinite loss.
        exact: Whether the pair is the worst case itself, and not merely worse than it.
    """

    mass: Floats = field(default_factory=lambda: np.zeros(0))
    loss: Floats = field(default_factory=lambda: np.zeros(0))
    smooth: tuple[Smooth, ...] = ()
    infinite: float = 0.0
    cut: float = 0.0
    exact: bool = True

    def nodes(self) -> tuple[Floats, Floats]:
        """Find masses and losses that stand for the pair in a sum over its finite losses."""
        parts = [part.nodes()[:2] for part in self.smooth]
        mass = np.concatenate([self.mass, *(part[0] for part in parts)])
        loss = np.concatenate([self.loss, *(part[1] for part in parts)])
        return mass[mass > 0], loss[mass > 0]

    def ends(self) -> tuple[float, float]:
        """Find the smallest and the largest finite loss."""
        parts = [part.loss(np.array([part.low, part.high])) for part in self.smooth]
        every = np.concatenate([self.loss, *parts])
        return float(every.min()), float(every.max())

    def spacing(self) -> float | None:
        """Find the gap of which all losses are whole multiples apart, if there is one."""
        if self.smooth or len(self.loss) == 0:
            return None
        losses = np.unique(self.loss)
        if len(losses) == 1:
            return None
        gap = float(np.diff(losses).min())
        steps = (losses - losses[0]) / gap
        regular = steps[-1] < _MOST_ATOMS and np.allclose(
            steps, np.round(steps), rtol=0, atol=1e-10
        )
        return gap if regular else None


def pairs_of(release: Leaf, tail: float) -> tuple[Pair, ...]:
    """Find pairs of which at least one dominates *release* for every order of two neighbours.

    Args:
        release: A release with a known pair.
        tail: Mass that may be cut off the upper tail (and is counted as infinite loss).

    Returns:
        One pair where the two orders of neighbours give the same law, else two.

    Raises:
        EventError: If no pair is known.

    References:
        [ZDW22] Y. Zhu, J. Dong and Y.-X. Wang, *Optimal Accounting of Differential Privacy via
        Characteristic Function*, AISTATS 2022, Theorem 11 for the sampled pairs.
    """
    rate, inner = sampling_of(release)
    if isinstance(inner, GaussianEvent):
        if inner.noise_multiplier < _LEAST_NOISE:
            return (_revealed(rate),)
        found = _gaussian(min(inner.noise_multiplier, _MOST_NOISE), rate, tail)
        exact = inner.noise_multiplier <= _MOST_NOISE
        return tuple(replace(pair, exact=exact) for pair in found)
    if isinstance(inner, LaplaceEvent):
        if inner.noise_multiplier * _MOST_LEVEL < 1:
            return tuple(
                replace(pair, exact=False)
                for pair in _sampled(*_two(1 / inner.noise_multiplier), rate)
            )
        return _laplace(1 / inner.noise_multiplier, rate)
    if isinstance(inner, ApproximateEvent):
        return _approximate(inner, rate)
    if isinstance(inner, DiscreteGaussianEvent):
        found = _sampled(*_discrete_gaussian(inner, tail), rate)
        return tuple(replace(pair, cut=2 * tail) for pair in found)
    return _sampled(*_atoms(inner), rate)


def _revealed(rate: float) -> Pair:
    """Build the pair of a release that hides nothing but who was sampled."""
    with np.errstate(divide="ignore"):
        stay = np.log1p(np.full(1, -rate))
    mass = np.full(1, 1 - rate)[stay > -np.inf]
    return Pair(mass=mass, loss=stay[stay > -np.inf], infinite=rate, exact=False)


def _gaussian(sigma: float, rate: float, tail: float) -> tuple[Pair, ...]:
    """Build N(1, σ²) mixed into N(0, σ²) against N(0, σ²), and the reverse."""
    reach, far = sigma * _reach(tail), sigma * _reach(tail / rate)

    def ratio(x: Floats) -> Floats:  # ln((1 − q) + q e^u), u the loss of the unsampled Gaussian
        return _mixed((2 * x - 1) / (2 * sigma**2), rate)

    def unmix(loss: Floats) -> Floats:
        return sigma**2 * _unmixed(loss, rate) + 0.5

    def normal(x: Floats) -> Floats:
        return np.asarray(np.exp(-((x / sigma) ** 2) / 2) / (sigma * math.sqrt(math.tau)))

    def mixture(x: Floats) -> Floats:
        return (1 - rate) * normal(x) + rate * normal(x - 1)

    def parts(density: Curve, loss: Curve, inverse: Curve, ends: Ends) -> tuple[Smooth, ...]:
        return tuple(Smooth(density, loss, inverse, *end, sigma / _PIECES) for end in ends)

    if rate == 1:
        ends: Ends = ((1 - reach, 1 + reach),)
        return (Pair(smooth=parts(mixture, ratio, unmix, ends), cut=2 * tail),)
    ends = ((-reach, max(reach, 1 + far)),)
    if reach + far < 1:
        ends = ((-reach, reach), (1 - far, 1 + far))
    mirrored = ((-reach, reach),)
    remove = parts(mixture, ratio, unmix, ends)
    add = parts(normal, lambda x: -ratio(-x), lambda v: -unmix(-v), mirrored)
    return Pair(smooth=remove, cut=4 * tail), Pair(smooth=add, cut=2 * tail)


def _laplace(ceiling: float, rate: float) -> tuple[Pair, ...]:
    """Build the Laplace pair: two point masses, and losses v between of density e^((v−ε₀)/2)/4."""
    ends, steep = np.array([ceiling, -ceiling]), math.exp(-ceiling)

    def density(v: Floats) -> Floats:
        return np.asarray(np.exp((v - ceiling) / 2) / 4)

    def both(v: Floats) -> Floats:
        return rate * density(v) + (1 - rate) * density(-v)

    def part(law: Curve, loss: Curve, inverse: Curve) -> tuple[Smooth, ...]:
        return (Smooth(law, loss, inverse, -ceiling, ceiling, min(0.125, ceiling / 8)),)

    mass = np.array([0.5, steep / 2])
    remove = part(both, lambda v: _mixed(v, rate), lambda v: _unmixed(v, rate))
    if rate == 1:
        return (Pair(mass=mass, loss=ends, smooth=remove),)
    add = part(density, lambda v: -_mixed(-v, rate), lambda v: -_unmixed(-v, rate))
    return (
        Pair(rate * mass + (1 - rate) * mass[::-1], _mixed(ends, rate), remove),
        Pair(mass, -_mixed(-ends, rate), add),
    )


def _mixed(u: Floats, rate: float) -> Floats:
    """Compute ln(1 − q + q e^u) without overflow or cancellation."""
    if rate == 1:
        return u
    small = np.log1p(rate * np.expm1(np.minimum(u, 1.0)))
    large = u + np.log(rate + (1 - rate) * np.exp(-np.maximum(u, 1.0)))
    return np.asarray(np.where(u <= 1, small, large))


def _unmixed(loss: Floats, rate: float) -> Floats:
    """Invert :func:`_mixed`; −inf at and below its lower limit ln(1 − q)."""
    if rate == 1:
        return loss
    with np.errstate(divide="ignore", invalid="ignore"):
        small = np.log1p(np.maximum(np.expm1(np.minimum(loss, 1.0)) / rate, -1.0))
        large = loss + np.log1p((rate - 1) * np.exp(-np.maximum(loss, 1.0))) - math.log(rate)
    return np.asarray(np.where(loss <= 1, small, large))


def _reach(tail: float) -> float:
    """Find how many standard deviations hold all but *tail* of one side of a normal law."""
    return float(-ndtri_exp(math.log(min(max(tail, _LEAST), 0.4))))


def _atoms(event: Single) -> Atoms:
    """List the point masses of P, of Q, and their losses, where all are finite."""
    if isinstance(event, PureEvent):
        return _two(event.epsilon)
    if isinstance(event, RandomizedResponseEvent):
        profile = ResponseProfile(event.options, event.odds, event.subset)
        high, low = float(profile.weight), float(profile.weight / event.odds)
        level = log_odds(event.odds)
        mass = np.array([high, 1 - high - low, low])
        return mass, mass[::-1], np.array([level, 0.0, -level])
    if isinstance(event, DiscreteLaplaceEvent):
        return _discrete_laplace(event)
    raise EventError(f"no privacy loss distribution is known for {event!r}")


def _two(level: float) -> Atoms:
    """Build randomized response at ε, which dominates every ε-private release [KOV15]."""
    high = 1 / (1 + math.exp(-level))
    mass = np.array([high, high * math.exp(-level)])
    return mass, mass[::-1], np.array([level, -level])


def _approximate(event: ApproximateEvent, rate: float) -> tuple[Pair, ...]:
    """Build the worst (ε, δ)-private release; sampled, the outputs that give all away do not."""
    mass, other, loss = _two(event.epsilon)
    keep = 1 - event.delta
    if rate == 1:
        return (Pair(keep * mass, loss, infinite=event.delta),)
    remove, add = _sampled(keep * mass, keep * other, loss, rate)
    stay = math.log1p(-rate)
    return (
        Pair(
            np.append(remove.mass, (1 - rate) * event.delta),
            np.append(remove.loss, stay),
            infinite=rate * event.delta,
        ),
        Pair(np.append(add.mass, event.delta), np.append(add.loss, -stay)),
    )


def _discrete_laplace(event: DiscreteLaplaceEvent) -> Atoms:
    """List noise around 0 against noise around the sensitivity, outputs with equal loss together.

    The shift by the full sensitivity is the worst: both laws are log-concave, so the best tests are
    thresholds, and a threshold gains power with the shift. The same holds for discrete Gaussians.
    """
    shift, level = event.sensitivity, event.sensitivity / event.scale
    if shift > _MOST_ATOMS:
        raise EventError(f"sensitivity must be at most {_MOST_ATOMS} grid steps, got {shift}")
    between = np.arange(1, shift)
    steep = math.exp(-1 / event.scale)
    bulk = -math.expm1(-1 / event.scale) / (1 + steep) * np.exp(-between / event.scale)
    ends = np.array([1.0, math.exp(-level)]) / (1 + steep)
    loss = np.concatenate([[level, -level], (shift - 2 * between) / event.scale])
    mass, other = np.concatenate([ends, bulk]), np.concatenate([ends[::-1], bulk[::-1]])
    return mass, other, loss


def _discrete_gaussian(event: DiscreteGaussianEvent, tail: float) -> Atoms:
    """List noise around 0 against noise around the sensitivity; see :func:`_discrete_laplace`."""
    shift, sigma = event.sensitivity, event.sigma
    # Discrete Gaussians are sub-Gaussian with their σ [CKS20, Cor. 17]: P(|X| > t) ≤ 2e^(−t²/2σ²).
    reach = math.ceil(sigma * math.sqrt(-2 * math.log(max(tail, _LEAST) / 2))) + 1
    if 2 * reach > _MOST_ATOMS or shift / sigma > 1 / _LEAST_NOISE:
        raise EventError(
            f"expected noise below {_MOST_ATOMS} grid steps and a sensitivity within it, "
            f"got sigma {sigma!r}, sensitivity {shift}"
        )
    x = np.arange(-reach, reach + 1)
    weight = np.exp(-((x / sigma) ** 2) / 2)
    moved = np.exp(-(((x - shift) / sigma) ** 2) / 2)
    total = float(weight.sum())
    loss = np.asarray(shift * (shift - 2.0 * x) / (2 * sigma**2), dtype=np.float64)
    return weight / total, moved / total, loss


def _sampled(mass: Floats, other: Floats, loss: Floats, rate: float) -> tuple[Pair, ...]:
    """Mix point masses of P with probability *rate* into those of Q, in both orders."""
    if rate == 1:
        return (Pair(mass, loss),)
    remove = Pair(rate * mass + (1 - rate) * other, _mixed(loss, rate))
    return remove, Pair(mass, -_mixed(-loss, rate))
