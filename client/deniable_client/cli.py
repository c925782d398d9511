"""The verb ``deniable answer``: answer a survey in the terminal."""

from __future__ import annotations

import os
from pathlib import Path

import click

from deniable_protocol import DeniableError, Report, Survey

from .ask_cli import ask
from .device import Device
from .respond import check_arm
from .submit import fetch_survey
from .wording import reveal


def _default_device() -> Path:
    """Find this user's device file, where the system keeps application data."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "deniable" / "device.db"


@click.command()
@click.argument("source", metavar="URL-OR-FILE")
@click.option("--to", metavar="URL", help="Where to send the report, if SOURCE is a file.")
@click.option("--digest", help="Refuse any survey but the one with this digest.")
@click.option("--language", help="Language of the texts, such as en.")
@click.option("--arm", help="The wave, site or group, where the survey has arms. It is public.")
@click.option("--code", help="Your invitation code, where the survey is by invitation.")
@click.option(
    "--device",
    "store",
    type=click.Path(dir_okay=False, path_type=Path),
    default=_default_device,
    show_default="in your application data",
    help="File that remembers what this device has sent, for you alone to read.",
)
@click.option(
    "--max-epsilon",
    type=click.FloatRange(min=0, min_open=True),
    default=4.0,
    show_default=True,
    help="Limit for all that this device ever reveals.",
)
def answer(
    source: str, to: str | None, digest: str | None, language: str | None, arm: str | None,
    code: str | None, store: Path, max_epsilon: float,
) -> None:  # fmt: skip
    """Answer a survey in the terminal.

    Asks each question, adds the noise here, shows exactly what will be sent and how much it
    reveals, and then sends it. Give a survey's address, or a survey.toml or survey.json file; the
    report of a file is only shown unless --to says where to send it.
    """
    try:
        survey = _survey(source, digest)
        store.parent.mkdir(parents=True, exist_ok=True)
        device = Device(store, max_epsilon)
        url = source if _is_url(source) else to
        if code is not None and url is not None and not device.answered(survey, arm=arm):
            device.redeem(survey, code, url)
        _run(survey, device, url, language, arm)
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{store}: {error.strerror}") from None


def _is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _survey(source: str, digest: str | None) -> Survey:
    if _is_url(source):
        return fetch_survey(source, digest=digest)
    survey = Survey.load(source)
    if digest is not None and survey.digest != digest:
        raise click.ClickException(f"expected the survey {digest}, got {survey.digest}")
    return survey


def _run(
    survey: Survey, device: Device, url: str | None, language: str | None, arm: str | None
) -> None:
    check_arm(survey, arm)
    if device.answered(survey, arm=arm):
        click.echo("This device has already answered this survey. Nothing more is sent.")
        return
    report = device.pending(survey, arm=arm)
    if report is None:
        device.check(survey, arm=arm)  # before anyone types an answer in vain
        report = device.respond(survey, ask(survey, language), language=language, arm=arm)
    else:
        click.echo("A report for this survey is waiting from before; it is sent unchanged.")
    _show(survey, report, language)
    if url is None:
        click.echo("Nothing was sent: give --to URL to send this report.")
    elif click.confirm("Send this report?", default=True):
        receipt = device.submit(survey, url, arm=arm)
        click.echo("Sent and stored." if receipt.new else "Sent; the server already had it.")
    else:
        click.echo("Nothing was sent. The report is kept, so that no second one is ever drawn.")


def _show(survey: Survey, report: Report, language: str | None) -> None:
    click.echo("\nThis is all that is sent:")
    click.echo(f"  {report.to_json().decode()}")
    for question in survey.questions:
        boxes = question.options if question.kind == "multiple" else ()
        # Options as they were read; what deniability adds after them has no translation.
        read = [] if boxes else [option.to(language) for option in question.options]
        for place, item in enumerate(question.items):
            if item.name in report.answers:
                labels = [*read, *item.labels[len(read) :]]
                sent = ", ".join(labels[index] for index in report.answers[item.name])
                box = f" ({boxes[place].to(language)})" if boxes else ""
                click.echo(f"  {item.name}{box}: {sent}")
    click.echo(reveal(survey))
