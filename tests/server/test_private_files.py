"""Whatever holds reports, keys or a device's noise can be read by its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable_client import Device
from deniable_server.export import FORMATS

from .running import Server
from .samples import SURVEY, body
from .verbs import Run, typed_for


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Let others read new files, as most systems do."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def type_verb(tmp_path: Path) -> Run:
    return typed_for(str(tmp_path / "survey.db"))


def modes(folder: Path) -> dict[str, str]:
    return {path.name: f"{path.stat().st_mode & 0o777:o}" for path in folder.iterdir()}


def test_new_files(tmp_path: Path, type_verb: Run) -> None:
    """A database with its log, copies of it, exports, the issuer's file and a device's store."""
    folder = tmp_path / "files"
    folder.mkdir()
    with Server(tmp_path, database=str(folder / "survey.db")) as server:
        assert server.post(body())[0] == 201
        for suffix in FORMATS:
            (folder / f".export.{suffix}.part").touch()  # what a crash left
            source = ("canteen-2026", "--database", folder / "survey.db")
            type_verb("export", *source, "--output", folder / f"export.{suffix}")
        type_verb("backup", folder / "copy.db", "--database", folder / "survey.db")
        type_verb("restore", folder / "copy.db", "--to", folder / "restored.db")
        type_verb("merge", folder / "merged.db", folder / "copy.db")
        type_verb("invite", "canteen-2026", "--issuer", folder / "issuer.db")
        Device(folder / "device.db")
        found = modes(folder)
        assert set(found) == {
            "survey.db", "survey.db-wal", "survey.db-shm", "copy.db", "restored.db", "merged.db",
            "issuer.db", "device.db", *(f"export.{suffix}" for suffix in FORMATS),
        }  # fmt: skip
        assert set(found.values()) == {"600"}, found


def test_files_that_are_there(tmp_path: Path) -> None:
    """An operator who let a group read the database is not overruled, nor for its log."""
    folder = tmp_path / "files"
    folder.mkdir()
    database = folder / "survey.db"
    database.touch()
    database.chmod(0o640)
    with Server(tmp_path, database=str(database), published=SURVEY):
        assert modes(folder) == {f"survey.db{end}": "640" for end in ("", "-wal", "-shm")}


def test_a_link_that_leads_nowhere_yet(tmp_path: Path, type_verb: Run) -> None:
    """A link to where the database is to be: the file that it names is the one that is private."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "survey.db").symlink_to(tmp_path / "elsewhere/real.db")
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json())
    type_verb("publish", tmp_path / "survey.json")
    assert modes(tmp_path / "elsewhere") == {"real.db": "600"}
