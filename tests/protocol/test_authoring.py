"""An author's mistakes: each is found, named with file, question and key, and all come at once."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable_protocol import Survey, SurveyError

GOOD: dict[str, Any] = {
    "name": "demo",
    "title": "Demo",
    "privacy": {"epsilon": 2},
    "questions": [
        {"name": "used", "kind": "yes-no", "text": "Used?"},
        {"name": "age", "kind": "choice", "text": "Age?", "options": ["young", "middle", "old"]},
        {"name": "mood", "kind": "scale", "text": "Mood?", "options": ["low", "high"]},
    ],
}


def problems(change: dict[str, Any], question: int | None = None) -> tuple[str, ...]:
    source = copy.deepcopy(GOOD)
    (source if question is None else source["questions"][question]).update(change)
    with pytest.raises(SurveyError) as caught:
        Survey.load(source)
    return caught.value.problems


@pytest.mark.parametrize(
    ("change", "question", "expected"),
    [
        ({"titel": "x"}, None, "survey: unknown key 'titel'; did you mean 'title'?"),
        ({"name": "De mo"}, None, "survey, key 'name': expected up to 40 characters: lower-case "
         "letters, digits and hyphens; got 'De mo'"),
        ({"language": 3}, None, "survey, key 'language': expected a language code such as "
         '"en", got 3'),
        ({"title": "  "}, None, "survey, key 'title': expected a text that is not empty"),
        ({"title": {"bn": "x"}}, None, "survey, key 'title': expected a text in the survey's "
         "language 'en'"),
        ({"title": "a\x1b[31m"}, None, "survey, key 'title': holds a character that cannot be "
         "shown"),
        ({"title": "x" * 201}, None, "survey, key 'title': expected at most 200 characters, "
         "got 201"),
        ({"questions": []}, None, "survey, key 'questions': expected 1 to 200 [[questions]] "
         "tables"),
        ({"questions": [5]}, None, "survey: question 1 must be a [[questions]] table"),
        ({"privacy": 2}, None, "survey, key 'privacy': expected a [privacy] table"),
        ({"privacy": {}}, None, "survey, [privacy]: expected an epsilon for the survey, or one in "
         "every question"),
        ({"privacy": {"epsilon": "2"}}, None, "survey, [privacy]: epsilon must be a number, "
         "got '2'"),
        ({"privacy": {"epsilon": float("nan")}}, None, "survey, [privacy]: epsilon must be from "
         "0.001 to 1000, got nan"),
        ({"privacy": {"epsilon": 0}}, None, "survey, [privacy]: epsilon must be from 0.001 to "
         "1000, got 0"),
        ({"privacy": {"epsilon": 2, "eps": 1}}, None, "survey, [privacy]: unknown key 'eps'; "
         "did you mean 'epsilon'?"),
        ({"name": "id"}, 0, "survey: question 'id', key 'name': expected up to 40 characters: a "
         'lower-case letter, then letters, digits and underscores ("id" and "arm" are taken); '
         "got 'id'"),
        ({"kind": "yesno"}, 0, "survey: question 'used', key 'kind': expected one of yes-no, "
         "choice, scale, number, multiple, got 'yesno'"),
        ({"text": None}, 0, "survey: question 'used', key 'text': expected a text, or a table of "
         "texts by language"),
        ({"optional": "no"}, 0, "survey: question 'used', key 'optional': expected true or false, "
         "got 'no'"),
        ({"name": "age"}, 0, 'survey: question 2 repeats question 1 ("age")'),
        ({"options": ["young", "old", "Young "]}, 1, "survey: question 'age', option 3 repeats "
         'option 1 ("Young")'),
        ({"options": ["young"]}, 1, "survey: question 'age', key 'options': expected a list of 2 "
         "to 998 options"),
        ({"options": ["young", ""]}, 1, "survey: question 'age', option 2: expected a text that "
         "is not empty"),
        ({"options": ["a", "b", "c"]}, 0, "survey: question 'used', key 'options': expected 2 "
         "options"),
        ({"scores": [1, 2, 3]}, 1, "survey: question 'age', key 'scores': does not go with kind "
         "'choice'"),
        ({"scores": [1]}, 2, "survey: question 'mood', key 'scores': expected a list of 2 "
         "numbers, one for each option"),
        ({"scores": [1, "2"]}, 2, "survey: question 'mood', score 2: expected a number, got '2'"),
        ({"odds": "3:1", "epsilon": 1}, 0, "survey: question 'used', privacy budget: give only one "
         "of epsilon, odds"),
        ({"odds": "1:3"}, 0, "survey: question 'used', privacy budget: odds must be above 1, "
         "got 1/3"),
        ({"odds": 3}, 0, "survey: question 'used', privacy budget: odds must be written like "
         '"3:1", got 3'),
        ({"truth": "1/2"}, 0, "survey: question 'used', privacy budget: truth must be written "
         'like "3/4", above 1/2 and below 1, got \'1/2\''),
        ({"epsilon": 800}, 0, "survey: question 'used', privacy budget: epsilon must be from "
         "0.001 to 15, got 800"),
        ({"share": 0}, 0, "survey: question 'used', privacy budget: share must be above 0 and at "
         "most 1000, got 0"),
        ({"epsilon": 2.5}, 0, "survey, [privacy]: the questions with a budget of their own take "
         "epsilon 2.5000 of 2"),
    ],
)  # fmt: skip
def test_each_mistake(change: dict[str, Any], question: int | None, expected: str) -> None:
    """One mistake gives one sentence that says what was expected and what came."""
    assert problems(change, question) == (expected,)


def test_all_at_once(tmp_path: Path) -> None:
    """A file with five mistakes is reported with all five, each starting with the file's name."""
    path = tmp_path / "survey.toml"
    path.write_text(
        'name = "x"\ntitel = "y"\n[privacy]\nepsilon = nan\n[[questions]]\nname = "a"\n'
        'kind = "choice"\ntext = "?"\noptions = ["1", "1"]\nodds = "0:1"\n'
    )
    with pytest.raises(SurveyError) as caught:
        Survey.load(path)
    found = caught.value.problems
    assert len(found) == 5, found
    assert all(problem.startswith("survey.toml") for problem in found)
    assert str(caught.value) == "\n".join(found)


def test_files_that_are_no_survey(tmp_path: Path) -> None:
    """A missing file, broken TOML and bytes that are no text are told apart."""
    with pytest.raises(SurveyError, match="No such file"):
        Survey.load(tmp_path / "missing.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("name = ")
    with pytest.raises(SurveyError, match=r"broken\.toml: not valid TOML: Invalid value"):
        Survey.load(broken)
    broken.write_bytes(b'name = "\xff"')
    with pytest.raises(SurveyError, match=r"broken\.toml: expected text in UTF-8"):
        Survey.load(broken)
    (tmp_path / "survey.json").write_text("{}")
    with pytest.raises(SurveyError, match="published survey: missing key 'format'"):
        Survey.load(tmp_path / "survey.json")


def test_budget_split_by_share() -> None:
    """Shares divide what own budgets leave, and the total is never above what was asked."""
    source = copy.deepcopy(GOOD)
    source["questions"][0]["odds"] = "3:1"
    source["questions"][1]["share"] = 2
    survey = Survey.load(source)
    own, double, single = (q.channel.epsilon for q in survey.questions)
    assert survey["used"].channel.odds == 3
    assert double == pytest.approx(2 * single, rel=1e-5)
    assert own + double + single == pytest.approx(survey.epsilon, abs=1e-12)
    assert survey.epsilon <= 2


def test_every_way_to_state_a_budget() -> None:
    """Epsilon, odds and truth all give exact odds."""
    source = copy.deepcopy(GOOD)
    del source["privacy"]
    for question, own in zip(
        source["questions"], ({"epsilon": 1.1}, {"odds": "6:2"}, {"truth": "3/4"}), strict=True
    ):
        question.update(own)
    used, age, mood = (q.channel.odds for q in Survey.load(source).questions)
    assert used <= Fraction("3.00416602394643")
    assert used > Fraction("3.00416")
    assert (age, mood) == (3, 3)


def test_optional_is_one_more_option() -> None:
    """A question that may be skipped has one more option in its channel."""
    source = copy.deepcopy(GOOD)
    source["questions"][0]["optional"] = True
    survey = Survey.load(source)
    assert survey["used"].channel.options == 3
    assert survey["used"].labels == ("Yes", "No", "No answer")


def test_scores() -> None:
    """A scale counts from 1 unless it says otherwise; scores stay exact."""
    assert Survey.load(GOOD)["mood"].scores == (1, 2)
    source = copy.deepcopy(GOOD)
    source["questions"][2]["scores"] = [-0.1, 0.2]
    assert Survey.load(source)["mood"].scores == (Fraction(-1, 10), Fraction(1, 5))


def test_published_form_round_trips(tmp_path: Path) -> None:
    """What is published can be read back, from bytes, file and mapping, with the same digest."""
    survey = Survey.load(GOOD)
    path = tmp_path / "survey.json"
    path.write_bytes(survey.to_json())
    for again in (
        Survey.from_json(survey.to_json()),
        Survey.load(path),
        Survey.load(survey.published),
    ):
        assert again == survey
        assert again.digest == survey.digest
    assert b"." not in survey.to_json().replace(b"?", b""), "no floats"


def test_a_changed_survey_has_another_digest() -> None:
    """Any change of a word or of the noise changes the digest."""
    digests = {Survey.load(GOOD).digest}
    for change in ({"title": "Demo 2"}, {"privacy": {"epsilon": 1.9}}, {"intro": "Hello"}):
        digests.add(Survey.load(copy.deepcopy(GOOD) | change).digest)
    assert len(digests) == 4


def test_unknown_question() -> None:
    """Asking for a question that is not there names those that are."""
    with pytest.raises(SurveyError, match="has no question 'x'; it has 'used', 'age', 'mood'"):
        Survey.load(GOOD)["x"]
