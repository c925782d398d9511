"""The noisy reports of a survey: one tally for each item, in the same order of respondents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import EstimateError, Item, Question, Report, Survey

from .tally import UNSENT, Counts, Tally, pack_rows


@dataclass(frozen=True, eq=False)
class Reports:
    """Every report to one survey, item by item.

    Attributes:
        survey: The survey that was answered.
        tallies: One tally for each item that there are reports to, by name: a question's own, or
            ``question.1``, ``question.2``, … for the boxes of a ``multiple``.
        arms: For each respondent the place of their arm in ``survey.arms``, int64; None where the
            survey has no arms, or only counts are known.
        note: What a reader of the results must know about where they come from; None for nothing.
        ids: The random id of each respondent's report, int64; None where it is not known.
    """

    survey: Survey
    tallies: Mapping[str, Tally]
    arms: Counts | None = None
    note: str | None = None
    ids: Counts | None = None

    @cached_property
    def n(self) -> int:
        """Number of respondents."""
        return max(len(t.bits) if t.bits is not None else t.n for t in self.tallies.values())

    def __getitem__(self, name: str) -> Tally:
        if name not in self.tallies:
            known = ", ".join(repr(known) for known in self.tallies)
            raise EstimateError(f"expected a question among {known}, got {name!r}")
        return self.tallies[name]

    def __repr__(self) -> str:
        return f"<Reports of {self.survey.name!r}: {self.n:,} respondents>"

    def only(self, kept: NDArray[np.bool_]) -> Reports:
        """Keep some of the respondents: a sample, a wave, a group known from elsewhere.

        Args:
            kept: Whether to keep each respondent, shape (respondents,).

        Raises:
            EstimateError: If only counts are known, or the length does not fit.
        """
        mask = np.asarray(kept)
        if mask.dtype != np.bool_ or mask.shape != (self.n,):
            raise EstimateError(
                f"expected {self.n} booleans, one for each respondent, "
                f"got {mask.dtype} of shape {mask.shape}"
            )
        tallies = {name: tally.only(mask) for name, tally in self.tallies.items()}
        arms = None if self.arms is None else self.arms[mask]
        ids = None if self.ids is None else self.ids[mask]
        return Reports(self.survey, MappingProxyType(tallies), arms, self.note, ids)

    def arm(self, name: str) -> Reports:
        """Keep the respondents of one collection arm.

        Raises:
            EstimateError: If the survey has no such arm, or only counts are known.
        """
        if name not in self.survey.arms:
            known = ", ".join(map(repr, self.survey.arms)) or "none"
            raise EstimateError(f"expected an arm among {known}, got {name!r}")
        if self.arms is None:
            raise EstimateError("arms need the reports themselves, got only counts")
        return self.only(self.arms == self.survey.arms.index(name))

    def by_arm(self) -> Mapping[str, Reports]:
        """Split the reports by collection arm, in the survey's order.

        Raises:
            EstimateError: If only counts are known.
        """
        return MappingProxyType({name: self.arm(name) for name in self.survey.arms})

    @classmethod
    def of_reports(cls, survey: Survey, reports: Iterable[Report]) -> Reports:
        """Gather reports, such as a device draws them.

        A report that comes twice (a retry sends the same bytes) counts once.

        Raises:
            EstimateError: If a report is of another survey, or two differ under one id.
        """
        found: dict[str, Report] = {}
        for report in reports:
            if report.survey != survey.digest:
                raise EstimateError(
                    f"expected reports to {survey.digest}, got one to {report.survey}"
                )
            if found.setdefault(report.id, report) != report:
                raise EstimateError(f"two different reports have the id {report.id}")
        every = found.values()
        unsent = {item.name: (UNSENT,) * item.channel.subset for item in survey.items}
        rows = {name: [r.answers.get(name, none) for r in every] for name, none in unsent.items()}
        arms = [r.arm for r in every if r.arm is not None] if survey.arms else None
        ids = np.array([report.key for report in every], dtype=np.int64)
        return replace(cls.of_subsets(survey, rows, arms=arms), ids=ids)

    @classmethod
    def of_subsets(
        cls,
        survey: Survey,
        subsets: Mapping[str, ArrayLike],
        *,
        arms: Sequence[str] | None = None,
    ) -> Reports:
        """Gather option indices, one row for each respondent.

        Args:
            survey: The survey that was answered.
            subsets: For each item the drawn option indices, shape (respondents, subset); where
                the subset size is 1, (respondents,) will do. A row of −1 was not sent.
            arms: Each respondent's collection arm, where the survey has arms.

        Raises:
            EstimateError: If a shape or an index does not fit, or respondents differ in number.
        """
        tallies = {
            item.name: Tally.of_bits(
                question, pack_rows(item, np.asarray(subsets[item.name])), item
            )
            for question, item in _given_items(survey, subsets)
        }
        lengths = {len(tally.rows) for tally in tallies.values()}
        if len(lengths) > 1 or (arms is not None and len(arms) not in lengths):
            raise EstimateError("every question needs a row for each respondent, in the same order")
        return cls(survey, MappingProxyType(tallies), arm_codes(survey, arms))

    @classmethod
    def of_counts(cls, survey: Survey, counts: Mapping[str, ArrayLike]) -> Reports:
        """Gather counts, for each item how many reports hold each option.

        Shares and intervals need no more. Questions cannot be related to each other, and where
        reports hold more than one option the best fit needs the reports themselves.

        Raises:
            EstimateError: If counts do not fit their question.
        """
        tallies = {
            item.name: Tally.of_counts(question, counts[item.name], item)
            for question, item in _given_items(survey, counts)
        }
        return cls(survey, MappingProxyType(tallies))


def _given_items(survey: Survey, given: Mapping[str, object]) -> list[tuple[Question, Item]]:
    known = {item.name: (question, item) for question in survey.questions
             for item in question.items}  # fmt: skip
    unknown = sorted(set(given) - set(known))
    if unknown or not given:
        raise EstimateError(
            f"expected questions among {', '.join(map(repr, known))}, "
            f"got {', '.join(map(repr, unknown)) or 'none'}"
        )
    return [found for name, found in known.items() if name in given]


def arm_codes(survey: Survey, arms: Sequence[str] | None) -> Counts | None:
    """Turn names of arms into their places in ``survey.arms``; None where there are none.

    Raises:
        EstimateError: If a name is not among them.
    """
    if arms is None or not survey.arms:
        return None
    places = {name: place for place, name in enumerate(survey.arms)}
    unknown = sorted(set(arms) - set(places))
    if unknown:
        raise EstimateError(
            f"expected arms among {', '.join(survey.arms)}, got {', '.join(map(repr, unknown))}"
        )
    return np.array([places[arm] for arm in arms], dtype=np.int64)
