"""Groups and waves side by side: every difference, with as many tests in mind as were made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri

from deniable_protocol import EstimateError

from .crosstab_scores import Variable, reported
from .reported import Reported
from .reports import Reports
from .sample_design import SampleDesign

Floats = NDArray[np.float64]
Correction = Literal["holm", "benjamini-hochberg", "none"]
CORRECTIONS: Final[tuple[Correction, ...]] = get_args(Correction)


@dataclass(frozen=True)
class GroupDifference:
    """The difference of one state's share between two groups.

    Attributes:
        state: The state.
        first: Name of the first group.
        second: Name of the second.
        difference: Share in the first less that in the second; unbiased, never clipped.
        se: Its standard error.
        low: Lower end of the interval for this difference alone, −1 to 1.
        high: Upper end.
        pvalue: Two-sided, for this difference alone.
        adjusted: The p-value with all the others in mind.
    """

    state: str
    first: str
    second: str
    difference: float
    se: float
    low: float
    high: float
    pvalue: float
    adjusted: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Groups compared in all states.

    Attributes:
        groups: Names of the groups.
        states: States of the variable.
        shares: Unbiased share of each state in each group, shape (groups, states).
        errors: Their standard errors.
        differences: One for each pair of groups and state; of two states only the second's.
        statistic: χ² of the test that all groups are alike.
        df: Its degrees of freedom.
        pvalue: Its p-value.
        correction: How p-values were adjusted.
        level: Confidence level of each interval by itself.
    """

    groups: tuple[str, ...]
    states: tuple[str, ...]
    shares: Floats
    errors: Floats
    differences: tuple[GroupDifference, ...]
    statistic: float
    df: int
    pvalue: float
    correction: Correction
    level: float

    def __str__(self) -> str:
        percent = f"{round(100 * self.level, 10):g} % interval"
        lines = [f"difference in percentage points, {percent}, p-value ({self.correction})"]
        for d in self.differences:
            lines.append(
                f"{d.state}: {d.first} less {d.second}  {100 * d.difference:+.1f} "
                f"({100 * d.low:+.1f} to {100 * d.high:+.1f}), {_chance(d.adjusted)}"
            )
        lines.append(
            f"All groups alike: χ²({self.df}) = {self.statistic:.2f}, "
            f"p-value {_chance(self.pvalue)}."
        )
        return "\n".join(lines)


def compare(
    groups: Mapping[str, Reports | Variable],
    question: str | None = None,
    *,
    samples: Mapping[str, SampleDesign] | None = None,
    correction: Correction = "holm",
    level: float = 0.95,
) -> Comparison:
    """Compare the true shares of groups or waves of different respondents.

    Groups may have had different designs, such as other odds in a later wave: de-biased scores are
    on the same scale. The respondents must be different people; where the same answered twice,
    relate both answers with ``crosstab``.

    Privacy:
        None is spent (post-processing).

    Args:
        groups: At least two, by name: ``Reports`` (as ``reports.by_arm()`` gives), or reports to
            one question.
        question: Name of the question, where groups are ``Reports``.
        samples: Weights, strata and clusters of each group.
        correction: ``holm`` keeps the chance of any false difference below 1 − level;
            ``benjamini-hochberg`` the expected part of false ones; ``none`` adjusts nothing.
        level: Confidence level of each interval by itself.

    Raises:
        EstimateError: If groups do not fit each other, or one has fewer than two reports.

    References:
        [Hol79] S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian
        Journal of Statistics 6 (1979), 65-70.
        [BH95] Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, JRSS B 57 (1995).

    >>> from fractions import Fraction
    >>> from deniable_analysis import Design
    >>> warner = Design(slope=Fraction(1, 2), offset=Fraction(1, 4))
    >>> waves = {name: Reported.of([1] * yes + [0] * (400 - yes), warner, states=["no", "yes"])
    ...          for name, yes in {"2024": 140, "2025": 180, "2026": 184}.items()}
    >>> print(compare(waves))
    difference in percentage points, 95 % interval, p-value (holm)
    yes: 2024 less 2025  -20.0 (-33.5 to -6.5), 0.0075
    yes: 2024 less 2026  -22.0 (-35.5 to -8.5), 0.0043
    yes: 2025 less 2026  -2.0 (-15.8 to +11.8), 0.7767
    All groups alike: χ²(2) = 12.59, p-value 0.0018.
    """
    if correction not in CORRECTIONS:
        raise EstimateError(f"correction must be one of {', '.join(CORRECTIONS)}")
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")
    if len(groups) < 2:
        raise EstimateError("expected at least two groups")
    variables = {name: _variable(name, given, question) for name, given in groups.items()}
    states = next(iter(variables.values())).states
    if any(variable.states != states for variable in variables.values()):
        raise EstimateError("every group needs the same states, in the same order")
    found = [_group(name, v, (samples or {}).get(name)) for name, v in variables.items()]
    means, spreads = np.array([m for m, _ in found]), [s for _, s in found]
    errors = np.sqrt(np.array([np.diag(spread) for spread in spreads]))
    differences = _differences(tuple(variables), states, means, errors, level)
    adjusted = adjust([d.pvalue for d in differences], correction)
    statistic, df = _alike(means, spreads)
    return Comparison(
        groups=tuple(variables),
        states=states,
        shares=means,
        errors=errors,
        differences=tuple(
            GroupDifference(
                d.state, d.first, d.second, d.difference, d.se, d.low, d.high, d.pvalue, p
            )
            for d, p in zip(differences, adjusted, strict=True)
        ),
        statistic=statistic,
        df=df,
        pvalue=float(chdtrc(df, statistic)),
        correction=correction,
        level=level,
    )


def _chance(pvalue: float) -> str:
    return "< 0.0001" if pvalue < 1e-4 else f"{pvalue:.4f}"


def adjust(pvalues: list[float], correction: Correction) -> list[float]:
    """Adjust p-values for their number.

    >>> [round(p, 3) for p in adjust([0.01, 0.04, 0.03], "holm")]
    [0.03, 0.06, 0.06]
    >>> [round(p, 3) for p in adjust([0.01, 0.04, 0.03], "benjamini-hochberg")]
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(pvalues, dtype=np.float64)
    if correction == "none" or len(values) == 0:
        return list(map(float, values))
    order = np.argsort(values, kind="stable")
    many, ranks = len(values), np.arange(1, len(values) + 1)
    if correction == "holm":
        ordered = np.maximum.accumulate(values[order] * (many - ranks + 1))
    else:
        ordered = np.minimum.accumulate((values[order] * many / ranks)[::-1])[::-1]
    found = np.empty(many)
    found[order] = np.minimum(ordered, 1.0)
    return list(map(float, found))


def _variable(name: str, given: Reports | Variable, question: str | None) -> Reported:
    if isinstance(given, Reports):
        if question is None:
            raise EstimateError("groups of Reports need the name of a question")
        return reported(given[question])
    if question is not None:
        raise EstimateError(f"group {name!r} is one question already; leave question out")
    return reported(given)


def _group(name: str, variable: Reported, sample: SampleDesign | None) -> tuple[Floats, Floats]:
    sent = variable.sent
    scores = variable.scores[variable.codes][sent]
    if len(scores) < 2:
        raise EstimateError(f"group {name!r} has fewer than two reports")
    design = sample or SampleDesign.of(variable.n)
    if design.n != variable.n:
        raise EstimateError(
            f"the sample of group {name!r} describes {design.n} respondents, not {variable.n}"
        )
    kept = design.only(sent)
    weights = kept.weights / kept.weights.sum()
    means = np.asarray(weights @ scores, dtype=np.float64)
    # For a finite population: E z zᵀ = diag(x) + noise, x being one-hot.
    noise = None
    if kept.population is not None:
        noise = scores[:, :, None] * scores[:, None, :] - scores[:, :, None] * np.eye(len(means))
    total = float(kept.weights.sum())
    return means, kept.covariance_of_total(scores - means, noise) / total**2


def _differences(
    names: tuple[str, ...], states: tuple[str, ...], means: Floats, errors: Floats, level: float
) -> list[GroupDifference]:
    z = float(ndtri((1 + level) / 2))
    rows = []
    for place in range(1 if len(states) == 2 else 0, len(states)):
        for a, b in combinations(range(len(names)), 2):
            value = float(means[a, place] - means[b, place])
            se = math.hypot(errors[a, place], errors[b, place])
            low, high = max(value - z * se, -1.0), min(value + z * se, 1.0)
            pvalue = float(2 * ndtr(-abs(value) / se)) if se > 0 else 1.0
            rows.append(
                GroupDifference(
                    states[place], names[a], names[b], value, se, low, high, pvalue, pvalue
                )
            )
    return rows


def _alike(means: Floats, spreads: list[Floats]) -> tuple[float, int]:
    """Wald's test that all groups have the same shares, without the first state.

    Each group is weighed by its own precision, so that designs may differ.
    """
    free = means[:, 1:]
    precisions = [np.linalg.pinv(spread[1:, 1:]) for spread in spreads]
    total = np.sum(precisions, axis=0)
    middle = np.linalg.pinv(total) @ np.sum(
        [p @ m for p, m in zip(precisions, free, strict=True)], axis=0
    )
    statistic = sum(
        float((m - middle) @ p @ (m - middle)) for p, m in zip(precisions, free, strict=True)
    )
    return statistic, (len(means) - 1) * free.shape[1]
