"""The operator's verbs, as they are typed: what they do, what they say, and when they refuse."""

from __future__ import annotations

import csv
import io
import json
import secrets
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from deniable_analysis import read_reports
from deniable_analysis.export import reports_to_csv
from deniable_protocol import Report, Survey, Token
from deniable_protocol.blind import PREFIX
from deniable_protocol.cli import main
from deniable_protocol.errors import REASONS
from deniable_protocol.layout import decode
from deniable_server import ReportStore, create_app
from deniable_server.life import State
from deniable_server.opening import open_store
from deniable_server.problems import PROBLEMS
from deniable_server.services import services

from .samples import (
    CHANGED,
    INVITED,
    SAMPLED,
    SOURCE,
    SURVEY,
    WIDTH,
    body,
    dump,
    other_answers,
    report,
    token,
)
from .verbs import Run, by_id, fill, published_file, stored


def test_a_life(deniable: Run, database: str, tmp_path: Path) -> None:
    """Publish, list, close, reopen, erase: each says what it did, and the table shows it."""
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    first.write_bytes(SURVEY.to_json())
    second.write_bytes(CHANGED.to_json())
    said = deniable("publish", first, "--closes", "2999-12-31", "--target", 500).output
    assert "canteen-2026@1 published; 0 reports, closes 3000-01-01T00:00:00Z, full at 500" in said
    said = deniable("publish", first, "--opens", "2998-12-31 09:00").output
    assert "was published before" in said
    assert "opens 2998-12-31T09:00:00Z, closes 3000-01-01T00:00:00Z, full at 500" in said
    deniable("publish", second)
    rows = json.loads(deniable("surveys", "--json").output)
    assert [(r["survey"], r["status"], r["reports"], r["target"]) for r in rows] == [
        ("canteen-2026@1", "not open yet", 0, 500), ("canteen-2026@2", "open", 0, None),
    ]  # fmt: skip
    said = deniable("publish", first, "--clear").output
    assert "canteen-2026@1 was published before; 0 reports\n" in said
    fill(database, SURVEY, [report(), report()])
    assert "canteen-2026@1 closed; 2 reports" in deniable("close", "canteen-2026").output
    table = deniable("surveys").output.splitlines()
    assert table[0].split() == [
        "survey", "status", "reports", "opens", "closes", "target", "digest",
    ]  # fmt: skip
    assert [line.split()[:3] for line in table[1:]] == [
        ["canteen-2026@1", "closed", "2"], ["canteen-2026@2", "closed", "0"],
    ]  # fmt: skip
    said = deniable("reopen", "canteen-2026@1", "--target", 2)
    assert "canteen-2026@1 reopened; 2 reports, full at 2" in said.output
    assert "because it is full" in said.stderr
    assert "  2" in deniable("surveys", "canteen-2026@1").output.splitlines()[-1]
    assert "nothing was erased" in deniable("erase", "canteen-2026", typed="no\n", status=1).output
    said = deniable("erase", "canteen-2026@1", typed="canteen-2026@1\n").output
    assert "canteen-2026@1: 2 reports erased" in said
    assert "cannot come back" in deniable("publish", first, status=1).output
    assert "was erased" in deniable("reopen", "canteen-2026@1", status=1).output
    deniable("close", "canteen-2026")
    said = deniable("close", "bistro", status=1).output
    assert "it has canteen-2026@1, canteen-2026@2" in said
    assert "expected a date" in deniable("publish", second, "--opens", "soon", status=1).output
    said = deniable("publish", second, "--opens", "2999-01-02", "--closes", "2999-01-01", status=1)
    assert "would close" in said.output


def test_import(deniable: Run, database: str, tmp_path: Path) -> None:
    """Reports are checked line by line; what is wrong is named by line and never repeated."""
    fill(database, SURVEY, [])
    sent = [body() for _ in range(3)]
    lines = [
        dump(sent[0]), b"", dump(sent[1]), b"canary", dump(body(CHANGED)), dump(sent[0]),
        dump(other_answers(sent[1])), dump(body(id="canary")), b"\xff", b"7", dump(sent[2]),
    ]  # fmt: skip
    path = tmp_path / "reports.jsonl"
    path.write_bytes(b"\n".join(lines))
    said = deniable("import", path, status=1)
    assert "3 reports stored, 1 were there already, 6 refused" in said.output
    assert "canary" not in said.output
    problems = [line.strip().split(":")[0] for line in said.stderr.splitlines()]
    assert problems == ["line 4", "line 5", "line 7", "line 8", "line 9", "line 10"]
    assert "line 5: its survey is not published here" in said.stderr
    expected = [Report.parse(dump(each), SURVEY) for each in sent]
    assert stored(database) == {"canteen-2026@1": by_id(expected)}


def test_import_by_invitation(deniable: Run, database: str, tmp_path: Path) -> None:
    """A token is checked as over HTTP and counts once; the summary accounts for every line."""
    fill(database, INVITED, [])
    one, forged = token(), str(Token(secrets.token_bytes(PREFIX), secrets.token_bytes(512)))
    first = body(INVITED, token=one)
    sent = [
        first, first, body(INVITED, token=one), body(INVITED, token=forged), body(INVITED, token=5),
        other_answers(first), body(INVITED),
    ]  # fmt: skip
    path = tmp_path / "reports.jsonl"
    path.write_bytes(b"\n\n".join(map(dump, sent)))
    said = deniable("import", path, status=1)
    assert "2 reports stored, 1 were there already, 4 refused" in said.output
    assert [line.strip() for line in said.stderr.splitlines()] == [
        f"line 5: {PROBLEMS['spent'].title}", f"line 7: {REASONS['token']}",
        f"line 9: {REASONS['token']}", f"line 11: {PROBLEMS['conflict'].title}",
    ]  # fmt: skip
    expected = [Report.parse(dump(each), INVITED, stored=True) for each in (first, sent[-1])]
    assert stored(database) == {
        "invited@1": by_id([replace(each, token=None) for each in expected])
    }
    deniable("erase", "invited", "--yes")
    said = deniable("import", path, status=1)
    assert "0 reports stored, 0 were there already, 7 refused" in said.output


def test_export_and_import_again(deniable: Run, database: str, tmp_path: Path) -> None:
    """JSON lines are what was sent, and bring a survey back; CSV is what the analysis reads."""
    sent = by_id([report() for _ in range(30)])
    fill(database, SURVEY, sent)
    lines = tmp_path / "reports.jsonl"
    deniable("export", "canteen-2026", "--output", lines)
    assert lines.read_bytes() == b"".join(each.to_json() + b"\n" for each in sent)
    assert deniable("export", "canteen-2026", "--output", "-").stdout_bytes == lines.read_bytes()
    table = tmp_path / "reports.csv"
    assert "30 reports of canteen-2026@1" in deniable(
        "export", "canteen-2026@1", "--output", table
    ).output  # fmt: skip
    assert table.read_text() == reports_to_csv(SURVEY, sent)
    deniable("export", "canteen-2026", "--output", tmp_path / "reports.xls", status=2)
    assert read_reports(table, SURVEY).n == read_reports(lines, SURVEY).n == 30
    fill(database, CHANGED, [report(CHANGED)])
    said = deniable("export", "canteen-2026", "--output", table, status=1).output
    assert "never put together; name one: canteen-2026@1, canteen-2026@2" in said
    assert sorted(path.name for path in tmp_path.glob("*reports*")) == [
        "reports.csv", "reports.jsonl",
    ]  # fmt: skip
    other = str(tmp_path / "other.db")
    fill(other, SURVEY, [])
    deniable("import", lines, "--database", other)
    assert stored(other) == {"canteen-2026@1": sent}


def test_export_with_arms_and_unsent_items(deniable: Run, database: str, tmp_path: Path) -> None:
    """Parquet and CSV have the table's columns, with nothing where an item was not sent."""
    parquet = pytest.importorskip("pyarrow.parquet")
    boxes = {"paid": [0], "ate.1": [1], "ate.3": [0]}
    plain = {"paid": [1], "drank": [0]}
    sent = by_id([report(SAMPLED, answers=a, arm=arm) for a in (boxes, plain) for arm in "ab"])
    published = fill(database, SAMPLED, sent)
    for suffix in ("csv", "parquet"):
        deniable("export", "sampled", "--output", tmp_path / f"out.{suffix}")
    rows = list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert rows[0] == ["id", "arm", "paid", "ate.1", "ate.2", "ate.3", "drank"]
    assert [row[0] for row in rows[1:]] == [each.id for each in sent]
    assert not [cell for row in rows for cell in row if cell.startswith(tuple("=+-@\t\r"))]
    table = parquet.read_table(tmp_path / "out.parquet")
    assert [published.report(tuple(row.values())) for row in table.to_pylist()] == sent
    assert table.schema.metadata[b"digest"].decode() == SAMPLED.digest


def test_parquet_holds_bitmaps(deniable: Run, database: str, tmp_path: Path) -> None:
    """Where several options are drawn, the column is the bitmap of the table."""
    parquet = pytest.importorskip("pyarrow.parquet")
    sent = report()
    fill(database, SURVEY, [sent])
    deniable("export", "canteen-2026", "--output", tmp_path / "out.parquet")
    (row,) = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert decode(SURVEY["dish"].channel, row["dish"]) == sent.answers["dish"]


def test_backup_and_restore(
    deniable: Run, database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A backup has surveys, decisions, counters and reports, and serves like the original."""
    sent = [report() for _ in range(40)]
    fill(database, SURVEY, sent)
    fill(database, CHANGED, [report(CHANGED)])
    deniable("publish", *published_file(tmp_path, SURVEY), "--target", 70)
    deniable("close", "canteen-2026@1")
    deniable("erase", "canteen-2026@2", "--yes")
    copy = tmp_path / "copy.db"
    assert "40 reports are in" in deniable("backup", copy).output
    assert "there already" in deniable("backup", copy, status=1).output
    assert not list(tmp_path.glob(".*"))
    listed = deniable("surveys", "--json").output
    assert deniable("surveys", "--json", "--database", copy).output == listed
    assert stored(str(copy)) == stored(database)
    with closing(open_store(database)) as here, closing(ReportStore(copy)) as there:
        (first, _) = here.surveys()
        assert there.days(first) == here.days(first)
        assert there.life(first).state is State.CLOSED
        days = here.days(first)
    restored = str(copy)
    if database.startswith("postgresql"):  # back into an empty database
        restored = request.getfixturevalue("postgres").new_database()
        deniable("merge", restored, copy)
        assert deniable("surveys", "--json").output == listed
    app = create_app({"DATABASE": restored})
    with closing(services(app)):
        url = f"/v1/surveys/{SURVEY.name}/reports"
        statuses = [
            app.test_client().post(url, data=each.to_json()).status_code
            for each in (sent[0], report(), report(CHANGED))
        ]
        assert statuses == [200, 403, 410]
        assert services(app).store.days(first) == days


@pytest.mark.parametrize(
    "verb",
    [["surveys"], ["counts", "canteen-2026"], ["export", "canteen-2026", "--output", "-"], "merge"],
    ids=lambda verb: verb if isinstance(verb, str) else verb[0],
)
def test_verbs_that_only_look(
    deniable: Run, database: str, tmp_path: Path, verb: list[str] | str
) -> None:
    """What is only read is not brought to another schema, and not a byte of a file changes."""
    fill(database, SURVEY, [report()])
    words = ["merge", str(tmp_path / "all.db"), database] if verb == "merge" else verb
    before = content(database)
    deniable(*words)
    assert content(database) == before
    forget_a_step(database)
    before = content(database)
    assert "is only read here" in deniable(*words, status=1).output
    assert content(database) == before


def content(database: str) -> bytes:
    return b"" if database.startswith("postgresql") else Path(database).read_bytes()


def forget_a_step(database: str) -> None:
    """Make a database one of an earlier version."""
    if database.startswith("postgresql"):
        with psycopg.connect(database) as db:
            db.execute("DROP TABLE results")
            db.execute("DELETE FROM deniable_migrations WHERE name = 'm003_spent_and_results'")
        return
    with closing(sqlite3.connect(database)) as file, file:
        file.execute("DROP TABLE results")
        file.execute("DELETE FROM _sqlite_migrations WHERE name = 'm003_spent_and_results'")


def test_counts_say_what_they_leave_out(deniable: Run, database: str) -> None:
    """An empty newest version is not taken for a survey without reports."""
    fill(database, SURVEY, [report(), report()])
    assert deniable("counts", "canteen-2026").stderr == ""
    fill(database, CHANGED, [])
    for words in (["canteen-2026"], ["canteen-2026", "--sql"], ["canteen-2026@2"]):
        found = deniable("counts", *words)
        assert "left out: 2 in version 1 (to count: canteen-2026@1)." in found.stderr
        assert "left out" not in found.stdout
    found = deniable("counts", "canteen-2026@1")
    assert (found.stderr, len(found.stdout.splitlines())) == ("", 1 + 1 + WIDTH)


def test_no_database(tmp_path: Path) -> None:
    """A mistyped path is not turned into an empty database by verbs that only look."""
    for verb in (["surveys"], ["close", "x"], ["export", "x", "--output", "-"], ["import", "-"]):
        found = CliRunner().invoke(
            main, verb, env={"DENIABLE_DATABASE": str(tmp_path / "none.db")}, input=""
        )
        assert found.exit_code == 1
        assert "there is no database" in found.output
    assert list(tmp_path.iterdir()) == []


def test_a_survey_that_was_only_renamed_is_another(deniable: Run, tmp_path: Path) -> None:
    """Publishing an erased survey under another title gives a new version with nothing in it."""
    path = published_file(tmp_path, SURVEY)
    deniable("publish", *path)
    deniable("erase", "canteen-2026", "--yes")
    again = published_file(tmp_path, Survey.load(SOURCE | {"title": "Canteen once more"}))
    assert "canteen-2026@2 published; 0 reports" in deniable("publish", *again).output
