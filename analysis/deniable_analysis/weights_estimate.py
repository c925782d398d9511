"""Shares from weighted, stratified and clustered samples of noisy reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from deniable_protocol import EstimateError

from .paper_data import PaperAnswers
from .reported import Reported
from .sample_design import SampleDesign
from .tally import Tally

Floats = NDArray[np.float64]
Estimator = Literal["hajek", "horvitz-thompson"]
ESTIMATORS: Final[tuple[Estimator, ...]] = get_args(Estimator)


@dataclass(frozen=True)
class WeightedShare:
    """What a weighted sample says about one true state.

    Attributes:
        label: The state.
        share: Estimate, never clipped.
        se: Linearised standard error; it holds the noise and the sampling.
        low: Lower end of the interval, within [0, 1].
        high: Upper end.
        deff: Design effect: the variance, as a multiple of that of a simple random sample of as
            many respondents with the same noise. NaN where designs differ between respondents.
        effective: Respondents of such a sample that would do as well.
    """

    label: str
    share: float
    se: float
    low: float
    high: float
    deff: float
    effective: float


@dataclass(frozen=True)
class WeightedEstimate:
    """The shares of a variable's states in the population.

    Attributes:
        options: One for each state.
        n: Number of reports.
        kish: Kish's design effect of the weights alone, 1 + cv².
        degrees: Degrees of freedom of the standard errors: sampling units less strata.
        estimator: ``hajek`` or ``horvitz-thompson``.
        level: Confidence level of each interval by itself.
    """

    options: tuple[WeightedShare, ...]
    n: int
    kish: float
    degrees: int
    estimator: Estimator
    level: float

    def __getitem__(self, option: int | str) -> WeightedShare:
        """Give a state by its place or its label."""
        if isinstance(option, int):
            return self.options[option]
        return {found.label: found for found in self.options}[option]

    def __str__(self) -> str:
        width = max(len("option"), *(len(option.label) for option in self.options))
        percent = f"{round(100 * self.level, 10):g} % interval"
        lines = [f"{'option':<{width}}  {'share':>7}  {'± SE':>6}  {'deff':>5}  {percent}"]
        for o in self.options:
            deff = "-" if math.isnan(o.deff) else f"{o.deff:.2f}"
            lines.append(
                f"{o.label:<{width}}  {100 * o.share:>5.1f} %  {100 * o.se:>4.1f} %  {deff:>5}  "
                f"{100 * o.low:.1f} % to {100 * o.high:.1f} %"
            )
        return "\n".join(lines)


def estimate_weighted(
    answers: Reported | Tally | PaperAnswers,
    sample: SampleDesign,
    *,
    estimator: Estimator = "hajek",
    size: float | None = None,
    level: float = 0.95,
) -> WeightedEstimate:
    """Estimate the population's shares from noisy reports of a weighted sample.

    Each report's de-biased score z is unbiased for its respondent's true answer, so
    Horvitz-Thompson Σ w z / N and Hájek Σ w z / Σ w are what they are without noise, and their
    linearised variances contain it.

    Privacy:
        None is spent (post-processing). Weights that depend on the true answer would be another
        matter: they must come from what is known of respondents anyway.

    Args:
        answers: The reports.
        sample: Weights, strata and clusters, one entry for each respondent.
        estimator: ``hajek`` (default), or ``horvitz-thompson``, which needs *size*.
        size: Number of people in the population.
        level: Confidence level in (0, 1).

    Returns:
        The estimate. Intervals are Wilson's with the effective number of respondents, corrected
        for the degrees of freedom; where designs differ between respondents, Student's.

    Raises:
        EstimateError: If lengths differ, or a setting is out of range.

    References:
        [HT52] D. G. Horvitz and D. J. Thompson, A Generalization of Sampling Without Replacement,
        JASA 47 (1952), 663-685.
        [KG98] E. L. Korn and B. I. Graubard, Confidence Intervals for Proportions with Small
        Expected Number of Positive Counts, Survey Methodology 24 (1998), 193-201.
        [Cha87] A. Chaudhuri, Randomized Response Surveys of Finite Populations, JSPI 15 (1987).

    >>> from fractions import Fraction
    >>> from deniable_analysis import Design
    >>> warner = Design(slope=Fraction(1, 2), offset=Fraction(1, 4))
    >>> yes = Reported.of([1, 0, 1, 0, 0, 1, 0, 0] * 25, warner, states=["no", "yes"])
    >>> sample = SampleDesign.of(200, [1, 1, 1, 1, 3, 3, 3, 3] * 25)
    >>> print(estimate_weighted(yes, sample))
    option    share    ± SE   deff  95 % interval
    no       87.5 %   7.1 %   1.17  72.8 % to 100.0 %
    yes      12.5 %   7.1 %   1.17  0.0 % to 27.2 %
    """
    if estimator not in ESTIMATORS:
        raise EstimateError(f"estimator must be one of {', '.join(ESTIMATORS)}, got {estimator!r}")
    if not 0 < level < 1:
        raise EstimateError(f"level must be between 0 and 1, got {level!r}")
    variable = _reported(answers)
    if variable.n != sample.n:
        raise EstimateError(
            f"the sample describes {sample.n} respondents, and there are {variable.n}"
        )
    sent = variable.sent
    if estimator == "horvitz-thompson" and (size is None or not sent.all() or size <= 0):
        raise EstimateError(
            "horvitz-thompson needs size=…, the number of people in the population, and a report "
            "of every respondent"
        )
    if not sent.any():
        raise EstimateError("there are no reports")
    used, kept = (variable, sample) if sent.all() else (variable.only(sent), sample.only(sent))
    total = float(kept.weights.sum()) if estimator == "hajek" else float(size or 0)
    options = tuple(
        _share(used, place, kept, total, estimator, level) for place in range(len(used.states))
    )
    return WeightedEstimate(options, used.n, kept.kish, kept.degrees, estimator, level)


def _reported(answers: Reported | Tally | PaperAnswers) -> Reported:
    if isinstance(answers, Tally):
        return Reported.of_tally(answers)
    return answers.reported if isinstance(answers, PaperAnswers) else answers


def _share(
    variable: Reported, place: int, sample: SampleDesign, total: float, estimator: str, level: float
) -> WeightedShare:
    scores = variable.scores[variable.codes, place]
    share = float(sample.weights @ scores) / total
    centred = scores - share if estimator == "hajek" else scores
    # E z² = x² + Var(z | x), and x is 0 or 1: so z² − z is unbiased for the noise's variance.
    noise = (scores**2 - scores)[:, None, None]
    variance = float(sample.covariance_of_total(centred[:, None], noise)[0, 0]) / total**2
    se = math.sqrt(max(variance, 0.0))
    simple = _simple_variance(variable, place, share)
    effective = simple / variance if variance > 0 else float(variable.n)
    low, high = _interval(variable, place, share, se, effective, sample.degrees, level)
    return WeightedShare(
        variable.states[place], share, se, low, high, variance * variable.n / simple, effective
    )


def _line(variable: Reported, place: int) -> tuple[float, float] | None:
    """Slope and offset of one state's reported share, where scores take just two values."""
    used = np.unique(variable.codes)
    values = np.unique(variable.scores[used, place].round(12))
    if len({int(law) for law in variable.law_of[used]}) > 1 or len(values) != 2:
        return None
    low, high = values.tolist()
    return 1 / (high - low), -low / (high - low)


def _simple_variance(variable: Reported, place: int, share: float) -> float:
    """Variance of one report's score in a simple random sample of people with this share."""
    line = _line(variable, place)
    if line is None:
        return math.nan
    slope, offset = line
    seen = min(max(slope * share + offset, 0.0), 1.0)
    return seen * (1 - seen) / slope**2


def _interval(
    variable: Reported, place: int, share: float, se: float, effective: float, degrees: int,
    level: float,
) -> tuple[float, float]:  # fmt: skip
    if degrees < 1:
        return 0.0, 1.0
    z, t = float(ndtri((1 + level) / 2)), float(stdtrit(degrees, (1 + level) / 2))
    line = _line(variable, place)
    if line is None or not effective > 0:
        ends = share - t * se, share + t * se
    else:
        slope, offset = line
        seen = min(max(slope * share + offset, 0.0), 1.0)
        n = effective * (z / t) ** 2
        middle = (seen + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(seen * (1 - seen) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        ends = (middle - half - offset) / slope, (middle + half - offset) / slope
    return min(max(ends[0], 0.0), 1.0), min(max(ends[1], 0.0), 1.0)
