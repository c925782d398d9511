"""How many respondents, how much privacy, how wide an interval, how much power: any from the rest.

The normal approximations here are those that textbooks plan with; assurance (but for a cell of a
cross-table) and ``Plan.exact_power`` are exact sums over the binomial law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from deniable_protocol import Channel, EstimateError, odds_at_most

from .design import DIRECT, Design
from .planning_power import Alternative, exact_power, expected_half_width, normal_power
from .targets import Share, Target, assured

MOST_RESPONDENTS: Final = 10**9
_MOST_EPSILON: Final = 15_000
"""Of one question, in thousandths of a nat."""


@dataclass(frozen=True)
class Allocation:
    """Say how one respondent's budget is spread over the questions of a survey.

    Args:
        questions: Number of questions m.
        ask: How many of them a device reports, drawn before it looks at the answers; None for all.
            Each then has ε/ask, and reaches only some of the respondents.
    """

    questions: int = 1
    ask: int | None = None

    def __post_init__(self) -> None:
        if self.questions < 1 or not 1 <= self.sent <= self.questions:
            raise EstimateError(
                "expected at least one question, and ask from 1 to the number of questions, "
                f"got {self.questions} and {self.ask}"
            )

    @property
    def sent(self) -> int:
        """How many questions one device reports."""
        return self.questions if self.ask is None else self.ask

    def reach(self, items: int) -> Fraction:
        """Give the part of the respondents who report on all of *items* given questions."""
        return Fraction(math.perm(self.sent, items), math.perm(self.questions, items))


@dataclass(frozen=True)
class Plan:
    """Hold a plan: what was given, and what follows from it.

    Attributes:
        target: What is estimated, with the shares that are expected.
        respondents: Number of respondents n.
        reports: Reports that the target can use: fewer than n where questions are sampled.
        epsilon: ε of one respondent over the whole survey, in nats; None for a design without one.
        design: How true shares turn into reported ones in one question.
        half_width: Half the length of the interval, as a share: expected, or, if ``assurance`` was
            given, not passed with that probability.
        assurance: Probability that the interval is no longer than that; None if not asked for.
        power: Probability that the test rejects the null; None without a null.
        level: Confidence level of the interval; the test has size 1 − level.
        alternative: Which side the test looks to.
    """

    target: Target
    respondents: int
    reports: int
    epsilon: float | None
    design: Design
    half_width: float
    assurance: float | None
    power: float | None
    level: float
    alternative: Alternative

    @property
    def loss(self) -> float:
        """How many times the respondents that a direct question would need for the same error."""
        direct = self.target.variance(DIRECT)
        if direct == 0:
            return math.inf
        return self.target.variance(self.design) / direct * self.respondents / self.reports

    @property
    def direct_half_width(self) -> float:
        """The expected half-width if the same respondents were asked directly, and all told."""
        return expected_half_width(self.target, self.respondents, DIRECT, self.level)

    @property
    def exact_power(self) -> float | None:
        """Power of the exact binomial test for one share; None for other targets."""
        if not isinstance(self.target, Share) or self.target.null is None:
            return None
        return exact_power(
            self.target, self.reports, self.design, self.level, alternative=self.alternative
        )

    def __str__(self) -> str:
        parts = [f"{self.respondents:,} respondents"]
        if self.epsilon is not None:
            parts.append(f"epsilon {self.epsilon:g}")
        parts.append(f"half-width {100 * self.half_width:.2f} percentage points")
        if self.assurance is not None:
            parts.append(f"assurance {self.assurance:.3f}")
        if self.power is not None:
            exact = self.exact_power
            of_test = "" if exact is None else f" ({exact:.3f} by the exact test)"
            parts.append(f"power {self.power:.3f}{of_test}")
        if math.isfinite(self.loss):
            parts.append(f"{self.loss:.1f} times the respondents of a direct question")
        return ", ".join(parts)


def plan(
    *,
    target: Target | None = None,
    respondents: int | None = None,
    epsilon: float | None = None,
    half_width: float | None = None,
    power: float | None = None,
    assurance: float | None = None,
    options: int = 2,
    design: Design | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    allocation: Allocation | None = None,
) -> Plan:
    """Find what is missing: respondents, ε, half-width, power or assurance, from the others.

    With respondents and ε given, the rest follows. Where one of the two is missing, the least
    value that reaches every goal given (half-width, with or without assurance, and power) is
    found; an ε that is found is rounded up to thousandths, so that it can be typed as it is.

    Args:
        target: What is planned for; None for the share of one of equally common options.
        respondents: Number of respondents, at least 1.
        epsilon: ε of one respondent over the whole survey, in nats.
        half_width: Longest half-width that is good enough, as a share (0.03 for 3 points).
        power: Least power, in (0, 1); the target needs a null.
        assurance: Probability, in (0, 1), with which the interval must keep to the half-width.
            Without it the half-width is the expected one. Respondents are then such that the
            found number and every larger one will do (for a difference: up to the small
            irregularities of counting; for a cell: to first order).
        options: Options of the question, at least 2; ``Channel.best`` chooses the design.
        design: A design instead of ``epsilon`` and ``options``, for paper-and-dice studies.
        level: Confidence level; the test has size 1 − level.
        alternative: ``two-sided``, ``greater`` (than the null) or ``less``.
        allocation: The survey around the question; None for a question alone.

    Raises:
        EstimateError: If nothing or too much is missing, or no value will do.

    References:
        [USSS12] R. Ulrich, H. Schröter, H. Striegel and P. Simon, Asking Sensitive Questions: A
        Statistical Power Analysis of Randomized Response Models, Psychol. Methods 17 (2012).

    >>> forced = Design(Fraction(2, 3), Fraction(1, 6))
    >>> found = plan(target=Share(0.1, null=0), design=forced, power=0.8, alternative="greater")
    >>> found.respondents, round(found.power, 4)
    (212, 0.8011)
    >>> plan(target=Share(0.2), epsilon=1.0987, half_width=0.03).respondents
    3885
    """
    aim = target if target is not None else Share(1 / options)
    task = _Task(
        aim, options, design, level, alternative, allocation or Allocation(aim.items),
        half_width, power, assurance,
    )  # fmt: skip
    task.check(respondents, epsilon)
    if respondents is None:
        return task.outcome(task.find_respondents(epsilon), epsilon, found=True)
    if epsilon is None and design is None:
        return task.outcome(respondents, task.find_epsilon(respondents), found=True)
    return task.outcome(respondents, epsilon, found=False)


@dataclass(frozen=True)
class _Task:
    """Everything about a plan but the respondents and ε."""

    target: Target
    options: int
    design: Design | None
    level: float
    alternative: Alternative
    allocation: Allocation
    half_width: float | None
    power: float | None
    assurance: float | None

    def check(self, respondents: int | None, epsilon: float | None) -> None:
        unit = {"level": self.level, "power": self.power, "assurance": self.assurance}
        for name, value in unit.items():
            if value is not None and not 0 < value < 1:
                raise EstimateError(f"{name} must be between 0 and 1, got {value!r}")
        if self.half_width is not None and not 0 < self.half_width < math.inf:
            raise EstimateError(f"half_width must be above 0, got {self.half_width!r}")
        if respondents is not None and not 1 <= respondents <= MOST_RESPONDENTS:
            raise EstimateError(
                f"respondents must be from 1 to {MOST_RESPONDENTS:,}, got {respondents!r}"
            )
        if self.alternative not in get_args(Alternative):
            raise EstimateError(f"alternative must be two-sided, greater or less, "
                                f"got {self.alternative!r}")  # fmt: skip
        if self.design is not None and epsilon is not None:
            raise EstimateError("give epsilon or a design, not both")
        sent = self.allocation.sent
        if epsilon is not None and not 0.001 * sent <= epsilon <= 15 * sent:
            raise EstimateError(
                f"epsilon must be from {0.001 * sent:g} to {15 * sent}, got {epsilon!r}"
            )
        self._check_goals(respondents, self.design is not None or epsilon is not None)

    def _check_goals(self, respondents: int | None, private: bool) -> None:
        if self.power is not None and self.target.null_value is None:
            raise EstimateError("power needs a target with a null to tell it from")
        if self.power is not None and self.target.value == self.target.null_value:
            raise EstimateError("power needs a target that differs from its null")
        if respondents is not None and private:
            if self.power is not None or None not in (self.half_width, self.assurance):
                raise EstimateError("nothing is left to find: leave out what is asked for")
            return
        if respondents is None and not private:
            raise EstimateError("give respondents, or epsilon (or a design), or both")
        if self.half_width is None and (self.power is None or self.assurance is not None):
            raise EstimateError("give the half_width or the power that is to be reached")

    def design_at(self, epsilon: float | None) -> Design:
        if self.design is not None:
            return self.design
        if epsilon is None:
            raise EstimateError("give epsilon or a design")
        odds = odds_at_most(Fraction(epsilon) / self.allocation.sent)
        return Design.of(Channel.best(self.options, odds))

    def reports(self, respondents: int) -> int:
        return int(respondents * self.allocation.reach(self.target.items))

    def outcome(self, respondents: int, epsilon: float | None, *, found: bool) -> Plan:
        design, reports = self.design_at(epsilon), self.reports(respondents)
        if reports == 0:
            raise EstimateError("nobody would answer what is asked for: too few are sampled")
        width, assurance = expected_half_width(self.target, reports, design, self.level), None
        if self.half_width is not None and (self.assurance is not None or not found):
            width = self.half_width
            assurance = self.target.assurance(reports, design, width, self.level)
        elif self.assurance is not None:
            assurance = self.assurance
            width = self.target.assured_width(reports, design, assurance, self.level)
        power = self._power(reports, design)
        return Plan(
            self.target, respondents, reports, epsilon, design, width, assurance, power,
            self.level, self.alternative,
        )  # fmt: skip

    def _power(self, reports: int, design: Design) -> float | None:
        if self.target.null_value is None:
            return None
        return normal_power(self.target, reports, design, self.level, alternative=self.alternative)

    def _reaches(self, reports: int, design: Design) -> bool:
        if reports == 0:
            return False
        if self.power is not None and (self._power(reports, design) or 0) < self.power:
            return False
        if self.half_width is None:
            return True
        if self.assurance is None:
            return expected_half_width(self.target, reports, design, self.level) <= self.half_width
        found = self.target.assurance(reports, design, self.half_width, self.level)
        return found >= self.assurance

    def find_respondents(self, epsilon: float | None) -> int:
        """Find the least n that reaches every goal."""
        design = self.design_at(epsilon)
        reports = _least(lambda n: self._reaches(n, design), self.target.items, MOST_RESPONDENTS)
        if reports is None:
            raise EstimateError(f"not even {MOST_RESPONDENTS:,} reports reach this")
        if isinstance(self.target, Share) and self.assurance and self.half_width:
            near = _around(reports)
            chances = assured(near, design, self.target.share, self.half_width, self.level)
            # Over counts a probability rises with n like a saw: go past the last n that fails.
            failing = near[chances < self.assurance]
            enough = int(failing[-1]) + 1 if len(failing) else int(near[0])
            reports = max(reports, enough) if self.power else enough
        respondents = math.ceil(reports / self.allocation.reach(self.target.items))
        if respondents > MOST_RESPONDENTS:
            raise EstimateError(f"not even {MOST_RESPONDENTS:,} respondents reach this")
        return respondents

    def find_epsilon(self, respondents: int) -> float:
        """Find the least ε, in thousandths, that reaches every goal."""
        reports = self.reports(respondents)
        most = _MOST_EPSILON * self.allocation.sent
        found = _least(
            lambda t: self._reaches(reports, self.design_at(t / 1000)), self.allocation.sent, most
        )
        if found is None:
            raise EstimateError(f"no epsilon reaches this with {respondents:,} respondents")
        return found / 1000


def _around(reports: int) -> NDArray[np.int64]:
    """List the n within 5 % and 200: far more than the teeth of a saw at this n."""
    return np.arange(max(1, reports - reports // 20 - 200), reports + reports // 20 + 200)


def _least(holds: Callable[[int], bool], least: int, most: int) -> int | None:
    """Find the least whole number for which something rising holds; None if there is none."""
    high = least
    while not holds(high):
        if high >= most:
            return None
        least, high = high + 1, min(2 * high, most)
    while least < high:
        middle = (least + high) // 2
        least, high = (least, middle) if holds(middle) else (middle + 1, high)
    return high
