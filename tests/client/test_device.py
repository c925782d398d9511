"""A device never draws twice for one survey, keeps exact odds, and holds its limit."""

from __future__ import annotations

import os
import sqlite3
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from deniable_client import Device
from deniable_protocol import AnswerError, BudgetError, StoreError, Survey


def survey(name: str, odds: str = "3:1") -> Survey:
    question = {"name": "used", "kind": "yes-no", "text": "Used?", "odds": odds}
    return Survey.load({"name": name, "title": name, "questions": [question]})


def test_same_report_again(tmp_path: Path) -> None:
    """Asking again gives the same bytes, whatever the answer is now."""
    device = Device(tmp_path / "device.db")
    first = device.respond(survey("a"), {"used": True})
    assert device.respond(survey("a"), {"used": False}).to_json() == first.to_json()
    assert Device(tmp_path / "device.db").pending(survey("a")) == first


def test_odds_are_exact(tmp_path: Path) -> None:
    """What is spent is the product of odds, not a sum of rounded logarithms."""
    device = Device(tmp_path / "device.db", max_epsilon=20)
    assert device.spent == 1
    assert device.epsilon == 0
    for place in range(10):
        device.respond(survey(f"s{place}", "7:5"), {"used": True})
    assert device.spent == Fraction(7, 5) ** 10


def test_limit_over_surveys(tmp_path: Path) -> None:
    """The limit is for everything the device sends, and is checked before anything is drawn."""
    device = Device(tmp_path / "device.db", max_epsilon=2)
    device.respond(survey("a"), {"used": True})
    with pytest.raises(BudgetError, match="nothing was drawn"):
        device.respond(survey("b"), {"used": True})
    assert device.spent == 3
    assert device.pending(survey("b")) is None


def test_a_wrong_answer_costs_nothing(tmp_path: Path) -> None:
    """A refused answer leaves no trace on the device."""
    device = Device(tmp_path / "device.db")
    with pytest.raises(AnswerError):
        device.respond(survey("a"), {"used": "maybe"})
    assert device.spent == 1
    assert device.pending(survey("a")) is None


def test_two_devices_on_one_file(tmp_path: Path) -> None:
    """Eight threads that answer at once end with one report."""
    found = []

    def answer() -> None:
        found.append(Device(tmp_path / "device.db").respond(survey("a"), {"used": True}).to_json())

    threads = [threading.Thread(target=answer) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_no_answer_on_disk(tmp_path: Path) -> None:
    """The file of a device that answered Yes could as well be that of one that answered No."""
    device = Device(tmp_path / "device.db")
    report = device.respond(survey("a"), {"used": True})
    with sqlite3.connect(tmp_path / "device.db") as db:
        assert db.execute("SELECT * FROM surveys").fetchall() == [
            (survey("a").digest, "", "a", "3", "1", report.to_json())
        ]
    db.close()
    assert os.listdir(tmp_path) == ["device.db"]


def test_the_file_is_for_its_owner_and_forgets_what_was_acknowledged(tmp_path: Path) -> None:
    """Only the owner may read the file, and a report that was let go leaves no byte in it."""
    path = tmp_path / "device.db"
    device = Device(path)
    report = device.respond(survey("a"), {"used": True}).to_json()
    assert path.stat().st_mode & 0o777 == 0o600
    assert report in path.read_bytes()
    with device._transaction() as db:
        assert db.execute("PRAGMA secure_delete").fetchone() == (1,)
        db.execute("UPDATE surveys SET report = NULL")  # as submit does
    assert report[:40] not in path.read_bytes()
    with pytest.raises(StoreError, match="No such file"):
        Device(tmp_path / "nowhere" / "device.db")


def test_nothing_to_send(tmp_path: Path) -> None:
    """Sending before answering is said in words."""
    with pytest.raises(StoreError, match="no report waiting for survey 'a'"):
        Device(tmp_path / "device.db").submit(survey("a"), "http://127.0.0.1:9/s/a")


def test_not_a_device_file(tmp_path: Path) -> None:
    """A file that is something else is refused and left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and long enough that SQLite looks at its header" * 20)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"notes\.txt"):
        Device(path)
    assert path.read_bytes() == before
