"""The verbs of survey authors: ``deniable init``, ``deniable check`` and ``deniable schema``."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import click

from .certificate import CERTIFICATE, Certificate
from .changes import changes
from .errors import SurveyError
from .survey import Survey

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument(
    "file", type=click.Path(dir_okay=False, path_type=Path), default=Path("survey.toml")
)
def init(file: Path) -> None:
    """Write a survey to start from, with a comment on everything that can be set.

    FILE is survey.toml unless you say otherwise. A file that exists is never overwritten.
    """
    text = files("deniable_protocol").joinpath("draft.toml").read_text(encoding="utf-8")
    try:
        with file.open("x", encoding="utf-8") as draft:
            draft.write(text)
    except FileExistsError:
        raise click.ClickException(f"{file} exists already; it was not touched") from None
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from None
    click.echo(f"Wrote {file}. Edit it, then see what it guarantees:\n\n    deniable check {file}")


@click.command()
@click.argument("file", type=_FILE)
@click.option(
    "--previous", type=_FILE,
    help="An earlier version (survey.toml or survey.json): say what cannot be compared with it.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the certificate for programs.")
@click.option("--strict", is_flag=True, help="Fail (exit code 2) if there is any caution.")
def check(file: Path, previous: Path | None, as_json: bool, strict: bool) -> None:
    """Print the certificate of a survey: what it guarantees to each respondent.

    For every question: its options, how many a report holds, its exact odds and epsilon, how sure
    anyone can become at most, and what silence gives away. Then the total, the digest, and what
    looks like a slip. Mistakes are all reported at once. Nothing is published or sent: FILE stays
    a draft until a server is told to serve it.
    """
    try:
        found = Certificate(Survey.load(file))
        differences = [] if previous is None else list(changes(Survey.load(previous), found.survey))
    except SurveyError as error:
        if as_json:
            problems = {"format": CERTIFICATE, "valid": False, "problems": list(error.problems)}
            click.echo(json.dumps(problems, ensure_ascii=False, indent=2))
            raise click.exceptions.Exit(1) from None
        raise click.ClickException(_mistakes(error)) from None
    if as_json:
        data = found.as_json() | ({} if previous is None else {"changes": differences})
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
    else:
        click.echo(found.text())
        if previous is not None:
            click.echo(f"\nCompared with {previous.name}:")
            for sentence in differences:
                click.echo(f"  {sentence}")
        if file.suffix != ".json":
            click.echo(
                "\nThis is a draft: nothing is published until a server serves it, and every edit "
                "changes the digest."
            )
    if strict and found.cautions:
        raise click.exceptions.Exit(2)


def _mistakes(error: SurveyError) -> str:
    count = len(error.problems)
    head = "one mistake" if count == 1 else f"{count} mistakes"
    return "\n  ".join([f"{head}:", *error.problems])


@click.command()
def schema() -> None:
    """Print the JSON Schema of survey.toml, for editors that complete and check as you type.

    Save it beside the survey and put this first in survey.toml (Even Better TOML, Taplo):

    #:schema ./survey.schema.json
    """
    from .schema import survey_schema

    click.echo(json.dumps(survey_schema(), ensure_ascii=False, indent=2))
