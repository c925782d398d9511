"""What was released, as values: the events that accountants add up.

An event names a mechanism and the numbers its guarantee needs, nothing else: no data, no query, no
sensitivity beyond the ratio of noise to sensitivity. Equal events are equal values, so a ledger can
count them. Which two data sets count as neighbours belongs to the accountant, not to the event.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import SupportsIndex, TypeAlias

from deniable_protocol.errors import EventError

MOST_TIMES = 10**12  # beyond this, float64 can no longer count steps to the accuracy we certify


class Neighbours(enum.Enum):
    """Say which two data sets must be hard to tell apart.

    The relation decides what a sensitivity, and so every number, means; it is always named.
    """

    ADD_OR_REMOVE_ONE = "add-or-remove-one"
    REPLACE_ONE = "replace-one"


def check_real(name: str, value: object, *, zero: bool = False) -> float:
    """Return *value* as a float, or refuse it: it must be finite and above 0 (or 0, if *zero*).

    Raises:
        EventError: If it is not such a number.
    """
    allowed = "a finite number of at least 0" if zero else "a finite number above 0"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise EventError(f"{name} must be {allowed}, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise EventError(f"{name} must be {allowed}, got {value!r}")
    return number


def check_share(name: str, value: object, *, one: bool) -> float:
    """Return *value* as a float in [0, 1) (or [0, 1], if *one*), or refuse it.

    Raises:
        EventError: If it is not such a number.
    """
    number = check_real(name, value, zero=True)
    if number > 1 or (number == 1 and not one):
        raise EventError(f"{name} must be in [0, 1{']' if one else ')'}, got {value!r}")
    return number


def check_count(name: str, value: object, *, least: int = 1, most: int = MOST_TIMES) -> int:
    """Return *value* as an int between *least* and *most*, or refuse it.

    Raises:
        EventError: If it is not such a whole number.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise EventError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    number = operator.index(value)
    if not least <= number <= most:
        raise EventError(f"{name} must be a whole number from {least} to {most}, got {number}")
    return number


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """Name one release with Gaussian noise.

    Args:
        noise_multiplier: σ / Δ₂, standard deviation over L2 sensitivity; finite, above 0.
    """

    noise_multiplier: float

    def __post_init__(self) -> None:
        check_real("noise_multiplier", self.noise_multiplier)


@dataclass(frozen=True, slots=True)
class LaplaceEvent:
    """Name one release with Laplace noise.

    Args:
        noise_multiplier: b / Δ₁, scale over L1 sensitivity, so 1 / ε; finite, above 0.
    """

    noise_multiplier: float

    def __post_init__(self) -> None:
        check_real("noise_multiplier", self.noise_multiplier)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianEvent:
    """Name one release of an integer with discrete Gaussian noise [CKS20].

    Args:
        sigma: The scale parameter, in grid steps; finite, above 0.
        sensitivity: Largest change of the integer, in grid steps; at least 1.
    """

    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        check_real("sigma", self.sigma)
        check_count("sensitivity", self.sensitivity)


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceEvent:
    """Name one release of an integer with discrete Laplace (two-sided geometric) noise.

    Args:
        scale: b in P(x) ∝ exp(−|x| / b), in grid steps; finite, above 0. ε = sensitivity / scale.
        sensitivity: Largest change of the integer, in grid steps; at least 1.
    """

    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        check_real("scale", self.scale)
        check_count("sensitivity", self.sensitivity)


@dataclass(frozen=True, slots=True)
class RandomizedResponseEvent:
    """Name one answer through the survey's randomizer: the bridge from local to central.

    The neighbours are two answers of one respondent, so accountants take it under replace-one only.

    Args:
        options: k, number of options; at least 2.
        odds: a / b = e^ε exactly; a Fraction above 1.
        subset: d, size of the reported subset; 1 ≤ d < k.
    """

    options: int
    odds: Fraction
    subset: int = 1

    def __post_init__(self) -> None:
        check_count("options", self.options, least=2)
        check_count("subset", self.subset, most=self.options - 1)
        if not isinstance(self.odds, Fraction) or self.odds <= 1:
            raise EventError(f"odds must be a Fraction above 1, got {self.odds!r}")


@dataclass(frozen=True, slots=True)
class PureEvent:
    """Name one release of which only ε-differential privacy is known.

    Args:
        epsilon: The guarantee under the accountant's relation; finite, at least 0.
    """

    epsilon: float

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, zero=True)


@dataclass(frozen=True, slots=True)
class ApproximateEvent:
    """Name one release of which only (ε, δ)-differential privacy is known.

    Args:
        epsilon: Finite, at least 0.
        delta: In [0, 1).
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_real("epsilon", self.epsilon, zero=True)
        check_share("delta", self.delta, one=False)


@dataclass(frozen=True, slots=True)
class ZCDPEvent:
    """Name one release of which only ρ-zero-concentrated differential privacy is known [BS16].

    Args:
        rho: Finite, at least 0.
    """

    rho: float

    def __post_init__(self) -> None:
        check_real("rho", self.rho, zero=True)


@dataclass(frozen=True, slots=True)
class PoissonSampledEvent:
    """Name an event that saw each person independently with one probability.

    Args:
        sampling_probability: q in [0, 1], the same for everyone and secret whom it took.
        event: What ran on the sample; one event that is neither sampled nor composed.
    """

    sampling_probability: float
    event: Single

    def __post_init__(self) -> None:
        check_share("sampling_probability", self.sampling_probability, one=True)
        check_event(self.event)
        if not isinstance(self.event, Single):
            raise EventError(
                "event must be a single release, "
                f"got {type(self.event).__name__}: sample each release and compose those"
            )


@dataclass(frozen=True, slots=True)
class ComposedEvent:
    """Name several events on the same data, each allowed to depend on what came before.

    Args:
        events: A tuple of events; may be empty.
    """

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.events, tuple):
            raise EventError(f"events must be a tuple of events, got {type(self.events).__name__}")
        for event in self.events:
            check_event(event)


@dataclass(frozen=True, slots=True)
class SelfComposedEvent:
    """Name one event that is repeated on the same data.

    Args:
        event: What is repeated.
        count: How often; at least 1.
    """

    event: Event
    count: int

    def __post_init__(self) -> None:
        check_event(self.event)
        check_count("count", self.count)


Single: TypeAlias = (
    GaussianEvent
    | LaplaceEvent
    | DiscreteGaussianEvent
    | DiscreteLaplaceEvent
    | RandomizedResponseEvent
    | PureEvent
    | ApproximateEvent
    | ZCDPEvent
)
Leaf: TypeAlias = Single | PoissonSampledEvent
Event: TypeAlias = Leaf | ComposedEvent | SelfComposedEvent


def check_event(event: object) -> None:
    """Refuse anything that is not an event.

    Raises:
        EventError: If *event* is not one.
    """
    if not isinstance(event, Event):
        raise EventError(f"event must be an event, got {event!r}")


def releases(event: Event, count: int = 1) -> Iterator[tuple[Leaf, int]]:
    """Take *event* apart into single releases and how often each happened.

    Sampling everybody is no sampling and sampling nobody releases nothing, so both disappear here.

    Args:
        event: Any event.
        count: How often it happened; at least 1.

    Returns:
        Pairs of a release (never a composition) and its count.

    Raises:
        EventError: If a count grows beyond what is certified.

    >>> step = PoissonSampledEvent(0.01, GaussianEvent(1.0))
    >>> list(releases(SelfComposedEvent(step, 10), 3)) == [(step, 30)]
    True
    """
    check_event(event)
    count = check_count("count", count)
    if isinstance(event, ComposedEvent):
        for part in event.events:
            yield from releases(part, count)
    elif isinstance(event, SelfComposedEvent):
        yield from releases(event.event, check_count("count", count * event.count))
    elif isinstance(event, PoissonSampledEvent) and event.sampling_probability in (0, 1):
        if event.sampling_probability == 1:
            yield from releases(event.event, count)
    else:
        yield event, count


def sampling_of(release: Leaf) -> tuple[float, Single]:
    """Split a release into its sampling probability (1 if unsampled) and what ran on the sample."""
    if isinstance(release, PoissonSampledEvent):
        return release.sampling_probability, release.event
    return 1.0, release
