"""Parts of a report table that SQLite and PostgreSQL write alike: what no device can have sent."""

from __future__ import annotations

from deniable_protocol import Question, Survey


def arm_column(survey: Survey) -> list[str]:
    """Write the column of the arm, where the survey has arms."""
    if not survey.arms:
        return []
    arms = ", ".join(f"'{arm}'" for arm in survey.arms)
    return [f"arm TEXT NOT NULL CHECK (arm IN ({arms}))"]


def sent_together(question: Question, sampled: bool) -> str:
    """Write the check that a question's items were sent as many together as they are asked."""
    whole = question.ask or len(question.items)
    counts = f"0, {whole}" if sampled else f"{whole}"
    return f"CHECK ({sent(question)} IN ({counts}))"


def sampled_together(survey: Survey) -> list[str]:
    """Write the check that as many questions were sent as a device draws, where it draws them."""
    if survey.ask is None:
        return []
    asked = " + ".join(
        f"CASE WHEN {sent(question)} > 0 THEN 1 ELSE 0 END" for question in survey.questions
    )
    return [f"CHECK ({asked} = {survey.ask})"]


def sent(question: Question) -> str:
    """Write an expression that counts the items of a question that were sent."""
    terms = " + ".join(
        f'CASE WHEN "{item.name}" IS NULL THEN 0 ELSE 1 END' for item in question.items
    )
    return f"({terms})"
