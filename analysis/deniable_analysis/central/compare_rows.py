"""The rows of a comparison: what each way of adding noise is expected to give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from deniable_analysis.design import Design
from deniable_analysis.planning import MOST_RESPONDENTS
from deniable_protocol import Channel, odds_at_most

from .compare_aims import Aim, Measure
from .definitions import ApproximateDP, PureDP
from .gaussian import Gaussian
from .laplace import Laplace
from .selection import Exponential
from .sensitivity import count
from .shuffle import Shuffled

Way = Literal["direct", "gaussian", "laplace", "mixed", "local"]

NAMES: Final[dict[Way, str]] = {
    "direct": "no noise at all",
    "gaussian": "trusted curator, Gaussian",
    "laplace": "trusted curator, Laplace",
    "mixed": "own device, reports mixed",
    "local": "own device",
}


@dataclass(frozen=True)
class Row:
    """One way to answer the question.

    Attributes:
        way: Which.
        epsilon: What it promises one respondent, in nats; inf where there is no noise.
        delta: The δ of that promise; 0 for a pure one.
        device_epsilon: ε of the report that leaves the device; None where the answer itself does.
        respondents: How many answers it has.
        noise: Standard deviation of the noise alone; like all that follow a share, or for a number
            a part of its range.
        standard_error: With the draw of the respondents.
        low: Lower end of the interval; it may be below 0.
        high: Upper end.
        finds_leader: Chance that it names the option most respondents have; None if none leads.
        needed: Respondents with which it is as close as the curator is with those at hand; None
            above a billion.
        measured: Whether this is an estimate from real reports, and not an expectation.
    """

    way: Way
    epsilon: float
    delta: float
    device_epsilon: float | None
    respondents: int
    noise: float
    standard_error: float
    low: float
    high: float
    finds_leader: float | None
    needed: int | None
    measured: bool = False

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Comparison:
    """All ways for one question.

    Attributes:
        question: Its name.
        option: The option whose share is estimated, or "the mean".
        measure: How shares, or parts of a range, are written.
        respondents: n.
        options: k.
        epsilon: ε of one respondent for this question.
        delta: δ of the mixed and the Gaussian rows.
        value: The share, or the mean in parts of its range, that is expected or was estimated.
        level: Confidence level.
        rows: From the closest to the least close.
    """

    question: str
    option: str
    measure: Measure
    respondents: int
    options: int
    epsilon: float
    delta: float
    value: float
    level: float
    rows: tuple[Row, ...]

    def __getitem__(self, way: Way) -> Row:
        return {row.way: row for row in self.rows}[way]

    @property
    def curator(self) -> Row:
        """The closer of the two kinds of noise that a curator can add."""
        return min(self["laplace"], self["gaussian"], key=lambda row: row.half_width)


@dataclass(frozen=True)
class Measured:
    """An estimate from real reports: standard error and interval, in the comparison's measure."""

    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Task:
    """One question, as every row needs it.

    Attributes:
        aim: What is estimated.
        respondents: n.
        local: The channel of the local row.
        reports: Reports that the local row has: fewer than n where questions are sampled.
        epsilon: ε that the other rows may spend on this question.
        delta: δ of the rows that need one.
        level: Confidence level.
    """

    aim: Aim
    respondents: int
    local: Channel
    reports: int
    epsilon: float
    delta: float
    level: float

    @property
    def sampling(self) -> float:
        """Standard error of the draw of the respondents alone."""
        return math.sqrt(self.aim.direct / self.respondents)

    @property
    def z(self) -> float:
        """The normal quantile of the level."""
        return float(ndtri((1 + self.level) / 2))


def comparison(
    task: Task, question: str, option: str, measured: Measured | None = None
) -> Comparison:
    """Work out every row.

    Args:
        task: What is compared.
        question: Name of the question.
        option: The option whose share is estimated, or "the mean".
        measured: An estimate from real reports, for the local row.
    """
    central = sorted((_laplace(task), _gaussian(task)), key=lambda row: row.half_width)
    close = central[0].half_width
    channel = mixed_channel(task.aim, task.respondents, task.epsilon, task.delta)
    mixed = _noisy(task, "mixed", channel, task.respondents, close)
    local = _noisy(task, "local", task.local, task.reports, close)
    if measured is not None:
        local = replace(local, **vars(measured), measured=True)
    rows = (
        _central(task, "direct", 0.0, task.z * task.sampling, 1.0),
        *central,
        replace(mixed, epsilon=task.epsilon, delta=task.delta),
        local,
    )
    return Comparison(
        question, option, task.aim.measure, task.respondents, task.local.options, task.epsilon,
        task.delta, task.aim.value, task.level, rows,
    )  # fmt: skip


def _laplace(task: Task) -> Row:
    noise = Laplace.calibrate(PureDP(task.epsilon), task.aim.sensitivity(task.respondents))
    half = laplace_half_width(task.sampling, float(noise.scale), task.level)
    shares, finds = task.aim.counts, None
    if shares:
        chooser = Exponential.calibrate(PureDP(task.epsilon), count())
        finds = float(chooser.probabilities([task.respondents * share for share in shares])[0])
    return _central(task, "laplace", noise.standard_deviation, half, finds)


def _gaussian(task: Task) -> Row:
    promise = ApproximateDP(task.epsilon, task.delta)
    noise = Gaussian.calibrate(promise, task.aim.sensitivity(task.respondents)).standard_deviation
    half = task.z * math.hypot(task.sampling, noise)
    # A curator who names the leader uses the exponential mechanism: see the other row.
    return _central(task, "gaussian", noise, half, None)


def _central(task: Task, way: Way, noise: float, half: float, finds: float | None) -> Row:
    return Row(
        way=way,
        epsilon=math.inf if way == "direct" else task.epsilon,
        delta=task.delta if way == "gaussian" else 0.0,
        device_epsilon=None,
        respondents=task.respondents,
        noise=noise,
        standard_error=math.hypot(task.sampling, noise),
        low=task.aim.value - half,
        high=task.aim.value + half,
        finds_leader=finds if task.aim.counts else None,
        needed=task.respondents,
    )


def _noisy(task: Task, way: Way, channel: Channel, reports: int, close: float) -> Row:
    """Fill the row of a survey on devices; every variance is the planning's."""
    variance, shares = task.aim.variance(channel), task.aim.counts
    error = math.sqrt(variance / max(reports, 1))
    half = task.z * error
    needed = math.ceil(variance * (task.z / close) ** 2 * task.respondents / max(reports, 1) - 1e-6)
    return Row(
        way=way,
        epsilon=channel.epsilon,
        delta=0.0,
        device_epsilon=channel.epsilon,
        respondents=task.respondents,
        noise=math.sqrt(max(0.0, error**2 - task.sampling**2)),
        standard_error=error,
        low=task.aim.value - half,
        high=task.aim.value + half,
        finds_leader=chance_to_find_leader(channel, [float(share) * reports for share in shares])
        if shares
        else None,
        needed=needed if needed <= MOST_RESPONDENTS else None,
    )


def mixed_channel(aim: Aim, respondents: int, epsilon: float, delta: float) -> Channel:
    """Find the most accurate channel whose mixed reports are certified to be (ε, δ)-private.

    At least as accurate as the one with ε on every device, and up to ε₀ = 15 on the device, found
    to a hundredth.
    """
    low, high = math.floor(epsilon * 1000), 15_000
    while high - low > 9:
        middle = (low + high + 1) // 2
        channel = aim.best(odds_at_most(Fraction(middle, 1000)))
        met = Shuffled.of(channel, respondents).meets(epsilon, delta)
        low, high = (middle, high) if met else (low, middle - 1)
    return aim.best(odds_at_most(max(Fraction(low, 1000), Fraction(1, 1000))))


def laplace_half_width(deviation: float, scale: float, level: float) -> float:
    """Find w with P(|N + L| ≤ w) = level for a normal N and an independent Laplace L.

    Args:
        deviation: Standard deviation of N; at least 0.
        scale: Scale of L, in the same unit; above 0.
        level: In (0, 1).

    >>> round(laplace_half_width(0.0, 1.0, 0.95), 6) == round(math.log(20), 6)
    True
    """
    miss = 1 - level
    if deviation <= 1e-9 * scale:
        return -math.log(miss) * scale
    s, ratio = deviation, deviation / scale

    def excess(w: float) -> float:
        # P(N + L > w), its two exponential pieces in logarithms: each may be huge by itself.
        falling = ratio**2 / 2 - w / scale + float(log_ndtr(w / s - ratio))
        rising = ratio**2 / 2 + w / scale + float(log_ndtr(-w / s - ratio))
        tail = float(ndtr(-w / s)) + (math.exp(falling) - math.exp(rising)) / 2
        return 2 * tail - miss

    high = float(ndtri((1 + level) / 2)) * s - math.log(miss) * scale
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-15, rtol=1e-12))


def chance_to_find_leader(channel: Channel, counts: Sequence[float]) -> float:
    """Give about the chance that the first option, truly the most common, comes out first.

    The de-biased counts of any two options differ by a sum of independent terms whose variance is
    V for each respondent who has one of the two, and 2B for each other one. Independent normal
    numbers with variance nB + n_j(V − 2B) have exactly these variances for every pair; the chance
    that the first of them is the largest is one integral.

    Args:
        channel: The question's channel.
        counts: Respondents who truly have each option; the first is the largest.
    """
    k, d, design = channel.options, channel.subset, Design.of(channel)
    one = channel.p * Fraction(k - d, k - 1)  # holds the true answer and not a given other one
    either, gap = float(one + one / channel.odds), float(one - one / channel.odds)
    own = either - gap**2
    if k == 2:
        other = own / 2
    else:
        p = channel.p
        inside = p * Fraction(d - 1, k - 1) * Fraction(k - d, k - 2)
        outside = (1 - p) * Fraction(d, k - 1) * Fraction(k - 1 - d, k - 2)
        other = float(inside + outside)
    truth = np.asarray(counts, dtype=np.float64)
    n, slope = truth.sum(), float(design.slope)
    deviation = np.sqrt(np.maximum(n * other + truth * (own - 2 * other), 1e-300)) / slope
    y = np.linspace(-9, 9, 2001)
    value = truth[0] + y * deviation[0]
    ahead = log_ndtr((value[:, None] - truth[1:]) / deviation[1:]).sum(axis=1)
    density = np.exp(-(y**2) / 2 + ahead) / math.sqrt(2 * math.pi)
    return float(min(1.0, np.trapezoid(density, y)))
