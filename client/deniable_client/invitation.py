"""Turning an invitation code into a token that nobody can lead back to the code.

Privacy:
    The issuer learns that the code was used, and sees a number that is uniform whatever the token
    is; the intake learns that some invited person answered. Who also sees *when* both happen can
    guess: get the token earlier than you answer.

References:
    [RFC9474] F. Denis, F. Jacobs and C. Wood, RSA Blind Signatures, RFC 9474 (2023), Section 4.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from math import gcd

from deniable_protocol import PublicKey, Survey, Token, TokenError
from deniable_protocol.blind import PREFIX, SALT, encode, message

from .entropy import Read, exactly, system

SCHEMA = """
CREATE TABLE IF NOT EXISTS invitations (
    survey  TEXT NOT NULL,  -- the survey's name
    key     TEXT NOT NULL,  -- digest of the key that signs
    prefix  BLOB NOT NULL,
    inverse BLOB NOT NULL,
    sent    BLOB NOT NULL,
    signed  BLOB,           -- what the issuer signed; NULL until then
    PRIMARY KEY (survey, key)
) STRICT
"""


@dataclass(frozen=True)
class Blinding:
    """Hold what takes the blinding off again. It never leaves the device.

    Attributes:
        prefix: The token's random prefix.
        inverse: The inverse of the blinding factor.
        sent: The blinded message, which goes to the issuer.
    """

    prefix: bytes
    inverse: int
    sent: bytes


def blind(key: PublicKey, survey: str, read: Read = system) -> Blinding:
    """Prepare a token and blind it (RFC 9474, Sections 4.1 and 4.2).

    Raises:
        EntropyError: If the randomness fails.
        TokenError: If the key is not an RSA key at all.
    """
    prefix, salt = exactly(PREFIX, read), exactly(SALT, read)
    encoded = encode(message(survey, prefix), salt, key.modulus.bit_length() - 1)
    number = int.from_bytes(encoded, "big")
    while True:
        factor = int.from_bytes(exactly(key.size, read), "big")
        if 0 < factor < key.modulus:
            break
    if gcd(number, key.modulus) != 1 or gcd(factor, key.modulus) != 1:
        raise TokenError("the key's modulus has a small factor: it is not an RSA key")
    blinded = number * pow(factor, key.exponent, key.modulus) % key.modulus
    return Blinding(prefix, pow(factor, -1, key.modulus), key.to_bytes(blinded))


def unblind(key: PublicKey, survey: str, blinding: Blinding, signed: bytes) -> Token:
    """Take the blinding off what the issuer signed (RFC 9474, Section 4.4).

    Raises:
        TokenError: If what came back is not a signature of this key. It is not to be used.
    """
    signature = key.number(signed) * blinding.inverse % key.modulus
    token = Token(blinding.prefix, key.to_bytes(signature))
    if not token.fits(survey, key):
        raise TokenError("the issuer's signature does not fit the survey's key")
    return token


def key_of(survey: Survey) -> PublicKey:
    """Give the key of a survey by invitation.

    Raises:
        TokenError: If anyone may answer.
    """
    if survey.invite_key is None:
        raise TokenError(f"survey '{survey.name}' takes answers without an invitation")
    return survey.invite_key


def begin(db: sqlite3.Connection, survey: Survey) -> tuple[Blinding, bool]:
    """Find or draw the one blinding of this device for a survey, and tell if it is signed.

    It is on disk before it is sent: after a lost answer the issuer signs the same message again.
    """
    key = key_of(survey)
    found = _find(db, survey)
    if found is not None:
        prefix, inverse, sent, signed = found
        return Blinding(prefix, int.from_bytes(inverse, "big"), sent), signed is not None
    blinding = blind(key, survey.name)
    row = (survey.name, key.digest, blinding.prefix, key.to_bytes(blinding.inverse), blinding.sent)
    db.execute("INSERT INTO invitations VALUES (?, ?, ?, ?, ?, NULL)", row)
    return blinding, False


def keep(db: sqlite3.Connection, survey: Survey, signed: bytes) -> None:
    """Check and keep what the issuer signed.

    Raises:
        TokenError: If it is not a signature of the survey's key.
    """
    blinding, _ = begin(db, survey)
    unblind(key_of(survey), survey.name, blinding, signed)
    db.execute(
        "UPDATE invitations SET signed = ? WHERE survey = ? AND key = ?",
        (signed, survey.name, key_of(survey).digest),
    )


def token(db: sqlite3.Connection, survey: Survey) -> Token | None:
    """Give the token to send with a report: None where anyone may answer.

    Raises:
        TokenError: If the survey is by invitation and no code was redeemed.
    """
    if survey.invite_key is None:
        return None
    found = _find(db, survey)
    if found is None or found[3] is None:
        raise TokenError(f"survey '{survey.name}' is by invitation: redeem your code first")
    prefix, inverse, sent, signed = found
    blinding = Blinding(prefix, int.from_bytes(inverse, "big"), sent)
    return unblind(survey.invite_key, survey.name, blinding, signed)


def forget(db: sqlite3.Connection, survey: Survey) -> None:
    """Drop the token of a survey once its report is acknowledged."""
    if survey.invite_key is not None:
        db.execute(
            "DELETE FROM invitations WHERE survey = ? AND key = ?",
            (survey.name, survey.invite_key.digest),
        )


def _find(db: sqlite3.Connection, survey: Survey) -> tuple[bytes, bytes, bytes, bytes] | None:
    found: tuple[bytes, bytes, bytes, bytes] | None = db.execute(
        "SELECT prefix, inverse, sent, signed FROM invitations WHERE survey = ? AND key = ?",
        (survey.name, key_of(survey).digest),
    ).fetchone()
    return found
