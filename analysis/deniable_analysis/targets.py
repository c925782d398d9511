"""What a study is planned for: one share, a difference of two, or a cell of a cross-table."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, ndtr, ndtri
from scipy.stats import binom

from deniable_protocol import EstimateError

from .design import Design

Floats = NDArray[np.float64]

_MOST_REPORTS: Final = 2_000_000
_TAIL: Final = 1e-12
"""Probability of the counts that an enumeration of two groups leaves out, each side."""


@dataclass(frozen=True)
class Share:
    """Plan for one share.

    Args:
        share: The true share that is expected, 0 to 1.
        null: The share that a test should tell it from; None for no test.
    """

    share: float
    null: float | None = None

    items: Final = 1

    def __post_init__(self) -> None:
        _check_shares(share=self.share, null=self.null)

    @property
    def value(self) -> float:
        """What is estimated."""
        return self.share

    @property
    def null_value(self) -> float | None:
        """What is estimated where the null hypothesis holds."""
        return self.null

    def at_null(self) -> Self:
        """Give the same target where the null hypothesis holds."""
        return self if self.null is None else replace(self, share=self.null)

    def variance(self, design: Design) -> float:
        """Give n times the variance of the moment estimate: λ(1 − λ)/c²."""
        return _binary_variance(self.share, design)

    def assurance(self, reports: int, design: Design, half_width: float, level: float) -> float:
        """Give the exact probability that the Wilson interval is at most this wide, each side."""
        return float(assured(np.array([reports]), design, self.share, half_width, level)[0])

    def assured_width(self, reports: int, design: Design, assurance: float, level: float) -> float:
        """Find the least half-width that the Wilson interval keeps to with this probability."""
        counts = np.arange(reports + 1)
        chances = binom.pmf(counts, reports, _reported(self.share, design))
        return _quantile(wilson_half_width(counts, reports, design, level), chances, assurance)


@dataclass(frozen=True)
class Difference:
    """Plan for the difference of one share between two groups that are asked alike.

    Args:
        first: Expected share in the first group, 0 to 1.
        second: Expected share in the second group.
        fraction: Part of the respondents that are in the first group, in (0, 1).
        null: The share of both groups where they do not differ; None for ``second``.
    """

    first: float
    second: float
    fraction: float = 0.5
    null: float | None = None

    items: Final = 1

    def __post_init__(self) -> None:
        _check_shares(first=self.first, second=self.second, null=self.null)
        if not 0 < self.fraction < 1:
            raise EstimateError(f"fraction must be above 0 and below 1, got {self.fraction!r}")

    @property
    def value(self) -> float:
        """What is estimated."""
        return self.first - self.second

    @property
    def null_value(self) -> float:
        """What is estimated where the groups do not differ."""
        return 0.0

    def at_null(self) -> Self:
        """Give the same target where the groups do not differ."""
        both = self.second if self.null is None else self.null
        return replace(self, first=both, second=both)

    def variance(self, design: Design) -> float:
        """Give n times the variance, n being the reports of both groups together."""
        first, second = (_binary_variance(share, design) for share in (self.first, self.second))
        return first / self.fraction + second / (1 - self.fraction)

    def assurance(self, reports: int, design: Design, half_width: float, level: float) -> float:
        """Give the probability that the Wald interval is at most this wide, by enumeration."""
        widths, chances = self._widths(reports, design, level)
        return float(chances[widths <= half_width * (1 + 1e-12)].sum())

    def assured_width(self, reports: int, design: Design, assurance: float, level: float) -> float:
        """Find the least half-width that the Wald interval keeps to with this probability."""
        return _quantile(*self._widths(reports, design, level), assurance)

    def _widths(self, reports: int, design: Design, level: float) -> tuple[Floats, Floats]:
        """List half-widths with their probabilities over all pairs of counts that matter."""
        if not 2 <= reports <= _MOST_REPORTS:
            raise EstimateError(f"assurance for a difference needs 2 to {_MOST_REPORTS:,} reports")
        size = min(max(round(self.fraction * reports), 1), reports - 1)
        squares, chances = [], []
        for n, share in ((size, self.first), (reports - size, self.second)):
            law = binom(n, _reported(share, design))
            counts = np.arange(int(law.ppf(_TAIL)), int(law.isf(_TAIL)) + 1)
            seen = counts / n
            squares.append(seen * (1 - seen) / n)
            chances.append(law.pmf(counts))
        z = float(ndtri((1 + level) / 2)) / abs(float(design.slope))
        widths: Floats = z * np.sqrt(squares[0][:, None] + squares[1])
        return widths.ravel(), np.outer(*chances).ravel()


@dataclass(frozen=True)
class Cell:
    """Plan for one cell of a cross-table: the share that has both of two traits.

    Both questions are asked with the same design, and their noises are independent.

    Args:
        both: Expected share with both traits, 0 to 1.
        first: Expected share with the first trait.
        second: Expected share with the second trait.
        null: The share of both that a test should tell it from, for example first · second for
            independence; None for no test.
    """

    both: float
    first: float
    second: float
    null: float | None = None

    items: Final = 2

    def __post_init__(self) -> None:
        _check_shares(both=self.both, first=self.first, second=self.second, null=self.null)
        for name, both in (("both", self.both), ("null", self.null)):
            least, most = max(0.0, self.first + self.second - 1), min(self.first, self.second)
            if both is not None and not least - 1e-12 <= both <= most + 1e-12:
                raise EstimateError(
                    f"{name} must be from {least:g} to {most:g} with these two shares, got {both}"
                )

    @property
    def value(self) -> float:
        """What is estimated."""
        return self.both

    @property
    def null_value(self) -> float | None:
        """What is estimated where the null hypothesis holds."""
        return self.null

    def at_null(self) -> Self:
        """Give the same target where the null hypothesis holds."""
        return self if self.null is None else replace(self, both=self.null)

    def variance(self, design: Design) -> float:
        """Give n times the variance of the mean of z₁z₂, from E z₁²z₂² over the four true cells."""
        slope, offset = float(design.slope), float(design.offset)
        absent = offset * (1 - offset) / slope**2
        present = absent + (1 - 2 * offset) / slope
        one = self.first + self.second - 2 * self.both
        none = 1 - self.first - self.second + self.both
        square = self.both * present**2 + one * present * absent + none * absent**2
        return square - self.both**2

    def assurance(self, reports: int, design: Design, half_width: float, level: float) -> float:
        """Give the probability that the Wald interval is at most this wide, to first order.

        The squared error is a sample variance, which is nearly normal: its own variance follows
        from the fourth moment of z₁z₂.
        """
        goal = reports * (half_width / float(ndtri((1 + level) / 2))) ** 2
        spread = self._spread(design) / math.sqrt(reports)
        if spread == 0:
            return float(self.variance(design) <= goal * (1 + 1e-12))
        return float(ndtr((goal - self.variance(design)) / spread))

    def assured_width(self, reports: int, design: Design, assurance: float, level: float) -> float:
        """Find the half-width that the Wald interval keeps to with this probability."""
        spread = self._spread(design) / math.sqrt(reports)
        square = self.variance(design) + float(ndtri(assurance)) * spread
        return float(ndtri((1 + level) / 2)) * math.sqrt(max(square, 0.0) / reports)

    def _spread(self, design: Design) -> float:
        """√n times the standard deviation of the sample variance of z₁z₂: √(μ₄ − σ⁴)."""
        slope, offset = float(design.slope), float(design.offset)
        zero, one = -offset / slope, (1 - offset) / slope
        values = np.array([zero * zero, zero * one, one * one])
        yes = np.array([offset, offset + slope])  # P(report 1) without and with the trait
        truths = {
            (0, 0): 1 - self.first - self.second + self.both,
            (0, 1): self.second - self.both,
            (1, 0): self.first - self.both,
            (1, 1): self.both,
        }
        chances = np.zeros(3)
        for (a, b), share in truths.items():
            both, none = yes[a] * yes[b], (1 - yes[a]) * (1 - yes[b])
            chances += share * np.array([none, 1 - both - none, both])
        off = values - float(chances @ values)
        fourth, second = float(chances @ off**4), float(chances @ off**2)
        return math.sqrt(max(fourth - second**2, 0.0))


Target = Share | Difference | Cell


def wilson_half_width(counts: ArrayLike, reports: int, design: Design, level: float) -> Floats:
    """Give half the length of the Wilson interval of a share before it is cut to [0, 1]."""
    seen, z2 = np.asarray(counts) / reports, float(ndtri((1 + level) / 2)) ** 2
    spread = np.sqrt(z2 * seen * (1 - seen) / reports + (z2 / (2 * reports)) ** 2)
    half: Floats = spread / (1 + z2 / reports) / abs(float(design.slope))
    return half


def assured(
    reports: NDArray[np.int64], design: Design, share: float, half_width: float, level: float
) -> Floats:
    """Give, for many n at once, the exact probability of a Wilson interval this short.

    The interval is short where the reported share s has s(1 − s) small, that is for counts near
    0 or n: so the probability is that of two tails of the binomial.

    Args:
        reports: Numbers of reports n, at least 1; any shape.
        design: How true shares turn into reported ones.
        share: The true share.
        half_width: Longest half-width that is good enough, as a share.
        level: Confidence level.

    Returns:
        Probabilities, float64, in the shape of *reports*.

    References:
        [Wil27] E. B. Wilson, Probable Inference, JASA 22 (1927), 209-212.
    """
    n, z2 = np.asarray(reports, dtype=np.float64), float(ndtri((1 + level) / 2)) ** 2
    reach = half_width * abs(float(design.slope)) * (1 + z2 / n)
    spread = n * (reach**2 / z2 - z2 / (4 * n * n)) * (1 + 1e-12)  # the most s(1 − s) may be
    root = np.sqrt(np.maximum(1 - 4 * spread, 0))
    last = np.floor(n * (1 - root) / 2 + 1e-9)
    chance = _reported(share, design)
    tails = bdtr(last, reports, chance) + bdtr(last, reports, 1 - chance)
    return np.where(spread < 0, 0.0, np.where(spread >= 0.25, 1.0, np.minimum(tails, 1.0)))


def _quantile(widths: Floats, chances: Floats, assurance: float) -> float:
    order = np.argsort(widths, kind="stable")
    reached = np.cumsum(chances[order])
    place = int(np.searchsorted(reached, assurance * reached[-1] * (1 - 1e-12)))
    return float(widths[order][place])


def _reported(share: float, design: Design) -> float:
    return min(max(float(design.offset) + float(design.slope) * share, 0.0), 1.0)


def _binary_variance(share: float, design: Design) -> float:
    reported = _reported(share, design)
    return reported * (1 - reported) / float(design.slope) ** 2


def _check_shares(**shares: float | None) -> None:
    for name, share in shares.items():
        if share is not None and not (math.isfinite(share) and 0 <= share <= 1):
            raise EstimateError(f"{name} must be a share from 0 to 1, got {share!r}")
