"""Exact laws by enumeration, and randomizers broken on purpose that every check must catch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

from deniable_protocol import Channel

Draw = Callable[[int], int]
"""Give a uniform integer below the bound."""


class Script:
    """Play back draws, and remember the bounds that were asked for."""

    def __init__(self, values: tuple[int, ...]) -> None:
        self.values, self.bounds = values, list[int]()

    def __call__(self, bound: int) -> int:
        place = len(self.bounds)
        self.bounds.append(bound)
        return self.values[place] if place < len(self.values) else 0


def law(run: Callable[[Draw], object]) -> dict[object, Fraction]:
    """Run a program once for every sequence of draws and add up what comes out, exactly.

    Each draw is uniform below the bound that the program asks for, so a run has probability one
    over the product of its bounds.
    """
    found: Counter[object] = Counter()
    for outcome, weight in _runs(run):
        found[outcome] += weight  # type: ignore[assignment]  # a Counter holds Fractions as well
    assert sum(found.values()) == 1
    return dict(found)  # type: ignore[arg-type]


def _runs(run: Callable[[Draw], object]) -> Iterator[tuple[object, Fraction]]:
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        script = Script(prefix)
        outcome = run(script)
        if len(script.bounds) > len(prefix):  # one more draw was asked for: branch on it
            waiting.extend((*prefix, value) for value in range(script.bounds[len(prefix)]))
            continue
        weight = Fraction(1)
        for bound in script.bounds:
            weight /= bound
        yield outcome, weight


# Broken on purpose. Each takes the draws in the order of DESIGN §3 and does one thing wrong.


def off_by_one(channel: Channel, answer: int, draw: Draw) -> tuple[int, ...]:
    """Use ``<=`` where the design says ``<``."""
    return _variant(channel, answer, draw, keeps=lambda u: u <= channel.a * channel.subset)


def swapped_rows(channel: Channel, answer: int, draw: Draw) -> tuple[int, ...]:
    """Report as if the first two answers were each other."""
    return _variant(channel, {0: 1, 1: 0}.get(answer, answer), draw)


def doubled_epsilon(channel: Channel, answer: int, draw: Draw) -> tuple[int, ...]:
    """Keep the truth as often as squared odds would."""
    strong = Channel(channel.options, channel.subset, channel.odds**2)
    return _variant(strong, answer, draw)


def modulo_bias(channel: Channel, answer: int, draw: Draw) -> tuple[int, ...]:
    """Reduce a 3-bit or larger word by modulo without refusing the top of its range."""

    def biased(bound: int) -> int:
        return draw(1 << (bound.bit_length() + 1)) % bound

    return _variant(channel, answer, biased)


def unsorted(channel: Channel, answer: int, draw: Draw) -> tuple[int, ...]:
    """Leave the true answer at the front, as one published library does."""
    return _variant(channel, answer, draw, sort=False)


BROKEN = [off_by_one, swapped_rows, doubled_epsilon, modulo_bias]


def _variant(
    channel: Channel,
    answer: int,
    draw: Draw,
    keeps: Callable[[int], bool] | None = None,
    sort: bool = True,
) -> tuple[int, ...]:
    k, d = channel.options, channel.subset
    u = draw(channel.weight)
    kept = keeps(u) if keeps else u < channel.a * d
    places = list(range(1, k))
    for i in range(d):
        j = i + draw(k - 1 - i)
        places[i], places[j] = places[j], places[i]
    noise = (0, *places[: d - 1]) if kept else tuple(places[:d])
    found = ((answer + s) % k for s in noise)
    return tuple(sorted(found)) if sort else tuple(found)
