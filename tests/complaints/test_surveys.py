"""What authors of other tools' surveys complain of: each mistake is stopped where it is made."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deniable_analysis import read_reports
from deniable_client import Device, respond
from deniable_protocol import EstimateError, Report, ReportError, Survey, SurveyError
from deniable_protocol.certificate import INTERFACE
from deniable_protocol.cli import main
from deniable_protocol.question import Text
from deniable_server import ReportStore, create_app

BROWSER = Path(__file__).resolve().parents[2] / "client/deniable_client/browser"
QUESTION: dict[str, Any] = {
    "name": "often", "kind": "choice", "text": "How often?", "options": ["never", "once", "twice"],
}  # fmt: skip
SOURCE: dict[str, Any] = {
    "name": "study", "title": "Study", "privacy": {"epsilon": 2}, "questions": [QUESTION],
}  # fmt: skip
SURVEY = Survey.load(SOURCE)
SHORTER = Survey.load(SOURCE | {"questions": [QUESTION | {"options": ["never", "twice"]}]})


def run(*words: object, status: int = 0) -> Result:
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code == status, found.output
    return found


@pytest.mark.parametrize("again", ["once", "Once", " once ", "ONCE"])
@pytest.mark.parametrize("kind", ["choice", "scale", "multiple"])
def test_two_options_of_one_name(kind: str, again: str) -> None:
    """Equal names, also in other letters or with spaces around, are refused in every kind."""
    question = QUESTION | {"kind": kind, "options": ["never", "once", again]}
    with pytest.raises(SurveyError, match="option 3 repeats option 2"):
        Survey.load(SOURCE | {"questions": [question]})


def test_two_options_of_one_name_in_another_language() -> None:
    """A translation that makes two options one is refused too: its readers could not tell them."""
    options = [{"en": "a", "bn": "ক"}, {"en": "b", "bn": "ক"}]
    with pytest.raises(SurveyError, match="option 2 repeats option 1"):
        Survey.load(SOURCE | {"questions": [QUESTION | {"options": options}]})


def test_a_missing_translation_is_found_and_never_shown_as_nothing(tmp_path: Path) -> None:
    """`check` names it; with --strict it fails; who reads that language gets the survey's own."""
    text = Text({"en": "How often?"}, "en")
    assert text.to("bn") == "How often?"
    file = tmp_path / "survey.toml"
    file.write_text(
        'name = "s"\ntitle = { en = "T", bn = "শ" }\n[privacy]\nepsilon = 1\n'
        '[[questions]]\nname = "a"\nkind = "yes-no"\ntext = "Used?"\n'
    )
    found = run("check", "--strict", file, status=2)
    assert "the translation into “bn” lacks the text of “a”" in found.output


def test_an_interface_that_lacks_a_language_is_said(tmp_path: Path) -> None:
    """`check` names languages of a survey in which the form's own words are not written."""
    file = tmp_path / "survey.toml"
    file.write_text(
        'name = "s"\ntitle = { en = "T", fr = "T", ar = "T", zh-TW = "T", en-GB = "T" }\n'
        '[privacy]\nepsilon = 1\n[[questions]]\nname = "a"\nkind = "yes-no"\ntext = "Used?"\n'
    )
    assert "readers of “ar” or “fr” get them in English" in run("check", file).output
    found = json.loads(run("check", "--json", file).output)
    assert found["languages_without_interface"] == ["ar", "fr"]
    written = {path.name.split(".")[1].split("-")[0] for path in BROWSER.glob("words.*.js")}
    assert written == set(INTERFACE)


def test_a_removed_option_mixes_with_nothing(tmp_path: Path) -> None:
    """Reports before and after a change are two surveys: to the table, the reader and the device.

    An index that the shorter list no longer has is refused, and an old report is stored under what
    it answered.
    """
    old = Report.parse(respond(SURVEY, {"often": "twice"}).to_json(), SURVEY)
    with pytest.raises(ReportError):
        Report.parse(old.to_json(), SHORTER)
    forged = {"survey": SHORTER.digest, "id": old.id, "answers": {"often": [2]}}
    with pytest.raises(ReportError):
        Report.parse(json.dumps(forged).encode(), SHORTER)
    path = tmp_path / "s.db"
    with closing(ReportStore(path)) as store:
        store.publish(SURVEY)
        store.publish(SHORTER)
    site = create_app({"DATABASE": path}).test_client()
    address = "/v1/surveys/study/reports"
    assert site.post(address, data=old.to_json()).status_code == 201  # it was on its way
    assert (
        site.post(address, data=respond(SHORTER, {"often": "twice"}).to_json()).status_code == 201
    )
    assert [read_reports(path, f"study@{version}").n for version in (1, 2)] == [1, 1]
    assert "study@1" in (read_reports(path, "study").note or "")
    with pytest.raises(EstimateError):
        read_reports([old], SHORTER)
    device = Device(tmp_path / "d.db", max_epsilon=4)
    for survey in (SURVEY, SHORTER):
        device.respond(survey, {"often": "twice"})
    assert device.spent == SURVEY.odds * SHORTER.odds, "both count"


def test_a_draft_that_was_never_published(tmp_path: Path) -> None:
    """Reports to a survey that nobody opened are taken nowhere, whichever way they come."""
    file, path = tmp_path / "survey.toml", tmp_path / "s.db"
    run("init", file)
    assert "This is a draft: nothing is published" in run("check", file).output
    draft = Survey.load(file)
    with closing(ReportStore(path)) as store:
        store.publish(SURVEY)
    app = create_app({"DATABASE": path})
    site = app.test_client()
    assert site.get(f"/v1/surveys/{draft.name}").status_code == 404
    assert site.get(f"/s/{draft.name}").status_code == 404
    body = {"survey": draft.digest, "id": "0" * 15 + "1", "answers": {}}
    sent = site.post(f"/v1/surveys/{draft.name}/reports", data=json.dumps(body))
    assert sent.status_code == 404
    sent = site.post("/v1/surveys/study/reports", data=json.dumps(body))
    assert sent.status_code == 422
    lines = tmp_path / "reports.jsonl"
    lines.write_text(json.dumps(body))
    found = run("import", lines, "--database", path, status=1)
    assert "its survey is not published here" in found.output + found.stderr
    found = run("embed", draft.name, "--server", "https://a.example", "--database", path, status=1)
    assert f"there is no survey '{draft.name}'" in found.output + found.stderr
    with pytest.raises(EstimateError):
        read_reports(path, draft.name)
