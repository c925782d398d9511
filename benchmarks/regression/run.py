"""Time regressions against statsmodels in one run: python benchmarks/regression/run.py.

Nobody else fits noisy outcomes on noisy predictors, so the peer is a logit without noise on the
same rows: what the answers themselves would cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import statsmodels.api as sm
from scipy.special import expit

from deniable_analysis import Design, Reported, regress

N = 100_000
WARNER = Design(slope=Fraction(1, 2), offset=Fraction(1, 4))


def timed(run: Callable[[], object]) -> float:
    """Take the best of three."""
    found = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Print seconds, and each as a multiple of the peer's."""
    rng = np.random.default_rng(1)
    group = rng.random(N) < 0.4
    latent = [(rng.random(N) < np.where(group, 0.7, 0.2)).astype(int) for _ in range(4)]
    age = rng.normal(size=N)
    scale = -1 + latent[0] + 0.5 * latent[1] - 0.5 * latent[2] + 0.1 * age
    answer = (rng.random(N) < expit(scale)).astype(int)

    def sent(truth: np.ndarray) -> Reported:
        return Reported.of(np.where(rng.random(N) < 0.75, truth, 1 - truth), WARNER)

    noisy = {f"q{place}": sent(column) for place, column in enumerate(latent, 1)}
    outcome = sent(answer)
    known = {"age": age, **dict(zip("abcd", latent, strict=True))}
    clear = np.column_stack([np.ones(N), *latent, age])
    peer = timed(lambda: sm.Logit(answer, clear).fit(disp=0))
    print(f"{N:,} respondents; statsmodels' logit of the answers themselves: {peer:.3f} s")
    cases: dict[str, Callable[[], object]] = {
        "the same, ours": lambda: regress(answer, known),
        "noisy outcome, known predictors": lambda: regress(outcome, known),
        "the same, Jeffreys": lambda: regress(outcome, known, penalty="jeffreys"),
        "5 noisy questions": lambda: regress(outcome, noisy),
        "5 noisy questions and age": lambda: regress(outcome, {**noisy, "age": age}),
    }
    for name, run in cases.items():
        seconds = timed(run)
        print(f"{name:<34} {seconds:8.3f} s   {seconds / peer:6.1f} times")


if __name__ == "__main__":
    main()
