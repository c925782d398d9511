"""The noisy reports of a survey, as the statistics see them: bits and counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import Channel, EstimateError, Question, Report, Survey

from .bits import Bits, column_sums, unpack
from .design import Design

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tally:
    """The reports to one question.

    Attributes:
        question: The question, with its channel.
        n: Number of reports.
        counts: Reports that hold each option, int64, shape (options,). They add up to n times the
            subset size, and each is exactly binomial.
        bits: One row for each respondent, in the same order for every question of a survey,
            packed as in ``bits``: uint8, shape (respondents, ⌈options/8⌉). A row without any bit
            is of a respondent who was not asked. None where only counts are known.
    """

    question: Question
    n: int
    counts: Counts
    bits: Bits | None

    @property
    def design(self) -> Design:
        """How a true share turns into a reported one; the same for every option."""
        return Design.of(self.question.channel)

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Whether each respondent's report holds each option, shape (respondents, options).

        Raises:
            EstimateError: If only counts are known.
        """
        return unpack(self.rows, self.question.channel.options)

    @property
    def scores(self) -> Floats:
        """The de-biased score z of each respondent and option: its mean is the true share.

        float64, shape (respondents, options); every row sums to 1 up to rounding.

        Raises:
            EstimateError: If only counts are known.
        """
        slope, offset = float(self.design.slope), float(self.design.offset)
        found: Floats = (self.indicators.astype(np.float64) - offset) / slope
        return found

    @property
    def rows(self) -> Bits:
        """The bits, where they are known.

        Raises:
            EstimateError: If only counts are known.
        """
        if self.bits is None:
            raise EstimateError(
                f"question {self.question.name!r} needs the reports themselves, got only counts"
            )
        return self.bits

    @classmethod
    def of_bits(cls, question: Question, bits: Bits) -> Tally:
        """Count the reports of packed rows."""
        options = question.channel.options
        counts = column_sums(bits, None, options).astype(np.int64)
        return cls(question, int(bits.any(axis=1).sum()), counts, bits)

    @classmethod
    def of_counts(cls, question: Question, counts: ArrayLike) -> Tally:
        """Take counts as they are.

        Raises:
            EstimateError: If they are not what some number of reports can add up to.
        """
        found = np.asarray(counts)
        channel = question.channel
        if found.shape != (channel.options,) or found.dtype.kind not in "iu" or found.min() < 0:
            raise EstimateError(
                f"question {question.name!r} needs {channel.options} counts, whole numbers of at "
                f"least 0, got {found.dtype} of shape {found.shape}"
            )
        n, rest = divmod(int(found.sum()), channel.subset)
        if rest or found.max() > n:
            raise EstimateError(
                f"counts of question {question.name!r} do not fit reports of {channel.subset} "
                f"options each: they add up to {found.sum()}, and the largest is {found.max()}"
            )
        return cls(question, n, found.astype(np.int64), None)


@dataclass(frozen=True, eq=False)
class Reports:
    """Every report to one survey, question by question.

    Attributes:
        survey: The survey that was answered.
        tallies: One tally for each question that there are reports to, by name.
    """

    survey: Survey
    tallies: Mapping[str, Tally]

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
            if found.setdefault(report.id, report).answers != report.answers:
                raise EstimateError(f"two different reports have the id {report.id}")
        return cls.of_subsets(
            survey,
            {q.name: [r.answers[q.name] for r in found.values()] for q in survey.questions},
        )

    @classmethod
    def of_subsets(cls, survey: Survey, subsets: Mapping[str, ArrayLike]) -> Reports:
        """Gather option indices, one row for each respondent.

        Args:
            survey: The survey that was answered.
            subsets: For each question the drawn option indices, shape (respondents, subset); where
                the subset size is 1, (respondents,) will do.

        Raises:
            EstimateError: If a shape or an index does not fit, or respondents differ in number.
        """
        tallies = {
            name: Tally.of_bits(question, _packed(question, np.asarray(subsets[name])))
            for name, question in _questions(survey, subsets)
        }
        if len({len(tally.rows) for tally in tallies.values()}) > 1:
            raise EstimateError("every question needs a row for each respondent, in the same order")
        return cls(survey, MappingProxyType(tallies))

    @classmethod
    def of_counts(cls, survey: Survey, counts: Mapping[str, ArrayLike]) -> Reports:
        """Gather counts, for each question how many reports hold each option.

        Shares and intervals need no more. Questions cannot be related to each other, and where
        reports hold more than one option the best fit needs the reports themselves.

        Raises:
            EstimateError: If counts do not fit their question.
        """
        tallies = {
            name: Tally.of_counts(question, counts[name])
            for name, question in _questions(survey, counts)
        }
        return cls(survey, MappingProxyType(tallies))


def _questions(survey: Survey, given: Mapping[str, object]) -> Sequence[tuple[str, Question]]:
    known = {question.name: question for question in survey.questions}
    unknown = sorted(set(given) - set(known))
    if unknown or not given:
        raise EstimateError(
            f"expected questions among {', '.join(map(repr, known))}, "
            f"got {', '.join(map(repr, unknown)) or 'none'}"
        )
    return [(name, question) for name, question in known.items() if name in given]


def _packed(question: Question, subsets: NDArray[np.generic]) -> Bits:
    channel = question.channel
    rows = subsets.reshape(len(subsets), -1) if subsets.size else np.empty((0, channel.subset), int)
    if rows.ndim != 2 or rows.shape[1] != channel.subset or rows.dtype.kind not in "iu":
        raise EstimateError(
            f"question {question.name!r} needs {channel.subset} option indices for each "
            f"respondent, got {subsets.dtype} of shape {subsets.shape}"
        )
    if rows.size and (rows.min() < 0 or rows.max() >= channel.options):
        raise EstimateError(f"indices of {question.name!r} must be from 0 to {channel.options - 1}")
    indices = rows.astype(np.int64)
    found = np.zeros((len(indices), (channel.options + 7) // 8), dtype=np.uint8)
    for column in indices.T:  # one bit at a time: no matrix of booleans is ever held
        found[np.arange(len(indices)), column // 8] |= (1 << (column % 8)).astype(np.uint8)
    return checked(question.name, channel, found)


def checked(name: str, channel: Channel, bits: Bits) -> Bits:
    """Make sure that every row is a report of the channel, or of someone who was not asked.

    Raises:
        EstimateError: If a row holds another number of options.
    """
    held = np.bitwise_count(bits).sum(axis=1)
    if np.any((held != channel.subset) & (held != 0)):
        raise EstimateError(f"a report to {name!r} holds {channel.subset} different options")
    if len(bits) and channel.options % 8 and bits[:, -1].max() >> channel.options % 8:
        raise EstimateError(f"indices of {name!r} must be from 0 to {channel.options - 1}")
    return bits
