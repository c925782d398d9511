"""Coming back from a copy: whole, and never beside the log of another file."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deniable_protocol import Report

from .running import Server
from .samples import SURVEY, body, dump, report
from .verbs import Run, fill, stored, typed_for


@pytest.fixture
def type_verb(tmp_path: Path) -> Run:
    return typed_for(str(tmp_path / "survey.db"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Give a backup, with three reports, of a database that is gone."""
    database = tmp_path / "first.db"
    fill(str(database), SURVEY, [report() for _ in range(3)])
    path = tmp_path / "copy.db"
    typed_for(str(database))("backup", path)
    database.unlink()
    return path


def test_after_a_crash(tmp_path: Path, type_verb: Run) -> None:
    """With the log of a killed server beside it the copy is refused a place, and then gets one."""
    database, copy = tmp_path / "survey.db", tmp_path / "copy.db"
    sent = [body() for _ in range(400)]
    with Server(tmp_path) as server:
        server.post(sent)
        type_verb("backup", copy)
        server.post([body() for _ in range(400)])
        server.stop(9)
    sides = [tmp_path / f"survey.db{end}" for end in ("-wal", "-shm")]
    assert all(side.exists() for side in sides), "this test needs a log"
    said = type_verb("restore", copy, "--to", database, status=1).output
    assert f"there already: {database}, {sides[0]}, {sides[1]}; " in said
    database.rename(tmp_path / "broken.db")
    said = type_verb("restore", copy, "--to", database, status=1).output
    assert f"there already: {sides[0]}, {sides[1]}; " in said
    said = type_verb("backup", database, "--database", copy, status=1).output
    assert f"there already: {sides[0]}, {sides[1]}; " in said
    for side in sides:
        side.rename(tmp_path / f"broken{side.suffix}")
    assert "400 reports are in" in type_verb("restore", copy, "--to", database).output
    with Server(tmp_path) as server:
        server.post([body()])
        server.stop()
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    reports = stored(str(database))["canteen-2026@1"]
    expected = {Report.parse(dump(each), SURVEY).id for each in sent}
    assert len(reports) == 401
    assert expected < {each.id for each in reports}


def test_an_older_copy(tmp_path: Path, copy: Path, type_verb: Run) -> None:
    """A copy of an older version stays as it is, and the new file has this version's tables."""
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("DROP TABLE results")
        db.execute("DROP TABLE spent")
        db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm003_spent_and_results'")
    before = copy.read_bytes()
    type_verb("restore", copy, "--to", tmp_path / "survey.db")
    assert copy.read_bytes() == before
    assert "canteen-2026@1  open          3" in type_verb("surveys").output


def test_copies_that_are_none(tmp_path: Path, copy: Path, type_verb: Run) -> None:
    """What is damaged, newer or something else is named, and leaves no file behind."""
    other, newer, broken = (tmp_path / name for name in ("other.db", "newer.db", "broken.db"))
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE t (x)")
    shutil.copy(copy, newer)
    with closing(sqlite3.connect(newer)) as db, db:
        db.execute("UPDATE _sqlite_migrations SET name = 'm999_later' WHERE id = 1")
    content = copy.read_bytes()
    broken.write_bytes(content[: len(content) // 2])
    for path, said in (
        (other, "is not a database of deniable"),
        (newer, "newer version of deniable (it has m999_later)"),
        (broken, "malformed"),
    ):
        found = type_verb("restore", path, "--to", tmp_path / "survey.db", status=1).output
        assert f"{path}" in found
        assert said in found
    assert "does not exist" in type_verb(
        "restore", tmp_path / "none.db", "--to", tmp_path / "survey.db", status=2
    ).output  # fmt: skip
    assert not list(tmp_path.glob("*survey.db*"))
