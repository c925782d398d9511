"""Everything that one store holds, into another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .contract import Store
from .life import State
from .published import Outcome, Published

_AT_ONCE: Final = 5000


@dataclass(frozen=True)
class Merged:
    """What became of one survey version of a source.

    Attributes:
        source: The version there.
        target: The version here; they may be numbered differently.
        counts: How many reports had which outcome.
        conflicts: Ids under which the two stores hold different reports.
        closed: Whether it was closed here, because it is there.
        erased: How many reports were erased here, because it was erased there; None if it was not.
    """

    source: Published
    target: Published
    counts: Counter[Outcome] = field(default_factory=Counter)
    conflicts: tuple[str, ...] = ()
    closed: bool = False
    erased: int | None = None


@dataclass(frozen=True)
class Merge:
    """What became of a source.

    Attributes:
        surveys: Each of its survey versions.
        tokens: How many invitation tokens had been spent in both stores.
    """

    surveys: tuple[Merged, ...]
    tokens: int

    @property
    def twice(self) -> int:
        """How many people may have answered twice: tokens spent in both, beside equal reports."""
        same = (m.counts[Outcome.SAME] for m in self.surveys if m.source.survey.invite_key)
        return max(0, self.tokens - sum(same))


def merge(source: Store, target: Store) -> Merge:
    """Add everything that one store holds to another.

    The same report is stored once. Of two reports with one id the one here stays. Of what the two
    operators decided the stronger counts: what was erased anywhere is erased, what was closed
    anywhere is closed. A survey that is new here brings its dates and its target along.
    """
    with source.frozen():
        tokens = target.adopt_spent(source.spent())
        surveys = tuple(_merge_survey(source, theirs, target) for theirs in source.surveys())
    return Merge(surveys, tokens)


def _merge_survey(source: Store, theirs: Published, target: Store) -> Merged:
    life, known = source.life(theirs), target.find(theirs.survey.digest)
    if known and target.life(known).state is State.ERASED:
        return Merged(theirs, known, Counter({Outcome.ERASED: source.count(theirs)}))
    ours = target.publish(theirs.survey, None if known else life.limits)
    if life.state is State.ERASED:
        return Merged(theirs, ours, erased=target.erase_survey(ours))
    before = target.days(ours)
    counts, conflicts = _add_reports(source, theirs, target, ours)
    if stored := counts[Outcome.STORED]:
        target.adopt_days(ours, _days(before, source.days(theirs), stored))
    if (drawn := source.results(theirs)) is not None:  # so that it is not drawn again early
        target.keep_results(ours, *drawn)
    closed = life.state is State.CLOSED and target.life(ours).state is State.OPEN
    if closed:
        target.close_survey(ours)
    return Merged(theirs, ours, counts, conflicts, closed)


def _add_reports(
    source: Store, theirs: Published, target: Store, ours: Published
) -> tuple[Counter[Outcome], tuple[str, ...]]:
    counts: Counter[Outcome] = Counter()
    conflicts: list[str] = []
    for reports in source.reports(theirs, chunk=_AT_ONCE):
        outcomes = target.add([(ours, each) for each in reports], although_closed=True)
        counts.update(outcomes)
        conflicts += [
            report.id
            for report, outcome in zip(reports, outcomes, strict=True)
            if outcome is Outcome.CONFLICT
        ]
    return counts, tuple(conflicts)


def _days(ours: Mapping[str, int], theirs: Mapping[str, int], stored: int) -> Counter[str]:
    """Add the counters of two stores, of which one brought so many new reports.

    All others of its reports are counted here already. On which day is not known, so they are taken
    from the days that both stores counted, and only then from others.

    >>> _days({"2026-03-01": 5}, {"2026-03-01": 5, "2026-03-02": 2}, stored=2)  # a later copy
    Counter({'2026-03-01': 5, '2026-03-02': 2})
    >>> _days({"2026-03-01": 5}, {"2026-03-01": 5, "2026-03-02": 2}, stored=7)  # another node
    Counter({'2026-03-01': 10, '2026-03-02': 2})
    """
    days, both = Counter(ours) + Counter(theirs), Counter(ours) & Counter(theirs)
    doubled = sum(theirs.values()) - stored
    for counted in (both, Counter(theirs) - both):
        for day in sorted(counted):
            less = min(doubled, counted[day])
            days[day] -= less
            doubled -= less
    return days
