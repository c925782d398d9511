"""De-biased shares of one question, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable_protocol import Question

from .intervals import Interval, Method, interval
from .reports import Reports, Tally
from .shares import BestFit, fit_counts, fit_subsets, moments


@dataclass(frozen=True)
class OptionEstimate:
    """What the reports say about one option. Every number but the count is a share, 0.1 for 10 %.

    Attributes:
        label: The option as respondents read it.
        count: Reports that hold the option. Noisy: it says nothing about any one respondent.
        share: Unbiased estimate, never clipped: it may lie outside [0, 1].
        se: Standard error of ``share``; NaN with fewer than two reports.
        mle: Maximum-likelihood share; these are from 0 to 1 and add to 1. NaN without reports, or
            where only counts of reports that hold several options are known.
        low: Lower end of the interval for this option alone.
        high: Upper end.
        at_boundary: The likelihood is largest with a share of exactly 0 or 1, or the unbiased
            estimate is not between them. Its standard error then says little; the interval holds.
        outside: The method's own interval missed [0, 1]; see ``Interval.outside``.
    """

    label: str
    count: int
    share: float
    se: float
    mle: float
    low: float
    high: float
    at_boundary: bool
    outside: bool

    @property
    def best(self) -> float:
        """The share to show people: ``mle``, or where there is none ``share`` moved into [0, 1]."""
        return min(max(self.share, 0.0), 1.0) if math.isnan(self.mle) else self.mle


@dataclass(frozen=True)
class Estimate:
    """The shares of one question's options.

    Attributes:
        question: The question, with its channel.
        n: Number of reports.
        options: One estimate for each option, in the question's order.
        level: Confidence level of each interval by itself.
        method: How the intervals were made.
        kkt: How far the best fit is from optimal; see ``BestFit``. NaN where there is none.
    """

    question: Question
    n: int
    options: tuple[OptionEstimate, ...]
    level: float
    method: Method
    kkt: float

    def __getitem__(self, option: int | str) -> OptionEstimate:
        """Give an option by its index or its label."""
        if isinstance(option, int):
            return self.options[option]
        return {found.label: found for found in self.options}[option]

    def table(self) -> str:
        """Write the shares as a table of plain text, in per cent."""
        width = max(len("option"), *(len(option.label) for option in self.options))
        head = f"{'option':<{width}}  {'share':>7}  {'± SE':>6}  {'best fit':>8}  "
        lines = [head + f"{format_level(self.level)} interval"]
        for option in self.options:
            numbers = (option.share, option.se, option.mle, option.low, option.high)
            share, se, best, low, high = map(_percent, numbers)
            mark = " *" if option.outside else ""
            lines.append(
                f"{option.label:<{width}}  {share:>7}  {se:>6}  {best:>8}  {low:>6} to {high}{mark}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()


def estimate(
    reports: Reports, question: str, *, level: float = 0.95, method: Method | None = None
) -> Estimate:
    """Estimate how many respondents truly have each option of a question.

    Privacy:
        None is spent. The reports are private as they are, and this reads nothing else
        (post-processing [DR14, Proposition 2.1]).

    Args:
        reports: The noisy reports.
        question: Name of the question.
        level: Confidence level of each interval, in (0, 1).
        method: How to make intervals, one of ``METHODS``; None for Feldman-Cousins up to 10,000
            reports and the constrained likelihood ratio above.

    Raises:
        EstimateError: If there is no such question, level or method.

    References:
        [DR14] C. Dwork and A. Roth, The Algorithmic Foundations of Differential Privacy, 2014.

    >>> from deniable_protocol import Survey
    >>> from deniable_analysis import read_reports
    >>> survey = Survey.load({"name": "demo", "title": "Demo", "questions": [
    ...     {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "truth": "3/4"}]})
    >>> print(estimate(read_reports({"smokes": [60, 140]}, survey), "smokes"))
    option    share    ± SE  best fit  95 % interval
    Yes      10.0 %   6.5 %    10.0 %   0.0 % to 23.3 %
    No       90.0 %   6.5 %    90.0 %  76.7 % to 100.0 %
    """
    tally = reports[question]
    found = interval(tally.counts, tally.n, tally.design, level=level, method=method)
    fit = _fit(tally)
    return Estimate(
        question=tally.question,
        n=tally.n,
        options=_options(tally, found, fit),
        level=level,
        method=found.method,
        kkt=fit.kkt if fit else math.nan,
    )


def _fit(tally: Tally) -> BestFit | None:
    channel = tally.question.channel
    if tally.n == 0:
        return None
    if channel.subset == 1:
        return fit_counts(tally.counts, channel)
    if tally.bits is None:
        return None
    return fit_subsets(tally.bits[tally.bits.any(axis=1)], channel)


def _options(tally: Tally, found: Interval, fit: BestFit | None) -> tuple[OptionEstimate, ...]:
    shares, errors = moments(tally.counts, tally.n, tally.design)
    rows = []
    for place, label in enumerate(tally.question.labels):
        share = float(shares[place])
        mle = float(fit.shares[place]) if fit else math.nan
        rows.append(
            OptionEstimate(
                label=label,
                count=int(tally.counts[place]),
                share=share,
                se=float(errors[place]),
                mle=mle,
                low=float(found.low[place]),
                high=float(found.high[place]),
                at_boundary=mle in (0.0, 1.0) or share < 0 or share > 1,
                outside=bool(found.outside[place]),
            )
        )
    return tuple(rows)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def format_level(level: float) -> str:
    """Write a confidence level in per cent, as short as it is exact.

    >>> format_level(0.95), format_level(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * level, 10):g} %"
