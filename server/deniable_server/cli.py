"""The verb ``deniable serve``: publish surveys and take reports."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click

from deniable_protocol import DeniableError, Survey

from . import needs
from .app import create_app
from .catalogue import ErasedError
from .contract import Store
from .database_cli import database_option, opened
from .issuer import Issuer
from .life import Status
from .published import Published
from .settings import MOST_PROXIES, PREFIX, settled
from .workers import supervise
from .wsgi import answer_on, open_port, run

_LIVE: Final = (Status.OPEN, Status.NOT_YET)


@click.command()
@click.argument("surveys", nargs=-1, type=click.Path(path_type=Path), metavar="[SURVEY]...")
@database_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that answer. More than one pays with PostgreSQL; SQLite has one writer.",
)
@click.option(
    "--issuer",
    envvar=f"{PREFIX}_ISSUER",
    show_envvar=True,
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Also sign invitations, with this file of 'deniable invite'.",
)
@click.option(
    "--limit",
    envvar=f"{PREFIX}_LIMIT",
    show_envvar=True,
    type=click.IntRange(0),
    default=0,
    show_default="no limit",
    help="How many reports one network may send in a minute. Remember that a whole school can be "
    "one network.",
)
@click.option(
    "--proxies",
    envvar=f"{PREFIX}_PROXIES",
    show_envvar=True,
    type=click.IntRange(0, MOST_PROXIES),
    default=0,
    show_default=True,
    help="For --limit: how many proxies of yours stand before this server.",
)
def serve(
    surveys: tuple[Path, ...], database: str, host: str, port: int, workers: int,
    issuer: Path | None, limit: int, proxies: int,
) -> None:  # fmt: skip
    """Publish surveys and take reports until stopped.

    Give survey.toml or survey.json files. Surveys that the database already holds stay as they are,
    so that later runs need no files. A changed survey becomes a new version, and reports made for
    the earlier one are still taken; "deniable close" ends that.

    The server writes no address, no path and no body to any file or output. To reach it from
    elsewhere, put a web server with HTTPS in front of it, and see that it keeps no log either.

    With a secret in the variable DENIABLE_OPERATOR_TOKEN there is a page /operator, whose password
    it is. DENIABLE_QUEUE says how many reports may wait for the disk.

    On SIGTERM or Ctrl+C it takes nothing new, stores what it has begun to take, and ends.
    """
    config = {"DATABASE": database, "ISSUER": issuer, "LIMIT": limit, "PROXIES": proxies}
    try:
        settled(config)
        loaded = [Survey.load(path) for path in surveys]
        for survey in loaded:
            _check(survey, issuer)
        with opened(database, must_exist=False, operated=False) as store:
            published, refused = _publish(store, loaded)
            found, unreadable = store.newest_surveys()
        if issuer:
            _check_issuer(Issuer(issuer), [each for each, status in found if status in _LIVE])
        listener = open_port(host, port)
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{host} port {port}: {error.strerror}") from None
    with closing(listener):
        origin = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        for each, status in found:
            _announce(each, status, origin)
        for each in published:
            if all(each != newest for newest, _ in found):
                click.echo(_older(each), err=True)
        undrawn = (needs.cannot_draw(each.survey) for each, status in found if status in _LIVE)
        for note in (*refused, *unreadable, *filter(None, undrawn)):
            click.echo(f"Note: {note}", err=True)
        click.echo(f"Listening on {origin}/ (stop with Ctrl+C)")
        if workers == 1:
            _answer(listener, config)
        else:
            supervise(workers, lambda: _answer(listener, config))


def _publish(store: Store, surveys: list[Survey]) -> tuple[list[Published], list[ErasedError]]:
    """Publish surveys; one that was erased keeps the others from nothing.

    Raises:
        ErasedError: If nothing is left to serve.
    """
    published, refused = [], []
    for survey in surveys:
        try:
            published.append(store.publish(survey))
        except ErasedError as error:
            refused.append(error)
    there = (status for _, status in store.newest_surveys()[0])
    if refused and all(status is Status.ERASED for status in there):
        raise refused[0]
    return published, refused


def _check(survey: Survey, issuer: Path | None) -> None:
    """See that a survey fits what this server can do."""
    needs.check(survey)
    if issuer and survey.invite_key:
        Issuer(issuer).check(survey)


def _check_issuer(issuer: Issuer, surveys: list[Published]) -> None:
    """See that the issuer's file belongs to the surveys that are served.

    Some of them may be signed for elsewhere: of those it knows nothing.

    Raises:
        TokenError: If it has another key for one of them, or a key for none.
    """
    invited = [each.survey for each in surveys if each.survey.invite_key]
    known = [survey for survey in invited if issuer.known_key(survey.name)]
    for survey in known or invited:
        issuer.check(survey)


def _answer(listener: socket.socket, config: dict[str, Any]) -> None:
    try:
        app = create_app(config)
    except DeniableError as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(1) from None
    run(answer_on(listener, app), app)


def _announce(published: Published, status: Status, origin: str) -> None:
    survey = published.survey
    if status in (Status.CLOSED, Status.ERASED, Status.OVER, Status.FULL):
        click.echo(f"{survey.title} (version {published.version}): {status.value}\n")
        return
    click.echo(
        f"{survey.title} (version {published.version})"
        f"{'' if status is Status.OPEN else f': {status.value}'}\n"
        f"  form     {origin}/s/{survey.name}\n"
        f"  survey   {origin}/v1/surveys/{survey.name}\n"
        f"  digest   {survey.digest}\n"
        f"  privacy  epsilon {survey.epsilon:.3f}: a whole report shifts anyone's odds about the\n"
        f"           respondent by a factor of at most {float(survey.odds):.4g}\n"
    )


def _older(published: Published) -> str:
    return (
        f"Note: {published.survey.name} was already published as version {published.version}; "
        f"a newer version is there, and its form is the one that is shown."
    )
