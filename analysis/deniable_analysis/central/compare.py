"""The price of not trusting the curator: local, mixed and central noise for the same question.

Every way is given the same ε for one respondent and asked for the same thing: the share of one
option in the population that the respondents were drawn from. Errors therefore have two parts, the
draw of the respondents, which nobody can avoid, and the noise.

The local column is what this package's surveys do. The others are what could be had if someone else
mixed the reports first (``mixed``), or if everybody trusted one curator with the true answers.
"""

from __future__ import annotations

from typing import Final

from deniable_analysis.estimate import estimate
from deniable_analysis.numbers import describe
from deniable_analysis.planning import MOST_RESPONDENTS
from deniable_analysis.reports import Reports
from deniable_analysis.survey_plan import QuestionPlan, plan_survey
from deniable_protocol import Channel, EstimateError, Survey, odds_at_most
from deniable_protocol.question import Item

from .arguments import Number, above_zero, inside_unit, whole
from .compare_aims import Aim, MeanAim, ShareAim
from .compare_rows import Comparison, Measured, Task, comparison

LEAD: Final = 0.05
"""How far the most popular option is taken to be ahead of the others, where nothing is known."""


def compare(
    *,
    respondents: int,
    options: int = 2,
    epsilon: Number,
    share: float | None = None,
    delta: float | None = None,
    level: float = 0.95,
) -> Comparison:
    """Put local, mixed and central noise side by side for one question.

    Args:
        respondents: n, 1 to a billion.
        options: k, at least 2.
        epsilon: ε of one respondent, 0.001 to 15, in nats.
        share: Share of the option in question; None for one that leads by 5 points over the others,
            which are equally common.
        delta: δ of the rows that need one; None for a hundredth of 1/n, at most a millionth.
        level: Confidence level.

    Raises:
        DeniableError: If an argument is out of range.

    >>> found = compare(respondents=1000, epsilon=1.1)
    >>> print(f"{found['local'].half_width:.3f} {found['laplace'].half_width:.3f}")
    0.062 0.031
    """
    n = _respondents(respondents)
    channel = Channel.best(
        whole("options", options, 2), odds_at_most(above_zero("epsilon", epsilon))
    )
    expected = _leading_share(channel.options) if share is None else share
    aim = ShareAim(expected, channel.options)
    task = Task(aim, n, channel, n, float(epsilon), _delta(delta, n), inside_unit("level", level))
    return comparison(task, "one question", "the most popular option")


def compare_survey(
    survey: Survey,
    *,
    respondents: int,
    share: float | None = None,
    delta: float | None = None,
    level: float = 0.95,
) -> tuple[Comparison, ...]:
    """Put local, mixed and central noise side by side for every question of a survey.

    The local row has the question's own channel. A number is compared by its mean. Where devices
    send only some of the questions, the curator, who needs no such draw, has the same total ε
    spread evenly over all of them.
    """
    n = _respondents(respondents)
    found = []
    for planned in plan_survey(survey, respondents=n, level=level).questions:
        options = planned.question.channel.options
        aim: Aim = ShareAim(_leading_share(options) if share is None else share, options)
        what = "a box" if planned.question.kind == "multiple" else "the most popular option"
        if planned.question.kind == "number":
            aim, what = MeanAim(0.5, planned), "the mean"
        task = _task(aim, planned, n, planned.reports, delta)
        found.append(comparison(task, planned.question.name, what))
    return tuple(found)


def compare_reports(
    reports: Reports, *, delta: float | None = None, level: float = 0.95
) -> tuple[Comparison, ...]:
    """Put what real reports say beside what mixing or a curator could have said.

    The local row is the estimate itself, of the most popular option or of a number's mean; the
    other rows are expectations for that value and the same respondents.
    """
    n = _respondents(reports.n)
    plans = plan_survey(reports.survey, respondents=n, level=level).questions
    return tuple(
        _measured(reports, planned, item, n, delta)
        for planned in plans
        for item in planned.question.items
        if item.name in reports.tallies
    )


def _measured(
    reports: Reports, planned: QuestionPlan, item: Item, n: int, delta: float | None
) -> Comparison:
    question, level = planned.question, planned.level
    if question.kind == "number" and question.grid is not None:
        described = describe(reports, question.name, level=level)
        low, width = float(question.grid.low), float(question.grid.high - question.grid.low)
        mean = described.mean
        aim: Aim = MeanAim(min(max((mean.value - low) / width, 0.0), 1.0), planned)
        task = _task(aim, planned, n, described.n, delta)
        real = Measured(mean.se / width, (mean.low - low) / width, (mean.high - low) / width)
        return comparison(task, item.name, "the mean", real)
    found = estimate(reports, item.name, level=level)
    option = max(found.options, key=lambda option: option.best)
    aim = ShareAim(min(max(option.best, 1e-6), 1 - 1e-6), question.channel.options)
    task = _task(aim, planned, n, found.n, delta)
    return comparison(task, item.name, option.label, Measured(option.se, option.low, option.high))


def _respondents(respondents: int) -> int:
    n = whole("respondents", respondents)
    if n > MOST_RESPONDENTS:
        raise EstimateError(f"respondents must be from 1 to {MOST_RESPONDENTS:,}, got {n}")
    return n


def _leading_share(options: int) -> float:
    return 1 / options + LEAD * (options - 1) / options


def _delta(delta: float | None, n: int) -> float:
    return min(1e-6, 0.01 / n) if delta is None else inside_unit("delta", delta)


def _task(aim: Aim, planned: QuestionPlan, n: int, reports: int, delta: float | None) -> Task:
    channel = planned.question.channel
    epsilon = channel.epsilon * float(planned.reach)
    return Task(aim, n, channel, reports, epsilon, _delta(delta, n), planned.level)
