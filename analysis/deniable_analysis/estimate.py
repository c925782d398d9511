"""De-biased shares of one question, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from deniable_protocol import Item, Question

from .design import Design
from .intervals import Interval, Method, interval
from .linear import ratio
from .reports import Reports
from .shares import BestFit, fit_counts, fit_subsets, moments
from .tally import Counts, Tally


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
        return _within(self.share) if math.isnan(self.mle) else self.mle


@dataclass(frozen=True)
class AmongEstimate:
    """What the reports say about one option among those who were asked and gave an answer.

    Attributes:
        label: The option as respondents read it.
        share: The estimated share among them: a ratio of unbiased estimates, not clipped. NaN
            where the share of those who answered is estimated as 0.
        se: Its linearised standard error.
        mle: The ratio of maximum-likelihood shares; NaN where there are none.
        low: Lower end of Fieller's interval, within [0, 1].
        high: Upper end.
    """

    label: str
    share: float
    se: float
    mle: float
    low: float
    high: float

    @property
    def best(self) -> float:
        """The share to show people, as in ``OptionEstimate``."""
        return _within(self.share) if math.isnan(self.mle) else self.mle


@dataclass(frozen=True)
class Estimate:
    """The shares of one question's options.

    Attributes:
        question: The question, as its author wrote it.
        item: What was randomized: the question, or one of its boxes; name, channel and labels.
        n: Number of reports.
        options: One estimate for each option, in the question's order, "no answer" and "not
            asked" last where there are such: shares of everybody.
        among: The shares of the real answers among those who gave one; empty where everybody does.
        level: Confidence level of each interval by itself, or of all together.
        simultaneous: Whether all intervals of the question hold at once with the level.
        method: How the intervals were made.
        kkt: How far the best fit is from optimal; see ``BestFit``. NaN where there is none.
        group: The collection arm that these reports are of; None for all.
    """

    question: Question
    item: Item
    n: int
    options: tuple[OptionEstimate, ...]
    among: tuple[AmongEstimate, ...]
    level: float
    simultaneous: bool
    method: Method
    kkt: float
    group: str | None = None

    def __getitem__(self, option: int | str) -> OptionEstimate:
        """Give an option by its index or its label."""
        if isinstance(option, int):
            return self.options[option]
        return {found.label: found for found in self.options}[option]

    @property
    def box(self) -> str | None:
        """The box of a ``multiple`` that this is about; None for other questions."""
        if self.question.kind != "multiple":
            return None
        return str(self.question.options[self.question.items.index(self.item)])

    @property
    def widest(self) -> float:
        """The length of the longest interval, a share."""
        return max(option.high - option.low for option in self.options)

    def table(self) -> str:
        """Write the shares as a table of plain text, in per cent."""
        among = [(option.label, option) for option in self.among]
        rows = [(option.label, option) for option in self.options]
        return table(rows, {AMONG: among}, self.level)

    def __str__(self) -> str:
        return self.table()


def estimate(
    reports: Reports,
    question: str,
    *,
    level: float = 0.95,
    method: Method | None = None,
    simultaneous: bool = False,
) -> Estimate:
    """Estimate how many respondents truly have each option of a question.

    Privacy:
        None is spent. The reports are private as they are, and this reads nothing else
        (post-processing [DR14, Proposition 2.1]).

    Args:
        reports: The noisy reports. Where devices sent only some of the questions, drawn without
            regard to the answers, those that were sent are a random sample and are used.
        question: Name of the question, or of one box of a ``multiple`` such as ``"drugs.2"``.
        level: Confidence level, in (0, 1).
        method: How to make intervals, one of ``METHODS``; None for Feldman-Cousins up to 10,000
            reports and the constrained likelihood ratio above, or Wilson where *simultaneous*.
        simultaneous: Make all intervals of the question hold at once with the level, by
            Bonferroni's inequality. Otherwise each holds by itself. (The two intervals of a
            question with two options mirror each other, so they always hold together.)

    Raises:
        EstimateError: If there is no such question, level or method.

    References:
        [DR14] C. Dwork and A. Roth, The Algorithmic Foundations of Differential Privacy, 2014.
        [Goo65] L. Goodman, On Simultaneous Confidence Intervals for Multinomial Proportions,
        Technometrics 7 (1965), 247-254: Bonferroni with score intervals.

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
    each, used = level, method
    if simultaneous:
        options = tally.channel.options
        each, used = 1 - (1 - level) / (options if options > 2 else 1), method or "wilson"
    found = interval(tally.counts, tally.n, tally.design, level=each, method=used)
    fit = _fit(tally)
    return Estimate(
        question=tally.question,
        item=tally.item,
        n=tally.n,
        options=option_estimates(
            tally.counts, tally.n, tally.design, tally.item.labels, found, fit
        ),
        among=_among(tally, fit, each),
        level=level,
        simultaneous=simultaneous or tally.channel.options == 2,
        method=found.method,
        kkt=fit.kkt if fit else math.nan,
    )


def estimate_share(
    count: int,
    reports: int,
    design: Design,
    *,
    level: float = 0.95,
    method: Method | None = None,
    label: str = "yes",
) -> OptionEstimate:
    """Estimate one share from a count, under any binary design.

    For data that were collected elsewhere, with dice, cards or a birthday in place of a device.

    Args:
        count: Reports that say yes, 0 to *reports*.
        reports: Number of reports n.
        design: How the true share turns into the reported one.
        level: Confidence level, in (0, 1).
        method: As in ``estimate``.
        label: What the share is of.

    Raises:
        EstimateError: If a count, the level or the method is out of range.

    >>> from fractions import Fraction
    >>> forced = Design(slope=Fraction(2, 3), offset=Fraction(1, 6))
    >>> found = estimate_share(831, 2435, forced)
    >>> f"{found.share:.7f} {found.low:.3f} to {found.high:.3f}"
    '0.2619097 0.234 to 0.290'
    """
    counts = np.array([count], dtype=np.int64)
    found = interval(counts, reports, design, level=level, method=method)
    shares, _ = moments(counts, reports, design)
    # With one free share the likelihood is largest at the unbiased estimate, or at the nearest end.
    fit = BestFit(np.clip(shares, 0, 1), 0.0) if reports else None
    return option_estimates(counts, reports, design, (label,), found, fit)[0]


def _fit(tally: Tally) -> BestFit | None:
    if tally.n == 0:
        return None
    if tally.channel.subset == 1:
        return fit_counts(tally.counts, tally.channel)
    if tally.bits is None:
        return None
    sent = tally.sent
    return fit_subsets(tally.bits if sent.all() else tally.bits[sent], tally.channel)


def option_estimates(
    counts: Counts,
    n: int,
    design: Design,
    labels: tuple[str, ...],
    found: Interval,
    fit: BestFit | None,
) -> tuple[OptionEstimate, ...]:
    """Put counts, intervals and the best fit together, option by option."""
    shares, errors = moments(counts, n, design)
    rows = []
    for place, label in enumerate(labels):
        share = float(shares[place])
        mle = float(fit.shares[place]) if fit else math.nan
        rows.append(
            OptionEstimate(
                label=label,
                count=int(counts[place]),
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


def _among(tally: Tally, fit: BestFit | None, level: float) -> tuple[AmongEstimate, ...]:
    answering, options = tally.answering, tally.channel.options
    if answering == options:
        return ()
    group = (np.arange(options) < answering).astype(np.float64)
    total = float(fit.shares[:answering].sum()) if fit else 0.0
    found = []
    for place, label in enumerate(tally.item.labels[:answering]):
        one = ratio(tally, np.eye(options)[place], group, level=level)
        mle = float(fit.shares[place]) / total if fit and total else math.nan
        found.append(AmongEstimate(label, one.value, one.se, mle, one.low, one.high))
    return tuple(found)


AMONG: Final = "of those who answered:"

Line = tuple[str, OptionEstimate | AmongEstimate]


def table(
    rows: Sequence[Line],
    parts: Mapping[str, Sequence[Line]],
    level: float,
    limit: float | None = None,
) -> str:
    """Write shares as a table of plain text, in per cent.

    Args:
        rows: Labels and shares of everybody.
        parts: More lines under a heading each; headings without lines are left out.
        level: Confidence level, for the heading.
        limit: The widest interval whose best estimate is shown; None for any.
    """
    kept = {heading: lines for heading, lines in parts.items() if lines}
    every = [*rows, *(line for lines in kept.values() for line in lines)]
    width = max(map(len, ["option", *kept, *(label for label, _ in every)]))
    head = f"{'option':<{width}}  {'share':>7}  {'± SE':>6}  {'best fit':>8}  "
    lines = [f"{head}{format_level(level)} interval"]
    lines += [_line(label, width, found, limit) for label, found in rows]
    for heading, more in kept.items():
        lines += [heading, *(_line(label, width, found, limit) for label, found in more)]
    shown = [found for _, found in every]
    if limit is not None and any(found.high - found.low > limit for found in shown):
        lines.append(f"?: too few reports to say; the interval is longer than {_percent(limit)}")
    if any(isinstance(found, OptionEstimate) and found.outside for found in shown):
        lines.append("*: the method has no interval from 0 % to 100 %; its nearest end is shown")
    return "\n".join(lines)


def _line(
    label: str, width: int, found: OptionEstimate | AmongEstimate, limit: float | None
) -> str:
    share, se, best = (_percent(number) for number in (found.share, found.se, found.best))
    if limit is not None and found.high - found.low > limit:
        share, best = "?", "?"
    mark = " *" if isinstance(found, OptionEstimate) and found.outside else ""
    ends = f"{_percent(found.low):>6} to {_percent(found.high)}{mark}"
    return f"{label:<{width}}  {share:>7}  {se:>6}  {best:>8}  {ends}"


def _within(share: float) -> float:
    return share if math.isnan(share) else min(max(share, 0.0), 1.0)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def format_level(level: float) -> str:
    """Write a confidence level in per cent, as short as it is exact.

    >>> format_level(0.95), format_level(0.999)
    ('95 %', '99.9 %')
    """
    return f"{round(100 * level, 10):g} %"
