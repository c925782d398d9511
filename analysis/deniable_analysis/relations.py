"""Two questions at once, and arms side by side, as a report of results shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from deniable_protocol import EstimateError

from .compare_groups import Comparison, compare
from .crosstab import CrossTab, crosstab
from .estimate import AmongEstimate
from .reports import Reports
from .sample_design import SampleDesign

CHANCE: Final = 0.05
"""Chance below which a relation or a difference is said to be there."""


@dataclass(frozen=True, eq=False)
class Relation:
    """Two questions in one table.

    Attributes:
        titles: What the two were asked, as people read it.
        table: The cross-table.
    """

    titles: tuple[str, str]
    table: CrossTab

    @property
    def cells(self) -> tuple[AmongEstimate, ...]:
        """Joint shares: how many gave both answers, cell by cell."""
        table = self.table
        return tuple(
            AmongEstimate(
                f"{first}, {second}",
                float(table.shares[i, j]),
                float(table.errors[i, j]),
                float(table.best[i, j]),
                float(table.low[i, j]),
                float(table.high[i, j]),
            )
            for i, first in enumerate(table.rows)
            for j, second in enumerate(table.columns)
        )

    @property
    def conditional(self) -> Iterator[tuple[str, tuple[AmongEstimate, ...]]]:
        """The second answer among those who gave each first one."""
        totals = self.table.best.sum(axis=1)
        for i, first in enumerate(self.table.rows):
            best = self.table.best[i] / totals[i] if totals[i] > 0 else np.full(
                len(self.table.columns), math.nan
            )  # fmt: skip
            found = []
            for j, second in enumerate(self.table.columns):
                one = self.table.conditional(first, second)
                found.append(
                    AmongEstimate(second, one.value, one.se, float(best[j]), one.low, one.high)
                )
            yield first, tuple(found)

    def sentence(self) -> str:
        """Say whether the two answers go together."""
        test = self.table.independence
        if test is None:
            return "The reports are too few, or the options too many, to test for a relation."
        chance = "below 0.0001" if test.pvalue < 1e-4 else f"of {test.pvalue:.2g}"
        plural = "" if test.df == 1 else "s"
        shown = f"(χ² = {test.statistic:.1f}, {test.df} degree{plural} of freedom)"
        if test.pvalue < CHANCE:
            return (
                "The two answers go together: if they did not, reports would look as related as "
                f"these with a chance {chance} {shown}."
            )
        return (
            "The reports do not show that the two answers go together: noise and chance do as much "
            f"with a chance {chance} {shown}. That does not show that they are unrelated."
        )


@dataclass(frozen=True, eq=False)
class Differences:
    """One item compared between arms.

    Attributes:
        title: What was asked.
        found: All differences, with Holm's correction for their number.
    """

    title: str
    found: Comparison

    def sentences(self) -> tuple[str, ...]:
        """Say which arms differ, and by how much; and whether any do."""
        shown = [
            f"{d.state}: {d.first} is {abs(100 * d.difference):.1f} percentage points "
            f"{'above' if d.difference > 0 else 'below'} {d.second} "
            f"({_signed(d.low)} to {_signed(d.high)})."
            for d in self.found.differences
            if d.adjusted < CHANCE
        ]
        if shown:
            return (*shown, f"With all {len(self.found.differences)} differences in mind, these "
                            f"have a chance below {CHANCE:g} of being noise.")  # fmt: skip
        return ("No difference between the arms is larger than noise and chance make it.",)


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{abs(100 * value):.1f}"


def relate(
    reports: Reports, pairs: Sequence[tuple[str, str]], sample: SampleDesign | None, level: float
) -> tuple[Relation, ...]:
    """Make the cross-tables that were asked for.

    Raises:
        EstimateError: If a question is not one of the survey's, or only counts are known.
    """
    found = []
    for first, second in pairs:
        table = crosstab(reports, first, second, sample=sample, level=level)
        found.append(Relation((title_of(reports, first), title_of(reports, second)), table))
    return tuple(found)


def compare_arms(
    reports: Reports, sample: SampleDesign | None, level: float
) -> tuple[Differences, ...]:
    """Compare every item between the arms that have reports; nothing where fewer than two have."""
    parts = {name: part for name, part in reports.by_arm().items() if part.n}
    if len(parts) < 2 or reports.arms is None:
        return ()
    codes = {name: place for place, name in enumerate(reports.survey.arms)}
    samples = None
    if sample is not None:
        samples = {name: sample.only(reports.arms == codes[name]) for name in parts}
    found = []
    for name in reports.tallies:
        if all(part[name].n > 1 for part in parts.values()):
            compared = compare(parts, name, samples=samples, level=level)
            found.append(Differences(title_of(reports, name), compared))
    return tuple(found)


def title_of(reports: Reports, name: str) -> str:
    """Say what an item asks, a box by its own text.

    Raises:
        EstimateError: If there is no such item.
    """
    tally = reports[name]
    text = str(tally.question.text)
    if tally.question.kind != "multiple":
        return text
    names = [item.name for item in tally.question.items]
    return f"{text} {tally.question.options[names.index(name)]}"


def read_pair(text: str) -> tuple[str, str]:
    """Read two names of questions with a comma between them.

    Raises:
        EstimateError: If there are not two.

    >>> read_pair("drank, mood")
    ('drank', 'mood')
    """
    parts = tuple(part.strip() for part in text.split(","))
    if len(parts) != 2 or not all(parts):
        raise EstimateError(f"expected two questions such as drank,mood, got {text!r}")
    return parts[0], parts[1]
