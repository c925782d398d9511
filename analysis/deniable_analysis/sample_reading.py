"""Read a sample's weights from a file, and put them to the reports they belong to."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from deniable_protocol import EstimateError

from .reports import Reports
from .sample_design import SampleDesign
from .weights import poststratify

_BY_ID: Final = ({"id", "weight"}, {"stratum", "cluster"})
_BY_ARM: Final = ({"arm", "people"}, set[str]())


def read_sample(source: str | os.PathLike[str], reports: Reports) -> SampleDesign:
    """Read weights from a CSV file, one line for each report or one for each arm.

    Privacy:
        A weight must come from what is known of a respondent anyway, such as region or age class.
        One that depends on the true answer would tell it.

    Args:
        source: A file with the columns ``id`` and ``weight``, and perhaps ``stratum`` and
            ``cluster``: the id is that of the report, as its receipt shows it. Or with the columns
            ``arm`` and ``people``, how many each collection arm stands for in the population;
            respondents of an arm then share a weight, and arms are post-strata.
        reports: The reports.

    Raises:
        EstimateError: If the file cannot be read, has other columns, or leaves out a report or arm.
    """
    path = Path(source)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            columns, rows = list(reader.fieldnames or ()), list(reader)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise EstimateError(f"cannot read {path}: {reason}") from None
    for needed, allowed in (_BY_ID, _BY_ARM):
        if needed <= set(columns) <= needed | allowed:
            read = _by_id if needed is _BY_ID[0] else _by_arm
            return read(path.name, rows, reports)
    raise EstimateError(
        f"{path.name} needs the columns id and weight (and perhaps stratum, cluster), or arm and "
        f"people; it has {', '.join(columns) or 'none'}"
    )


def _by_id(name: str, rows: Sequence[Mapping[str, str]], reports: Reports) -> SampleDesign:
    if reports.ids is None:
        raise EstimateError("weights by id need reports with their ids, got only counts or rows")
    place = {row["id"]: row for row in rows}
    if len(place) < len(rows):
        raise EstimateError(f"{name} has an id twice")
    ids = [f"{key:016x}" for key in reports.ids.tolist()]
    missing = sum(key not in place for key in ids)
    if missing:
        raise EstimateError(f"{name} has no weight for {missing:,} of {len(ids):,} reports")
    found = [place[key] for key in ids]
    return SampleDesign.of(
        len(found),
        [_number(name, "weight", row["weight"]) for row in found],
        strata=_texts(found, "stratum"),
        clusters=_texts(found, "cluster"),
    )


def _texts(rows: Sequence[Mapping[str, str]], column: str) -> list[str] | None:
    return [row[column] for row in rows] if rows and column in rows[0] else None


def _by_arm(name: str, rows: Sequence[Mapping[str, str]], reports: Reports) -> SampleDesign:
    if reports.arms is None:
        raise EstimateError("weights by arm need reports with their arms")
    people: dict[object, float] = {
        row["arm"]: _number(name, "people", row["people"]) for row in rows
    }
    arms = np.array(reports.survey.arms)[reports.arms]
    return poststratify(SampleDesign.of(reports.n), arms, people)


def _number(name: str, column: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise EstimateError(f"{name}: every {column} must be a number above 0")
    return value
