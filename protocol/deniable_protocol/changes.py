"""What a changed survey does to the reports that were collected before."""

from __future__ import annotations

from collections.abc import Iterator

from .question import Question
from .survey import Survey


def changes(before: Survey, after: Survey) -> Iterator[str]:
    """Say what makes new reports unlike the old ones, in plain sentences.

    A changed survey has another digest and its own table: reports of the two are never mixed. But
    a study that means to compare them should know what cannot be compared.
    """
    if before.digest == after.digest:
        yield "Nothing has changed: the digest is the same."
        return
    old = {question.name: question for question in before.questions}
    new = {question.name: question for question in after.questions}
    for name in old:
        if name not in new:
            yield f"“{name}” is gone: later waves have no reports to it."
    for name in new:
        if name not in old:
            yield f"“{name}” is new: earlier waves have no reports to it."
    for name, question in old.items():
        if name in new:
            yield from _question(question, new[name])
    gone = [arm for arm in before.arms if arm not in after.arms]
    if gone:
        yield f"the arms {', '.join(gone)} are gone."
    if before.odds != after.odds:
        yield f"epsilon was {before.epsilon:.3f} and is {after.epsilon:.3f}."


def _question(before: Question, after: Question) -> Iterator[str]:
    name = after.name
    if before.kind != after.kind:
        yield f"“{name}” was of kind {before.kind} and is of kind {after.kind}."
        return
    old, new = ([str(option) for option in question.options] for question in (before, after))
    for place, option in enumerate(old, 1):
        if option not in new:
            yield (
                f"“{name}”: option {place} (“{option}”) is gone or reworded. Who would have picked "
                "it now picks something else, so shares cannot be compared."
            )
    for place, option in enumerate(new, 1):
        if option not in old:
            yield f"“{name}”: option {place} (“{option}”) is new."
    kept = [option for option in old if option in new]
    if kept != [option for option in new if option in old]:
        yield (
            f"“{name}”: the options are in another order. Devices number them, so compare by "
            "label, never by number."
        )
    if before.grid != after.grid:
        yield f"“{name}”: the range of numbers is another one."
    if str(before.text) != str(after.text):
        yield f"“{name}” is worded differently."
    if before.channel != after.channel:
        yield (
            f"“{name}”: the noise is another one ({before.channel.a}:{before.channel.b} of "
            f"{before.channel.options} options before, {after.channel.a}:{after.channel.b} of "
            f"{after.channel.options} now)."
        )
