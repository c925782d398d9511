"""The web intake: it publishes surveys, takes noisy reports and stores nothing else."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .app import create_app as create_app
from .opening import open_store as open_store
from .store import ReportStore as ReportStore

if _TYPE_CHECKING:
    from .postgres import PostgresStore as PostgresStore

__all__ = ["ReportStore", "create_app", "open_store"]


def __getattr__(name: str) -> object:
    """Import ``PostgresStore`` when it is asked for: it needs a driver that is an extra."""
    if name == "PostgresStore":
        from .postgres import PostgresStore

        return PostgresStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
