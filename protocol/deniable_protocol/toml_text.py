"""Write an author's survey as TOML, which the standard library can only read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def survey_toml(source: Mapping[str, Any]) -> str:
    """Write a survey the way that people write one: a table for privacy, one for each question.

    >>> print(survey_toml({"name": "a", "privacy": {"epsilon": 2}, "questions": [
    ...     {"name": "q", "text": {"en": "Who?", "bn": "কে?"}}]}))
    name = "a"
    <BLANKLINE>
    [privacy]
    epsilon = 2
    <BLANKLINE>
    [[questions]]
    name = "q"
    text = { en = "Who?", bn = "কে?" }
    <BLANKLINE>
    """
    return "\n".join(_lines(source)) + "\n"


def _lines(source: Mapping[str, Any]) -> Iterator[str]:
    for key, value in source.items():
        if key not in ("privacy", "questions"):
            yield f"{_key(key)} = {_value(value)}"
    if "privacy" in source:
        yield from ("", "[privacy]")
        yield from (f"{_key(key)} = {_value(value)}" for key, value in source["privacy"].items())
    for question in source.get("questions", ()):
        yield from ("", "[[questions]]")
        yield from (f"{_key(key)} = {_value(value)}" for key, value in question.items())


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return f"{value}"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # A JSON string is a basic string of TOML, but for the one control character JSON leaves bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
