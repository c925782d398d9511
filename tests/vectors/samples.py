"""Surveys that the vectors use, what is said to them, and ways to tamper with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from deniable_client.answers import Answer
from deniable_protocol import Question, Survey

Given = Mapping[str, Any]
"""Answers as vectors hold them: an option's index, a list of ticked ones, a decimal, or null."""

YES_NO = {"name": "used", "kind": "yes-no", "text": "Have you used it?"}
AGES = {"name": "age", "kind": "choice", "text": {"en": "Age?", "bn": "বয়স?"},
        "options": ["under 30", "30 to 49", "50 or over"], "optional": True}  # fmt: skip
DISTRICT = {"name": "district", "kind": "choice", "text": "District?",
            "options": [f"District {n}" for n in range(1, 31)], "epsilon": 1}  # fmt: skip
MOOD = {"name": "mood", "kind": "scale", "text": "Mood?", "share": 2,
        "options": ["low", "so-so", "fine"], "scores": [-1, 0, 1.5]}  # fmt: skip
HOURS = {"name": "hours", "kind": "number", "text": "Hours?", "min": -2.5, "max": 10, "step": 0.25,
         "points": 3, "unit": {"en": "hours", "bn": "ঘণ্টা"}}  # fmt: skip
KINDS = {"name": "kinds", "kind": "multiple", "text": "Which?", "options": ["a", "b", "c", "d"]}
WHEN = {"question": "used", "is": "Yes"}


def surveys() -> dict[str, Survey]:
    """Give every sample survey by name."""
    sources = [
        {"name": "one", "title": "One", "questions": [YES_NO | {"odds": "3:1"}]},
        {"name": "two", "title": {"en": "Two", "bn": "দুই"}, "intro": "Hello “you” <b>",
         "privacy": {"epsilon": 2}, "questions": [YES_NO, AGES, MOOD]},
        {"name": "three", "title": "Three", "privacy": {"epsilon": 3.5},
         "questions": [DISTRICT, MOOD, YES_NO]},
        {"name": "kinds", "title": "Kinds", "privacy": {"epsilon": 4}, "arms": ["north", "south-2"],
         "questions": [
             YES_NO, HOURS, KINDS | {"show_if": WHEN},
             KINDS | {"name": "some", "optional": True, "ask": 2},
             HOURS | {"name": "more", "optional": True, "show_if": WHEN, "points": 2},
             AGES | {"name": "often", "show_if": {"question": "kinds", "is": ["a", "d"]}},
         ]},
        {"name": "sampled", "title": "Sampled",
         "privacy": {"epsilon": 3, "allocation": "sample", "ask": 2},
         "questions": [YES_NO, AGES | {"show_if": WHEN}, HOURS, KINDS | {"ask": 1}]},
        {"name": "panel", "title": "Panel", "arms": [f"w{n}" for n in range(1, 7)],
         "privacy": {"epsilon": 3, "waves": "memoize"},
         "questions": [YES_NO, HOURS, KINDS | {"options": ["a", "b"]}, AGES | {"show_if": WHEN}]},
    ]  # fmt: skip
    return {str(source["name"]): Survey.load(source) for source in sources}


def given(survey: Survey, case: int) -> dict[str, Any]:
    """Say something to every question, another thing in each case."""
    return {
        question.name: _given(question, case + 2 * place)
        for place, question in enumerate(survey.questions)
    }


def _given(question: Question, turn: int) -> Any:
    if question.optional and turn % 4 == 3:
        return None
    if question.grid is not None:
        step = turn * 37 % (question.grid.steps + 1)
        return str(Decimal(-25) / 10 + Decimal(step) / 4)
    if question.kind == "multiple":
        return [place for place in range(len(question.options)) if turn >> place & 1]
    return turn % len(question.options)


def said(survey: Survey, answers: Given) -> dict[str, Answer]:
    """Say the same as a Python application says it: labels and decimals."""
    names = {question.name: question for question in survey.questions}
    return {name: _said(names.get(name), answer) for name, answer in answers.items()}


def _said(question: Question | None, answer: Any) -> Any:
    if question is None or answer is None:
        return answer
    if isinstance(answer, list):
        return [_said(question, ticked) for ticked in answer]
    if question.grid is not None:
        try:
            return Decimal(answer)
        except (InvalidOperation, TypeError, ValueError):
            return answer
    if type(answer) is int and 0 <= answer < len(question.options):
        return str(question.options[answer])
    return f"no option {answer}"


def unfit(survey: Survey) -> Iterator[tuple[str, dict[str, Any]]]:
    """Say what the survey "kinds" must refuse, each with what is wrong."""
    good = given(survey, 1)
    assert good["used"] == 1, "the hidden questions need no answer"
    yield "nothing said to a question that may not be skipped", good | {"used": None}
    yield "the same for a number", good | {"hours": None}
    yield "the same for boxes", good | {"used": 0, "kinds": None}
    yield "an option past the last", good | {"used": 2}
    yield "an option before the first", good | {"used": -1}
    yield "two options of one", good | {"used": [0, 1]}
    yield "a box past the last", good | {"some": [0, 4]}
    yield "an option where boxes are expected", good | {"some": 1}
    yield "below the lowest", good | {"hours": "-2.75"}
    yield "above the highest", good | {"hours": "10.25"}
    yield "between two steps", good | {"hours": "1.1"}
    yield "a millionth of a millionth off", good | {"hours": "1.000000000001"}
    yield "not a number", good | {"hours": "NaN"}
    yield "infinite", good | {"hours": "Infinity"}
    yield "a number where an option is expected", good | {"used": "0.5"}
    yield "an answer to a question that is not asked", good | {"name": 0}
    yield "a question with the name of a property", good | {"constructor": 0}


def tampered(survey: Survey) -> Iterator[tuple[str, dict[str, Any]]]:
    """Break a published survey in every way that must be refused, each with what is wrong."""
    found: dict[str, Any] = survey.published

    def fresh(**change: object) -> dict[str, Any]:
        copy: dict[str, Any] = json.loads(survey.to_json())
        return {key: value for key, value in (copy | change).items() if value is not ...}

    def question(place: int, **change: object) -> dict[str, Any]:
        copy = fresh()
        old = copy["questions"][place]
        copy["questions"][place] = {k: v for k, v in (old | change).items() if v is not ...}
        return copy

    def channel(place: int = 0, **change: object) -> dict[str, Any]:
        return question(place, channel=fresh()["questions"][place]["channel"] | change)

    now = found["questions"][0]["channel"]
    yield "stronger odds than the total states", channel(a=now["a"] * 10)
    yield "weaker odds than the total states", channel(a=now["a"] + 1)
    yield "odds of 1 hide everything and measure nothing", channel(a=1, b=1)
    yield "odds below 1", channel(a=now["b"], b=now["a"])
    yield "b is 0: no noise at all", channel(b=0)
    yield "the subset is every option", channel(d=now["k"])
    yield "the subset is empty", channel(d=0)
    yield "more options in the channel than in the question", channel(k=now["k"] + 1)
    yield "fewer options in the channel than in the question", channel(k=now["k"] - 1)
    yield "a draw that needs more than four bytes", channel(a=2**32, b=1)
    yield "odds as a text", channel(a=str(now["a"]))
    yield "a subset that is not whole", channel(d=None)
    yield "another format", fresh(format="deniable-survey/2")
    yield "no questions", fresh(questions=[])
    yield "a total that is too small", fresh(odds=["2", "1"])
    yield "a question twice", fresh(questions=found["questions"] * 2)
    yield from _tampered_parts(survey.name, fresh, question, channel)


def _tampered_parts(
    name: str, fresh: Any, question: Any, channel: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through what only some surveys have."""
    if name == "one":
        yield "a name with a capital", fresh(name="One")
        yield "a question that would be the column of the key", question(0, name="id")
        yield "a question that would be the column of the arm", question(0, name="arm")
        yield "a kind that is none", question(0, kind="essay")
        yield "a key that nobody reads", question(0, weight=2)
        yield "a title that is not translated", fresh(title={"bn": "এক"})
        yield "an introduction that is nothing", fresh(intro=None)
        yield "no arms, said twice", fresh(arms=[])
        yield "waves that are none", fresh(waves="fresh")
        yield "a draw of questions, of one", fresh(ask=1)
        yield "scores where nothing is scored", question(0, scores=["0", "1"])
    if name == "two":
        for scores in (["-1", "0"], ["-1", "0", "1.5"], ["-1", "0", "6/4"], ["-1", "-0", "3/2"],
                       [-1, 0, 1], ...):  # fmt: skip
            yield "scores that are not three reduced fractions", question(2, scores=scores)
        yield "a choice that may not be skipped, with that option", question(1, optional=False)
    if name == "three":
        yield "a panel with a wide question", fresh(waves="memoize", arms=["a"])
    if name == "kinds":
        yield from _tampered_kinds(fresh, question, channel)
    if name == "sampled":
        for ask in (0, 4, True, "2", None):
            yield "not a number of questions that can be drawn", fresh(ask=ask)
        yield "all questions are sent, at the total of two", fresh(ask=...)


def _tampered_kinds(
    fresh: Any, question: Any, channel: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    grid = fresh()["questions"][1]["number"]
    for key, value in (("step", "0"), ("step", "-0.25"), ("step", "0.3"), ("step", "0.250"),
                       ("step", "0.0000001"), ("step", 1), ("min", "10"), ("min", "-2.5.0"),
                       ("max", "1e1"), ("max", "010"), ("max", "-0"), ("unit", None),
                       ("unit", {"bn": "ঘণ্টা"}), ("scale", "1")):  # fmt: skip
        yield f"numbers with another {key}", question(1, number=grid | {key: value})
    yield "a number without its numbers", question(1, number=...)
    yield "a number with no numbers", question(1, number=None)
    yield "a choice with numbers", question(5, number=grid)
    yield "a number with options", question(1, options=[{"en": "1"}, {"en": "2"}, {"en": "3"}])
    yield "a number that sends two points", channel(1, d=2)
    for ask in (0, 4, True, None):
        yield "not a number of boxes that can be drawn", question(3, ask=ask)
    yield "all boxes are sent, at the total of two", question(3, ask=...)
    yield "a draw of the boxes of a choice", question(5, ask=1)
    yield "one box", question(2, options=[{"en": "a"}])
    yield "a channel for four options, not for a box", channel(2, k=5)
    for when in ({"question": "often", "is": [0]}, {"question": "kinds", "is": [0]},
                 {"question": "hours", "is": [0]}, {"question": "nobody", "is": [0]},
                 {"question": "used", "is": []}, {"question": "used", "is": [2]},
                 {"question": "used", "is": [-1]}, {"question": "used", "is": [True]},
                 {"question": "used", "is": 0}, {"question": "used"}, None, ...):  # fmt: skip
        yield "a condition on nothing that was asked before", question(2, show_if=when)
    yield (
        "a condition with a key more",
        question(2, show_if={"question": "used", "is": [0], "or": 1}),
    )
    for arms in (None, "north", ["North"], [1], {"north": 1}):
        yield "arms that are not names", fresh(arms=arms)
