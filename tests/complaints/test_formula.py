"""A label that a spreadsheet would run, in everything that leaves: `=HYPERLINK("x")`.

Where a spreadsheet reads cells it must not begin one; where a program reads texts it must be the
same text; on a page it must be words.
"""

from __future__ import annotations

import csv
import html
import io
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from openpyxl import Workbook

from deniable_analysis import Reports
from deniable_analysis.export import to_csv, to_json
from deniable_analysis.export_r import to_r
from deniable_analysis.page import render
from deniable_analysis.results import Results, analyse
from deniable_client import respond
from deniable_protocol import Survey
from deniable_protocol.cli import main
from deniable_server import ReportStore, create_app
from deniable_server.kit import make_kit
from deniable_server.preview import create_preview

LABEL = '=HYPERLINK("x")'
STARTS = ("=", "+", "-", "@", "\t", "\r")
SOURCE: dict[str, Any] = {
    "name": "formula",
    "title": LABEL,
    "intro": LABEL,
    "privacy": {"epsilon": 4},
    "questions": [
        {"name": "one", "kind": "choice", "text": LABEL, "options": [LABEL, "b", "c"]},
        {"name": "two", "kind": "yes-no", "text": LABEL, "options": [LABEL, "No"]},
        {"name": "many", "kind": "multiple", "text": LABEL, "options": [LABEL, "b"]},
        {"name": "size", "kind": "number", "text": LABEL, "min": 0, "max": 9, "unit": LABEL},
    ],
}
SURVEY = Survey.load(SOURCE)
ANSWERS: dict[str, Any] = {"one": LABEL, "two": LABEL, "many": [LABEL], "size": 3}


@pytest.fixture(scope="module")
def results() -> Results:
    counts = {"one": [50, 20, 30], "two": [60, 40], "many.1": [70, 30], "many.2": [40, 60]}
    return analyse(Reports.of_counts(SURVEY, counts | {"size": _size()}))


def _size() -> list[int]:
    points = SURVEY["size"].channel.options
    return [100 - 10 * (points - 1)] + [10] * (points - 1)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
        store.add([(published, respond(SURVEY, ANSWERS)) for _ in range(40)])
    return path


def run(*words: object) -> Result:
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code == 0, found.output
    return found


class Words(HTMLParser):
    """Read a page as a browser does: elements with attributes, and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs


def cells(text: str) -> Iterator[str]:
    for row in csv.reader(io.StringIO(text)):
        yield from row


def test_results_as_csv(results: Results) -> None:
    """No cell of a text begins as a formula does; the text stays readable after the apostrophe."""
    found = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert f"'{LABEL}" in {row["option"] for row in found}
    texts = [row[key] for row in found for key in ("question", "option", "arm", "among", "method")]
    assert not [text for text in texts if text.startswith(STARTS)]


def test_results_as_json(results: Results) -> None:
    """Programs get the label itself."""
    found = json.loads(to_json(results))
    assert found["questions"][0]["text"] == LABEL
    assert found["questions"][0]["options"][0]["label"] == LABEL


def test_results_as_a_page(results: Results) -> None:
    """It is words on the page: in no attribute that leads anywhere, and in no script."""
    page = Words(render(results))
    assert any(LABEL in text for text in page.texts)
    leads = [value for name, value in page.attributes if name in ("href", "src", "style")]
    assert not [value for value in leads if value and "HYPERLINK" in value]
    assert not [name for name, _ in page.attributes if name.startswith("on")]


def test_results_as_an_r_script(results: Results, tmp_path: Path) -> None:
    """R gets it as a name in quotes, or behind a comment sign, and gives it back unchanged."""
    script = to_r(results)
    for line in script.splitlines():
        assert "HYPERLINK" not in line or line.startswith(("#", "names(counts) <- c("))
    if (rscript := shutil.which("Rscript")) is None:
        pytest.skip("R is not installed here")
    file = tmp_path / "again.R"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run([rscript, "--vanilla", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert LABEL in done.stdout
    assert "All shares and standard errors agree." in done.stdout


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_reports(database: Path, tmp_path: Path, format: str) -> None:
    """Noisy reports hold option indices: the label is in no file of them."""
    path = tmp_path / f"reports.{format}"
    run("export", "formula", "--output", path, "--database", database)
    assert b"HYPERLINK" not in path.read_bytes()
    if format == "csv":
        assert not [cell for cell in cells(path.read_text()) if cell.startswith(STARTS)]


def test_counts(database: Path) -> None:
    """Nor is it in what is counted for another engine."""
    found = run("counts", "formula", "--database", database).output
    assert "HYPERLINK" not in found
    assert not [cell for cell in cells(found) if cell.startswith(STARTS)]


def test_every_page_of_the_server(database: Path, tmp_path: Path) -> None:
    """List, form and preview write the title as words; the published survey keeps it."""
    file = tmp_path / "survey.json"
    file.write_bytes(SURVEY.to_json())
    site = create_app({"DATABASE": database}).test_client()
    pages = [site.get("/"), site.get("/s/formula"), create_preview(file).test_client().get("/")]
    for page in pages:
        assert page.status_code == 200
        assert LABEL in "".join(Words(page.text).texts)
        assert LABEL not in page.text
        assert html.escape(LABEL).replace("&quot;", "&#34;") in page.text
    assert json.loads(site.get("/v1/surveys/formula").data)["title"] == {"en": LABEL}


def test_what_is_pasted(tmp_path: Path) -> None:
    """The snippet of a plain form holds it as text and as a value, and the kit as data."""
    file = tmp_path / "survey.json"
    file.write_bytes(SURVEY.to_json())
    found = run("embed", file, "--server", "https://survey.example.org", "--form").stdout
    values = {value for name, value in Words(found).attributes if name == "value"}
    assert LABEL in values
    assert f'value="{LABEL}"' not in found
    kit = Words(make_kit(SURVEY))
    assert LABEL in kit.texts, "its title"
    assert SURVEY.published in [json.loads(text) for text in kit.texts if text.startswith("{")]


def test_a_workbook(tmp_path: Path) -> None:
    """Imported, a text is a label; a formula that no spreadsheet has computed is no label."""
    out = tmp_path / "survey.toml"
    for data_type, refused in (("s", False), ("f", True)):
        book = Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.title = "survey"
        for row in (["type", "name", "label"], ["select_one yn", "used", LABEL]):
            sheet.append(row)
        sheet["C2"].data_type = data_type
        choices = book.create_sheet("choices")
        for row in (["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "No"]):
            choices.append(row)
        book.save(tmp_path / "form.xlsx")
        out.unlink(missing_ok=True)
        words = ["import-xlsform", str(tmp_path / "form.xlsx"), str(out), "--epsilon", "1"]
        found = CliRunner().invoke(main, words)
        assert found.exit_code == int(refused), found.output
        if refused:
            assert "sheet 'survey', row 2, column 'label'" in found.output
        else:
            assert str(Survey.load(out)["used"].text) == LABEL


def test_a_file_without_the_apostrophe_is_caught(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of the table finds a table that is written as it comes."""
    monkeypatch.setattr("deniable_analysis.export.guarded", str)
    with pytest.raises(AssertionError):
        test_results_as_csv(results)
