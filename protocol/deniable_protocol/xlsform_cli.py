"""The verb ``deniable import-xlsform``."""

from __future__ import annotations

from pathlib import Path

import click

from .errors import SurveyError
from .survey import Survey
from .toml_text import survey_toml
from .xlsform import Sheets, read_xlsform

_SHEETS = ("survey", "choices", "settings")
_MOST_ROWS = 20_000


@click.command("import-xlsform")
@click.argument("workbook", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument(
    "file", type=click.Path(dir_okay=False, path_type=Path), default=Path("survey.toml")
)
@click.option(
    "--epsilon", type=click.FloatRange(0.001, 1000), default=2, show_default=True,
    help="Privacy budget of the survey for one respondent, which XLSForm has no place for.",
)  # fmt: skip
def import_xlsform(workbook: Path, file: Path, epsilon: float) -> None:
    """Turn an XLSForm workbook into a survey.

    Supported: select_one, select_multiple, integer with a range (constraint), range (parameters),
    labels in several languages (label::English (en)), required, and a relevant that looks at one
    earlier question. Everything else is refused, by sheet, row and column, all at once: nothing is
    left out silently. FILE (survey.toml unless you say otherwise) is never overwritten.
    """
    if file.exists():
        raise click.ClickException(f"{file} exists already; it was not touched")
    budget = int(epsilon) if epsilon == int(epsilon) else epsilon
    try:
        source = read_xlsform(_cells(workbook), epsilon=budget)
        survey = Survey.load(source)
    except SurveyError as error:
        raise click.ClickException(
            "\n  ".join([f"{workbook.name} cannot be imported:", *error.problems])
        ) from None
    file.write_text(survey_toml(source), encoding="utf-8")
    count = len(survey.questions)
    click.echo(
        f"Wrote {file}: {count} question{'' if count == 1 else 's'}, epsilon {survey.epsilon:.2f}. "
        f"See what it guarantees:\n\n    deniable check {file}"
    )


def _cells(workbook: Path) -> Sheets:
    """Read every cell as text; of a formula what the spreadsheet last computed."""
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ModuleNotFoundError:
        raise click.ClickException(
            "'deniable import-xlsform' needs openpyxl: pip install 'deniable[xlsform]'"
        ) from None
    from zipfile import BadZipFile

    try:
        book = load_workbook(workbook, read_only=True, data_only=True)
    except (InvalidFileException, BadZipFile, KeyError, ValueError, OSError):
        raise click.ClickException(f"{workbook.name}: expected an .xlsx workbook") from None
    try:
        found = {}
        for sheet in book.worksheets:
            name = sheet.title.strip().casefold()
            if name in _SHEETS:
                rows = sheet.iter_rows(values_only=True, max_row=_MOST_ROWS + 1)
                found[name] = [[_text(cell) for cell in row] for row in rows]
                if len(found[name]) > _MOST_ROWS:
                    raise click.ClickException(f"sheet {name!r} has more than {_MOST_ROWS:,} rows")
        return found
    finally:
        book.close()


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
