"""Time estimates from many reports against other libraries, in one run on one machine.

    pip install pure-ldp scikit-learn multi-freq-ldpy
    Rscript -e 'install.packages(c("rr", "RRreg"))'
    python benchmarks/analysis/run.py [REPORTS]

Every line is the median of three runs. Others give point estimates only; ours come with standard
errors, the best fit and an interval for each option. What they receive is in the form that their
own clients make, prepared outside the clock.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from r_packages import compare

from deniable_analysis import Reports, Tally, estimate
from deniable_analysis.bits import unpack
from deniable_analysis.simulate import draw_bits
from deniable_protocol import Channel, Survey

RUNS = 3
NARROW = Channel(10, 1, Fraction(1264, 465))
WIDE = Channel(100, 27, Fraction(1264, 465))


def timed(work: Callable[[], object], runs: int = RUNS) -> float:
    """Give the median time of some runs, in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def made(channel: Channel, reports: int) -> tuple[Survey, NDArray[np.uint8]]:
    """Publish a survey of one question and draw its reports."""
    rng = np.random.default_rng(1)
    question = {"name": "q", "kind": "choice", "text": "Q?", "epsilon": 1,
                "options": [f"option {place}" for place in range(channel.options)]}  # fmt: skip
    survey = Survey.load({"name": "s", "title": "S", "questions": [question]})
    answers = rng.choice(channel.options, reports, p=rng.dirichlet(np.full(channel.options, 0.3)))
    return survey, draw_bits(channel, answers, rng)


def ours(survey: Survey, channel: Channel, bits: NDArray[np.uint8]) -> Callable[[], object]:
    """Estimate from rows of bits, as they come from a database."""
    question = survey["q"]
    # The narrow channel is compared as k-ary randomized response, which is what others have.
    item = question.items[0]
    assert item.channel.options == channel.options

    def work() -> object:
        tally = Tally.of_bits(question, bits)
        return estimate(Reports(survey, {"q": tally}), "q")

    return work


def line(name: str, seconds: float, base: float) -> None:
    """Print one result with its ratio to ours."""
    print(f"  {name:<42}{seconds:9.3f} s{seconds / base:9.1f} ×")


def narrow(reports: int) -> None:
    """Compare reports of one option of ten."""
    channel = NARROW
    rng = np.random.default_rng(2)
    bits = draw_bits(channel, rng.choice(10, reports), rng)
    indices = unpack(bits, 10).argmax(axis=1)
    labels = [f"option {place}" for place in range(10)]
    question = {"name": "q", "kind": "choice", "text": "Q?", "options": labels,
                "truth": str(channel.p)}  # fmt: skip
    survey = Survey.load({"name": "s", "title": "S", "questions": [question]})
    assert survey["q"].channel == channel
    base = timed(ours(survey, channel, bits))
    print(f"{reports:,} reports of 1 option of 10, ε = 1")
    line("deniable: estimate with intervals", base, base)
    try:
        from pure_ldp.frequency_oracles import DEServer
    except ImportError:
        print("  pure-ldp is not installed")
    else:
        server = DEServer(1.0, 10)
        values = indices.tolist()

        def aggregate() -> object:
            for value in values:
                server.aggregate(value)
            return server.estimate_all(range(1, 11), suppress_warnings=True)

        line("pure-ldp: DE", timed(aggregate), base)
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI
    except ImportError:
        print("  multi-freq-ldpy is not installed")
    else:
        line("multi-freq-ldpy: GRR", timed(lambda: GRR_Aggregator_MI(indices, 10, 1.0)), base)


def wide(reports: int) -> None:
    """Compare reports of 27 options of a hundred."""
    survey, bits = made(WIDE, reports)
    assert survey["q"].channel == WIDE
    base = timed(ours(survey, WIDE, bits))
    print(f"{reports:,} reports of 27 options of 100, ε = 1 (unary encodings: 100 bits)")
    line("deniable: estimate with intervals", base, base)
    try:
        from pure_ldp.frequency_oracles import UEServer
    except ImportError:
        print("  pure-ldp is not installed")
    else:
        rows = list(unpack(bits, 100).astype(np.int8))
        server = UEServer(1.0, 100, use_oue=True)

        def aggregate() -> object:
            for row in rows:
                server.aggregate(row)
            return server.estimate_all(range(1, 101), suppress_warnings=True)

        line("pure-ldp: optimised unary encoding", timed(aggregate), base)
        del rows
    try:
        from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI
    except ImportError:
        print("  multi-freq-ldpy is not installed")
    else:
        subsets = np.nonzero(unpack(bits, 100))[1].reshape(reports, 27)
        once = timed(lambda: SS_Aggregator_MI(list(subsets), 100, 1.0), runs=1)
        line("multi-freq-ldpy: subset selection (1 run)", once, base)


def main() -> None:
    """Run all comparisons."""
    reports = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    narrow(reports)
    wide(reports)
    compare(min(reports, 100_000), timed, line)


if __name__ == "__main__":
    main()
