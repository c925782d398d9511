"""What an estimate is worth if some reports do not follow the design: bounds, not corrections.

Lying before the noise, careless answers and forged reports leave no trace in one share. So the
honest reply to "and what if people lie?" is how wide the answer becomes, and how many would have
to lie to overturn it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from deniable_protocol import EstimateError

from .design import Design
from .estimate import format_level
from .intervals import unclipped
from .wording import percent

RATES: Final = (1.0, 0.98, 0.95, 0.9, 0.8)


@dataclass(frozen=True)
class Bounds:
    """Hold what the true share can be if at least a part of the reports follows the design.

    Attributes:
        rate: The least part of reports that follow it.
        low: The least share, among those who follow, that fits the reports as they came.
        high: The greatest.
        low_interval: The same with chance allowed for, at the confidence level.
        high_interval: Likewise.
        everyone: Both for all respondents, with chance allowed for. Those who do not follow may be
            the very ones who have the trait, or the very ones who have not, so that the share among
            those who follow is not yet that of everybody.
    """

    rate: float
    low: float
    high: float
    low_interval: float
    high_interval: float
    everyone: tuple[float, float]


@dataclass(frozen=True)
class Sensitivity:
    """Hold bounds for several compliance rates.

    Attributes:
        bounds: One for each rate, from the highest to the lowest.
        others: Least and most that those say yes who do not follow.
        level: With at least this confidence the true share is within the interval bounds, if the
            rate is right.
    """

    bounds: tuple[Bounds, ...]
    others: tuple[float, float]
    level: float

    def sentence(self) -> str:
        """Say it in plain words, for the lowest rate."""
        last = self.bounds[-1]
        low, high = last.everyone
        return (
            f"If at least {percent(last.rate)} of the reports follow the instructions and the "
            f"others {_says(self.others)}, the share among those who follow is between "
            f"{percent(last.low_interval)} and {percent(last.high_interval)}, and among everybody "
            f"between {percent(low)} and {percent(high)}, whoever the others are "
            f"({format_level(self.level)} confidence)."
        )


def compliance_bounds(
    count: int,
    reports: int,
    design: Design,
    *,
    rates: Sequence[float] = RATES,
    others: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Sensitivity:
    """Bound a share when only a part of the reports follows the design.

    λ = κ(cπ + d₀) + (1 − κ)x, where x is how often the others say yes. Each end of the exact
    (Clopper-Pearson) interval for λ is taken with the x, and with the part from κ to 1, that is
    worst for it. π is the share among those who follow; ``everyone`` gives that of all.

    Args:
        count: Reports that say yes.
        reports: Number of reports n, at least 1.
        design: How true shares turn into reported ones.
        rates: Least compliance rates κ to look at, in (0, 1].
        others: Least and most that the others say yes: (0, 1) for anything, (0, 0) where they
            always say no, (0.5, 0.5) where they toss a coin.
        level: Confidence level.

    Raises:
        EstimateError: If something is out of range.

    References:
        [Man03] C. F. Manski, Partial Identification of Probability Distributions, 2003.

    >>> from fractions import Fraction
    >>> warner = Design(Fraction(1, 2), Fraction(1, 4))
    >>> found = compliance_bounds(700, 2000, warner, rates=[1, 0.95])
    >>> [(round(bounds.low, 4), round(bounds.high, 4)) for bounds in found.bounds]
    [(0.2, 0.2), (0.1316, 0.2368)]
    """
    if reports < 1:
        raise EstimateError("there are no reports")
    least, most = others
    if not 0 <= least <= most <= 1:
        raise EstimateError(f"others must be from 0 to 1, the least first, got {others}")
    if not rates or any(not (math.isfinite(rate) and 0 < rate <= 1) for rate in rates):
        raise EstimateError("every rate must be above 0 and at most 1")
    direct = Design(design.slope / design.slope, design.offset * 0)
    low, high, _ = unclipped([count], reports, direct, level=level, method="clopper-pearson")
    ends = float(low[0]), float(high[0])
    seen = count / reports
    found = [
        Bounds(
            rate,
            *_hull(_shares(seen, seen, part, others, design) for part in (rate, 1.0)),
            *_hull(_shares(*ends, part, others, design) for part in (rate, 1.0)),
            everyone=_hull(_of_all(*ends, part, others, design) for part in (rate, 1.0)),
        )
        for rate in sorted(map(float, rates), reverse=True)
    ]
    return Sensitivity(tuple(found), (float(least), float(most)), level)


def tipping_rate(count: int, reports: int, design: Design, share: float, *,
                 others: tuple[float, float] = (0.0, 1.0)) -> float:  # fmt: skip
    """Find the highest compliance rate at which the share could be *share*, by the counts alone.

    The share is that among those who follow. 1 less this is the part that would have to break the
    rules to explain the finding away.

    Raises:
        EstimateError: If the share is not from 0 to 1.

    >>> from fractions import Fraction
    >>> round(tipping_rate(700, 2000, Design(Fraction(1, 2), Fraction(1, 4)), 0.0), 4)
    0.8667
    """
    if not (math.isfinite(share) and 0 <= share <= 1) or not 0 <= count <= reports or not reports:
        raise EstimateError("expected a share from 0 to 1, and a count up to the number of reports")
    # λ = κ·h + (1 − κ)x has a solution x in others for every κ up to that of the nearest end.
    honest, seen = float(design.offset) + float(design.slope) * share, count / reports
    if seen == honest:
        return 1.0
    end = others[1] if seen > honest else others[0]
    if (seen > honest and end <= seen) or (seen < honest and end >= seen):
        return 0.0
    return (seen - end) / (honest - end)


def _shares(
    low: float, high: float, part: float, others: tuple[float, float], design: Design
) -> tuple[float, float]:
    """Give the least and greatest share among those who follow, for reported ones from low to high.

    (λ − x)/κ + x rises or falls all the way in κ, so that the ends of the rates are enough.
    """
    ends = ((low - (1 - part) * others[1]) / part, (high - (1 - part) * others[0]) / part)
    offset, slope = float(design.offset), float(design.slope)
    shares = sorted((end - offset) / slope for end in ends)
    return min(max(shares[0], 0.0), 1.0), min(max(shares[1], 0.0), 1.0)


def _of_all(
    low: float, high: float, part: float, others: tuple[float, float], design: Design
) -> tuple[float, float]:
    """Give the same for everybody: those who do not follow have the trait, or have it not."""
    least, most = _shares(low, high, part, others, design)
    return part * least, part * most + 1 - part


def _hull(pairs: Iterable[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = zip(*pairs, strict=True)
    return min(lows), max(highs)


def _says(others: tuple[float, float]) -> str:
    words = {(0.0, 1.0): "say anything at all", (0.0, 0.0): "always say no",
             (1.0, 1.0): "always say yes"}  # fmt: skip
    least, most = others
    if least == most:
        return words.get(others, f"say yes {percent(least)} of the time")
    return words.get(others, f"say yes {percent(least)} to {percent(most)} of the time")
