"""``deniable report``: from noisy reports to results that can be read."""

from __future__ import annotations

from pathlib import Path

import click

from deniable_protocol import DeniableError, Survey

from .export import to_csv, to_json
from .export_r import to_r
from .intervals import METHODS, Method
from .methods_text import methods_paragraph
from .page import render
from .reading import read_reports
from .relations import read_pair
from .results import analyse
from .sample_reading import read_sample
from .text import summary


@click.command()
@click.argument("source", metavar="DB")
@click.option(
    "--survey",
    metavar="NAME",
    help="Name of the survey in the database, or NAME@2 for its second version; not needed where "
    "it holds one. For a file of reports instead of a database: the survey's own file.",
)
@click.option("--output", metavar="FILE", help="Where to write the page. [default: NAME.html]")
@click.option("--json", "json_file", metavar="FILE", help="Also write JSON; - prints only that.")
@click.option("--csv", "csv_file", metavar="FILE", help="Also write CSV; - prints only that.")
@click.option("--r", "r_file", metavar="FILE", help="Also write an R script that redoes it.")
@click.option(
    "--methods",
    "methods_file",
    metavar="FILE",
    help="Also write a methods paragraph for a paper, with its citations; - prints only that.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of each interval.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="How to make intervals. [default: feldman-cousins up to 10,000 reports, then "
    "likelihood-ratio]",
)
@click.option(
    "--simultaneous",
    is_flag=True,
    help="Make the intervals of one question hold all at once (Bonferroni; Wilson by default).",
)
@click.option("--arm", metavar="ARM", help="Only the reports of one collection arm.")
@click.option("--by-arm", is_flag=True, help="Show each collection arm by itself.")
@click.option(
    "--crosstab",
    "crosstabs",
    metavar="A,B",
    multiple=True,
    help="Also relate two questions to each other; may be given again.",
)
@click.option(
    "--weights",
    "weights_file",
    metavar="FILE",
    help="A CSV file with the columns id and weight (and stratum, cluster), or arm and people: "
    "also estimate the shares of the population.",
)
@click.option(
    "--limit",
    type=click.FloatRange(0, 100, min_open=True),
    metavar="POINTS",
    help='Say "too few to say" where an interval is longer than this many percentage points.',
)
def report(
    source: str,
    survey: str | None,
    output: str | None,
    json_file: str | None,
    csv_file: str | None,
    r_file: str | None,
    methods_file: str | None,
    level: float,
    method: Method | None,
    simultaneous: bool,
    arm: str | None,
    by_arm: bool,
    crosstabs: tuple[str, ...],
    weights_file: str | None,
    limit: float | None,
) -> None:
    """Turn the noisy reports in DB into shares with intervals.

    DB is the database that "deniable serve" fills (a file, or a postgresql:// address), or a file
    of reports (JSON lines or CSV). It is only read. A table is printed, and a page that explains
    the results is written.
    """
    try:
        reports = read_reports(source, _survey(survey))
        chosen = reports.arm(arm) if arm else reports
        results = analyse(
            chosen,
            sample=read_sample(weights_file, chosen) if weights_file else None,
            level=level,
            method=method,
            simultaneous=simultaneous,
            by_arm=by_arm,
            limit=limit / 100 if limit else None,
            crosstabs=[read_pair(pair) for pair in crosstabs],
        )
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    page = Path(output or f"{reports.survey.name}.html")
    files = [(json_file, to_json), (csv_file, to_csv), (r_file, to_r),
             (methods_file, methods_paragraph)]  # fmt: skip
    for name, written in files:
        if name:
            _write(name, written(results))
    if any(name == "-" for name, _ in files):
        return
    click.echo(summary(results))
    _write(str(page), render(results))
    click.echo(f"\nThe page with these results: {page}")


def _survey(named: str | None) -> Survey | str | None:
    is_file = named is not None and named.endswith((".json", ".toml"))
    return Survey.load(named) if named is not None and is_file else named


def _write(name: str, text: str) -> None:
    if name == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise click.ClickException(f"cannot write {name}: {error.strerror}") from None
