"""Read reports from where they are: a server's database, files, or plain counts."""

from __future__ import annotations

import csv
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike

from deniable_protocol import EstimateError, Question, Report, ReportError, Survey
from deniable_protocol.layout import report_table

from .bits import Bits
from .reports import Reports, Tally, checked

_SQLITE_HEADER: Final = b"SQLite format 3\x00"

Source = str | os.PathLike[str] | Mapping[str, ArrayLike] | Iterable[Report]


def read_reports(source: Source, survey: Survey | str | None = None) -> Reports:
    """Read the noisy reports to one survey.

    Nothing else can be read: no part of deniable keeps anything but reports.

    Args:
        source: One of: the SQLite file of a server; a file of JSON lines, one report on each; a
            ``.csv`` file as ``export.reports_to_csv`` writes it; a mapping of question names to
            counts of reports that hold each option; or reports.
        survey: The survey. For a database, its name (the newest version is read) or digest will
            do, and nothing where the database holds only one.

    Raises:
        EstimateError: If the source cannot be read, or does not fit the survey.

    >>> survey = Survey.load({"name": "demo", "title": "Demo", "privacy": {"epsilon": 1},
    ...     "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}]})
    >>> read_reports({"smokes": [70, 130]}, survey)
    <Reports of 'demo': 200 respondents>
    """
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source), survey)
    if not isinstance(survey, Survey):
        raise EstimateError("counts and reports need the survey itself, not its name")
    if isinstance(source, Mapping):
        return Reports.of_counts(survey, source)
    return Reports.of_reports(survey, source)


def _read_file(path: Path, survey: Survey | str | None) -> Reports:
    try:
        with path.open("rb") as file:
            database = file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
        if database:
            return _read_database(path, survey)
        if not isinstance(survey, Survey):
            raise EstimateError(f"{path.name} is not a SQLite database, so it needs the survey")
        reader = _csv_reports if path.suffix.lower() == ".csv" else _json_reports
        return Reports.of_reports(survey, reader(path, survey))
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise EstimateError(f"cannot read {path}: {reason}") from None
    except sqlite3.Error as error:
        raise EstimateError(f"cannot read {path}: {error}") from None


def _json_reports(path: Path, survey: Survey) -> Iterator[Report]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _parsed(line.strip(), survey, f"{path.name}, line {number}")


def _csv_reports(path: Path, survey: Survey) -> Iterator[Report]:
    with path.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines), start=2):
            answers = {name: _indices(cell) for name, cell in row.items() if name != "id"}
            found = {"survey": survey.digest, "id": row.get("id"), "answers": answers}
            yield _parsed(found, survey, f"{path.name}, line {number}")


def _indices(cell: str | None) -> list[int] | None:
    parts = (cell or "").split()
    return (
        [int(part) for part in parts] if all(p.isascii() and p.isdigit() for p in parts) else None
    )


def _parsed(source: bytes | Mapping[str, Any], survey: Survey, place: str) -> Report:
    try:
        return Report.parse(source, survey)
    except ReportError as error:
        raise EstimateError(f"{place}: {error}") from None


def _read_database(path: Path, wanted: Survey | str | None) -> Reports:
    # Read-only, and one transaction: what a running server adds meanwhile is not half seen.
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        survey, table = _published(connection, wanted)
        tallies = {
            question.name: Tally.of_bits(question, _column(connection, table, question))
            for question in survey.questions
        }
    return Reports(survey, MappingProxyType(tallies))


def _published(connection: sqlite3.Connection, wanted: Survey | str | None) -> tuple[Survey, str]:
    rows = connection.execute("SELECT digest, name, version, json FROM surveys").fetchall()
    key = wanted.digest if isinstance(wanted, Survey) else wanted
    found = [row for row in rows if key is None or key in row[:2]]
    names = sorted({row[1] for row in rows})
    if len({row[1] for row in found}) != 1:
        asked = f"no survey {key!r}" if key else f"{len(names)} surveys, so name one"
        raise EstimateError(f"the database holds {asked}; it has {', '.join(names) or 'none'}")
    _, name, version, data = max(found, key=lambda row: row[2])
    return Survey.from_json(data), report_table(name, version)


def _column(connection: sqlite3.Connection, table: str, question: Question) -> Bits:
    # Names come from a validated survey, and the order of the key is the same for every question.
    query = f'SELECT "{question.name}" FROM "{table}" ORDER BY id'  # noqa: S608
    values = [value for (value,) in connection.execute(query)]
    channel = question.channel
    width = (channel.options + 7) // 8
    if channel.subset > 1:
        blank = bytes(width)
        stored = b"".join(blank if value is None else value for value in values)
        bits = np.frombuffer(stored, dtype=np.uint8).reshape(len(values), width)
        return checked(question.name, channel, bits)
    asked = np.array([value is not None for value in values], dtype=np.bool_)
    indices = np.array([value or 0 for value in values], dtype=np.int64)
    bits = np.zeros((len(values), width), dtype=np.uint8)
    bits[asked, indices[asked] // 8] = 1 << (indices[asked] % 8)
    return checked(question.name, channel, cast(Bits, bits))
