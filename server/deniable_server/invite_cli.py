"""The verb ``deniable invite``: codes that let each of some people answer once."""

from __future__ import annotations

from pathlib import Path

import click

from deniable_protocol import DeniableError
from deniable_protocol.survey import SURVEY_NAME

from .issuer import Issuer


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
def invite(name: str, issuer: Path, count: int, link: str | None) -> None:
    """Make single-use invitation codes for the survey NAME.

    Without --count, prints the key to paste into survey.toml before publishing, and how many codes
    were used. Codes go to standard output, one on each line, and are never shown again.

    Which report a code leads to cannot be seen by anyone, the operator included. Who takes part
    can: the issuer sees which codes were used. If you run both the issuer and the survey, ask
    people to redeem their code some time before they answer.
    """
    if not SURVEY_NAME.fullmatch(name):
        raise click.UsageError("NAME is a survey's name: lower-case letters, digits and hyphens")
    try:
        found = Issuer(issuer)
        key = found.key(name)
        codes = found.invite(name, count) if count else []
        used, every = found.used(name)
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    for code in codes:
        click.echo(f"{link.split('#')[0]}#code={code}" if link else code)
    if not codes:
        click.echo(f"# In survey.toml, before you publish it ({used:,} of {every:,} codes used):")
        click.echo("[invite_key]")
        click.echo(f'modulus = "{key.published["modulus"]}"')
        click.echo(f"exponent = {key.exponent}")
