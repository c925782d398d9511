"""One byte string for one value: canonical JSON, its digest, and strict reading.

Canonical means UTF-8, sorted keys, no spaces and no floats, so that a survey has one digest and a
retried report is the same bytes in every language.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any, NoReturn


def canonical(value: object) -> bytes:
    r"""Write a value as canonical JSON.

    Raises:
        ValueError: If the value holds a float or a text that is not valid Unicode.

    >>> canonical({"b": 1, "a": ["é"]})
    b'{"a":["\xc3\xa9"],"b":1}'
    """
    _refuse_floats(value)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def digest(data: bytes) -> str:
    """Name bytes by their SHA-256, in the form of subresource integrity.

    >>> digest(b"")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode("ascii")


def read_strict(data: bytes) -> Any:
    """Read JSON as the protocol allows it: UTF-8, no repeated key, no float, no NaN.

    Raises:
        ValueError: If the bytes are anything else. The message never quotes them.
    """
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_without_repeats,
            parse_float=_refuse,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        # The decoder's own message may quote the input, so it is not passed on.
        raise ValueError("not one JSON value in UTF-8 without repeated keys or floats") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("repeated key")
    return found


def _refuse(_: str) -> NoReturn:
    raise ValueError("float")


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise ValueError("canonical JSON holds no floats")
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ValueError("canonical JSON has text keys")
            _refuse_floats(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_floats(inner)
