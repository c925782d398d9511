"""Shares from paper-and-dice data: one design, several at once, two answers or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from deniable_protocol import EstimateError

from .design import Design
from .estimate import OptionEstimate, estimate_share, format_level
from .intervals import Method, default_method
from .paper_fit import fit_mixture, log_likelihood, profile_interval
from .paper_matrix import MatrixDesign

Floats = NDArray[np.float64]
PaperDesign: TypeAlias = Design | MatrixDesign


@dataclass(frozen=True)
class PaperEstimate:
    """Hold the shares of every true state.

    Attributes:
        n: Number of reports.
        options: One estimate for each state; for a binary design no and yes, in this order.
        level: Confidence level of each interval by itself.
        method: How the intervals were made.
        kkt: How far the best fit is from optimal; see ``BestFit``.
        log_likelihood: Of the counts at the best fit, multinomial coefficients included.
    """

    n: int
    options: tuple[OptionEstimate, ...]
    level: float
    method: Method
    kkt: float
    log_likelihood: float

    def __getitem__(self, state: int | str) -> OptionEstimate:
        """Give a state by its place or its name."""
        if isinstance(state, int):
            return self.options[state]
        return {found.label: found for found in self.options}[state]

    def __str__(self) -> str:
        lines = []
        for found in self.options:
            edge = "; the best fit is at the boundary" if found.at_boundary else ""
            lines.append(
                f"{found.label}: {100 * found.share:.1f} % ± {100 * found.se:.1f} %, "
                f"{format_level(self.level)} interval {100 * found.low:.1f} % to "
                f"{100 * found.high:.1f} %{edge}"
            )
        return "\n".join(lines)


def estimate_paper(
    counts: ArrayLike | Sequence[ArrayLike],
    design: PaperDesign | Sequence[PaperDesign],
    *,
    level: float = 0.95,
    method: Method | None = None,
) -> PaperEstimate:
    """Estimate shares from counts of reports, under any design or several side by side.

    Args:
        counts: How often each report came: (no, yes) for a ``Design``, else in the order of the
            matrix. With several designs, one such list for each.
        design: The design, or one for each group of respondents. Groups are taken to have the same
            true shares, as when respondents are assigned to them at random; a direct question is a
            group with ``direct_question()``.
        level: Confidence level of each interval by itself.
        method: As in ``estimate``, for a single binary design. Else the constrained likelihood
            ratio is used, with the other shares free.

    Raises:
        EstimateError: If counts do not fit their design, or there are none.

    References:
        [CM88] A. Chaudhuri and R. Mukerjee, Randomized Response: Theory and Techniques, 1988.

    >>> from deniable_analysis.paper import forced_response
    >>> print(estimate_paper([1604, 831], forced_response("1/6", "1/6"))["yes"].share)
    0.26190965092402463
    """
    many = isinstance(design, Sequence)
    designs = list(design) if isinstance(design, Sequence) else [design]
    lists: list[ArrayLike] = list(counts) if many else [counts]  # type: ignore[arg-type, list-item]  # of one design
    if len(lists) != len(designs):
        raise EstimateError(f"expected counts for each of {len(designs)} designs")
    groups = [counted(c, d) for c, d in zip(lists, designs, strict=True)]
    laws = [MatrixDesign.of_design(d) if isinstance(d, Design) else d for d in designs]
    if len({law.states for law in laws}) > 1:
        raise EstimateError("every design needs the same true states")
    if not sum(int(g.sum()) for g in groups):
        raise EstimateError("there are no reports")
    stacked = np.vstack([law.law for law in laws])
    every = np.concatenate(groups).astype(np.float64)
    if np.any((stacked.max(axis=1) == 0) & (every > 0)):
        raise EstimateError("a report came that no true state can send under its design")
    fit = fit_mixture(stacked, every)
    constant = sum(float(gammaln(g.sum() + 1) - gammaln(g + 1).sum()) for g in groups)
    likelihood = constant + log_likelihood(stacked, every, fit.shares)
    if len(designs) == 1 and isinstance(designs[0], Design):
        options, used = _binary(groups[0], designs[0], level, method)
        return PaperEstimate(int(every.sum()), options, level, used, fit.kkt, likelihood)
    if method not in (None, "likelihood-ratio"):
        raise EstimateError(
            f"several designs and matrices have likelihood-ratio intervals, got method {method!r}"
        )
    shares, errors = _moments(groups, laws)
    ends = [profile_interval(stacked, every, fit, s, level) for s in range(len(shares))]
    options = tuple(
        OptionEstimate(
            label=label,
            count=_own_count(groups, laws, label),
            share=float(shares[place]),
            se=float(errors[place]),
            mle=float(fit.shares[place]),
            low=ends[place][0],
            high=ends[place][1],
            at_boundary=bool(fit.shares[place] in (0.0, 1.0) or not 0 <= shares[place] <= 1),
            outside=False,
        )
        for place, label in enumerate(laws[0].states)
    )
    return PaperEstimate(int(every.sum()), options, level, "likelihood-ratio", fit.kkt, likelihood)


def counted(counts: ArrayLike, design: PaperDesign) -> NDArray[np.int64]:
    """Read the counts of one design.

    Raises:
        EstimateError: If they are not whole numbers of at least 0, one for each report.
    """
    found = np.asarray(counts)
    size = 2 if isinstance(design, Design) else len(design.reports)
    if found.shape != (size,) or found.dtype.kind not in "iu" or found.min() < 0:
        raise EstimateError(
            f"expected {size} counts of reports, whole numbers of at least 0"
            f"{' (no, then yes)' if size == 2 else ''}, got {found.dtype} of shape {found.shape}"
        )
    return found.astype(np.int64)


def _binary(
    counts: NDArray[np.int64], design: Design, level: float, method: Method | None
) -> tuple[tuple[OptionEstimate, ...], Method]:
    n, yes = int(counts.sum()), int(counts[1])
    absent = Design(design.slope, 1 - design.offset - design.slope)  # "no" as the trait
    found = (
        estimate_share(n - yes, n, absent, level=level, method=method, label="no"),
        estimate_share(yes, n, design, level=level, method=method, label="yes"),
    )
    return found, method or default_method(n)


def _moments(groups: list[NDArray[np.int64]], laws: list[MatrixDesign]) -> tuple[Floats, Floats]:
    """Average the groups' unbiased scores, each by its precision where all states are as common.

    Weights that knew the reports would bias the average; these know only designs and sizes.
    """
    size = len(laws[0].states)
    shares, variances, weights = np.zeros(size), np.zeros(size), np.zeros(size)
    for counts, law in zip(groups, laws, strict=True):
        n = int(counts.sum())
        if n == 0:
            continue
        scores = np.array([[float(value) for value in row] for row in law.scores])
        even = law.law.mean(axis=1)
        weight = n / (even @ scores**2 - (even @ scores) ** 2)
        means = counts @ scores / n
        spread = counts @ (scores - means) ** 2
        shares += weight * means
        variances += weight**2 * (spread / (n - 1) / n if n > 1 else np.nan)
        weights += weight
    return shares / weights, np.sqrt(variances) / weights


def _own_count(groups: list[NDArray[np.int64]], laws: list[MatrixDesign], state: str) -> int:
    """Count the reports that bear the state's own name; 0 where reports have other names."""
    return sum(
        int(counts[law.reports.index(state)])
        for counts, law in zip(groups, laws, strict=True)
        if state in law.reports
    )
