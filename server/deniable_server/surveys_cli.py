"""The verbs of a survey's life: ``surveys``, ``publish``, ``close``, ``reopen`` and ``erase``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from deniable_protocol import Survey

from . import needs
from .contract import Store
from .database_cli import database_option, label, opened, plainly, versions
from .life import Life, Limits, Status, read_moment, written
from .opening import is_postgres
from .published import Published

_HEADS: Final = ("survey", "status", "reports", "opens", "closes", "target", "digest")
_RIGHT: Final = {"reports", "target"}


def limits_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say when a survey takes reports."""
    for option in (
        click.option("--clear", is_flag=True, help="Forget earlier dates and targets first."),
        click.option(
            "--target", type=click.IntRange(1), metavar="N", help="Close by itself at N reports."
        ),
        click.option(
            "--closes",
            metavar="DATE",
            help="Last day (2026-03-31), or a moment (2026-03-31 18:00).",
        ),
        click.option("--opens", metavar="DATE", help="First day or moment. All dates are in UTC."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("name", required=False, metavar="[NAME[@VERSION]]")
@database_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@plainly
def surveys(name: str | None, database: str, as_json: bool) -> None:
    """List surveys: their versions, whether they take reports, and how many there are.

    With a name, also how many reports came in on each day (UTC). More is not known: no report has
    a time.
    """
    with opened(database, look_only=True) as store:
        found, unreadable = (versions(store, name), []) if name else store.readable_surveys()
        rows = [_row(store, published) for published in found]
        days = {label(each): store.days(each) for each in found} if name else {}
    for error in unreadable:
        click.echo(f"Note: {error}", err=True)
    if as_json:
        if name:
            rows = [row | {"days": days[row["survey"]]} for row in rows]
        click.echo(json.dumps(rows, indent=2))
        return
    click.echo(_table(rows) if rows else "No survey is published here.")
    for named, counts in days.items():
        if counts:
            click.echo(f"\nReports of {named} by day (UTC)")
            for day, count in counts.items():
                click.echo(f"  {day}  {count:>9,}")


@click.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SURVEY..."
)
@database_option
@limits_options
@plainly
def publish(files: tuple[Path, ...], database: str, **given: Any) -> None:
    """Publish surveys, or change when published ones take reports.

    Give survey.toml or survey.json files. A survey that is there already stays as it is, and a
    closed one stays closed; a changed one becomes the next version, beside the earlier ones.
    Running servers notice within a second. One that shows its results needs deniable[analysis].
    """
    loaded = [Survey.load(path) for path in files]
    for survey in loaded:
        _check(survey, database)
    with opened(database, must_exist=False) as store:
        for survey in loaded:
            known = store.find(survey.digest)
            limits = _limits(store.life(known) if known else Life(), **given)
            published = store.publish(survey, limits)
            _say(store, published, "was published before" if known else "published")
            click.echo(f"  digest   {survey.digest}")


@click.command()
@click.argument("name", metavar="NAME[@VERSION]")
@database_option
@plainly
def close(name: str, database: str) -> None:
    """Take no more reports of a survey: of all its versions, or of one.

    Reports that are stored are acknowledged if they come again; new ones are refused. With
    PostgreSQL this also writes the table anew, so that the order of arrival is forgotten.
    """
    with opened(database) as store:
        for published in versions(store, name):
            if store.status(published) is not Status.ERASED or "@" in name:
                store.close_survey(published)
                _say(store, published, "closed")


@click.command()
@click.argument("name", metavar="NAME[@VERSION]")
@database_option
@limits_options
@plainly
def reopen(name: str, database: str, **given: Any) -> None:
    """Take reports of a closed survey again: of all its versions, or of one."""
    with opened(database) as store:
        for published in versions(store, name):
            if store.status(published) is not Status.ERASED or "@" in name:
                store.reopen_survey(published, _limits(store.life(published), **given))
                _say(store, published, "reopened")
                if (status := store.status(published)) in (Status.OVER, Status.FULL):
                    click.echo(
                        f"Note: it takes no reports, because it is {status.value}. Give a later "
                        "--closes or a greater --target.",
                        err=True,
                    )


@click.command()
@click.argument("name", metavar="NAME[@VERSION]")
@database_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@plainly
def erase(name: str, database: str, yes: bool) -> None:
    """Erase all reports of a survey for good: of all its versions, or of one.

    The file is rewritten, and read to see that nothing of them is left. What is out of reach:
    backups and exports that were made, and copies that a file system, a disk or PostgreSQL's own
    archive keeps. The survey itself stays known, so that its reports are refused if they come
    again.
    """
    with opened(database) as store:
        found = versions(store, name)
        if not yes:
            for published in found:
                click.echo(f"{label(published)}: {store.count(published):,} reports")
            typed = click.prompt(f"This cannot be undone. Type {name} to erase them")
            if typed != name:
                raise click.ClickException("nothing was erased")
        for published in found:
            count = store.erase_survey(published)
            click.echo(f"{label(published)}: {count:,} reports erased; none is in the database")


def _check(survey: Survey, database: str) -> None:
    """See that servers can draw the results. Those of a SQLite file are on this machine."""
    if not is_postgres(database):
        needs.check(survey)
    elif missing := needs.cannot_draw(survey):
        click.echo(f"Note: {missing} on each machine that serves it", err=True)


def _limits(
    life: Life, *, opens: str | None, closes: str | None, target: int | None, clear: bool
) -> Limits | None:
    given: dict[str, Any] = {}
    if opens is not None:
        given["opens"] = read_moment(opens)
    if closes is not None:
        given["closes"] = read_moment(closes, end=True)
    if target is not None:
        given["target"] = target
    if not given and not clear:
        return None
    return replace(Limits() if clear else life.limits, **given)


def _say(store: Store, published: Published, what: str) -> None:
    life = store.life(published)
    parts = [f"{label(published)} {what}; {store.count(published):,} reports"]
    if life.limits.opens:
        parts.append(f"opens {written(life.limits.opens)}")
    if life.limits.closes:
        parts.append(f"closes {written(life.limits.closes)}")
    if life.limits.target:
        parts.append(f"full at {life.limits.target:,}")
    click.echo(", ".join(parts))


def _row(store: Store, published: Published) -> dict[str, Any]:
    limits = store.life(published).limits
    return {
        "survey": label(published),
        "status": store.status(published).value,
        "reports": store.count(published),
        "opens": limits.opens and written(limits.opens),
        "closes": limits.closes and written(limits.closes),
        "target": limits.target,
        "digest": published.survey.digest,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    cells = [_HEADS, *(tuple(_cell(row[head]) for head in _HEADS) for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(_HEADS))]
    lines = []
    for line in cells:
        padded = [
            cell.rjust(width) if head in _RIGHT else cell.ljust(width)
            for cell, width, head in zip(line, widths, _HEADS, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
