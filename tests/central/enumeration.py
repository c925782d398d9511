"""The exact law of a sampler: run it once for every sequence of outcomes it can draw.

Samplers are built in layers (coins, then geometric, then two-sided, then Gaussian). Each layer is
enumerated with the layer below replaced by its law, which another test has enumerated before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from deniable_analysis.central import cells, sampling


class _MoreDraws(Exception):  # noqa: N818
    """The run asks for a draw that the path does not hold yet."""

    def __init__(self, chances: list[float]) -> None:
        self.chances = chances


@dataclass
class Path:
    """A source of randomness that replays one sequence of outcomes."""

    choices: tuple[int, ...]
    laws: dict[tuple[int, ...], dict[Any, float]]
    smallest: float
    used: int = 0

    def __call__(self, n: int) -> int:
        return 0 if n == 1 else self._next([1 / n] * n)

    def pick(self, law: Mapping[Any, float]) -> Any:
        """Branch on a known law."""
        return list(law)[self._next(list(law.values()))]

    def until(self, attempt: Callable[[Any], Any]) -> Any:
        """Branch on the law of one attempt, given that it succeeds."""
        here = self.choices[: self.used]
        if here not in self.laws:
            found = runs(attempt, self.smallest)
            found.pop(None, None)
            self.laws[here] = {out: mass / sum(found.values()) for out, mass in found.items()}
        return self.pick(self.laws[here])

    def _next(self, chances: list[float]) -> int:
        if self.used == len(self.choices):
            raise _MoreDraws(chances)
        self.used += 1
        return self.choices[self.used - 1]


def runs(draw: Callable[[Any], Any], smallest: float) -> dict[Any, float]:
    """Return the probability of every outcome; branches less likely than `smallest` are cut."""
    found: dict[Any, float] = {}
    laws: dict[tuple[int, ...], dict[Any, float]] = {}
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        choices, mass = waiting.pop()
        try:
            out = draw(Path(choices, laws, smallest))
            found[out] = found.get(out, 0.0) + mass
        except _MoreDraws as more:
            waiting.extend(
                ((*choices, i), mass * chance)
                for i, chance in enumerate(more.chances)
                if mass * chance > smallest
            )
    return found


def law(
    draw: Callable[[Any], Any],
    monkeypatch: pytest.MonkeyPatch,
    known: Mapping[str, Callable[..., Mapping[Any, float]]] = {},
    smallest: float = 1e-13,
) -> dict[Any, float]:
    """Enumerate a sampler.

    Args:
        draw: The sampler, as a function of its source.
        monkeypatch: To replace what is known, wherever it is used.
        known: For the name of a lower layer, its law as a function of its parameter.
        smallest: Branches less likely than this are cut.
    """

    def by_law(attempt: Callable[[Any], Any], below: Path) -> Any:
        return below.until(attempt)

    with monkeypatch.context() as patch:
        for module in (sampling, cells):
            patch.setattr(module, "until", by_law)
            for name, stated in known.items():
                if hasattr(module, name):
                    patch.setattr(module, name, _drawn_from(stated))
        return runs(draw, smallest)


def _drawn_from(stated: Callable[..., Mapping[Any, float]]) -> Callable[..., Any]:
    def draw(parameter: Any, *rest: Any) -> Any:
        return rest[-1].pick(stated(parameter))

    return draw


def distance(found: Mapping[Any, float], stated: Callable[[Any], float]) -> float:
    """Return the largest difference between an enumerated and a stated probability."""
    return max(abs(chance - stated(out)) for out, chance in found.items())
