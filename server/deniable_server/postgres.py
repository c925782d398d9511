"""Published surveys and their noisy reports in PostgreSQL, for intakes on several machines.

Several transactions can store reports at the same time; each has a connection of a pool, and those
that wait for the disk share it.

PostgreSQL itself keeps, for each row, its place in the table and the number of the transaction that
wrote it: until a survey is closed, its reports are in the order of their arrival. Closing a survey
writes its table anew, in the order of the random ids and in one transaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout, TooManyRequests

from deniable_protocol import StoreError

from .catalogue import Session
from .contract import Store
from .life import Clock, utc_now
from .postgres_schema import create_report_table, migrate, refuse_older
from .postgres_settings import refuse_careless, refuse_old, session_options
from .published import Published, Row, listed
from .readiness import TRIAL_SECONDS, NotReadyError, Unready

_POOL: Final = 12
_ROWS_AT_ONCE: Final = 5000
_PATIENCE_SECONDS: Final = 10.0
_UNREADY: Final[dict[str | None, Unready]] = {
    "53100": "disk-full",
    "58030": "disk-error",
    "25006": "read-only",
    "55P03": "locked",
}
_TRIAL: Final = (
    f"SET LOCAL lock_timeout = '{TRIAL_SECONDS:g}s'",
    "LOCK TABLE counters, life, spent IN ROW EXCLUSIVE MODE",
    f"INSERT INTO spent VALUES ('\\x{'00' * 32}')",  # noqa: S608  # no token has this hash
)


class PostgresStore(Store):
    """Keep published surveys and their reports in a PostgreSQL database.

    Args:
        url: Such as ``postgresql://user@host/database``. A password is better given in
            ``PGPASSWORD`` or a ``.pgpass`` file than here, where the list of processes shows it.
        clock: Tells the time, for the counters and for opening and closing.
        look_only: Whether to change nothing, not even tables of an older version.
        operated: Whether an operator's verb uses it, which may also look at, close and erase what
            is in a database that is set to lose or to keep what it must not. Adding reports to
            such a one is refused all the same.

    Raises:
        StoreError: If the database cannot be reached, or is too old or too new, or is set to lose
            or to keep what it must not.
    """

    _dialect = "postgresql"
    _count_up: ClassVar[str] = (
        "INSERT INTO counters (digest, day, slot, reports)"
        " VALUES (?, ?, floor(random() * 64)::int, ?) ON CONFLICT (digest, day, slot)"
        " DO UPDATE SET reports = counters.reports + excluded.reports"
    )

    def __init__(
        self, url: str, clock: Clock = utc_now, *, look_only: bool = False, operated: bool = False
    ) -> None:
        super().__init__(_named(url), clock)
        self._careful = look_only or not operated
        options: dict[str, Any] = {
            "autocommit": True,
            "options": session_options(look_only=look_only),
            "connect_timeout": 5,
            "tcp_user_timeout": 15_000,
            "application_name": "deniable",
        }
        with self._as_store_error():
            with psycopg.connect(url, **options) as connection:
                refuse_old(connection, self.name)
                if not (look_only or operated):
                    refuse_careless(connection, self.name)
                (refuse_older if look_only else migrate)(connection, self.name)
            self._pool = ConnectionPool(
                url, kwargs=options, min_size=1, max_size=_POOL, timeout=_PATIENCE_SECONDS,
                open=True, name="deniable",
            )  # fmt: skip

    def close(self, *, rewrite: bool = True) -> None:
        """Let go of all connections; only closing a survey rewrites its table."""
        self._pool.close()

    def try_storing(self) -> None:
        """Take the locks that storing takes and add a row, and take it back.

        Raises:
            NotReadyError: If a report could not be stored now.
        """
        try:
            with (
                self._pool.connection(timeout=TRIAL_SECONDS) as connection,
                connection.transaction(force_rollback=True),
            ):
                for statement in _TRIAL:
                    connection.execute(statement.encode())
        except psycopg.Error as error:
            raise NotReadyError(_UNREADY.get(error.sqlstate, "unreachable")) from None

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        with self._as_store_error(), self._pool.connection() as connection:
            yield connection

    @contextmanager
    def _adding(self, digests: Sequence[str]) -> Iterator[Session]:
        # Begun in one message: a message costs as much as a report.
        locks = [f"SELECT pg_advisory_xact_lock_shared({_lock(digest)})" for digest in digests]
        with self._connection() as connection:  # rolls back on any error
            if not self._careful:
                refuse_careless(connection, self.name)
                self._careful = True
            connection.execute("; ".join(["BEGIN", *locks]).encode(), prepare=False)
            yield _Session(connection)
            connection.commit()

    def _alone(self, session: Session, digest: str) -> None:
        """Take a lock of the survey's own.

        Not the one that others share while they add: two who share it would wait for each other.
        """
        session.execute("SELECT pg_advisory_xact_lock(?)", (_lock(f"target of {digest}"),))

    @contextmanager
    def _deciding(self, digest: str) -> Iterator[Session]:
        with self._connection() as connection, connection.transaction():
            connection.execute("SET LOCAL statement_timeout = 0")
            connection.execute("LOCK TABLE surveys IN SHARE ROW EXCLUSIVE MODE")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_lock(digest),))
            yield _Session(connection)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with self._connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield _Session(connection)

    def _create_table(self, published: Published) -> str:
        return create_report_table(published)

    def _settle(self, session: Session, published: Published) -> None:
        """Write the table anew, in the order of the ids and in one transaction.

        Clustering the old one would order the rows, but each would keep the number of the
        transaction that stored it.
        """
        table, old = published.table, f"{published.table}_old"
        session.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        session.execute(f"ALTER TABLE {table} RENAME TO {old}")
        session.execute(f"ALTER INDEX {table}_pkey RENAME TO {old}_pkey")
        session.execute(self._create_table(published))
        session.execute(
            f"INSERT INTO {table} ({published.columns})"  # noqa: S608  # matched names
            f" SELECT {published.columns} FROM {old} ORDER BY id"
        )
        session.execute(f"DROP TABLE {old}")

    def _wipe(self, ids: Sequence[int]) -> None:
        """Do nothing: dropping a table removes its files; the rest is PostgreSQL's own archive."""

    @contextmanager
    def _as_store_error(self) -> Iterator[None]:
        try:
            yield
        except TooManyRequests:
            raise StoreError(f"{self.name}: too many requests wait for it") from None
        except PoolTimeout:
            raise StoreError(f"{self.name} cannot be reached") from None
        except psycopg.Error as error:
            # PostgreSQL's details may quote a row.
            found = error.diag.message_primary or str(error).partition("\n")[0]
            raise StoreError(f"{self.name}: {found or type(error).__name__}") from None


class _Session:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, query: str, values: Sequence[object] = ()) -> Any:
        return self._connection.execute(query.replace("?", "%s").encode(), tuple(values) or None)

    def insert(self, table: str, columns: Mapping[str, str], rows: Sequence[Row]) -> list[bool]:
        # One statement with an array for each column: sending a statement costs more than a row.
        # In binary, because psycopg would look for what to escape in each value of a text.
        arrays = ", ".join(f"%b::{kind}[]" for kind in columns.values())
        key = next(iter(columns))
        query = (
            f"INSERT INTO {table} ({listed(columns)}) SELECT * FROM unnest({arrays})"  # noqa: S608  # a matched name
            f" ON CONFLICT ({key}) DO NOTHING RETURNING {key}"
        )
        new = []
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[start : start + _ROWS_AT_ONCE]
            found = self.execute(query, [list(column) for column in zip(*some, strict=True)])
            stored = {row[0] for row in found.fetchall()}
            for row in some:  # of equal keys the first was stored
                new.append(row[0] in stored)
                stored.discard(row[0])
        return new


def _lock(name: str) -> int:
    """Give the number of a lock; that of a digest is held while reports are added to a survey."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


def _named(url: str) -> str:
    """Name a database without its user and password."""
    try:
        found = conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreError("expected postgresql://user@host/database, got another address") from None
    return f"postgresql://{found.get('host') or ''}/{found.get('dbname') or ''}"
