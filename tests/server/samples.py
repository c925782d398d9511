"""A survey with one channel of each kind, and reports of it that no client had to make."""

from __future__ import annotations

import json
import secrets
from typing import Any

from deniable_protocol import Report, Survey

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
