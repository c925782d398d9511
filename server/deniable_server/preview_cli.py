"""The verb ``deniable preview``: see a survey's form while writing it."""

from __future__ import annotations

from pathlib import Path

import click

from deniable_protocol import DeniableError, Survey

from .preview import create_preview
from .wsgi import listen


@click.command()
@click.argument("survey", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8001, show_default=True,
    help="Port on this machine; 0 takes a free one.",
)  # fmt: skip
def preview(survey: Path, port: int) -> None:
    """Show the form of SURVEY as respondents will see it. Nothing can be sent.

    Change the file and reload the page. Mistakes are listed there instead of the form.
    """
    try:
        Survey.load(survey)
    except DeniableError as error:
        click.echo(f"{error}\n", err=True)
    try:
        server = listen(create_preview(survey), "127.0.0.1", port)
    except OSError as error:
        raise click.ClickException(f"port {port}: {error.strerror}") from None
    click.echo(f"Preview at http://127.0.0.1:{server.effective_port}/ (stop with Ctrl+C)")
    try:
        server.run()
    finally:
        server.close()
