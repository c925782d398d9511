"""The SQLite store: its contract, its schema as the last guard, and what its file tells."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from deniable_protocol import Report, StoreError
from deniable_protocol.layout import STEPS
from deniable_server import ReportStore
from deniable_server.contract import Store
from deniable_server.postgres_schema import _STEPS as POSTGRES_STEPS
from deniable_server.published import Outcome, Published
from deniable_server.schema import _STEPS as SQLITE_STEPS
from deniable_server.schema import connect
from deniable_server.store import _varint

from .samples import OTHER, SURVEY, WIDTH, report
from .store_contract import StoreContract

TABLE = "reports_canteen_2026_1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.db"


class TestReportStore(StoreContract):
    @pytest.fixture
    def store(self, path: Path) -> Iterator[Store]:
        self.address = str(path)
        with closing(ReportStore(path, self.clock)) as store:
            yield store

    def rows(self, store: Store, published: Published) -> set[tuple[object, ...]]:
        with closing(sqlite3.connect(store.name)) as db:
            return set(db.execute(f"SELECT * FROM {published.table}"))

    def try_rows(
        self, store: Store, published: Published, rows: Sequence[tuple[object, ...]]
    ) -> list[tuple[object, ...]]:
        marks = ", ".join("?" * len(published.column_names))
        taken = []
        with closing(sqlite3.connect(store.name, isolation_level=None)) as db:
            db.execute("BEGIN")
            for row in rows:
                try:
                    db.execute(f"INSERT INTO {published.table} VALUES ({marks})", row)
                except sqlite3.IntegrityError:
                    continue
                taken.append(row)
            db.execute("ROLLBACK")
        return taken


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


def test_columns(path: Path) -> None:
    """No table has a place for anything but reports, surveys, counts by day, and used tokens."""
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
        "spent": ["hash"],
        "results": ["digest", "reports", "page"],
        TABLE: ["id", "order", "dish"],
    }
    assert all(strict[name] for name in tables)


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
    for look_only in (False, True):
        with pytest.raises(StoreError, match=r"newer version of deniable .*m999_later.*update"):
            ReportStore(path, look_only=look_only)
    assert path.read_bytes() == before


def test_steps_are_known_to_all() -> None:
    """Both stores change their tables in the steps that those who only read know."""
    for steps in (SQLITE_STEPS, POSTGRES_STEPS):
        assert tuple(step.__name__ for step in steps) == STEPS


def test_looking_changes_nothing(path: Path) -> None:
    """A store that only looks reads everything and refuses to write."""
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
        store.add([(published, report())])
    before = path.read_bytes()
    with closing(ReportStore(path, look_only=True)) as store:
        assert store.surveys() == [published]
        assert (store.count(published), sum(store.days(published).values())) == (1, 1)
        with pytest.raises(StoreError, match="readonly"):
            store.add([(published, report())])
        with pytest.raises(StoreError, match="readonly"):
            store.publish(OTHER)
    assert path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_looking_beside_a_server(path: Path) -> None:
    """While another process writes, and after it crashed, all is seen and the log stays a log."""
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
        with closing(ReportStore(path, look_only=True)) as looking:
            store.add([(published, report())])
            assert looking.count(published) == 1
        crashed = path.with_name("crashed.db")
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{crashed}{end}")
    logged = crashed.with_name("crashed.db-wal").read_bytes()
    with closing(ReportStore(crashed, look_only=True)) as looking:
        assert looking.count(published) == 1
    assert crashed.with_name("crashed.db-wal").read_bytes() == logged


def test_looking_where_nothing_may_be_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy in a folder that cannot be written to is read as it is; not so beside a log."""
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
    real = sqlite3.connect

    def connect(address: str, **options: object) -> sqlite3.Connection:
        if not address.endswith("immutable=1"):  # SQLite cannot make its side files
            raise sqlite3.OperationalError("unable to open database file")
        return real(address, **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(sqlite3, "connect", connect)
    with closing(ReportStore(path, look_only=True)) as store:
        assert store.surveys() == [published]
    path.with_name(f"{path.name}-wal").touch()
    with pytest.raises(StoreError, match="unable to open"):
        ReportStore(path, look_only=True)


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


def test_older_schema_is_migrated(path: Path) -> None:
    """A file of the first version gets what came later, and its surveys are open."""
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
        store.add([(published, report())])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE life")
        db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm002_life'")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"older version of deniable.*deniable restore .*--to"):
        ReportStore(path, look_only=True)
    assert path.read_bytes() == before
    with closing(ReportStore(path)) as store:
        assert store.open_surveys() == [published]
        assert store.add([(published, report())]) == [Outcome.STORED]


def test_erased_reports_are_not_in_the_file(path: Path) -> None:
    """Not one of the erased ids is in any file, while the store and another process are open."""
    with closing(ReportStore(path)) as store, closing(ReportStore(path)) as other:
        published, kept = store.publish(SURVEY), store.publish(OTHER)
        sent = [report() for _ in range(500)]
        stays = report(OTHER)
        store.add([(published, each) for each in sent] + [(kept, stays)])
        assert other.count(published) == 500

        def found(reports: list[Report]) -> int:
            files = [file.read_bytes() for file in path.parent.iterdir()]
            return sum(any(_varint(r.key) in file for file in files) for r in reports)

        assert found([*sent, stays]) == 501, "this test could not have found one"
        assert store.erase_survey(published) == 500
        assert found(sent) == 0
        assert found([stays]) == 1
        assert other.add([(published, sent[0])]) == [Outcome.ERASED]


def test_erasing_says_when_the_file_still_holds_reports(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another process reads, what was deleted cannot leave the file; erasing says so."""
    monkeypatch.setattr("deniable_server.store._WIPE_SECONDS", 0.3)
    with closing(ReportStore(path)) as store, closing(sqlite3.connect(path)) as reader:
        published = store.publish(SURVEY)
        store.add([(published, report())])
        reader.execute("BEGIN")
        assert reader.execute(f"SELECT count(*) FROM {TABLE}").fetchone() == (1,)
        with pytest.raises(StoreError, match="still holds their bytes"):
            store.erase_survey(published)
        reader.rollback()
        assert store.erase_survey(published) == 0


def test_copy(path: Path) -> None:
    """A copy made while reports come in is sound, complete as of one moment, and in key order."""
    copy = path.with_name("copy.db")
    with closing(ReportStore(path)) as store:
        published = store.publish(SURVEY)
        store.add([(published, report()) for _ in range(50)])
        store.copy_to(copy)
        with pytest.raises(StoreError, match="exists"):
            store.copy_to(copy)
        store.add([(published, report())])
    with closing(ReportStore(copy)) as restored:
        assert restored.surveys() == [published]
        assert restored.count(published) == sum(restored.days(published).values()) == 50
        assert restored.add([(published, report())]) == [Outcome.STORED]
