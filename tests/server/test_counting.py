"""The counting statement: SQLite, PostgreSQL and DuckDB count what the reports say, one by one."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from deniable_analysis import estimate, read_reports
from deniable_protocol import EstimateError, Report, Survey, SurveyError
from deniable_protocol.counting import COLUMNS, DIALECTS, counting_query
from deniable_server.contract import Store
from deniable_server.copies_cli import export
from deniable_server.counts_cli import counts
from deniable_server.opening import open_store
from deniable_server.published import Published

from .postgres import Postgres
from .samples import SAMPLED, SOURCE

WIDE = Survey.load(
    SOURCE
    | {
        "name": "wide-1",
        "arms": ["north", "south"],
        "questions": [
            {"name": "order", "kind": "yes-no", "text": "Did you pay?"},
            {"name": "dish", "kind": "choice", "text": "Which?",
             "options": [f"dish {n}" for n in range(21)]},
            {"name": "ate", "kind": "multiple", "text": "Ate?", "options": ["x", "y"]},
        ],
    }
)  # fmt: skip


def drawn(survey: Survey, count: int, seed: int = 1) -> list[Report]:
    """Make reports that are any reports: what is counted need not be likely."""
    rng = random.Random(seed)  # not noise: only something to count
    reports = []
    for number in range(count):
        answers = {
            item.name: sorted(rng.sample(range(item.channel.options), item.channel.subset))
            for item in survey.items
        }
        if survey is SAMPLED:
            answers = {"paid": answers["paid"], "drank": answers["drank"]}
        found = {"survey": survey.digest, "id": f"{number:016x}", "answers": answers}
        arm = {"arm": rng.choice(survey.arms)} if survey.arms else {}
        reports.append(Report.parse(found | arm, survey))
    return reports


def by_hand(reports: list[Report]) -> set[tuple[str, int, int]]:
    found = Counter(
        (name, option) for report in reports for name, subset in report.answers.items()
        for option in subset
    )  # fmt: skip
    return {(name, option, count) for (name, option), count in found.items()}


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "survey.db")
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.new_database()


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    with closing(open_store(address)) as found:
        yield found


def filled(store: Store, survey: Survey, reports: list[Report]) -> Published:
    published = store.publish(survey)
    store.add([(published, report) for report in reports])
    return published


@pytest.mark.parametrize("survey", [WIDE, SAMPLED], ids=["wide", "sampled"])
def test_stores_count(store: Store, survey: Survey) -> None:
    """Both databases count as the reports do, in all arms and in one."""
    reports = drawn(survey, 300)
    published = filled(store, survey, reports)
    assert set(store.counts(published)) == by_hand(reports)
    arm = survey.arms[0]
    assert set(store.counts(published, arm)) == by_hand([r for r in reports if r.arm == arm])
    with pytest.raises(SurveyError, match="no arm 'east'"):
        store.counts(published, "east")


def test_more_options_and_items_than_a_union_has_terms(store: Store) -> None:
    """SQLite takes 500 terms in one union; a survey may have 998 options, and more boxes."""
    options = [f"option {n}" for n in range(998)]
    boxes = [f"box {n}" for n in range(90)]
    questions = [{"name": "one", "kind": "choice", "text": "One?", "options": options}]
    questions += [
        {"name": f"many_{n}", "kind": "multiple", "text": f"Many {n}?", "options": boxes}
        for n in range(5)
    ]
    large = Survey.load(
        {"name": "large", "title": "L", "privacy": {"epsilon": 60}, "questions": questions}
    )
    assert large["one"].channel.subset == 1
    wide = Survey.load(SOURCE | {"name": "wide-2", "questions": questions[:1]})
    assert wide["one"].channel.subset > 1
    for survey in (large, wide):
        reports = drawn(survey, 20)
        published = filled(store, survey, reports)
        assert set(store.counts(published)) == by_hand(reports)


def test_from_counts_to_estimates(store: Store, address: str, tmp_path: Path) -> None:
    """Counts, a file of counts, a Parquet file and the database itself: the same estimates."""
    published = filled(store, WIDE, drawn(WIDE, 300))
    printed = CliRunner().invoke(counts, ["wide-1", "--database", address]).output
    assert tuple(next(csv.reader(io.StringIO(printed)))) == COLUMNS
    (tmp_path / "counts.csv").write_text(printed)
    parquet = tmp_path / "reports.parquet"
    words = ["wide-1", "--database", address, "--output", str(parquet)]
    done = CliRunner().invoke(export, words)
    assert done.exit_code == 0, done.output
    found = [
        read_reports(address, "wide-1"),
        read_reports(counts=store.counts(published), survey=WIDE),
        read_reports(tmp_path / "counts.csv", WIDE),
        read_reports(parquet, WIDE),
    ]
    for item in WIDE.items:
        tallies = [each[item.name].counts.tolist() for each in found]
        assert tallies == [tallies[0]] * 4
    shares = [str(estimate(each, "order")) for each in found]
    assert shares == [shares[0]] * 4


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_statement(dialect: str, tmp_path: Path) -> None:
    """The verb prints what the engine is to run; DuckDB runs its own."""
    database = str(tmp_path / "survey.db")
    with closing(open_store(database)) as store:
        reports = drawn(WIDE, 50)
        filled(store, WIDE, reports)
    printed = (
        CliRunner()
        .invoke(
            counts,
            ["wide-1", "--database", database, "--sql", "--dialect", dialect, "--table", "t"],
        )
        .output
    )
    assert printed.count("SELECT '") == len(WIDE.items)
    if dialect == "duckdb":
        with duckdb.connect() as engine:
            engine.execute('CREATE TABLE t (id BIGINT, "order" INTEGER, dish BLOB, '
                           '"ate.1" INTEGER, "ate.2" INTEGER)')  # fmt: skip
            for report in reports:
                bits = sum(1 << option for option in report.answers["dish"])
                engine.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", (
                    report.key, report.answers["order"][0], bits.to_bytes(3, "little"),
                    report.answers["ate.1"][0], report.answers["ate.2"][0],
                ))  # fmt: skip
            assert set(engine.execute(printed).fetchall()) == by_hand(reports)
            # Counting the other half of each byte, or from the highest bit, is caught.
            for wrong in (
                printed.replace(", 1, '", ", 9, '"),
                printed.replace("13579BDF", "2367ABEF"),
            ):
                assert set(engine.execute(wrong).fetchall()) != by_hand(reports)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("order", 2, 5)], "no option 2 of item 'order'"),
        ([("other", 0, 5)], "no option 0 of item 'other'"),
        ([("order", 0, -1)], "number of reports"),
        ([("order", 0)], "expected rows of item, option_index, reports"),
        ([("order", "x", 5)], "expected rows of"),
        ([("dish", 0, 5)], "dish"),
    ],
)
def test_counts_that_are_none(rows: list[tuple[object, ...]], said: str) -> None:
    """What the survey cannot have given is refused by item."""
    with pytest.raises(EstimateError, match=said):
        read_reports(counts=rows, survey=WIDE)


def test_a_parquet_file_of_another_survey(tmp_path: Path) -> None:
    """A file says which survey it is of, and is not read for another."""
    file = tmp_path / "x.parquet"
    with duckdb.connect() as engine:
        engine.execute(f"COPY (SELECT 1 AS id, 0 AS \"order\") TO '{file}' (FORMAT parquet)")
    with pytest.raises(EstimateError, match="got no survey that it names"):
        read_reports(file, WIDE)
    file.write_bytes(b"PAR1 nonsense")
    with pytest.raises(EstimateError, match=r"cannot read x\.parquet"):
        read_reports(file, WIDE)
    with pytest.raises(EstimateError, match="not both"):
        read_reports({"order": [1, 2]}, WIDE, counts=[])


def test_query_holds_names_alone() -> None:
    """Every item is in the statement once."""
    query = counting_query(WIDE, "t")
    assert all(query.count(f"SELECT '{item.name}'") == 1 for item in WIDE.items)
