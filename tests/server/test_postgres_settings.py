"""What a PostgreSQL server must be set to: one list for the intake, the guide and the tests."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from deniable_protocol import StoreError
from deniable_server.opening import open_store
from deniable_server.postgres_settings import QUIET
from deniable_server.published import Published

from .postgres import SETTINGS, Postgres
from .samples import SURVEY, report
from .verbs import published_file, typed_for

GUIDE = Path(__file__).parents[2] / "docs/operating.md"
LOSES = {"fsync": "off", "track_commit_timestamp": "on", "log_statement_stats": "on"}
TELLS = {
    "log_statement": "all", "log_min_error_statement": "error", "log_error_verbosity": "default",
    "log_min_duration_statement": "0", "log_min_duration_sample": "0",
    "log_transaction_sample_rate": "0.5", "log_duration": "on", "log_lock_waits": "on",
    "log_parser_stats": "on", "log_planner_stats": "on", "log_executor_stats": "on",
    "log_min_messages": "info", "log_connections": "on", "log_disconnections": "on",
    "log_checkpoints": "on", "auto_explain.log_min_duration": "0", "pgaudit.log": "write",
}  # fmt: skip


@pytest.fixture(scope="module")
def careless() -> Iterator[Postgres]:
    with Postgres(**TELLS) as careless:
        yield careless


def named(error: pytest.ExceptionInfo[StoreError]) -> set[str]:
    return set(re.findall(r"([\w.]+) = ", str(error.value)))


def test_the_guide_has_the_list() -> None:
    """The lines that operators copy are those that the intake looks for, no more and no less."""
    (block,) = re.findall(r"\n\n((?:    [\w.]+ = .*\n)+)", GUIDE.read_text("utf-8"))
    assert block == "".join(f"    {name} = {value}\n" for name, value in QUIET.items())


def test_the_tests_have_the_list(postgres: Postgres) -> None:
    """What tests say of PostgreSQL's log, they say of a server that is set as the guide says."""
    assert SETTINGS.items() >= QUIET.items()
    with psycopg.connect(postgres.url) as db:
        for name, value in QUIET.items():
            assert db.execute(f"SHOW {name}".encode()).fetchone() == (value,)


def test_every_wrong_setting_is_named(careless: Postgres) -> None:
    """An intake does not start on a server whose log would tell, and says each line to change."""
    url = careless.new_database()
    with pytest.raises(
        StoreError, match=r"into its log; set .*log_statement = none \(it is all\)"
    ) as error:
        open_store(url)
    assert named(error) == set(TELLS) == set(QUIET) - {"log_statement_stats"}


def test_settings_that_lose_or_keep() -> None:
    """A server that would lose reports, or keep the time of each, is refused in words."""
    with Postgres(**LOSES) as careless, pytest.raises(StoreError) as error:
        open_store(careless.new_database())
    assert named(error) == set(LOSES)
    for what in ("lose reports in a power cut", "keep the time of each report"):
        assert what in str(error.value)


def test_the_intake_says_so_and_ends(careless: Postgres, tmp_path: Path) -> None:
    """Also with several workers: none of them is started only to fail."""
    words = ["serve", *map(str, published_file(tmp_path, SURVEY)), "--workers", "2", "--port", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "deniable_protocol", *words, "--database", careless.new_database()],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "log_statement = none" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_operator_may_still_clean_up(careless: Postgres, tmp_path: Path) -> None:
    """What is there can be seen, closed and erased on such a server; reports are not added."""
    url = careless.new_database()
    lines = tmp_path / "reports.jsonl"
    lines.write_bytes(report().to_json())
    deniable = typed_for(url)
    deniable("publish", *published_file(tmp_path, SURVEY))
    assert "log_statement = none" in deniable("import", lines, status=1).output
    row = Published(SURVEY, 1).row(report())
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO reports_canteen_2026_1 VALUES (%s, %s, %s)", row)
    for verb in ("surveys", "close", "counts"):
        deniable(verb, SURVEY.name)
    assert "1 reports erased" in deniable("erase", SURVEY.name, "--yes").output
    with closing(open_store(url, look_only=True)) as store:
        assert [store.count(each) for each in store.surveys()] == [0]
