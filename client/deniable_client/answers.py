"""From what a respondent says to option indices. Errors here never repeat what was said."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

from deniable_protocol import AnswerError, Question, Survey
from deniable_protocol.question import NO_ANSWER, NOT_ASKED, Grid

Answer = str | bool | int | float | Decimal | Fraction | Collection[str] | None
"""A label; True or False for yes-no; a number; ticked labels for ``multiple``; None to skip."""


def encode(
    survey: Survey,
    answers: Mapping[str, Answer],
    rounding: Mapping[str, int],
    language: str | None = None,
) -> dict[str, int]:
    """Find the option index of every item.

    Args:
        survey: What is asked.
        answers: By question; a question that may be skipped, or is hidden, may be left out.
        rounding: The draw that rounds each ``number``.
        language: Language of the labels; the survey's own if None.

    Returns:
        One option index for each item of the survey.

    Raises:
        AnswerError: If an answer is missing, unknown or not allowed.
    """
    names = {question.name for question in survey.questions}
    if not isinstance(answers, Mapping) or not set(answers) <= names:
        raise AnswerError(f"expected answers to {', '.join(sorted(names))} and to nothing else")
    chosen: dict[str, frozenset[int]] = {}  # authored options, for show_if
    found: dict[str, int] = {}
    for question in survey.questions:
        name = question.name
        if hidden(question, chosen):
            not_asked = _extra(question, NOT_ASKED)
            found |= {item.name: not_asked for item in question.items}
            chosen[name] = frozenset()
            continue
        answer = answers.get(name)
        if answer is None and question.optional:
            indices, chosen[name] = [_extra(question, NO_ANSWER)] * len(question.items), frozenset()
        elif question.grid is not None:
            indices, chosen[name] = (
                [_point(question, question.grid, answer, rounding[name])],
                frozenset(),
            )
        elif question.kind == "multiple":
            chosen[name] = _ticked(question, answer, language)
            indices = [int(place not in chosen[name]) for place in range(len(question.options))]
        else:
            indices = [_option(question, answer, language)]
            chosen[name] = frozenset(indices)
        found |= {item.name: i for item, i in zip(question.items, indices, strict=True)}
    return found


def hidden(question: Question, chosen: Mapping[str, frozenset[int]]) -> bool:
    """Tell whether a question is not shown, from the options chosen in the earlier ones."""
    condition = question.show_if
    return condition is not None and chosen[condition.question].isdisjoint(condition.options)


def _extra(question: Question, label: str) -> int:
    return question.points + question.extras.index(label)


def _option(question: Question, answer: object, language: str | None) -> int:
    if isinstance(answer, bool) and question.kind == "yes-no":
        return 0 if answer else 1
    if isinstance(answer, str):
        # All labels of the language that was read come first: "Gift" is another option in German.
        for spoken in (language, None):
            for index, option in enumerate(question.options):
                if answer == option.to(spoken):
                    return index
    raise AnswerError(f"question '{question.name}' expects {allowed(question, language)}")


def _ticked(question: Question, answer: object, language: str | None) -> frozenset[int]:
    if isinstance(answer, str) or not isinstance(answer, Collection):
        raise AnswerError(f"question '{question.name}' expects {allowed(question, language)}")
    return frozenset(_option(question, label, language) for label in answer)


def step_of(question: Question, answer: object) -> int:
    """Count how many steps a number is above the lowest.

    Raises:
        AnswerError: If the question does not take it. The message never repeats it.
    """
    grid = question.grid
    step = Fraction(-1)
    if grid is not None and isinstance(answer, int | float | Decimal | Fraction):
        with suppress(ValueError, OverflowError):  # not a number, or infinite
            # A float is taken as it is written: 0.1 is a tenth.
            exact = Fraction(str(answer) if isinstance(answer, float) else answer)
            step = (exact - grid.low) / grid.step
    fits = grid is not None and step.denominator == 1 and 0 <= step <= grid.steps
    if grid is None or not fits or isinstance(answer, bool):
        raise AnswerError(f"question '{question.name}' expects {allowed(question, None)}")
    return int(step)


def _point(question: Question, grid: Grid, answer: object, t: int) -> int:
    """Round a number to a grid point without bias (see ``Grid``)."""
    return (step_of(question, answer) * (question.points - 1) + t) // grid.steps


def allowed(question: Question, language: str | None) -> str:
    """Say what a question takes."""
    skip = ", or None for no answer" if question.optional else ""
    if question.grid is not None:
        return f"a number {in_words(question.grid, language)}{skip}"
    labels = [f'"{option.to(language)}"' for option in question.options]
    shown = labels if len(labels) <= 12 else [*labels[:10], f"… ({len(labels)} options)"]
    some = "a list of any of " if question.kind == "multiple" else "one of "
    truth = ", or True or False" if question.kind == "yes-no" else ""
    return some + ", ".join(shown) + truth + skip


def in_words(grid: Grid, language: str | None) -> str:
    """Say which numbers are allowed.

    >>> in_words(Grid(Fraction(0), Fraction(2), Fraction(1, 2), None), None)
    'from 0 to 2 in steps of 0.5'
    """
    unit = f" {grid.unit.to(language)}" if grid.unit else ""
    steps = "" if grid.step == 1 else f" in steps of {float(grid.step):g}"
    return f"from {float(grid.low):g} to {float(grid.high):g}{unit}{steps}"
