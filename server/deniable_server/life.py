"""The life of a published survey: when it takes reports, and when it no longer does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum

from deniable_protocol import StoreError

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Tell the time, in UTC."""
    return datetime.now(UTC)


class State(Enum):
    """What the operator last decided."""

    OPEN = "open"
    CLOSED = "closed"
    ERASED = "erased"


class Status(Enum):
    """Whether a survey takes reports now, and if not, why."""

    OPEN = "open"
    NOT_YET = "not open yet"
    OVER = "over"
    FULL = "full"
    CLOSED = "closed"
    ERASED = "erased"


@dataclass(frozen=True)
class Limits:
    """When a survey takes reports by itself.

    Attributes:
        opens: The first moment; None for at once.
        closes: The first moment at which it is over; None for never.
        target: The number of reports at which it is full; None for any number.
    """

    opens: datetime | None = None
    closes: datetime | None = None
    target: int | None = None

    def __post_init__(self) -> None:
        if self.target is not None and self.target < 1:
            raise StoreError(f"target: expected at least 1 report, got {self.target}")
        if self.opens and self.closes and self.closes <= self.opens:
            raise StoreError(
                f"the survey would close ({written(self.closes)}) before it opens "
                f"({written(self.opens)})"
            )


@dataclass(frozen=True)
class Life:
    """What the operator decided about a survey version."""

    state: State = State.OPEN
    limits: Limits = Limits()

    def status(self, now: datetime, held: int) -> Status:
        """Say whether reports are taken.

        Args:
            now: The time, with its zone.
            held: How many reports are stored; only looked at where there is a target.

        >>> Life().status(utc_now(), 10).value
        'open'
        >>> Life(limits=Limits(target=10)).status(utc_now(), 10).value
        'full'
        """
        limits = self.limits
        if self.state is not State.OPEN:
            return Status(self.state.value)
        if limits.opens is not None and now < limits.opens:
            return Status.NOT_YET
        if limits.closes is not None and now >= limits.closes:
            return Status.OVER
        if limits.target is not None and held >= limits.target:
            return Status.FULL
        return Status.OPEN


def written(moment: datetime) -> str:
    """Write a moment as the database holds it: UTC, to the second.

    >>> written(datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    '2026-03-01T09:30:00Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def read_moment(text: str, *, end: bool = False) -> datetime:
    """Read a date, or a date and a time; UTC unless it names another zone.

    Args:
        text: Such as ``2026-03-01``, ``2026-03-01 09:30`` or ``2026-03-01T09:30+01:00``.
        end: Whether a date alone means the end of that day.

    Raises:
        StoreError: If it is neither.

    >>> written(read_moment("2026-03-01 09:30"))
    '2026-03-01T09:30:00Z'
    >>> written(read_moment("2026-03-31", end=True))
    '2026-04-01T00:00:00Z'
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        if end and len(text) <= len("2026-03-01"):
            moment += timedelta(days=1)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise StoreError(
            f"expected a date such as 2026-03-01 or 2026-03-01 09:30 (UTC), got {text!r}"
        ) from None
