"""Where a report is in a database: what the server writes and a researcher's tools read.

``surveys``
    One row for each published survey: ``digest`` (text), ``name`` (text), ``version`` (1, 2, … for
    each name, in the order of publication) and ``json`` (the canonical bytes).

``reports_<name>_<version>``
    One row for each report of that version; hyphens of the name are written as underscores.
    ``id`` is the report's random id as an integer, and the key. ``arm`` (text) is there only if
    the survey has arms. Every item (a question, or one box ``question.1`` of a ``multiple``) is a
    column of its own name: the drawn option's index where the channel's subset is 1, else a bitmap;
    NULL where the device did not draw this item to be sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .bitmap import from_bitmap, to_bitmap
from .channel import Channel

STEPS: Final = ("m001_surveys", "m002_life", "m003_spent_and_results")
"""All changes that were ever made to a database's tables. Each database names those it has had."""


def too_new(applied: Iterable[str]) -> str | None:
    """Say why a database cannot be read, if it has had changes that are not known here.

    >>> too_new(["m001_surveys"]) is None
    True
    >>> too_new(["m001_surveys", "m999_later"])
    'was written by a newer version of deniable (it has m999_later); update deniable to open it'
    """
    newer = ", ".join(sorted(set(applied) - set(STEPS)))
    if not newer:
        return None
    return (
        f"was written by a newer version of deniable (it has {newer}); update deniable to open it"
    )


def report_table(name: str, version: int) -> str:
    """Name the table of one survey version's reports.

    Survey names hold no underscore, so two versions never share a table.

    >>> report_table("canteen-2026", 1)
    'reports_canteen_2026_1'
    """
    return f"reports_{name.replace('-', '_')}_{version}"


def encode(channel: Channel, subset: tuple[int, ...]) -> int | bytes:
    """Write one answer of a report as its column holds it."""
    return subset[0] if channel.subset == 1 else to_bitmap(subset, channel.options)


def decode(channel: Channel, stored: int | bytes) -> tuple[int, ...]:
    """Read one answer of a report from its column.

    >>> from fractions import Fraction
    >>> wide = Channel(options=10, subset=3, odds=Fraction(2))
    >>> decode(wide, encode(wide, (0, 3, 9)))
    (0, 3, 9)
    """
    return from_bitmap(stored) if isinstance(stored, bytes) else (stored,)
