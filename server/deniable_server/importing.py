"""Reports from lines of text into a store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from deniable_protocol import DeniableError, ReportError, StoreError
from deniable_protocol.canonical import read_strict

from .contract import Store
from .problems import PROBLEMS
from .published import Entry, Outcome

_AT_ONCE: Final = 5000
_HELD: Final = (Outcome.STORED, Outcome.SAME)


@dataclass
class Imported:
    """What became of lines of reports. Each line is in one of the three numbers.

    Attributes:
        stored: How many reports are new here.
        same: How many were here already.
        refused: For each line that is not here, its number and why, in words.
    """

    stored: int = 0
    same: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


def import_lines(store: Store, lines: Iterable[bytes]) -> Imported:
    """Check and store reports, one JSON object on each line; empty lines are passed over."""
    done = Imported()
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    while chunk := list(islice(numbered, _AT_ONCE)):
        entries: list[tuple[int, Entry]] = []
        for number, line in chunk:
            try:
                entries.append((number, _entry(store, line.strip())))
            except DeniableError as error:
                done.refused.append((number, str(error)))
        outcomes = store.add([entry for _, entry in entries], although_closed=True)
        done.stored += outcomes.count(Outcome.STORED)
        done.same += outcomes.count(Outcome.SAME)
        done.refused += [
            (number, PROBLEMS[outcome.value].title)
            for (number, _), outcome in zip(entries, outcomes, strict=True)
            if outcome not in _HELD
        ]
    done.refused.sort()
    return done


def _entry(store: Store, line: bytes) -> Entry:
    try:
        found = read_strict(line)
    except ValueError:
        raise ReportError("not-json") from None
    digest = found.get("survey") if isinstance(found, dict) else None
    if not isinstance(digest, str):
        raise ReportError("shape")
    published = store.find(digest)
    if published is None:
        raise StoreError("its survey is not published here; publish it first")
    return published, published.parse(line, stored=True)
