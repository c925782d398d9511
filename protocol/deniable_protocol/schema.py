"""The JSON Schema of ``survey.toml``: what an editor needs to complete and check while one types.

It is built from the same names and limits that the compiler uses. What a schema cannot say (that a
condition names an earlier question, that the budget is enough) ``deniable check`` says.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .authoring import MAX_QUESTIONS, PRIVACY_KEYS, SURVEY_KEYS
from .authoring_questions import KEYS, MAX_BOXES
from .channel import MAX_OPTIONS
from .fields import LONGEST
from .question import KINDS, LANGUAGE, QUESTION_NAME
from .survey import ARM, SURVEY_NAME

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_SAYS: Final = {
    "name": "Short name: a column of the results.",
    "kind": "How the question is answered.",
    "text": "What respondents read; a text, or one for each language.",
    "options": "What can be answered, in order. For a yes-no question yes comes first.",
    "optional": "May be skipped. Whether someone answered is hidden as well.",
    "show_if": "Show only to those who chose one of these options of an earlier question.",
    "share": "Part of the survey's epsilon, relative to the other questions; 1 unless stated.",
    "epsilon": "Privacy budget of this question alone, in nats.",
    "odds": 'The most that a report may shift anyone\'s odds, such as "3:1".',
    "truth": 'Chance of the true answer, such as "3/4".',
    "scores": "One number for each option, for means; 1, 2, 3, … unless stated.",
    "min": "Lowest number.",
    "max": "Highest number: min plus whole steps.",
    "step": "Distance of two numbers; 1 unless stated.",
    "unit": "What the number counts, such as days.",
    "points": "How many numbers a report can name; the best is chosen unless stated.",
    "ask": "How many boxes each device reports, drawn before it looks at the answers.",
}


def survey_schema() -> dict[str, Any]:
    """Give the schema as plain data, in the 2020-12 dialect.

    >>> survey_schema()["properties"]["privacy"]["properties"]["ask"]["minimum"]
    1
    """
    properties = {
        "name": {"type": "string", "pattern": _anchored(SURVEY_NAME),
                 "description": "Part of the survey's address."},
        "title": _text("title", "What the survey is called."),
        "intro": _text("intro", "What respondents read first."),
        "language": {"type": "string", "pattern": _anchored(LANGUAGE), "default": "en",
                     "description": "Language of texts that are given without one."},
        "arms": {"type": "array", "items": {"type": "string", "pattern": _anchored(ARM)},
                 "minItems": 1, "uniqueItems": True,
                 "description": "Waves, sites or groups that a page may name. Public."},
        "invite_key": {"type": "object", "required": ["modulus", "exponent"],
                       "properties": {"modulus": {"type": "string", "pattern": "^[0-9a-f]+$"},
                                      "exponent": {"type": "integer", "minimum": 3}},
                       "additionalProperties": False,
                       "description": "By invitation: the table that deniable invite prints."},
        "results": _results(),
        "privacy": _privacy(),
        "questions": {"type": "array", "minItems": 1, "maxItems": MAX_QUESTIONS,
                      "items": {"$ref": "#/$defs/question"}},
    }  # fmt: skip
    return {
        "$schema": DIALECT,
        "title": "A deniable survey (survey.toml)",
        "type": "object",
        "properties": {key: properties[key] for key in SURVEY_KEYS},
        "required": ["name", "title", "questions"],
        "additionalProperties": False,
        "$defs": {"question": _question()},
    }


def _privacy() -> dict[str, Any]:
    properties = {
        "epsilon": {"type": "number", "minimum": 0.001, "maximum": 1000,
                    "description": "Of one respondent over the whole survey, in nats."},
        "allocation": {"enum": ["split", "sample"], "default": "split",
                       "description": "Send every question, or a few drawn by the device."},
        "ask": {"type": "integer", "minimum": 1, "maximum": MAX_QUESTIONS - 1,
                "description": "How many questions each device sends."},
        "waves": {"const": "memoize",
                  "description": "In later waves the same answer sends the same report."},
    }  # fmt: skip
    return {
        "type": "object",
        "properties": {key: properties[key] for key in PRIVACY_KEYS},
        "additionalProperties": False,
        # ask goes with allocation = "sample", and only with it.
        "if": {"properties": {"allocation": {"const": "sample"}}, "required": ["allocation"]},
        "then": {"required": ["ask", "epsilon"]},
        "else": {"not": {"required": ["ask"]}},
    }


def _results() -> dict[str, Any]:
    reports = {"type": "integer", "minimum": 10, "maximum": 10**9}
    return {
        "type": "object",
        "properties": {
            "from": reports | {"description": "How many reports there must be before a result."},
            "every": reports | {"description": "How many more before it is drawn again."},
        },
        "additionalProperties": False,
        "description": "When results are shown to everyone.",
    }


def _question() -> dict[str, Any]:
    every = {key for keys in KEYS.values() for key in keys}
    return {
        "type": "object",
        "properties": {key: _key(key) for key in sorted(every)},
        "required": ["name", "kind", "text"],
        "additionalProperties": False,
        "allOf": [_of_kind(kind, every) for kind in KINDS] + [_one_budget()],
    }


def _of_kind(kind: str, every: set[str]) -> dict[str, Any]:
    """Say what goes with a kind, what it needs, and how many options it has."""
    then: dict[str, Any] = {"propertyNames": {"enum": sorted(KEYS[kind])}}
    if kind == "number":
        then["required"] = ["min", "max"]
    elif kind != "yes-no":
        then["required"] = ["options"]
    most = {"yes-no": 2, "multiple": MAX_BOXES}.get(kind, MAX_OPTIONS - 2)
    if "options" in KEYS[kind]:
        then["properties"] = {"options": {"minItems": 2, "maxItems": most}}
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": then}


def _one_budget() -> dict[str, Any]:
    """Allow one way to state a budget, or none."""
    keys = ("share", "epsilon", "odds", "truth")
    pairs = [[a, b] for place, a in enumerate(keys) for b in keys[place + 1 :]]
    return {"not": {"anyOf": [{"required": pair} for pair in pairs]}}


def _key(key: str) -> dict[str, Any]:
    number: dict[str, Any] = {"type": "number"}
    found: dict[str, dict[str, Any]] = {
        "name": {"type": "string", "pattern": _anchored(QUESTION_NAME)},
        "kind": {"enum": list(KINDS)},
        "text": _text("text"),
        "options": {"type": "array", "items": _text("option"), "uniqueItems": True},
        "optional": {"type": "boolean", "default": False},
        "show_if": {
            "type": "object",
            "properties": {
                "question": {"type": "string", "pattern": _anchored(QUESTION_NAME)},
                "is": {"anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1},
                ]},
            },
            "required": ["question", "is"],
            "additionalProperties": False,
        },
        "share": number | {"exclusiveMinimum": 0, "maximum": 1000},
        "epsilon": number | {"minimum": 0.001, "maximum": 15},
        "odds": {"type": "string", "pattern": r"^\s*[0-9]+\s*:\s*[0-9]+\s*$"},
        "truth": {"type": "string", "pattern": r"^\s*[0-9.]+\s*(/\s*[0-9]+\s*)?$"},
        "scores": {"type": "array", "items": number | {"minimum": -1e9, "maximum": 1e9}},
        "min": number | {"minimum": -1e9, "maximum": 1e9},
        "max": number | {"minimum": -1e9, "maximum": 1e9},
        "step": number | {"exclusiveMinimum": 0, "maximum": 1e9, "default": 1},
        "unit": _text("unit"),
        "points": {"type": "integer", "minimum": 2},
        "ask": {"type": "integer", "minimum": 1, "maximum": MAX_BOXES - 1},
    }  # fmt: skip
    return found[key] | {"description": _SAYS[key]}


def _text(key: str, says: str | None = None) -> dict[str, Any]:
    """Describe a text, or a table of texts by language."""
    one = {"type": "string", "minLength": 1, "maxLength": LONGEST[key], "pattern": r"\S"}
    found: dict[str, Any] = {"anyOf": [
        one,
        {"type": "object", "minProperties": 1, "additionalProperties": one,
         "propertyNames": {"pattern": _anchored(LANGUAGE)}},
    ]}  # fmt: skip
    return found if says is None else found | {"description": says}


def _anchored(pattern: re.Pattern[str]) -> str:
    return f"^(?:{pattern.pattern})$"
