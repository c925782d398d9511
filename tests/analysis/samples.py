"""A survey and ways to draw reports for the tests of this folder, independent of the client."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable_analysis import Reports
from deniable_analysis.bits import pack
from deniable_protocol import Channel, Report, Survey

WARNER = Channel(2, 1, Fraction(3))
WIDE = Channel(7, 3, Fraction(2))

SURVEY = Survey.load(
    {
        "name": "canteen",
        "title": "The canteen",
        "questions": [
            {"name": "stolen", "kind": "yes-no", "text": "Did you steal?", "truth": "3/4"},
            {
                "name": "dish",
                "kind": "choice",
                "text": "Which dish?",
                "options": [f"dish {letter}" for letter in "abcdefghi"],
                "optional": True,
                "epsilon": 1,
            },
        ],
    }
)
assert SURVEY["dish"].channel.subset == 3


def draw(
    channel: Channel, answers: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw one subset for each answer, sorted, shape (answers, subset)."""
    keys = rng.random((len(answers), channel.options))
    kept = rng.random(len(answers)) < float(channel.p)
    keys[np.arange(len(answers)), answers] = np.where(kept, -1.0, 2.0)
    return np.sort(np.argsort(keys, axis=1)[:, : channel.subset], axis=1)


def packed(channel: Channel, subsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Turn rows of option indices into bits."""
    indicators = np.zeros((len(subsets), channel.options), dtype=np.bool_)
    np.put_along_axis(indicators, subsets, True, axis=1)
    return pack(indicators)


def some_reports(n: int, seed: int = 7) -> list[Report]:
    """Make reports to ``SURVEY``; a fixed seed, because nothing statistical is claimed of them."""
    rng = np.random.default_rng(seed)
    drawn = {q.name: draw(q.channel, rng.integers(0, 2, n), rng).tolist() for q in SURVEY.questions}
    return [
        Report.parse(
            {
                "survey": SURVEY.digest,
                "id": f"{rng.integers(2**63):016x}",
                "answers": {name: rows[place] for name, rows in drawn.items()},
            },
            SURVEY,
        )
        for place in range(n)
    ]


def gathered(n: int, seed: int = 7) -> Reports:
    """Gather ``some_reports``."""
    return Reports.of_reports(SURVEY, some_reports(n, seed))


def likelihood_matrix(channel: Channel) -> tuple[NDArray[np.float64], list[tuple[int, ...]]]:
    """Give P(S | x) from the channel's own enumerated law, shape (subsets, options)."""
    laws = [channel.law(x) for x in range(channel.options)]
    subsets = list(laws[0])
    assert len(subsets) == math.comb(channel.options, channel.subset)
    return np.array([[float(law[s]) for law in laws] for s in subsets]), subsets
