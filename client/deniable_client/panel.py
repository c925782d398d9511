"""Permanent randomization for panels: the same answer sends the same report in every wave.

With fresh noise in each wave, someone who sees all reports could average it away. So a device
draws, once for each item, one report for *every* option it could ever be asked to report, and keeps
that table. It never stores which entry is the true one, and a wave costs nothing that an earlier
wave has not already revealed.

Privacy:
    While an answer stays the same, all waves together reveal what one report does: the item's odds.
    An answer that changes is drawn from another, independent entry of the table, which costs the
    odds once more, and the change itself may be seen from the reports (as in every memoizing
    scheme [EPK14, Section 3.2]). Between any two histories with the same pattern of changes,
    ``spent`` bounds the odds: one factor for each different report sent. That is exact because a
    panel's reports hold one option each: of several answers that happened to send the same report,
    at most one is the option in it, and only that one is likelier than the rest. A device that
    stopped only when an answer changes would tell everyone that it has, so ``at_most`` decides
    whether a wave is answered before the answer is looked at.

    The table is for this device alone. Whoever reads it and knows what was sent, which the same
    file tells, has the answer wherever no two options have the same report.

References:
    [EPK14] U. Erlingsson, V. Pihur and A. Korolova, RAPPOR, ACM CCS 2014.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from deniable_protocol import Channel, Item, Question, Survey
from deniable_protocol.canonical import canonical, digest

from .entropy import Read
from .randomizer import Noise, apply_noise, draw_noise

Subset = tuple[int, ...]

SCHEMA = """
CREATE TABLE IF NOT EXISTS permanent (
    item     TEXT PRIMARY KEY,  -- survey name, item name, and what its options and noise are
    a        TEXT NOT NULL,     -- exact odds a:b of one report
    b        TEXT NOT NULL,
    rounding INTEGER NOT NULL,  -- the draw that rounds a number; 0 for other kinds
    reports  TEXT NOT NULL,     -- one report for each option; which one is true is not stored
    sent     TEXT NOT NULL      -- the different reports sent so far
) STRICT
"""


@dataclass(frozen=True)
class Permanent:
    """The permanent table of one item.

    Attributes:
        key: The item, named so that a changed question is another item.
        odds: Exact odds of one report.
        rounding: The permanent draw that rounds a ``number``.
        reports: One report for each option.
        sent: The different reports sent so far.
    """

    key: str
    odds: Fraction
    rounding: int
    reports: tuple[Subset, ...]
    sent: frozenset[Subset]

    @property
    def spent(self) -> Fraction:
        """What the reports sent so far reveal."""
        return self.odds ** len(self.sent)

    def send(self, report: Subset) -> Permanent:
        """Count a report as sent."""
        return replace(self, sent=self.sent | {report})


def tables(
    db: sqlite3.Connection, survey: Survey, noise: Noise, read: Read
) -> dict[str, Permanent]:
    """Find the permanent table of every item, drawing those that are not there yet."""
    return {
        item.name: _find(db, key) or _draw(key, item.channel, _rounding(noise, item), read)
        for item, key in _keys(survey)
    }


def store(db: sqlite3.Connection, found: Mapping[str, Permanent]) -> None:
    """Keep the tables for later waves."""
    db.executemany(
        "INSERT OR REPLACE INTO permanent VALUES (?, ?, ?, ?, ?, ?)",
        [
            (t.key, str(t.odds.numerator), str(t.odds.denominator), t.rounding,
             json.dumps(t.reports), json.dumps(sorted(t.sent)))
            for t in found.values()
        ],
    )  # fmt: skip


def spent(db: sqlite3.Connection) -> Fraction:
    """Multiply what every permanent table has revealed."""
    rows = db.execute("SELECT a, b, sent FROM permanent")
    return math.prod(
        (Fraction(int(a), int(b)) ** len(json.loads(sent)) for a, b, sent in rows),
        start=Fraction(1),
    )


def at_most(db: sqlite3.Connection, survey: Survey) -> Fraction:
    """Bound what one more wave could newly reveal, whatever is answered.

    Nothing but the number of different reports sent so far is looked at, which every receiver
    knows: how many the table has left depends on which of its entries is the true one.
    """
    found = Fraction(1)
    for item, key in _keys(survey):
        channel = item.channel
        row = db.execute("SELECT sent FROM permanent WHERE item = ?", (key,))
        sent = len(json.loads((row.fetchone() or ("[]",))[0]))
        if sent < min(channel.options, math.comb(channel.options, channel.subset)):
            found *= channel.odds
    return min(found, survey.odds)  # fewer are sent where items are sampled


def _keys(survey: Survey) -> Iterator[tuple[Item, str]]:
    """Name every item so that other options, another range or other noise is another item.

    A translation is not: who reads another language is asked the same.
    """
    for question in survey.questions:
        what = digest(canonical(_what(question)))
        for item in question.items:
            yield item, f"{survey.name}/{item.name}/{what}"


def _what(question: Question) -> list[object]:
    channel, grid = question.channel, question.grid
    return [
        [str(option) for option in question.options],
        grid and [str(grid.low), str(grid.high), str(grid.step), grid.unit and str(grid.unit)],
        list(question.extras),
        [channel.options, channel.subset, channel.a, channel.b],
    ]


def _rounding(noise: Noise, item: Item) -> int:
    return noise.rounding.get(item.name, 0)


def _draw(key: str, channel: Channel, rounding: int, read: Read) -> Permanent:
    reports = tuple(
        apply_noise(channel, draw_noise(channel, read), option) for option in range(channel.options)
    )
    return Permanent(key, channel.odds, rounding, reports, frozenset())


def _find(db: sqlite3.Connection, key: str) -> Permanent | None:
    row = db.execute(
        "SELECT a, b, rounding, reports, sent FROM permanent WHERE item = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    a, b, rounding, reports, sent = row
    return Permanent(
        key,
        Fraction(int(a), int(b)),
        rounding,
        tuple(tuple(report) for report in json.loads(reports)),
        frozenset(tuple(report) for report in json.loads(sent)),
    )
