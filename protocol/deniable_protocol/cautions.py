"""What an author may do but probably did not mean, each in a plain sentence with its numbers."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Final, Literal

from .channel import Channel, epsilon_of
from .question import NO_ANSWER, NOT_ASKED, Question, Text
from .survey import Survey

Kind = Literal["epsilon", "reveal-each-other", "needless-option", "translation", "waves"]

MOST_EPSILON: Final = 4
"""What a device allows unless it is told otherwise."""
_ALIKE: Final = 0.85
_MOST_PLACES: Final = 6

_SILENT: Final = (
    "prefer not to say", "prefer not to answer", "rather not say", "no answer", "decline",
    "decline to answer", "refused", "refuse to answer", "বলতে চাই না", "উত্তর দিতে চাই না",
    "不願回答", "不想回答", "拒答",
)  # fmt: skip
_UNASKED: Final = ("not applicable", "n/a", "na", "does not apply", "প্রযোজ্য নয়", "不適用")
_WAVE: Final = re.compile(r"(?:wave|round|panel|week|month|year|t|w)-?\d+")


@dataclass(frozen=True)
class Caution:
    """One thing to look at again.

    Attributes:
        kind: What it is about, for programs.
        text: The sentence, for people.
    """

    kind: Kind
    text: str


def cautions(survey: Survey) -> Iterator[Caution]:
    """Go through everything that is allowed, but probably not meant."""
    yield from _epsilon(survey)
    yield from _shown_if(survey)
    yield from _alike(survey)
    for question in survey.questions:
        yield from _needless(question)
    yield from _translations(survey)
    yield from _waves(survey)


def _epsilon(survey: Survey) -> Iterator[Caution]:
    if survey.epsilon > MOST_EPSILON:
        yield Caution(
            "epsilon",
            f"epsilon is {survey.epsilon:.2f}. Devices refuse more than {MOST_EPSILON} unless they "
            "are told otherwise: respondents would be stopped before they can send anything. Ask "
            'fewer questions, lower epsilon, or use allocation = "sample".',
        )


def _shown_if(survey: Survey) -> Iterator[Caution]:
    """Find the earlier questions that later ones also tell about."""
    telling: dict[str, list[Question]] = {}
    for question in survey.questions:
        condition = question.show_if
        while condition is not None:
            telling.setdefault(condition.question, []).append(question)
            condition = survey[condition.question].show_if
    for name, later in telling.items():
        names = _listed([f"“{question.name}”" for question in later])
        odds = _joint(survey, [survey[name], *later])
        yield Caution(
            "reveal-each-other",
            f"{names} {'depends' if len(later) == 1 else 'depend'} on “{name}”, so "
            f"{'its report tells' if len(later) == 1 else 'their reports tell'} about the answer "
            f"to “{name}” too: together {_belief(odds)}, not {_belief(survey[name].odds)}. The "
            "stated total counts this.",
        )


def _alike(survey: Survey) -> Iterator[Caution]:
    for first, second in combinations(survey.questions, 2):
        if first.kind != second.kind or first.channel.options != second.channel.options:
            continue
        one, other = (_plain(str(question.text)) for question in (first, second))
        labels = [[_plain(str(o)) for o in question.options] for question in (first, second)]
        if labels[0] != labels[1]:
            continue
        matcher = difflib.SequenceMatcher(a=one, b=other, autojunk=False)
        same = matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE
        if same:
            odds = _joint(survey, [first, second])
            yield Caution(
                "reveal-each-other",
                f"“{first.name}” and “{second.name}” read almost alike. If they ask about the same "
                f"fact, both reports tell about it: together {_belief(odds)}.",
            )


def _needless(question: Question) -> Iterator[Caution]:
    """Find options that nobody needs once silence is hidden anyway."""
    if question.kind in ("number", "multiple"):
        return
    for place, option in enumerate(question.options, 1):
        words = {_plain(text) for text in option.by_language.values()}
        silent, unasked = words & set(_SILENT), words & set(_UNASKED)
        if not silent and not unasked:
            continue
        extra, key = (NO_ANSWER, "optional = true") if silent else (NOT_ASKED, "show_if")
        taken = question.optional if silent else question.show_if is not None
        instead = (
            f"“{extra}” is an option already ({key})"
            if taken
            else f"with {key} the device adds “{extra}” by itself"
        )
        yield Caution(
            "needless-option",
            f"hardly anybody will pick option {place} of “{question.name}” (“{option}”), since no "
            f"single report gives anyone away; {instead}. {_cost(question)}",
        )


def _cost(question: Question) -> str:
    channel = question.channel
    if channel.options == 2:
        return "Leave it out."
    fewer = Channel.best(channel.options - 1, channel.odds)
    ratio = _one_share(channel) / _one_share(fewer)
    more = math.ceil(100 * (math.sqrt(ratio) - 1))
    return f"Without it, the errors of all other options would be about {more} % smaller."


def _one_share(channel: Channel) -> float:
    """n·Var of a rare option's share: all that counts is how often noise alone reports it."""
    return float(channel.q * (1 - channel.q) / (channel.p - channel.q) ** 2)


def _translations(survey: Survey) -> Iterator[Caution]:
    """Find texts that respondents in some language would see in another."""
    for language in survey.languages[1:]:
        missing = [where for where, text in _places(survey) if language not in text.by_language]
        if missing:
            more = [f"{len(missing) - _MOST_PLACES} more"] if missing[_MOST_PLACES:] else []
            shown = _listed([*missing[:_MOST_PLACES], *more])
            yield Caution(
                "translation",
                f"the translation into “{language}” lacks {shown}. Respondents would read these in "
                f"“{survey.language}”.",
            )
    for first, second in combinations(survey.languages, 2):
        if first.casefold() == second.casefold():
            yield Caution(
                "translation", f"“{first}” and “{second}” are the same language, written two ways."
            )


def _places(survey: Survey) -> Iterator[tuple[str, Text]]:
    yield "the title", survey.title
    if survey.intro is not None:
        yield "the intro", survey.intro
    for question in survey.questions:
        yield f"the text of “{question.name}”", question.text
        for place, option in enumerate(question.options, 1):
            yield f"option {place} of “{question.name}”", option
        if question.grid is not None and question.grid.unit is not None:
            yield f"the unit of “{question.name}”", question.grid.unit


def _waves(survey: Survey) -> Iterator[Caution]:
    waves = [arm for arm in survey.arms if _WAVE.fullmatch(arm)]
    if len(waves) > 1 and not survey.memoize:
        total = survey.odds ** len(waves)
        yield Caution(
            "waves",
            f"the arms {_listed([f'“{wave}”' for wave in waves])} look like waves. Without "
            f'waves = "memoize" in [privacy], who takes part in all of them reveals '
            f"{_belief(total)}.",
        )


def _joint(survey: Survey, questions: list[Question]) -> Fraction:
    """Give the odds of the reports to several questions together, of those that may be sent."""
    every = sorted((question.odds for question in questions), reverse=True)
    return math.prod(every[: survey.ask], start=Fraction(1))


def _belief(odds: Fraction) -> str:
    return f"epsilon {epsilon_of(odds):.2f} (50 % becomes at most {percent_up(surest(odds))})"


def surest(odds: Fraction) -> Fraction:
    """Give the belief that reports can lead to, at most, from one of one half.

    Privacy:
        Bayes' rule: posterior odds are at most prior odds times ``odds``; from even odds that is
        odds/(1 + odds), whatever is reported and whatever the two answers are.

    >>> surest(Fraction(3))
    Fraction(3, 4)
    """
    return odds / (1 + odds)


def percent_up(share: Fraction) -> str:
    """Write a share below 1 in per cent, rounded up so that a bound is never understated.

    Whole per cent where that is not 100, else as many decimals as it takes.

    >>> percent_up(Fraction(731, 1000)), percent_up(Fraction(9999, 10000))
    ('74 %', '99.99 %')
    """
    for digits in range(13):
        scale = 100 * 10**digits
        up = -((-scale * share.numerator) // share.denominator)
        if up < scale:
            return f"{Decimal(up).scaleb(-digits)} %"
    return "nearly 100 %"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _plain(text: str) -> str:
    """Write a text the way that two people would call it the same."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(folded.strip(" .!?()").split())
