"""The JSON Schema of survey.toml: what loads passes, what the compiler refuses by shape fails."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from deniable_protocol import Survey, SurveyError
from deniable_protocol.authoring import PRIVACY_KEYS, SURVEY_KEYS
from deniable_protocol.authoring_questions import KEYS
from deniable_protocol.cli import main
from deniable_protocol.schema import survey_schema

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = survey_schema()
CHECK = Draft202012Validator(SCHEMA)
DRAFT = ROOT / "protocol" / "deniable_protocol" / "draft.toml"
EXAMPLES = [*sorted(ROOT.glob("examples/**/survey.toml")), DRAFT]

GOOD: dict[str, Any] = {
    "name": "demo",
    "title": {"en": "Demo", "zh-Hant": "示範"},
    "arms": ["wave-1", "wave-2"],
    "privacy": {"epsilon": 4, "allocation": "sample", "ask": 2, "waves": "memoize"},
    "results": {"from": 100, "every": 20},
    "questions": [
        {"name": "used", "kind": "yes-no", "text": "Used?"},
        {"name": "often", "kind": "choice", "text": "Often?", "options": ["a", {"en": "b"}],
         "show_if": {"question": "used", "is": ["Yes"]}},
        {"name": "mood", "kind": "scale", "text": "Mood?", "options": ["a", "b"],
         "scores": [1, 2.5]},
        {"name": "spent", "kind": "number", "text": "Spent?", "min": 0, "max": 10, "step": 0.5,
         "unit": "euro", "points": 3},
        {"name": "places", "kind": "multiple", "text": "Where?", "options": ["a", "b", "c"],
         "ask": 2},
    ],
}  # fmt: skip


def test_is_a_schema() -> None:
    """It is valid in its own dialect, and what the verb prints."""
    Draft202012Validator.check_schema(SCHEMA)
    printed = CliRunner().invoke(main, ["schema"]).output
    assert json.loads(printed) == SCHEMA


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples_pass(path: Path) -> None:
    """Every survey of the project passes."""
    assert not list(CHECK.iter_errors(tomllib.loads(path.read_text(encoding="utf-8"))))


def test_every_kind_passes() -> None:
    """A survey with all that can be said passes, and loads."""
    assert not list(CHECK.iter_errors(GOOD))
    budgets = copy.deepcopy(GOOD) | {"privacy": {}}
    del budgets["questions"][4]
    for question, budget in zip(
        budgets["questions"],
        ({"odds": "3:1"}, {"epsilon": 1}, {"truth": "3/4"}, {"odds": " 2 : 1 "}),
        strict=True,
    ):
        question.update(budget)
    for source in (GOOD, budgets):
        assert not list(CHECK.iter_errors(source))
        assert Survey.load(source).questions


def test_no_key_is_missing() -> None:
    """The schema knows exactly the keys that the compiler reads."""
    assert set(SCHEMA["properties"]) == set(SURVEY_KEYS)
    assert set(SCHEMA["properties"]["privacy"]["properties"]) == set(PRIVACY_KEYS)
    question = SCHEMA["$defs"]["question"]["properties"]
    assert set(question) == {key for keys in KEYS.values() for key in keys}
    assert all("description" in value for value in question.values())


WRONG: list[tuple[int | None, dict[str, Any]]] = [
    (None, {"titel": "x"}),
    (None, {"name": "De mo"}),
    (None, {"name": "x" * 41}),
    (None, {"language": 3}),
    (None, {"title": "  "}),
    (None, {"title": {}}),
    (None, {"title": {"e n": "x"}}),
    (None, {"title": "x" * 201}),
    (None, {"arms": []}),
    (None, {"arms": ["a", "a"]}),
    (None, {"arms": ["Wave 1"]}),
    (None, {"questions": []}),
    (None, {"questions": [5]}),
    (None, {"privacy": {"epsilon": "2"}}),
    (None, {"privacy": {"epsilon": 0}}),
    (None, {"privacy": {"epsilon": 2, "ask": 1}}),
    (None, {"privacy": {"epsilon": 2, "allocation": "sample"}}),
    (None, {"privacy": {"epsilon": 2, "waves": "fresh"}}),
    (None, {"results": {"from": 1}}),
    (0, {"kind": "yesno"}),
    (0, {"name": "id"}),
    (0, {"name": "Used"}),
    (0, {"text": None}),
    (0, {"optional": "no"}),
    (0, {"options": ["a", "b", "c"]}),
    (0, {"odds": 3}),
    (0, {"odds": "3:1", "epsilon": 1}),
    (0, {"scores": [1, 2]}),
    (0, {"epsilon": 800}),
    (0, {"share": 0}),
    (1, {"options": ["a"]}),
    (1, {"options": ["a", "a"]}),
    (1, {"options": ["a", ""]}),
    (1, {"show_if": "used"}),
    (1, {"show_if": {"question": "used"}}),
    (2, {"min": 1}),
    (2, {"scores": ["1", "2"]}),
    (3, {"min": "0"}),
    (3, {"step": 0}),
    (3, {"options": ["a", "b"]}),
    (3, {"points": 1}),
    (4, {"odds": "3:1"}),
    (4, {"ask": 0}),
]


@pytest.mark.parametrize(("question", "change"), WRONG)
def test_wrong_ones_fail(question: int | None, change: dict[str, Any]) -> None:
    """What the compiler refuses for its shape, the schema refuses too."""
    source = copy.deepcopy(GOOD)
    (source if question is None else source["questions"][question]).update(change)
    assert list(CHECK.iter_errors(source))
    with pytest.raises(SurveyError):
        Survey.load(source)


@pytest.mark.parametrize("key", ["name", "title", "questions"])
def test_needed_keys(key: str) -> None:
    """A survey without a key it needs fails."""
    source = {k: v for k, v in GOOD.items() if k != key}
    assert list(CHECK.iter_errors(source))


@pytest.mark.parametrize(
    ("question", "key"), [(0, "kind"), (1, "options"), (3, "max"), (4, "text")]
)
def test_needed_keys_of_a_question(question: int, key: str) -> None:
    """So does a question."""
    source = copy.deepcopy(GOOD)
    del source["questions"][question][key]
    assert list(CHECK.iter_errors(source))
    with pytest.raises(SurveyError):
        Survey.load(source)
