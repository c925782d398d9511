"""Run a whole survey: publish, 2,000 respondents, report, and truth beside estimate.

The population is real: the answers of 6,366 women to Fair's survey of 1974. Respondents are drawn
from it, each answers through the real client over HTTP, and the server is `deniable serve`.
"""

from __future__ import annotations

import argparse
import functools
import json
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click

from deniable_analysis import estimate, read_reports
from deniable_client import fetch_survey, respond, submit
from deniable_protocol import Survey

HERE = Path(__file__).resolve().parent
CONNECTIONS = 24
COMMAND = [sys.executable, "-m", "deniable_protocol"]

Respondent = tuple[int, ...]
"""True option indices, one for each question. They stay in this process, as on a device."""


def main() -> None:
    """Run the demo."""
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    database = options.folder / "affairs.db"
    for old in options.folder.glob("affairs.db*"):
        old.unlink()
    with serve(database, options.port) as (process, origin):
        respondents = draw(options.respondents)
        answer_all(f"{origin}/s/affairs", respondents)
        page = options.folder / "report.html"
        subprocess.run(
            [*COMMAND, "report", database, "--survey", "affairs", "--output", page],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        print_comparison(database, respondents)
        if options.serve:
            stay_open(process, origin, page)
        else:
            click.echo(f"\nReport page: {page}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-serve", dest="serve", action="store_false",
                        help="end after the report")  # fmt: skip
    parser.add_argument("--respondents", type=int, default=2000, metavar="N")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--folder", type=Path, default=Path("demo-output"))
    return parser.parse_args()


def population() -> Counter[Respondent]:
    """Read how many people gave each combination of answers."""
    found = json.loads((HERE / "population.json").read_text(encoding="utf-8"))
    return Counter({tuple(cell): count for *cell, count in found["counts"]})


def draw(respondents: int) -> list[Respondent]:
    """Draw respondents from the population, without replacement while it lasts."""
    people = list(population().elements())
    rounds, rest = divmod(respondents, len(people))
    return people * rounds + secrets.SystemRandom().sample(people, rest)


@contextmanager
def serve(database: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the real server as its own process, and stop it gently."""
    process = subprocess.Popen(
        [*COMMAND, "serve", HERE / "survey.toml", "--database", database, "--port", str(port)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("Listening on "):
                yield process, line.split()[2].rstrip("/")
                return
        raise SystemExit("The server did not start; its message is above.")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        process.stdout.close()


def answer_all(url: str, respondents: list[Respondent]) -> None:
    """Let every respondent fetch the survey, randomize and send."""
    published = Survey.load(HERE / "survey.toml")

    def answer(person: Respondent) -> None:
        survey = fetch_survey(url, digest=published.digest)
        answers = {
            question.name: str(question.options[index])
            for question, index in zip(survey.questions, person, strict=True)
        }
        submit(respond(survey, answers), url)

    started = time.monotonic()
    with ThreadPoolExecutor(CONNECTIONS) as devices:
        work = devices.map(answer, respondents)
        with click.progressbar(work, length=len(respondents), label="Respondents") as bar:
            for _ in bar:
                pass
    seconds = time.monotonic() - started
    click.echo(
        f"{len(respondents):,} respondents answered in {seconds:.1f} s "
        f"({len(respondents) / seconds:.0f} a second). The server has noise only."
    )


def print_comparison(database: Path, respondents: list[Respondent]) -> None:
    """Print what was true, which only this demo knows, beside what the reports say."""
    reports = read_reports(database, "affairs")
    held = total = 0
    for place, question in enumerate(reports.survey.questions):
        truth = Counter(person[place] for person in respondents)
        found = estimate(reports, question.name)
        click.echo(f"\n{question.text}  (epsilon {question.channel.epsilon:.2f})")
        click.echo(f"  {'':<12}{'truth':>8}{'estimate':>10}   {found.level:.0%} interval")
        for index, option in enumerate(found.options):
            share = truth[index] / len(respondents)
            inside = option.low <= share <= option.high
            held, total = held + inside, total + 1
            click.echo(
                f"  {option.label:<12}{share:>8.1%}{option.share:>10.1%}   "
                f"{option.low:.1%} to {option.high:.1%}{'' if inside else '   misses the truth'}"
            )
    click.echo(
        f"\n{held} of {total} intervals hold the truth; about {0.95 * total:.1f} are expected to."
    )


def stay_open(process: subprocess.Popen[str], origin: str, page: Path) -> None:
    """Keep the form and the report open until Ctrl-C."""
    handler = functools.partial(_Quiet, directory=str(page.parent.resolve()))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as reports:
        threading.Thread(target=reports.serve_forever, daemon=True).start()
        click.echo(f"\nForm:    {origin}/s/affairs")
        click.echo(f"Report:  http://127.0.0.1:{reports.server_port}/{page.name}")
        click.echo("Open until you press Ctrl-C.")
        try:
            process.wait()
        except KeyboardInterrupt:
            click.echo("\nStopped.")
        finally:
            reports.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    """Serve the report page and say nothing about who looked."""

    def do_GET(self) -> None:
        if self.path == "/report.html":
            super().do_GET()
        else:
            self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Keep no log."""


if __name__ == "__main__":
    main()
