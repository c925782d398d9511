"""Read paper-and-dice data: a column of reports, and which design each respondent had."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable_protocol import EstimateError

from .design import Design
from .intervals import Method
from .paper_estimate import PaperDesign, PaperEstimate, estimate_paper
from .reported import Reported

Codes = NDArray[np.int64]

_MISSING: Final = frozenset(["", "na", "nan", "none", "null", "."])
_NO_YES: Final = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}


@dataclass(frozen=True, eq=False)
class PaperAnswers:
    """Hold one report of each respondent, with the design that made it.

    Attributes:
        designs: The different designs.
        codes: For each respondent the place of the report in the design's order; −1 for none.
        places: For each respondent the place of the design in ``designs``.
        columns: Every other column that came along, in the same order of respondents: for groups,
            weights and regression.
    """

    designs: tuple[PaperDesign, ...]
    codes: Codes
    places: Codes
    columns: Mapping[str, NDArray[Any]]

    @property
    def n(self) -> int:
        """Number of reports, without respondents who gave none."""
        return int((self.codes >= 0).sum())

    def __repr__(self) -> str:
        return f"<PaperAnswers: {self.n:,} reports, designs: {len(self.designs)}>"

    @property
    def counts(self) -> tuple[Codes, ...]:
        """How often each report came under each design."""
        return tuple(
            np.bincount(
                self.codes[(self.places == place) & (self.codes >= 0)], minlength=_size(design)
            )
            for place, design in enumerate(self.designs)
        )

    @property
    def reported(self) -> Reported:
        """The reports as regression and cross-tables take them, each with its own design."""
        each = [self.designs[place] for place in self.places.tolist()]
        return Reported.of(self.codes, each)

    def estimate(self, *, level: float = 0.95, method: Method | None = None) -> PaperEstimate:
        """Estimate the true shares; see ``estimate_paper``."""
        single = len(self.designs) == 1
        counts, design = self.counts, self.designs
        return estimate_paper(
            counts[0] if single else list(counts),
            design[0] if single else list(design),
            level=level, method=method,
        )  # fmt: skip


def read_paper(
    source: str | os.PathLike[str] | Mapping[str, Any],
    answer: str,
    design: PaperDesign | Mapping[str, PaperDesign],
    *,
    by: str | None = None,
    codes: Mapping[str, int] | None = None,
) -> PaperAnswers:
    """Read reports that were collected with cards, dice or innocent questions.

    Args:
        source: A ``.csv`` file, a ``.parquet`` file (needs the extra ``parquet``), or columns by
            name: arrays, lists or a data frame.
        answer: Name of the column of reports. Empty cells and NA are no report.
        design: The design; or with *by* one for each value of that column, as where respondents
            got different dice, or some were asked directly.
        by: Name of the column that says which design a respondent had.
        codes: What each cell means: its place in the design's order of reports. Left out: 0, no,
            false and 1, yes, true for a ``Design``, the names of the reports for a matrix.

    Raises:
        EstimateError: If the file cannot be read, a column is missing, or a cell has no meaning.
            Cells are never repeated in a message: a direct question holds true answers.

    >>> from deniable_analysis.paper import direct_question, warner
    >>> found = read_paper({"said": ["yes", "no", "", 1], "way": ["card", "asked", "card", "card"]},
    ...     "said", {"card": warner("3/4"), "asked": direct_question()}, by="way")
    >>> found, [counts.tolist() for counts in found.counts]
    (<PaperAnswers: 3 reports, designs: 2>, [[0, 2], [1, 0]])
    """
    columns = _columns(source)
    if isinstance(design, Mapping) != (by is not None):
        raise EstimateError("give several designs by the name of each, together with by=column")
    named = design if isinstance(design, Mapping) else {"": design}
    cells = _texts(columns, answer)
    way = _texts(columns, by) if by is not None else [""] * len(cells)
    order = {name: place for place, name in enumerate(named)}
    meanings = [_meanings(each, codes) for each in named.values()]
    found, places = [], []
    for row, (cell, name) in enumerate(zip(cells, way, strict=True), start=1):
        if name not in order:
            raise EstimateError(
                f"column {by!r}, respondent {row}: expected one of the designs "
                f"{', '.join(map(repr, order))}"
            )
        place = order[name]
        places.append(place)
        key = cell if cell in meanings[place] else cell.casefold()
        if key in meanings[place]:
            found.append(meanings[place][key])
        elif cell.casefold() in _MISSING:
            found.append(-1)
        else:
            raise EstimateError(
                f"column {answer!r}, respondent {row}: expected one of "
                f"{', '.join(meanings[place])}, or nothing"
            )
    others = {
        name: np.asarray(column) for name, column in columns.items() if name not in (answer, by)
    }
    return PaperAnswers(
        tuple(named.values()), np.array(found, np.int64), np.array(places, np.int64), others
    )


def _columns(source: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(source, str | os.PathLike):
        try:
            names = list(source.keys())
        except AttributeError:
            raise EstimateError("expected a file, or columns by name") from None
        return {str(name): source[name] for name in names}
    path = Path(source)
    try:
        return _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise EstimateError(f"cannot read {path}: {reason}") from None


def _csv(path: Path) -> dict[str, list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.reader(lines))
    except (UnicodeDecodeError, csv.Error):
        raise EstimateError(f"{path.name}: expected a table in UTF-8, comma-separated") from None
    if not rows:
        raise EstimateError(f"{path.name} is empty")
    head = rows[0]
    for number, row in enumerate(rows[1:], start=2):
        if row and len(row) != len(head):
            raise EstimateError(
                f"{path.name}, line {number}: expected {len(head)} cells, got {len(row)}"
            )
    kept = [row for row in rows[1:] if row]
    return {name: [row[place] for row in kept] for place, name in enumerate(head)}


def _parquet(path: Path) -> dict[str, Any]:
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError:
        raise EstimateError(
            "reading .parquet needs pyarrow: pip install 'deniable[parquet]'"
        ) from None
    try:
        table = parquet.read_table(path)
    except ArrowException:
        raise EstimateError(f"{path.name} is not a Parquet file") from None
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _texts(columns: Mapping[str, Any], name: str) -> list[str]:
    if name not in columns:
        raise EstimateError(
            f"expected a column among {', '.join(map(repr, columns))}, got {name!r}"
        )
    column: Sequence[object] = list(columns[name])
    if len(column) != len(list(next(iter(columns.values())))):
        raise EstimateError("every column needs a cell for each respondent")
    return [_text(cell) for cell in column]


def _text(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def _meanings(design: PaperDesign, codes: Mapping[str, int] | None) -> Mapping[str, int]:
    size = _size(design)
    if codes is not None:
        if any(isinstance(code, bool) or code not in range(size) for code in codes.values()):
            raise EstimateError(f"codes must be whole numbers from 0 to {size - 1}")
        return {str(cell): code for cell, code in codes.items()}
    if isinstance(design, Design):
        return _NO_YES
    return {name: place for place, name in enumerate(design.reports)}


def _size(design: PaperDesign) -> int:
    return 2 if isinstance(design, Design) else len(design.reports)
