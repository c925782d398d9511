"""The issuer of invitations: signs one blinded message for each code, and cannot see what it signs.

It has a database of its own, which shares nothing with the intake's, and may run elsewhere. It
knows who was given which code, if it was told so when the codes were sent out, and which codes
were used. It cannot tell which report a code led to.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from math import gcd
from pathlib import Path
from typing import Final

from deniable_protocol import PublicKey, StoreError, Survey, TokenError

from .private_files import create_private

_BITS: Final = 2048
_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no I, O, 0, 1: they are misread
_LETTERS: Final = 16  # 80 bits: not to be guessed at any rate of asking
_BYTES: Final = _BITS // 8
_UNUSED: Final = bytes(_BYTES)
"""Stands for what is not signed yet, in as many bytes. A message of zeros leads to no token."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS keys (
    survey TEXT PRIMARY KEY,
    n TEXT NOT NULL, e INTEGER NOT NULL, d TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS codes (
    hash    BLOB PRIMARY KEY,  -- of the code: who reads this file cannot use what is unused
    survey  TEXT NOT NULL REFERENCES keys (survey),
    blinded BLOB NOT NULL,     -- what was signed for it, so that asking again gives the same
    signed  BLOB NOT NULL
) STRICT, WITHOUT ROWID;
"""

_KEY: Final = "SELECT n, e FROM keys WHERE survey = ?"


class Issuer:
    """Make codes for surveys by invitation, and sign for each code once.

    Args:
        path: The issuer's own SQLite file, made if missing. It holds private keys: only its owner
            may read it.

    Raises:
        StoreError: If the file cannot be used.

    Privacy:
        The file tells which codes were used, and not in which order: a row is as long before it is
        used as after, so that SQLite writes over it where it is. A row that grew would be moved to
        where there is room, behind the one used before it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        create_private(self._path)
        with self._transaction() as db:
            for statement in _SCHEMA.strip().split(";")[:-1]:
                db.execute(statement)
            shorter = db.execute(
                "UPDATE codes SET blinded = ?, signed = ? WHERE signed IS NULL", (_UNUSED, _UNUSED)
            ).rowcount
        if shorter:  # of a file from before there was a row's full length: forget the order so far
            with self._connection() as db:
                db.execute("VACUUM")
        self._path.chmod(0o600)

    def key(self, survey: str) -> PublicKey:
        """Give the public key of a survey's name, making the pair if there is none."""
        with self._transaction() as db:
            row = db.execute(_KEY, (survey,)).fetchone()
            if row is None:
                n, e, d = _new_key()
                db.execute("INSERT INTO keys VALUES (?, ?, ?, ?)", (survey, f"{n:x}", e, f"{d:x}"))
                return PublicKey(n, e)
        return PublicKey(int(row[0], 16), row[1])

    def known_key(self, survey: str) -> PublicKey | None:
        """Give the public key of a survey's name; None if there is none."""
        with self._transaction() as db:
            row = db.execute(_KEY, (survey,)).fetchone()
        return row and PublicKey(int(row[0], 16), row[1])

    def check(self, survey: Survey) -> None:
        """See that the tokens signed here are good for a survey.

        Raises:
            TokenError: If it names another key than the one here, or none.
        """
        expected, found = survey.invite_key, self.known_key(survey.name)
        if expected is None:
            raise TokenError(
                f"survey '{survey.name}' takes a report from everyone: expected an [invite_key] in "
                "it, got none; codes for it would be good for nothing"
            )
        if found != expected:
            raise TokenError(
                f"{self._path} is not the issuer's file of survey '{survey.name}': expected its "
                f"key {_short(expected)}, got {_short(found) if found else 'none for that name'}"
            )

    def invite(self, survey: str, count: int) -> list[str]:
        """Make new single-use codes. They are kept as hashes: this is the only time they are seen.

        Args:
            survey: The survey's name.
            count: How many.
        """
        self.key(survey)
        codes = [_new_code() for _ in range(count)]
        with self._transaction() as db:
            db.executemany(
                "INSERT INTO codes VALUES (?, ?, ?, ?)",
                sorted((_hash(survey, code), survey, _UNUSED, _UNUSED) for code in codes),
            )
        return codes

    def used(self, survey: str) -> tuple[int, int]:
        """Count the codes of a survey that were used, and all of them."""
        with self._transaction() as db:
            counts: tuple[int, int] = db.execute(
                "SELECT count(*) FILTER (WHERE signed <> ?), count(*) FROM codes WHERE survey = ?",
                (_UNUSED, survey),
            ).fetchone()
        return counts

    def sign(self, survey: str, code: str, blinded: bytes) -> bytes:
        """Sign a blinded message for a code; the same message again gives the same signature.

        Raises:
            TokenError: If the code is unknown or was used for another message, or the message is
                none. The error never repeats the code.
        """
        with self._transaction() as db:
            name = _hash(survey, code)
            row = db.execute(
                "SELECT codes.blinded, signed, n, e, d FROM codes JOIN keys USING (survey)"
                " WHERE hash = ? AND survey = ?", (name, survey),
            ).fetchone()  # fmt: skip
            if row is None:
                raise TokenError("there is no such invitation code")
            before, signed, n, e, d = row
            if before not in (_UNUSED, blinded):
                raise TokenError("this invitation code was used by another device")
            if signed == _UNUSED:
                signed = _sign(PublicKey(int(n, 16), e), int(d, 16), blinded)
                db.execute(
                    "UPDATE codes SET blinded = ?, signed = ? WHERE hash = ?",
                    (blinded, signed, name),
                )
        answer: bytes = signed
        return answer

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=10, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = FULL")
                yield db
                # Closing rolls back what was not committed.
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from None


def _short(key: PublicKey) -> str:
    return f"{key.published['modulus'][:16]}…"


def _new_code() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LETTERS))
    return "-".join(letters[place : place + 4] for place in range(0, _LETTERS, 4))


def _hash(survey: str, code: str) -> bytes:
    """Hash a code as people may type it: in small letters, or without the hyphens."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(f"{survey}/{letters}".encode()).digest()


def _new_key() -> tuple[int, int, int]:
    """Make an RSA key pair. Imported here: an intake without invitations needs no such library."""
    try:
        from cryptography.hazmat.primitives.asymmetric import rsa
    except ModuleNotFoundError:
        raise StoreError("invitations need cryptography: pip install 'deniable[invite]'") from None
    private = rsa.generate_private_key(public_exponent=65537, key_size=_BITS).private_numbers()
    public = private.public_numbers
    return public.n, public.e, private.d


def _sign(key: PublicKey, secret: int, blinded: bytes) -> bytes:
    """Sign, with fresh blinding against timing, and check the result (RFC 9474, Section 4.3)."""
    number = key.number(blinded)
    while True:
        factor = secrets.randbelow(key.modulus)
        if factor > 1 and gcd(factor, key.modulus) == 1:
            break
    hidden = number * pow(factor, key.exponent, key.modulus) % key.modulus
    signed = pow(hidden, secret, key.modulus) * pow(factor, -1, key.modulus) % key.modulus
    if pow(signed, key.exponent, key.modulus) != number:
        raise StoreError("the signing key does not fit its public half")
    return key.to_bytes(signed)
