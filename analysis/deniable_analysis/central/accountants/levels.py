"""The ε, or the ε at a δ, that one release has by itself: what composition theorems start from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from deniable_analysis.central.arguments import float_up
from deniable_analysis.central.discrete_profiles import WIDEST, DiscreteGaussianProfile
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
    ZCDPEvent,
    sampling_of,
)
from deniable_analysis.central.profiles import GaussianProfile, Profile, log_odds

_UP = 1 + 4e-16
Ledger = Mapping[Leaf, int]


def pure_level(release: Leaf) -> Fraction | None:
    """Bound the ε of one release at δ = 0, apart from the δ that is its own.

    Poisson sampling turns ε into ln(1 + q(e^ε − 1)) for add-or-remove-one neighbours.

    Returns:
        ε as a fraction that is exact or rounded up; None if no finite ε holds.

    >>> pure_level(PureEvent(0.5))
    Fraction(1, 2)
    """
    rate, inner = sampling_of(release)
    level = _pure(inner)
    if level is None or rate == 1:
        return level
    return Fraction(amplified(float_up(level), rate))


def amplified(level: float, rate: float) -> float:
    """Compute ln(1 + q(e^ε − 1)), rounded up."""
    if level < 1:
        return math.log1p(rate * math.expm1(level)) * _UP
    return (level + math.log(rate + (1 - rate) * math.exp(-level))) * _UP + 2e-16


def _pure(inner: Single) -> Fraction | None:
    match inner:
        case PureEvent() | ApproximateEvent():
            return Fraction(inner.epsilon)
        case LaplaceEvent():
            return 1 / Fraction(inner.noise_multiplier)
        case DiscreteLaplaceEvent():
            return inner.sensitivity / Fraction(inner.scale)
        case RandomizedResponseEvent():
            return Fraction(log_odds(inner.odds))
        case _:
            return None


def level_at(release: Leaf, delta: float) -> float:
    """Find the ε of one release at a δ of its own, for releases whose ε depends on δ.

    Sampling turns (ε, δ) into (ln(1 + q(e^ε − 1)), qδ).

    Args:
        release: Gaussian or discrete Gaussian noise, perhaps on a Poisson sample.
        delta: In (0, 1).
    """
    rate, inner = sampling_of(release)
    share = min(delta / rate, 1 - 2**-53)
    if isinstance(inner, GaussianEvent) and not 1e-150 < inner.noise_multiplier < 1e150:
        return math.inf if inner.noise_multiplier < 1 else 0.0
    level = _profile(inner).epsilon(share)
    return level if rate == 1 or math.isinf(level) else amplified(level, rate)


def _profile(inner: Single) -> Profile:
    if isinstance(inner, DiscreteGaussianEvent):
        return DiscreteGaussianProfile(inner.sigma, inner.sensitivity)
    assert isinstance(inner, GaussianEvent)  # noqa: S101  # the accountants refuse all others
    return GaussianProfile(1 / inner.noise_multiplier)


def own_delta(release: Leaf) -> Fraction:
    """Return the δ that an (ε, δ) release brings with it; sampled with probability q, it is qδ."""
    rate, inner = sampling_of(release)
    return (
        Fraction(inner.delta) * Fraction(rate)
        if isinstance(inner, ApproximateEvent)
        else Fraction(0)
    )


def refusal(release: Leaf) -> str | None:
    """Say why *release* has no (ε, δ) of its own, if so."""
    inner = sampling_of(release)[1]
    if isinstance(inner, DiscreteGaussianEvent) and max(inner.sigma, inner.sensitivity) > WIDEST:
        return f"its profile is summed up to {WIDEST:g} grid steps only: use zcdp, rdp or best"
    if isinstance(inner, ZCDPEvent):
        return "rho is a Rényi guarantee: use zcdp, rdp or best"
    return None


def total_level(ledger: Ledger) -> float:
    """Add up the ε of all releases, rounded up; inf if one has none."""
    total = Fraction(0)
    for release, count in ledger.items():
        level = pure_level(release)
        if level is None:
            return math.inf
        total += count * level
    return float_up(total)


def total_delta(ledger: Ledger) -> Fraction:
    """Add up the δ that releases bring with them, exactly."""
    return sum((count * own_delta(release) for release, count in ledger.items()), Fraction(0))


def lost(ledger: Ledger) -> float:
    """Bound 1 − Π(1 − δᵢ), the chance that one of the (ε, δ) releases gave everything away."""
    together = float_up(total_delta(ledger))
    if together == 0 or sum(count for release, count in ledger.items() if own_delta(release)) == 1:
        return together
    kept = sum(n * math.log1p(-float_up(own_delta(r))) for r, n in ledger.items())
    return min(together, -math.expm1(kept) * (1 + 1e-14), 1.0)
