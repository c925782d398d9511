"""A survey version's noisy reports as a file for other programs: JSON lines, CSV or Parquet.

The order is that of the ids, which are random. Reports of two versions are never put together.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from deniable_protocol import StoreError

from .contract import Store
from .private_files import create_private
from .published import Published

_AT_ONCE: Final = 20_000


def write_json_lines(store: Store, published: Published, file: BinaryIO) -> int:
    """Write each report as its device sent it, one on a line; ``deniable import`` reads them.

    Returns:
        The number of reports.
    """
    count = 0
    for reports in store.reports(published):
        file.write(b"".join(report.to_json() + b"\n" for report in reports))
        count += len(reports)
    return count


def write_csv(store: Store, published: Published, file: BinaryIO) -> int:
    """Write a table: id, arm where there are arms, and for each item the drawn option indices.

    Indices are separated by spaces, and there are none where an item was not sent. No cell can be
    taken for a formula: ids are digits and letters, arms begin with one, items hold digits.

    Returns:
        The number of reports.
    """
    count = 0
    with _as_text(file) as write_row:
        write_row(published.column_names)
        for reports in store.reports(published):
            for report in reports:
                arm = (report.arm,) if report.arm is not None else ()
                subsets = (report.answers.get(item.name, ()) for item in published.items)
                write_row((report.id, *arm, *(" ".join(map(str, each)) for each in subsets)))
            count += len(reports)
    return count


def write_parquet(store: Store, published: Published, file: BinaryIO) -> int:
    """Write the table of the database as it is: id, arm, and an integer or a bitmap for each item.

    ``deniable_protocol.layout`` says how to read it. The survey's name, version and digest are in
    the file's own notes.

    Returns:
        The number of reports.

    Raises:
        StoreError: If pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise StoreError("Parquet needs pyarrow: pip install 'deniable[parquet]'") from None
    survey = published.survey
    columns: list[tuple[str, Any]] = [("id", pyarrow.int64())]
    columns += [("arm", pyarrow.string())] if survey.arms else []
    columns += [
        (item.name, pyarrow.int32() if item.channel.subset == 1 else pyarrow.binary())
        for item in published.items
    ]
    notes = {"survey": survey.name, "version": str(published.version), "digest": survey.digest}
    schema = pyarrow.schema(columns, metadata=notes)
    count = 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in store.rows(published, chunk=_AT_ONCE):
            cells = zip(*rows, strict=True)
            arrays = [
                pyarrow.array(column, kind)
                for column, (_, kind) in zip(cells, columns, strict=True)
            ]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
            count += len(rows)
    return count


Write = Callable[[Store, Published, BinaryIO], int]

FORMATS: Final[dict[str, Write]] = {
    "jsonl": write_json_lines,
    "csv": write_csv,
    "parquet": write_parquet,
}


def export(store: Store, published: Published, path: Path, write: Write) -> int:
    """Write a survey version's reports, as of one moment, to a file that is complete or not there.

    It can be read by its owner alone; who else may is theirs to say.

    Returns:
        The number of reports.

    Raises:
        StoreError: If the file cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)  # one that a crash left may have another mode
        create_private(part)
        with part.open("wb") as file, store.frozen():
            count = write(store, published, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return count


@contextmanager
def _as_text(file: BinaryIO) -> Iterator[Callable[[Any], Any]]:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        yield csv.writer(text, lineterminator="\n").writerow
    finally:
        text.flush()
        text.detach()
