"""A survey with one channel of each kind, and reports of it that no client had to make."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from deniable_protocol import PublicKey, Report, Survey, Token
from deniable_protocol.blind import PREFIX, SALT, encode, message

SOURCE: dict[str, Any] = {
    "name": "canteen-2026",
    "title": {"en": "Canteen <1>", "bn": "ক্যান্টিন"},
    "privacy": {"epsilon": 1},
    "questions": [
        {"name": "order", "kind": "yes-no", "text": "Did you pay?"},  # an SQL keyword on purpose
        {"name": "dish", "kind": "choice", "text": "Which?", "options": list("abcdefghijk")},
    ],
}
SURVEY = Survey.load(SOURCE)
CHANGED = Survey.load(SOURCE | {"title": "Canteen, changed"})
OTHER = Survey.load(SOURCE | {"name": "other"})
SAMPLED = Survey.load(
    {
        "name": "sampled",
        "title": "Sampled",
        "arms": ["a", "b"],
        "privacy": {"epsilon": 1, "allocation": "sample", "ask": 2},
        "questions": [
            {"name": "paid", "kind": "yes-no", "text": "Did you pay?"},
            {"name": "ate", "kind": "multiple", "text": "Ate?", "options": list("xyz"), "ask": 2},
            {"name": "drank", "kind": "yes-no", "text": "Did you drink?"},
        ],
    }
)
CANARY = "canary-7f3a"
"""What a request carries that must come back in no answer and no log."""

SHOWN = Survey.load(SOURCE | {"name": "shown", "results": {"from": 20, "every": 10}})
WIDTH = SURVEY["dish"].channel.subset
assert WIDTH > 1


def body(survey: Survey = SURVEY, **changes: Any) -> dict[str, Any]:
    """Give a report as plain data, each time with a new id."""
    sent = {
        "survey": survey.digest,
        "id": f"{secrets.randbits(63):016x}",
        "answers": {"order": [0], "dish": list(range(WIDTH))},
    }
    return sent | changes


def report(survey: Survey = SURVEY, **changes: Any) -> Report:
    return Report.parse(body(survey, **changes), survey)


def other_answers(sent: dict[str, Any]) -> dict[str, Any]:
    """Give a report with the same id that says something else."""
    return sent | {"answers": sent["answers"] | {"order": [1 - sent["answers"]["order"][0]]}}


def dump(sent: object) -> bytes:
    return json.dumps(sent).encode()


KEY = json.loads(
    (Path(__file__).parents[2] / "protocol/vectors/blind-signature.json").read_text("utf-8")
)
"""RSA keys of RFC 9474, Appendix A; the secret half is published there."""
INVITED = Survey.load(
    SOURCE | {"name": "invited", "invite_key": PublicKey(int(KEY["n"], 16)).published}
)


def token(survey: str = "invited") -> str:
    """Sign a token as a device and an issuer would do together."""
    modulus, secret = int(KEY["n"], 16), int(KEY["d"], 16)
    prefix = secrets.token_bytes(PREFIX)
    encoded = encode(message(survey, prefix), secrets.token_bytes(SALT), modulus.bit_length() - 1)
    signature = pow(int.from_bytes(encoded, "big"), secret, modulus)
    return str(Token(prefix, signature.to_bytes(512, "big")))
