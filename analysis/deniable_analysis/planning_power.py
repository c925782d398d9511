"""How wide an interval will be, and how often a test will see a difference, from n and a design."""

from __future__ import annotations

import math
from typing import Literal

from scipy.special import ndtr, ndtri
from scipy.stats import binom

from .design import Design
from .targets import Share, Target

Alternative = Literal["two-sided", "greater", "less"]


def expected_half_width(target: Target, reports: int, design: Design, level: float) -> float:
    """Give z · SE, with the standard error at the expected shares.

    >>> from fractions import Fraction
    >>> warner = Design(Fraction(1, 2), Fraction(1, 4))
    >>> round(expected_half_width(Share(0.2), 3885, warner, 0.95), 6)
    0.029997
    """
    return float(ndtri((1 + level) / 2)) * math.sqrt(target.variance(design) / reports)


def normal_power(
    target: Target, reports: int, design: Design, level: float, *, alternative: Alternative
) -> float:
    """Give the power of the score test, by the normal approximation.

    The standard error is that of the null where the test decides, and that of the expected shares
    where chance acts; a two-sided test may also reject on the far side.

    References:
        [USSS12] R. Ulrich, H. Schröter, H. Striegel and P. Simon, Asking Sensitive Questions: A
        Statistical Power Analysis of Randomized Response Models, Psychol. Methods 17 (2012).
    """
    null = target.at_null()
    at_null = math.sqrt(null.variance(design) / reports)
    at_truth = math.sqrt(target.variance(design) / reports)
    effect, size = target.value - null.value, 1 - level
    critical = -float(ndtri(size / 2 if alternative == "two-sided" else size)) * at_null
    if at_truth == 0:  # a direct question about something that everybody or nobody has
        above, below = float(effect > critical), float(-effect > critical)
    else:
        above = float(ndtr((effect - critical) / at_truth))
        below = float(ndtr((-effect - critical) / at_truth))
    sides = {"greater": above, "less": below, "two-sided": above + below}
    return sides[alternative]


def exact_power(
    target: Share, reports: int, design: Design, level: float, *, alternative: Alternative
) -> float:
    """Give the power of the exact binomial test, whose size never passes 1 − level.

    A two-sided test rejects on each side with at most half of that. Textbook formulas are normal
    approximations: with few reports this is the number to trust.
    """
    size = (1 - level) / (2 if alternative == "two-sided" else 1)
    if design.slope < 0:
        design = design.mirrored
    null, truth = (float(design.offset) + float(design.slope) * share
                   for share in (target.at_null().share, target.share))  # fmt: skip
    power = 0.0
    if alternative != "less":
        first = int(binom.isf(size, reports, null)) + 1
        power += float(binom.sf(first - 1, reports, truth))
    if alternative != "greater":
        last = int(binom.ppf(size, reports, null))
        last -= binom.cdf(last, reports, null) > size
        power += float(binom.cdf(last, reports, truth))
    return power
