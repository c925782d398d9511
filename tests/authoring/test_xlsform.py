"""XLSForm workbooks: what is supported becomes a survey, all else is refused by its cell."""

from __future__ import annotations

import builtins
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from deniable_protocol import Survey, SurveyError
from deniable_protocol.cli import main
from deniable_protocol.toml_text import survey_toml
from deniable_protocol.xlsform import read_xlsform
from deniable_protocol.xlsform_logic import RangeError, read_range, read_relevant

Cells = list[list[Any]]

CHOICES: Cells = [
    ["list_name", "name", "label::English (en)", "label::বাংলা (bn)"],
    ["yn", "yes", "Yes", "হ্যাঁ"],
    ["yn", "no", "No", "না"],
    [None, None, None, None],
    ["places", "home", "At home", "বাড়িতে"],
    ["places", "work", "At work", "কাজে"],
    ["places", "bar", "In a bar", "বারে"],
]
SURVEY: Cells = [
    ["type", "name", "Label :: English (en)", "label::বাংলা (bn)", "required", "relevant",
     "constraint", "parameters"],
    ["select_one yn", "used", "Used \"it\"?", "ব্যবহার?", "yes", None, None, None],
    ["select_multiple places", "where", "Where?\nTick all.", "কোথায়?", "yes",
     "${used} = 'yes'", None, None],
    ["integer", "age", "How old?", "বয়স?", True, None, ". >= 18 and . < 100", None],
    ["range", "pain", "How bad?", "কত?", None, "selected(${where}, 'bar') or ${where} = \"home\"",
     None, "start=0 end=5 step=0.5"],
    ["select_one places", "best", "Best?", "সেরা?", "false()", None, None, None],
]  # fmt: skip
SETTINGS: Cells = [
    ["form_title", "form_id", "default_language", "version"],
    ["Drink & work", "Drink_2024", "English (en)", 3],
]


def workbook(path: Path, **sheets: Cells) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["import-xlsform", *map(str, words)])


def test_a_whole_workbook(tmp_path: Path) -> None:
    """Every supported type, in two languages, becomes a survey that loads and checks."""
    path = workbook(tmp_path / "form.xlsx", survey=SURVEY, choices=CHOICES, settings=SETTINGS)
    out = tmp_path / "survey.toml"
    found = run(path, out, "--epsilon", "3")
    assert found.exit_code == 0, found.output
    assert "5 questions, epsilon 3.00" in found.output
    survey = Survey.load(out)
    assert (survey.name, str(survey.title)) == ("drink-2024", "Drink & work")
    assert [q.kind for q in survey.questions] == [
        "yes-no",
        "multiple",
        "number",
        "number",
        "choice",
    ]
    assert [q.optional for q in survey.questions] == [False, False, False, True, True]
    assert survey["used"].text.to("bn") == "ব্যবহার?"
    assert str(survey["used"].text) == 'Used "it"?'
    assert str(survey["where"].text) == "Where?\nTick all."
    assert survey["where"].options[1].to("bn") == "কাজে"
    shown = survey["where"].show_if
    assert shown is not None
    assert (shown.question, shown.options) == ("used", (0,))
    age, pain = survey["age"].grid, survey["pain"].grid
    assert age is not None
    assert (age.low, age.high, age.step) == (18, 99, 1)
    assert pain is not None
    assert (pain.low, pain.high, pain.steps) == (0, 5, 10)
    shown = survey["pain"].show_if
    assert shown is not None
    assert (shown.question, shown.options) == ("where", (0, 2))
    again = run(path, out)
    assert again.exit_code == 1
    assert "exists already; it was not touched" in again.output


def cells(rows: Cells) -> list[list[str]]:
    return [["" if cell is None else str(cell) for cell in row] for row in rows]


def problems(
    survey: Cells, choices: Cells | None = None, settings: Cells | None = None
) -> list[str]:
    sheets = {"survey": cells(survey), "choices": cells(choices or CHOICES)}
    if settings is not None:
        sheets["settings"] = cells(settings)
    with pytest.raises(SurveyError) as caught:
        read_xlsform(sheets)
    return list(caught.value.problems)


HEAD = ["type", "name", "label", "required", "relevant", "constraint", "parameters"]
GOOD = ["select_one yn", "used", "Used?", "", "", "", ""]


@pytest.mark.parametrize(
    ("row", "column", "says"),
    [
        (["text", "a", "A?"], "type", "expected one of select_one LIST, select_multiple LIST, "
         "integer and range, got 'text'"),
        (["note", "a", "A"], "type", "got 'note'"),
        (["begin_group", "a", "A"], "type", "got 'begin_group'"),
        (["decimal", "a", "A"], "type", "got 'decimal'"),
        (["select_one yn or_other", "a", "A"], "type", "add a choice of your own in place"),
        (["select_one_from_file x.csv", "a", "A"], "type", "got 'select_one_from_file x.csv'"),
        (["deviceid", "a", "A"], "type", "would tell who the respondent is"),
        (["geopoint", "a", "A"], "type", "would tell who the respondent is"),
        (["select_one place", "a", "A"], "type", "did you mean 'places'?"),
        (["select_one", "a", "A"], "type", "expected a list with two or more choices"),
        (["select_one yn", "Used", "A"], "name", "expected a lower-case letter"),
        (["select_one yn", "id", "A"], "name", 'not "id" or "arm"'),
        (["select_one yn", "used", "A"], "name", "'used' is asked already"),
        (["select_one yn", "a", ""], "label", "expected a label in the language 'en'"),
        (["select_one yn", "a", "A", "maybe"], "required", "expected yes or no"),
        (["select_one yn", "a", "A", "", "${x} = 'yes'"], "relevant", "expected an earlier "
         "question with choices, got 'x'"),
        (["select_one yn", "a", "A", "", "${used} = 'maybe'"], "relevant", "'maybe' is not a "
         "choice of 'used'; it has yes, no"),
        (["select_one yn", "a", "A", "", "${used} != 'yes'"], "relevant", "a single condition"),
        (["select_one yn", "a", "A", "", "${used} = 'yes' and ${used} = 'no'"], "relevant",
         "a single condition"),
        (["select_one yn", "a", "A", "", "", ". > 1"], "constraint", "does not go with select_one"),
        (["integer", "a", "A"], "constraint", "expected both ends of the range"),
        (["integer", "a", "A", "", "", ". >= 0"], "constraint", "expected both ends"),
        (["integer", "a", "A", "", "", ". >= 9 and . <= 1"], "constraint", "expected both ends"),
        (["integer", "a", "A", "", "", ". >= 0 and . <= ${b}"], "constraint", "expected both ends"),
        (["integer", "a", "A", "", "", "", "start=0 end=3"], "parameters", "does not go with"),
        (["range", "a", "A", "", "", "", "start=0"], "parameters", "expected the ends of"),
        (["range", "a", "A", "", "", "", "start=0 end=1 x=2"], "parameters", "expected the ends"),
    ],
)  # fmt: skip
def test_refused_cells(row: list[str], column: str, says: str) -> None:
    """Each refusal names sheet, row and column as the spreadsheet shows them."""
    padded = row + [""] * (len(HEAD) - len(row))
    found = problems([HEAD, GOOD, [""] * len(HEAD), padded])
    assert any(
        p.startswith(f"sheet 'survey', row 4, column '{column}': ") and says in p for p in found
    ), found


@pytest.mark.parametrize(
    ("survey", "choices", "settings", "says"),
    [
        ([[*HEAD, "hint"], [*GOOD, "think"]], None, None,
         "sheet 'survey', row 1, column 'hint': this column is not supported"),
        ([[*HEAD, "calculation"], [*GOOD, "1+1"]], None, None, "column 'calculation'"),
        ([[*HEAD, "label::English"], [*GOOD, "x"]], None, None,
         'expected a language with its code, such as "label::English (en)"'),
        ([[*HEAD, "label::English (en)"], [*GOOD, "x"]], None, None, "a second label in 'en'"),
        ([[*HEAD, "name"], [*GOOD, "x"]], None, None, "this column is there twice"),
        ([HEAD, GOOD], [["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "yes", "No"]],
         None, "sheet 'choices', row 3, column 'name': 'yes' is in this list already"),
        ([HEAD, GOOD], [["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "Yes"]],
         None, "row 3, column 'label': this list has an option with this label already"),
        ([HEAD, GOOD], [["list_name", "name", "label"], ["yn", "", "Yes"], ["yn", "no", "No"]],
         None, "row 2, column 'name': expected a name"),
        ([HEAD, GOOD], None, [["default_language"], ["English"]],
         "sheet 'settings', row 2, column 'default_language'"),
        ([HEAD, GOOD], None, [["form_id"], ["a"], ["b"]], "row 3"),
        ([HEAD], None, None, "expected at least one question"),
    ],
)  # fmt: skip
def test_refused_sheets(
    survey: Cells, choices: Cells | None, settings: Cells | None, says: str
) -> None:
    """Columns that nobody would read, and lists that cannot be told apart."""
    found = problems(survey, choices, settings)
    assert any(says in problem for problem in found), found


def test_all_at_once() -> None:
    """Three mistakes in three rows are reported together."""
    rows = [HEAD, ["text", "a", "A", "", "", "", ""], ["integer", "b", "B", "", "", "", ""],
            ["select_one yn", "C", "", "", "", "", ""]]  # fmt: skip
    assert len(problems(rows)) == 4


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (". >= 0 and . <= 120", (0, 120)),
        (".>0 AND .<10", (1, 9)),
        (". <= 5 and . >= -5", (-5, 5)),
    ],
)
def test_ranges(text: str, ends: tuple[int, int]) -> None:
    """Ranges of whole numbers, in either order, open or closed."""
    found = read_range("integer", text)
    assert (found["min"], found["max"]) == ends
    with pytest.raises(RangeError):
        read_range("integer", text.replace(".", "..", 1))


def test_conditions() -> None:
    """What is understood of conditions, and what is not."""
    assert read_relevant("(${a} = 'x')") == ("a", ["x"])
    assert read_relevant('selected( ${a} , "x" )') == ("a", ["x"])
    assert read_relevant("${a} = 'x' or ${b} = 'x'") is None
    assert read_relevant("not(${a} = 'x')") is None


def test_labels_that_a_spreadsheet_would_run() -> None:
    """A label that looks like a formula is a label, in TOML and back."""
    source = {"name": "s", "title": '=HYPERLINK("x")', "privacy": {"epsilon": Decimal("0.5")},
              "questions": [{"name": "a", "kind": "choice", "text": "tab\there \\ \x7f",
                             "options": ["=1+1", '"quoted"'], "optional": True}]}  # fmt: skip
    assert tomllib.loads(survey_toml(source), parse_float=Decimal) == source


def test_files_that_are_no_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file, a workbook without the sheet, and the extra that is absent."""
    path = tmp_path / "form.xlsx"
    path.write_text("type,name,label")
    out = tmp_path / "survey.toml"
    assert "form.xlsx: expected an .xlsx workbook" in run(path, out).output
    other = workbook(tmp_path / "other.xlsx", data=[["x"]])
    assert "expected a sheet named 'survey'" in run(other, out).output
    bad = workbook(tmp_path / "bad.xlsx", survey=[HEAD, ["text", "a", "A"]], choices=CHOICES)
    found = run(bad, out)
    assert found.exit_code == 1
    assert "bad.xlsx cannot be imported:\n  sheet 'survey', row 2, column 'type'" in found.output
    assert not out.exists()
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "openpyxl":
            raise ModuleNotFoundError(name="openpyxl")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install 'deniable[xlsform]'" in run(other, out).output


WELL = st.sampled_from([
    GOOD,
    ["select_multiple yn", "b", "=1+1", "", "${used} = 'yes'", "", ""],
    ["integer", "c", 'ünï " \\', "yes", "", ". >= 0 and . <= 5", ""],
    ["range", "d", "D\ttab", "", "", "", "start=0 end=3"],
])  # fmt: skip
ROWS = st.tuples(
    st.sampled_from(["select_one yn", "select_multiple yn", "integer", "range", "select_one", ""]),
    st.sampled_from(["a", "b", "used", "Used"]),
    st.sampled_from(["One?", ""]),
    st.sampled_from(["", "yes", "x"]),
    st.sampled_from(["", "${used} = 'yes'", "${a} = 'no'", "${"]),
    st.sampled_from(["", ". >= 0 and . <= 5", ". >"]),
    st.sampled_from(["", "start=0 end=3", "end=1"]),
).map(list)


@given(
    st.lists(WELL, min_size=1, max_size=3, unique_by=lambda row: row[1]),
    st.lists(ROWS, max_size=1),
    st.lists(st.lists(st.text(max_size=9), max_size=4), max_size=1),
)
@settings(max_examples=100, deadline=None)
def test_any_cells(well: Cells, rows: Cells, choices: Cells) -> None:
    """Whatever the cells hold, a survey or sentences come out, and TOML reads back the same."""
    listed = [["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "No"], *choices]
    try:
        source = read_xlsform({"survey": [HEAD, *well, *rows], "choices": listed})
    except SurveyError:
        return
    assert tomllib.loads(survey_toml(source), parse_float=Decimal) == source
    assert len(Survey.load(source).questions) >= 1


def test_a_name_that_is_used_twice() -> None:
    """A condition on a name that two questions have is about the first; the second is refused."""
    rows = [HEAD, GOOD, ["integer", "used", "U", "", "", ". >= 0 and . <= 3", ""],
            ["select_one yn", "b", "B", "", "${used} = 'yes'", "", ""]]  # fmt: skip
    assert problems(rows) == ["sheet 'survey', row 3, column 'name': 'used' is asked already"]
