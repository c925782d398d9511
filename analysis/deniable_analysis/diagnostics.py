"""Signs that something is wrong: impossible reports, batches that differ, and what forgers can do.

None of this needs a true answer. Each finding has numbers, and a sentence for people who do not do
statistics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, chdtrc

from deniable_protocol import EstimateError

from .design import Design
from .tally import Tally
from .wording import percent

Floats = NDArray[np.float64]

ALARM: Final = 0.001
"""Chance below which a finding is called a fault rather than luck."""


@dataclass(frozen=True)
class Impossible:
    """Say whether reports can come from their design at all.

    Attributes:
        p_value: Chance of reports at least this far outside if all is right, whatever the true
            shares are; exact, corrected for the number of options.
        label: The option that is furthest outside.
        count: Reports that hold it.
        n: Number of reports.
        bound: The nearest share of reports that holds it, whatever the true share.
        below: Whether there are too few of them, rather than too many.
        nobody: Whether ``bound`` is where nobody has the option, rather than everybody.
    """

    p_value: float
    label: str
    count: int
    n: int
    bound: float
    below: bool
    nobody: bool

    def sentence(self) -> str:
        """Say it in plain words."""
        if self.n == 0:
            return "There are no reports yet."
        fewer = "fewer" if self.below else "more"
        nobody = "nobody" if self.nobody else "everybody"
        expected = self.bound * self.n
        outside = self.count < expected if self.below else self.count > expected
        if not outside:
            return "The reports are such as the noise can make."
        text = (
            f"{self.count:,} of {self.n:,} reports hold “{self.label}”, {fewer} than the "
            f"{expected:,.0f} that noise alone makes where {nobody} has it"
        )
        if self.p_value > ALARM:
            return f"{text}; chance does that (p = {rounded(self.p_value)})."
        return (
            f"{text}. Chance hardly does that (p = {rounded(self.p_value)}): some reports are "
            "forged, or were made with another design."
        )


def impossible_reports(tally: Tally) -> Impossible:
    """Test whether the counts of an item lie outside what any true shares can give.

    Every count is binomial with a chance from q to p. So P(C ≤ count) at q bounds the chance of a
    count this low whatever the truth is, and P(C ≥ count) at p that of one this high: exact tests,
    put together by Bonferroni's inequality.

    >>> from deniable_protocol import Survey
    >>> from deniable_analysis import read_reports
    >>> survey = Survey.load({"name": "demo", "title": "Demo", "questions": [
    ...     {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "truth": "3/4"}]})
    >>> found = impossible_reports(read_reports({"smokes": [10, 190]}, survey)["smokes"])
    >>> found.sentence()
    '10 of 200 reports hold “Yes”, fewer than the 50 that noise alone makes where nobody has it. \
Chance hardly does that (p = 9e-14): some reports are forged, or were made with another design.'
    """
    return _outside(tally.counts, tally.n, tally.design, tally.item.labels)


def impossible_share(count: int, reports: int, design: Design, *, label: str = "yes") -> Impossible:
    """Test the same for one count under any binary design.

    Args:
        count: Reports that say yes.
        reports: Number of reports n.
        design: How true shares turn into reported ones.
        label: What the share is of.

    Raises:
        EstimateError: If the count is not from 0 to the number of reports.
    """
    if not 0 <= count <= reports:
        raise EstimateError(f"count must be from 0 to the number of reports, {reports}")
    return _outside(np.array([count]), reports, design, (label,))


def _outside(
    counts: NDArray[np.int64], n: int, design: Design, labels: Sequence[str]
) -> Impossible:
    ends = sorted(float(design.offset + design.slope * x) for x in (0, 1))
    if n == 0:
        return Impossible(1.0, labels[0], 0, 0, ends[0], below=True, nobody=True)
    low = bdtr(counts, n, ends[0])
    high = np.where(counts > 0, bdtrc(counts - 1, n, ends[1]), 1.0)
    # With two options the tests of one are those of the other.
    tests = 2 * len(counts) if len(counts) > 2 else 2
    below = low.min() <= high.min()
    place = int(np.argmin(low if below else high))
    p_value = min(1.0, tests * float(min(low.min(), high.min())))
    bound = ends[0] if below else ends[1]
    # Where reports say the opposite, few of them mean that everybody has it.
    nobody = bool(below) == (design.slope > 0)
    count = int(counts[place])
    return Impossible(p_value, labels[place], count, n, bound, below=bool(below), nobody=nobody)


@dataclass(frozen=True)
class Homogeneity:
    """Say whether batches of reports come from the same shares.

    Attributes:
        statistic: Pearson's chi-square of the noisy table; the largest over options where reports
            hold several.
        degrees: Its degrees of freedom.
        p_value: Chance of batches that differ this much if they come from the same shares.
        least_expected: Smallest expected count; under 5 the chance is only rough.
        batches: Number of batches.
    """

    statistic: float
    degrees: int
    p_value: float
    least_expected: float
    batches: int

    def sentence(self) -> str:
        """Say it in plain words."""
        rough = " With so few reports this is only rough." if self.least_expected < 5 else ""
        if self.p_value > ALARM:
            return (
                f"The {self.batches} batches differ no more than chance makes them "
                f"(p = {rounded(self.p_value)}).{rough}"
            )
        return (
            f"The {self.batches} batches differ more than chance makes them "
            f"(p = {rounded(self.p_value)}): they hold different people, or one of them was made "
            f"or changed in another way.{rough}"
        )


def compare_batches(batches: Mapping[str, Tally]) -> Homogeneity:
    """Test whether batches of reports (days, sites, devices) have the same true shares.

    Equal true shares give equal reported ones, and the noises are independent, so Pearson's test
    on the noisy counts is as valid as on any others. Where reports hold several options, each
    option's count is binomial: one test for each, put together by Bonferroni's inequality.

    Args:
        batches: One tally of the same item for each batch, by name; at least two with reports.

    Raises:
        EstimateError: If there are fewer than two, or they had different channels.
    """
    kept = [tally for tally in batches.values() if tally.n]
    if len(kept) < 2 or len({tally.channel for tally in kept}) > 1:
        raise EstimateError("expected two or more batches with reports, made by the same channel")
    counts = np.stack([tally.counts for tally in kept])
    if kept[0].channel.subset == 1:
        return compare_counts(counts)
    sizes = np.array([tally.n for tally in kept])
    every = [compare_counts(np.stack([c, sizes - c], axis=1)) for c in counts.T]
    worst = min(every, key=lambda found: found.p_value)
    return Homogeneity(
        worst.statistic, worst.degrees, min(1.0, len(every) * worst.p_value),
        min(found.least_expected for found in every), len(kept),
    )  # fmt: skip


def compare_counts(counts: ArrayLike) -> Homogeneity:
    """Test the same on counts: one row for each batch, one column for each report.

    References:
        [Pea00] K. Pearson, On the Criterion …, Philosophical Magazine 50 (1900), 157-175.

    >>> compare_counts([[30, 70], [50, 50]]).sentence()
    'The 2 batches differ no more than chance makes them (p = 0.0039).'
    """
    table = np.asarray(counts)
    if table.ndim != 2 or len(table) < 2 or table.dtype.kind not in "iu" or table.min() < 0:
        raise EstimateError("expected a row of counts, whole numbers of at least 0, for each batch")
    if not np.all(table.sum(axis=1)):
        raise EstimateError("every batch needs at least one report")
    seen = table[:, table.sum(axis=0) > 0]
    expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    statistic = float(((seen - expected) ** 2 / expected).sum())
    degrees = (seen.shape[0] - 1) * (seen.shape[1] - 1)
    p_value = float(chdtrc(degrees, statistic)) if degrees else 1.0
    return Homogeneity(statistic, degrees, p_value, float(expected.min()), len(seen))


@dataclass(frozen=True)
class Forgery:
    """Say how far forged reports can move an estimate.

    The price of deniability: a report that anyone could have sent cannot be told from a forged
    one, and it counts for more than one answer, since it is weighed as noise.

    Attributes:
        design: How true shares turn into reported ones.
        forged: Part γ of all reports that is forged.
        share: The true share of the others.
    """

    design: Design
    forged: float
    share: float

    @property
    def votes_per_fake(self) -> float:
        """How many answers to a direct question one forged report outweighs: 1/|slope|."""
        return 1 / abs(float(self.design.slope))

    @property
    def up(self) -> float:
        """The most that the estimate can rise, as a share."""
        return self.forged * (max(self._scores) - self.share)

    @property
    def down(self) -> float:
        """The most that it can fall."""
        return self.forged * (self.share - min(self._scores))

    @property
    def _scores(self) -> tuple[float, float]:
        offset, slope = float(self.design.offset), float(self.design.slope)
        return -offset / slope, (1 - offset) / slope

    def sentence(self) -> str:
        """Say it in plain words."""
        return (
            f"One forged report counts like {self.votes_per_fake:.1f} forged answers to a direct "
            f"question: if {percent(self.forged)} of the reports were forged, a true share of "
            f"{percent(self.share)} could look up to {100 * self.up:.1f} points too high or "
            f"{100 * self.down:.1f} points too low."
        )


def forgery(design: Design, forged: float, *, share: float = 0.5) -> Forgery:
    """Bound what a part of forged reports can do to one option's share.

    Args:
        design: How true shares turn into reported ones.
        forged: Part γ of all reports that is forged, 0 to 1.
        share: The true share among the others.

    Raises:
        EstimateError: If a part is not from 0 to 1.

    References:
        [CSU21] A. Cheu, A. Smith and J. Ullman, Manipulation Attacks in Local Differential
        Privacy, IEEE S&P 2021.

    >>> from fractions import Fraction
    >>> found = forgery(Design(Fraction(1, 2), Fraction(1, 4)), 0.01, share=0.1)
    >>> found.votes_per_fake, round(found.up, 4), round(found.down, 4)
    (2.0, 0.014, 0.006)
    """
    for name, value in (("forged", forged), ("share", share)):
        if not (math.isfinite(value) and 0 <= value <= 1):
            raise EstimateError(f"{name} must be from 0 to 1, got {value!r}")
    return Forgery(design, forged, share)


def rounded(p_value: float) -> str:
    """Write a chance with two digits, or its order of magnitude."""
    if p_value >= 0.1:
        return f"{p_value:.2f}"
    return f"{p_value:.2g}" if p_value >= 1e-4 else f"{p_value:.0e}"
