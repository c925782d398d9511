"""The crosswise design corrected for people who answer at random, by an anchor question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from deniable_protocol import EstimateError

from .linear import Measured
from .paper import Chance, chance
from .paper_fit import walk
from .wording import percent


@dataclass(frozen=True)
class AnchoredCrosswise:
    """Hold the corrected share, and how many followed the instructions.

    Attributes:
        share: The sensitive trait; not clipped. NaN where nobody seems to follow.
        attentive: People who followed the instructions; the others answer at random.
        uncorrected: What the share would be if everybody had followed.
        level: Confidence level of each interval by itself.
    """

    share: Measured
    attentive: Measured
    uncorrected: float
    level: float

    def sentence(self) -> str:
        """Say it in plain words."""
        return (
            f"About {percent(min(max(self.attentive.value, 0), 1))} followed the instructions. "
            f"Corrected for the others, {percent(self.share.value)} have the trait "
            f"({percent(self.share.low)} to {percent(self.share.high)} is plausible), and not "
            f"{percent(self.uncorrected)}."
        )


def anchored_crosswise(
    table: Sequence[Sequence[int]], innocent: Chance, anchor: Chance, *, level: float = 0.95
) -> AnchoredCrosswise:
    """Correct a crosswise share by an anchor: the same task about something that nobody has.

    Who does not follow says either with chance one half, in both tasks alike. So with a the part
    who follow, λ − ½ = a(2p − 1)(π − ½) and λ′ − ½ = a(½ − p′): the anchor gives a, then π.

    Args:
        table: Counts of respondents, a row for each report to the crosswise question (first:
            exactly one statement holds; second: both or neither) and a column for each report to
            the anchor, in the same order.
        innocent: Chance p that the innocent statement of the crosswise question is true.
        anchor: Chance p′ that the innocent statement of the anchor is true.
        level: Confidence level of each interval by itself.

    Returns:
        The share with its linearised standard error, which knows that the same people answered
        both. The interval holds every π for which (λ − ½) − (π − ½)·slope·(λ′ − ½) is not
        significantly different from 0, as in Fieller's theorem; it stays right where hardly
        anybody follows.

    Raises:
        EstimateError: If counts do not fit, or a chance is one half.

    References:
        [AS23] Y. Atsusaka and R. T. Stevenson, A Bias-Corrected Estimator for the Crosswise Model
        with Inattentive Respondents, Political Analysis 31 (2023), 134-148.

    >>> found = anchored_crosswise([[92, 240], [128, 540]], "0.15", "0.15")
    >>> round(found.attentive.value, 6), round(found.share.value, 6), round(found.uncorrected, 6)
    (0.8, 0.2, 0.26)
    """
    counts = np.asarray(table)
    if counts.shape != (2, 2) or counts.dtype.kind not in "iu" or counts.min() < 0:
        raise EstimateError("expected a 2 × 2 table of counts, whole numbers of at least 0")
    n = int(counts.sum())
    if n < 2:
        raise EstimateError("expected at least two respondents")
    p, other = float(chance("innocent", innocent)), float(chance("anchor", anchor))
    if p == 0.5 or other == 0.5:
        raise EstimateError("with a chance of one half the reports say nothing")
    same, seen = float(counts[1].sum() / n) - 0.5, float(counts[:, 1].sum() / n) - 0.5
    joint = float(counts[1, 1] / n)
    spread = np.array([
        [0.25 - same**2, joint - (same + 0.5) * (seen + 0.5)],
        [joint - (same + 0.5) * (seen + 0.5), 0.25 - seen**2],
    ]) / (n - 1)  # fmt: skip
    slope = (2 * p - 1) / (0.5 - other)
    z = float(ndtri((1 + level) / 2))

    def kept(share: float) -> bool:
        factor = np.array([1.0, -slope * (share - 0.5)])
        gap = same + factor[1] * seen
        return bool(gap**2 <= z**2 * float(factor @ spread @ factor))

    value = 0.5 + same / (slope * seen) if seen else math.nan
    if seen:
        along = np.array([1 / (slope * seen), -same / (slope * seen**2)])
        error = math.sqrt(float(along @ spread @ along))
    else:
        error = math.nan
    start = min(max(value, 0.0), 1.0) if seen else 0.5
    low, high = (walk(kept, start, 0.0), walk(kept, start, 1.0)) if kept(start) else (start, start)
    attentive = seen / (0.5 - other)
    attentive_error = math.sqrt(spread[1, 1]) / abs(0.5 - other)
    ends = (min(max(attentive + sign * z * attentive_error, 0.0), 1.0) for sign in (-1, 1))
    return AnchoredCrosswise(
        Measured(value, error, low, high),
        Measured(attentive, attentive_error, *ends),
        0.5 + same / (2 * p - 1),
        level,
    )
