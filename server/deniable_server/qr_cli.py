"""The verb ``deniable qr``: a survey's address as a picture to point a phone at."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import click


@click.command()
@click.argument("url")
@click.option(
    "--output", type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write an SVG or PNG file, by its ending, instead of printing the code.",
)  # fmt: skip
def qr(url: str, output: Path | None) -> None:
    """Make a QR code of a survey's address, URL.

    The address is written below the code, so that people can check where it leads and those
    without a camera can type it.
    """
    try:
        import segno
    except ModuleNotFoundError:
        raise click.ClickException("QR codes need segno: pip install 'deniable[qr]'") from None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise click.UsageError(f"URL must start with https:// or http://, got {url!r}")
    code = segno.make_qr(url, error="m")
    if output is None:
        click.echo(_blocks([list(map(bool, row)) for row in code.matrix_iter(border=4)]))
    elif output.suffix.lower() in (".svg", ".png"):
        code.save(str(output), scale=8)
        click.echo(f"Written to {output}")
    else:
        raise click.UsageError(f"--output must end in .svg or .png, got {output.name!r}")
    click.echo(url)
    if parts.scheme == "http":
        click.echo("Note: without https anyone on the way can change the page.", err=True)


def _blocks(dark: list[list[bool]]) -> str:
    """Draw two rows of modules as one line; what is light is drawn, as terminals are dark."""
    rows = [*dark, [False] * len(dark[0])] if len(dark) % 2 else dark
    return "\n".join(
        "".join("█▀▄ "[2 * above + below] for above, below in zip(top, bottom, strict=True))
        for top, bottom in zip(rows[::2], rows[1::2], strict=True)
    )
