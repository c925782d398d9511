"""A ledger with a budget: every release is checked against it before it is written down."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from deniable_analysis.central.accountants import accountant_for
from deniable_analysis.central.definitions import ApproximateDP, PureDP
from deniable_analysis.central.events import MOST_TIMES, Event, Leaf, releases
from deniable_protocol.errors import EventError, SpendError

_FORGIVEN = 1 + 1e-12  # ten times 0.1 is 1, whatever binary fractions say
_QUICK = ("zcdp", "rdp")
"""Asked before the slow accountants: a bound of theirs within the budget settles the question."""

_SLOW = ("pld", "best")
_MOST_KNOWN = 1024  # events that are recognised by being the same object


class Ledger:
    """Spend a privacy budget, release by release, and refuse what would pass it.

    Asking the accountant takes milliseconds, so it is not asked every time: it certifies *rooms*,
    how often each release may happen yet if all of them happen so often, and doubles them while
    the budget lasts. A million spends cost some forty questions.

    Args:
        budget: What the data set may ever cost.
        accountant: Who adds up; see :func:`~deniable_analysis.central.calibration.smallest_noise`.
        adaptive: Whether noise and counts are chosen after seeing earlier results. Composition
            theorems hold for *queries* chosen so; for noise chosen so, only ``basic`` (for pure and
            (ε, δ) releases), ``zcdp`` and ``gdp`` are known to hold, and others are refused.

    >>> from deniable_analysis.central.events import PureEvent
    >>> ledger = Ledger(PureDP(1.0), accountant="basic")
    >>> ledger.spend(PureEvent(0.25), 3)
    >>> ledger.spend(PureEvent(0.5))
    Traceback (most recent call last):
    ...
    deniable_protocol.errors.SpendError: the release would bring epsilon to 1.25, above 1: not spent
    >>> ledger.epsilon
    0.75
    """

    def __init__(
        self,
        budget: PureDP | ApproximateDP,
        *,
        accountant: str = "best",
        adaptive: bool = False,
    ) -> None:
        accountant_for(accountant, budget.neighbours)  # an unknown name is refused now
        self._budget = budget
        self._accountant = accountant
        self._adaptive = adaptive
        self._delta = budget.delta if isinstance(budget, ApproximateDP) else 0.0
        self._counts: dict[Leaf, int] = {}
        self._rooms: dict[Leaf, list[int]] = {}  # [how often yet, how often not yet in _counts]
        self._known: dict[int, tuple[Event, list[int]]] = {}  # rooms by the object's identity
        self._thrift = 0

    @property
    def spent(self) -> Mapping[Leaf, int]:
        """Each release and how often it happened."""
        self._write()
        return MappingProxyType(self._counts)

    @property
    def epsilon(self) -> float:
        """ε of everything spent, at the budget's δ."""
        return self._total(self.spent)

    def spend(self, event: Event, count: int = 1) -> None:
        """Write a release down if the budget allows it, else change nothing.

        Call it *before* the release: what was released cannot be taken back.

        Args:
            event: What is about to be released.
            count: How often; at least 1.

        Raises:
            SpendError: If the budget does not allow it.
            EventError: If the accountant has no theorem for it.
        """
        known = self._known.get(id(event))
        if known is not None and count == 1 and known[1][0] > 0:
            known[1][0] -= 1
            known[1][1] += 1
            return
        self._write()
        total, asked = dict(self._counts), self._releases(event, count)
        for release, times in asked.items():
            total[release] = total.get(release, 0) + times
        if any(self._room(release) < times for release, times in asked.items()):
            self._rooms, self._known = self._certified(total), {}
        else:
            for release, times in asked.items():
                self._rooms[release][0] -= times
        self._counts = total
        if len(self._known) < _MOST_KNOWN and event in self._rooms:
            # Holding the event keeps its identity its own.
            self._known[id(event)] = event, self._rooms[event]

    def room_for(self, event: Event) -> int:
        """Find how often an event could be spent yet; 0 if not once, at most 10¹²."""
        asked, spent = self._releases(event, 1), dict(self.spent)

        def fits(count: int) -> bool:
            more = {r: spent.get(r, 0) + count * times for r, times in asked.items()}
            return max(more.values()) <= MOST_TIMES and self._fits(self._total({**spent, **more}))

        if not asked or fits(MOST_TIMES // 2):
            return MOST_TIMES
        high = 1
        while fits(high):
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _releases(self, event: Event, count: int) -> dict[Leaf, int]:
        """Take an event apart, and refuse what there is no theorem for."""
        found: dict[Leaf, int] = {}
        for release, times in releases(event, count):
            found[release] = found.get(release, 0) + times
        accountant = accountant_for(self._accountant, self._budget.neighbours)
        for release in found if self._adaptive else ():
            reason = accountant.filter_refusal(release)
            if reason:
                raise EventError(f"{release!r} cannot be chosen adaptively: {reason}")
        accountant.take({**self._counts, **found})
        return found

    def _room(self, release: Leaf) -> int:
        return self._rooms.get(release, [0, 0])[0]

    def _certified(self, total: Mapping[Leaf, int]) -> dict[Leaf, list[int]]:
        """Certify *total* and as much room beyond as fits, the same share for each release."""
        if not self._within(total):
            raise SpendError(
                f"the release would bring epsilon to {self._total(total):.6g}, above "
                f"{self._budget.epsilon:g}{self._at()}: not spent"
            )
        for thrift in range(self._thrift, max(total.values(), default=0).bit_length()):
            rooms = {r: min(n >> thrift, MOST_TIMES - n) for r, n in total.items()}
            if self._within({r: n + rooms[r] for r, n in total.items()}):
                self._thrift = max(thrift - 1, 0)
                return {r: [room, 0] for r, room in rooms.items()}
        return {r: [0, 0] for r in total}

    def _at(self) -> str:
        return f" at delta = {self._delta:g}" if self._delta else ""

    def _fits(self, epsilon: float) -> bool:
        return epsilon <= self._budget.epsilon * _FORGIVEN

    def _within(self, counts: Mapping[Leaf, int]) -> bool:
        """Tell whether so many releases are certified to be within the budget."""
        quick = _QUICK if self._accountant in _SLOW and not self._adaptive else ()
        for name in quick:
            accountant = accountant_for(name, self._budget.neighbours)
            try:
                if self._fits(accountant.take(counts).epsilon(self._delta)):
                    return True
            except EventError:
                continue  # it has no theorem for one of them
        return self._fits(self._total(counts))

    def _total(self, counts: Mapping[Leaf, int]) -> float:
        accountant = accountant_for(self._accountant, self._budget.neighbours)
        return accountant.take(counts).epsilon(self._delta)

    def _write(self) -> None:
        for release, room in self._rooms.items():
            if room[1]:
                self._counts[release] += room[1]
                room[1] = 0
