"""Asking a survey's questions in the terminal. What is typed is shown there and kept nowhere."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation

import click

from deniable_protocol import AnswerError, Question, Survey

from .answers import Answer, hidden, in_words, step_of
from .wording import explain_question

Picked = frozenset[int]
"""Options that were chosen, for ``show_if``."""


def ask(survey: Survey, language: str | None) -> dict[str, Answer]:
    """Ask every question that is not hidden, and give what was answered."""
    click.secho(survey.title.to(language), bold=True)
    if survey.intro is not None:
        click.echo(survey.intro.to(language))
    if survey.ask is not None:
        click.echo(
            f"\nOf the {len(survey.questions)} questions this device sends {survey.ask}. It draws "
            "which before it looks at your answers."
        )
    answers: dict[str, Answer] = {}
    chosen: dict[str, Picked] = {}
    for place, question in enumerate(survey.questions, 1):
        chosen[question.name] = Picked()
        if not hidden(question, chosen):
            click.echo(f"\n{place}. {question.text.to(language)}")
            click.echo(f"   {explain_question(question)}")
            answers[question.name], chosen[question.name] = _one(question, language)
    return answers


def _one(question: Question, language: str | None) -> tuple[Answer, Picked]:
    if question.grid is not None:
        skip = ", or nothing if you'd rather not answer" if question.optional else ""
        wanted = f"a number {in_words(question.grid, language)}{skip}"
        return _prompt(wanted, lambda typed: (_number(question, typed), Picked()))
    labels = [option.to(language) for option in question.options]
    shown = [*labels, *(["I'd rather not answer"] if question.optional else [])]
    for place, label in enumerate(shown, 1):
        click.echo(f"   {place}) {label}")

    def read(typed: str) -> tuple[Answer, Picked]:
        if question.kind == "multiple":
            picked = _places(typed, len(shown))
            if question.optional and picked == {len(labels)}:
                return None, Picked()
            return [labels[index] for index in sorted(picked)], picked
        (index,) = _places(typed, len(shown))
        return (labels[index], Picked({index})) if index < len(labels) else (None, Picked())

    if question.kind == "multiple":
        wanted = f"numbers from 1 to {len(shown)} with commas, or nothing if none applies"
    else:
        wanted = f"a number from 1 to {len(shown)}"
    return _prompt(wanted, read)


def _prompt(wanted: str, read: Callable[[str], tuple[Answer, Picked]]) -> tuple[Answer, Picked]:
    while True:
        typed = click.prompt("   Your answer", prompt_suffix=f" ({wanted}): ", default="",
                             show_default=False, type=str)  # fmt: skip
        try:
            return read(typed.strip())
        except (ValueError, IndexError, AnswerError, InvalidOperation):
            click.echo(f"   Please type {wanted}.")


def _places(typed: str, most: int) -> Picked:
    words = [word.strip() for word in typed.split(",")] if typed else []
    if not all(word.isascii() and word.isdigit() and 1 <= int(word) <= most for word in words):
        raise ValueError
    return Picked(int(word) - 1 for word in words)


def _number(question: Question, typed: str) -> Decimal | None:
    if not typed and question.optional:
        return None
    number = Decimal(typed)
    step_of(question, number)
    return number
