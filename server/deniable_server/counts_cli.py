"""The verb ``deniable counts``: how many reports hold each option, and the statement that tells."""

from __future__ import annotations

import csv
import sys

import click

from deniable_protocol.counting import COLUMNS, DIALECTS, Dialect, counting_query

from .contract import Store
from .database_cli import database_option, label, opened, plainly, versions
from .published import Published


@click.command()
@click.argument("name", metavar="NAME[@VERSION]")
@database_option
@click.option("--sql", is_flag=True, help="Print the statement instead of running it here.")
@click.option(
    "--dialect", type=click.Choice(DIALECTS), default="sqlite", show_default=True,
    help="With --sql: the engine that will run it.",
)  # fmt: skip
@click.option("--table", help="With --sql: what to count from. [default: the survey's own table]")
@click.option("--arm", help="Count the reports of one collection arm only.")
@plainly
def counts(
    name: str, database: str, sql: bool, dialect: Dialect, table: str | None, arm: str | None
) -> None:
    """Count the reports to NAME by option, as CSV: item, option_index, reports.

    Without a version the newest one is counted. "deniable report COUNTS.csv --survey survey.json"
    makes results of the counts. With --sql the statement is printed that another engine can run,
    say on the Parquet files of "deniable export": SQLite, PostgreSQL, DuckDB or Spark.
    """
    with opened(database, look_only=True) as store:
        published = versions(store, name)[-1]
        _say_others(store, published)
        if sql:
            source = table or published.table
            click.echo(counting_query(published.survey, source, dialect, arm) + ";")
            return
        rows = store.counts(published, arm)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)


def _say_others(store: Store, published: Published) -> None:
    """Say which reports are left out: a newest version that is empty looks like no reports."""
    others = [
        f"{count:,} in version {each.version} (to count: {label(each)})"
        for each in store.surveys(published.survey.name)
        if each != published and (count := store.count(each))
    ]
    if others:
        click.echo(
            f"Note: this is version {published.version} of the survey only. Other versions ask "
            f"something else or with other noise, so their reports are left out: "
            f"{', '.join(others)}.",
            err=True,
        )
