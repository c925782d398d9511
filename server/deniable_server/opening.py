"""Open a store by its address, and choose how reports reach it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from deniable_protocol import StoreError

from .contract import Store
from .store import ReportStore

_POSTGRES: Final = ("postgresql://", "postgres://")
_SQLITE: Final = "sqlite:///"


def is_postgres(address: str | os.PathLike[str]) -> bool:
    """Tell whether an address is that of a PostgreSQL database.

    >>> is_postgres("postgresql://db.example/survey"), is_postgres("survey.db")
    (True, False)
    """
    return isinstance(address, str) and address.startswith(_POSTGRES)


def open_store(
    address: str | os.PathLike[str],
    *,
    must_exist: bool = False,
    look_only: bool = False,
    operated: bool = False,
) -> Store:
    """Open the store at an address.

    Args:
        address: ``postgresql://…``, or a SQLite file, also as ``sqlite:///path``.
        must_exist: Whether a SQLite file that is not there is an error rather than created.
        look_only: Whether to change nothing, not even tables of an older version.
        operated: Whether an operator's verb uses it, and no intake; see ``PostgresStore``.

    Raises:
        StoreError: If it cannot be opened, or needs a package that is not installed.
    """
    if is_postgres(address):
        try:
            from .postgres import PostgresStore
        except ModuleNotFoundError as error:
            raise StoreError(
                f"PostgreSQL needs {error.name}: pip install 'deniable[postgres]'"
            ) from None
        return PostgresStore(str(address), look_only=look_only, operated=operated)
    path = Path(sqlite_path(address))
    if must_exist and not path.is_file():
        raise StoreError(f"there is no database {path}")
    return ReportStore(path, look_only=look_only)


def sqlite_path(address: str | os.PathLike[str]) -> str:
    """Give the path of a SQLite file.

    >>> sqlite_path("sqlite:///surveys/a.db"), sqlite_path("sqlite:////srv/a.db")
    ('surveys/a.db', '/srv/a.db')

    Raises:
        StoreError: If the address is that of another kind of database.
    """
    path = os.fspath(address)
    path = path.removeprefix(_SQLITE)
    if "://" in path or path.startswith("sqlite:"):
        raise StoreError(
            "expected a SQLite file, sqlite:///path or postgresql://…, got another kind of address"
        )
    return path
