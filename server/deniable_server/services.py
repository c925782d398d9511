"""What the routes of one application share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from flask import Flask, current_app

from .contract import Store
from .issuer import Issuer
from .limits import RateLimiter
from .published import Entry, Outcome
from .readiness import Readiness
from .turns import Turns

_KEY: Final = "deniable"


class Writer(Protocol):
    """How reports reach the store: together (``GroupWriter``), or otherwise in a comparison."""

    def submit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store reports and return when they are on disk."""
        ...

    def close(self) -> None:
        """Store everything that waits, then stop."""
        ...


@dataclass(frozen=True)
class Services:
    """The store, the writer through which every report reaches it, and what may be missing.

    Attributes:
        issuer: Signs invitations, where this server also does that.
        limiter: Slows down whoever sends too much; None lets everyone.
        drawing: Who draws the results of a survey, by its digest.
    """

    store: Store
    writer: Writer
    issuer: Issuer | None = None
    limiter: RateLimiter | None = None
    drawing: Turns = field(default_factory=Turns)

    @cached_property
    def readiness(self) -> Readiness:
        """Whether the store takes reports now."""
        return Readiness(self.store)

    def admits(self, address: str | None, cost: int = 1) -> bool:
        """Count what an address sends, where there is a limit, and tell whether it may go on."""
        return self.limiter is None or self.limiter.allow(address, cost)

    def attach(self, app: Flask) -> None:
        """Make these the services of an application."""
        app.extensions[_KEY] = self

    def close(self) -> None:
        """Commit everything that was taken, and close the database."""
        self.writer.close()
        self.store.close()


def services(app: Flask | None = None) -> Services:
    """Give the services of an application, or of the one that answers the current request."""
    found: Services = (app or current_app).extensions[_KEY]
    return found
