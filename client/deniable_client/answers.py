"""From what a respondent says to an option's index. Errors here never repeat what was said."""

from __future__ import annotations

from collections.abc import Mapping

from deniable_protocol import AnswerError, Question, Survey

Answer = str | bool | None
"""An option's label; True or False for a yes-no question; None where skipping is allowed."""


def encode(survey: Survey, answers: Mapping[str, Answer], language: str | None) -> dict[str, int]:
    """Find the option index of every answer.

    Raises:
        AnswerError: If an answer is missing, unknown or not allowed.
    """
    names = {question.name for question in survey.questions}
    if not isinstance(answers, Mapping) or not set(answers) <= names:
        raise AnswerError(f"expected answers to {', '.join(sorted(names))} and to nothing else")
    return {
        question.name: _index(question, answers.get(question.name), language)
        for question in survey.questions
    }


def _index(question: Question, answer: object, language: str | None) -> int:
    if answer is None and question.optional:
        return len(question.options)
    if isinstance(answer, bool) and question.kind == "yes-no":
        return 0 if answer else 1
    if isinstance(answer, str):
        for index, option in enumerate(question.options):
            if answer in (option.to(language), str(option)):
                return index
    raise AnswerError(f"question '{question.name}' expects {_allowed(question, language)}")


def _allowed(question: Question, language: str | None) -> str:
    labels = [f'"{option.to(language)}"' for option in question.options]
    shown = labels if len(labels) <= 12 else [*labels[:10], f"… ({len(labels)} options)"]
    allowed = "one of " + ", ".join(shown)
    if question.kind == "yes-no":
        allowed += ", or True or False"
    return allowed + (", or None for no answer" if question.optional else "")
