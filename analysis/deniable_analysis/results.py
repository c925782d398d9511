"""Everything that one report of results says: the page, the table and the files all show this."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from deniable_protocol import EstimateError, Question

from .estimate import AmongEstimate, Estimate, OptionEstimate, estimate
from .intervals import Method
from .numbers import NumberEstimate, describe
from .relations import Differences, Relation, compare_arms, relate
from .reports import Reports
from .sample_design import SampleDesign
from .weights_estimate import WeightedEstimate, WeightedShare, estimate_weighted

NUMERIC: Final = ("number", "scale")


@dataclass(frozen=True)
class Row:
    """One line of a table of shares."""

    label: str
    found: OptionEstimate | AmongEstimate


@dataclass(frozen=True)
class Block:
    """What is known of one question from one group of reports.

    Attributes:
        group: The collection arm; None for all reports together.
        estimates: The shares: one entry, or one for each box of a ``multiple``.
        number: Mean, spread and quantiles, where the question has numbers.
        weighted: The shares of the population, where weights were given; one for each estimate.
    """

    group: str | None
    estimates: tuple[Estimate, ...]
    number: NumberEstimate | None
    weighted: tuple[WeightedEstimate, ...] = ()

    @property
    def n(self) -> int:
        """Number of reports; the largest among boxes where devices sent only some."""
        return max(found.n for found in self.estimates)

    @property
    def method(self) -> Method:
        """How the intervals were made; the same for every box."""
        return self.estimates[0].method

    @property
    def widest(self) -> float:
        """The length of the longest interval, a share."""
        return max(found.widest for found in self.estimates)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The shares of everybody, as a table lists them: for boxes, how many ticked each."""
        if self.estimates[0].box is None:
            return tuple(Row(option.label, option) for option in self.estimates[0].options)
        ticked = [Row(str(found.box), found.options[0]) for found in self.estimates]
        extras = [
            Row(f"{option.label} ({found.box})", option)
            for found in self.estimates
            for option in found.options[2:]
        ]
        return (*ticked, *extras)

    @property
    def among(self) -> tuple[Row, ...]:
        """The shares among those who answered; empty where everybody does."""
        if self.estimates[0].box is None:
            return tuple(Row(option.label, option) for option in self.estimates[0].among)
        return tuple(Row(str(found.box), found.among[0]) for found in self.estimates if found.among)

    @property
    def population(self) -> tuple[Row, ...]:
        """The weighted shares, as ``rows`` lists them; empty without weights."""
        if not self.weighted:
            return ()
        if self.estimates[0].box is None:
            labels = self.estimates[0].item.labels
            return tuple(Row(label, _as_row(self.weighted[0][label])) for label in labels)
        return tuple(
            Row(str(found.box), _as_row(weighted[found.options[0].label]))
            for found, weighted in zip(self.estimates, self.weighted, strict=True)
        )

    @property
    def coarse(self) -> bool:
        """Whether a number has two points only, which tell its mean and nothing else."""
        return self.number is not None and len(self.number.cumulative) == 2


@dataclass(frozen=True)
class Section:
    """One question with all that is known of it."""

    question: Question
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a survey.

    Attributes:
        reports: What they were made from.
        sections: One for each question that there are reports to, in the survey's order.
        level: Confidence level of each interval.
        simultaneous: Whether the intervals of one question hold all at once.
        limit: The widest interval, a share, whose best estimate is still shown; None for any.
        relations: The cross-tables that were asked for.
        differences: Every item compared between arms, where results are by arm.
    """

    reports: Reports
    sections: tuple[Section, ...]
    level: float
    simultaneous: bool = False
    limit: float | None = None
    relations: tuple[Relation, ...] = ()
    differences: tuple[Differences, ...] = ()

    @property
    def blocks(self) -> Iterator[Block]:
        """Every block of every section."""
        for section in self.sections:
            yield from section.blocks

    @property
    def estimates(self) -> Iterator[Estimate]:
        """Every table of shares."""
        for block in self.blocks:
            yield from block.estimates

    def too_few(self, found: OptionEstimate | AmongEstimate) -> bool:
        """Say whether an interval is wider than the limit, so that a single share would mislead."""
        return self.limit is not None and found.high - found.low > self.limit


def _as_row(found: WeightedShare) -> AmongEstimate:
    return AmongEstimate(found.label, found.share, found.se, math.nan, found.low, found.high)


def analyse(
    reports: Reports,
    *,
    sample: SampleDesign | None = None,
    level: float = 0.95,
    method: Method | None = None,
    simultaneous: bool = False,
    by_arm: bool = False,
    limit: float | None = None,
    crosstabs: Sequence[tuple[str, str]] = (),
) -> Results:
    """Estimate everything that a survey asks.

    Args:
        reports: The noisy reports.
        sample: Weights, strata and clusters of the respondents, in the order of the reports; adds
            the shares of the population that they stand for.
        level: Confidence level of each interval, in (0, 1).
        method: How to make intervals; see ``estimate``.
        simultaneous: Make the intervals of one question hold all at once; see ``estimate``.
        by_arm: Do it for each collection arm by itself.
        limit: The widest interval whose best estimate is shown, a share in (0, 1]; "too few to
            say" stands in for others.
        crosstabs: Pairs of items to relate to each other, of all reports together.

    Raises:
        EstimateError: If there is no such level or method, or there are no arms to split by.
    """
    if limit is not None and not 0 < limit <= 1:
        raise EstimateError(f"limit must be above 0 and at most 1, got {limit!r}")
    if by_arm and not reports.survey.arms:
        raise EstimateError(f"survey {reports.survey.name!r} has no arms to group by")
    groups: dict[str | None, tuple[Reports, SampleDesign | None]] = {None: (reports, sample)}
    if by_arm:
        groups = {name: _arm(reports, sample, name) for name in reports.survey.arms}

    def block(
        question: Question, group: str | None, given: Reports, plan: SampleDesign | None
    ) -> Block:
        names = [item.name for item in question.items if item.name in given.tallies]
        found = tuple(
            estimate(given, name, level=level, method=method, simultaneous=simultaneous)
            for name in names
        )
        numeric = question.kind in NUMERIC
        number = describe(given, question.name, level=level) if numeric else None
        weighted = tuple(
            estimate_weighted(given[name], plan, level=level)
            for name in names
            if plan is not None and given[name].n
        )
        return Block(group, found, number, weighted if len(weighted) == len(found) else ())

    sections = tuple(
        Section(question, tuple(block(question, group, *found) for group, found in groups.items()))
        for question in reports.survey.questions
        if any(item.name in reports.tallies for item in question.items)
    )
    relations = relate(reports, crosstabs, sample, level)
    differences = compare_arms(reports, sample, level) if by_arm else ()
    return Results(reports, sections, level, simultaneous, limit, relations, differences)


def _arm(
    reports: Reports, sample: SampleDesign | None, name: str
) -> tuple[Reports, SampleDesign | None]:
    part = reports.arm(name)
    if sample is None or reports.arms is None:
        return part, None
    return part, sample.only(reports.arms == reports.survey.arms.index(name))
