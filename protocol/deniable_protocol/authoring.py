"""From an author's ``survey.toml`` to a published survey, reporting every mistake at once."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from .budget import Claim, claim, read_total, split
from .channel import MAX_OPTIONS, Channel
from .errors import ChannelError, SurveyError
from .survey import FORMAT, KINDS, LANGUAGE, QUESTION_NAME, SURVEY_NAME, Survey

MAX_QUESTIONS: Final = 200
_SURVEY_KEYS: Final = ("name", "title", "intro", "language", "privacy", "questions")
_PRIVACY_KEYS: Final = ("epsilon", "allocation")
_QUESTION_KEYS: Final = (
    "name", "kind", "text", "options", "scores", "optional", "share", "epsilon", "odds", "truth",
)  # fmt: skip
_YES_NO: Final = (
    {"en": "Yes", "bn": "হ্যাঁ", "zh-Hant": "是"},
    {"en": "No", "bn": "না", "zh-Hant": "否"},
)
_LONGEST: Final = {"title": 200, "intro": 5000, "text": 2000, "option": 300}
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ufeff]|[\ud800-\udfff]")


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file with numbers kept exactly as they are written.

    Raises:
        SurveyError: If the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise SurveyError([f"{path}: {error.strerror or 'cannot be read'}"]) from None
    except UnicodeDecodeError:
        raise SurveyError([f"{path.name}: expected text in UTF-8"]) from None
    except tomllib.TOMLDecodeError as error:
        raise SurveyError([f"{path.name}: not valid TOML: {error}"]) from None


def compile_survey(source: Mapping[str, Any], file: str) -> Survey:
    """Check an author's survey and fix its channels.

    Args:
        source: The parsed file.
        file: What to call the file in messages.

    Raises:
        SurveyError: With every mistake, each naming file, question and key.
    """
    problems = _Problems(file)
    published = _survey(source, problems)
    if problems.found:
        raise SurveyError(problems.found)
    return Survey.from_published(published)


@dataclass
class _Problems:
    """Collects mistakes, each with the place where it was made."""

    where: str
    found: list[str] = field(default_factory=list)

    def at(self, place: str) -> _Problems:
        return _Problems(f"{self.where}{place}", self.found)

    def add(self, sentence: str) -> None:
        self.found.append(f"{self.where}{sentence}")

    def unknown(self, given: Iterable[str], known: tuple[str, ...]) -> None:
        for key in given:
            if key not in known:
                close = difflib.get_close_matches(str(key), known, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
                self.add(f": unknown key '{key}'; {hint}")


def _survey(source: Mapping[str, Any], problems: _Problems) -> dict[str, Any]:
    problems.unknown(source, _SURVEY_KEYS)
    language = source.get("language", "en")
    if not isinstance(language, str) or not LANGUAGE.fullmatch(language):
        problems.add(f", key 'language': expected a language code such as \"en\", got {language!r}")
        language = "en"
    published: dict[str, Any] = {
        "format": FORMAT,
        "name": _name(source, SURVEY_NAME, "lower-case letters, digits and hyphens", problems),
        "language": language,
        "title": _text(source, "title", language, problems),
    }
    if "intro" in source:
        published["intro"] = _text(source, "intro", language, problems)
    given = source.get("questions")
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_QUESTIONS:
        problems.add(f", key 'questions': expected 1 to {MAX_QUESTIONS} [[questions]] tables")
        return published
    questions = [_question(q, language, problems, place) for place, q in enumerate(given, 1)]
    _repeats([q.get("name") for q in questions], "question", problems)
    channels = _channels(source, given, questions, problems)
    if not problems.found:
        published["questions"] = [
            q | {"channel": {"k": c.options, "d": c.subset, "a": c.a, "b": c.b}}
            for q, c in zip(questions, channels, strict=True)
        ]
        total = math.prod((c.odds for c in channels), start=Fraction(1))
        published["odds"] = [str(total.numerator), str(total.denominator)]
    return published


def _question(source: object, language: str, problems: _Problems, place: int) -> dict[str, Any]:
    if not isinstance(source, Mapping):
        problems.add(f": question {place} must be a [[questions]] table")
        return {}
    label = source.get("name")
    here = problems.at(f": question '{label}'" if isinstance(label, str) else f": question {place}")
    here.unknown(source, _QUESTION_KEYS)
    kind = source.get("kind")
    if kind not in KINDS:
        here.add(f", key 'kind': expected one of {', '.join(KINDS)}, got {kind!r}")
    optional = source.get("optional", False)
    if not isinstance(optional, bool):
        here.add(f", key 'optional': expected true or false, got {optional!r}")
    hint = 'a lower-case letter, then letters, digits and underscores ("id" is taken)'
    question: dict[str, Any] = {
        "name": _name(source, QUESTION_NAME, hint, here),
        "kind": kind,
        "text": _text(source, "text", language, here),
        "options": _options(source, kind, language, here),
        "optional": optional is True,
    }
    scores = _scores(source, kind, len(question["options"]), here)
    return question | ({"scores": scores} if scores else {})


def _options(
    source: Mapping[str, Any], kind: object, language: str, problems: _Problems
) -> list[dict[str, str]]:
    given = source.get("options")
    if given is None and kind == "yes-no":
        if language not in _YES_NO[0]:
            problems.add(f", key 'options': write yes and no in '{language}', in this order")
        spoken = _spoken(source.get("text"), language)
        return [{tag: option[tag] for tag in option if tag in spoken} for option in _YES_NO]
    if given is None and kind not in KINDS:  # already reported
        return []
    most = 2 if kind == "yes-no" else MAX_OPTIONS - 1
    if not isinstance(given, list) or not 2 <= len(given) <= most:
        wanted = "2 options" if most == 2 else f"a list of 2 to {most} options"
        problems.add(f", key 'options': expected {wanted}")
        return []
    options = [
        _one_text(option, _LONGEST["option"], language, problems.at(f", option {place}"))
        for place, option in enumerate(given, 1)
    ]
    for tag in sorted({tag for option in options for tag in option}):
        _repeats([option.get(tag) for option in options], "option", problems)
    return options


def _spoken(text: object, language: str) -> set[str]:
    return {language, *text} if isinstance(text, Mapping) else {language}


def _scores(
    source: Mapping[str, Any], kind: object, options: int, problems: _Problems
) -> list[str]:
    if kind != "scale":
        if "scores" in source:
            problems.add(", key 'scores': only a question of kind 'scale' has scores")
        return []
    given = source.get("scores", list(range(1, options + 1)))
    if not isinstance(given, list) or len(given) != options:
        problems.add(f", key 'scores': expected a list of {options} numbers, one for each option")
        return []
    scores = []
    for place, score in enumerate(given, 1):
        number = isinstance(score, int | float | Decimal) and not isinstance(score, bool)
        if not number or not abs(Decimal(str(score))) <= 10**9:
            problems.add(f", score {place}: expected a number, got {score!r}")
        else:
            scores.append(str(Fraction(str(score))))
    return scores


def _channels(
    source: Mapping[str, Any],
    given: list[Any],
    questions: list[dict[str, Any]],
    problems: _Problems,
) -> list[Channel]:
    total = _total(source.get("privacy", {}), problems)
    claims: list[Claim] = []
    for question, compiled in zip(given, questions, strict=True):
        options = len(compiled.get("options", ())) + compiled.get("optional", False)
        if options < 2:  # already reported
            continue
        try:
            claims.append(claim(question, options))
        except ChannelError as error:
            problems.add(f": question '{compiled['name']}', privacy budget: {error}")
    if problems.found:
        return []
    try:
        return split(total, claims)
    except ChannelError as error:
        problems.add(f", [privacy]: {error}")
        return []


def _total(privacy: object, problems: _Problems) -> object:
    """Check the [privacy] table and give its epsilon, or None."""
    if not isinstance(privacy, Mapping):
        problems.add(", key 'privacy': expected a [privacy] table")
        return None
    here = problems.at(", [privacy]")
    here.unknown(privacy, _PRIVACY_KEYS)
    if privacy.get("allocation", "split") != "split":
        here.add(f", key 'allocation': expected \"split\", got {privacy['allocation']!r}")
    total = privacy.get("epsilon")
    if total is not None:
        try:
            read_total(total)
        except ChannelError as error:
            here.add(f": {error}")
    return total


def _name(
    source: Mapping[str, Any], pattern: re.Pattern[str], hint: str, problems: _Problems
) -> str:
    name = source.get("name")
    if not isinstance(name, str) or not pattern.fullmatch(name):
        problems.add(f", key 'name': expected up to 40 characters: {hint}; got {name!r}")
        return ""
    return name


def _text(
    source: Mapping[str, Any], key: str, language: str, problems: _Problems
) -> dict[str, str]:
    return _one_text(source.get(key), _LONGEST[key], language, problems.at(f", key '{key}'"))


def _one_text(given: object, longest: int, language: str, problems: _Problems) -> dict[str, str]:
    table = {language: given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not table:
        problems.add(": expected a text, or a table of texts by language")
        return {}
    if language not in table:
        problems.add(f": expected a text in the survey's language '{language}'")
    for tag, text in table.items():
        if not LANGUAGE.fullmatch(tag):
            problems.add(f': expected a language code such as "en", got {tag!r}')
        if not isinstance(text, str) or not text.strip():
            problems.add(": expected a text that is not empty")
        elif len(text) > longest:
            problems.add(f": expected at most {longest} characters, got {len(text)}")
        elif _UNPRINTABLE.search(text):
            problems.add(": holds a character that cannot be shown")
    return {tag: text.strip() for tag, text in table.items() if isinstance(text, str)}


def _repeats(texts: list[str | None], what: str, problems: _Problems) -> None:
    seen: dict[str, int] = {}
    for place, text in enumerate(texts, 1):
        if not text:
            continue
        first = seen.setdefault(unicodedata.normalize("NFKC", text).casefold(), place)
        sentence = f'{what} {place} repeats {what} {first} ("{text}")'
        where = ", " if what == "option" else ": "
        if first != place and not any(sentence in found for found in problems.found):
            problems.add(f"{where}{sentence}")
