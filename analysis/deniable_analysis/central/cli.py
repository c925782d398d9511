"""The verbs ``deniable choose`` and ``deniable compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypeVar, get_args

import click

from deniable_analysis.reading import read_reports
from deniable_protocol import DeniableError, Survey

from .choose import Norm, Output
from .choose import choose as choose_mechanism
from .compare import compare as compare_one
from .compare import compare_reports, compare_survey
from .compare_picture import picture as draw
from .compare_rows import Comparison
from .compare_words import legend, text

T = TypeVar("T")
_ABOVE_ZERO = click.FloatRange(0, min_open=True)


@click.command("choose")
@click.option("--output", type=click.Choice(get_args(Output)),
              help="What is to be released: a number, a vector of numbers, or the best of several "
              "candidates.")  # fmt: skip
@click.option("--trusted/--untrusted", default=None,
              help="Whether a curator may hold the true answers.")  # fmt: skip
@click.option("--epsilon", type=_ABOVE_ZERO, default=1.0, show_default=True,
              help="Epsilon of one release, in nats.")  # fmt: skip
@click.option("--delta", type=click.FloatRange(0, 1, max_open=True), default=0.0,
              help="Delta of one release. [default: 0, for pure epsilon]")  # fmt: skip
@click.option("--records", type=click.IntRange(1), help="How many people are in the data.")
@click.option("--norm", type=click.Choice(get_args(Norm)),
              help="For a vector: one person's change is at most 1 in L1 or in L2.")  # fmt: skip
@click.option("--coordinates", type=click.IntRange(1), help="For a vector: how many numbers.")
@click.option("--integers", is_flag=True, help="The numbers are whole, as counts are.")
@click.option("--clipped/--unclipped", default=True,
              help="Whether every record is clipped to a range fixed beforehand. "
              "[default: clipped]")  # fmt: skip
@click.option("--releases", type=click.IntRange(1), default=1, show_default=True,
              help="How often the same data will be asked.")  # fmt: skip
@click.option("--accounted", is_flag=True, help="A ledger adds the releases up.")
def choose(
    output: Output | None,
    trusted: bool | None,
    epsilon: float,
    delta: float,
    records: int | None,
    norm: Norm | None,
    coordinates: int | None,
    integers: bool,
    clipped: bool,
    releases: int,
    accounted: bool,
) -> None:
    """Name the mechanism for a question, with the reason.

    What is missing is asked for, if this runs in a terminal. Usual mistakes, such as a delta that
    is not below 1/n, are pointed out.
    """
    asking = sys.stdin.isatty()
    if trusted is None:
        trusted = _ask_trusted(asking)
    released: Output = (
        _ask("output", "What is to be released", get_args(Output), asking)
        if output is None
        else output
    )
    if released == "vector" and trusted:
        if coordinates is None:
            coordinates = _ask_whole("coordinates", "How many numbers", asking)
        if norm is None:
            norm = _ask("norm", "How is one person's change bounded", get_args(Norm), asking)
    if trusted and delta and records is None and asking:
        records = _ask_whole("records", "How many people are in the data", asking)
    try:
        found = choose_mechanism(
            released, trusted=trusted, epsilon=epsilon, delta=delta, records=records, norm=norm,
            coordinates=coordinates, integers=integers, clipped=clipped, releases=releases,
            accounted=accounted,
        )  # fmt: skip
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    click.echo(str(found))


def _ask(option: str, question: str, answers: tuple[T, ...], asking: bool) -> T:
    names = [str(answer) for answer in answers]
    if not asking:
        raise click.UsageError(f"--{option} is missing: one of {', '.join(names)}")
    return answers[names.index(click.prompt(question, type=click.Choice(names)))]


def _ask_whole(option: str, question: str, asking: bool) -> int:
    if not asking:
        raise click.UsageError(f"--{option} is missing: a whole number")
    return int(click.prompt(question, type=click.IntRange(1)))


def _ask_trusted(asking: bool) -> bool:
    if not asking:
        raise click.UsageError("say whether a curator may hold the true answers: "
                               "--trusted or --untrusted")  # fmt: skip
    return click.confirm("May a trusted curator hold the true answers")


@click.command("compare")
@click.argument("source", required=False,
                type=click.Path(exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@click.option("--survey", "named", metavar="NAME",
              help="Name of the survey in a database that holds several.")  # fmt: skip
@click.option("--respondents", type=click.IntRange(1), help="How many people take part.")
@click.option("--options", type=click.IntRange(2), help="Without SOURCE: options of the question.")
@click.option("--epsilon", type=_ABOVE_ZERO,
              help="Without SOURCE: epsilon of one respondent, 0.001 to 15.")  # fmt: skip
@click.option("--share", type=click.FloatRange(0, 100, min_open=True, max_open=True),
              help="Share of the option in question, in per cent. [default: 5 points ahead of the "
              "others]")  # fmt: skip
@click.option("--delta", type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="Delta of mixed reports and of Gaussian noise. [default: a hundredth of 1/n, at "
              "most a millionth]")  # fmt: skip
@click.option("--level", type=click.FloatRange(0, 100, min_open=True, max_open=True), default=95,
              show_default=True, help="Confidence level in per cent.")  # fmt: skip
@click.option("--picture", type=click.Path(dir_okay=False, writable=True, path_type=Path),
              help="Also write a picture (SVG) of the intervals.")  # fmt: skip
def compare(
    source: Path | None,
    named: str | None,
    respondents: int | None,
    options: int | None,
    epsilon: float | None,
    share: float | None,
    delta: float | None,
    level: float,
    picture: Path | None,
) -> None:
    """Show what it costs not to trust a curator.

    Sets noise on each respondent's own device beside the same with the reports mixed by someone
    else, and beside the noise that a trusted curator would add: for one question (--respondents,
    --epsilon, --options), for a survey file (SOURCE, --respondents), or for a database of reports
    (SOURCE), whose own estimates then stand in the local row.
    """
    if source is None and (respondents is None or epsilon is None):
        raise click.UsageError("without SOURCE give --respondents and --epsilon")
    if source is not None and (epsilon is not None or options is not None):
        raise click.UsageError("with SOURCE, --epsilon and --options come from the survey")
    part = None if share is None else share / 100
    try:
        if source is None:
            one = compare_one(
                respondents=respondents or 0, options=options or 2, epsilon=epsilon or 0,
                share=part, delta=delta, level=level / 100,
            )  # fmt: skip
            found: tuple[Comparison, ...] = (one,)
        else:
            found = _of_source(source, named, respondents, part, delta, level / 100)
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    click.echo("\n\n\n".join([*map(text, found), legend(found[-1])]))
    if picture is not None:
        try:
            picture.write_text(draw(found), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"cannot write {picture}: {error.strerror}") from None
        click.echo(f"\nThe picture is in {picture}.")


def _of_source(
    source: Path, named: str | None, respondents: int | None, share: float | None,
    delta: float | None, level: float,
) -> tuple[Comparison, ...]:  # fmt: skip
    if source.suffix in (".toml", ".json"):
        if respondents is None:
            raise click.UsageError("with a survey file give --respondents")
        return compare_survey(
            Survey.load(source), respondents=respondents, share=share, delta=delta, level=level
        )
    if respondents is not None or share is not None:
        raise click.UsageError("with reports, --respondents and --share come from them")
    return compare_reports(read_reports(source, named), delta=delta, level=level)
