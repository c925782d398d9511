"""Designs with more than two answers or reports: any matrix of exact chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable_protocol import EstimateError
from deniable_protocol.channel import epsilon_of

from .design import Design
from .paper import Chance, chance, matrix_odds

Floats = NDArray[np.float64]
Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class MatrixDesign:
    """Describe a design by the chance of every report for every true state, exactly.

    Wherever a law is expected (``Reported.of``, ``estimate_paper``, regression) this or a
    ``Design`` will do.

    Attributes:
        chances: One row for each report, one column for each true state; every column adds up to
            exactly 1, and no two mixtures of states give the same reports.
        states: Names of the true states.
        reports: Names of the reports.
        scores: One row for each report: unbiased scores of the states. The inverse, or the
            least-squares inverse where there are more reports than states, unless given.

    Raises:
        EstimateError: If a column does not add up to 1, or the states cannot be told apart.

    >>> MatrixDesign.of([["0.8", "0.1", "0.1"], ["0.1", "0.8", "0.1"], ["0.1", "0.1", "0.8"]]).odds
    Fraction(8, 1)
    """

    chances: tuple[Row, ...]
    states: tuple[str, ...]
    reports: tuple[str, ...]
    scores: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        size = len(self.states)
        if size < 2 or any(len(row) != size for row in self.chances):
            raise EstimateError("expected a matrix with a column for each of two or more states")
        if any(not 0 <= value <= 1 for row in self.chances for value in row):
            raise EstimateError("every chance must be from 0 to 1")
        if len(self.reports) != len(self.chances):
            raise EstimateError("expected a name for each report")
        for place, state in enumerate(self.states):
            total = sum(row[place] for row in self.chances)
            if total != 1:
                raise EstimateError(
                    f"the chances of the reports for state {state!r} must add up to 1, got "
                    f'{float(total):.12g}; write thirds and sixths as "1/3" and "1/6"'
                )
        if not self.scores:
            object.__setattr__(self, "scores", _left_inverse(self.chances))

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[Chance]],
        *,
        states: Sequence[str] | None = None,
        reports: Sequence[str] | None = None,
    ) -> MatrixDesign:
        """Read a matrix: one row for each report, one column for each true state.

        A matrix written the other way round is refused, unless its rows add up to 1 as well: then
        both readings are possible, and this one is taken.
        """
        chances = tuple(
            tuple(chance(f"chance in row {place}", value) for value in row)
            for place, row in enumerate(rows, 1)
        )
        columns = len(chances[0]) if chances else 0
        return cls(chances, _names(states, columns), _names(reports, len(chances)))

    @classmethod
    def of_design(cls, design: Design) -> MatrixDesign:
        """Write a binary design as a matrix: reports and states are no and yes, in this order."""
        no, yes = design.offset, design.offset + design.slope
        return cls(((1 - no, 1 - yes), (no, yes)), ("no", "yes"), ("no", "yes"))

    @classmethod
    def forced(
        cls, forced: Sequence[Chance], *, states: Sequence[str] | None = None
    ) -> MatrixDesign:
        """Give forced response with several answers: each is forced with its chance, else truth.

        >>> MatrixDesign.forced(["0.1", "0.1", "0.1"]).odds
        Fraction(8, 1)
        """
        each = [chance("forced", value) for value in forced]
        truth = 1 - sum(each)
        if truth <= 0:
            raise EstimateError(f"forced chances must be below 1 together, got {sum(each)}")
        rows = tuple(tuple(e + truth * (r == s) for s in range(len(each)))
                     for r, e in enumerate(each))  # fmt: skip
        names = _names(states, len(each))
        return cls(rows, names, names)

    @classmethod
    def kuk(cls, with_trait: Chance, without: Chance, cards: int) -> MatrixDesign:
        """Give Kuk's design with several cards, drawn with replacement: a report counts red ones.

        The score is that of the mean, (red/cards − p₂)/(p₁ − p₂), which is Kuk's estimator.

        Args:
            with_trait: Part of red cards in the deck of those who have the trait.
            without: Part of red cards in the other deck.
            cards: How many are drawn, 1 to 100.
        """
        red, other = chance("with_trait", with_trait), chance("without", without)
        if not 1 <= cards <= 100 or red == other:
            raise EstimateError("expected 1 to 100 cards, and two decks that differ")
        rows, scores = [], []
        for count in range(cards + 1):
            rows.append(tuple(
                comb(cards, count) * part**count * (1 - part) ** (cards - count)
                for part in (other, red)
            ))  # fmt: skip
            score = (Fraction(count, cards) - other) / (red - other)
            scores.append((1 - score, score))
        names = tuple(map(str, range(cards + 1)))
        return cls(tuple(rows), ("no", "yes"), names, tuple(scores))

    @property
    def odds(self) -> Fraction | None:
        """The exact odds e^ε of one report; None where some report can be certain."""
        return matrix_odds(list(self.chances))

    @property
    def epsilon(self) -> float:
        """ε of one report in nats, rounded up; infinite where none exists."""
        return inf if self.odds is None else epsilon_of(self.odds)

    @property
    def law(self) -> Floats:
        """The chances as float64, shape (reports, states)."""
        return np.array([[float(value) for value in row] for row in self.chances])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Stand in for the matrix where an array is expected."""
        return self.law if dtype is None else self.law.astype(dtype)


def _names(names: Sequence[str] | None, size: int) -> tuple[str, ...]:
    found = tuple(map(str, range(size))) if names is None else tuple(names)
    if len(found) != size or len(set(found)) != size:
        raise EstimateError(f"expected {size} different names, got {len(found)}")
    return found


def _left_inverse(chances: tuple[Row, ...]) -> tuple[Row, ...]:
    """Solve (PᵀP) X = Pᵀ by exact elimination, and give X transposed: a row for each report."""
    size = len(chances[0])
    columns = range(size)
    rows = [
        [sum((r[i] * r[j] for r in chances), start=Fraction(0)) for j in columns]
        + [r[i] for r in chances]
        for i in columns
    ]
    for place in columns:
        pivot = next((i for i in range(place, size) if rows[i][place]), None)
        if pivot is None:
            raise EstimateError("this matrix gives the same reports for different true states")
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for other in columns:
            factor = rows[other][place]
            if other != place and factor:
                rows[other] = [
                    value - factor * own
                    for value, own in zip(rows[other], rows[place], strict=True)
                ]
    return tuple(tuple(rows[s][size + r] for s in columns) for r in range(len(chances)))
