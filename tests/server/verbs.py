"""Typing the operator's verbs, and looking at what they did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner, Result

from deniable_protocol import Report, Survey
from deniable_protocol.cli import main
from deniable_server.opening import open_store
from deniable_server.published import Published

Run = Callable[..., Result]


def typed_for(database: str) -> Run:
    """Type verbs about one database; an unexpected status fails the test."""

    def run(*words: object, typed: str | None = None, status: int = 0) -> Result:
        found = CliRunner().invoke(
            main, [*map(str, words)], input=typed, env={"DENIABLE_DATABASE": database}
        )
        assert found.exit_code == status, found.output
        return found

    return run


def fill(database: str, survey: Survey, reports: Sequence[Report]) -> Published:
    with closing(open_store(database)) as store:
        published = store.publish(survey)
        store.add([(published, each) for each in reports])
    return published


def stored(database: str) -> dict[str, list[Report]]:
    with closing(open_store(database)) as store:
        return {
            f"{each.survey.name}@{each.version}": [r for c in store.reports(each) for r in c]
            for each in store.surveys()
        }


def by_id(reports: Sequence[Report]) -> list[Report]:
    return sorted(reports, key=lambda each: each.id)


def published_file(folder: Path, survey: Survey) -> list[Path]:
    path = folder / f"{survey.digest[7:12].replace('/', '_')}.json"
    path.write_bytes(survey.to_json())
    return [path]
