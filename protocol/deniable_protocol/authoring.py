"""From an author's ``survey.toml`` to a published survey, reporting every mistake at once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

from .authoring_questions import compile_question, option_count
from .blind import PublicKey
from .budget import Claim, best_points, claim, read_total, sample, split
from .channel import Channel
from .errors import ChannelError, SurveyError, TokenError
from .fields import Problems, is_language, read_name, read_text, read_whole
from .survey import ARM, FORMAT, SURVEY_NAME, Results, Survey, build_survey

MAX_QUESTIONS: Final = 200
SURVEY_KEYS: Final = (
    "name", "title", "intro", "language", "arms", "invite_key", "results", "privacy", "questions",
)  # fmt: skip
PRIVACY_KEYS: Final = ("epsilon", "allocation", "ask", "waves")


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
    problems = Problems(file)
    published = _survey(source, problems)
    if problems.found:
        raise SurveyError(problems.found)
    return build_survey(published)


def _survey(source: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    problems.unknown(source, SURVEY_KEYS)
    language = source.get("language", "en")
    if not is_language(language):
        problems.key("language").add(f': expected a language code such as "en", got {language!r}')
        language = "en"
    published: dict[str, Any] = {
        "format": FORMAT,
        "name": read_name(source, SURVEY_NAME, "lower-case letters, digits and hyphens", problems),
        "language": language,
        "title": read_text(source, "title", language, problems),
    }
    if "intro" in source:
        published["intro"] = read_text(source, "intro", language, problems)
    if "arms" in source:
        published["arms"] = _arms(source["arms"], problems.key("arms"))
    if "invite_key" in source:
        published["invite_key"] = _invite_key(source["invite_key"], problems.key("invite_key"))
    if "results" in source:
        published["results"] = _results(source["results"], problems.at(", [results]"))
    given = source.get("questions")
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_QUESTIONS:
        problems.key("questions").add(f": expected 1 to {MAX_QUESTIONS} [[questions]] tables")
        return published
    questions: list[dict[str, Any]] = []
    for question in given:
        questions.append(compile_question(question, language, questions, problems))
    problems.repeats([question.get("name") for question in questions], "question")
    published |= _privacy(source.get("privacy", {}), given, questions, problems)
    return published


def _invite_key(given: object, problems: Problems) -> dict[str, Any]:
    try:
        return PublicKey.parse(given if isinstance(given, Mapping) else {}).published
    except TokenError as error:
        problems.add(f": {error}; paste the [invite_key] table that 'deniable invite' prints")
        return {}


def _results(given: object, problems: Problems) -> dict[str, Any]:
    table = given if isinstance(given, Mapping) else {}
    if table is not given:
        problems.add(": expected a [results] table")
    problems.unknown(table, ("from", "every"))
    usual = Results()
    return {
        "from": read_whole(table, "from", 10, 10**9, problems) or usual.minimum,
        "every": read_whole(table, "every", 10, 10**9, problems) or usual.every,
    }


def _arms(given: object, problems: Problems) -> list[str]:
    names = given if isinstance(given, list) else []
    if not names or not all(isinstance(arm, str) and ARM.fullmatch(arm) for arm in names):
        problems.add(": expected a list of names in lower-case letters, digits and hyphens")
        return []
    problems.repeats(names, "arm")
    return names


def _privacy(
    given: object,
    sources: list[Any],
    questions: list[dict[str, Any]],
    problems: Problems,
) -> dict[str, Any]:
    """Fix every channel from the [privacy] table and what the questions claim."""
    if not isinstance(given, Mapping):
        problems.key("privacy").add(": expected a [privacy] table")
        return {}
    here = problems.at(", [privacy]")
    here.unknown(given, PRIVACY_KEYS)
    ask = _allocation(given, len(questions), here)
    if given.get("waves", "memoize") != "memoize":
        here.key("waves").add(f': expected "memoize", got {given["waves"]!r}')
    claims = _claims(sources, questions, "waves" in given, problems)
    channels = _channels(given.get("epsilon"), ask, claims, here)
    if problems.found:
        return {}
    found: dict[str, Any] = {
        "questions": [
            question | {"channel": {"k": c.options, "d": c.subset, "a": c.a, "b": c.b}}
            for question, c in zip(questions, channels, strict=True)
        ]
    }
    found |= {"ask": ask} if ask is not None else {}
    return found | ({"waves": "memoize"} if "waves" in given else {})


def _allocation(privacy: Mapping[str, Any], questions: int, problems: Problems) -> int | None:
    allocation = privacy.get("allocation", "split")
    if allocation not in ("split", "sample"):
        problems.key("allocation").add(f': expected "split" or "sample", got {allocation!r}')
    if (allocation == "sample") != ("ask" in privacy):
        problems.key("ask").add(': give it with allocation = "sample", and only then')
    if "ask" in privacy and questions < 2:
        problems.key("ask").add(": of one question none can be left out")
        return None
    return read_whole(privacy, "ask", 1, questions - 1, problems)


def _channels(
    total: object, ask: int | None, claims: list[Claim], problems: Problems
) -> list[Channel]:
    try:
        if total is not None:
            read_total(total)
        if problems.found:
            return []
        return split(total, claims) if ask is None else sample(total, claims, ask)
    except ChannelError as error:
        problems.add(f": {error}")
        return []


def _claims(
    sources: list[Any], questions: list[dict[str, Any]], memoize: bool, problems: Problems
) -> list[Claim]:
    claims = []
    for source, question in zip(sources, questions, strict=True):
        try:
            claims.append(_claim(source, question, memoize))
        except ChannelError as error:
            problems.add(f": question '{question['name']}', privacy budget: {error}")
        except (SurveyError, KeyError):  # the question has no options or no range: already said
            continue
    return claims


def _claim(source: Mapping[str, Any], question: dict[str, Any], memoize: bool) -> Claim:
    options = option_count(question)
    if options is not None:
        pieces = (question.get("ask") or len(question["options"])) if (
            question["kind"] == "multiple") else 1  # fmt: skip
        build = partial(Channel, options, 1) if memoize else partial(Channel.best, options)
        return claim(source, build, options, pieces)
    number = question["number"]
    low, high, step = (Fraction(number[key]) for key in ("min", "max", "step"))
    steps, extras = int((high - low) / step), question["optional"] + ("show_if" in question)
    points = source.get("points")
    if points is None:
        return claim(source, lambda odds: best_points(odds, steps, extras), None)
    if isinstance(points, bool) or not isinstance(points, int) or not 2 <= points <= steps + 1:
        raise ChannelError(f"points must be a whole number from 2 to {steps + 1}, got {points!r}")
    return claim(source, partial(Channel, points + extras, 1), points + extras)
