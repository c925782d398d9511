"""The offline kit in a real Chromium, from a file: many people, one tablet, no network."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from deniable_analysis import read_reports
from deniable_protocol import Survey, SurveyError
from deniable_server.kit import make_kit
from deniable_server.kit_cli import kit

from .surveys import KINDS, SHORT
from .test_access import axe, sideways
from .visitor import Visitor

ARMS = Survey.load({
    "name": "kit", "title": "Kit", "arms": ["north", "south"], "privacy": {"epsilon": 3},
    "questions": [
        {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"},
        {"name": "canary", "kind": "choice", "text": "Which?", "options": ["Qx7canary", "b", "c"]},
    ],
})  # fmt: skip


@pytest.fixture
def visitor(chromium: Browser, tmp_path: Path) -> Iterator[Visitor]:
    """Open the kit as from a memory stick, with every request on record."""
    file = tmp_path / "kit.html"
    file.write_text(make_kit(ARMS), encoding="utf-8")
    context = chromium.new_context(locale="en-GB", accept_downloads=True)
    found = Visitor(context, "")
    found.page.goto(file.as_uri())
    found.wait(lambda: bool(found.all("radio")))
    yield found
    context.close()


def answer(visitor: Visitor, place: int) -> None:
    visitor.wait(lambda: bool(visitor.all("radio")))
    visitor.tab_to("radio").press("Space")
    visitor.tab_to("radio").press("ArrowDown", *["ArrowDown"] * place)
    visitor.tab_to("button", "Randomize and keep").press("Enter")
    visitor.wait(lambda: visitor.says("Kept, with noise."))


def test_three_people(visitor: Visitor, tmp_path: Path) -> None:
    """Each gets a clean form; the reports are saved in the order of their ids, and are imported."""
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    for place in range(3):
        answer(visitor, place)
        visitor.wait(lambda: visitor.says(f"Reports kept: {place + 1}."))  # noqa: B023
        visitor.tab_to("button", "Next person").press("Enter")
        visitor.wait(lambda: bool(visitor.all("radio")))
        assert not any(radio["checked"] == "true" for radio in visitor.all("radio"))
    with visitor.page.expect_download() as download:
        visitor.tab_to("button", "Save the reports as a file").press("Enter")
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    lines = [json.loads(line) for line in saved.read_text().splitlines()]
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    assert len({line["id"] for line in lines}) == 3
    assert {line["arm"] for line in lines} == {"north"}
    assert read_reports(saved, ARMS).n == 3
    visitor.wait(lambda: visitor.says("Check that the file is there"))
    visitor.tab_to("button", "Remove the saved reports from this device").press("Enter")
    visitor.wait(lambda: visitor.says("Reports kept: 0."))
    assert [url for url in asked if not url.startswith(("blob:", "file:"))] == []
    assert not visitor.violations()
    imported = subprocess.run(
        [sys.executable, "-m", "deniable_protocol", "publish", str(_published(tmp_path)),
         "--database", str(tmp_path / "s.db")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    imported = subprocess.run(
        [sys.executable, "-m", "deniable_protocol", "import", str(saved),
         "--database", str(tmp_path / "s.db")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    assert read_reports(tmp_path / "s.db", "kit").n == 3


def _published(folder: Path) -> Path:
    (folder / "kit.json").write_bytes(ARMS.to_json())
    return folder / "kit.json"


def test_a_double_click_keeps_one_report(visitor: Visitor, tmp_path: Path) -> None:
    """Where no tick is an answer too, the cleared form could be answered by the second click."""
    boxes = {"name": "used", "kind": "multiple", "text": "Used?", "options": ["a", "b"]}
    source = {"name": "boxes", "title": "B", "privacy": {"epsilon": 1}, "questions": [boxes]}
    file = tmp_path / "boxes.html"
    file.write_text(make_kit(Survey.load(source)), encoding="utf-8")
    visitor.page.goto(file.as_uri())
    visitor.wait(lambda: bool(visitor.all("checkbox")))
    visitor.tab_to("checkbox").press("Space")
    visitor.page.mouse.dblclick(*visitor.middle(visitor.one("button", "Randomize and keep")))
    visitor.wait(lambda: visitor.says("Reports kept: 1."))
    visitor.wait(lambda: visitor.says("Kept, with noise."))
    visitor.page.wait_for_timeout(300)
    visitor.page.reload()
    visitor.wait(lambda: visitor.says("Reports kept: 1."))


def test_a_long_survey_has_a_kit(visitor: Visitor, tmp_path: Path) -> None:
    """Odds beyond what a float holds are no reason to refuse."""
    questions = [{"name": f"q{n}", "kind": "yes-no", "text": f"Question {n}?"} for n in range(150)]
    source = {"name": "long", "title": "L", "privacy": {"epsilon": 9.7}, "questions": questions}
    survey = Survey.load(source)
    assert survey.odds.denominator > 10**309
    file = tmp_path / "long.html"
    file.write_text(make_kit(survey), encoding="utf-8")
    visitor.page.goto(file.as_uri())
    visitor.wait(lambda: len(visitor.all("radio")) == 300)


def test_what_is_kept_survives(visitor: Visitor) -> None:
    """A report is on disk before a person is thanked: it is there after the page is closed."""
    answer(visitor, 0)
    visitor.page.reload()
    visitor.wait(lambda: visitor.says("Reports kept: 1."))


@pytest.mark.parametrize(("locale", "scheme"), [("en", "light"), ("bn", "dark")])
def test_axe_finds_nothing_in_a_kit(chromium: Browser, tmp_path: Path, locale: str,
                                    scheme: Literal["light", "dark"]) -> None:  # fmt: skip
    """Neither where a person answers, nor where the tablet changes hands; 320 px wide."""
    file = tmp_path / "kit.html"
    grouped = SHORT | {"arms": ["north", "south"]}
    file.write_text(make_kit(Survey.load(grouped)), encoding="utf-8")
    context = chromium.new_context(
        locale=locale, color_scheme=scheme, viewport={"width": 320, "height": 640}
    )
    visitor = Visitor(context, "", opened=True)
    visitor.page.goto(file.as_uri())
    visitor.wait(lambda: bool(visitor.all("radio")))
    assert axe(visitor) == []
    for _ in range(3):
        visitor.tab_to("radio").press("Space")
    visitor.tab_to("button").press("Enter")
    visitor.wait(lambda: not visitor.all("radio"))
    assert axe(visitor) == []
    assert sideways(visitor) == 0
    context.close()


def test_nothing_can_be_sent(visitor: Visitor) -> None:
    """The page's own policy refuses every connection, even to one who has a script run in it."""
    tried = "fetch('https://example.org/').then(() => 'sent', () => 'refused')"
    assert visitor.page.evaluate(tried) == "refused"
    assert "connect-src" in visitor.violations()


def test_no_answer_is_kept(visitor: Visitor) -> None:
    """Neither the page nor its storage holds what was answered, only reports."""
    answer(visitor, 0)
    stored = visitor.page.evaluate("""async () => {
        const [{ name }] = await indexedDB.databases();
        const open = indexedDB.open(name);
        const database = await new Promise((done) => (open.onsuccess = () => done(open.result)));
        const all = database.transaction("reports").objectStore("reports").getAll();
        return new Promise((done) => (all.onsuccess = () => done(all.result)));
    }""")
    (report,) = stored
    assert set(json.loads(report)) == {"survey", "id", "answers", "arm"}
    assert "canary" not in json.dumps(json.loads(report)["answers"]["canary"])
    assert not visitor.says("Qx7canary")


@pytest.mark.parametrize("source", [SHORT, KINDS])
def test_size(source: dict[str, object]) -> None:
    """In one language or three a kit stays below 40 kB, without what its survey asks."""
    survey = Survey.load(source)
    assert len(make_kit(ARMS).encode()) < 32_000
    assert len(make_kit(survey).encode()) - len(survey.to_json()) < 40_000


def test_refused() -> None:
    """A survey that needs a device for each person has no kit; the verb says so."""
    waves = Survey.load({
        "name": "w", "title": "W", "arms": ["one"], "privacy": {"epsilon": 1, "waves": "memoize"},
        "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}],
    })  # fmt: skip
    with pytest.raises(SurveyError, match="needs a device for each person"):
        make_kit(waves)


def test_a_text_cannot_leave_its_place() -> None:
    """A title that looks like markup is text, and the survey in the page is the published one."""
    survey = Survey.load(ARMS.published | {"title": {"en": "</script><script>alert(1)</script>"}})
    page = make_kit(survey)
    assert page.count("</script>") == 2
    inside = page.split('id="survey"')[1].split(">", 1)[1].split("</script>")[0]
    assert json.loads(inside) == survey.published


def test_the_verb(tmp_path: Path) -> None:
    """The file is written where it was asked for, and its digest is told."""
    file = _published(tmp_path)
    found = CliRunner().invoke(kit, [str(file), "--output", str(tmp_path / "k.html")])
    assert found.exit_code == 0
    assert ARMS.digest in found.output
    assert (tmp_path / "k.html").read_text() == make_kit(ARMS)
