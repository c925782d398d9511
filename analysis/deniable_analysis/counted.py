"""Counts that an engine made with ``deniable_protocol.counting``: its rows, a file, or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from deniable_protocol import EstimateError, Survey
from deniable_protocol.counting import COLUMNS, counting_query

from .reports import Reports

_MOST: Final = 2**53


def reports_of_counts(survey: Survey, rows: Iterable[Sequence[Any]]) -> Reports:
    """Gather the rows of the counting statement.

    Args:
        survey: The survey that the statement was written for.
        rows: Item, option index and number of reports. What no report holds may be missing.

    Raises:
        EstimateError: If a row does not fit the survey.
    """
    channels = {item.name: item.channel for item in survey.items}
    counts: dict[str, list[int]] = {name: [0] * c.options for name, c in channels.items()}
    for row in rows:
        try:
            item, option, reports = str(row[0]), int(row[1]), int(row[2])
        except (IndexError, TypeError, ValueError):
            raise EstimateError(f"expected rows of {', '.join(COLUMNS)}") from None
        if item not in counts or not 0 <= option < channels[item].options:
            raise EstimateError(f"survey '{survey.name}' has no option {option} of item {item!r}")
        if not 0 <= reports < _MOST:
            raise EstimateError(f"expected a number of reports, got {reports}")
        counts[item][option] += reports
    return Reports.of_counts(survey, counts)


def read_counts(path: Path, survey: Survey) -> Reports:
    """Read the counting statement's result from a CSV file with a header."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines)
        if tuple(next(reader, ())) != COLUMNS:
            raise EstimateError(f"{path.name}: expected the columns {', '.join(COLUMNS)}")
        return reports_of_counts(survey, reader)


def read_parquet(path: Path, survey: Survey) -> Reports:
    """Count the reports in a Parquet file, of any size, without holding them in memory.

    Raises:
        EstimateError: If DuckDB is not installed, the file cannot be read or is of another survey.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise EstimateError("Parquet files need DuckDB: pip install 'deniable[scale]'") from None
    file = str(path).replace("'", "''")
    try:
        with duckdb.connect() as engine:
            engine.execute("SET memory_limit = '1GB'")
            notes = f"SELECT key, value FROM parquet_kv_metadata('{file}')"  # noqa: S608  # quoted above
            found = {bytes(key): bytes(value) for key, value in engine.execute(notes).fetchall()}
            digest = found.get(b"digest", b"").decode("ascii", "replace")
            if digest != survey.digest:
                held = digest or "no survey that it names"
                raise EstimateError(f"{path.name}: expected reports to {survey.digest}, got {held}")
            query = counting_query(survey, f"read_parquet('{file}')", "duckdb")
            return reports_of_counts(survey, engine.execute(query).fetchall())
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise EstimateError(f"cannot read {path.name}: {reason}") from None
