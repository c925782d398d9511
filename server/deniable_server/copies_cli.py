"""The verbs that move reports: ``backup``, ``restore``, ``merge``, ``export`` and ``import``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

import click

from deniable_protocol import StoreError

from .backups import back_up
from .backups import restore as restore_copy
from .contract import Store
from .database_cli import database_option, label, opened, plainly, versions
from .export import FORMATS
from .export import export as write_export
from .importing import import_lines
from .merging import Merge, Merged
from .merging import merge as merge_stores
from .published import Outcome, Published

_MOST_NAMED: Final = 20


@click.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@database_option
@plainly
def backup(path: Path, database: str) -> None:
    """Copy the database to FILE as of one moment, also while reports come in.

    FILE is a SQLite database like any other, of PostgreSQL too: read it with "deniable report", or
    bring it back with "deniable restore" or "deniable merge". It must not exist yet. Nothing of
    what was erased before is in it; what is erased later stays in it, so delete old backups.
    """
    with opened(database) as store:
        count = back_up(store, path)
    click.echo(f"{count:,} reports are in {path}; it was read back and is sound")


@click.command()
@click.argument("copy", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option(
    "--to",
    "path",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The database that is to be there again.",
)
@plainly
def restore(copy: Path, path: Path) -> None:
    """Make a database of COPY, a SQLite file that "deniable backup" wrote, and check it.

    Stop the server first, and move FILE away with all that is beside it (FILE-wal, FILE-shm):
    nothing is ever replaced. COPY is only read; one of an older version becomes one of this
    version. Into PostgreSQL, "deniable merge" brings a copy back.
    """
    count = restore_copy(copy, path)
    click.echo(f"{count:,} reports are in {path}; it was read back and is sound")


@click.command()
@click.argument("target", metavar="TARGET")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@plainly
def merge(target: str, sources: tuple[str, ...]) -> None:
    """Add everything in the SOURCE databases to the TARGET database.

    Each is a SQLite file or a postgresql:// address; sources are only read. TARGET is created if it
    is a file that is not there. The same report is stored once. Where two databases hold different
    reports under one id, TARGET keeps its own and the ids are named. What was erased in any of them
    is erased in TARGET, and what was closed is closed. If a source cannot be read, nothing is done.

    Each database knows only the invitations that were used there. Where one was used in both, the
    number is said: those people may have answered twice.
    """
    for source in sources:  # before there is a target: one that is refused leaves no empty file
        with opened(source, look_only=True) as store:
            store.surveys()
    conflicts = False
    with opened(target, must_exist=False, rewrite=True) as into:
        for source in sources:
            with opened(source, look_only=True) as store:
                if store.name == into.name:
                    raise StoreError(f"{store.name} cannot be merged into itself")
                done = merge_stores(store, into)
            for each in done.surveys:
                click.echo(f"{store.name}: {_merged(each)}")
                conflicts |= bool(each.conflicts)
                _name_some([f"conflict: {key}" for key in each.conflicts])
            if done.twice:
                click.echo(_twice(store.name, into.name, done), err=True)
    if conflicts:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("name", metavar="NAME[@VERSION]")
@database_option
@click.option(
    "--output",
    required=True,
    metavar="FILE",
    help="Where to write; - prints JSON lines. The name's end says what: .jsonl, .csv, .parquet.",
)
@plainly
def export(name: str, database: str, output: str) -> None:
    """Write a survey's noisy reports to a file for other programs.

    .jsonl has each report as its device sent it, .csv a table of option indices, .parquet the table
    of the database (needs deniable[parquet]). Reports are in the order of their ids, which are
    random. Versions are never put together: name one where several hold reports.
    """
    suffix = "jsonl" if output == "-" else Path(output).suffix.removeprefix(".").lower()
    if suffix not in FORMATS:
        raise click.UsageError(f"{output} should end in .jsonl, .csv or .parquet")
    with opened(database, look_only=True) as store:
        published = _one(store, name)
        if output == "-":
            with store.frozen():
                FORMATS[suffix](store, published, sys.stdout.buffer)
            return
        count = write_export(store, published, Path(output), FORMATS[suffix])
    click.echo(f"{count:,} reports of {label(published)} are in {output}")


@click.command(name="import")
@click.argument("files", nargs=-1, required=True, type=click.File("rb"), metavar="FILE...")
@database_option
@plainly
def import_(files: Sequence[BinaryIO], database: str) -> None:
    """Check and store reports from files of JSON lines; - reads standard input.

    Each report goes to the survey version that it was made for, which must be published here. It
    may be closed. What is no report of it is refused, by line and reason. A report that comes with
    an invitation's token spends it; one that "deniable export" wrote has none and is taken without.
    """
    refused = False
    with opened(database, rewrite=True) as store:
        for file in files:
            done = import_lines(store, file)
            click.echo(
                f"{file.name}: {done.stored:,} reports stored, {done.same:,} were there already, "
                f"{len(done.refused):,} refused"
            )
            refused |= bool(done.refused)
            _name_some([f"line {number}: {why}" for number, why in done.refused])
    if refused:
        raise click.exceptions.Exit(1)


def _name_some(lines: Sequence[str]) -> None:
    for line in lines[:_MOST_NAMED]:
        click.echo(f"  {line}", err=True)
    if (more := len(lines) - _MOST_NAMED) > 0:
        click.echo(f"  and {more:,} more", err=True)


def _merged(done: Merged) -> str:
    theirs, ours = label(done.source), label(done.target)
    named = theirs if theirs == ours else f"{theirs}, here {ours}"
    if done.erased is not None:
        return f"{named} was erased there; {done.erased:,} reports erased here too"
    if done.counts[Outcome.ERASED]:
        return f"{named} was erased here; {done.counts[Outcome.ERASED]:,} reports left out"
    return (
        f"{named}: {done.counts[Outcome.STORED]:,} reports stored, "
        f"{done.counts[Outcome.SAME]:,} were there already, {len(done.conflicts):,} in conflict"
        f"{'; closed here too' if done.closed else ''}"
    )


def _twice(source: str, target: str, done: Merge) -> str:
    return (
        f"Note: invitations used both in {source} and in {target}: {done.tokens:,}, of them with "
        f"different reports: {done.twice:,}. So many people may have answered twice, and both of "
        "their reports count."
    )


def _one(store: Store, name: str) -> Published:
    found = versions(store, name)
    with_reports = [each for each in found if store.count(each)]
    if len(with_reports) > 1:
        raise StoreError(
            f"{name} has reports in several versions, which are never put together; name one: "
            f"{', '.join(map(label, with_reports))}"
        )
    return (with_reports or found)[-1]
