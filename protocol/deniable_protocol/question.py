"""One question of a published survey: its texts, its encoding, and the channel behind it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from .channel import Channel
from .errors import SurveyError

QUESTION_NAME: Final = re.compile(r"(?!(?:id|arm)$)[a-z][a-z0-9_]{0,39}")  # both name a column
LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
MAX_STEPS: Final = 1_000_000

NO_ANSWER: Final = "No answer"
NOT_ASKED: Final = "Not asked"

Kind = Literal["yes-no", "choice", "scale", "number", "multiple"]
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
class Grid:
    """Say which numbers are allowed, and how one is rounded to a few points without bias.

    The answer is ``low + i·step`` for a whole i from 0 to M. With t uniform below M, drawn first,
    it becomes point ⌊(i·(points − 1) + t) / M⌋ of an equally spaced grid, whose expectation is
    i·(points − 1)/M exactly: nothing but the mean moves.

    References:
        [DJW18] J. Duchi, M. Jordan and M. Wainwright, Minimax Optimal Procedures for Locally
        Private Estimation, JASA 113 (2018): two points are their one-bit mechanism.
    """

    low: Fraction
    high: Fraction
    step: Fraction
    unit: Text | None

    @property
    def steps(self) -> int:
        """M, the number of steps from lowest to highest."""
        return int((self.high - self.low) / self.step)

    def points(self, count: int) -> tuple[Fraction, ...]:
        """Give the values that a report can stand for."""
        width = (self.high - self.low) / (count - 1)
        return tuple(self.low + place * width for place in range(count))


@dataclass(frozen=True)
class Condition:
    """Say when a question is shown: if an earlier one is answered with one of these options."""

    question: str
    options: tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One thing that is randomized by itself: a question, or one box of a ``multiple``.

    A report holds one entry for each item, a database one column, under this name.
    """

    name: str
    channel: Channel
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One question, its options as people read them, and the channel behind it.

    Attributes:
        options: The options that an author wrote, in order. Empty for a ``number``; the boxes
            of a ``multiple``.
        optional: True if the question may be skipped. Skipping is one more option, drawn through
            the same channel: whether someone answered is deniable too.
        channel: The channel of each item: every box of a ``multiple`` has this one.
        scores: One exact number for each authored option of a ``scale``; empty otherwise.
        grid: The allowed numbers of a ``number``; None otherwise.
        show_if: When the question is shown; None if always. A hidden question still sends a
            report, "not asked" being one more option.
        ask: How many boxes of a ``multiple`` a device reports, drawn before it looks at the
            answers; None for all.
    """

    name: str
    kind: Kind
    text: Text
    options: tuple[Text, ...]
    optional: bool
    channel: Channel
    scores: tuple[Fraction, ...] = ()
    grid: Grid | None = None
    show_if: Condition | None = None
    ask: int | None = None

    @property
    def extras(self) -> tuple[str, ...]:
        """The options that deniability adds, last in the channel: no answer, not asked."""
        return (NO_ANSWER,) * self.optional + (NOT_ASKED,) * (self.show_if is not None)

    @property
    def labels(self) -> tuple[str, ...]:
        """Every option of the channel, in the survey's language."""
        if self.kind == "multiple":
            own: tuple[str, ...] = TICKED
        elif self.grid is not None:
            unit = f" {self.grid.unit}" if self.grid.unit else ""
            own = tuple(f"{_short(v)}{unit}" for v in self.grid.points(self.points))
        else:
            own = tuple(str(option) for option in self.options)
        return (*own, *self.extras)

    @property
    def points(self) -> int:
        """Number of options that stand for an answer, which is all but the extras."""
        return self.channel.options - len(self.extras)

    @cached_property  # asked for with every report
    def items(self) -> tuple[Item, ...]:
        """What is randomized: the question itself, or each box as ``name.1``, ``name.2``, …"""
        if self.kind != "multiple":
            return (Item(self.name, self.channel, self.labels),)
        return tuple(
            Item(f"{self.name}.{place}", self.channel, self.labels)
            for place in range(1, len(self.options) + 1)
        )

    @property
    def odds(self) -> Fraction:
        """The exact odds of the whole question: those of every item that is sent, multiplied.

        Privacy:
            Items use independent noise, so odds multiply (basic composition of pure local
            privacy). Which boxes are sent is drawn before the answer is looked at, so the draw
            itself reveals nothing, and every draw sends equally many.
        """
        return self.channel.odds ** (self.ask or len(self.items))


TICKED: Final = ("Yes", "No")
"""The two options of one box of a ``multiple``: ticked or not."""


def publish_question(question: Question) -> dict[str, Any]:
    """Give a question as plain data, as it is published."""
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
    if question.grid is not None:
        grid = question.grid
        found["number"] = {"min": decimal(grid.low), "max": decimal(grid.high),
                           "step": decimal(grid.step)}  # fmt: skip
        if grid.unit is not None:
            found["number"]["unit"] = dict(grid.unit.by_language)
    if question.show_if is not None:
        condition = question.show_if
        found["show_if"] = {"question": condition.question, "is": list(condition.options)}
    if question.ask is not None:
        found["ask"] = question.ask
    return found


def read_question(found: Any, language: str) -> Question:
    """Rebuild a question from published data and check that its parts fit each other.

    Raises:
        SurveyError: If they do not.
    """
    name, kind = matching(found["name"], QUESTION_NAME), found["kind"]
    if kind not in KINDS:
        raise SurveyError([f"question {name!r} has kind {kind!r}, not one of {', '.join(KINDS)}"])
    channel = found["channel"]
    question = Question(
        name=name,
        kind=kind,
        text=read_text(found["text"], language),
        options=tuple(read_text(option, language) for option in typed(found["options"], list)),
        optional=typed(found["optional"], bool),
        channel=Channel(channel["k"], channel["d"], Fraction(channel["a"], channel["b"])),
        scores=tuple(Fraction(typed(score, str)) for score in found.get("scores", ())),
        grid=_read_grid(found["number"], language) if kind == "number" else None,
        show_if=_read_condition(found["show_if"]) if "show_if" in found else None,
        ask=typed(found["ask"], int) if "ask" in found else None,
    )
    _check_fit(question)
    return question


def _check_fit(question: Question) -> None:
    name, kind, options = question.name, question.kind, len(question.options)
    if kind == "number":
        fits = options == 0 and question.channel.subset == 1 and question.points >= 2
    elif kind == "multiple":
        fits = options >= 2 and question.points == 2
    else:
        fits = options == question.points and options >= 2
    if not fits:
        raise SurveyError([f"question {name!r}: its options do not fit its channel"])
    if len(question.scores) != (options if kind == "scale" else 0):
        raise SurveyError([f"question {name!r}: its scores do not fit its options"])
    if question.ask is not None and not (kind == "multiple" and 1 <= question.ask < options):
        raise SurveyError([f"question {name!r}: it asks for more boxes than it has"])


def _read_grid(found: Any, language: str) -> Grid:
    low, high, step = (_exact(found[key]) for key in ("min", "max", "step"))
    unit = read_text(found["unit"], language) if "unit" in found else None
    grid = Grid(low, high, step, unit)
    if not (step > 0 and low < high) or (high - low) / step != grid.steps:
        raise SurveyError(["max must be a whole number of steps above min"])
    if grid.steps > MAX_STEPS:
        raise SurveyError([f"expected at most {MAX_STEPS:,} steps from min to max"])
    return grid


def _read_condition(found: Any) -> Condition:
    options = tuple(typed(index, int) for index in typed(found["is"], list))
    return Condition(matching(found["question"], QUESTION_NAME), options)


def read_text(found: Any, language: str) -> Text:
    """Rebuild a text from a table by language."""
    texts = typed(found, dict).items()
    by_language = {matching(tag, LANGUAGE): typed(text, str) for tag, text in texts}
    if language not in by_language:
        raise SurveyError([f"a text is missing in the survey's language {language!r}"])
    return Text(MappingProxyType(by_language), language)


def typed(value: Any, kind: type) -> Any:
    """Check that a value is exactly of a type: True is not 1."""
    if type(value) is not kind:
        raise SurveyError([f"expected {kind.__name__}, got {type(value).__name__}"])
    return value


def matching(value: Any, pattern: re.Pattern[str]) -> str:
    """Check that a value is a name of the right form."""
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise SurveyError([f"expected a name of the form {pattern.pattern}, got {value!r}"])
    return value


def decimal(value: Fraction) -> str:
    """Write a number that has a finite decimal form, such as ``-0.25``.

    >>> decimal(Fraction(-1, 4)), decimal(Fraction(100))
    ('-0.25', '100')
    """
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
        if digits > 12:
            raise SurveyError([f"expected at most 12 decimal places, got {value}"])
    whole = int(abs(value) * 10**digits)
    text = f"{whole // 10**digits}" + (f".{whole % 10**digits:0{digits}d}" if digits else "")
    return f"-{text}" if value < 0 else text


def _exact(text: Any) -> Fraction:
    if not isinstance(text, str) or not re.fullmatch(r"-?\d{1,10}(\.\d{1,12})?", text):
        raise SurveyError(["expected a decimal number as a text"])
    return Fraction(text)


def _short(value: Fraction) -> str:
    """Write a grid point for people: exact where it is short, else four significant digits."""
    exact = math.log10(value.denominator) < 7 and (value * 10**4).denominator == 1
    return decimal(value) if exact else f"{float(value):.4g}"
