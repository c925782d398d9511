"""The Python reference agrees with the vector files that JavaScript reads too."""

from __future__ import annotations

import json
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from deniable_client import Device, device
from deniable_client.entropy import below
from deniable_client.randomizer import apply_noise, draw_noise
from deniable_client.respond import check_limit, respond_with
from deniable_protocol import (
    AnswerError,
    BudgetError,
    Channel,
    EntropyError,
    Report,
    ReportError,
    Survey,
    SurveyError,
)
from deniable_protocol.canonical import digest
from deniable_protocol.question import KINDS

from .make import FOLDER, build, render
from .samples import said


def cases(name: str) -> list[dict[str, Any]]:
    """Read a file's cases, with the text of the survey in place of its name."""
    found = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert found["format"] == "deniable-vectors/1"
    for case in found["cases"]:
        if "surveys" in found:
            case["survey"] = _text(found["surveys"][case["survey"]], case)
    return list(found["cases"])


def _text(survey: str, case: dict[str, Any]) -> str:
    """Change a survey's text as a case says: at a place, so many characters become others."""
    at = case.get("at", 0)
    return survey[:at] + str(case.get("put", "")) + survey[at + case.get("cut", 0) :]


def test_files_are_fresh() -> None:
    """A vector file that the reference would no longer write fails."""
    for name, content in build().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == render(content), f"{name} is stale"


def test_there_are_enough() -> None:
    """At least 300 cases pin what is right and 200 what is refused, in both languages."""
    shared = [
        case
        for name in (
            "below.json",
            "randomizer.json",
            "reports.json",
            "panels.json",
            "surveys.json",
            "refused-answers.json",
        )
        for case in cases(name)
    ]
    assert sum("reason" not in case for case in shared) >= 300
    assert sum("reason" in case for case in shared) >= 200


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
    """The bytes that are sent are as pinned, for every kind of question."""
    kinds = set()
    for case in cases("reports.json"):
        survey = Survey.from_json(case["survey"].encode())
        kinds |= {question.kind for question in survey.questions}
        source = BytesIO(bytes.fromhex(case["bytes"]))
        if "reason" in case:
            with pytest.raises(EntropyError):
                respond_with(
                    source.read, survey, said(survey, case["answers"]), arm=case.get("arm")
                )
            continue
        report = respond_with(
            source.read, survey, said(survey, case["answers"]), arm=case.get("arm")
        )
        assert report.to_json().decode() == case["report"]
        assert source.read() == b""
        assert Report.parse(report.to_json(), survey) == report
    assert kinds == set(KINDS)


def test_panels(tmp_path: Path) -> None:
    """Waves of one device send the pinned reports at the pinned odds; one refused draws none."""
    for place, case in enumerate(cases("panels.json")):
        survey = Survey.from_json(case["survey"].encode())
        own = Device(tmp_path / f"{place}.db", case["max-epsilon"])
        for wave in case["waves"]:
            source = BytesIO(bytes.fromhex(wave.get("bytes", "")))
            with patch.object(device, "system", source.read):
                if "reason" in wave:
                    with pytest.raises(BudgetError if wave["reason"] == "limit" else SurveyError):
                        own.respond(survey, said(survey, wave["answers"]), arm=wave["arm"])
                    continue
                report = own.respond(survey, said(survey, wave["answers"]), arm=wave["arm"])
            assert report.to_json().decode() == wave["report"]
            assert source.read() == b""
            assert [str(part) for part in own.spent.as_integer_ratio()] == wave["spent"]


def test_refused_answers() -> None:
    """Answers that do not fit are refused after all noise is drawn; a wrong arm before any is."""
    for case in cases("refused-answers.json"):
        survey = Survey.from_json(case["survey"].encode())
        source = BytesIO(bytes.fromhex(case["bytes"]))
        error = AnswerError if case["reason"] == "answer" else SurveyError
        with pytest.raises(error) as caught:
            respond_with(source.read, survey, said(survey, case["answers"]), arm=case.get("arm"))
        assert source.read() == b""
        assert "1.000000000001" not in str(caught.value)


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
            Report.parse(bytes.fromhex(case["body"]) * case.get("times", 1), survey)
        assert caught.value.reason == case["reason"], case["body"][:80]
