"""The verb ``deniable serve``: publish surveys and take reports."""

from __future__ import annotations

from pathlib import Path

import click

from deniable_protocol import DeniableError, Survey

from .app import create_app
from .published import Published
from .services import services
from .wsgi import listen, run


@click.command()
@click.argument("surveys", nargs=-1, type=click.Path(path_type=Path), metavar="[SURVEY]...")
@click.option(
    "--database",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("deniable.db"),
    show_default=True,
    help="SQLite file for surveys and reports; created if missing.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
def serve(surveys: tuple[Path, ...], database: Path, host: str, port: int) -> None:
    """Publish surveys and take reports until stopped.

    Give survey.toml or survey.json files. Surveys that the database already holds stay open, so
    that later runs need no files. A changed survey becomes a new version, and reports made for the
    earlier one are still taken.

    The server writes no address, no path and no body to any file or output. To reach it from
    elsewhere, put a web server with HTTPS in front of it, and see that it keeps no log either.
    """
    try:
        loaded = [Survey.load(path) for path in surveys]
        app = create_app({"DATABASE": database})
        published = [services(app).store.publish(survey) for survey in loaded]
        newest = services(app).store.open_surveys()
        server = listen(app, host, port)
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{host} port {port}: {error.strerror}") from None
    origin = f"http://{f'[{host}]' if ':' in host else host}:{server.effective_port}"
    for survey in newest:
        _announce(survey, origin)
    for survey in published:
        if survey not in newest:
            click.echo(_older(survey), err=True)
    click.echo(f"Listening on {origin}/ (stop with Ctrl+C)")
    run(server, app)


def _announce(published: Published, origin: str) -> None:
    survey = published.survey
    click.echo(
        f"{survey.title} (version {published.version})\n"
        f"  form     {origin}/s/{survey.name}\n"
        f"  survey   {origin}/v1/surveys/{survey.name}\n"
        f"  digest   {survey.digest}\n"
        f"  privacy  epsilon {survey.epsilon:.3f}: a whole report shifts anyone's odds about the\n"
        f"           respondent by a factor of at most {float(survey.odds):.4g}\n"
    )


def _older(published: Published) -> str:
    return (
        f"Note: {published.survey.name} was already published as version {published.version}; "
        f"a newer version is open, and stays so."
    )
