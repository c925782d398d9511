"""The store in PostgreSQL: what every store promises, and what only it must."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import psycopg
import pytest

from deniable_protocol import StoreError, Survey
from deniable_server.contract import Store
from deniable_server.opening import open_store
from deniable_server.published import Outcome, Published

from .postgres import Postgres
from .samples import SOURCE, SURVEY, WIDTH, report
from .store_contract import StoreContract

TABLE = "reports_canteen_2026_1"


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new_database()


class TestPostgresStore(StoreContract):
    every = 17

    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        from deniable_server import PostgresStore

        self.address = url
        with closing(PostgresStore(url, self.clock)) as store:
            yield store

    def rows(self, store: Store, published: Published) -> set[tuple[object, ...]]:
        with psycopg.connect(self.address) as db:
            return set(db.execute(f"SELECT * FROM {published.table}".encode()))

    def try_rows(
        self, store: Store, published: Published, rows: Sequence[tuple[object, ...]]
    ) -> list[tuple[object, ...]]:
        """Let the server itself try each row: so many errors over a connection take long."""
        table = published.table
        marks = ", ".join(["%s"] * len(published.column_names))
        with psycopg.connect(self.address) as db:
            db.execute(f"CREATE TEMP TABLE tried (LIKE {table})".encode())
            db.execute("ALTER TABLE tried ALTER id DROP NOT NULL, ADD place SERIAL")
            for column in published.column_names[1:]:
                db.execute(f'ALTER TABLE tried ALTER "{column}" DROP NOT NULL'.encode())
            query = f"INSERT INTO tried ({published.columns}) VALUES ({marks})"
            db.cursor().executemany(query.encode(), rows)
            db.execute(
                "CREATE FUNCTION pg_temp.attempt(n int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN"
                f" INSERT INTO {table} ({published.columns})"
                f" SELECT {published.columns} FROM tried WHERE place = n; RETURN true;"
                " EXCEPTION WHEN check_violation OR not_null_violation THEN RETURN false;"
                " END $$".encode()
            )
            db.execute("CREATE INDEX ON tried (place)")
            query = f"SELECT {published.columns} FROM tried WHERE pg_temp.attempt(place)"
            found = db.execute(query.encode()).fetchall()
            db.rollback()
        return found


def test_two_processes(url: str) -> None:
    """A store sees what another one of the same database published and stored."""
    with closing(open_store(url)) as one, closing(open_store(url)) as two:
        sent = report()
        published = one.publish(SURVEY)
        assert two.find(SURVEY.digest) == published
        assert one.add([(published, sent)]) == [Outcome.STORED]
        assert two.add([(published, sent)]) == [Outcome.SAME]
        assert two.publish(SURVEY) == published


def test_columns(url: str) -> None:
    """No table has a place for anything but reports, surveys, decisions and counts by day."""
    with closing(open_store(url)) as store:
        store.publish(SURVEY)
    tables: dict[str, list[str]] = {}
    with psycopg.connect(url) as db:
        for table, column in db.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"
        ):
            tables.setdefault(table, []).append(column)
    assert tables == {
        "deniable_migrations": ["name"],
        "surveys": ["digest", "name", "version", "json"],
        "counters": ["digest", "day", "slot", "reports"],
        "life": ["digest", "state", "opens", "closes", "target"],
        "spent": ["hash"],
        "results": ["digest", "reports", "page"],
        TABLE: ["id", "order", "dish"],
    }


def test_closing_forgets_the_order_of_arrival(url: str) -> None:
    """Rows lie in the order of arrival, each with its transaction, until the survey is closed."""
    query = f"SELECT id, xmin::text FROM {TABLE} ORDER BY ctid"
    with closing(open_store(url)) as store, psycopg.connect(url, autocommit=True) as db:
        published = store.publish(SURVEY)
        sent = [report() for _ in range(40)]
        for each in sent:
            store.add([(published, each)])
        arrived = [each.key for each in sent]
        before = db.execute(query.encode()).fetchall()
        assert [key for key, _ in before] == arrived, "this test could not see a difference"
        assert len({transaction for _, transaction in before}) == 40
        store.close_survey(published)
        after = db.execute(query.encode()).fetchall()
        assert [key for key, _ in after] == sorted(arrived)
        assert len({transaction for _, transaction in after}) == 1
        store.reopen_survey(published)
        assert store.add([(published, report()), (published, sent[0])]) == [
            Outcome.STORED, Outcome.SAME,
        ]  # fmt: skip


def test_newer_schema_is_refused_in_words(url: str) -> None:
    """A database of a later version is left alone, and the message says what to do."""
    open_store(url).close()
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO deniable_migrations VALUES ('m999_later')")
    for look_only in (False, True):
        with pytest.raises(StoreError, match=r"newer version of deniable .*m999_later.*update"):
            open_store(url, look_only=look_only)


def test_looking_changes_nothing(url: str) -> None:
    """A store that only looks makes no tables, refuses older ones, and refuses to write."""
    with pytest.raises(StoreError, match="not a database of deniable"):
        open_store(url, look_only=True)
    with psycopg.connect(url) as db:
        assert db.execute("SELECT * FROM pg_tables WHERE schemaname = 'public'").fetchall() == []
    with closing(open_store(url)) as store:
        published = store.publish(SURVEY)
        store.add([(published, report())])
    with closing(open_store(url, look_only=True)) as store:
        assert store.surveys() == [published]
        assert (store.count(published), sum(store.days(published).values())) == (1, 1)
        with pytest.raises(StoreError, match="read-only"):
            store.close_survey(published)


def test_older_schema_is_migrated(url: str) -> None:
    """A database of the first version gets what came later, and its surveys are open."""
    with closing(open_store(url)) as store:
        published = store.publish(SURVEY)
        store.add([(published, report())])
    with psycopg.connect(url) as db:
        db.execute("DROP TABLE life")
        db.execute("DELETE FROM deniable_migrations WHERE name = 'm002_life'")
    with closing(open_store(url)) as store:
        assert store.open_surveys() == [published]
        assert store.add([(published, report())]) == [Outcome.STORED]


def test_messages_hold_no_password(postgres: Postgres, url: str) -> None:
    """Neither a wrong address nor a refused one shows the password that was given."""
    for address in (
        f"postgresql://deniable:secret-71@/none?host={postgres.folder}",
        "postgresql://deniable:secret-71@127.0.0.1:1/none",
        "postgresql://deniable:secret-71@/none?what=1",
    ):
        with pytest.raises(StoreError) as caught:
            open_store(address)
        assert "secret-71" not in str(caught.value)
        assert "postgresql://" in str(caught.value)


def test_errors_quote_no_row(url: str) -> None:
    """PostgreSQL's own message about a refused row has the row in it; ours has not."""
    with closing(open_store(url)) as store:
        published = store.publish(SURVEY)
        impossible = report(id="0" * 12 + "4711")
        object.__setattr__(impossible, "answers", {"order": (2,), "dish": tuple(range(WIDTH))})
        with pytest.raises(StoreError, match="violates check constraint") as caught:
            store.add([(published, report()), (published, impossible)])
        assert str(0x4711) not in str(caught.value)
        assert store.count(published) == 0
        assert store.add([(published, report())]) == [Outcome.STORED]


def test_names_that_postgres_has_taken(url: str) -> None:
    """A question whose name every table has already is refused before anything is stored."""
    questions = [{"name": "xmin", "kind": "yes-no", "text": "?"}]
    with closing(open_store(url)) as store:
        with pytest.raises(StoreError, match=r"question 'xmin': .*rename"):
            store.publish(Survey.load(SOURCE | {"questions": questions}))
        assert store.surveys() == []
