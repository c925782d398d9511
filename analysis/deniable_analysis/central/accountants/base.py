"""What every accountant does: take events, keep a ledger, answer for ε, δ and the trade-off."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from deniable_analysis.central.events import (
    Event,
    Leaf,
    Neighbours,
    PoissonSampledEvent,
    RandomizedResponseEvent,
    check_count,
    check_real,
    check_share,
    releases,
)
from deniable_analysis.central.profiles import ApproximateProfile, Floats, check_alpha
from deniable_protocol.errors import EventError

# Slopes ε at which a trade-off curve is supported by tangents; dense where curves bend.
_TANGENTS = 200
_TABLE = 48  # how many δ stand for a whole curve
_MOST_KNOWN = 256  # events that are recognised by being the same object


@dataclass(frozen=True, slots=True)
class Bounds:
    """A certified interval: the true value is not below ``lower`` and not above ``upper``.

    Args:
        lower: Certified lower bound; 0 where nothing better is known.
        upper: Certified upper bound, the number to publish; inf where there is no guarantee.
        method: Which theorem or computation the upper bound rests on.
    """

    lower: float
    upper: float
    method: str


class Accountant(ABC):
    """Add up the privacy of events and answer for the total.

    A subclass says which releases it has a theorem for and what ε and δ follow from its ledger.
    Composition is adaptive: each event may have been chosen after seeing the earlier results.

    Args:
        neighbours: Which two data sets count as neighbours; every answer holds for that relation.

    Raises:
        EventError: If *neighbours* is not a ``Neighbours``.
    """

    name: ClassVar[str]

    def __init__(self, neighbours: Neighbours) -> None:
        if not isinstance(neighbours, Neighbours):
            raise EventError(f"neighbours must be a Neighbours, got {neighbours!r}")
        self._neighbours = neighbours
        self._counts: dict[Leaf, int] = {}
        self._again: dict[int, tuple[Event, list[int]]] = {}

    @property
    def neighbours(self) -> Neighbours:
        """The neighbouring relation of every answer."""
        return self._neighbours

    @property
    def ledger(self) -> Mapping[Leaf, int]:
        """What was spent: each release and how often it happened."""
        self._settle()
        return MappingProxyType(self._counts)

    def supports(self, event: Event) -> bool:
        """Say whether :meth:`spend` would take *event*."""
        try:
            self._checked(event, 1)
        except EventError:
            return False
        return True

    def spend(self, event: Event, count: int = 1) -> Self:
        """Add *event* to the ledger, or refuse it and change nothing.

        Every part of a composition is checked before the first is written down.

        Args:
            event: What was released.
            count: How often; at least 1.

        Returns:
            The accountant itself.

        Raises:
            EventError: If there is no theorem for the event under this relation.
        """
        known = self._again.get(id(event))
        if known is not None and count == 1:  # a million steps must not take a minute
            known[1][0] += 1
            return self
        self._settle()
        self._counts.update(self._checked(event, count))
        self._again[id(event)] = event, [0]  # holds the event, so its id stays its own
        return self

    def spend_all(self, events: Iterable[Event]) -> Self:
        """Add several events to the ledger, or refuse them all and change nothing.

        Raises:
            EventError: If there is no theorem for one of them.
        """
        self._settle()
        together: dict[Event, int] = {}
        for event in events:
            together[event] = together.get(event, 0) + 1
        found = dict(self._counts)
        for event, count in together.items():
            found.update(self._checked(event, count, found))
        self._counts = found
        return self

    def bounds(self, delta: float) -> Bounds:
        """Bound ε at *delta* from both sides and say what the upper bound rests on.

        Raises:
            EventError: If *delta* is out of range.
        """
        return Bounds(0.0, self.epsilon(delta), self.name)

    def epsilon(self, delta: float) -> float:
        """Compute an ε for which everything spent is (ε, *delta*)-differentially private.

        Args:
            delta: In [0, 1).

        Returns:
            ε ≥ 0, never too small; inf where this accountant knows no finite one.

        Raises:
            EventError: If *delta* is out of range.
        """
        return self._upward(self._epsilon(self._checked_delta(delta)))

    def delta(self, epsilon: float) -> float:
        """Compute a δ for which everything spent is (*epsilon*, δ)-differentially private.

        Args:
            epsilon: Finite, at least 0.

        Returns:
            δ in [0, 1], never too small.

        Raises:
            EventError: If *epsilon* is out of range.
        """
        found = self._delta(check_real("epsilon", epsilon, zero=True))
        return min(self._upward(found), 1.0)

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Compute a type II error that no attacker with type I error *alpha* can go below.

        It is the upper envelope of the lines that (ε, δ(ε)) guarantees allow, so it is valid for
        every accountant and approaches the true curve where δ(ε) is exact.

        Args:
            alpha: In [0, 1]; any shape.

        Returns:
            β in [0, 1]; the shape of *alpha*.

        Raises:
            MechanismError: If a value is out of range.
        """
        given = check_alpha(alpha)
        slopes = self._slopes()
        best = np.zeros_like(given)
        for slope, missing in zip(slopes.tolist(), self._deltas(slopes).tolist(), strict=True):
            with np.errstate(over="ignore", divide="ignore"):
                rise = np.where(given > 0, np.exp(slope + np.log(given)), 0.0)
            best = np.maximum(best, 1 - missing - rise)
            best = np.maximum(best, math.exp(-slope) * (1 - missing - given))
        return np.asarray(best)

    def _slopes(self) -> Floats:
        """Choose tangents between 0 and the ε where hardly any δ is left."""
        self._settle()
        last = self._epsilon(1e-6)
        top = min(last if math.isfinite(last) else 30.0, 200.0)
        return np.linspace(0.0, top, _TANGENTS) if self._counts else np.zeros(1)

    def _deltas(self, slopes: Floats) -> Floats:
        """Compute δ at each ε from a table of (ε, δ): each of them bounds the whole curve."""
        found = np.ones_like(slopes)
        for delta in (0.0, *np.logspace(-12, -0.05, _TABLE).tolist()):
            epsilon = self.epsilon(delta)
            if math.isfinite(epsilon):
                found = np.minimum(found, ApproximateProfile(epsilon, delta).delta(slopes))
        return found

    def filter_refusal(self, release: Leaf) -> str | None:
        """Say why *release* may not be chosen after seeing earlier results, if so.

        Composition theorems hold for mechanisms that depend on earlier results as long as their
        *privacy* was fixed beforehand. Where that is chosen on the way too, fewer theorems are
        known.
        """
        return f"{self.name} is proved for noise and counts that are fixed in advance"

    def _delta_by_search(self, epsilon: float, least: float) -> float:
        """Find δ from ε(δ), on its safe side."""
        low, high = math.log(max(least, 1e-300)), 0.0
        if self._epsilon(math.exp(low)) <= epsilon:
            return math.exp(low)
        while high - low > 1e-8:
            middle = (low + high) / 2
            if self._epsilon(math.exp(middle)) <= epsilon:
                high = middle
            else:
                low = middle
        return math.exp(high)

    @staticmethod
    def _checked_delta(delta: float) -> float:
        return check_share("delta", delta, one=False)

    @staticmethod
    def _upward(value: float) -> float:
        """Refuse to pass on a bound that is not a number, and clamp it at 0."""
        if math.isnan(value):
            return math.inf
        return max(value, 0.0)

    def _settle(self) -> None:
        """Write repetitions of known events into the ledger."""
        for event, times in self._again.values():
            if times[0]:
                self._counts.update(self._checked(event, times[0]))
                times[0] = 0
        if len(self._again) > _MOST_KNOWN:
            self._again.clear()

    def _checked(
        self, event: Event, count: int, onto: Mapping[Leaf, int] | None = None
    ) -> dict[Leaf, int]:
        """Compute the ledger lines that *event* changes, after checking all of it."""
        counts = self._counts if onto is None else onto
        lines: dict[Leaf, int] = {}
        for release, times in releases(event, count):
            reason = self._relation_refusal(release) or self._refusal(release)
            if reason:
                raise EventError(f"{self.name} accountant cannot take {release!r}: {reason}")
            before = lines.get(release, counts.get(release, 0))
            lines[release] = check_count("count", before + times)
        return lines

    def _relation_refusal(self, release: Leaf) -> str | None:
        """Say why *release* has no meaning under this relation, if so."""
        if isinstance(release, PoissonSampledEvent):
            if isinstance(release.event, RandomizedResponseEvent):
                return "two answers of one respondent are compared; sampling respondents is not"
            if self._neighbours is not Neighbours.ADD_OR_REMOVE_ONE:
                return "Poisson sampling is proved here for add-or-remove-one only"
        elif (
            isinstance(release, RandomizedResponseEvent)
            and self._neighbours is not Neighbours.REPLACE_ONE
        ):
            return "randomized response compares two answers: use replace-one"
        return None

    def take(self, ledger: Mapping[Leaf, int]) -> Self:
        """Add a whole ledger, or refuse it and change nothing.

        Raises:
            EventError: If there is no theorem for one of its releases.
        """
        self._settle()
        found = dict(self._counts)
        for release, count in ledger.items():
            found.update(self._checked(release, count, found))
        self._counts = found
        return self

    @abstractmethod
    def _refusal(self, release: Leaf) -> str | None:
        """Say why there is no theorem for *release*, if so."""

    @abstractmethod
    def _epsilon(self, delta: float) -> float:
        """Compute ε for a checked δ."""

    @abstractmethod
    def _delta(self, epsilon: float) -> float:
        """Compute δ for a checked ε."""
