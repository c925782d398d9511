"""What a comparison is about: the share of an option, or the mean of a number.

Both are kept from 0 to 1, a number in parts of its range, so that one computation serves both.
Every variance of a report is the planning's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from scipy.special import ndtri

from deniable_analysis.design import DIRECT, Design
from deniable_analysis.planning import MOST_RESPONDENTS
from deniable_analysis.survey_plan import QuestionPlan
from deniable_analysis.targets import Share
from deniable_protocol import Channel
from deniable_protocol.budget import best_points

from .arguments import inside_unit, root_up
from .events import Neighbours
from .sensitivity import Sensitivity, clipped_mean


@dataclass(frozen=True)
class Measure:
    """Turn what is kept from 0 to 1 into what people read.

    Args:
        low: What 0 stands for.
        width: What the whole range is worth.
        unit: Unit of a value, with its space; empty where there is none.
        spread_unit: Unit of a difference, with its space.

    >>> SHARES.value(0.525), SHARES.spread(0.031)
    ('52.5 %', '3.10 points')
    """

    low: float
    width: float
    unit: str
    spread_unit: str

    def value(self, place: float) -> str:
        """Write a value."""
        return f"{self.low + self.width * place:.3g}{self.unit}"

    def tick(self, place: float) -> str:
        """Write a round value."""
        return f"{self.low + self.width * place:.6g}{self.unit}"

    def number(self, size: float) -> str:
        """Write the size of a difference, without its unit."""
        found, digits = self.width * size, max(0, 4 - math.ceil(math.log10(self.width)))
        return f"{found:,.{digits}f}" if found == 0 or found >= 10.0**-digits else f"{found:.1g}"

    def spread(self, size: float) -> str:
        """Write the size of a difference."""
        return f"{self.number(size)}{self.spread_unit}"


SHARES = Measure(0.0, 100.0, " %", " points")


class Aim(ABC):
    """What is estimated, and how well one report tells it."""

    value: float
    """What is expected, from 0 to 1."""

    @property
    @abstractmethod
    def measure(self) -> Measure:
        """How it is written."""

    @property
    @abstractmethod
    def direct(self) -> float:
        """n·Var of the draw of the respondents alone."""

    @abstractmethod
    def variance(self, channel: Channel) -> float:
        """Give n·Var through a channel, the draw included."""

    @abstractmethod
    def best(self, odds: Fraction) -> Channel:
        """Choose the most accurate channel with these odds."""

    @abstractmethod
    def sensitivity(self, respondents: int) -> Sensitivity:
        """Bound how far one of n respondents moves it; n is public."""

    @property
    def counts(self) -> tuple[Fraction, ...]:
        """Shares of all options, the leading one first; empty where none leads."""
        return ()


@dataclass(frozen=True)
class ShareAim(Aim):
    """Estimate the share of one option; all others are taken to be equally common.

    Args:
        value: The share, in (0, 1).
        options: k.
    """

    value: float
    options: int

    def __post_init__(self) -> None:
        inside_unit("share", self.value)

    @property
    def measure(self) -> Measure:
        """In per cent."""
        return SHARES

    @property
    def direct(self) -> float:
        """That of a binomial share."""
        return Share(self.value).variance(DIRECT)

    def variance(self, channel: Channel) -> float:
        """Give that of the moment estimate."""
        return Share(self.value).variance(Design.of(channel))

    def best(self, odds: Fraction) -> Channel:
        """Choose the best subset size."""
        return Channel.best(self.options, odds)

    def sensitivity(self, respondents: int) -> Sensitivity:
        """Bound the shares: n is public, so one of two says both; of more, all are released."""
        if self.options == 2:
            return clipped_mean(0, 1, records=respondents)
        moved = Fraction(2, respondents)
        length = root_up(moved**2 / 2)
        return Sensitivity("shares", moved, length, Neighbours.REPLACE_ONE, self.options)

    @property
    def counts(self) -> tuple[Fraction, ...]:
        """Shares of all options; empty where the one in question does not lead."""
        rest = (1 - Fraction(self.value)) / (self.options - 1)
        if self.value <= float(rest) * (1 + 1e-9):
            return ()
        return (Fraction(self.value), *[rest] * (self.options - 1))


@dataclass(frozen=True)
class MeanAim(Aim):
    """Estimate the mean of a number, its answers being spread evenly over its range.

    Args:
        value: The mean, in parts of the range.
        planned: The planned question, of kind ``number``.
    """

    value: float
    planned: QuestionPlan

    @property
    def measure(self) -> Measure:
        """In the question's unit."""
        grid = self.planned.question.grid
        if grid is None:
            return SHARES
        unit = f" {grid.unit}" if grid.unit else ""
        return Measure(float(grid.low), float(grid.high - grid.low), unit, unit)

    @cached_property
    def direct(self) -> float:
        """That of the answers themselves, among those who answer."""
        sure = replace(self.planned, respondents=MOST_RESPONDENTS, reach=Fraction(1))
        return self.variance(sure.question.channel) * sure.direct_respondents / sure.reports

    def variance(self, channel: Channel) -> float:
        """Give that of the mean of the reported points."""
        question = replace(self.planned.question, channel=channel)
        sure = replace(
            self.planned, question=question, respondents=MOST_RESPONDENTS, reach=Fraction(1)
        )
        return (sure.half_width / float(ndtri((1 + sure.level) / 2))) ** 2 * sure.reports

    def best(self, odds: Fraction) -> Channel:
        """Choose the best number of points."""
        question = self.planned.question
        steps = question.grid.steps if question.grid else 1
        return _best_points(odds, steps, len(question.extras))

    def sensitivity(self, respondents: int) -> Sensitivity:
        """Bound the mean of those who answer, in the range 0 to 1; their number is public too."""
        grid = self.planned.question.grid
        steps = grid.steps if grid else 1
        answering = (steps + 2) / (12 * steps) / self.direct  # evenly spread: that variance is 1/A
        return clipped_mean(0, 1, records=max(1, round(respondents * min(answering, 1.0))))


@lru_cache(maxsize=1024)
def _best_points(odds: Fraction, steps: int, extras: int) -> Channel:
    return best_points(odds, steps, extras)
