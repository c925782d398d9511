"""One variable whose true values nobody saw: what each report says about them.

Regression and tables see nothing of a channel or of a paper-and-dice design but this: for each
different report its likelihood under every true state, and its de-biased scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import EstimateError

from .bits import unpack
from .design import DIRECT, Design
from .paper_matrix import MatrixDesign
from .tally import Tally

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Law: TypeAlias = Design | MatrixDesign | ArrayLike
"""A binary design, or a matrix: the chance of report r (row) for true state s (column)."""

_MOST_REPORTS: Final = 2_000
"""Different reports up to which the whole law of a wide channel is kept."""


@dataclass(frozen=True, eq=False)
class Reported:
    """Describe one variable that is known through noisy reports only.

    ``Reported.of`` makes one from values and a design, ``Reported.of_tally`` from the reports to a
    survey. Rows may have different designs, and a row may have no report at all: it then says
    nothing, which is right where a device drew by itself which questions to send.

    Attributes:
        states: What the true value can be, in words. Models take the first as their reference.
        codes: For each row the place of its report among the different reports, int64.
        likelihoods: Chance of each different report under every state, shape (reports, states).
        scores: De-biased indicators z of each different report: unbiased for the one-hot true
            state. NaN for no report. Same shape.
        laws: Each different law, shape (its reports, states); columns add up to 1.
        law_of: For each different report the place of its law, −1 where the law is too long to
            list.
        values: A number for each state, where states are numbers (a scale); None otherwise.
    """

    states: tuple[str, ...]
    codes: Codes
    likelihoods: Floats
    scores: Floats
    laws: tuple[Floats, ...]
    law_of: Codes
    values: Floats | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def sent(self) -> NDArray[np.bool_]:
        """Whether there is a report, for each row."""
        found: NDArray[np.bool_] = ~np.isnan(self.scores[self.codes, 0])
        return found

    def __repr__(self) -> str:
        return f"<Reported: {self.n:,} rows, {len(self.states)} states>"

    def only(self, kept: NDArray[np.bool_] | Codes) -> Reported:
        """Keep some of the rows."""
        return Reported(
            self.states, self.codes[kept], self.likelihoods, self.scores, self.laws, self.law_of,
            self.values,
        )  # fmt: skip

    @classmethod
    def of(
        cls,
        reports: ArrayLike,
        design: Law | Sequence[Law] = DIRECT,
        *,
        states: Sequence[str] | None = None,
        values: ArrayLike | None = None,
    ) -> Reported:
        """Take reports that were coded 0, 1, … with the design that made them.

        Args:
            reports: One code for each row: 0 and 1 (or False and True), or 0 to R − 1 for a matrix
                of R rows. NaN or −1 is no report.
            design: A ``Design`` (P(report 1) = slope · P(true 1) + offset), a ``MatrixDesign`` or a
                matrix of chances with a row for each report and a column for each true state, or
                one of these for each row. Left out: no noise, as where a question was asked
                directly.
            states: Names of the true states, by default "0", "1", …
            values: A number for each state, where states stand for numbers.

        Raises:
            EstimateError: If a code has no place in its design, or a matrix is not one of chances.

        >>> Reported.of([0, 1, 1], Design(slope=Fraction(1, 2), offset=Fraction(1, 4)))
        <Reported: 3 rows, 2 states>
        """
        codes = _codes(reports)
        known, law_rows = _laws(design, len(codes))
        laws = [_matrix(law) for law in known]
        options = laws[0].shape[1]
        if any(law.shape[1] != options for law in laws):
            raise EstimateError("every design needs the same true states")
        if states is None and isinstance(known[0], MatrixDesign):
            states = known[0].states
        sizes = np.array([len(law) for law in laws])
        if np.any(codes >= sizes[law_rows]):
            raise EstimateError(
                f"reports must be coded 0 to {sizes.min() - 1}, and some are coded higher: recode "
                "them, for instance values == 'yes' for a yes"
            )
        starts = np.concatenate([[0], np.cumsum(sizes)])
        none = codes < 0
        places = np.where(none, starts[-1], starts[law_rows] + codes)
        nothing = np.ones((1, options))
        return cls(
            states=_names(states, options),
            codes=places,
            likelihoods=np.vstack([*laws, nothing]),
            scores=np.vstack([*(_debiased(law) for law in known), nothing * np.nan]),
            laws=(*laws, nothing),
            law_of=np.append(np.repeat(np.arange(len(laws)), sizes), len(laws)),
            values=_numbers(values, options),
        )

    @classmethod
    def of_tally(cls, tally: Tally) -> Reported:
        """Take the reports to one item of a survey.

        A yes-no question has the states no and yes, in this order, so that models are of the yes;
        every other kind keeps its order of options. The scores of a scale and the points of a
        number are the values of their states, unless "no answer" or "not asked" is one of them.

        Raises:
            EstimateError: If only counts are known.
        """
        channel, options = tally.channel, tally.channel.options
        keys = np.ascontiguousarray(tally.rows).view(f"V{tally.rows.shape[1]}").ravel()
        different, codes = np.unique(keys, return_inverse=True)
        held = unpack(different.view(np.uint8).reshape(len(different), -1), options)
        asked = np.asarray(held.any(axis=1))
        within = comb(options - 1, channel.subset - 1)
        total = channel.a * within + channel.b * (comb(options, channel.subset) - within)
        inside, outside = float(Fraction(channel.a, total)), float(Fraction(channel.b, total))
        likelihoods = np.where(held, inside, outside)
        likelihoods[~asked] = 1.0
        scores = np.asarray(
            (held - float(tally.design.offset)) / float(tally.design.slope), dtype=np.float64
        )
        scores[~asked] = np.nan
        laws, law_of = _listed(tally, asked)
        order = np.arange(options)
        if tally.question.kind in ("yes-no", "multiple"):
            order[:2] = 1, 0
        return cls(
            states=tuple(tally.item.labels[place] for place in order),
            codes=codes.astype(np.int64),
            likelihoods=likelihoods[:, order],
            scores=scores[:, order],
            laws=tuple(law[:, order] for law in laws),
            law_of=law_of,
            values=_question_values(tally),
        )


def _codes(reports: ArrayLike) -> Codes:
    found = np.asarray(reports)
    if found.dtype.kind == "O":  # pandas gives objects for booleans with gaps
        found = np.array([np.nan if v is None or _is_nan(v) else v for v in found], dtype=object)
        try:
            found = found.astype(np.float64)
        except (TypeError, ValueError):
            found = np.asarray(reports, dtype=str)
    if found.ndim != 1 or found.dtype.kind not in "biuf":
        raise EstimateError(
            f"expected one code for each row, such as 0 and 1, got {found.dtype} "
            f"of shape {found.shape}"
        )
    numbers = found.astype(np.float64)
    numbers[np.isnan(numbers)] = -1
    if np.any(numbers != np.floor(numbers)) or np.any(numbers < -1):
        raise EstimateError("reports must be coded by whole numbers from 0")
    return numbers.astype(np.int64)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and np.isnan(value)


def _laws(design: Law | Sequence[Law], rows: int) -> tuple[list[Law], Codes]:
    """Give the different laws in an order of their own, and the place of each row's law."""
    one = isinstance(design, Design | MatrixDesign)
    many: list[Law] = [] if one else list(design)  # type: ignore[arg-type]  # not a scalar
    if not many or not (isinstance(many[0], Design | MatrixDesign) or np.ndim(many[0]) == 2):
        return [design], np.zeros(rows, dtype=np.int64)  # type: ignore[list-item]  # one
    if len(many) != rows:
        raise EstimateError(f"expected a design for each of {rows} rows, got {len(many)}")
    made: dict[object, Law] = {}
    keys: list[object] = []
    for law in many:
        named = isinstance(law, Design | MatrixDesign)
        key: object = law if named else np.asarray(law, float).tobytes()
        made.setdefault(key, law)
        keys.append(key)
    order = {key: (np.shape(m := _matrix(law)), m.ravel().tolist()) for key, law in made.items()}
    ordered = sorted(made, key=lambda key: order[key])
    places = {key: place for place, key in enumerate(ordered)}
    return [made[key] for key in ordered], np.array([places[key] for key in keys], dtype=np.int64)


def _matrix(law: Law) -> Floats:
    if isinstance(law, Design):
        least, most = float(law.offset), float(law.offset + law.slope)
        return np.array([[1 - least, 1 - most], [least, most]])
    if isinstance(law, MatrixDesign):
        return np.array([[float(value) for value in row] for row in law.chances])
    found = np.asarray(law, dtype=np.float64)
    if found.ndim != 2 or np.any(found < 0) or not np.allclose(found.sum(axis=0), 1, atol=1e-9):
        raise EstimateError(
            "expected a Design, or a matrix whose columns hold the chances of every report for one "
            f"true state and add up to 1, got shape {found.shape}"
        )
    if np.linalg.matrix_rank(found) < found.shape[1]:
        raise EstimateError("this matrix gives the same reports for different true states")
    return found


def _debiased(law: Law) -> Floats:
    """Scores of every report, whose expectation is the one-hot true state."""
    if isinstance(law, Design):
        yes = [float(law.share(Fraction(report))) for report in (0, 1)]
        return np.array([[1 - z, z] for z in yes])
    if isinstance(law, MatrixDesign):
        return np.array([[float(value) for value in row] for row in law.scores])
    # The inverse, or that of least squares where there are more reports than states.
    return np.asarray(np.linalg.pinv(_matrix(law)).T, dtype=np.float64)


def _listed(tally: Tally, asked: NDArray[np.bool_]) -> tuple[list[Floats], Codes]:
    channel = tally.channel
    options = channel.options
    nothing = np.ones((1, options))
    if comb(options, channel.subset) > _MOST_REPORTS:
        return [nothing], np.where(asked, -1, 0)
    rows = [channel.law(state) for state in range(options)]
    law = np.array([[float(row[report]) for row in rows] for report in rows[0]])
    return [law, nothing], np.where(asked, 0, 1)


def _question_values(tally: Tally) -> Floats | None:
    question = tally.question
    if question.extras:
        return None
    if question.grid is not None:
        return np.array([float(point) for point in question.grid.points(question.points)])
    return np.array([float(score) for score in question.scores]) if question.scores else None


def _names(states: Sequence[str] | None, options: int) -> tuple[str, ...]:
    found = tuple(map(str, range(options))) if states is None else tuple(states)
    if len(found) != options or len(set(found)) != options:
        raise EstimateError(f"expected {options} different names of states, got {len(found)}")
    return found


def _numbers(values: ArrayLike | None, options: int) -> Floats | None:
    if values is None:
        return None
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (options,) or not np.all(np.isfinite(found)):
        raise EstimateError(f"expected a number for each of {options} states")
    return found
