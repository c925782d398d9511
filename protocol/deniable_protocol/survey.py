"""The published survey: what every device, server and researcher agrees on, byte for byte."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from .canonical import canonical, digest, read_strict
from .channel import Channel, epsilon_of
from .errors import DeniableError, SurveyError

FORMAT: Final = "deniable-survey/1"
MAX_REPORT_BYTES: Final = 64 * 1024

SURVEY_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
QUESTION_NAME: Final = re.compile(r"(?!id$)[a-z][a-z0-9_]{0,39}")  # "id" names the report itself
LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")

Kind = Literal["yes-no", "choice", "scale"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)


@dataclass(frozen=True)
class Text:
    """Hold a text that a person reads, in one or more languages.

    >>> str(Text({"en": "Yes", "bn": "হ্যাঁ"}, "en")), Text({"en": "Yes"}, "en").to("bn")
    ('Yes', 'Yes')
    """

    by_language: Mapping[str, str]
    default: str

    def to(self, language: str | None) -> str:
        """Give the text in a language, or in the survey's own where it is not translated."""
        return self.by_language.get(language or self.default, self.by_language[self.default])

    def __str__(self) -> str:
        return self.by_language[self.default]


@dataclass(frozen=True)
class Question:
    """One question, its options as people read them, and the channel behind it.

    Attributes:
        options: The options that an author wrote, in order; a report's indices are places here.
        optional: True if the question may be skipped. Skipping is one more option, the last
            index, drawn through the same channel: whether someone answered is deniable too.
        scores: One exact number for each authored option of a ``scale``; empty otherwise.
    """

    name: str
    kind: Kind
    text: Text
    options: tuple[Text, ...]
    optional: bool
    channel: Channel
    scores: tuple[Fraction, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Every option of the channel in the survey's language; "No answer" last where optional."""
        own = tuple(str(option) for option in self.options)
        return (*own, NO_ANSWER) if self.optional else own


NO_ANSWER: Final = "No answer"


@dataclass(frozen=True)
class Survey:
    """A published survey. Build one with ``Survey.load``; it never changes afterwards.

    Attributes:
        name: Short name, part of the survey's address.
        title: What the survey is called.
        intro: What a respondent reads first; None if there is none.
        language: The language of texts that are not translated.
        questions: The questions in order.

    >>> survey = Survey.load({
    ...     "name": "demo", "title": "Demo", "privacy": {"epsilon": 2},
    ...     "questions": [
    ...         {"name": "cheated", "kind": "yes-no", "text": "Did you ever cheat in an exam?"},
    ...         {"name": "mood", "kind": "choice", "text": "Mood?", "options": ["low", "fine"]},
    ...     ],
    ... })
    >>> survey["cheated"].channel.odds, round(survey.epsilon, 4)
    (Fraction(1264, 465), 2.0)
    """

    name: str
    title: Text
    intro: Text | None
    language: str
    questions: tuple[Question, ...]

    @classmethod
    def load(cls, source: str | os.PathLike[str] | Mapping[str, Any]) -> Survey:
        """Read a survey from ``survey.toml``, published ``survey.json`` or a mapping like either.

        Raises:
            SurveyError: With every mistake found, each naming file, question and key.
        """
        from .authoring import compile_survey, read_toml

        if isinstance(source, Mapping):
            if "format" in source:
                return cls.from_published(source)
            return compile_survey(source, "survey")
        path = Path(source)
        if path.suffix == ".json":
            try:
                return cls.from_json(path.read_bytes())
            except OSError as error:
                raise SurveyError([f"{path}: {error.strerror or 'cannot be read'}"]) from None
        return compile_survey(read_toml(path), path.name)

    @classmethod
    def from_json(cls, data: bytes) -> Survey:
        """Read a published survey and check that its bytes are the canonical ones.

        Raises:
            SurveyError: If the bytes are not a published survey of this format.
        """
        try:
            found = read_strict(data)
        except ValueError as error:
            raise SurveyError([f"published survey: {error}"]) from None
        survey = cls.from_published(found)
        if survey.to_json() != data:
            raise SurveyError(["published survey: the bytes are not canonical JSON"])
        return survey

    @classmethod
    def from_published(cls, found: object) -> Survey:
        """Rebuild a survey from published JSON and check that its parts add up.

        Raises:
            SurveyError: If a key is missing or unknown, an option does not fit its channel, or the
                channels do not multiply to the stated total.
        """
        try:
            survey = _survey_of(found)
            consistent = survey.published == found
        except (DeniableError, KeyError, TypeError, ArithmeticError, ValueError) as error:
            # A KeyError's text is the bare key; every other text is already a sentence.
            reason = f"missing key {error}" if isinstance(error, KeyError) else error
            raise SurveyError([f"published survey: {reason}"]) from None
        if not consistent:
            raise SurveyError(["published survey: its keys, options or odds do not add up"])
        return survey

    @cached_property
    def published(self) -> dict[str, Any]:
        """The survey as plain data, as it is published."""
        found: dict[str, Any] = {
            "format": FORMAT,
            "name": self.name,
            "title": dict(self.title.by_language),
            "language": self.language,
            "questions": [_published_question(question) for question in self.questions],
            # The product may be beyond what a JSON number holds exactly everywhere, hence texts.
            "odds": [str(self.odds.numerator), str(self.odds.denominator)],
        }
        if self.intro is not None:
            found["intro"] = dict(self.intro.by_language)
        return found

    def to_json(self) -> bytes:
        """Write the published survey as canonical JSON."""
        return canonical(self.published)

    @cached_property
    def digest(self) -> str:
        """The name of exactly this survey: SHA-256 of ``to_json()``."""
        return digest(self.to_json())

    @property
    def odds(self) -> Fraction:
        """The most that one whole report can shift anyone's odds about the respondent, exactly.

        Privacy:
            Reports of different questions use independent noise, so their odds multiply (basic
            composition of pure local privacy), and the all-keep and all-flip reports attain it.
        """
        return math.prod((question.channel.odds for question in self.questions), start=Fraction(1))

    @property
    def epsilon(self) -> float:
        """Ln of the total odds, in nats, rounded up."""
        return epsilon_of(self.odds)

    @property
    def languages(self) -> tuple[str, ...]:
        """Every language in which anything is said, the survey's own first."""
        found = {language for text in self.texts() for language in text.by_language}
        return (self.language, *sorted(found - {self.language}))

    def texts(self) -> Iterator[Text]:
        """Go through every text that a person reads."""
        yield self.title
        if self.intro is not None:
            yield self.intro
        for question in self.questions:
            yield question.text
            yield from question.options

    def __getitem__(self, name: str) -> Question:
        for question in self.questions:
            if question.name == name:
                return question
        known = ", ".join(repr(question.name) for question in self.questions)
        raise SurveyError([f"survey '{self.name}' has no question {name!r}; it has {known}"])


def longest_report(questions: tuple[Question, ...]) -> int:
    """Bound the bytes of any report: every index at its longest, every name written out."""
    fixed = len('{"answers":{},"id":"0123456789abcdef","survey":""}') + len(digest(b""))
    return fixed + sum(
        len(question.name)
        + len('"":[],')
        + question.channel.subset * (len(str(question.channel.options - 1)) + 1)
        for question in questions
    )


def _published_question(question: Question) -> dict[str, Any]:
    channel = question.channel
    found: dict[str, Any] = {
        "name": question.name,
        "kind": question.kind,
        "text": dict(question.text.by_language),
        "options": [dict(option.by_language) for option in question.options],
        "optional": question.optional,
        "channel": {"k": channel.options, "d": channel.subset, "a": channel.a, "b": channel.b},
    }
    if question.scores:
        found["scores"] = [str(score) for score in question.scores]
    return found


def _survey_of(found: Any) -> Survey:
    if not isinstance(found, Mapping) or found["format"] != FORMAT:
        raise SurveyError([f"expected format {FORMAT!r}"])
    language = _matching(found["language"], LANGUAGE)
    questions = tuple(_question_of(q, language) for q in _typed(found["questions"], list))
    if not questions or len({question.name for question in questions}) != len(questions):
        raise SurveyError(["expected at least one question, each with its own name"])
    if longest_report(questions) > MAX_REPORT_BYTES:
        raise SurveyError([f"a report could be longer than {MAX_REPORT_BYTES} bytes"])
    intro = _text_of(found["intro"], language) if "intro" in found else None
    title = _text_of(found["title"], language)
    return Survey(_matching(found["name"], SURVEY_NAME), title, intro, language, questions)


def _question_of(found: Any, language: str) -> Question:
    name, kind = _matching(found["name"], QUESTION_NAME), found["kind"]
    if kind not in KINDS:
        raise SurveyError([f"question {name!r} has kind {kind!r}, not one of {', '.join(KINDS)}"])
    channel = found["channel"]
    question = Question(
        name=name,
        kind=kind,
        text=_text_of(found["text"], language),
        options=tuple(_text_of(option, language) for option in _typed(found["options"], list)),
        optional=_typed(found["optional"], bool),
        channel=Channel(channel["k"], channel["d"], Fraction(channel["a"], channel["b"])),
        scores=tuple(Fraction(_typed(score, str)) for score in found.get("scores", ())),
    )
    if len(question.labels) != question.channel.options:
        raise SurveyError([f"question {name!r}: its options do not fit its channel"])
    if len(question.scores) != (len(question.options) if kind == "scale" else 0):
        raise SurveyError([f"question {name!r}: its scores do not fit its options"])
    return question


def _text_of(found: Any, language: str) -> Text:
    texts = _typed(found, dict).items()
    by_language = {_matching(tag, LANGUAGE): _typed(text, str) for tag, text in texts}
    if language not in by_language:
        raise SurveyError([f"a text is missing in the survey's language {language!r}"])
    return Text(MappingProxyType(by_language), language)


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise SurveyError([f"expected {kind.__name__}, got {type(value).__name__}"])
    return value


def _matching(value: Any, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise SurveyError([f"expected a name of the form {pattern.pattern}, got {value!r}"])
    return value
