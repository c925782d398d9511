"""Read reports from where they are: a server's database, files, arrays, or plain counts."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from numpy.typing import ArrayLike

from deniable_protocol import EstimateError, Report, ReportError, Survey

from .counted import read_counts, read_parquet, reports_of_counts
from .database import is_postgres, is_sqlite, read_postgres, read_sqlite
from .reports import Reports

_NOT_ITEMS: Final = ("id", "arm")

Source = str | os.PathLike[str] | Mapping[str, ArrayLike] | Iterable[Report]


def read_reports(
    source: Source | None = None,
    survey: Survey | str | None = None,
    *,
    rows: bool = False,
    counts: Iterable[Sequence[Any]] | None = None,
) -> Reports:
    """Read the noisy reports to one survey.

    Nothing else can be read: no part of deniable keeps anything but reports. Reports to different
    versions of a survey are never put together, because a change of words or of noise makes it
    another survey; ``Reports.note`` says where a database holds other versions.

    Args:
        source: One of: the SQLite file of a server, or a ``postgresql://`` address; a file of JSON
            lines, one report on each; a ``.parquet`` file of ``deniable export`` (of any
            size: it is only counted); a ``.csv`` file of counts, or as ``export.reports_to_csv``
            writes it; a mapping of item names to counts of reports that hold each option (or, with
            *rows*, to one row of drawn option indices for each respondent); or reports.
        survey: The survey. For a database, its name (the newest version is read), ``name@2`` for
            its second version, or its digest will do, and nothing where it holds only one name.
        counts: Instead of a source: rows of item, option index and number of reports, as the
            statement of ``deniable counts NAME --sql`` gives them, from whatever engine.
        rows: Whether a mapping holds rows for respondents and not counts.

    Raises:
        EstimateError: If the source cannot be read, or does not fit the survey.

    >>> survey = Survey.load({"name": "demo", "title": "Demo", "privacy": {"epsilon": 1},
    ...     "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}]})
    >>> read_reports({"smokes": [70, 130]}, survey)
    <Reports of 'demo': 200 respondents>
    >>> read_reports({"smokes": [0, 1, 1]}, survey, rows=True)["smokes"].counts.tolist()
    [1, 2]
    """
    if source is None or counts is not None:
        return _counted(source, counts, survey)
    if isinstance(source, str) and is_postgres(source):
        return read_postgres(source, survey)
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source), survey)
    if not isinstance(survey, Survey):
        raise EstimateError("counts and reports need the survey itself, not its name")
    if isinstance(source, Mapping):
        gather = Reports.of_subsets if rows else Reports.of_counts
        return gather(survey, source)
    return Reports.of_reports(survey, source)


def _counted(
    source: Source | None, counts: Iterable[Sequence[Any]] | None, survey: Survey | str | None
) -> Reports:
    if source is not None or counts is None:
        raise EstimateError("expected a source of reports, or counts, and not both")
    if not isinstance(survey, Survey):
        raise EstimateError("counts need the survey itself, not its name")
    return reports_of_counts(survey, counts)


def _read_file(path: Path, survey: Survey | str | None) -> Reports:
    try:
        if is_sqlite(path):
            return read_sqlite(path, survey)
        if not isinstance(survey, Survey):
            raise EstimateError(f"{path.name} is not a SQLite database, so it needs the survey")
        if path.suffix.lower() == ".parquet":
            return read_parquet(path, survey)
        if path.suffix.lower() == ".csv" and _holds_counts(path):
            return read_counts(path, survey)
        reader = _csv_reports if path.suffix.lower() == ".csv" else _json_reports
        return Reports.of_reports(survey, reader(path, survey))
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise EstimateError(f"cannot read {path}: {reason}") from None
    except UnicodeDecodeError:
        raise EstimateError(f"cannot read {path}: it is not UTF-8 text") from None


def _holds_counts(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline(100).removeprefix(b"\xef\xbb\xbf").startswith(b"item,option_index")


def _json_reports(path: Path, survey: Survey) -> Iterator[Report]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _parsed(line.strip(), survey, f"{path.name}, line {number}")


def _csv_reports(path: Path, survey: Survey) -> Iterator[Report]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        for row in (reader := csv.DictReader(lines)):
            # A cell that is missing is not one that is empty: the line is broken.
            answers = {
                name: _indices(cell)
                for name, cell in row.items()
                if name not in _NOT_ITEMS and cell != ""
            }
            found = {"survey": survey.digest, "id": row.get("id"), "answers": answers}
            arm = {"arm": row["arm"]} if "arm" in row else {}
            yield _parsed(found | arm, survey, f"{path.name}, line {reader.line_num}")


def _indices(cell: str | None) -> list[int] | None:
    parts = (cell or "").split()
    return (
        [int(part) for part in parts] if all(p.isascii() and p.isdigit() for p in parts) else None
    )


def _parsed(source: bytes | Mapping[str, Any], survey: Survey, place: str) -> Report:
    try:
        return Report.parse(source, survey, stored=True)
    except ReportError as error:
        raise EstimateError(f"{place}: {error}") from None
