"""What a survey will be able to tell: the expected half-width of every question's estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from scipy.special import ndtri

from deniable_protocol import Channel, EstimateError, Question, Survey, odds_at_most

from .design import Design
from .estimate import format_level
from .planning import MOST_RESPONDENTS, expected_half_width
from .targets import DIRECT, Share

_MOST_EPSILON = 15


@dataclass(frozen=True)
class QuestionPlan:
    """Say how closely one question will be known.

    Attributes:
        question: The question.
        respondents: Number of respondents n of the whole survey.
        reach: Part of them that report on it; on one given box of a ``multiple``.
        share: The share that an option is expected to have.
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
        """Expected half-width of the interval for one option, as a share."""
        return self._half_width(Design.of(self.question.channel), self.reports)

    @property
    def direct_respondents(self) -> int:
        """Honest answers to a direct question that would do as well, at least 1."""
        one = self._half_width(DIRECT, 1)
        return max(1, math.ceil((one / self.half_width) ** 2 - 1e-9))

    @property
    def mean_half_width(self) -> float | None:
        """Expected half-width for the mean of a scale or number, in its own unit.

        All answers are taken to be equally common. None for other kinds, and where not answering
        is an option.
        """
        values = _values(self.question)
        if values is None or self.question.extras:
            return None
        z = float(ndtri((1 + self.level) / 2))
        return z * math.sqrt(_mean_variance(self.question.channel, values) / self.reports)

    def _half_width(self, design: Design, reports: int) -> float:
        return expected_half_width(Share(self.share), reports, design, self.level)

    def sentence(self) -> str:
        """Say in one or two plain sentences what to expect."""
        near = f"{100 * self.half_width:.1f}"
        text = (
            f"{self.question.name}: in {format_level(self.level)} of such surveys, an option that "
            f"{100 * self.share:.3g} % truly have will come out within {near} percentage points "
            "of that."
        )
        if self.half_width >= self.share:
            return f"{text} That is too few respondents to tell it from 0."
        mean = self.mean_half_width
        if mean is not None:
            unit = self.question.grid.unit if self.question.grid else "points of the scale"
            text += f" The mean will be within {mean:.2g}{f' {unit}' if unit else ''}."
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
        for ask in range(1, m + 1):
            errors = [_error(found, total / ask, Fraction(ask, m)) for found in self.questions]
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
        half_width: Instead: the half-width that is wanted, as a share; each question is then
            planned with the fewest respondents that reach it.
        share: Share that an option is expected to have; None for equally common options.
        level: Confidence level in (0, 1).

    Raises:
        EstimateError: If a value is out of range, or not exactly one of *respondents* and
            *half_width* is given.

    >>> survey = Survey.load({"name": "demo", "title": "Demo", "questions": [
    ...     {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "truth": "3/4"}]})
    >>> print(plan_survey(survey, respondents=2000).questions[0].sentence())
    smokes: in 95 % of such surveys, an option that 50 % truly have will come out within 4.4 \
percentage points of that. Asked directly, 500 honest answers would do as well.
    """
    if (respondents is None) == (half_width is None):
        raise EstimateError("give either the number of respondents or the half-width")
    if respondents is not None and not 1 <= respondents <= MOST_RESPONDENTS:
        raise EstimateError(
            f"respondents must be from 1 to {MOST_RESPONDENTS:,}, got {respondents}"
        )
    if half_width is not None and not 0 < half_width < 1:
        raise EstimateError(f"half_width must be between 0 and 1, got {half_width!r}")
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")
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
    expected = 1 / question.points if share is None else share
    return QuestionPlan(question, MOST_RESPONDENTS, reach, expected, level)


def _for(plan: QuestionPlan, respondents: int) -> QuestionPlan:
    found = QuestionPlan(plan.question, respondents, plan.reach, plan.share, plan.level)
    if found.reports == 0:
        raise EstimateError(f"with {respondents:,} respondents nobody may be asked "
                            f"'{plan.question.name}'")  # fmt: skip
    return found


def _needed(plan: QuestionPlan, half_width: float) -> int:
    reports = math.ceil(plan.reports * (plan.half_width / half_width) ** 2 - 1e-6)
    return math.ceil(max(1, reports) / plan.reach)


def _values(question: Question) -> Sequence[Fraction] | None:
    if question.grid is not None:
        return question.grid.points(question.points)
    return question.scores or None


def _mean_variance(channel: Channel, values: Sequence[Fraction]) -> float:
    """n·Var of the mean of the values' scores, all answers being equally common.

    Each report is then a simple random sample of d of the k values, without replacement, and its
    score is their sum over p − q [Cochran, Sampling Techniques, 1977, Theorem 2.2].
    """
    k, d = channel.options, channel.subset
    centre = sum(values, start=Fraction(0)) / k
    squares = sum(((value - centre) ** 2 for value in values), start=Fraction(0)) / k
    return float(squares * d * (k - d) / (k - 1) / (channel.p - channel.q) ** 2)


def _error(plan: QuestionPlan, epsilon: Fraction, reach: Fraction) -> float | None:
    """Give √n times the standard error if the question had this ε; None if out of range."""
    question = plan.question
    if question.kind == "multiple":
        epsilon /= question.ask or len(question.items)
        reach *= Fraction(question.ask or len(question.items), len(question.items))
    if not Fraction(1, 1000) <= epsilon <= _MOST_EPSILON:
        return None
    channel = Channel.best(question.channel.options, odds_at_most(epsilon))
    return math.sqrt(Share(plan.share).variance(Design.of(channel)) / reach) or None
