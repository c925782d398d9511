"""Make the tables of regression.md by simulation: python docs/regression_tables.py [replicates].

With the default 2,000 replicates this takes some minutes. The seed is fixed, so that anybody gets
the same numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.special import expit

from deniable_analysis import Design, Reported, SampleDesign, estimate_weighted, regress
from deniable_analysis.crosstab import _pearson, _wald
from deniable_analysis.crosstab_scores import Pair

PAGE = Path(__file__).with_name("regression.md")
WARNER = Design(slope=Fraction(1, 2), offset=Fraction(1, 4))
SLOPE = 0.5


def noisy(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Send each answer with chance 3/4, for simulation only."""
    return np.where(rng.random(truth.shape) < 0.75, truth, 1 - truth)


def logits(replicates: int) -> Iterator[str]:
    """Logit of a noisy outcome on one normal predictor, coefficients (−2, 0.5)."""
    yield "| n | ML diverges | said to be separated | ML, the rest: RMSE of the slope | coverage "
    yield "| Jeffreys: not converged | Jeffreys: mean slope | RMSE | coverage |\n"
    yield "|---|---|---|---|---|---|---|---|---|\n"
    for n in (100, 200, 500, 1000):
        rng = np.random.default_rng([n, 1])
        likely, steady, failed, said = [], [], 0, 0
        for _ in range(replicates):
            x = rng.normal(size=n)
            reports = noisy((rng.random(n) < expit(SLOPE * x - 2)).astype(int), rng)
            answer = Reported.of(reports, WARNER)
            found = regress(answer, {"x": x})
            said += found.separated
            if found.converged and np.abs(found.params).max() < 10:
                likely.append((found.params[1], found.bse[1]))
            found = regress(answer, {"x": x}, penalty="jeffreys")
            failed += not found.converged
            steady.append((found.params[1], found.bse[1]))
        ml, jeffreys = np.array(likely), np.array(steady)
        gone = 1 - len(ml) / replicates
        share = 100 * said / replicates
        yield (
            f"| {n:,} | {100 * gone:.1f} % | {share:.1f} % | {rmse(ml):.3f} | {coverage(ml):.3f} "
            f"| {failed} of {replicates:,} | {jeffreys[:, 0].mean():.3f} | {rmse(jeffreys):.3f} "
            f"| {coverage(jeffreys):.3f} |\n"
        )


def rmse(found: np.ndarray) -> float:
    """Root mean square error of the slope."""
    return float(np.sqrt(np.mean((found[:, 0] - SLOPE) ** 2)))


def coverage(found: np.ndarray) -> float:
    """How often the 95 % interval holds the slope."""
    return float(np.mean(np.abs(found[:, 0] - SLOPE) < 1.959964 * found[:, 1]))


def predictors(replicates: int) -> Iterator[str]:
    """Give a logit of a noisy outcome on a noisy predictor, coefficients (−1, 1)."""
    yield "| n | separated | mean slope | RMSE | Wald coverage | ignoring the noise: mean slope |\n"
    yield "|---|---|---|---|---|---|\n"
    for n in (1000, 4000, 16000):
        rng = np.random.default_rng([n, 4])
        found, naive = [], []
        for _ in range(replicates):
            x = (rng.random(n) < 0.4).astype(int)
            y = (rng.random(n) < expit(x - 1.0)).astype(int)
            answer, trait = noisy(y, rng), noisy(x, rng)
            fit = regress(Reported.of(answer, WARNER), {"x": Reported.of(trait, WARNER)})
            if fit.converged:
                found.append((fit.params[1], fit.bse[1]))
            table = np.array([[((answer == a) & (trait == t)).sum() for t in (0, 1)]
                              for a in (0, 1)])  # fmt: skip
            naive.append(np.log(table[1, 1] * table[0, 0] / table[0, 1] / table[1, 0]))
        rows = np.array(found)
        gone = 1 - len(rows) / replicates
        error = np.sqrt(np.mean((rows[:, 0] - 1) ** 2))
        held = np.mean(np.abs(rows[:, 0] - 1) < 1.959964 * rows[:, 1])
        yield (
            f"| {n:,} | {100 * gone:.1f} % | {rows[:, 0].mean():.3f} | {error:.3f} | {held:.3f} "
            f"| {np.mean(naive):.3f} |\n"
        )


def independence(replicates: int) -> Iterator[str]:
    """Size and power of the tests of independence at 5 %."""
    yield "| n | rare traits (2 %, 5 %), independent: Pearson | Wald "
    yield "| traits of 20 %, φ = 0.5: Pearson | Wald |\n|---|---|---|---|---|\n"
    for n in (200, 500, 1000, 2000):
        rng = np.random.default_rng([n, 2])
        hits = np.zeros(4)
        for _ in range(replicates):
            first, second = (rng.random(n) < share for share in (0.02, 0.05))
            both = rng.choice(4, n, p=[0.72, 0.08, 0.08, 0.12])
            for place, (one, two) in enumerate([(first, second), (both > 1, both % 2 == 1)]):
                pair = Pair.of(
                    *(Reported.of(noisy(v.astype(int), rng), WARNER) for v in (one, two)),
                    None, None,
                )  # fmt: skip
                for test, make in enumerate((_pearson, _wald)):
                    found = make(pair)
                    hits[2 * place + test] += found is not None and found.pvalue < 0.05
        yield f"| {n:,} | " + " | ".join(f"{hit / replicates:.3f}" for hit in hits) + " |\n"


def weights(replicates: int) -> Iterator[str]:
    """Two strata, the smaller with more of the trait and asked far more often."""
    yield "| n | unweighted bias | Hájek bias | coverage of the 95 % interval | mean deff |\n"
    yield "|---|---|---|---|---|\n"
    for n in (300, 1000):
        rng = np.random.default_rng([n, 3])
        half = n // 2
        strata = np.repeat([0, 1], half)
        sample = SampleDesign.of(n, np.repeat([0.9 / half, 0.1 / half], half), strata=strata)
        truth = 0.9 * 0.1 + 0.1 * 0.4
        rows = []
        for _ in range(replicates):
            answers = (rng.random(n) < np.repeat([0.1, 0.4], half)).astype(int)
            reports = noisy(answers, rng)
            found = estimate_weighted(Reported.of(reports, WARNER), sample)[1]
            plain = (reports.mean() - 0.25) / 0.5
            rows.append((plain - truth, found.share - truth, found.low <= truth <= found.high,
                         found.deff))  # fmt: skip
        plain, bias, held, deff = np.mean(rows, axis=0)
        yield f"| {n:,} | {plain:+.3f} | {bias:+.3f} | {held:.3f} | {deff:.2f} |\n"


TABLES = {
    "logits": logits,
    "predictors": predictors,
    "independence": independence,
    "weights": weights,
}


def filled(page: str, replicates: int) -> str:
    """Put every table between its marks."""
    for name, make in TABLES.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(start)
        after = rest.split(end)[1]
        page = before + start + "".join(make(replicates)) + end + after
    return page


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), count), encoding="utf-8")
