"""Blind signatures: the published vector, an independent verifier, and what must be refused."""

from __future__ import annotations

import json
import math
from io import BytesIO
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from deniable_client.invitation import blind, unblind
from deniable_protocol import PublicKey, Token, TokenError
from deniable_protocol.blind import encode, message

VECTOR = json.loads(
    (Path(__file__).parents[2] / "protocol/vectors/blind-signature.json").read_text()
)
KEY = PublicKey(int(VECTOR["n"], 16), int(VECTOR["e"], 16))
SECRET = int(VECTOR["d"], 16)


def number(name: str) -> int:
    return int(VECTOR[name], 16)


def sign(data: bytes) -> bytes:
    return KEY.to_bytes(pow(KEY.number(data), SECRET, KEY.modulus))


def test_the_published_vector() -> None:
    """RFC 9474, Appendix A.3: encoding, blinding, signature and its check."""
    prepared = bytes.fromhex(VECTOR["prepared_msg"])
    encoded = encode(prepared, bytes.fromhex(VECTOR["salt"]), KEY.modulus.bit_length() - 1)
    assert encoded.hex() == VECTOR["encoded_msg"]
    factor = pow(number("inv"), -1, KEY.modulus)
    blinded = int.from_bytes(encoded, "big") * pow(factor, KEY.exponent, KEY.modulus) % KEY.modulus
    assert blinded == number("blinded_msg")
    assert sign(bytes.fromhex(VECTOR["blinded_msg"])).hex() == VECTOR["blind_sig"]
    assert number("blind_sig") * number("inv") % KEY.modulus == number("sig")
    assert KEY.verify(prepared, bytes.fromhex(VECTOR["sig"]))


def test_the_client_on_the_vector() -> None:
    """The client's own two steps give the vector's numbers when fed its randomness."""
    factor = pow(number("inv"), -1, KEY.modulus)
    fed = bytes.fromhex(VECTOR["msg_prefix"] + VECTOR["salt"]) + KEY.to_bytes(factor)
    name = bytes.fromhex(VECTOR["msg"]).decode("latin-1")
    # The vector's message is no survey name, so its bytes are put in place of one.
    patched = type("Name", (str,), {"encode": lambda *_: bytes.fromhex(VECTOR["msg"])})(name)
    blinding = blind(KEY, patched, BytesIO(fed).read)
    assert blinding.sent.hex() == VECTOR["blinded_msg"]
    token = unblind(KEY, patched, blinding, bytes.fromhex(VECTOR["blind_sig"]))
    assert token.signature.hex() == VECTOR["sig"]


def test_an_independent_verifier_agrees() -> None:
    """A token that was blinded, signed and unblinded is an ordinary PSS signature."""
    blinding = blind(KEY, "canteen")
    token = unblind(KEY, "canteen", blinding, sign(blinding.sent))
    rsa.RSAPublicNumbers(KEY.exponent, KEY.modulus).public_key().verify(
        token.signature,
        message("canteen", token.prefix),
        padding.PSS(padding.MGF1(hashes.SHA384()), 48),
        hashes.SHA384(),
    )
    assert token.fits("canteen", KEY)
    assert not token.fits("canteen2", KEY)
    assert Token.parse(str(token)) == token


def test_every_view_fits_every_token() -> None:
    """Whatever the issuer saw joins to any token by exactly one blinding: it cannot tell which."""
    blindings = [blind(KEY, "canteen") for _ in range(2)]
    tokens = [unblind(KEY, "canteen", b, sign(b.sent)) for b in blindings]
    for blinding in blindings:
        for token in tokens:
            encoded = pow(int.from_bytes(token.signature, "big"), KEY.exponent, KEY.modulus)
            ratio = KEY.number(blinding.sent) * pow(encoded, -1, KEY.modulus) % KEY.modulus
            factor = pow(ratio, SECRET, KEY.modulus)  # the issuer's own key finds the blinding
            assert math.gcd(factor, KEY.modulus) == 1
            signed = int.from_bytes(token.signature, "big") * factor % KEY.modulus
            assert KEY.to_bytes(signed) == sign(blinding.sent)


@pytest.mark.parametrize("place", [0, 100, 255, 511])
def test_a_changed_signature_is_refused(place: int) -> None:
    """Any other byte breaks the signature, and the device says so instead of using it."""
    blinding = blind(KEY, "canteen")
    signed = bytearray(sign(blinding.sent))
    signed[place] ^= 1
    with pytest.raises(TokenError, match=r"signature|below"):
        unblind(KEY, "canteen", blinding, bytes(signed))


def test_another_key_is_refused() -> None:
    """A key made for one person alone would mark that person's token; it does not verify."""
    other = PublicKey(KEY.modulus - 2)
    blinding = blind(KEY, "canteen")
    token = unblind(KEY, "canteen", blinding, sign(blinding.sent))
    assert other.digest != KEY.digest
    assert not token.fits("canteen", other)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"{}", "modulus and exponent"),
        (b"[]", "modulus and exponent"),
        (b"nonsense", "modulus and exponent"),
        ({"modulus": "ff", "exponent": 65537}, "2,048"),
        ({"modulus": "ff" * 256, "exponent": 2}, "exponent of"),
        ({"modulus": "00" + "ff" * 256, "exponent": 65537}, "published form"),
        ({"modulus": "FF" * 256, "exponent": 65537}, "published form"),
        ({"modulus": "ff" * 256, "exponent": 65537, "more": 1}, "published form"),
    ],
)
def test_keys_that_are_none(source: bytes | dict[str, object], said: str) -> None:
    """A published key has one form."""
    with pytest.raises(TokenError, match=said):
        PublicKey.parse(source)


def test_a_key_reads_back() -> None:
    """What is published is read again as the same key."""
    assert PublicKey.parse(KEY.to_json()) == KEY
    assert PublicKey.parse(KEY.published).digest == KEY.digest


@pytest.mark.parametrize("text", [None, 7, "", "AA", "*" * 400, "A" * 383 + "=", "QQ" * 600])
def test_tokens_that_are_none(text: object) -> None:
    """What is not a token is refused without being repeated."""
    with pytest.raises(TokenError) as caught:
        Token.parse(text)
    assert str(text) not in str(caught.value) or text in ("", 7)
