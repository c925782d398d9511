"""Results for other programs: JSON and CSV. And the noisy reports themselves as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

from deniable_protocol import Report, Survey

from .estimate import Estimate
from .reports import Reports

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
_COLUMNS: Final = ("count", "share", "se", "mle", "low", "high", "at_boundary", "outside")


def to_json(reports: Reports, estimates: Sequence[Estimate]) -> str:
    """Write estimates as JSON, with everything needed to know what they are estimates of.

    Shares are numbers such as 0.1 for 10 %; what is not known is null.
    """
    survey = reports.survey
    found = {
        "survey": {"name": survey.name, "digest": survey.digest, "odds": str(survey.odds)},
        "n": reports.n,
        "questions": [_question(found) for found in estimates],
    }
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_csv(estimates: Sequence[Estimate]) -> str:
    """Write estimates as CSV, one line for each option; what is not known is empty.

    A text that a spreadsheet would run as a formula gets an apostrophe in front. Numbers are
    written in full, as they are.
    """
    rows: list[Iterable[object]] = [("question", "option", "n", *_COLUMNS, "level", "method")]
    for found in estimates:
        for option in found.options:
            texts = (guarded(found.item.name), guarded(option.label))
            numbers = [_known(getattr(option, column)) for column in _COLUMNS]
            cells = ["" if number is None else number for number in numbers]
            rows.append((*texts, found.n, *cells, found.level, found.method))
    return _csv(rows)


def reports_to_csv(survey: Survey, reports: Iterable[Report]) -> str:
    """Write noisy reports as CSV, which ``read_reports`` reads back.

    One line for each report: its id, its arm where the survey has arms, and for each item the drawn
    option indices, separated by spaces; empty where the item was not sent.
    """
    names = [item.name for item in survey.items]
    arm = ("arm",) if survey.arms else ()
    rows: list[Iterable[object]] = [("id", *arm, *names)]
    for report in reports:
        sent = (" ".join(map(str, report.answers.get(name, ()))) for name in names)
        rows.append((report.id, *((report.arm,) if arm else ()), *sent))
    return _csv(rows)


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> guarded("=1+1"), guarded("Yes")
    ("'=1+1", 'Yes')
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _question(found: Estimate) -> dict[str, Any]:
    channel = found.item.channel
    options = [
        {key: _known(value) for key, value in asdict(option).items()} for option in found.options
    ]
    return {
        "name": found.item.name,
        "text": str(found.question.text),
        "channel": {"k": channel.options, "d": channel.subset, "a": channel.a, "b": channel.b},
        "n": found.n,
        "level": found.level,
        "method": found.method,
        "kkt": _known(found.kkt),
        "options": options,
    }


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _csv(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
