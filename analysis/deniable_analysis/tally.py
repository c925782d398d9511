"""The noisy reports to one item of a survey, as the statistics see them: bits and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import Channel, EstimateError, Item, Question

from .bits import Bits, column_sums, row_sums, unpack
from .design import Design

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

UNSENT: Final = -1
"""Stands for every option index of an item that the device did not draw to be sent."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The reports to one item: a question, or one box of a ``multiple``.

    Attributes:
        question: The question, as its author wrote it.
        item: What was randomized: name, channel and the labels of every option.
        n: Number of reports.
        counts: Reports that hold each option, int64, shape (options,). They add up to n times the
            subset size, and each is exactly binomial.
        bits: One row for each respondent, in the same order for every item of a survey,
            packed as in ``bits``: uint8, shape (respondents, ⌈options/8⌉). A row without any bit
            is of a respondent whose device did not draw this item to be sent. None where only
            counts are known.
    """

    question: Question
    item: Item
    n: int
    counts: Counts
    bits: Bits | None

    @property
    def channel(self) -> Channel:
        """The channel that every report to this item went through."""
        return self.item.channel

    @property
    def design(self) -> Design:
        """How a true share turns into a reported one; the same for every option."""
        return Design.of(self.channel)

    @property
    def answering(self) -> int:
        """Number of options that stand for an answer: they come before "no answer", "not asked"."""
        return self.question.points

    @property
    def sent(self) -> NDArray[np.bool_]:
        """Whether each respondent's device drew this item to be sent, shape (respondents,).

        The draw knows nothing of the answers, so those it chose are a random sample.

        Raises:
            EstimateError: If only counts are known.
        """
        return np.asarray(self.rows.any(axis=1), dtype=np.bool_)

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Whether each respondent's report holds each option, shape (respondents, options).

        Raises:
            EstimateError: If only counts are known.
        """
        return unpack(self.rows, self.channel.options)

    @property
    def scores(self) -> Floats:
        """The de-biased score z of each respondent and option: its mean is the true share.

        float64, shape (respondents, options); every row sums to 1 up to rounding, or is NaN where
        the item was not sent.

        Raises:
            EstimateError: If only counts are known.
        """
        slope, offset = float(self.design.slope), float(self.design.offset)
        found: Floats = (self.indicators.astype(np.float64) - offset) / slope
        found[~self.sent] = np.nan
        return found

    @property
    def rows(self) -> Bits:
        """The bits, where they are known.

        Raises:
            EstimateError: If only counts are known.
        """
        if self.bits is None:
            raise EstimateError(
                f"question {self.item.name!r} needs the reports themselves, got only counts"
            )
        return self.bits

    def values(self, weights: ArrayLike) -> Floats:
        """Give each respondent's de-biased value of Σ weights_j · (true answer is j).

        An unbiased score, like z itself: means, totals and variances apply to it as they are, with
        survey weights too.

        Args:
            weights: One number for each option: a scale's scores, or 1 for the options of a group.

        Returns:
            float64, shape (respondents,); NaN where the item was not sent.

        Raises:
            EstimateError: If only counts are known.
        """
        factors = np.asarray(weights, dtype=np.float64)
        slope, offset = float(self.design.slope), float(self.design.offset)
        found: Floats = (row_sums(self.rows, factors) - offset * factors.sum()) / slope
        found[~self.sent] = np.nan
        return found

    def only(self, kept: NDArray[np.bool_]) -> Tally:
        """Keep some of the respondents.

        Raises:
            EstimateError: If only counts are known.
        """
        return Tally.of_bits(self.question, self.rows[kept], self.item)

    @classmethod
    def of_bits(cls, question: Question, bits: Bits, item: Item | None = None) -> Tally:
        """Count the reports of packed rows; the item is needed where a question has several."""
        found = item or _only_item(question)
        counts = column_sums(bits, None, found.channel.options).astype(np.int64)
        return cls(question, found, int(counts.sum()) // found.channel.subset, counts, bits)

    @classmethod
    def of_counts(cls, question: Question, counts: ArrayLike, item: Item | None = None) -> Tally:
        """Take counts as they are.

        Raises:
            EstimateError: If they are not what some number of reports can add up to.
        """
        kept = item or _only_item(question)
        found = np.asarray(counts)
        channel = kept.channel
        if found.shape != (channel.options,) or found.dtype.kind not in "iu" or found.min() < 0:
            raise EstimateError(
                f"question {kept.name!r} needs {channel.options} counts, whole numbers of at "
                f"least 0, got {found.dtype} of shape {found.shape}"
            )
        n, rest = divmod(int(found.sum()), channel.subset)
        if rest or found.max() > n:
            raise EstimateError(
                f"counts of question {kept.name!r} do not fit reports of {channel.subset} "
                f"options each: they add up to {found.sum()}, and the largest is {found.max()}"
            )
        return cls(question, kept, n, found.astype(np.int64), None)


def _only_item(question: Question) -> Item:
    if len(question.items) > 1:
        raise EstimateError(
            f"question {question.name!r} has several boxes: name one, such as "
            f"{question.items[0].name!r}"
        )
    return question.items[0]


def pack_rows(item: Item, subsets: NDArray[np.generic]) -> Bits:
    """Turn one row of option indices for each respondent into checked bits.

    Raises:
        EstimateError: If a shape or an index does not fit the item's channel.
    """
    channel = item.channel
    rows = subsets.reshape(len(subsets), -1) if subsets.size else np.empty((0, channel.subset), int)
    if rows.ndim != 2 or rows.shape[1] != channel.subset or rows.dtype.kind not in "iu":
        raise EstimateError(
            f"question {item.name!r} needs {channel.subset} option indices for each "
            f"respondent, got {subsets.dtype} of shape {subsets.shape}"
        )
    if rows.size and (rows.min() < UNSENT or rows.max() >= channel.options):
        raise EstimateError(
            f"indices of {item.name!r} must be from 0 to {channel.options - 1}, "
            f"or {UNSENT} throughout a row that was not sent"
        )
    return checked(item, pack_indices(channel, rows.astype(np.int64)))


def pack_indices(channel: Channel, indices: NDArray[np.int64]) -> Bits:
    """Turn option indices, shape (respondents, subset), into bits; −1 leaves a bit out."""
    found = np.zeros((len(indices), (channel.options + 7) // 8), dtype=np.uint8)
    for column in indices.T:  # one bit at a time: no matrix of booleans is ever held
        sent = np.flatnonzero(column != UNSENT)
        found[sent, column[sent] // 8] |= (1 << (column[sent] % 8)).astype(np.uint8)
    return found


def checked(item: Item, bits: Bits) -> Bits:
    """Make sure that every row is a report of the item's channel, or of one that was not sent.

    Raises:
        EstimateError: If a row holds another number of options.
    """
    channel = item.channel
    held = np.bitwise_count(bits).sum(axis=1)
    if np.any((held != channel.subset) & (held != 0)):
        raise EstimateError(f"a report to {item.name!r} holds {channel.subset} different options")
    if len(bits) and channel.options % 8 and bits[:, -1].max() >> channel.options % 8:
        raise EstimateError(f"indices of {item.name!r} must be from 0 to {channel.options - 1}")
    return bits
