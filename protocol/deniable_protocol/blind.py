"""Blind signatures, so that an invitation lets someone answer once and never says who answered.

The issuer signs a message that it cannot see; the device takes the blinding off; the intake checks
the signature. What the issuer saw and what the intake sees are independent of each other, whatever
both keep: for every pair of the two there is exactly one blinding that joins them.

This module holds what all three need: the key, the encoding, the check. Blinding is in the client,
signing in the server.

References:
    [RFC9474] F. Denis, F. Jacobs and C. Wood, RSA Blind Signatures, RFC 9474 (2023): the variant
    RSABSSA-SHA384-PSS-Randomized.
    [RFC8017] K. Moriarty et al., PKCS #1 v2.2, RFC 8017 (2016), Sections 9.1 and B.2.1.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from .canonical import canonical, digest, read_strict
from .errors import TokenError

PREFIX: Final = 32  # random bytes before the message, so that no two messages are alike
SALT: Final = 48
_HASH: Final = hashlib.sha384
_HASH_SIZE: Final = 48
_BITS: Final = range(2048, 4097, 8)


@dataclass(frozen=True)
class PublicKey:
    """Hold the RSA key that one survey's tokens are checked with.

    Attributes:
        modulus: n, of 2,048 to 4,096 bits.
        exponent: e, odd, above 2 and below 2^32.
    """

    modulus: int
    exponent: int = 65537

    def __post_init__(self) -> None:
        if self.modulus.bit_length() not in _BITS or self.modulus % 2 == 0:
            raise TokenError("expected an odd RSA modulus of 2,048 to 4,096 bits, in whole bytes")
        if self.exponent < 3 or self.exponent % 2 == 0 or self.exponent.bit_length() > 32:
            raise TokenError("expected an odd RSA exponent of 3 to 2^32")

    @classmethod
    def parse(cls, source: bytes | Mapping[str, Any]) -> PublicKey:
        """Read a published key.

        Raises:
            TokenError: If it is not one.
        """
        try:
            found = read_strict(source) if isinstance(source, bytes) else source
            key = cls(int.from_bytes(bytes.fromhex(found["modulus"]), "big"), found["exponent"])
            if key.published != found:
                raise TokenError("the key is not in its published form")
        except (KeyError, TypeError, ValueError) as error:
            said = error if isinstance(error, TokenError) else "expected modulus and exponent"
            raise TokenError(f"published key: {said}") from None
        return key

    @property
    def size(self) -> int:
        """Bytes of the modulus, and of a signature."""
        return (self.modulus.bit_length() + 7) // 8

    @property
    def published(self) -> dict[str, Any]:
        """The key as plain data, as it is published."""
        return {"modulus": self.to_bytes(self.modulus).hex(), "exponent": self.exponent}

    def to_json(self) -> bytes:
        """Write the published key as canonical JSON."""
        return canonical(self.published)

    @cached_property
    def digest(self) -> str:
        """The name of exactly this key, which a survey by invitation publishes."""
        return digest(self.to_json())

    def to_bytes(self, number: int) -> bytes:
        """Write a number below the modulus as bytes."""
        return number.to_bytes(self.size, "big")

    def number(self, data: bytes) -> int:
        """Read a number below the modulus.

        Raises:
            TokenError: If the bytes are too many, too few, or stand for a larger number.
        """
        found = int.from_bytes(data, "big")
        if len(data) != self.size or found >= self.modulus:
            raise TokenError(f"expected {self.size} bytes that stand for a number below the key's")
        return found

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Tell whether a signature is one of this key's under a message (RFC 8017, 8.1.2)."""
        try:
            opened = pow(self.number(signature), self.exponent, self.modulus)
        except TokenError:
            return False
        bits = self.modulus.bit_length() - 1
        size = (bits + 7) // 8
        return opened < 256**size and _fits(message, opened.to_bytes(size, "big"), bits)


@dataclass(frozen=True)
class Token:
    """Hold the right to one answer: a random prefix, and a signature under it and a survey's name.

    Attributes:
        prefix: 32 random bytes of the device.
        signature: The signature, with the blinding off.
    """

    prefix: bytes
    signature: bytes

    @classmethod
    def parse(cls, text: object) -> Token:
        """Read a token from a report.

        Raises:
            TokenError: If it is not one. The message never quotes it.
        """
        try:
            data = base64.b64decode(text if isinstance(text, str) else "", validate=True)
        except (ValueError, binascii.Error):
            data = b""
        if not PREFIX + _BITS[0] // 8 <= len(data) <= PREFIX + _BITS[-1] // 8:
            raise TokenError("expected a token of 32 bytes and a signature, in base64")
        token = cls(data[:PREFIX], data[PREFIX:])
        if str(token) != text:
            raise TokenError("expected a token in canonical base64")
        return token

    def __str__(self) -> str:
        return base64.b64encode(self.prefix + self.signature).decode("ascii")

    @property
    def spent(self) -> bytes:
        """What an intake keeps to know the token again: a hash of its message, 32 bytes."""
        return hashlib.sha256(self.prefix).digest()

    def fits(self, survey: str, key: PublicKey) -> bool:
        """Tell whether the token lets someone answer the survey of that name."""
        return key.verify(message(survey, self.prefix), self.signature)


def message(survey: str, prefix: bytes) -> bytes:
    """Make what is signed: a random prefix before the survey's name (RFC 9474, Section 4.1)."""
    return prefix + survey.encode("ascii")


def encode(message: bytes, salt: bytes, bits: int) -> bytes:
    """Encode a message for signing: EMSA-PSS with SHA-384 and MGF1 (RFC 8017, Section 9.1.1)."""
    size = (bits + 7) // 8
    mark = _HASH(bytes(8) + _HASH(message).digest() + salt).digest()
    block = bytes(size - len(salt) - _HASH_SIZE - 2) + b"\x01" + salt
    masked = bytearray(_xor(block, _mask(mark, len(block))))
    masked[0] &= 0xFF >> (8 * size - bits)
    return bytes(masked) + mark + b"\xbc"


def _fits(message: bytes, encoded: bytes, bits: int) -> bool:
    """Check an encoding (RFC 8017, Section 9.1.2) by finding its salt and encoding again."""
    size = len(encoded)
    masked, mark = encoded[: size - _HASH_SIZE - 1], encoded[size - _HASH_SIZE - 1 : -1]
    salt = _xor(masked, _mask(mark, len(masked)))[-SALT:]
    return encode(message, salt, bits) == encoded


def _mask(seed: bytes, size: int) -> bytes:
    rounds = range(-(-size // _HASH_SIZE))
    return b"".join(_HASH(seed + place.to_bytes(4, "big")).digest() for place in rounds)[:size]


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
