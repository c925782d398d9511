"""Reports come back the same from every place they can be kept in, and versions stay apart."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing

import numpy as np
import pytest

from deniable_analysis import Reports, read_reports
from deniable_analysis.export import reports_to_csv
from deniable_protocol import EstimateError, Survey
from deniable_server import ReportStore

from .samples import EVERY_KIND, SAMPLED, SURVEY, gathered, some_reports

SURVEYS = [SURVEY, EVERY_KIND, SAMPLED]


def assert_same(found: Reports, expected: Reports) -> None:
    """Compare as sets of rows: a database gives them in the order of their random keys."""
    assert found.survey.digest == expected.survey.digest
    assert list(found.tallies) == list(expected.tallies)
    assert rows(found) == rows(expected)


def rows(reports: Reports) -> list[tuple[object, ...]]:
    columns = [tally.rows.tolist() for tally in reports.tallies.values()]
    if reports.arms is not None:
        columns.append([[int(arm)] for arm in reports.arms])
    return sorted(tuple(map(tuple, row)) for row in zip(*columns, strict=True))


def kept(path, survey, reports):
    """Keep reports in a database as the server does."""
    with closing(ReportStore(path)) as store:
        published = store.publish(survey)
        store.add([(published, report) for report in reports])
    return path


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.name)
def test_every_source(survey, tmp_path):
    """Database, JSON lines, CSV, rows of indices and reports all give the same rows."""
    reports = some_reports(80, survey=survey)
    expected = Reports.of_reports(survey, reports)
    database = kept(tmp_path / "reports.db", survey, reports)
    for wanted in (None, survey.name, f"{survey.name}@1", survey.digest, survey):
        assert_same(read_reports(database, wanted), expected)
    lines = tmp_path / "reports.jsonl"
    lines.write_bytes(b"\n".join(report.to_json() for report in reports) + b"\n\n")
    assert_same(read_reports(lines, survey), expected)
    table = tmp_path / "reports.csv"
    table.write_text(reports_to_csv(survey, reports), encoding="utf-8")
    assert_same(read_reports(str(table), survey), expected)
    assert_same(read_reports(iter(reports), survey), expected)
    arrays = {
        item.name: [r.answers.get(item.name, (-1,) * item.channel.subset) for r in reports]
        for item in survey.items
    }
    arms = [r.arm for r in reports] if survey.arms else None
    assert_same(Reports.of_subsets(survey, arrays, arms=arms), expected)
    counts = {name: tally.counts for name, tally in expected.tallies.items()}
    assert read_reports(counts, survey)["stolen" if survey is SURVEY else next(iter(counts))].n


def test_versions_are_never_mixed(tmp_path):
    """A name means its newest version, the others are pointed at and can be asked for."""
    changed = Survey.load(
        {
            "name": "canteen",
            "title": "The canteen again",
            "questions": [
                {"name": "stolen", "kind": "yes-no", "text": "Did you steal?", "truth": "4/5"}
            ],
        }
    )
    database = kept(tmp_path / "reports.db", SURVEY, some_reports(30))
    assert read_reports(database).note is None
    kept(database, changed, some_reports(10, survey=changed))
    found = read_reports(database, "canteen")
    assert (found.n, found.survey.digest) == (10, changed.digest)
    assert "30 in version 1 (to read: canteen@1)" in found.note
    assert read_reports(database, "canteen@1").n == 30
    assert read_reports(database, SURVEY.digest).n == 30
    mixed = tmp_path / "mixed.jsonl"
    both = [*some_reports(3), *some_reports(3, survey=changed)]
    mixed.write_bytes(b"\n".join(report.to_json() for report in both))
    with pytest.raises(EstimateError, match=r"mixed\.jsonl, line 4: .* another version"):
        read_reports(mixed, SURVEY)
    with pytest.raises(EstimateError, match="got one to sha256-"):
        read_reports(both, SURVEY)


def test_what_the_database_does_not_hold(tmp_path):
    """A survey that is not there, or a choice that was not made, is said by name."""
    database = kept(tmp_path / "reports.db", SURVEY, some_reports(3))
    kept(database, SAMPLED, [])
    with pytest.raises(EstimateError, match="2 surveys, so name one; it has canteen, sampled"):
        read_reports(database)
    with pytest.raises(EstimateError, match="no survey 'kanteen'"):
        read_reports(database, "kanteen")
    assert read_reports(database, "sampled").n == 0


def test_reading_only_reads(tmp_path):
    """Not a byte of the file changes."""
    database = kept(tmp_path / "reports.db", SURVEY, some_reports(20))
    before = database.read_bytes()
    read_reports(database)
    assert database.read_bytes() == before


def test_reading_where_nothing_may_be_written(tmp_path, monkeypatch):
    """A copy in a folder that cannot be written to is read as it is."""
    database = kept(tmp_path / "reports.db", SURVEY, some_reports(20))
    opened = []

    def connect(address, **options):
        opened.append(address)
        if not address.endswith("immutable=1"):  # SQLite cannot make its -shm file
            raise sqlite3.OperationalError("unable to open database file")
        return real(address, **options)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", connect)
    assert read_reports(database).n == 20
    assert len(opened) == 2
    (tmp_path / "reports.db-wal").touch()
    with pytest.raises(EstimateError, match="unable to open"):
        read_reports(database)


def test_a_newer_database_is_refused_in_words(tmp_path):
    """Tables of a later version may mean something else, so they are not read."""
    database = kept(tmp_path / "reports.db", SURVEY, some_reports(20))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " SELECT migration_set, 'm999_future', applied_at FROM _sqlite_migrations LIMIT 1"
        )
    with pytest.raises(EstimateError, match=r"newer version of deniable .*m999_future.*update"):
        read_reports(database)


def test_a_damaged_database_is_not_believed(tmp_path):
    """A row that no device can have sent is found even if a table without checks holds it."""
    database = kept(tmp_path / "reports.db", SURVEY, some_reports(20))
    for value in ("x'0F00'", "x'0700FF'", "x'07F8'"):
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute(f"UPDATE reports_canteen_1 SET dish = {value}")
        with pytest.raises(EstimateError, match="dish"):
            read_reports(database)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"survey": 1}', r"a\.jsonl, line 1: A report has the keys"),
        ("a.jsonl", b"\n\xff", r"a\.jsonl, line 2"),
        ("a.csv", b"id,stolen,dish\n0123456789abcdef,0,x\n", r"a\.csv, line 2"),
        ("a.csv", b"id,stolen,dish\n0123456789abcdef,0\n", r"a\.csv, line 2"),
        ("a.csv", b"id,stolen,dish\n\xff,0,1\n", r"a\.csv: it is not UTF-8"),
    ],
)
def test_broken_files(name, content, words, tmp_path):
    """A broken line is named by file and number."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EstimateError, match=words):
        read_reports(tmp_path / name, SURVEY)


def test_missing_files_and_surveys(tmp_path):
    """What is missing is named."""
    with pytest.raises(EstimateError, match="No such file"):
        read_reports(tmp_path / "none.db")
    (tmp_path / "a.jsonl").write_text("{}")
    with pytest.raises(EstimateError, match="needs the survey"):
        read_reports(tmp_path / "a.jsonl", "canteen")
    with pytest.raises(EstimateError, match="need the survey itself"):
        read_reports({"stolen": [1, 2]}, "canteen")


def test_postgres_without_its_driver(monkeypatch):
    """The message names the extra, and never the address, which may hold a password."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(EstimateError, match=r"deniable\[postgres\]") as caught:
        read_reports("postgresql://someone:secret@nowhere/db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"stolen": [1, 2, 3]}, "needs 2 counts"),
        ({"stolen": [1.0, 2.0]}, "whole numbers"),
        ({"stolen": [-1, 2]}, "at least 0"),
        ({"dish": [1] * 10}, "do not fit reports of 3 options"),
        ({"dish": [9, 0, 0, 0, 0, 0, 0, 0, 0, 0]}, "the largest is 9"),
        ({"stole": [1, 2]}, "got 'stole'"),
        ({}, "got none"),
    ],
)
def test_counts_that_cannot_be(counts, words):
    """Counts that no number of reports adds up to are refused."""
    with pytest.raises(EstimateError, match=words):
        read_reports(counts, SURVEY)


@pytest.mark.parametrize(
    ("rows_given", "words"),
    [
        ({"stolen": [0, 2]}, "from 0 to 1"),
        ({"stolen": [0.5, 1]}, "option indices"),
        ({"dish": [[0, 1], [2, 3]]}, "3 option indices"),
        ({"dish": [[0, 1, 1]]}, "3 different options"),
        ({"dish": [[0, 1, -1]]}, "3 different options"),
        ({"stolen": [0, 1], "dish": [[0, 1, 2]]}, "same order"),
    ],
)
def test_rows_that_cannot_be(rows_given, words):
    """Rows that no device can have sent are refused."""
    with pytest.raises(EstimateError, match=words):
        read_reports(rows_given, SURVEY, rows=True)


def test_two_reports_under_one_id():
    """A retry counts once; another report under the same id is an error."""
    first, second = some_reports(2)
    assert Reports.of_reports(SURVEY, [first, first]).n == 1
    other = type(second)(second.survey, first.id, second.answers)
    if other != first:
        with pytest.raises(EstimateError, match="two different reports"):
            Reports.of_reports(SURVEY, [first, other])
    assert np.array_equal(gathered(5)["dish"].indicators.sum(axis=1), [3] * 5)
