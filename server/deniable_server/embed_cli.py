"""The verb ``deniable embed``: what to paste so that a survey is part of a page of one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import click

from deniable_protocol import Question, Survey
from deniable_protocol.question import decimal

from .browser_files import BrowserFiles
from .database_cli import database_option, opened, plainly, versions

CONNECT = "script-src {0}; style-src {0}; connect-src {0}; form-action 'none'; base-uri 'none'"


@click.command()
@click.argument("survey", metavar="SURVEY")
@click.option(
    "--server", "origin", required=True, metavar="URL",
    help="Where respondents reach this server, such as https://survey.example.org.",
)  # fmt: skip
@database_option
@click.option("--form", is_flag=True, help="Print a plain form to style, not a ready-made element.")
@click.option("--arm", help="Collection arm of the page, where the survey has arms.")
@click.option("--lang", help="Language to start in; else the reader's, where it is spoken.")
@plainly
def embed(
    survey: str, origin: str, database: str, *, form: bool, arm: str | None, lang: str | None
) -> None:
    """Print the HTML that puts SURVEY into a page of another site.

    SURVEY is the name of a published survey, or a survey.toml or survey.json file. The snippet pins
    the survey and every script: a browser takes no other, whoever may have changed them. After an
    upgrade of the server, or a change of the survey, print it again.
    """
    if not re.fullmatch(r"https?://[^/\s]+/?", origin):
        raise click.BadParameter(
            "expected such as https://survey.example.org", param_hint="--server"
        )
    origin = origin.rstrip("/")
    found = _find(survey, database)
    if (arm is not None or found.arms) and arm not in found.arms:
        known = ", ".join(found.arms) or "none"
        raise click.BadParameter(f"expected one of the survey's arms: {known}", param_hint="--arm")
    lines = snippet(found, BrowserFiles(), origin, form=form, arm=arm, lang=lang)
    click.echo("\n".join(lines))
    click.echo(policy(origin), err=True)


def snippet(
    survey: Survey, files: BrowserFiles, origin: str, *, form: bool = False,
    arm: str | None = None, lang: str | None = None,
) -> Iterator[str]:  # fmt: skip
    """Give the lines to paste."""
    yield script(files, origin, "plain" if form else "embed")
    address = f"{origin}/v1/surveys/{survey.name}"
    extra = (f' arm="{arm}"' if arm else "", f' lang="{lang}"' if lang else "")
    if form:
        yield from _form(survey, address, arm, lang)
    else:
        yield (f'<deniable-survey src="{escape(address)}"\n'
               f'  digest="{survey.digest}"{"".join(extra)}></deniable-survey>')  # fmt: skip


def script(files: BrowserFiles, origin: str, entry: str) -> str:
    """Give the script that a page starts with, and its hash."""
    source = escape(f"{origin}/client/{entry}/index.js")
    return (
        f'<script type="module" src="{source}"\n'
        f'  integrity="{files.index(entry).integrity}" crossorigin></script>'
    )


def policy(origin: str) -> str:
    """Say what a page must allow, and may forbid."""
    return (
        "\nIf the page has a Content-Security-Policy, it must allow this much, and needs no more:\n"
        f"  {CONNECT.format(origin)}"
    )


def _form(survey: Survey, address: str, arm: str | None, lang: str | None) -> Iterator[str]:
    """Write a form that no browser can submit, with or without its script."""
    extra = f' data-arm="{arm}"' if arm else ""
    yield (f'<form data-deniable="{escape(address)}"\n  data-digest="{survey.digest}"{extra} '
           f'method="dialog" autocomplete="off" lang="{lang or survey.language}">')  # fmt: skip
    yield "  <fieldset disabled>"
    for question in survey.questions:
        yield from (f"    {line}" for line in _question(question, lang or survey.language))
    yield "    <button>Randomize and send</button>"
    yield "  </fieldset>"
    yield "  <output></output>"
    yield "</form>"


def _question(question: Question, language: str) -> Iterator[str]:
    text, name = escape(question.text.to(language)), question.name
    mark = f' data-question="{name}"' if question.show_if else ""
    if question.grid is not None:
        low, high, step = map(decimal, (question.grid.low, question.grid.high, question.grid.step))
        unit = f" {escape(question.grid.unit.to(language))}" if question.grid.unit else ""
        yield (f'<p{mark}><label>{text} <input type="number" data-name="{name}" min="{low}" '
               f'max="{high}" step="{step}"></label>{unit}</p>')  # fmt: skip
        return
    kind = "checkbox" if question.kind == "multiple" else "radio"
    yield f"<fieldset{mark}><legend>{text}</legend>"
    for option in question.options:
        label = escape(option.to(language))
        yield (f'  <label><input type="{kind}" data-name="{name}" value="{label}"> '
               f"{label}</label>")  # fmt: skip
    if question.optional and kind == "radio":
        yield f'  <label><input type="radio" data-name="{name}" value=""> No answer</label>'
    yield "</fieldset>"


def _find(survey: str, database: str) -> Survey:
    path = Path(survey)
    if path.suffix in (".toml", ".json"):
        return Survey.load(path)
    if "@" in survey:
        raise click.BadParameter(
            "expected a name alone: a server gives out the newest version", param_hint="SURVEY"
        )
    with opened(database) as store:
        return versions(store, survey)[-1].survey
