"""What a survey will be able to tell: the expected half-width of every question's estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtri

from deniable_protocol import Channel, EstimateError, Question, Survey, odds_at_most
from deniable_protocol.budget import MAX_POINTS, best_points
from deniable_protocol.question import decimal

from .design import DIRECT, Design
from .estimate import format_level
from .planning import MOST_RESPONDENTS
from .planning_scores import score_variance
from .targets import Share

_MOST_EPSILON = 15


@dataclass(frozen=True)
class QuestionPlan:
    """Say how closely one question will be known.

    Attributes:
        question: The question.
        respondents: Number of respondents n of the whole survey.
        reach: Part of them that report on it; on one given box of a ``multiple``.
        share: The share of all respondents that an option is expected to have. Numbers are taken
            to be spread evenly from lowest to highest.
        level: Confidence level.
    """

    question: Question
    respondents: int
    reach: Fraction
    share: float
    level: float

    @property
    def reports(self) -> int:
        """Reports that are expected for this question."""
        return int(self.respondents * self.reach)

    @property
    def half_width(self) -> float:
        """Expected half-width: of one option's share, or of a number's mean in parts of its range.

        Both are from 0 to 1, so that one goal, such as 0.03, makes sense for every question.
        """
        return self._z * math.sqrt(self._variance(self.question.channel) / self.reports)

    @property
    def direct_respondents(self) -> int:
        """Honest answers to a direct question that would do as well, at least 1."""
        ratio = self._direct_variance / self._variance(self.question.channel)
        return max(1, math.ceil(self.reports * ratio - 1e-9))

    @property
    def mean_half_width(self) -> float | None:
        """Expected half-width for the mean of a scale or number, in its own unit.

        Of those who give an answer. All options are taken to be equally common, and numbers to be
        spread evenly. None for other kinds.
        """
        grid = self.question.grid
        if grid is not None:
            return self.half_width * float(grid.high - grid.low)
        if not self.question.scores:
            return None
        options = self.question.channel.options
        shares = [Fraction(1, options)] * options
        values = (*self.question.scores, *(None for _ in self.question.extras))
        variance = _mean_variance(self.question.channel, shares, values)
        return self._z * math.sqrt(variance / self.reports)

    @property
    def _z(self) -> float:
        return float(ndtri((1 + self.level) / 2))

    def _variance(self, channel: Channel) -> float:
        """n·Var of what ``half_width`` is about, if the question had this channel."""
        grid = self.question.grid
        if grid is None:
            return Share(self.share).variance(Design.of(channel))
        extras = len(self.question.extras)
        points = channel.options - extras
        values = [Fraction(place, points - 1) for place in range(points)]
        shares = _even_shares(grid.steps, points, extras)
        return _mean_variance(channel, shares, (*values, *[None] * extras))

    @property
    def _direct_variance(self) -> float:
        grid = self.question.grid
        if grid is None:
            return Share(self.share).variance(DIRECT)
        extras, even = len(self.question.extras), Fraction(grid.steps + 2, 12 * grid.steps)
        return float(even / _answering(extras))

    def relative_error(self, epsilon: Fraction, reach: Fraction) -> float | None:
        """Give √n times the standard error if the question had this ε; None if out of range."""
        question = self.question
        if question.kind == "multiple":
            epsilon /= question.ask or len(question.items)
            reach *= Fraction(question.ask or len(question.items), len(question.items))
        if not Fraction(1, 1000) <= epsilon <= _MOST_EPSILON:
            return None
        odds = _odds(epsilon)
        if question.grid is None:
            channel = Channel.best(question.channel.options, odds)
        else:
            channel = _best_points(odds, min(question.grid.steps, MAX_POINTS), len(question.extras))
        return math.sqrt(self._variance(channel) / reach) or None

    def sentence(self) -> str:
        """Say in one or two plain sentences what to expect."""
        start = f"{self.question.name}: in {format_level(self.level)} of such surveys"
        grid = self.question.grid
        if grid is not None:
            unit = f" {grid.unit}" if grid.unit else ""
            text = (
                f"{start}, the mean will come out within {self.mean_half_width:.2g}{unit} of the "
                f"true one, if answers are spread evenly from {decimal(grid.low)} to "
                f"{decimal(grid.high)}{unit}."
            )
            if self.half_width >= 0.5:
                return f"{text} That is too few respondents to say anything about it."
        else:
            what = "a box" if self.question.kind == "multiple" else "an option"
            whose = " of everybody" if self.question.show_if else ""
            text = (
                f"{start}, the share of {what} that {100 * self.share:.3g} %{whose} truly have "
                f"will come out within {100 * self.half_width:.1f} percentage points of the truth."
            )
            if self.half_width >= self.share:
                return f"{text} That is too few respondents to tell it from 0."
            if self.mean_half_width is not None:
                text += f" The mean score will be within {self.mean_half_width:.2g}."
        return (
            f"{text} Asked directly, {self.direct_respondents:,} honest answers would do as well."
        )


@dataclass(frozen=True)
class SurveyPlan:
    """Hold the plans of all questions, and compare the two ways to spend the budget."""

    survey: Survey
    questions: tuple[QuestionPlan, ...]

    @cached_property
    def error_by_ask(self) -> dict[int, float]:
        """Standard error for each number of questions asked, relative to asking all.

        For the survey's total ε, divided equally over the questions that are sent: the geometric
        mean over the questions. Splitting the budget over all m questions is the entry for m.
        """
        total, m = Fraction(self.survey.epsilon), len(self.questions)
        logs = {}
        for ask in _asks(m):
            reach = Fraction(ask, m)
            errors = [found.relative_error(total / ask, reach) for found in self.questions]
            if None not in errors:
                logs[ask] = sum(math.log(error) for error in errors if error) / m
        return {ask: math.exp(value - logs[m]) for ask, value in logs.items()} if m in logs else {}

    def allocation_sentence(self) -> str | None:
        """Say which allocation gives the smaller standard errors; None for a single question."""
        errors, m = self.error_by_ask, len(self.questions)
        if len(errors) < 2:
            return None
        ask = min((s for s in errors if s < m), key=lambda s: errors[s])
        sampled = f'asking each respondent {ask} of the {m} questions (allocation = "sample")'
        if errors[ask] < 1:
            pairs = " Cross-tables need at least 2." if ask == 1 else ""
            return (
                f"Sampling gives the smaller standard errors: {sampled} makes them "
                f"{errors[ask]:.2f} times those of splitting the budget over all questions.{pairs}"
            )
        return (
            "Splitting the budget over all questions gives the smaller standard errors: "
            f"{sampled} would make them {errors[ask]:.2f} times as large."
        )

    def pairs_sentence(self) -> str | None:
        """Say how many respondents a cross-table has; None where all questions are sent."""
        ask, m = self.survey.ask, len(self.questions)
        if ask is None:
            return None
        if ask == 1:
            return "Each respondent reports one question, so questions cannot be cross-tabulated."
        part = Fraction(ask * (ask - 1), m * (m - 1))
        both = int(min(found.respondents for found in self.questions) * part)
        return (
            f"Two given questions are reported by {100 * float(part):.3g} % of respondents: a "
            f"cross-table will have about {both:,}."
        )

    def arms_sentence(self) -> str | None:
        """Say what comparing arms costs; None for a survey without."""
        arms = len(self.survey.arms)
        if arms < 2:
            return None
        return (
            f"With respondents spread evenly over the {arms} arms, half-widths within one arm are "
            f"{math.sqrt(arms):.2f} times these, and those of a difference between two arms "
            f"{math.sqrt(2 * arms):.2f} times."
        )


def plan_survey(
    survey: Survey,
    *,
    respondents: int | None = None,
    half_width: float | None = None,
    share: float | None = None,
    level: float = 0.95,
) -> SurveyPlan:
    """Plan every question of a survey as its author wrote it.

    Args:
        survey: The survey.
        respondents: Number of respondents n, at least 1.
        half_width: Instead: the half-width that is wanted, as a share, or for a number as a part of
            its range; each question is then planned with the fewest respondents that reach it.
        share: Share of all respondents that an option is expected to have; None for equally common
            options, "no answer" and "not asked" among them.
        level: Confidence level in (0, 1).

    Raises:
        EstimateError: If a value is out of range, or not exactly one of *respondents* and
            *half_width* is given.

    >>> survey = Survey.load({"name": "demo", "title": "Demo", "questions": [
    ...     {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "truth": "3/4"}]})
    >>> print(plan_survey(survey, respondents=2000).questions[0].sentence())
    smokes: in 95 % of such surveys, the share of an option that 50 % truly have will come out \
within 4.4 percentage points of the truth. Asked directly, 500 honest answers would do as well.
    """
    if (respondents is None) == (half_width is None):
        raise EstimateError("give either the number of respondents or the half-width")
    if respondents is not None and not 1 <= respondents <= MOST_RESPONDENTS:
        raise EstimateError(
            f"respondents must be from 1 to {MOST_RESPONDENTS:,}, got {respondents}"
        )
    for name, value in (("half_width", half_width), ("share", share), ("level", level)):
        if value is not None and not 0 < value < 1:
            raise EstimateError(f"{name} must be between 0 and 1, got {value!r}")
    found = [_question_plan(survey, question, share, level) for question in survey.questions]
    return SurveyPlan(survey, tuple(
        _for(plan, respondents or _needed(plan, half_width or 1)) for plan in found
    ))  # fmt: skip


def _question_plan(
    survey: Survey, question: Question, share: float | None, level: float
) -> QuestionPlan:
    reach = Fraction(survey.ask or len(survey.questions), len(survey.questions))
    if question.ask is not None:
        reach *= Fraction(question.ask, len(question.items))
    expected = 1 / question.channel.options if share is None else share
    return QuestionPlan(question, MOST_RESPONDENTS, reach, expected, level)


def _for(plan: QuestionPlan, respondents: int) -> QuestionPlan:
    found = replace(plan, respondents=respondents)
    if found.reports == 0:
        raise EstimateError(f"with {respondents:,} respondents nobody may be asked "
                            f"'{plan.question.name}'")  # fmt: skip
    return found


def _needed(plan: QuestionPlan, half_width: float) -> int:
    reports = math.ceil(plan.reports * (plan.half_width / half_width) ** 2 - 1e-6)
    return math.ceil(max(1, reports) / plan.reach)


def _mean_variance(
    channel: Channel, shares: list[Fraction], values: tuple[Fraction | None, ...]
) -> float:
    """n·Var of the mean of the values among those who have one, to first order where not all do.

    The mean m is a ratio, Σ v π over the share A of those who answer, so its variance is that of
    the linearised score Σ (v_j − m) z_j / A. Where everybody answers that is the mean itself.
    """
    own = [(s, v) for s, v in zip(shares, values, strict=True) if v is not None]
    answering = sum((s for s, _ in own), start=Fraction(0))
    mean = sum((s * v for s, v in own), start=Fraction(0)) / answering
    weights = [Fraction(0) if v is None else (v - mean) / answering for v in values]
    return float(score_variance(channel, shares, weights))


def _answering(extras: int) -> Fraction:
    """Give the part who give a number: it counts as two equally common options."""
    return Fraction(2, 2 + extras)


@lru_cache(maxsize=256)
def _even_shares(steps: int, points: int, extras: int) -> list[Fraction]:
    """Give the share of every grid point where answers are spread evenly over all steps.

    Answer i lies between two points and goes to the upper one with the fraction of the way.
    """
    place, part = np.divmod(np.arange(steps + 1, dtype=np.int64) * (points - 1), steps)
    upper = np.minimum(place + 1, points - 1)
    weights = np.bincount(place, steps - part, points) + np.bincount(upper, part, points)
    own = _answering(extras)
    whole = steps * (steps + 1)
    found = [own * Fraction(int(weight), whole) for weight in weights.tolist()]
    return [*found, *[(1 - own) / extras for _ in range(extras)]]


def _asks(questions: int) -> list[int]:
    """Every number of questions to ask; of very many only those that differ by a quarter."""
    every, found = range(1, questions + 1), [1]
    for ask in every:
        if ask <= 10 or ask >= 1.25 * found[-1] or ask == questions:
            found.append(ask)
    return sorted(set(found))


@lru_cache(maxsize=4096)
def _odds(epsilon: Fraction) -> Fraction:
    return odds_at_most(epsilon)


@lru_cache(maxsize=4096)
def _best_points(odds: Fraction, steps: int, extras: int) -> Channel:
    return best_points(odds, steps, extras)
