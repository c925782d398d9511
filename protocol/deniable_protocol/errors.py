"""Errors of every part, in one tree.

::

    DeniableError                       never raised itself
    ├── ChannelError    (ValueError)    options, subset or odds out of range
    ├── SurveyError     (ValueError)    a survey that cannot be used; .problems has every mistake
    ├── AnswerError     (ValueError)    an answer its question does not allow; never repeats it
    ├── ReportError     (ValueError)    not a report of this survey; .reason is one of REASONS
    ├── TokenError      (ValueError)    a key, code or token that does not let anyone answer
    ├── BudgetError                     the device's limit would be passed; nothing drawn or sent
    ├── EntropyError    (RuntimeError)  the system gave too little randomness
    ├── SubmitError     (RuntimeError)  the report was not acknowledged; sending again is safe
    ├── StoreError      (RuntimeError)  the database cannot take, or does not hold, what was asked
    ├── SettingError    (ValueError)    a server is set to what it cannot be
    ├── EstimateError   (ValueError)    no reports, or a question that cannot be estimated as asked
    └── PrivacyError    (ValueError)    central mechanisms and accounting
        ├── MechanismError              parameters for which a mechanism has no guarantee
        └── EventError                  no theorem for this event, relation or δ

A message says what was expected and what came. The one exception is a true answer, which no
message, representation or log may repeat: AnswerError names the question and what it allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

Reason = Literal[
    "too-large", "not-json", "shape", "survey", "id", "arm", "questions", "subset", "token"
]

REASONS: Final[dict[Reason, str]] = {
    "too-large": "A report is at most 64 KiB.",
    "not-json": "A report is one JSON object in UTF-8, without repeated keys.",
    "shape": 'A report has the keys "answers", "id", "survey", and "arm" where there are arms.',
    "survey": "The report was made for another survey, or another version of it.",
    "id": "An id is 16 lower-case hexadecimal digits, below 2^63.",
    "arm": "The arm of a report is one of those that its survey declares.",
    "questions": "A report has an entry for each question of its survey that was to be sent.",
    "token": "A report has a token exactly where its survey is by invitation, signed by its key.",
    "subset": "An answer is a sorted list of distinct option indices of the stated size.",
}


class DeniableError(Exception):
    """Base of every error that deniable raises on purpose. Never raised itself."""


class ChannelError(DeniableError, ValueError):
    """Options, subset size or odds for which there is no randomizer."""


class SurveyError(DeniableError, ValueError):
    """A survey that cannot be used, with every mistake that was found.

    ``problems`` holds one plain sentence for each mistake, so that an author sees them all at once.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class AnswerError(DeniableError, ValueError):
    """An answer that its question does not allow. Never repeats the answer."""


class ReportError(DeniableError, ValueError):
    """A report that its survey cannot have produced.

    ``reason`` is one of ``REASONS``. The message never quotes the report.
    """

    def __init__(self, reason: Reason) -> None:
        self.reason: Reason = reason
        super().__init__(REASONS[reason])


class TokenError(DeniableError, ValueError):
    """A key, an invitation code or a token that does not let anyone answer. Never repeats it."""


class BudgetError(DeniableError):
    """The device's privacy limit would be passed. Nothing was drawn and nothing was sent."""


class EntropyError(DeniableError, RuntimeError):
    """The system's randomness is missing or ran out."""


class SubmitError(DeniableError, RuntimeError):
    """The report was not acknowledged. Sending the same report again is safe."""


class StoreError(DeniableError, RuntimeError):
    """The database cannot take, or does not hold, what was asked for."""


class SettingError(DeniableError, ValueError):
    """A setting that a server cannot have. Names the setting or the variable, never a secret."""


class EstimateError(DeniableError, ValueError):
    """The reports do not allow the estimate that was asked for."""


class PrivacyError(DeniableError, ValueError):
    """A central mechanism or an accountant was asked for something it cannot guarantee."""


class MechanismError(PrivacyError):
    """Parameters for which the mechanism has no guarantee."""


class EventError(PrivacyError):
    """An accountant has no theorem for this event, neighbouring relation or δ."""


class SpendError(PrivacyError):
    """A release would pass a ledger's privacy budget. Nothing was written down."""
