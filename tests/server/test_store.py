"""The SQLite store: its contract, its schema as the last guard, and what its file tells."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deniable_protocol import Report, ReportError, StoreError
from deniable_protocol.bitmap import from_bitmap, to_bitmap
from deniable_server import ReportStore
from deniable_server.published import Outcome, Published
from deniable_server.schema import connect

from .samples import OTHER, SAMPLED, SURVEY, WIDTH, report
from .store_contract import StoreContract

TABLE = "reports_canteen_2026_1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.db"


class TestReportStore(StoreContract):
    @pytest.fixture
    def store(self, path: Path) -> Iterator[ReportStore]:
        with closing(ReportStore(path)) as store:
            yield store

    def rows(self, store: ReportStore, published: Published) -> set[tuple[object, ...]]:
        with closing(sqlite3.connect(store._path)) as db:
            return set(db.execute(f"SELECT * FROM {published.table}"))


def test_reopened(path: Path) -> None:
    """A closed store is one file, and the next one reads it as it was."""
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
        store.add([(published, report())])
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    with closing(ReportStore(path)) as store:
        assert store.newest(SURVEY.name) == published
        assert store.count(published) == 1


def test_two_processes(path: Path) -> None:
    """A store sees what another one of the same file published and stored."""
    with closing(ReportStore(path)) as one, closing(ReportStore(path)) as two:
        sent = report()
        published = one.publish(SURVEY)
        assert two.find(SURVEY.digest) == published
        assert one.add([(published, sent)]) == [Outcome.STORED]
        assert two.add([(published, sent)]) == [Outcome.SAME]
        assert two.publish(SURVEY) == published


def test_schema_refuses_every_impossible_answer(path: Path) -> None:
    """Of all bitmaps of two bytes, the table takes exactly those of the right size and range."""
    with closing(ReportStore(path)) as store:
        store.publish(SURVEY)
    possible = {to_bitmap(subset, 11) for subset in itertools.combinations(range(11), WIDTH)}
    insert = f'INSERT INTO {TABLE} (id, "order", dish) VALUES (?, ?, ?)'
    taken = set()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN")
        for number in range(2**16):
            bitmap = number.to_bytes(2, "little")
            try:
                db.execute(insert, (number, number % 2, bitmap))
            except sqlite3.IntegrityError:
                continue
            taken.add(bitmap)
            assert from_bitmap(bitmap) in itertools.combinations(range(11), WIDTH)
        assert taken == possible
        good = next(iter(possible))
        for row in [
            (-1, 0, good), (None, 2, good), (70000, -1, good), (70000, None, good),
            (70000, 0, None), (70000, 0, good + b"\0"), (70000, 0, good[:1]), (70000, 0, "ab"),
            (70000, 0.5, good), (70000, "x", good), ("x", 0, good),
        ]:  # fmt: skip
            with pytest.raises((sqlite3.IntegrityError, sqlite3.OperationalError)):
                db.execute(insert, row)


def test_schema_takes_what_the_protocol_takes(path: Path) -> None:
    """With sampled questions, sampled boxes and arms: every row is a report or is refused."""
    with closing(ReportStore(path)) as store:
        published = store.publish(SAMPLED)
    names = [item.name for item in SAMPLED.items]
    assert names == ["paid", "ate.1", "ate.2", "ate.3", "drank"]
    columns = ", ".join(f'"{name}"' for name in ("id", "arm", *names))
    taken = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for key, row in enumerate(itertools.product(("a", "c", None), *[(None, 0, 1)] * 5)):
            arm, *drawn = row
            sent = {n: [i] for n, i in zip(names, drawn, strict=True) if i is not None}
            found = {"survey": SAMPLED.digest, "id": f"{key:016x}", "answers": sent, "arm": arm}
            try:
                report = Report.parse(found, SAMPLED)
            except ReportError:
                with pytest.raises(sqlite3.IntegrityError):
                    db.execute(
                        f"INSERT INTO {published.table} ({columns}) VALUES (?{', ?' * 6})",
                        (key, *row),
                    )
                continue
            taken += 1
            with closing(ReportStore(path)) as store:
                assert store.add([(published, report)] * 2) == [Outcome.STORED, Outcome.SAME]
            stored = db.execute(f"SELECT * FROM {published.table} WHERE id = {key}").fetchone()
            assert stored == (key, *row)
    # Two of three questions: both plain ones, or one of them and two of three boxes.
    assert taken == 4 + 2 * 2 * 3 * 4


def test_columns(path: Path) -> None:
    """No table has a place for anything but reports, surveys and counts by day."""
    with closing(ReportStore(path)) as store:
        store.publish(SURVEY)
    with closing(sqlite3.connect(path)) as db:
        tables = {
            name: [column[1] for column in db.execute(f"PRAGMA table_info({name})")]
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        strict = {row[1]: row[5] for row in db.execute("PRAGMA table_list")}
    # Steps of the schema: their time is that of an upgrade, not of a report.
    assert tables.pop("_sqlite_migrations") == ["id", "migration_set", "name", "applied_at"]
    assert tables == {
        "surveys": ["digest", "name", "version", "json"],
        "counters": ["digest", "day", "reports"],
        "life": ["digest", "state", "opens", "closes", "target"],
        TABLE: ["id", "order", "dish"],
    }
    assert all(strict[name] for name in tables)


def test_counters(path: Path) -> None:
    """Counters hold new reports by survey version and day, and no repeated one."""
    days = {datetime.now(UTC).date().isoformat()}
    with closing(ReportStore(path)) as store:
        first, second = store.publish(SURVEY), store.publish(OTHER)
        sent = report()
        store.add([(first, sent), (first, sent), (second, report(OTHER))])
        store.add([(first, sent), (first, report())])
    days.add(datetime.now(UTC).date().isoformat())
    with closing(sqlite3.connect(path)) as db:
        found = list(db.execute("SELECT digest, day, reports FROM counters"))
    assert {day for _, day, _ in found} <= days
    totals = {s.digest: sum(n for d, _, n in found if d == s.digest) for s in (SURVEY, OTHER)}
    assert totals == {SURVEY.digest: 2, OTHER.digest: 1}


def test_file_does_not_tell_the_order_of_arrival(path: Path) -> None:
    """The same reports in another order and other commits leave the same bytes in the file."""
    with closing(ReportStore(path)) as store:
        store.publish(SURVEY)
    reports = [report() for _ in range(300)]

    def fill(name: str, sent: list[object], size: int, *, close: bool = True) -> bytes:
        copy = Path(shutil.copy(path, path.with_name(name)))
        store = ReportStore(copy)
        published = store.publish(SURVEY)
        for start in range(0, len(sent), size):
            store.add([(published, each) for each in sent[start : start + size]])  # type: ignore[misc]
        if close:
            store.close()
        else:  # closed as SQLite alone would do it
            store._reader.close()
            store._writer.close()
        content = copy.read_bytes()
        return content[:24] + content[28:92] + content[100:]  # without SQLite's change counters

    assert fill("a.db", [*reports], 7) == fill("b.db", [*reversed(reports)], 50)
    plain = [fill("c.db", [*reports], 7, close=False), fill("d.db", [*reversed(reports)], 7,
             close=False)]  # fmt: skip
    assert plain[0] != plain[1], "this test could not have seen a difference"


def test_durability_settings(path: Path) -> None:
    """A commit waits for the disk, and the log and the cache have their sizes."""
    with closing(connect(path)) as db:
        found = {
            name: db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "cache_size", "wal_autocheckpoint")
        }
    assert found == {
        "journal_mode": "wal", "synchronous": 2, "cache_size": -65536, "wal_autocheckpoint": 20000,
    }  # fmt: skip


def test_newer_schema_is_refused_in_words(path: Path) -> None:
    """A file of a later version is left alone, and the message says what to do."""
    ReportStore(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE _sqlite_migrations SET name = 'm999_later' WHERE id = 1")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer version of deniable .*m999_later.*update"):
        ReportStore(path)
    assert path.read_bytes() == before


def test_not_a_database(path: Path) -> None:
    """A file that is something else, and one that cannot be made, are refused with their name."""
    path.write_bytes(b"name = 'canteen'\n" * 100)
    with pytest.raises(StoreError, match=r"survey\.db: file is not a database"):
        ReportStore(path)
    with pytest.raises(StoreError, match="unable to open"):
        ReportStore(path.parent / "absent" / "survey.db")


def test_failed_group_leaves_nothing(path: Path) -> None:
    """If the database refuses one report of a transaction, none of it is stored."""
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
        impossible = report()
        object.__setattr__(impossible, "answers", {"order": (2,), "dish": tuple(range(WIDTH))})
        with pytest.raises(StoreError, match="CHECK constraint failed"):
            store.add([(published, report()), (published, impossible)])
        assert store.count(published) == 0
        assert store.add([(published, report())]) == [Outcome.STORED]
