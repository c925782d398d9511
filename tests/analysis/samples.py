"""Surveys and ways to draw reports for the tests of this folder, independent of the client."""

from __future__ import annotations

import math
from collections.abc import Iterator
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

EVERY_KIND = Survey.load(
    {
        "name": "every-kind",
        "title": "Every <kind> & more",
        "arms": ["north", "south"],
        "privacy": {"epsilon": 8},
        "questions": [
            {"name": "drank", "kind": "yes-no", "text": "Did you drink?"},
            {
                "name": "often",
                "kind": "choice",
                "text": "How often?",
                "options": ["=once()", "sometimes", "daily"],
                "optional": True,
                "show_if": {"question": "drank", "is": ["Yes"]},
            },
            {
                "name": "drugs",
                "kind": "multiple",
                "text": "Which?",
                "options": ["Cannabis", "MDMA", "Cocaine"],
            },
            {
                "name": "mood",
                "kind": "scale",
                "text": "Mood?",
                "options": ["low", "middling", "high"],
                "scores": [1, 2, 4],
            },
            {
                "name": "sleep",
                "kind": "number",
                "text": "Hours of sleep?",
                "min": 0,
                "max": 12,
                "step": 0.5,
                "unit": "h",
                "points": 5,
                "optional": True,
            },
        ],
    }
)

SAMPLED = Survey.load(
    {
        "name": "sampled",
        "title": "Some of the questions",
        "privacy": {"epsilon": 2, "allocation": "sample", "ask": 2},
        "questions": [
            {"name": "one", "kind": "yes-no", "text": "One?"},
            {"name": "two", "kind": "choice", "text": "Two?", "options": list("abcdefghij")},
            {"name": "three", "kind": "yes-no", "text": "Three?"},
        ],
    }
)


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


def some_reports(n: int, seed: int = 7, survey: Survey = SURVEY) -> list[Report]:
    """Make reports of people who all have the first or second option.

    A fixed seed, because nothing statistical is claimed of them.
    """
    rng = np.random.default_rng(seed)
    drawn = {
        item.name: draw(item.channel, rng.integers(0, 2, n), rng).tolist() for item in survey.items
    }
    found = []
    for place in range(n):
        report = {"survey": survey.digest, "id": f"{rng.integers(2**63):016x}"}
        sent = rng.permutation(len(survey.questions))[: survey.ask]
        names = [item.name for q in sent for item in survey.questions[q].items]
        answers = {"answers": {name: drawn[name][place] for name in names}}
        arm = {"arm": survey.arms[rng.integers(len(survey.arms))]} if survey.arms else {}
        found.append(Report.parse(report | answers | arm, survey))
    return found


def gathered(n: int, seed: int = 7, survey: Survey = SURVEY) -> Reports:
    """Gather ``some_reports``."""
    return Reports.of_reports(survey, some_reports(n, seed, survey))


def likelihood_matrix(channel: Channel) -> tuple[NDArray[np.float64], list[tuple[int, ...]]]:
    """Give P(S | x) from the channel's own enumerated law, shape (subsets, options)."""
    laws = [channel.law(x) for x in range(channel.options)]
    subsets = list(laws[0])
    assert len(subsets) == math.comb(channel.options, channel.subset)
    return np.array([[float(law[s]) for law in laws] for s in subsets]), subsets


def compositions(n: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Go through every way to spread n reports over some options."""
    if parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, parts - 1):
            yield (first, *rest)


def multinomial_law(
    counts: NDArray[np.int64], reported: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the exact probability of each row of counts, whose sums are equal."""
    logs = [math.lgamma(counts[0].sum() + 1)]
    logs = logs[0] - np.vectorize(math.lgamma)(counts + 1.0).sum(axis=1)
    return np.exp(logs + counts @ np.log(reported))
