"""Write docs/coverage.md: how often each interval holds the truth.

    python scripts/coverage_tables.py            # rewrite the page; takes a few minutes
    python scripts/coverage_tables.py --exact    # print the enumerated part only

What can be enumerated is summed exactly over every outcome. The rest is simulated with a stated
seed, so that a run repeats to the last digit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lgamma, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable_analysis import (
    METHODS,
    Design,
    Reported,
    Reports,
    SampleDesign,
    describe,
    estimate,
    estimate_weighted,
    interval,
    regress,
)
from deniable_analysis.bootstrap import bootstrap
from deniable_analysis.shares import fill
from deniable_protocol import Channel, Survey

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
LEVEL = 0.95
GRID = np.linspace(0, 1, 2001)
SEED = 20260101

Floats = NDArray[np.float64]

DESIGNS = {
    "the truth with 3 chances in 4 (odds 3:1, ε = 1.10)": Design(Fraction(1, 2), Fraction(1, 4)),
    "forced response, the truth with 2 chances in 3 (ε = 1.61)": Design(
        Fraction(2, 3), Fraction(1, 6)
    ),
    "one option of ten, 3 in each report (ε = 1)": Design.of(Channel.best(10, Fraction(1264, 465))),
}


def coverage(low: Floats, high: Floats, design: Design, shares: Floats) -> Floats:
    """Sum the probability of every count whose interval holds the share."""
    n = len(low) - 1
    law = binom.pmf(
        np.arange(n + 1)[:, None], n, float(design.slope) * shares + float(design.offset)
    )
    # An end may be a tie computed twice; what is within rounding of it is inside.
    held = (low[:, None] <= shares + 1e-12) & (shares - 1e-12 <= high[:, None])
    found: Floats = (law * held).sum(axis=0)
    return found


def binary_rows(design: Design, n: int) -> Iterator[list[str]]:
    """Give one line for each method: coverage at five shares, least, lengths, no interval."""
    shown = np.array([0, 0.01, 0.05, 0.2, 0.5])
    for method in METHODS:
        found = interval(np.arange(n + 1), n, design, level=LEVEL, method=method)
        at = coverage(found.low, found.high, design, shown)
        least = coverage(found.low, found.high, design, GRID).min()
        law = binom.pmf(
            np.arange(n + 1)[:, None],
            n,
            float(design.slope) * shown[[0, 2, 3, 4]] + float(design.offset),
        )
        length = (found.high - found.low) @ law
        none = float(found.outside @ law[:, 0])
        yield [
            str(n),
            method,
            *(f"{value:.3f}" for value in at),
            f"{np.floor(1000 * least + 1e-9) / 1000:.3f}",
            *(f"{value:.3f}" for value in length),
            f"{none:.3f}" if none else "0",
        ]


def compositions(n: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Go through every way to spread n reports over some options."""
    if parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, parts - 1):
            yield (first, *rest)


def outcomes(n: int, reported: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Give every table of counts with its exact probability, leaving out what is below 1e-12."""
    counts = np.array(list(compositions(n, len(reported))))
    logs = np.array([lgamma(value + 1) for value in range(n + 1)])
    law = np.exp(logs[n] - logs[counts].sum(axis=1) + counts @ np.log(reported))
    return counts[law > 1e-12], law[law > 1e-12]


def asked(kind: str, options: int, *, optional: bool = False) -> Survey:
    """Publish a survey with one question at ε = 1.5."""
    question = {"name": "q", "kind": kind, "text": "Q?", "optional": optional}
    if kind == "number":
        question |= {"min": 0, "max": options - 1, "step": 1, "points": options}
    else:
        question |= {"options": [f"option {place}" for place in range(options)]}
    return Survey.load(
        {"name": "s", "title": "S", "privacy": {"epsilon": 1.5}, "questions": [question]}
    )


def reported_law(survey: Survey, shares: Sequence[float]) -> Floats:
    """Turn true shares into the shares of reports."""
    channel = survey["q"].channel
    return float(channel.p - channel.q) * np.array(shares) + float(channel.q)


def among_rows() -> Iterator[list[str]]:
    """Shares among those who answered, and means and medians among everybody."""
    survey = asked("choice", 2, optional=True)
    for n in (60, 200):
        for true in [(0.3, 0.5, 0.2), (0.05, 0.9, 0.05), (0.1, 0.1, 0.8)]:
            counts, law = outcomes(n, reported_law(survey, true))
            share, held, length = true[0] / (true[0] + true[1]), 0.0, 0.0
            for row, chance in zip(counts[law > 1e-7], law[law > 1e-7], strict=True):
                found = estimate(Reports.of_counts(survey, {"q": row}), "q").among[0]
                held += chance * (found.low <= share <= found.high)
                length += chance * (found.high - found.low)
            yield [str(n), f"{true[0]} of {true[0] + true[1]:.2f}", f"{held:.3f}", f"{length:.3f}"]


def number_rows() -> Iterator[list[str]]:
    """Mean and median of a number with three values, by enumeration."""
    survey = asked("number", 3)
    for n in (40, 100):
        for true in [(0.5, 0.3, 0.2), (0.1, 0.45, 0.45), (0.02, 0.08, 0.9)]:
            counts, law = outcomes(n, reported_law(survey, true))
            mean = true[1] + 2 * true[2]
            median = int(np.argmax(np.cumsum(true) >= 0.5))
            held = np.zeros(2)
            for row, chance in zip(counts[law > 1e-7], law[law > 1e-7], strict=True):
                found = describe(Reports.of_counts(survey, {"q": row}), "q", quantiles=[0.5])
                half = found.quantiles[0]
                held[0] += chance * (found.mean.low <= mean <= found.mean.high)
                held[1] += chance * (half.low <= median <= half.high)
            yield [str(n), ", ".join(map(str, true)), f"{held[0]:.3f}", f"{held[1]:.3f}"]


SETTINGS = [
    (4, Fraction(9), (0.25, 0.25, 0.25, 0.25), 200),
    (4, Fraction(9), (0.01, 0.04, 0.25, 0.7), 200),
    (4, Fraction(9), (0.01, 0.04, 0.25, 0.7), 1000),
    (4, Fraction(9), (0.0, 0.0, 0.3, 0.7), 1000),
    (8, Fraction(14, 3), (0, 0, 0.005, 0.02, 0.05, 0.125, 0.3, 0.5), 200),
    (8, Fraction(14, 3), (0, 0, 0.005, 0.02, 0.05, 0.125, 0.3, 0.5), 1000),
]
REPLICATES, BOOTSTRAPPED, RESAMPLES = 20_000, 400, 2_000


def simultaneous_rows() -> Iterator[list[str]]:
    """Coverage of all intervals of a question at once, and errors of both estimates, simulated."""
    rng = np.random.default_rng(SEED)
    for options, odds, true, n in SETTINGS:
        channel, shares = Channel(options, 1, odds), np.array(true)
        design = Design.of(channel)
        slope, offset = float(design.slope), float(design.offset)
        drawn = rng.multinomial(n, slope * shares + offset, size=REPLICATES)
        row = [f"{options}, {float(channel.p):.2f}", " ".join(f"{s:g}" for s in true), str(n)]
        for method, level in [
            ("wilson", LEVEL),
            *((m, 1 - (1 - LEVEL) / options) for m in ("wilson", "wald", "clopper-pearson",
                                                       "feldman-cousins")),
        ]:  # fmt: skip
            ends = interval(np.arange(n + 1), n, design, level=level, method=method)
            held = (ends.low[drawn] <= shares + 1e-12) & (shares - 1e-12 <= ends.high[drawn])
            row.append(f"{held.all(axis=1).mean():.3f}")
        row.append(f"{_bootstrap_coverage(channel, shares, drawn[:BOOTSTRAPPED]):.3f}")
        moments = (drawn / n - offset) / slope
        fitted = fill(drawn, channel)
        row += [f"{_rmse(found, shares):.4f}" for found in (moments, fitted)]
        yield row


def _bootstrap_coverage(channel: Channel, shares: Floats, drawn: NDArray[np.int64]) -> float:
    labels = [f"option {place}" for place in range(channel.options)]
    question = {"name": "q", "kind": "choice", "text": "Q?", "options": labels,
                "odds": f"{channel.a}:{channel.b}"}  # fmt: skip
    survey = Survey.load({"name": "s", "title": "S", "questions": [question]})
    assert survey["q"].channel == channel
    held = 0
    for counts in drawn:
        found = bootstrap(
            Reports.of_counts(survey, {"q": counts}),
            "q",
            replicates=RESAMPLES,
            level=1 - (1 - LEVEL) / channel.options,
        )
        held += bool(np.all((found.low <= shares + 1e-9) & (shares <= found.high + 1e-9)))
    return held / len(drawn)


SLOPES, REGRESSED = (-2.0, 0.5), 1_000


def regression_rows() -> Iterator[list[str]]:
    """Fit a logit with a noisy outcome, at Warner's 3/4, simulated."""
    rng = np.random.default_rng(SEED)
    design = Design(Fraction(1, 2), Fraction(1, 4))
    for n in (100, 200, 500, 1000):
        finite, kept = 0, {None: [], "jeffreys": []}
        for _ in range(REGRESSED):
            x = rng.normal(size=n)
            truth = rng.random(n) < 1 / (1 + np.exp(-SLOPES[0] - SLOPES[1] * x))
            report = rng.random(n) < 0.25 + 0.5 * truth
            for penalty, values in kept.items():
                found = regress(Reported.of(report.astype(int), design), {"x": x}, penalty=penalty)
                # A slope beyond 10 is one on its way to infinity.
                good = found.converged and not found.separated and abs(found.params[1]) < 10
                finite += good and penalty is None
                if good:
                    low, high = found.conf_int(LEVEL)[1]
                    values.append((found.params[1], low <= SLOPES[1] <= high))
        row = [
            str(n),
            f"{1 - finite / REGRESSED:.3f}",
            f"{1 - len(kept['jeffreys']) / REGRESSED:.3f}",
        ]
        for values in kept.values():
            slopes, held = np.array(values).T
            row += [f"{slopes.mean():.3f}", f"{_rmse(slopes[:, None], SLOPES[1:]):.3f}",
                    f"{held.mean():.3f}"]  # fmt: skip
        yield row


WEIGHED = 4_000


def weighted_rows() -> Iterator[list[str]]:
    """Sample a rare group as often as the others, and weigh it back; simulated."""
    rng = np.random.default_rng(SEED)
    design = Design(Fraction(1, 2), Fraction(1, 4))
    parts, shares = np.array([0.8, 0.2]), np.array([0.05, 0.4])
    true = float(parts @ shares)
    for n in (100, 300, 1000):
        strata = np.repeat([0, 1], n // 2)
        weights = (parts / 0.5)[strata]
        sample = SampleDesign.of(n, weights, strata=strata)
        held, found, plain = 0, [], []
        for _ in range(WEIGHED):
            report = rng.random(n) < 0.25 + 0.5 * (rng.random(n) < shares[strata])
            one = estimate_weighted(Reported.of(report.astype(int), design), sample)["1"]
            held += one.low <= true <= one.high
            found.append(one.share)
            plain.append((report.mean() - 0.25) / 0.5)
        yield [str(n), f"{np.mean(plain) - true:+.3f}", f"{np.mean(found) - true:+.3f}",
               f"{held / WEIGHED:.3f}"]  # fmt: skip


def _rmse(found: Floats, shares: Floats) -> float:
    return sqrt(float(((found - shares) ** 2).sum(axis=1).mean()))


def table(head: Sequence[str], rows: Iterator[list[str]]) -> str:
    """Write a table in Markdown."""
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


BINARY_HEAD = ["n", "method", *(f"at {share}" for share in ("0", ".01", ".05", ".2", ".5")),
               "least", *(f"length at {share}" for share in ("0", ".05", ".2", ".5")),
               "no interval at 0"]  # fmt: skip


def exact_part() -> str:
    """Write what is enumerated."""
    parts = []
    for title, design in DESIGNS.items():
        rows = (row for n in (50, 200, 1000) for row in binary_rows(design, n))
        parts += [f"### {title[0].upper()}{title[1:]}", table(BINARY_HEAD, rows)]
    return "\n\n".join(parts)


def page() -> str:
    """Write the whole page."""
    head = ["options, chance of the truth", "true shares", "n", "Wilson, each by itself",
            "Wilson", "Wald", "Clopper-Pearson", "Feldman-Cousins", "bootstrap of the best fit",
            "error of the unbiased estimate", "error of the best fit"]  # fmt: skip
    model_head = ["n", "no slope within ±10, maximum likelihood", "no slope within ±10, penalised",
                  "mean slope, maximum likelihood", "its error", "its coverage",
                  "mean slope, penalised", "its error", "its coverage"]  # fmt: skip
    return f"""# How often intervals hold the truth

Nominal level: 95 % throughout. `scripts/coverage_tables.py` writes this page; rerun it to check
any number. Intervals are as `interval` and `estimate` give them, within 0 to 1; one that misses
this range stands at its nearest end, and the last column says how often that happens where nobody
has the trait. "Least" is over {len(GRID):,} shares from 0 to 1, rounded down.

## One share: exact

Every count has an exact binomial probability; coverage is their sum, with no simulation error. The
number of reports that hold an option is binomial for every subset size, so these tables are for
wide questions too.

{exact_part()}

Feldman-Cousins and Clopper-Pearson hold the truth in at least 95 % whatever it is, by construction
and by this sum. Feldman-Cousins is shorter where a trait is rare and always has an interval, so it
is the default; above 10,000 reports the constrained likelihood ratio takes over, which has the same
limit and costs nothing. The other three have no interval in 2 to 6 % of surveys where nobody has
the trait.

## Shares among those who answered: exact

Two answers and "no answer" at ε = 1.5; Fieller's interval of the first answer's share among those
who gave one, summed over every outcome.

{table(["n", "true share", "coverage", "mean length"], among_rows())}

## Means and medians: exact

A number with the values 0, 1 and 2 at ε = 1.5, summed over every outcome. The mean has the score
interval of its unbiased scores, the median that of Woodruff; on so few values it is conservative.

{table(["n", "true shares", "mean", "median"], number_rows())}

## All options of a question at once: simulated

{REPLICATES:,} surveys for each line, so a coverage is known to ±0.003; the bootstrap column has
{BOOTSTRAPPED} surveys of {RESAMPLES:,} resamples (±0.02); errors are root mean squares of the whole
vector of shares. Seed {SEED}. All but the first column of coverage are Bonferroni's, which is what
`simultaneous=True` gives, with Wilson as its default.

{table(head, simultaneous_rows())}

Intervals that hold each by itself do not hold all at once. The bootstrap is offered for functions
of shares that have no interval of their own, and its column is why it is not the default.

## Weights: simulated

Two strata, 80 % and 20 % of the population with shares of 5 % and 40 %, of which equally many are
sampled; the truth with 3 chances in 4; {WEIGHED:,} surveys for each line (±0.007). The weighted
(Hájek) share has Wilson's interval with the effective number of respondents.

{table(["n", "bias without weights", "bias with weights", "coverage"], weighted_rows())}

## Regression: simulated

A logit with intercept {SLOPES[0]:g} and slope {SLOPES[1]:g} of a normal predictor, its outcome
reported with the truth in 3 of 4 cases; {REGRESSED:,} surveys for each line (±0.015). With so much
noise the maximum-likelihood slope of a small sample can be infinite: the fit says so, and Jeffreys'
penalty keeps it finite, at the price of a slope drawn towards 0. Slopes beyond ±10 are counted in
the first columns and left out of the others.

{table(model_head, regression_rows())}
"""


if __name__ == "__main__":
    if "--exact" in sys.argv[1:]:
        sys.stdout.write(exact_part() + "\n")
    else:
        PAGE.write_text(page(), encoding="utf-8")
