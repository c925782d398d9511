"""A strict part of XLSForm, turned into a ``survey.toml``: anything else is refused by its cell.

XLSForm is what ODK, KoboToolbox and SurveyCTO write surveys in: a workbook with the sheets survey,
choices and settings. Here it is plain tables of cells; reading the workbook is ``xlsform_cli``'s.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .errors import SurveyError
from .question import LANGUAGE, QUESTION_NAME
from .xlsform_logic import RangeError, read_range, read_relevant

Sheets = Mapping[str, Sequence[Sequence[str]]]
"""For each sheet its rows of cells; the first row names the columns."""

_SURVEY: Final = ("type", "name", "label", "required", "relevant", "constraint", "parameters")
_CHOICES: Final = ("list_name", "name", "label")
_SETTINGS: Final = ("form_title", "form_id", "default_language", "version")
_IDENTIFYING: Final = (
    "start", "end", "today", "deviceid", "device_id", "username", "phonenumber", "phone_number",
    "email", "audit", "simserial", "subscriberid", "start-geopoint", "geopoint", "geotrace",
    "geoshape", "image", "audio", "video", "barcode", "background-audio",
)  # fmt: skip
_TYPES: Final = "select_one LIST, select_multiple LIST, integer and range"
_LANGUAGE: Final = re.compile(r"(?:.*\()?([A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)\)?")


@dataclass(frozen=True)
class _Cell:
    """One cell, with its place as a person finds it in the workbook."""

    sheet: str
    row: int
    column: str
    text: str

    def problem(self, sentence: str) -> str:
        return f"sheet {self.sheet!r}, row {self.row}, column {self.column!r}: {sentence}"


@dataclass(frozen=True)
class _Row:
    """One row that is not empty."""

    sheet: str
    number: int
    cells: Mapping[str, str]

    def cell(self, column: str) -> _Cell:
        return _Cell(self.sheet, self.number, column, self.cells.get(column, ""))


def read_xlsform(sheets: Sheets, *, epsilon: object = 2) -> dict[str, Any]:
    """Turn the cells of a workbook into an author's survey, as parsed from ``survey.toml``.

    Args:
        sheets: Cells by sheet.
        epsilon: Privacy budget of the survey, which XLSForm has no place for.

    Raises:
        SurveyError: With every cell that is not supported, by sheet, row and column.

    >>> found = read_xlsform({
    ...     "survey": [["type", "name", "label"], ["select_one yn", "used", "Used?"]],
    ...     "choices": [["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "No"]]})
    >>> [(q["name"], q["kind"], q["options"], q["optional"]) for q in found["questions"]]
    [('used', 'yes-no', ['Yes', 'No'], True)]
    """
    problems: list[str] = []
    if "survey" not in sheets:
        raise SurveyError([f"expected a sheet named 'survey', got {', '.join(sheets) or 'none'}"])
    settings = _settings(sheets, problems)
    reader = _Reader(str(settings.get("language", "en")), {}, {}, problems)
    reader.choices(sheets)
    questions = reader.questions(sheets)
    if problems:
        raise SurveyError(problems)
    return {**settings, "privacy": {"epsilon": epsilon}, "questions": questions}


def _settings(sheets: Sheets, problems: list[str]) -> dict[str, Any]:
    rows = list(_rows(sheets, "settings", _SETTINGS, problems))
    for row in rows[1:]:
        problems.append(row.cell("form_title").problem("expected a single row of settings"))
    found: dict[str, Any] = {"name": "survey", "title": "Survey"}
    if not rows:
        return found
    cells = rows[0].cells
    if cells.get("form_id"):
        name = re.sub(r"[^a-z0-9]+", "-", cells["form_id"].casefold()).strip("-")[:40]
        found["name"] = name.strip("-") or "survey"
    if cells.get("form_title"):
        found["title"] = cells["form_title"]
    elif cells.get("form_id"):
        found["title"] = cells["form_id"]
    if cells.get("default_language"):
        tag = language_of(cells["default_language"])
        if tag is None:
            problems.append(rows[0].cell("default_language").problem(
                'expected a language with its code, such as "English (en)"'))  # fmt: skip
        else:
            found["language"] = tag
    return found


def language_of(text: str) -> str | None:
    """Read the code of a language that is written like ``English (en)`` or ``en``.

    >>> language_of("English (en)"), language_of("zh-Hant"), language_of("English")
    ('en', 'zh-Hant', None)
    """
    found = _LANGUAGE.fullmatch(text.strip())
    return found[1] if found and LANGUAGE.fullmatch(found[1]) else None


@dataclass(frozen=True)
class _Reader:
    """What has been read so far: lists of choices; questions, each with the name of its list."""

    language: str
    lists: dict[str, list[tuple[str, Any]]]
    asked: dict[str, tuple[dict[str, Any], str]]
    problems: list[str]

    def choices(self, sheets: Sheets) -> None:
        for row in _rows(sheets, "choices", _CHOICES, self.problems):
            name = row.cells.get("name", "")
            for column in ("list_name", "name"):
                if not row.cells.get(column):
                    self.problems.append(row.cell(column).problem("expected a name"))
            options = self.lists.setdefault(row.cells.get("list_name", ""), [])
            if name and name in [other for other, _ in options]:
                self.problems.append(row.cell("name").problem(f"{name!r} is in this list already"))
            label = self.label(row)
            if any(label == other for _, other in options):
                self.problems.append(
                    row.cell("label").problem("this list has an option with this label already")
                )
            options.append((name, label))

    def questions(self, sheets: Sheets) -> list[dict[str, Any]]:
        found = []
        for row in _rows(sheets, "survey", _SURVEY, self.problems):
            question = self.question(row)
            if question is not None:
                found.append(question)
        if not found and not self.problems:
            self.problems.append("sheet 'survey': expected at least one question")
        return found

    def question(self, row: _Row) -> dict[str, Any] | None:
        kind, _, rest = row.cells.get("type", "").strip().partition(" ")
        name = row.cells.get("name", "")
        if not QUESTION_NAME.fullmatch(name):
            self.problems.append(row.cell("name").problem(
                "expected a lower-case letter, then up to 39 letters, digits and underscores, "
                f'not "id" or "arm"; got {name!r}'))  # fmt: skip
        if name in self.asked:
            self.problems.append(row.cell("name").problem(f"{name!r} is asked already"))
        question: dict[str, Any] = {"name": name, "kind": "", "text": self.label(row)}
        if kind in ("select_one", "select_multiple"):
            self._select(row, kind, rest.strip(), question)
        elif kind in ("integer", "range") and not rest:
            self._number(row, kind, question)
        else:
            self._unsupported(row, kind)
            return None
        if kind != "select_multiple":  # there, no tick is an answer
            question |= self._required(row)
        self._relevant(row, question)
        self.asked.setdefault(name, (question, rest.strip() if "options" in question else ""))
        return question

    def _select(self, row: _Row, kind: str, wanted: str, question: dict[str, Any]) -> None:
        for column in ("constraint", "parameters"):
            if row.cells.get(column):
                self.problems.append(row.cell(column).problem(f"does not go with {kind}"))
        options = self.lists.get(wanted)
        if options is None or len(options) < 2:
            close = difflib.get_close_matches(wanted, self.lists, n=1)
            hint = f"; did you mean {close[0]!r}?" if options is None and close else ""
            if wanted.endswith(" or_other"):
                hint = "; add a choice of your own in place of or_other"
            self.problems.append(row.cell("type").problem(
                f"expected a list with two or more choices in the sheet 'choices', "
                f"got {wanted!r}{hint}"))  # fmt: skip
            return
        names = [name.casefold() for name, _ in options]
        question["kind"] = "choice" if kind == "select_one" else "multiple"
        if kind == "select_one" and names == ["yes", "no"]:
            question["kind"] = "yes-no"
        question["options"] = [label for _, label in options]

    def _number(self, row: _Row, kind: str, question: dict[str, Any]) -> None:
        column, other = ("constraint", "parameters") if kind == "integer" else (
            "parameters", "constraint")  # fmt: skip
        if row.cells.get(other):
            self.problems.append(row.cell(other).problem(f"does not go with {kind}"))
        question["kind"] = "number"
        try:
            question |= read_range(kind, row.cells.get(column, ""))
        except RangeError as error:
            self.problems.append(row.cell(column).problem(str(error)))

    def _unsupported(self, row: _Row, kind: str) -> None:
        cell = row.cell("type")
        if kind in _IDENTIFYING:
            sentence = f"{kind!r} would tell who the respondent is; take this row out"
        else:
            sentence = f"expected one of {_TYPES}, got {cell.text!r}"
        self.problems.append(cell.problem(sentence))

    def _required(self, row: _Row) -> dict[str, bool]:
        text = row.cells.get("required", "").casefold().removesuffix("()")
        if text in ("yes", "true", "1"):
            return {}
        if text not in ("", "no", "false", "0"):
            self.problems.append(row.cell("required").problem("expected yes or no"))
        return {"optional": True}

    def _relevant(self, row: _Row, question: dict[str, Any]) -> None:
        cell = row.cell("relevant")
        if not cell.text:
            return
        found = read_relevant(cell.text)
        if found is None:
            self.problems.append(cell.problem(
                "expected a single condition such as ${used} = 'yes' or selected(${used}, 'yes'), "
                "or several about the same question joined by or"))  # fmt: skip
            return
        name, values = found
        asked, listed = self.asked.get(name, ({}, ""))
        names = [choice for choice, _ in self.lists.get(listed, [])] if listed else []
        if not names:
            self.problems.append(
                cell.problem(f"expected an earlier question with choices, got {name!r}")
            )
            return
        unknown = [value for value in values if value not in names]
        if unknown:
            self.problems.append(
                cell.problem(
                    f"{unknown[0]!r} is not a choice of {name!r}; it has {', '.join(names)}"
                )
            )
            return
        labels = [asked["options"][names.index(value)] for value in dict.fromkeys(values)]
        own = [label if isinstance(label, str) else label[self.language] for label in labels]
        question["show_if"] = {"question": name, "is": own[0] if len(own) == 1 else own}

    def label(self, row: _Row) -> Any:
        """Give a label as a text, or as a table by language."""
        texts: dict[str, str] = {}
        for column, text in row.cells.items():
            if not text or column.partition("::")[0] != "label":
                continue
            tag = language_of(column.partition("::")[2]) if "::" in column else self.language
            if tag in texts:
                self.problems.append(row.cell(column).problem(f"a second label in {tag!r}"))
            texts[tag or "?"] = text
        if self.language not in texts:
            column = next((c for c in row.cells if c.startswith("label")), "label")
            self.problems.append(
                row.cell(column).problem(f"expected a label in the language {self.language!r}")
            )
        return texts[self.language] if list(texts) == [self.language] else texts


def _rows(
    sheets: Sheets, sheet: str, known: tuple[str, ...], problems: list[str]
) -> Iterator[_Row]:
    """Go through the rows that are not empty, noting every column that nobody would read."""
    rows = sheets.get(sheet, ())
    if not rows:
        return
    head = [_column(cell) for cell in rows[0]]
    for column in {c for c in head if c and head.count(c) > 1}:
        problems.append(_Cell(sheet, 1, column, "").problem("this column is there twice"))
    for column in head:
        problem = _column_problem(column, known)
        filled = any(row[head.index(column)] for row in rows[1:] if len(row) > head.index(column))
        if column and problem and filled:
            problems.append(_Cell(sheet, 1, column, "").problem(problem))
    for number, row in enumerate(rows[1:], start=2):
        cells = {c: text.strip() for c, text in zip(head, row, strict=False) if c}
        if any(cells.values()):
            yield _Row(sheet, number, cells)


def _column(cell: str) -> str:
    """Write a column's name the usual way: ``Label :: English (en)`` is ``label::English (en)``."""
    name, colons, language = cell.strip().partition("::")
    name = name.strip().casefold().replace(" ", "_")
    return f"{name}::{language.strip()}" if colons else name


def _column_problem(column: str, known: tuple[str, ...]) -> str | None:
    name, colons, language = column.partition("::")
    if name == "label" and colons and "label" in known:
        return None if language_of(language) else (
            'expected a language with its code, such as "label::English (en)"')  # fmt: skip
    if column in known:
        return None
    return f"this column is not supported; supported: {', '.join(known)}"
