"""The certificate of a survey: what each report can reveal at most, exactly, and what it hides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from .cautions import Caution, cautions, percent_up, surest
from .channel import epsilon_of
from .question import NO_ANSWER, NOT_ASKED, Question
from .survey import Survey

CERTIFICATE: Final = "deniable-certificate/1"
INTERFACE: Final = {"en": "English", "bn": "Bengali", "zh": "Traditional Chinese"}
"""What the form's own words are written in; a test holds it against the browser client."""


@dataclass(frozen=True)
class QuestionCertificate:
    """Say what the report to one question can reveal, and what it hides.

    Attributes:
        question: The question.
        sent: Number of items that a device reports for it: 1, or boxes of a ``multiple``.
    """

    question: Question
    sent: int

    @property
    def odds(self) -> Fraction:
        """The most that the whole question can shift anyone's odds, exactly."""
        return self.question.odds

    @property
    def epsilon(self) -> float:
        """ln(odds) in nats, rounded up."""
        return epsilon_of(self.odds)

    @property
    def belief(self) -> Fraction:
        """The most that someone who thought 50 % can come to believe."""
        return surest(self.odds)

    @property
    def hides(self) -> str:
        """Say whether answering, and having been asked, are hidden too."""
        parts = []
        if self.question.optional:
            parts.append(
                f"Whether someone answered is hidden as well: “{NO_ANSWER}” is one more option of "
                "the noise, so nobody is given away by a blank."
            )
        condition = self.question.show_if
        if condition is not None:
            parts.append(
                f"Whether the question was shown is hidden as well: “{NOT_ASKED}” is one more "
                f"option of the noise, so a report does not show who was asked because of "
                f"“{condition.question}”."
            )
        if self.question.kind == "multiple" and not self.question.optional:
            parts.append("No tick at all is an answer too: every box is reported as yes or no.")
        return " ".join(parts) or (
            "Everybody has to choose an answer; without one no report is made at all."
        )

    @property
    def rounding(self) -> str | None:
        """Say how a number is rounded before the noise; None for other kinds."""
        if self.question.grid is None:
            return None
        labels = self.question.labels[: self.question.points]
        return (
            f"A number is first rounded by lot to one of {len(labels)} points, from {labels[0]} to "
            f"{labels[-1]}, so that its mean stays right."
        )

    def as_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        channel = self.question.channel
        return {
            "name": self.question.name,
            "kind": self.question.kind,
            "options": channel.options,
            "subset": channel.subset,
            "channel_odds": [channel.a, channel.b],
            "chance_that_truth_is_in_report": _exact(channel.p),
            "items_sent": self.sent,
            "odds": _exact(self.odds),
            "epsilon": self.epsilon,
            "belief_at_most": _exact(self.belief),
            "hides": self.hides,
            "rounding": self.rounding,
        }


@dataclass(frozen=True)
class Certificate:
    """Say what a survey guarantees, and what its author should look at again."""

    survey: Survey

    @property
    def questions(self) -> tuple[QuestionCertificate, ...]:
        """One certificate for each question."""
        return tuple(
            QuestionCertificate(question, question.ask or len(question.items))
            for question in self.survey.questions
        )

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What is allowed, but probably not meant."""
        return tuple(cautions(self.survey))

    @property
    def belief(self) -> Fraction:
        """The most that someone who thought 50 % can come to believe from a whole report."""
        return surest(self.survey.odds)

    @property
    def unspoken(self) -> tuple[str, ...]:
        """Languages of the survey that the form's own words are not translated into."""
        return tuple(
            language for language in self.survey.languages
            if language.partition("-")[0].lower() not in INTERFACE
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Give it as plain data: numbers, exact fractions as text, sentences."""
        survey = self.survey
        return {
            "format": CERTIFICATE,
            "valid": True,
            "survey": survey.name,
            "digest": survey.digest,
            "odds": _exact(survey.odds),
            "epsilon": survey.epsilon,
            "belief_at_most": _exact(self.belief),
            "questions_sent": survey.ask or len(survey.questions),
            "languages": list(survey.languages),
            "languages_without_interface": list(self.unspoken),
            "arms": list(survey.arms),
            "by_invitation": survey.invite_key is not None,
            "waves": "memoize" if survey.memoize else None,
            "questions": [found.as_json() for found in self.questions],
            "cautions": [{"kind": c.kind, "text": c.text} for c in self.cautions],
        }

    def text(self) -> str:
        """Write it for people."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        survey = self.survey
        yield f"{survey.title} ({survey.name})"
        yield f"digest {survey.digest}"
        yield ""
        yield from table([
            ("question", "kind", "options", "in report", "odds", "epsilon", "50 % becomes at most"),
            *(self._row(found) for found in self.questions),
        ])  # fmt: skip
        yield ""
        for found in self.questions:
            yield f"{found.question.name}: {found.hides}"
            if found.rounding is not None:
                yield f"    {found.rounding}"
            if found.sent > 1:
                yield f"    The odds of the {found.sent} boxes that are reported multiply."
        yield ""
        yield from self._total()
        if self.unspoken:
            readers = " or ".join(f"“{language}”" for language in self.unspoken)
            yield (
                f"The form's own words (buttons, explanations) are there in "
                f"{', '.join(INTERFACE.values())}: readers of {readers} get them in English, or in "
                "another of these that their browser asks for."
            )
        for caution in self.cautions:
            yield ""
            yield f"Caution: {caution.text}"

    def _row(self, found: QuestionCertificate) -> tuple[str, ...]:
        channel = found.question.channel
        held = f"{channel.subset}" if found.sent == 1 else f"{found.sent} × {channel.subset}"
        return (
            found.question.name, found.question.kind, f"{channel.options}", held,
            odds_text(found.odds), f"{found.epsilon:.3f}", percent_up(found.belief),
        )  # fmt: skip

    def _total(self) -> Iterator[str]:
        survey = self.survey
        sent = survey.ask or len(survey.questions)
        if survey.ask is not None:
            yield (
                f"Each device reports {sent} of {len(survey.questions)} questions, drawn before it "
                "looks at the answers."
            )
        yield (
            f"A whole report shifts anyone's odds about a respondent by at most "
            f"{odds_text(survey.odds)} (epsilon {survey.epsilon:.3f}): a belief of 50 % becomes at "
            f"most {percent_up(self.belief)}."
        )
        if survey.invite_key is not None:
            yield "Only people with an invitation can answer; it does not say who they are."
        if survey.memoize:
            yield "In later waves the same answer sends the same report, so it reveals nothing new."
        elif survey.arms:
            yield "Every further report of the same person adds as much again."


def table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Lay out rows of cells: the first two columns to the left, numbers to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def odds_text(odds: Fraction) -> str:
    """Write odds as a person reads them, never understated.

    >>> odds_text(Fraction(3)), odds_text(Fraction(1264, 465))
    ('3:1', '2.72:1')
    """
    if odds.denominator == 1 and odds < 1_000_000:
        return f"{odds}:1"
    if odds >= 1_000_000:
        return f"10^{len(str(int(odds)))}:1"
    up = -((-100 * odds.numerator) // odds.denominator)
    return f"{up // 100}.{up % 100:02d}:1"


def _exact(value: Fraction) -> list[str]:
    # The product of many odds may be beyond what a JSON number holds exactly, hence texts.
    return [str(value.numerator), str(value.denominator)]
