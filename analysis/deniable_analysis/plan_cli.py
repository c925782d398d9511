"""The verb ``deniable plan``."""

from __future__ import annotations

from pathlib import Path

import click

from deniable_protocol import DeniableError, Survey

from .plan_picture import trade_off
from .survey_plan import QuestionPlan, SurveyPlan, plan_survey


@click.command()
@click.argument("survey", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--respondents", type=click.IntRange(1), help="How many people will take part.")
@click.option(
    "--half-width", type=click.FloatRange(0, 100, min_open=True, max_open=True),
    help="Instead: how close estimates should be, in percentage points, such as 3; "
    "for the mean of a number, in per cent of its range.",
)  # fmt: skip
@click.option(
    "--share", type=click.FloatRange(0, 100, min_open=True, max_open=True),
    help="The share that you expect an option to have, in per cent. "
    "Without it, all options of a question are taken to be equally common.",
)  # fmt: skip
@click.option(
    "--level", type=click.FloatRange(0, 100, min_open=True, max_open=True), default=95,
    show_default=True, help="Confidence level in per cent.",
)  # fmt: skip
@click.option(
    "--picture", type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write a picture (SVG) of how many respondents each epsilon takes.",
)  # fmt: skip
def plan(
    survey: Path,
    respondents: int | None,
    half_width: float | None,
    share: float | None,
    level: float,
    picture: Path | None,
) -> None:
    """Say how closely each question of SURVEY will be known.

    Give the number of respondents to see the half-width of each estimate, or a half-width to see
    how many respondents it takes. Only the noise on the devices and the draw of respondents are
    counted: people who lie, or who do not take part, are not.
    """
    if (respondents is None) == (half_width is None):
        raise click.UsageError("give either --respondents or --half-width")
    try:
        found = plan_survey(
            Survey.load(survey),
            respondents=respondents,
            half_width=None if half_width is None else half_width / 100,
            share=None if share is None else share / 100,
            level=level / 100,
        )
    except DeniableError as error:
        raise click.ClickException(str(error)) from None
    click.echo(_text(found))
    if picture is not None:
        expected = 0.5 if share is None else share / 100
        picture.write_text(trade_off(share=expected, level=level / 100), encoding="utf-8")
        click.echo(f"\nThe picture is in {picture}.")


def _text(found: SurveyPlan) -> str:
    survey = found.survey
    head = [str(survey.title), f"Epsilon {survey.epsilon:.2f} for one respondent over the survey."]
    sentences = [question.sentence() for question in found.questions]
    last = [found.pairs_sentence(), found.arms_sentence(), found.allocation_sentence()]
    ends = [line for sentence in last if sentence is not None for line in ("", sentence)]
    return "\n".join([*head, "", *_table(found), "", *sentences, *ends])


def _table(found: SurveyPlan) -> list[str]:
    rows = [("question", "options", "epsilon", "respondents", "reports", "half-width")]
    for question in found.questions:
        channel = question.question.channel
        rows.append((
            question.question.name, f"{channel.options}", f"{channel.epsilon:.2f}",
            f"{question.respondents:,}", f"{question.reports:,}",
            _half_width(question),
        ))  # fmt: skip
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0])]
                  + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)])
        for row in rows
    ]  # fmt: skip


def _half_width(found: QuestionPlan) -> str:
    grid = found.question.grid
    if grid is None:
        return f"{100 * found.half_width:.1f} points"
    return f"{found.mean_half_width:.2g}{f' {grid.unit}' if grid.unit else ''}"
