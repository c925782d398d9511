"""Show that a mechanism meets the definition it promises, or refuse it.

A mechanism is a claim: this noise, for this sensitivity, meets this definition. ``verify`` compares
the claim with what is known of the noise exactly: its largest privacy loss and its ρ as fractions,
its privacy profile δ(ε) and trade-off curve in closed form. It does not run the mechanism, so no
luck is involved, and a mechanism built by hand with too little noise fails.

References:
    [BS16], [Mir17], [DRS22] see :mod:`deniable_analysis.central.definitions`.
    [KOV15] P. Kairouz, S. Oh and P. Viswanath, *The Composition Theorem for Differential Privacy*,
    ICML 2015 (arXiv:1311.0776): every ε-private mechanism is a function of randomized response.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from scipy.special import ndtr

from deniable_protocol.errors import MechanismError

from .arguments import exact, float_up
from .definitions import (
    ApproximateDP,
    Definition,
    GaussianDP,
    PureDP,
    RenyiDP,
    TradeOffDP,
    ZeroConcentratedDP,
)
from .discrete_profiles import ConcentratedProfile
from .events import Event, GaussianEvent
from .profiles import ApproximateProfile, Profile

Method = Literal["exact", "bound", "checked on a grid"]

_ERROR_RATES = 4001


class Mechanism(Protocol):
    """What a proof needs to know of a mechanism."""

    @property
    def promise(self) -> Definition:
        """The definition it is to meet."""

    @property
    def event(self) -> Event:
        """What a release costs."""

    @property
    def profile(self) -> Profile:
        """Its δ(ε) and trade-off curve, exact or an upper bound."""

    def delta(self, epsilon: float) -> float:
        """Its δ(ε), exact or an upper bound."""

    @property
    def largest_loss(self) -> Fraction | None:
        """The smallest ε it meets, or None."""

    @property
    def rho(self) -> Fraction | None:
        """The smallest ρ it meets, if it is Gaussian."""


@dataclass(frozen=True)
class Proof:
    """A promise that was found true.

    Args:
        mechanism: Whose promise it is.
        because: The inequality that was checked, in one line.
        method: ``exact`` (an identity or an inequality of exact numbers), ``bound`` (a theorem that
            gives away a little), or ``checked on a grid`` (of error rates, for a trade-off
            function).
    """

    mechanism: Mechanism
    because: str
    method: Method

    def delta(self, epsilon: float) -> float:
        """Return the mechanism's δ(ε): exact, or an upper bound where ``event`` is one."""
        return self.mechanism.delta(epsilon)


def verify(mechanism: Mechanism) -> Proof:
    """Prove that a mechanism meets its promise.

    Args:
        mechanism: Any of this package, however it was made.

    Returns:
        What was checked and how.

    Raises:
        MechanismError: If it does not meet the promise, or nothing that is known here shows it.

    >>> from deniable_analysis.central import Laplace, PureDP, count
    >>> print(verify(Laplace.calibrate(PureDP(1), count())).because)
    the largest loss is 1, at most epsilon = 1
    >>> from fractions import Fraction
    >>> verify(Laplace(PureDP(1), count(), scale=Fraction(1, 2), grid=Fraction(1, 1024)))
    Traceback (most recent call last):
    ...
    deniable_protocol.errors.MechanismError: not proved: the largest loss is 2, above epsilon = 1
    """
    promise = mechanism.promise
    match promise:
        case PureDP():
            return _at_most(
                mechanism, "the largest loss", mechanism.largest_loss, "epsilon", promise.epsilon
            )
        case ApproximateDP():
            return _approximate(mechanism, promise)
        case ZeroConcentratedDP():
            return _concentrated(mechanism, promise)
        case RenyiDP():
            return _renyi(mechanism, promise)
        case GaussianDP():
            return _gaussian(mechanism, promise)
        case TradeOffDP():
            return _trade_off(mechanism, promise)


def _at_most(
    mechanism: Mechanism,
    what: str,
    found: Fraction | float | None,
    name: str,
    bound: float,
    method: Method = "exact",
) -> Proof:
    """Compare exactly, and either prove or refuse."""
    if found is None:
        raise MechanismError(f"not proved: {what} has no finite bound, {name} = {bound:g} is asked")
    holds = found <= (exact(name, bound) if isinstance(found, Fraction) else bound)
    if not holds:
        raise MechanismError(
            f"not proved: {what} is {_shown(found, bound)}, above {name} = {bound:g}"
        )
    return Proof(mechanism, f"{what} is {_float(found):g}, at most {name} = {bound:g}", method)


def _shown(found: Fraction | float, bound: float) -> str:
    short = f"{_float(found):g}"
    return short if short != f"{bound:g}" else f"{_float(found):.17g}"


def _float(found: Fraction | float) -> float:
    """Round to a float for a sentence; what no float can hold becomes infinite."""
    return float_up(found) if isinstance(found, Fraction) else found


def _approximate(mechanism: Mechanism, promise: ApproximateDP) -> Proof:
    loss, epsilon = mechanism.largest_loss, exact("epsilon", promise.epsilon)
    if loss is not None and loss <= epsilon:
        return Proof(mechanism, f"the largest loss is {float(loss):g}, so delta is 0", "exact")
    found = mechanism.delta(promise.epsilon)
    bound = isinstance(mechanism.profile, ApproximateProfile | ConcentratedProfile)
    what = f"delta at epsilon = {promise.epsilon:g}"
    return _at_most(mechanism, what, found, "delta", promise.delta, "bound" if bound else "exact")


def _concentrated(mechanism: Mechanism, promise: ZeroConcentratedDP) -> Proof:
    if mechanism.rho is not None:
        return _at_most(mechanism, "sensitivity²/2σ²", mechanism.rho, "rho", promise.rho)
    loss = mechanism.largest_loss
    # ε-private implies ε²/2-concentrated [BS16, Prop. 1.4].
    square = None if loss is None else loss**2 / 2
    return _at_most(mechanism, "epsilon²/2", square, "rho", promise.rho, "bound")


def _renyi(mechanism: Mechanism, promise: RenyiDP) -> Proof:
    because = []
    for order, divergence in promise.curve:
        rho, loss = mechanism.rho, mechanism.largest_loss
        if rho is not None:
            found: Fraction | float | None = exact("order", order) * rho
        else:
            found = None if loss is None else pure_renyi(float(loss), order)
        proof = _at_most(
            mechanism, f"the divergence at order {order:g}", found, "the promised", divergence
        )
        because.append(proof.because)
    return Proof(mechanism, "; ".join(because), "exact" if mechanism.rho is not None else "bound")


def pure_renyi(epsilon: float, order: float) -> float:
    """Return the largest Rényi divergence of an ε-private mechanism: that of randomized response.

    ln[(e^(αε) + e^((1 − α)ε))/(1 + e^ε)]/(α − 1), by [KOV15] and [Mir17, Prop. 5], rounded up.

    >>> round(pure_renyi(1.0, 2.0), 6)
    0.735326
    """
    # The quotient is cosh((α − ½)ε)/cosh(ε/2), one plus a product: nothing cancels at small ε.
    if order * epsilon < 1:
        grown = 2 * math.sinh(order * epsilon / 2) * math.sinh((order - 1) * epsilon / 2)
        log_moment = math.log1p(grown / math.cosh(epsilon / 2))
    else:
        top = np.logaddexp(order * epsilon, (1 - order) * epsilon)
        log_moment = float(top - np.logaddexp(0.0, epsilon))
    return min(epsilon, log_moment / (order - 1) * (1 + 1e-12))


def _gaussian(mechanism: Mechanism, promise: GaussianDP) -> Proof:
    if mechanism.rho is not None:
        # μ = Δ₂/σ and ρ = Δ₂²/2σ², for real-valued noise. (Integer noise of the same ρ is not
        # Gaussian-private at that μ; it has another event.)
        if not isinstance(mechanism.event, GaussianEvent):
            raise MechanismError("not proved: mu is shown for real-valued Gaussian noise only")
        square = 2 * mechanism.rho
        return _at_most(mechanism, "mu²", square, "the promised", promise.mu**2)
    loss = mechanism.largest_loss
    # The corner of the ε-private trade-off curve is at 1/(1 + e^ε) on both axes; a Gaussian curve
    # through it lies below, because it is convex and meets the ends.
    corner = 1 / (1 + math.exp(float(loss or 0))) if loss is not None and loss < 700 else 0.0
    return _at_most(
        mechanism,
        "Φ(−mu/2)",
        float(ndtr(-promise.mu / 2)),
        "the corner 1/(1 + e^epsilon)",
        corner * (1 - 1e-14),
        "bound",
    )


def _trade_off(mechanism: Mechanism, promise: TradeOffDP) -> Proof:
    worst = largest_excess(mechanism.profile, promise.trade_off)
    if not worst <= 1e-12:
        raise MechanismError(
            f"not proved: an attacker's miss rate is {worst:g} below the promised trade-off"
        )
    return Proof(
        mechanism,
        f"the miss rate is at least {promise.name} at {_ERROR_RATES} false alarm rates",
        "checked on a grid",
    )


def largest_excess(profile: Profile, promised: Callable[[float], float]) -> float:
    """Return by how much a promised trade-off function exceeds a mechanism's, at worst.

    Args:
        profile: The mechanism's.
        promised: f(α), for α in [0, 1].
    """
    fine = np.concatenate([np.linspace(0, 1, _ERROR_RATES // 2), np.logspace(-300, 0, 2001)])
    asked = np.array([promised(float(alpha)) for alpha in fine])
    return float(np.max(asked - profile.trade_off(fine)))
