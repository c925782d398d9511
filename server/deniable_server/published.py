"""A published survey as a store holds it: its version, its table, and reports as rows of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from deniable_protocol import Report, ReportError, Survey
from deniable_protocol.layout import decode, encode, report_table
from deniable_protocol.question import Item

Row = tuple[int | str | bytes | None, ...]


class Outcome(Enum):
    """What became of a report.

    Stored now, held already, refused for another with its id, refused because its survey takes no
    reports at the moment, because its survey was erased, or because its token was used before.
    """

    STORED = "stored"
    SAME = "same"
    CONFLICT = "conflict"
    CLOSED = "closed"
    ERASED = "erased"
    SPENT = "spent"


@dataclass(frozen=True)
class Published:
    """A survey as it was published here.

    Attributes:
        version: 1 for the first survey of this name, 2 for the next.
    """

    survey: Survey
    version: int

    @property
    def table(self) -> str:
        """The table that holds its reports."""
        return report_table(self.survey.name, self.version)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The survey's items, made once rather than for every report."""
        return self.survey.items

    @cached_property
    def column_types(self) -> dict[str, str]:
        """The columns of the table, in order, each with what PostgreSQL calls its type."""
        arm = {"arm": "text"} if self.survey.arms else {}
        drawn = {i.name: "integer" if i.channel.subset == 1 else "bytea" for i in self.items}
        return {"id": "bigint", **arm, **drawn}

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the table, in order."""
        return tuple(self.column_types)

    @cached_property
    def columns(self) -> str:
        """The columns of the table, in order, as a statement lists them."""
        return listed(self.column_names)

    def parse(self, source: bytes | Mapping[str, Any], *, stored: bool = False) -> Report:
        """Check a report that comes in: its shape, and the signature of its token.

        Args:
            source: What came in.
            stored: Whether an intake has taken it already: what is stored has no token.

        Raises:
            ReportError: If the survey cannot have produced it, or its issuer did not sign it.
        """
        report, key = Report.parse(source, self.survey, stored=stored), self.survey.invite_key
        if report.token and key and not report.token.fits(self.survey.name, key):
            raise ReportError("token")
        return report

    def row(self, report: Report) -> Row:
        """Give a report as the table holds it; None for what was not drawn."""
        arm = (report.arm,) if self.survey.arms else ()
        drawn = ((item.channel, report.answers.get(item.name)) for item in self.items)
        stored = (None if subset is None else encode(channel, subset) for channel, subset in drawn)
        return (report.key, *arm, *stored)

    def report(self, row: Sequence[int | str | bytes | None]) -> Report:
        """Read a row back, and check that the survey can have produced it.

        Raises:
            ReportError: If it cannot: another program wrote the row.
        """
        key, *rest = row
        assert isinstance(key, int)  # noqa: S101  # the column is an integer
        arm = {"arm": rest.pop(0)} if self.survey.arms else {}
        answers = {
            item.name: decode(item.channel, value)
            for item, value in zip(self.items, rest, strict=True)
            if isinstance(value, int | bytes)
        }
        found = {"survey": self.survey.digest, "id": f"{key:016x}", "answers": answers, **arm}
        return Report.parse(found, self.survey, stored=True)


def listed(names: Iterable[str]) -> str:
    """List columns as a statement does. Quoted: a question may be called "order" or "select"."""
    return ", ".join(f'"{name}"' for name in names)


Entry = tuple[Published, Report]
