"""What the noise does, in words for the person whose answer it hides."""

from __future__ import annotations

from fractions import Fraction

from deniable_protocol import Channel, Question, Survey
from deniable_protocol.cautions import percent_up, surest


def chance(share: Fraction) -> str:
    """Say a probability as chances out of a small number, or out of a hundred.

    >>> chance(Fraction(3, 4)), chance(Fraction(1264, 1729))
    ('3 chances in 4', 'about 73 chances in 100')
    """
    if share.denominator <= 20:
        plural = "" if share.numerator == 1 else "s"
        return f"{share.numerator} chance{plural} in {share.denominator}"
    return f"about {round(100 * share)} chances in 100"


def explain(channel: Channel) -> str:
    """Say what the device does with one answer.

    >>> explain(Channel(options=2, subset=1, odds=Fraction(3)))
    'With 3 chances in 4 your true answer is sent, otherwise the other one.'
    """
    others = channel.options - 1
    if channel.subset > 1:
        return (
            f"{channel.subset} of the {channel.options} options are sent, mixed. "
            f"With {chance(channel.p)} your true answer is among them."
        )
    rest = "the other one" if others == 1 else f"one of the other {others}, drawn at random"
    return f"With {chance(channel.p)} your true answer is sent, otherwise {rest}."


def explain_question(question: Question) -> str:
    """Say what the device does with the answer to a question, of whatever kind."""
    sentence = explain(question.channel)
    if question.kind == "multiple":
        which = f"Of the boxes, {question.ask} drawn by lot are" if question.ask else "Each box is"
        sentence = f"{which} sent as yes or no by itself. {sentence}"
    if question.grid is not None:
        low, high = question.labels[0], question.labels[question.points - 1]
        some = f"one of {question.points} numbers from {low} to {high}"
        sentence = f"Your number is rounded by lot to {some}. {sentence}"
    return sentence


def reveal(survey: Survey) -> str:
    """Say how much one whole report can reveal."""
    return (
        f"Whoever sees this report and thought before that something about your answers was "
        f"50 % likely can be at most {percent_up(surest(survey.odds))} sure afterwards "
        f"(total odds {float(survey.odds):.3g} to 1, epsilon {survey.epsilon:.3f})."
    )
