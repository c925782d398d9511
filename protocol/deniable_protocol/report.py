"""A report: all that one respondent's device ever sends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from .blind import Token
from .canonical import canonical, read_strict
from .channel import Channel
from .errors import ReportError, TokenError
from .survey import MAX_REPORT_BYTES, Survey

_ID: Final = re.compile(r"[0-7][0-9a-f]{15}")  # 63 bits: it is also a signed 64-bit database key


@dataclass(frozen=True)
class Report:
    """Hold one noisy report. It may be shown, logged and stored: it is deniable.

    Attributes:
        survey: Digest of the survey that was answered.
        id: 16 lower-case hexadecimal digits, drawn at random by the device once.
        answers: For each item that was sent the sorted option indices that were drawn.
        arm: The collection arm, where the survey has arms; it is public.
        token: The right to answer, where the survey is by invitation; it is not stored with the
            report.
    """

    survey: str
    id: str
    answers: Mapping[str, tuple[int, ...]]
    arm: str | None = None
    token: Token | None = None

    @classmethod
    def parse(
        cls, source: bytes | Mapping[str, Any], survey: Survey, *, stored: bool = False
    ) -> Report:
        """Read a report and check that *survey* can have produced it.

        Args:
            source: What came in.
            survey: The survey that it says it answers.
            stored: Whether an intake has taken it already: what is stored has no token.

        Raises:
            ReportError: If it cannot. ``reason`` says why; the message never quotes the input.

        >>> survey = Survey.load({"name": "demo", "title": "Demo", "privacy": {"epsilon": 1},
        ...     "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}]})
        >>> report = {"survey": survey.digest, "id": "0" * 16, "answers": {"smokes": [2]}}
        >>> Report.parse(report, survey)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        deniable_protocol.errors.ReportError: An answer is a sorted list of distinct option ...
        """
        found = _read(source) if isinstance(source, bytes) else source
        keys = {"survey", "id", "answers"} | ({"arm"} if survey.arms else set())
        if not isinstance(found, Mapping) or set(found) - {"token"} != keys:
            raise ReportError("shape")
        if found["survey"] != survey.digest:
            raise ReportError("survey")
        if not isinstance(found["id"], str) or not _ID.fullmatch(found["id"]):
            raise ReportError("id")
        if survey.arms and found["arm"] not in survey.arms:
            raise ReportError("arm")
        token = None if stored and "token" not in found else _token(found, survey)
        answers = MappingProxyType(_answers(found["answers"], survey))
        return cls(survey.digest, found["id"], answers, found.get("arm"), token)

    @property
    def key(self) -> int:
        """The id as a 63-bit integer."""
        return int(self.id, 16)

    def to_json(self) -> bytes:
        """Write the report as canonical JSON: a retry sends these same bytes."""
        answers = {name: list(subset) for name, subset in self.answers.items()}
        found: dict[str, Any] = {"survey": self.survey, "id": self.id, "answers": answers}
        found |= {"arm": self.arm} if self.arm is not None else {}
        return canonical(found | ({"token": str(self.token)} if self.token is not None else {}))


def _read(data: bytes) -> Any:
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError("too-large")
    try:
        return read_strict(data)
    except ValueError:
        raise ReportError("not-json") from None


def _token(found: Mapping[str, Any], survey: Survey) -> Token | None:
    """Read the token, whose signature only an intake that has the key can check."""
    if ("token" in found) != (survey.invite_key is not None):
        raise ReportError("token")
    try:
        return Token.parse(found["token"]) if "token" in found else None
    except TokenError:
        raise ReportError("token") from None


def _answers(found: Any, survey: Survey) -> dict[str, tuple[int, ...]]:
    """Check that the right number of questions, and of boxes in each, was sent."""
    if not isinstance(found, Mapping):
        raise ReportError("questions")
    answers: dict[str, tuple[int, ...]] = {}
    sent = 0
    for question in survey.questions:
        items = [item for item in question.items if item.name in found]
        if items:
            sent += 1
            if len(items) != (question.ask or len(question.items)):
                raise ReportError("questions")
        answers |= {item.name: _subset(found[item.name], item.channel) for item in items}
    if sent != (survey.ask or len(survey.questions)) or len(answers) != len(found):
        raise ReportError("questions")
    return answers


def _subset(found: Any, channel: Channel) -> tuple[int, ...]:
    if not isinstance(found, list | tuple) or len(found) != channel.subset:
        raise ReportError("subset")
    if not all(type(index) is int and 0 <= index < channel.options for index in found):
        raise ReportError("subset")
    if any(left >= right for left, right in pairwise(found)):
        raise ReportError("subset")
    return tuple(found)
