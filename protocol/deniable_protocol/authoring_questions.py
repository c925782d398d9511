"""Compile one ``[[questions]]`` table: each kind is an encoding in front of the same channel."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from .channel import MAX_OPTIONS
from .errors import SurveyError
from .fields import (
    LONGEST,
    Problems,
    is_number,
    read_decimal,
    read_flag,
    read_name,
    read_one_text,
    read_text,
    read_whole,
)
from .question import KINDS, MAX_STEPS, QUESTION_NAME, decimal

_ANY: Final = ("name", "kind", "text", "optional", "show_if", "share", "epsilon")
_EXACT: Final = ("odds", "truth")
KEYS: Final = {
    "yes-no": (*_ANY, *_EXACT, "options"),
    "choice": (*_ANY, *_EXACT, "options"),
    "scale": (*_ANY, *_EXACT, "options", "scores"),
    "number": (*_ANY, *_EXACT, "min", "max", "step", "unit", "points"),
    "multiple": (*_ANY, "options", "ask"),
}
MAX_BOXES: Final = 100
_YES_NO: Final = (
    {"en": "Yes", "bn": "হ্যাঁ", "zh-Hant": "是"},
    {"en": "No", "bn": "না", "zh-Hant": "否"},
)


def compile_question(
    source: object, language: str, earlier: list[dict[str, Any]], problems: Problems
) -> dict[str, Any]:
    """Compile a question, all but its channel.

    Args:
        source: The table.
        language: The survey's own language.
        earlier: The questions before this one, compiled; ``show_if`` may name them.
        problems: Where mistakes go.
    """
    place = len(earlier) + 1
    if not isinstance(source, Mapping):
        problems.add(f": question {place} must be a [[questions]] table")
        return {}
    label = source.get("name")
    here = problems.at(f": question '{label}'" if isinstance(label, str) else f": question {place}")
    kind = source.get("kind")
    if kind not in KINDS:
        here.key("kind").add(f": expected one of {', '.join(KINDS)}, got {kind!r}")
    _check_keys(source, str(kind), here)
    hint = 'a lower-case letter, then letters, digits and underscores ("id" and "arm" are taken)'
    question: dict[str, Any] = {
        "name": read_name(source, QUESTION_NAME, hint, here),
        "kind": kind,
        "text": read_text(source, "text", language, here),
        "options": _options(source, kind, language, here),
        "optional": read_flag(source, "optional", here),
    }
    if kind == "scale":
        question["scores"] = _scores(source, len(question["options"]), here)
    if kind == "number":
        question["number"] = _number(source, language, here)
    if kind == "multiple" and "ask" in source and question["options"]:
        question["ask"] = read_whole(source, "ask", 1, len(question["options"]) - 1, here)
    if "show_if" in source:
        question["show_if"] = _condition(source["show_if"], earlier, here.key("show_if"))
    return question


def _check_keys(source: Mapping[str, Any], kind: str, problems: Problems) -> None:
    every = tuple(dict.fromkeys(key for keys in KEYS.values() for key in keys))
    problems.unknown(source, every)
    for key in source:
        if key in every and key not in KEYS.get(kind, every):
            problems.key(key).add(f": does not go with kind '{kind}'")


def _options(
    source: Mapping[str, Any], kind: object, language: str, problems: Problems
) -> list[dict[str, str]]:
    given = source.get("options")
    if kind == "number" or (given is None and kind not in KINDS):  # already reported
        return []
    if given is None and kind == "yes-no":
        if language not in _YES_NO[0]:
            problems.key("options").add(f": write yes and no in '{language}', in this order")
        text = source.get("text")
        spoken = {language, *text} if isinstance(text, Mapping) else {language}
        return [{tag: option[tag] for tag in option if tag in spoken} for option in _YES_NO]
    most = {"yes-no": 2, "multiple": MAX_BOXES}.get(str(kind), MAX_OPTIONS - 2)
    if not isinstance(given, list) or not 2 <= len(given) <= most:
        wanted = "2 options" if most == 2 else f"a list of 2 to {most} options"
        problems.key("options").add(f": expected {wanted}")
        return []
    options = [
        read_one_text(option, LONGEST["option"], language, problems.at(f", option {place}"))
        for place, option in enumerate(given, 1)
    ]
    for tag in sorted({tag for option in options for tag in option}):
        problems.repeats([option.get(tag) for option in options], "option")
    return options


def _scores(source: Mapping[str, Any], options: int, problems: Problems) -> list[str]:
    given = source.get("scores", list(range(1, options + 1)))
    if not isinstance(given, list) or len(given) != options:
        sentence = f": expected a list of {options} numbers, one for each option"
        problems.key("scores").add(sentence)
        return []
    scores = []
    for place, score in enumerate(given, 1):
        if not is_number(score):
            problems.add(f", score {place}: expected a number, got {score!r}")
        else:
            scores.append(str(Fraction(str(score))))
    return scores


def _number(source: Mapping[str, Any], language: str, problems: Problems) -> dict[str, Any]:
    low = read_decimal(source, "min", None, problems)
    high = read_decimal(source, "max", None, problems)
    step = read_decimal(source, "step", 1, problems)
    if low is None or high is None or step is None:
        return {}
    steps = (high - low) / step if step > 0 else Fraction(0)
    if steps.denominator != 1 or not 1 <= steps <= MAX_STEPS:
        problems.key("max").add(
            f": expected min plus 1 to {MAX_STEPS:,} whole steps, got {decimal(low)} to "
            f"{decimal(high)} in steps of {decimal(step)}"
        )
        return {}
    found: dict[str, Any] = {"min": decimal(low), "max": decimal(high), "step": decimal(step)}
    if "unit" in source:
        found["unit"] = read_text(source, "unit", language, problems)
    return found


def _condition(
    given: object, earlier: list[dict[str, Any]], problems: Problems
) -> dict[str, Any] | None:
    if not isinstance(given, Mapping) or set(given) != {"question", "is"}:
        problems.add(': expected { question = "…", is = "…" }')
        return None
    asked = next((q for q in earlier if q.get("name") == given["question"]), None)
    if asked is None or asked["kind"] == "number":
        problems.add(f": expected an earlier question with options, got {given['question']!r}")
        return None
    wanted = given["is"] if isinstance(given["is"], list) else [given["is"]]
    indices = []
    for text in wanted:
        options = [i for i, option in enumerate(asked["options"]) if text in option.values()]
        if len(options) != 1:
            problems.add(f": expected an option of question '{asked['name']}', got {text!r}")
        indices += options
    if len(set(indices)) != len(indices) or not indices:
        problems.add(": expected one or more different options")
    return {"question": asked["name"], "is": sorted(indices)}


def option_count(question: Mapping[str, Any]) -> int | None:
    """Count the options of a compiled question's channel; None where ε decides (``number``).

    Raises:
        SurveyError: If the question has mistakes that make counting pointless.
    """
    extras = question["optional"] + (question.get("show_if") is not None)
    if question["kind"] == "number":
        return None
    own = 2 if question["kind"] == "multiple" else len(question["options"])
    if own < 2:
        raise SurveyError([])
    return int(own + extras)
