"""Failures under load, each a short time; ``python -m tests.server.drills`` repeats them often."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import drills
from .postgres import Postgres


def test_killed_server(tmp_path: Path) -> None:
    """However often the server is killed, nothing acknowledged is missing and nothing is half."""
    drills.kill_server(tmp_path, 2)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_worker(tmp_path: Path, postgres: Postgres, kind: str) -> None:
    """When one of several workers is killed, the others answer and another takes its place."""
    drills.kill_workers(tmp_path, 1, postgres.new_database() if kind == "postgres" else None)


def test_killed_supervisor(tmp_path: Path) -> None:
    """When whoever starts the workers is killed, they end too and free the port."""
    drills.kill_supervisor(tmp_path)


def test_killed_postgres(tmp_path: Path, postgres: Postgres) -> None:
    """When PostgreSQL is killed, the intake answers 503, loses nothing and goes on by itself."""
    drills.kill_postgres(tmp_path, 1, postgres)


def test_two_intakes(tmp_path: Path, postgres: Postgres) -> None:
    """Two intakes on two addresses share one PostgreSQL; one goes on when the other is killed."""
    drills.two_intakes(tmp_path, postgres)


def test_full_disk(tmp_path: Path) -> None:
    """While the disk is full reports are refused with 503; with room again they are stored."""
    drills.full_disk(tmp_path)


def test_read_only_file(tmp_path: Path) -> None:
    """A file that may not be written is refused at the start, in words, and left as it is."""
    assert "attempt to write a readonly database" in drills.read_only_file(tmp_path)
