"""What a device remembers: the report until it is acknowledged, then only what it revealed."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable_protocol import BudgetError, Report, StoreError, Survey
from deniable_protocol.channel import epsilon_of

from .answers import Answer
from .entropy import system
from .respond import DEFAULT_MAX_EPSILON, check_limit, respond_with
from .submit import Receipt, submit

_SCHEMA = """
CREATE TABLE IF NOT EXISTS surveys (
    digest TEXT PRIMARY KEY,
    name   TEXT NOT NULL,
    a      TEXT NOT NULL,  -- exact odds a:b that the report may have shifted
    b      TEXT NOT NULL,
    report BLOB            -- the noisy report until it is acknowledged; never an answer
) STRICT
"""


class Device:
    """Answer surveys as one device that keeps its promises over time.

    The same survey never gets a second report with fresh noise, which could be averaged with the
    first. What all reports together reveal is kept as exact odds and held under one limit.

    Privacy:
        ``spent`` bounds what everything sent so far can reveal (basic composition).

    Args:
        store_path: A file of this device, made if missing. It never holds a true answer.
        max_epsilon: Limit for the total ε of everything this device ever sends.

    Raises:
        StoreError: If the file cannot be used.
    """

    def __init__(
        self, store_path: str | os.PathLike[str], max_epsilon: float = DEFAULT_MAX_EPSILON
    ) -> None:
        self._path = Path(store_path)
        self.max_epsilon = max_epsilon
        with self._transaction() as db:
            db.execute(_SCHEMA)

    @property
    def spent(self) -> Fraction:
        """The exact odds by which everything drawn so far can shift a belief; 1 is nothing."""
        with self._transaction() as db:
            return _spent(db)

    @property
    def epsilon(self) -> float:
        """Ln of ``spent``, in nats, rounded up; 0.0 for a device that has drawn nothing."""
        spent = self.spent
        return epsilon_of(spent) if spent > 1 else 0.0

    def pending(self, survey: Survey) -> Report | None:
        """Give the report that was drawn for a survey and is not yet acknowledged."""
        with self._transaction() as db:
            row = _row(db, survey)
        return None if row is None or row[0] is None else Report.parse(row[0], survey)

    def answered(self, survey: Survey) -> bool:
        """Tell whether a report for this survey was acknowledged."""
        with self._transaction() as db:
            return _row(db, survey) == (None,)

    def check(self, survey: Survey) -> None:
        """Raise BudgetError if this device may not draw a report for the survey."""
        with self._transaction() as db:
            self._check(db, survey)

    def respond(
        self, survey: Survey, answers: Mapping[str, Answer], *, language: str | None = None
    ) -> Report:
        """Draw the one report of this device for a survey, or give the one already drawn.

        The report is on disk before it is returned.

        Raises:
            BudgetError: If the limit would be passed, or the survey is answered. Nothing was drawn.
            AnswerError: If an answer is not allowed.
        """
        with self._transaction() as db:
            row = _row(db, survey)
            if row is not None and row[0] is not None:
                return Report.parse(row[0], survey)
            self._check(db, survey)
            report = respond_with(system, survey, answers, language=language)
            db.execute(
                "INSERT INTO surveys VALUES (?, ?, ?, ?, ?)",
                (survey.digest, survey.name, *map(str, survey.odds.as_integer_ratio()),
                 report.to_json()),
            )  # fmt: skip
            return report

    def submit(self, survey: Survey, url: str, **options: Any) -> Receipt:
        """Send the pending report of a survey; once acknowledged, forget it and keep what it cost.

        Args:
            survey: A survey that ``respond`` was called for.
            url: The survey's address.
            options: As for ``deniable_client.submit``.

        Raises:
            SubmitError: If it was not acknowledged. The report is kept, so try again later.
            StoreError: If nothing is pending.
        """
        report = self.pending(survey)
        if report is None:
            raise StoreError(f"this device has no report waiting for survey '{survey.name}'")
        receipt = submit(report, url, **options)
        with self._transaction() as db:
            db.execute("UPDATE surveys SET report = NULL WHERE digest = ?", (survey.digest,))
        return receipt

    def _check(self, db: sqlite3.Connection, survey: Survey) -> None:
        if _row(db, survey) is not None:
            raise BudgetError(f"survey '{survey.name}' was already answered by this device")
        check_limit(survey.name, epsilon_of(_spent(db) * survey.odds), self.max_epsilon)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(self._path, timeout=10, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from None
        try:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from None
        finally:
            db.close()  # rolls back what was not committed


def _row(db: sqlite3.Connection, survey: Survey) -> tuple[bytes | None] | None:
    found: tuple[bytes | None] | None = db.execute(
        "SELECT report FROM surveys WHERE digest = ?", (survey.digest,)
    ).fetchone()
    return found


def _spent(db: sqlite3.Connection) -> Fraction:
    rows = db.execute("SELECT a, b FROM surveys")
    return math.prod((Fraction(int(a), int(b)) for a, b in rows), start=Fraction(1))
