"""Turn a privacy budget into noise, a number of releases, or shares of several queries.

Everything is answered on the safe side: what is returned was checked with the accountant, and the
next smaller noise (or the next larger count) that was tried did not pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scipy.optimize import brentq

from deniable_analysis.central.accountants import accountant_for
from deniable_analysis.central.events import (
    MOST_TIMES,
    ComposedEvent,
    Event,
    Neighbours,
    check_count,
    check_real,
    check_share,
)
from deniable_protocol.errors import EventError

_LEAST, _MOST = 2.0**-40, 2.0**60  # noise multipliers that are looked at
_CLOSE = 1e-11  # how near the root is looked for, in ln of the noise
_FORGIVEN = 1 + 1e-12  # ten times 0.1 is 1, whatever binary fractions say

EventAt = Callable[[float], Event]


def smallest_noise(
    event_at: EventAt,
    epsilon: float,
    delta: float,
    *,
    count: int = 1,
    accountant: str = "best",
    neighbours: Neighbours,
) -> float:
    """Find the smallest noise multiplier with which a release may happen *count* times.

    All that an accountant leaves open is searched over by it: the order of a Rényi bound, δ′ and
    the steps' own δ of advanced composition.

    Args:
        event_at: The event for a noise multiplier, for example ``GaussianEvent``; more noise must
            mean more privacy.
        epsilon: Total ε; above 0.
        delta: Total δ in [0, 1).
        count: How often the release happens; at least 1.
        accountant: Who adds up: ``basic``, ``advanced``, ``zcdp``, ``rdp``, ``gdp``, ``pld`` or
            ``best``.
        neighbours: Which data sets count as neighbours.

    Returns:
        The multiplier, rounded up.

    Raises:
        EventError: If the accountant has no theorem for the event, or no multiplier from 1e-12 to
            1e18 suffices.

    >>> from deniable_analysis.central.events import GaussianEvent
    >>> one = Neighbours.REPLACE_ONE
    >>> round(smallest_noise(GaussianEvent, 1.0, 1e-6, count=100, neighbours=one), 4)
    42.2468
    """
    target = check_real("epsilon", epsilon)
    check_share("delta", delta, one=False)
    check_count("count", count)

    def excess(log_noise: float) -> float:
        event = event_at(math.exp(log_noise))
        found = accountant_for(accountant, neighbours).spend(event, count).epsilon(delta)
        return math.log(max(min(found, 1e300), 1e-300) / target)

    low, high = _bracket(excess)
    if high is None:
        raise EventError(
            f"the {accountant} accountant reaches epsilon {epsilon!r} at delta {delta!r} "
            f"with no noise multiplier up to {_MOST:g}"
        )
    root = float(brentq(excess, low, high, xtol=_CLOSE, rtol=1e-14)) if low < high else high
    step = _CLOSE
    while excess(root) > 0:
        root, step = root + step, 2 * step
    return math.exp(root)


def _bracket(excess: Callable[[float], float]) -> tuple[float, float | None]:
    """Find noise that is too little and noise that suffices, in logarithms."""
    low = high = 0.0
    stride = math.log(2)
    if excess(0.0) > 0:
        while excess(high) > 0:
            low, high, stride = high, high + stride, 2 * stride
            if low >= math.log(_MOST):
                return low, None
        return low, high
    while excess(low) <= 0:
        low, high, stride = low - stride, low, 2 * stride
        if high <= math.log(_LEAST):
            return high, high
    return low, high


def largest_count(
    event: Event,
    epsilon: float,
    delta: float,
    *,
    accountant: str = "best",
    neighbours: Neighbours,
) -> int:
    """Find how often an event may happen within a budget.

    Args:
        event: What is repeated.
        epsilon: Total ε; at least 0.
        delta: Total δ in [0, 1).
        accountant: Who adds up; see :func:`smallest_noise`.
        neighbours: Which data sets count as neighbours.

    Returns:
        The largest count that fits; 0 if not even one does, at most 10¹².

    Raises:
        EventError: If the accountant has no theorem for the event.

    >>> from deniable_analysis.central.events import PureEvent
    >>> largest_count(PureEvent(0.1), 1.0, 0.0, neighbours=Neighbours.REPLACE_ONE)
    10
    """
    budget = check_real("epsilon", epsilon, zero=True) * _FORGIVEN
    check_share("delta", delta, one=False)

    def fits(count: int) -> bool:
        total = accountant_for(accountant, neighbours).spend(event, count)
        return total.epsilon(delta) <= budget

    if not fits(1):
        return 0
    low = 1
    while low < MOST_TIMES and fits(min(2 * low, MOST_TIMES)):
        low = min(2 * low, MOST_TIMES)
    high = min(2 * low, MOST_TIMES + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def split_noise(
    event_at: EventAt,
    shares: Sequence[float],
    epsilon: float,
    delta: float,
    *,
    accountant: str = "best",
    neighbours: Neighbours,
) -> tuple[float, ...]:
    """Split a budget over several queries: the smallest noise for all of them together.

    Args:
        event_at: The event for a noise multiplier; see :func:`smallest_noise`.
        shares: Relative precision of each query, above 0: one with share 2 gets half the noise of
            one with share 1. Equal numbers split equally. For Laplace noise and basic composition,
            shares of precision are shares of ε.
        epsilon: Total ε; above 0.
        delta: Total δ in [0, 1).
        accountant: Who adds up; see :func:`smallest_noise`.
        neighbours: Which data sets count as neighbours.

    Returns:
        A noise multiplier for each query.

    Raises:
        EventError: As :func:`smallest_noise`, or if there is no share or one is not above 0.

    >>> from deniable_analysis.central.events import LaplaceEvent
    >>> noise = split_noise(LaplaceEvent, [1, 3], 1.0, 0.0, neighbours=Neighbours.REPLACE_ONE)
    >>> [round(multiplier, 6) for multiplier in noise]
    [4.0, 1.333333]
    """
    weights = [check_real("share", share) for share in shares]
    if not weights:
        raise EventError("shares must name at least one query, got none")
    top = max(weights)

    def together(noise: float) -> Event:
        return ComposedEvent(tuple(event_at(noise * top / weight) for weight in weights))

    least = smallest_noise(together, epsilon, delta, accountant=accountant, neighbours=neighbours)
    return tuple(least * top / weight for weight in weights)
