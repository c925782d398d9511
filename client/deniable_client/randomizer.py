"""The randomizer of DESIGN §3: noise first, then the answer, always the same number of draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from deniable_protocol import Channel, Survey

from .entropy import Read, below, exactly

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Noise:
    """All the randomness of one report, drawn before any answer is looked at.

    Attributes:
        identifier: The report's id, 63 bits.
        sent: Names of the items that will be sent.
        rounding: For each question of kind ``number``, a uniform whole number below its steps.
        subsets: For each item, what ``draw_noise`` gave.
    """

    identifier: int
    sent: frozenset[str]
    rounding: Mapping[str, int]
    subsets: Mapping[str, tuple[int, ...]]


def draw_report_noise(survey: Survey, read: Read) -> Noise:
    """Draw all the randomness of one report.

    Bytes are consumed in this order: eight for the id, of which the top bit is cleared; where only
    some questions are asked, the draw of which; then for each question in the survey's order the
    rounding of a ``number``, or the draw of which boxes of a ``multiple`` are sent, and the noise
    of each item. Items that are not sent are drawn all the same.
    """
    identifier = int.from_bytes(exactly(8, read), "big") & (2**63 - 1)
    asked = survey.questions
    if survey.ask is not None:
        asked = tuple(draw_some(asked, survey.ask, read))
    sent: set[str] = set()
    rounding: dict[str, int] = {}
    subsets: dict[str, tuple[int, ...]] = {}
    for question in survey.questions:
        if question.grid is not None:
            rounding[question.name] = below(question.grid.steps, read)
        items = question.items
        boxes = items if question.ask is None else draw_some(items, question.ask, read)
        if question in asked:
            sent |= {item.name for item in boxes}
        for item in items:
            subsets[item.name] = draw_noise(item.channel, read)
    return Noise(identifier, frozenset(sent), rounding, subsets)


def draw_noise(channel: Channel, read: Read) -> tuple[int, ...]:
    """Draw a subset of the options as if the true answer were option 0.

    It takes ``1 + subset`` draws whatever comes out, so neither the answer nor whether the report
    holds it can be read from how long it took.

    Returns:
        ``channel.subset`` distinct indices, in no order.
    """
    k, d = channel.options, channel.subset
    keeps_truth = below(channel.weight, read) < channel.a * d
    others = draw_some(range(1, k), d, read)  # d places even where d - 1 would do
    return (0, *others[: d - 1]) if keeps_truth else tuple(others)


def draw_some(places: Iterable[T], count: int, read: Read) -> list[T]:
    """Draw *count* of the places uniformly, without replacement: a partial Fisher-Yates shuffle."""
    shuffled = list(places)
    for i in range(count):
        j = i + below(len(shuffled) - i, read)
        shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    return shuffled[:count]


def apply_noise(channel: Channel, noise: tuple[int, ...], answer: int) -> tuple[int, ...]:
    """Turn noise into the report of one answer, by rotation.

    Privacy:
        Given the answer x, the subset {(x + s) mod k} has the law of ``channel.law(x)``: the noise
        holds 0 with chance a·d / (a·d + b·(k − d)) = p, and the other places are uniform, so each
        set with x has chance p / C(k−1, d−1) = a/Z and each without has b/Z. Sorting hides where
        the true answer would stand.
    """
    return tuple(sorted((answer + place) % channel.options for place in noise))
