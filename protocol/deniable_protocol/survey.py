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
from typing import Any, Final

from .blind import PublicKey
from .canonical import canonical, digest, read_strict
from .channel import epsilon_of
from .errors import DeniableError, SurveyError
from .question import (
    LANGUAGE,
    Item,
    Question,
    Text,
    matching,
    publish_question,
    read_question,
    read_text,
    typed,
)

FORMAT: Final = "deniable-survey/1"
MAX_REPORT_BYTES: Final = 64 * 1024

SURVEY_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
ARM: Final = SURVEY_NAME
_ARM_AND_TOKEN: Final = 1024  # more than the longest of both, with their keys


@dataclass(frozen=True)
class Results:
    """Say when results may be shown to everyone.

    Attributes:
        minimum: How many reports there must be first.
        every: How many more reports there must be before they are drawn again, so that nobody who
            watches the page sees a single report arrive.
    """

    minimum: int = 100
    every: int = 20

    @classmethod
    def read(cls, found: Any) -> Results:
        """Read what is published of them."""
        minimum, every = typed(found["from"], int), typed(found["every"], int)
        if set(found) != {"from", "every"} or not (minimum >= 10 and every >= 10):
            raise SurveyError(["results: expected from and every, each at least 10 reports"])
        return cls(minimum, every)

    def due(self, reports: int, drawn: int | None) -> bool:
        """Tell whether results are to be drawn, when they were last drawn from so many reports.

        >>> Results(100, 20).due(99, None), Results(100, 20).due(119, 100)
        (False, False)
        """
        return reports >= (self.minimum if drawn is None else drawn + self.every)


@dataclass(frozen=True)
class Survey:
    """A published survey. Build one with ``Survey.load``; it never changes afterwards.

    Attributes:
        name: Short name, part of the survey's address.
        title: What the survey is called.
        intro: What a respondent reads first; None if there is none.
        language: The language of texts that are not translated.
        questions: The questions in order.
        ask: How many questions a device reports, drawn before it looks at the answers; None for
            all (``allocation = "sample"``).
        arms: The collection arms that a page may name: waves, sites, groups. Public, and stored.
        memoize: True if the same answer to the same question sends the same report in later waves.
        results: When results are shown to everyone; None if never.
        invite_key: The key that signs invitations; None if anyone may answer.

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
    ask: int | None = None
    arms: tuple[str, ...] = ()
    memoize: bool = False
    results: Results | None = None
    invite_key: PublicKey | None = None

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
            survey = build_survey(found)
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
            "questions": [publish_question(question) for question in self.questions],
            # The product may be beyond what a JSON number holds exactly everywhere, hence texts.
            "odds": [str(self.odds.numerator), str(self.odds.denominator)],
        }
        if self.intro is not None:
            found["intro"] = dict(self.intro.by_language)
        if self.ask is not None:
            found["ask"] = self.ask
        if self.arms:
            found["arms"] = list(self.arms)
        if self.memoize:
            found["waves"] = "memoize"
        if self.results is not None:
            found["results"] = {"from": self.results.minimum, "every": self.results.every}
        if self.invite_key is not None:
            found["invite_key"] = self.invite_key.published
        return found

    def to_json(self) -> bytes:
        """Write the published survey as canonical JSON."""
        return canonical(self.published)

    @cached_property
    def digest(self) -> str:
        """The name of exactly this survey: SHA-256 of ``to_json()``."""
        return digest(self.to_json())

    @property
    def items(self) -> tuple[Item, ...]:
        """Everything that is randomized by itself, in order: what a report has entries for."""
        return tuple(item for question in self.questions for item in question.items)

    @property
    def odds(self) -> Fraction:
        """The most that one whole report can shift anyone's odds about the respondent, exactly.

        Privacy:
            Items are randomized with independent noise, so their odds multiply (basic composition
            of pure local privacy). Where only ``ask`` questions are sent, which ones is drawn
            before the answers are looked at; the bound is that of the dearest draw.
        """
        every = sorted((question.odds for question in self.questions), reverse=True)
        return math.prod(every[: self.ask], start=Fraction(1))

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
            if question.grid is not None and question.grid.unit is not None:
                yield question.grid.unit

    def __getitem__(self, name: str) -> Question:
        for question in self.questions:
            if question.name == name:
                return question
        known = ", ".join(repr(question.name) for question in self.questions)
        raise SurveyError([f"survey '{self.name}' has no question {name!r}; it has {known}"])


def longest_report(questions: tuple[Question, ...]) -> int:
    """Bound the bytes of any report: every index at its longest, every name written out."""
    fixed = len('{"answers":{},"id":"0123456789abcdef","survey":""}') + len(digest(b""))
    return (
        _ARM_AND_TOKEN
        + fixed
        + sum(
            len(item.name)
            + len('"":[],')
            + item.channel.subset * (len(str(item.channel.options - 1)) + 1)
            for question in questions
            for item in question.items
        )
    )


def build_survey(found: Any) -> Survey:
    """Build a survey from published data, leaving the stated total aside.

    Raises:
        SurveyError: If its parts do not fit each other.
    """
    if not isinstance(found, Mapping) or found["format"] != FORMAT:
        raise SurveyError([f"expected format {FORMAT!r}"])
    language = matching(found["language"], LANGUAGE)
    questions = tuple(read_question(q, language) for q in typed(found["questions"], list))
    _check_together(questions)
    memoize = typed(found.get("waves", "memoize"), str) == "memoize" and "waves" in found
    if memoize and any(question.channel.subset > 1 for question in questions):
        # Two answers can share a subset, so a panel's odds could not be counted from what was sent.
        raise SurveyError(["with waves every channel reports one option (d = 1)"])
    return Survey(
        name=matching(found["name"], SURVEY_NAME),
        title=read_text(found["title"], language),
        intro=read_text(found["intro"], language) if "intro" in found else None,
        language=language,
        questions=questions,
        ask=_read_ask(found["ask"], questions) if "ask" in found else None,
        arms=tuple(matching(arm, ARM) for arm in typed(found.get("arms", []), list)),
        memoize=memoize,
        results=Results.read(found["results"]) if "results" in found else None,
        invite_key=PublicKey.parse(found["invite_key"]) if "invite_key" in found else None,
    )


def _check_together(questions: tuple[Question, ...]) -> None:
    if not questions or len({question.name for question in questions}) != len(questions):
        raise SurveyError(["expected at least one question, each with its own name"])
    if longest_report(questions) > MAX_REPORT_BYTES:
        raise SurveyError([f"a report could be longer than {MAX_REPORT_BYTES} bytes"])
    earlier: dict[str, Question] = {}
    for question in questions:
        if question.show_if is not None:
            asked = earlier.get(question.show_if.question)
            chosen = question.show_if.options
            if asked is None or not chosen or not set(chosen) <= set(range(len(asked.options))):
                raise SurveyError([f"question {question.name!r}: show_if must name options of an "
                                   "earlier question"])  # fmt: skip
        earlier[question.name] = question


def _read_ask(found: Any, questions: tuple[Question, ...]) -> int:
    if not 1 <= typed(found, int) < len(questions):
        raise SurveyError(["ask must be at least 1 and below the number of questions"])
    ask: int = found
    return ask
