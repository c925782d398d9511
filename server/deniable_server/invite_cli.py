"""The verb ``deniable invite``: codes that let each of some people answer once."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from deniable_protocol import StoreError, Survey, TokenError
from deniable_protocol.survey import SURVEY_NAME

from .database_cli import database_option, opened, plainly
from .issuer import Issuer
from .opening import is_postgres, sqlite_path


@click.command()
@click.argument("name")
@click.option(
    "--issuer",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("issuer.db"),
    show_default=True,
    help="The issuer's own file, with its keys and the hashes of codes. Keep it to yourself.",
)
@click.option("--count", type=click.IntRange(0, 1_000_000), default=0, help="How many new codes.")
@click.option(
    "--link", metavar="URL", help="Print a link for each code: this address, then #code=…."
)
@click.option(
    "--survey",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="The published survey, where its database is elsewhere: survey.json or survey.toml.",
)
@database_option
@click.pass_context
@plainly
def invite(
    context: click.Context, name: str, issuer: Path, count: int, link: str | None,
    survey: Path | None, database: str,
) -> None:  # fmt: skip
    """Make single-use invitation codes for the survey NAME.

    Without --count, prints the key to paste into survey.toml before publishing, and how many codes
    were used. Codes go to standard output, one on each line, and are never shown again. They are
    only made if the survey, as it is published, names this issuer's key.

    Which report a code leads to cannot be seen by anyone, the operator included. Who takes part
    can: the issuer sees which codes were used. If you run both the issuer and the survey, ask
    people to redeem their code some time before they answer.
    """
    if not SURVEY_NAME.fullmatch(name):
        raise click.UsageError("NAME is a survey's name: lower-case letters, digits and hyphens")
    asked = context.get_parameter_source("database") is ParameterSource.COMMANDLINE
    if count:
        _check(issuer, name, _published(name, survey, database, asked=asked))
    found = Issuer(issuer)
    key = found.key(name)
    codes = found.invite(name, count) if count else []
    used, every = found.used(name)
    for code in codes:
        click.echo(f"{link.split('#')[0]}#code={code}" if link else code)
    if not codes:
        click.echo(f"# In survey.toml, before you publish it ({used:,} of {every:,} codes used):")
        click.echo("[invite_key]")
        click.echo(f'modulus = "{key.published["modulus"]}"')
        click.echo(f"exponent = {key.exponent}")


def _published(name: str, file: Path | None, database: str, *, asked: bool) -> Survey | None:
    """Find the survey that codes are for; None if it is not at hand."""
    if file is not None:
        survey = Survey.load(file)
        if survey.name != name:
            raise StoreError(f"{file}: expected survey '{name}', got '{survey.name}'")
        return survey
    if not (asked or is_postgres(database) or Path(sqlite_path(database)).is_file()):
        return None
    with opened(database, look_only=True) as store:
        found = store.newest(name)
    if found is None and asked:
        raise StoreError(f"there is no survey '{name}' in {store.name}")
    return None if found is None else found.survey


def _check(issuer: Path, name: str, survey: Survey | None) -> None:
    """See that codes will be good for the survey, before a file or a key is made."""
    if survey is None:
        click.echo(
            f"Note: survey '{name}' is not at hand, so nobody checked that it names the key of "
            f"{issuer}. To have that done, give --survey or --database.", err=True,
        )  # fmt: skip
    elif not issuer.exists():
        raise TokenError(f"there is no file {issuer}: expected the one with the key of '{name}'")
    else:
        Issuer(issuer).check(survey)
