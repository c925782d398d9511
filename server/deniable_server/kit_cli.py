"""The verb ``deniable kit``: a survey in one file, for places without a network."""

from __future__ import annotations

from pathlib import Path

import click

from deniable_protocol import DeniableError, Survey

from .kit import make_kit


@click.command()
@click.argument("survey", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--output", type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Where to write the kit. [default: NAME.html]",
)  # fmt: skip
def kit(survey: Path, output: Path | None) -> None:
    """Write SURVEY as one HTML file that works without a network.

    One person after another answers on the same tablet. The file adds the noise, keeps the noisy
    reports in a random order, and saves them as JSON lines, which "deniable import" checks and
    stores. It cannot send anything, and it cannot tell whether someone answers twice.
    """
    try:
        loaded = Survey.load(survey)
        page = make_kit(loaded)
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    file = output or Path(f"{loaded.name}.html")
    file.write_text(page, encoding="utf-8")
    click.echo(f"Written to {file} ({len(page.encode()) / 1000:.0f} kB)\n{loaded.digest}")
