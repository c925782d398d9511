"""People who do not follow the instructions: how many, and what that does to the estimate.

A device follows its instructions; people with dice may not, and anyone may lie before the noise.
With two groups that got different chances, cheating can be seen: the reports of those who never
say yes do not depend on the dice. The same comparison, with two different odds on devices, is a
test for forged reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from deniable_protocol import EstimateError

from .linear import Measured
from .paper import Chance, chance
from .paper_fit import fit_mixture, log_likelihood, profile_interval
from .wording import percent

Floats = NDArray[np.float64]
Pair = Sequence[Sequence[int]]
"""Counts of two groups: (no, yes) of each."""


@dataclass(frozen=True)
class Compliance:
    """Say what two groups reveal about honest and other reports.

    Attributes:
        carriers: Honest people who have the trait and follow the instructions.
        others: Honest people who do not have it and follow the instructions.
        cheaters: People who say no whatever they are told.
        best: The same three shares as a best fit: from 0 to 1, adding up to 1.
        p_value: Chance of reports this far from honest ones if nobody cheats (likelihood ratio;
            half of chi-square, since a share of cheaters cannot be negative).
        level: Confidence level of each interval by itself.
    """

    carriers: Measured
    others: Measured
    cheaters: Measured
    best: tuple[float, float, float]
    p_value: float
    level: float

    @property
    def prevalence(self) -> tuple[float, float]:
        """Bounds of the best fit for the trait: nobody knows what cheaters are."""
        return self.best[0], min(self.best[0] + self.best[2], 1.0)

    def sentence(self) -> str:
        """Say it in plain words."""
        low, high = (percent(share) for share in self.prevalence)
        seen = (
            f"About {percent(self.best[2])} say no whatever they are told "
            f"({percent(self.cheaters.low)} to {percent(self.cheaters.high)} is plausible)."
        )
        if self.p_value > 0.05:
            seen += " That may be nobody at all."
        return f"{seen} So the trait is had by {low} if none of these have it, {high} if all do."


@dataclass(frozen=True)
class StochasticLie:
    """Say how many have the trait, and how many of those say so.

    Attributes:
        prevalence: People who have the trait.
        truthful: Of those, the part who report it as told.
        best: Best fit of both, from 0 to 1.
        p_value: Chance of reports this far from truthful ones if all tell the truth.
        level: Confidence level.
    """

    prevalence: Measured
    truthful: Measured
    best: tuple[float, float]
    p_value: float
    level: float

    def sentence(self) -> str:
        """Say it in plain words."""
        return (
            f"About {percent(self.best[0])} have the trait "
            f"({percent(self.prevalence.low)} to {percent(self.prevalence.high)} is plausible), "
            f"and {percent(self.best[1])} of them report it."
        )


def cheater_detection(
    groups: Pair, forced_yes: Sequence[Chance], *,
    forced_no: Sequence[Chance] = (0, 0), level: float = 0.95,
) -> Compliance:  # fmt: skip
    """Fit the cheater detection model: two groups, forced to say yes with different chances.

    λᵢ = (1 − noᵢ)π + yesᵢβ, and the rest γ = 1 − π − β always says no. Whether they have the trait
    is not known, so the prevalence is only bounded by [π, π + γ].

    Args:
        groups: Counts (no, yes) of the two groups, to which people were assigned at random.
        forced_yes: Chance of a forced yes in each group; different.
        forced_no: Chance of a forced no in each group; 0 in the model's first form.
        level: Confidence level of each interval by itself.

    Raises:
        EstimateError: If counts or chances do not fit.

    References:
        [CD98] S. J. Clark and R. A. Desharnais, Honest Answers to Embarrassing Questions:
        Detecting Cheating in the Randomized Response Model, Psychol. Methods 3 (1998), 160-168.

    >>> found = cheater_detection([(110, 90), (50, 150)], ["0.25", "0.75"])
    >>> [round(part.value, 4) for part in (found.carriers, found.others, found.cheaters)]
    [0.3, 0.6, 0.1]
    """
    found = _forced(groups, forced_yes, forced_no)
    return Compliance(*found.parts(level), found.best, found.p_value, level)


def honesty_test(
    groups: Pair, forced_yes: Sequence[Chance], *, forced_no: Sequence[Chance] = (0, 0)
) -> float:
    """Give the p-value of nobody cheating; see ``Compliance``.

    Devices do not cheat. But if half of them, drawn at random, use other odds, the same test finds
    reports that came from no device: it costs respondents nothing.

    Args:
        groups: Counts (no, yes) of the two groups.
        forced_yes: Chance of a forced yes in each group; for devices q of each channel.
        forced_no: Chance of a forced no; for devices q again, of two options.

    >>> honesty_test([(75, 25), (25, 75)], ["0.25", "0.75"])
    1.0
    """
    return _forced(groups, forced_yes, forced_no).p_value


def stochastic_lie(groups: Pair, direct: Sequence[Chance], *, level: float = 0.95) -> StochasticLie:
    """Fit the stochastic lie detector: two groups of Warner's design with different chances.

    Only people who have the trait lie: λᵢ = πt + (1 − π)(1 − pᵢ).

    Args:
        groups: Counts (no, yes) of the two groups.
        direct: In each group the chance with which people without the trait are told to say no.
        level: Confidence level of each interval by itself.

    Raises:
        EstimateError: If counts or chances do not fit.

    References:
        [MMS12] M. Moshagen, J. Musch and E. Erdfelder, A Stochastic Lie Detector, Behavior
        Research Methods 44 (2012), 222-231.

    >>> found = stochastic_lie([(191, 373), (294, 398)], ["2/12", "10/12"])
    >>> round(found.prevalence.value, 6), round(found.truthful.value, 6)
    (0.870695, 0.635806)
    """
    told = [1 - float(chance("direct", value)) for value in direct]
    classes = _Classes.of(groups, [1.0, 1.0], told)
    saying, without, _ = classes.parts(level)
    prevalence = Measured(1 - without.value, without.se, 1 - without.high, 1 - without.low)
    having = prevalence.value
    some = having > 0  # of nobody, nobody tells the truth or lies
    truthful = saying.value / having if some else math.nan
    # t = φ/(1 − ψ): a ratio, linearised in both.
    slopes = np.array([1.0, truthful]) / having if some else np.full(2, math.nan)
    se = math.sqrt(float(slopes @ classes.covariance[:2, :2] @ slopes))
    half = float(ndtri((1 + level) / 2)) * se
    ends = (float(np.clip(end, 0, 1)) for end in (truthful - half, truthful + half))
    best_having = classes.best[0] + classes.best[2]
    best = best_having, classes.best[0] / best_having if best_having > 0 else math.nan
    measured = Measured(truthful, se, *ends)
    return StochasticLie(prevalence, measured, best, classes.p_value, level)


def _forced(groups: Pair, forced_yes: Sequence[Chance], forced_no: Sequence[Chance]) -> _Classes:
    yes = [float(chance("forced_yes", value)) for value in forced_yes]
    no = [float(chance("forced_no", value)) for value in forced_no]
    return _Classes.of(groups, [1 - value for value in no], yes)


@dataclass(frozen=True, eq=False)
class _Classes:
    """Three classes of people, in two groups: yes as told, no as told, no whatever."""

    counts: Floats
    law: Floats
    shares: Floats
    covariance: Floats
    best: tuple[float, float, float]
    p_value: float

    @classmethod
    def of(cls, groups: Pair, carriers: Sequence[float], others: Sequence[float]) -> _Classes:
        table = checked_pair(groups)
        if len(carriers) != 2 or len(others) != 2:
            raise EstimateError("expected chances for each of two groups")
        yes = np.column_stack([carriers, others, [0.0, 0.0]])
        if abs(np.linalg.det(yes[:, :2])) < 1e-12:
            raise EstimateError("the two groups need different chances")
        law = np.vstack([np.column_stack([1 - row, row]).T for row in yes])
        counts = table.ravel().astype(np.float64)
        sizes = table.sum(axis=1)
        seen = table[:, 1] / sizes
        inverse = np.linalg.inv(yes[:, :2])
        two = inverse @ seen
        spread = seen * (1 - seen) / np.maximum(sizes - 1, 1)
        both = inverse @ np.diag(spread) @ inverse.T
        whole = np.vstack([np.eye(2), [-1, -1]])
        fit = fit_mixture(law, counts)
        honest = fit_mixture(law[:, :2], counts)
        ratio = 2 * (
            log_likelihood(law, counts, fit.shares)
            - log_likelihood(law[:, :2], counts, honest.shares)
        )
        p_value = float(chdtrc(1, ratio)) / 2 if ratio > 1e-9 else 1.0
        first, second, third = (float(share) for share in fit.shares)
        return cls(
            counts, law, np.append(two, 1 - two.sum()), whole @ both @ whole.T,
            (first, second, third), p_value,
        )  # fmt: skip

    def parts(self, level: float) -> tuple[Measured, Measured, Measured]:
        """Estimate each class, with the likelihood-ratio interval."""
        fit = fit_mixture(self.law, self.counts)
        found = []
        for place in range(3):
            ends = profile_interval(self.law, self.counts, fit, place, level)
            error = math.sqrt(float(self.covariance[place, place]))
            found.append(Measured(float(self.shares[place]), error, *ends))
        return found[0], found[1], found[2]


def checked_pair(groups: Pair) -> NDArray[np.int64]:
    """Read counts (no, yes) of two groups.

    Raises:
        EstimateError: If they are no such counts, or a group is empty.
    """
    table = np.asarray(groups)
    if table.shape != (2, 2) or table.dtype.kind not in "iu" or table.min() < 0:
        raise EstimateError("expected counts (no, yes) of two groups, whole numbers of at least 0")
    if not np.all(table.sum(axis=1)):
        raise EstimateError("each group needs at least one report")
    return table.astype(np.int64)
