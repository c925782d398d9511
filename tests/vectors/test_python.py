"""The Python reference agrees with the vector files that JavaScript reads too."""

from __future__ import annotations

import json
from fractions import Fraction
from io import BytesIO
from typing import Any

import pytest

from deniable_client.entropy import below
from deniable_client.randomizer import apply_noise, draw_noise
from deniable_client.respond import check_limit, respond_with
from deniable_protocol import (
    BudgetError,
    Channel,
    EntropyError,
    Report,
    ReportError,
    Survey,
    SurveyError,
)
from deniable_protocol.canonical import digest

from .make import FOLDER, build, render


def cases(name: str) -> list[dict[str, Any]]:
    found = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert found["format"] == "deniable-vectors/1"
    return list(found["cases"])


def test_files_are_fresh() -> None:
    """A vector file that the reference would no longer write fails."""
    made = build()
    assert set(made) == {path.name for path in FOLDER.glob("*.json")}
    for name, content in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == render(content), f"{name} is stale"


def test_there_are_enough() -> None:
    """At least 300 cases pin what is right and 60 what is refused, in both languages."""
    shared = [
        case
        for name in ("below.json", "randomizer.json", "reports.json", "surveys.json")
        for case in cases(name)
    ]
    assert sum("reason" not in case for case in shared) >= 300
    assert sum("reason" in case for case in shared) >= 60


def test_below() -> None:
    """Each value and the number of bytes it took are as pinned."""
    for case in cases("below.json"):
        source = BytesIO(bytes.fromhex(case["bytes"]))
        if "reason" in case:
            with pytest.raises(EntropyError):
                below(case["bound"], source.read)
        else:
            assert below(case["bound"], source.read) == case["value"]
            assert source.tell() == case["read"]


def test_randomizer() -> None:
    """Each subset is as pinned, and takes exactly the pinned bytes."""
    for case in cases("randomizer.json"):
        channel = Channel(case["k"], case["d"], Fraction(case["a"], case["b"]))
        source = BytesIO(bytes.fromhex(case["bytes"]))
        if "reason" in case:
            with pytest.raises(EntropyError):
                draw_noise(channel, source.read)
        else:
            noise = draw_noise(channel, source.read)
            assert list(apply_noise(channel, noise, case["answer"])) == case["subset"]
            assert source.read() == b""


def test_reports() -> None:
    """The bytes that are sent are as pinned."""
    for case in cases("reports.json"):
        survey = Survey.from_json(case["survey"].encode())
        answers = {
            q.name: str(q.options[index]) if index < len(q.options) else None
            for q in survey.questions
            for index in [case["answers"][q.name]]
        }
        source = BytesIO(bytes.fromhex(case["bytes"]))
        report = respond_with(source.read, survey, answers)
        assert report.to_json().decode() == case["report"]
        assert source.read() == b""
        assert Report.parse(report.to_json(), survey) == report


def test_surveys() -> None:
    """Sound surveys are read; each tampered one is refused for the pinned reason."""
    for case in cases("surveys.json"):
        assert _verdict(case) == case.get("reason"), case


def _verdict(case: dict[str, Any]) -> str | None:
    data = case["survey"].encode()
    if digest(data) != case["digest"]:
        return "digest"
    try:
        survey = Survey.from_json(data)
        check_limit(survey.name, survey.epsilon, case["max-epsilon"])
    except SurveyError:
        return "survey"
    except BudgetError:
        return "limit"
    assert [str(n) for n in survey.odds.as_integer_ratio()] == case["odds"]
    return None


def test_refused_reports() -> None:
    """Each malformed report is refused for the pinned reason, and the message quotes none of it."""
    for case in cases("refused-reports.json"):
        survey = Survey.from_json(case["survey"].encode())
        with pytest.raises(ReportError) as caught:
            Report.parse(bytes.fromhex(case["body"]), survey)
        assert caught.value.reason == case["reason"], case["body"][:80]
