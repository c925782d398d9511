"""The rows of a comparison: what each way of adding noise is expected to give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

from deniable_analysis.design import Design
from deniable_analysis.estimate import Estimate
from deniable_analysis.planning import MOST_RESPONDENTS, plan
from deniable_analysis.targets import DIRECT, Share
from deniable_protocol import Channel, EstimateError, odds_at_most

from .definitions import ApproximateDP, PureDP
from .gaussian import Gaussian
from .laplace import Laplace
from .selection import Exponential
from .sensitivity import Sensitivity, count, histogram
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
        noise: Standard deviation of the noise alone, as a share.
        standard_error: With the draw of the respondents.
        low: Lower end of the interval, as a share; it may be below 0.
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
        """Half the length of the interval, as a share."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Comparison:
    """All ways for one question.

    Attributes:
        question: Its name.
        option: The option whose share is estimated.
        respondents: n.
        options: k.
        epsilon: ε of one respondent for this question.
        delta: δ of the mixed and the Gaussian rows.
        share: The share that is expected, or was estimated.
        level: Confidence level.
        rows: From the closest to the least close.
    """

    question: str
    option: str
    respondents: int
    options: int
    epsilon: float
    delta: float
    share: float
    level: float
    rows: tuple[Row, ...]

    def __getitem__(self, way: Way) -> Row:
        return {row.way: row for row in self.rows}[way]

    @property
    def curator(self) -> Row:
        """The closer of the two kinds of noise that a curator can add."""
        return min(self["laplace"], self["gaussian"], key=lambda row: row.half_width)


@dataclass(frozen=True)
class Task:
    """One question, as every row needs it.

    Attributes:
        respondents: n.
        local: The channel of the local row.
        reports: Reports that the local row has: fewer than n where questions are sampled.
        epsilon: ε that the other rows may spend on this question.
        delta: δ of the rows that need one.
        share: The share that is expected.
        level: Confidence level.
        leading: Whether the option has more respondents than any other.
    """

    respondents: int
    local: Channel
    reports: int
    epsilon: float
    delta: float
    share: float
    level: float
    leading: bool

    @property
    def options(self) -> int:
        """Number of options k."""
        return self.local.options

    @cached_property
    def counts(self) -> list[Fraction]:
        """How many respondents have each option, the first having the share in question."""
        rest = (1 - Fraction(self.share)) / (self.options - 1)
        shares = [Fraction(self.share), *[rest] * (self.options - 1)]
        return [self.respondents * share for share in shares]

    @property
    def sampling(self) -> float:
        """Standard error of the draw of the respondents alone, as a share."""
        return math.sqrt(Share(self.share).variance(DIRECT) / self.respondents)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one respondent moves what a curator would release."""
        # n is public, so one of two counts says both; of more, all are released.
        return count() if self.options == 2 else histogram(self.options)


def comparison(
    task: Task, question: str, option: str, measured: tuple[Estimate, int] | None = None
) -> Comparison:
    """Work out every row.

    Args:
        task: What is compared.
        question: Name of the question.
        option: The option whose share is estimated.
        measured: An estimate from real reports and the option's place, for the local row.
    """
    laplace, gaussian = _laplace(task), _gaussian(task)
    close = min(laplace.half_width, gaussian.half_width)
    rows = [
        _direct(task), laplace, gaussian, _mixed(task, close), _local(task, close, measured),
    ]  # fmt: skip
    rows[1:3] = sorted(rows[1:3], key=lambda row: row.half_width)
    return Comparison(
        question, option, task.respondents, task.options, task.epsilon, task.delta, task.share,
        task.level, tuple(rows),
    )  # fmt: skip


def _direct(task: Task) -> Row:
    return _central(task, "direct", 0.0, _z(task.level) * task.sampling, 1.0)


def _laplace(task: Task) -> Row:
    noise = Laplace.calibrate(PureDP(task.epsilon), task.sensitivity)
    scale = float(noise.scale) / task.respondents
    half = laplace_half_width(task.sampling, scale, task.level)
    chooser = Exponential.calibrate(PureDP(task.epsilon), count())
    finds = float(chooser.probabilities(task.counts)[0])
    return _central(task, "laplace", noise.standard_deviation / task.respondents, half, finds)


def _gaussian(task: Task) -> Row:
    noise = Gaussian.calibrate(ApproximateDP(task.epsilon, task.delta), task.sensitivity)
    deviation = noise.standard_deviation / task.respondents
    half = _z(task.level) * math.hypot(task.sampling, deviation)
    # A curator who names the leader uses the exponential mechanism: see the other row.
    return _central(task, "gaussian", deviation, half, None)


def _central(task: Task, way: Way, noise: float, half: float, finds: float | None) -> Row:
    return Row(
        way=way,
        epsilon=math.inf if way == "direct" else task.epsilon,
        delta=task.delta if way == "gaussian" else 0.0,
        device_epsilon=None,
        respondents=task.respondents,
        noise=noise,
        standard_error=math.hypot(task.sampling, noise),
        low=task.share - half,
        high=task.share + half,
        finds_leader=finds if task.leading else None,
        needed=task.respondents,
    )


def _mixed(task: Task, close: float) -> Row:
    channel = mixed_channel(task.options, task.respondents, task.epsilon, task.delta)
    row = _noisy(task, "mixed", channel, task.respondents, close)
    return replace(row, epsilon=task.epsilon, delta=task.delta)


def _local(task: Task, close: float, measured: tuple[Estimate, int] | None) -> Row:
    row = _noisy(task, "local", task.local, task.reports, close)
    if measured is None:
        return row
    option = measured[0].options[measured[1]]
    return replace(row, standard_error=option.se, low=option.low, high=option.high, measured=True)


def _noisy(task: Task, way: Way, channel: Channel, reports: int, close: float) -> Row:
    """Fill the row of a survey on devices; every formula is the planning's and the design's."""
    target, design = Share(task.share), Design.of(channel)
    error = math.sqrt(target.variance(design) / max(reports, 1))
    half = _z(task.level) * error
    reach = reports / task.respondents
    return Row(
        way=way,
        epsilon=channel.epsilon,
        delta=0.0,
        device_epsilon=channel.epsilon,
        respondents=task.respondents,
        noise=math.sqrt(max(0.0, error**2 - task.sampling**2)),
        standard_error=error,
        low=task.share - half,
        high=task.share + half,
        finds_leader=chance_to_find_leader(channel, [float(c) * reach for c in task.counts])
        if task.leading
        else None,
        needed=_needed(target, design, close, task.level, reach),
    )


def _needed(target: Share, design: Design, close: float, level: float, reach: float) -> int | None:
    try:
        found = plan(target=target, design=design, half_width=close, level=level)
    except EstimateError:
        return None
    respondents = math.ceil(found.respondents / max(reach, 1e-9))
    return respondents if respondents <= MOST_RESPONDENTS else None


def mixed_channel(options: int, respondents: int, epsilon: float, delta: float) -> Channel:
    """Find the most accurate channel whose mixed reports are certified to be (ε, δ)-private.

    At least as accurate as the one with ε on every device, and up to ε₀ = 15 on the device.
    """
    low, high = math.floor(epsilon * 1000), 15_000
    while low < high:
        middle = (low + high + 1) // 2
        channel = Channel.best(options, odds_at_most(Fraction(middle, 1000)))
        met = Shuffled.of(channel, respondents).meets(epsilon, delta)
        low, high = (middle, high) if met else (low, middle - 1)
    return Channel.best(options, odds_at_most(max(Fraction(low, 1000), Fraction(1, 1000))))


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

    high = _z(level) * s - math.log(miss) * scale
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


def _z(level: float) -> float:
    return float(ndtri((1 + level) / 2))
