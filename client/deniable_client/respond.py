"""Answer a survey: the only place where a true answer and a report meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from deniable_protocol import BudgetError, Report, Survey, SurveyError, Token, TokenError

from .answers import Answer, encode
from .entropy import Read, system
from .randomizer import apply_noise, draw_report_noise

DEFAULT_MAX_EPSILON = 4.0


def respond(
    survey: Survey,
    answers: Mapping[str, Answer],
    *,
    language: str | None = None,
    arm: str | None = None,
    token: Token | None = None,
    max_epsilon: float = DEFAULT_MAX_EPSILON,
) -> Report:
    """Randomize one respondent's answers into the report that may be sent.

    Each call draws fresh noise from the operating system, so call it once for each respondent and
    send the same report again if sending fails; ``Device`` does both.

    Privacy:
        The report is ``survey.epsilon``-locally differentially private: any two sets of answers
        give any report with probabilities within a factor ``survey.odds``. Questions are
        randomized independently, each as in ``Channel``.

    Args:
        survey: What is asked.
        answers: One answer for each question by name: an option's label, True or False for a
            yes-no question, a number, a list of the ticked labels of a ``multiple``, None (or left
            out) for a question that may be skipped. The answer to a hidden question is ignored.
        language: Language of the labels; the survey's own if None.
        arm: The collection arm, where the survey has arms. It is public and stored.
        token: The right to answer, where the survey is by invitation; see ``Device.redeem``.
        max_epsilon: Refuse a survey whose total ε is above this.

    Raises:
        SurveyError: If *arm* is not one of the survey's, or the survey is answered in waves, whose
            permanent noise only ``Device`` keeps.
        TokenError: If the survey is by invitation and the token is not of its key.
        BudgetError: If the survey's ε is above *max_epsilon*. Nothing was drawn.
        AnswerError: If an answer is not allowed. The message never repeats the answer.
        EntropyError: If the system's randomness fails.

    >>> survey = Survey.load({"name": "demo", "title": "Demo", "privacy": {"epsilon": 1},
    ...     "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}]})
    >>> report = respond(survey, {"smokes": True})
    >>> report.answers["smokes"] in [(0,), (1,)]
    True
    """
    if survey.memoize:
        # Fresh noise in each wave could be averaged away, and that is what waves promise against.
        raise SurveyError([f"survey '{survey.name}' is answered in waves: use Device, which keeps "
                           "the noise from one wave to the next"])  # fmt: skip
    check_limit(survey.name, survey.epsilon, max_epsilon)
    check_token(survey, token)
    report = respond_with(system, survey, answers, language=language, arm=arm)
    return replace(report, token=token)


def respond_with(
    read: Read,
    survey: Survey,
    answers: Mapping[str, Answer],
    *,
    language: str | None = None,
    arm: str | None = None,
) -> Report:
    """Randomize with randomness from an argument. For vectors and enumeration only."""
    check_arm(survey, arm)
    noise = draw_report_noise(survey, read)
    # All randomness is drawn. Only now are the answers looked at.
    indices = encode(survey, answers, noise.rounding, language)
    drawn = {
        item.name: apply_noise(item.channel, noise.subsets[item.name], indices[item.name])
        for item in survey.items
        if item.name in noise.sent
    }
    return Report(survey.digest, f"{noise.identifier:016x}", MappingProxyType(drawn), arm)


def check_arm(survey: Survey, arm: str | None) -> None:
    """Refuse an arm that the survey does not declare."""
    if arm not in (survey.arms or (None,)):
        arms = f"one of the arms {', '.join(survey.arms)}" if survey.arms else "no arm"
        raise SurveyError([f"survey '{survey.name}' expects {arms}, got {arm!r}"])


def check_token(survey: Survey, token: Token | None) -> None:
    """Refuse to answer by invitation without a token of the survey's key, or with one elsewhere."""
    key = survey.invite_key
    if key is None and token is not None:
        raise TokenError(f"survey '{survey.name}' takes answers without an invitation")
    if key is not None and (token is None or not token.fits(survey.name, key)):
        raise TokenError(f"survey '{survey.name}' is by invitation: expected a token of its key")


def check_limit(name: str, epsilon: float, max_epsilon: float) -> None:
    """Refuse to go above a device's limit."""
    if not epsilon <= max_epsilon:
        raise BudgetError(
            f"survey '{name}' would bring the total to epsilon {epsilon:.3f}, above this device's "
            f"limit of {max_epsilon:g}; nothing was drawn or sent"
        )
