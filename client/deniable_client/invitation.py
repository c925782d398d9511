"""Turning an invitation code into a token that nobody can lead back to the code.

Privacy:
    The issuer learns that the code was used, and sees a number that is uniform whatever the token
    is; the intake learns that some invited person answered. Who also sees *when* both happen can
    guess: get the token earlier than you answer.

References:
    [RFC9474] F. Denis, F. Jacobs and C. Wood, RSA Blind Signatures, RFC 9474 (2023), Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from deniable_protocol import PublicKey, Token, TokenError
from deniable_protocol.blind import PREFIX, SALT, encode, message

from .entropy import Read, exactly, system


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
