"""What a device remembers: the report until it is acknowledged, then only what it revealed."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deniable_protocol import BudgetError, Report, StoreError, Survey
from deniable_protocol.channel import epsilon_of

from . import invitation, panel
from .answers import Answer, encode
from .entropy import system
from .randomizer import draw_report_noise
from .respond import DEFAULT_MAX_EPSILON, check_arm, check_limit, respond_with
from .submit import Receipt, request_signature, submit

_SCHEMA = """
CREATE TABLE IF NOT EXISTS surveys (
    digest TEXT NOT NULL,
    wave   TEXT NOT NULL,  -- the arm of a survey that is answered in waves, else empty
    name   TEXT NOT NULL,
    a      TEXT NOT NULL,  -- exact odds a:b that the report may have shifted; 1:1 in a panel,
    b      TEXT NOT NULL,  -- whose odds are kept by item
    report BLOB,           -- the noisy report until it is acknowledged; never an answer
    PRIMARY KEY (digest, wave)
) STRICT
"""


class Device:
    """Answer surveys as one device that keeps its promises over time.

    The same survey never gets a second report with fresh noise, which could be averaged with the
    first; a survey with ``waves = "memoize"`` is answered once in each arm, with permanent noise.
    What all reports together reveal is kept as exact odds and held under one limit.

    Privacy:
        ``spent`` bounds what everything sent so far can reveal (basic composition). Of a panel it
        does not bound that an answer changed, which reports may show for certain; see
        ``deniable_client.panel``.

    Args:
        store_path: A file of this device, made if missing, for its owner alone to read. It never
            holds a true answer; but of a survey in waves, its noise and what was sent can together
            tell one (see ``deniable_client.panel``).
        max_epsilon: Limit for the total ε of everything this device ever sends.

    Raises:
        StoreError: If the file cannot be used.
    """

    def __init__(
        self, store_path: str | os.PathLike[str], max_epsilon: float = DEFAULT_MAX_EPSILON
    ) -> None:
        self._path = Path(store_path)
        self.max_epsilon = max_epsilon
        try:
            self._path.touch(mode=0o600)  # a panel's table is as secret as the answers
        except OSError as error:
            raise StoreError(f"{self._path}: {error.strerror or error}") from None
        with self._transaction() as db:
            db.execute(_SCHEMA)
            db.execute(panel.SCHEMA)
            db.execute(invitation.SCHEMA)

    @property
    def spent(self) -> Fraction:
        """The exact odds by which everything drawn so far can shift a belief; 1 is nothing."""
        with self._transaction() as db:
            return _spent(db)

    @property
    def epsilon(self) -> float:
        """Ln of ``spent``, in nats, rounded up; 0.0 for a device that has drawn nothing."""
        return _epsilon(self.spent)

    def pending(self, survey: Survey, *, arm: str | None = None) -> Report | None:
        """Give the report that was drawn for a survey and is not yet acknowledged."""
        with self._transaction() as db:
            row = _row(db, survey, arm)
        return None if row is None or row[0] is None else Report.parse(row[0], survey)

    def answered(self, survey: Survey, *, arm: str | None = None) -> bool:
        """Tell whether a report for this survey was acknowledged."""
        with self._transaction() as db:
            return _row(db, survey, arm) == (None,)

    def check(self, survey: Survey, *, arm: str | None = None) -> None:
        """Raise BudgetError if this device may not draw a report for the survey.

        A wave of a panel is refused if it could pass the limit, even where this device's answers
        have not changed and it would cost nothing: the refusal must not tell that they have.
        """
        with self._transaction() as db:
            self._check(db, survey, arm)

    def redeem(self, survey: Survey, code: str, url: str, **options: Any) -> None:
        """Turn an invitation code into this device's token for a survey.

        Do it some time before answering: whoever runs both issuer and intake could otherwise guess
        from the two times that they belong together.

        Args:
            survey: A survey by invitation.
            code: The code from the invitation; it can be used once.
            url: The survey's address at the issuer.
            options: As for ``deniable_client.submit``.

        Raises:
            TokenError: If the survey needs no invitation, or the issuer used another key.
            SubmitError: If the issuer refuses the code or stays out of reach.
        """
        with self._transaction() as db:
            blinding, signed = invitation.begin(db, survey)
        if not signed:
            answer = request_signature(url, code, blinding.sent, **options)
            with self._transaction() as db:
                invitation.keep(db, survey, answer)

    def respond(
        self,
        survey: Survey,
        answers: Mapping[str, Answer],
        *,
        language: str | None = None,
        arm: str | None = None,
    ) -> Report:
        """Draw the one report of this device for a survey, or give the one already drawn.

        The report is on disk before it is returned.

        Raises:
            BudgetError: If the limit would be passed, or the survey is answered. Nothing was sent,
                and nothing is kept.
            AnswerError: If an answer is not allowed.
            TokenError: If the survey is by invitation and no code was redeemed.
        """
        with self._transaction() as db:
            row = _row(db, survey, arm)
            if row is not None and row[0] is not None:
                return Report.parse(row[0], survey)
            self._check(db, survey, arm)
            token = invitation.token(db, survey)
            if survey.memoize:
                report, cost = self._respond_permanently(db, survey, answers, language, arm)
            else:
                report = respond_with(system, survey, answers, language=language, arm=arm)
                cost = survey.odds
            report = replace(report, token=token)
            values = (*_key(survey, arm), survey.name, str(cost.numerator), str(cost.denominator))
            db.execute("INSERT INTO surveys VALUES (?, ?, ?, ?, ?, ?)", (*values, report.to_json()))
            return report

    def submit(
        self, survey: Survey, url: str, *, arm: str | None = None, **options: Any
    ) -> Receipt:
        """Send the pending report of a survey; once acknowledged, forget it and keep what it cost.

        Args:
            survey: A survey that ``respond`` was called for.
            url: The survey's address.
            arm: The arm that was answered in.
            options: As for ``deniable_client.submit``.

        Raises:
            SubmitError: If it was not acknowledged. The report is kept, so try again later.
            StoreError: If nothing is pending.
        """
        report = self.pending(survey, arm=arm)
        if report is None:
            raise StoreError(f"this device has no report waiting for survey '{survey.name}'")
        receipt = submit(report, url, **options)
        with self._transaction() as db:
            db.execute(
                "UPDATE surveys SET report = NULL WHERE digest = ? AND wave = ?",
                _key(survey, arm),
            )
            invitation.forget(db, survey)
        return receipt

    def _respond_permanently(
        self,
        db: sqlite3.Connection,
        survey: Survey,
        answers: Mapping[str, Answer],
        language: str | None,
        arm: str | None,
    ) -> tuple[Report, Fraction]:
        """Look the report up in the permanent tables, and charge what it newly reveals."""
        check_arm(survey, arm)
        noise = draw_report_noise(survey, system)
        tables = panel.tables(db, survey, noise, system)
        rounding = {name: tables[name].rounding for name in noise.rounding}
        indices = encode(survey, answers, rounding, language)
        drawn = {name: tables[name].reports[indices[name]] for name in sorted(noise.sent)}
        panel.store(db, tables | {name: tables[name].send(sent) for name, sent in drawn.items()})
        identifier = f"{noise.identifier:016x}"
        return Report(survey.digest, identifier, MappingProxyType(drawn), arm), Fraction(1)

    def _check(self, db: sqlite3.Connection, survey: Survey, arm: str | None) -> None:
        if _row(db, survey, arm) is not None:
            raise BudgetError(f"survey '{survey.name}' was already answered by this device")
        more = panel.at_most(db, survey) if survey.memoize else survey.odds
        check_limit(survey.name, _epsilon(_spent(db) * more), self.max_epsilon)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(self._path, timeout=10, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from None
        try:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")  # forgetting a report overwrites its bytes
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from None
        finally:
            db.close()  # rolls back what was not committed


def _key(survey: Survey, arm: str | None) -> tuple[str, str]:
    return survey.digest, (arm or "") if survey.memoize else ""


def _row(db: sqlite3.Connection, survey: Survey, arm: str | None) -> tuple[bytes | None] | None:
    found: tuple[bytes | None] | None = db.execute(
        "SELECT report FROM surveys WHERE digest = ? AND wave = ?", _key(survey, arm)
    ).fetchone()
    return found


def _spent(db: sqlite3.Connection) -> Fraction:
    rows = db.execute("SELECT a, b FROM surveys")
    own = math.prod((Fraction(int(a), int(b)) for a, b in rows), start=Fraction(1))
    return own * panel.spent(db)


def _epsilon(odds: Fraction) -> float:
    return epsilon_of(odds) if odds > 1 else 0.0
