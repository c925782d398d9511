"""Several databases become one: reports once, decisions, days, results and used invitations."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable_protocol import Report, Survey
from deniable_protocol.cli import main
from deniable_server import ReportStore
from deniable_server.contract import Store
from deniable_server.life import State, Status
from deniable_server.merging import merge
from deniable_server.opening import open_store
from deniable_server.published import Outcome

from .samples import CHANGED, INVITED, SHOWN, SURVEY, body, other_answers, report, token
from .verbs import Run, fill, stored, typed_for


@pytest.fixture
def node(tmp_path: Path) -> str:
    """Give the file of another node."""
    return str(tmp_path / "node.db")


def on_day(path: str, day: int, reports: list[Report], survey: Survey = SURVEY) -> None:
    """Store reports as an intake did on a day of March."""
    with closing(ReportStore(path, lambda: datetime(2026, 3, day, tzinfo=UTC))) as store:
        published = store.publish(survey)
        assert store.add([(published, each) for each in reports]) == [Outcome.STORED] * len(reports)


def days(store: Store) -> dict[str, int]:
    return store.days(store.surveys()[0])


def test_merge(deniable: Run, database: str, tmp_path: Path) -> None:
    """Nodes are put together: the same report once, conflicts by id, versions by their digest."""
    other = str(tmp_path / "b.db")
    both, ours, theirs = body(), report(), [report(), report()]
    clash = other_answers(both) | {"id": "0" * 15 + "1"}
    fill(database, SURVEY, [Report.parse(both, SURVEY), ours, report(id="0" * 15 + "1")])
    fill(other, CHANGED, [report(CHANGED)])  # the first version there, the second here
    fill(other, SURVEY, [Report.parse(each, SURVEY) for each in (both, clash)] + theirs)
    found = deniable("merge", database, other, status=1)
    assert "canteen-2026@1, here canteen-2026@2: 1 reports stored" in found.stdout
    assert "canteen-2026@2, here canteen-2026@1: 2 reports stored, 1 were there already, 1 in" in (
        found.stdout
    )
    assert found.stderr == "  conflict: 0000000000000001\n"
    merged = stored(database)
    assert len(merged["canteen-2026@1"]) == 5
    assert len(merged["canteen-2026@2"]) == 1
    again = deniable("merge", database, other, status=1).stdout
    assert again.count(" 0 reports stored") == 2
    assert stored(database) == merged
    assert "into itself" in deniable("merge", other, other, status=1).output
    with closing(open_store(database)) as store:
        for published in store.surveys():
            assert sum(store.days(published).values()) == store.count(published)


def test_merge_makes_a_new_file(tmp_path: Path) -> None:
    """The first merge of two nodes into a file that is not there yet is the same as copying."""
    sources = [str(tmp_path / name) for name in ("a.db", "b.db")]
    for source in sources:
        fill(source, SURVEY, [report() for _ in range(5)])
    target = tmp_path / "all.db"
    found = CliRunner().invoke(main, ["merge", str(target), *sources])
    assert found.exit_code == 0
    assert len(stored(str(target))["canteen-2026@1"]) == 10
    with closing(sqlite3.connect(target)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_refused_source_leaves_no_file(tmp_path: Path, node: str) -> None:
    """One that is missing, of another program, damaged or of a later version: nothing is begun."""
    fill(node, SURVEY, [report()])
    bad = {name: tmp_path / name for name in ("none.db", "other.db", "broken.db", "later.db")}
    with closing(sqlite3.connect(bad["other.db"])) as db, db:
        db.execute("CREATE TABLE t (x)")
    bad["broken.db"].write_bytes(Path(node).read_bytes()[:5000])
    fill(str(bad["later.db"]), SURVEY, [])
    with closing(sqlite3.connect(bad["later.db"])) as db, db:
        db.execute("UPDATE surveys SET json = x'7b'")
    new = tmp_path / "new.db"
    before = sorted(tmp_path.iterdir())
    for name, path in bad.items():
        found = typed_for(str(new))("merge", new, node, path, status=1)
        assert name in found.output
        assert sorted(tmp_path.iterdir()) == before, name
    typed_for(str(new))("merge", new, node)
    assert len(stored(str(new))["canteen-2026@1"]) == 1


def test_days(database: str, node: str, tmp_path: Path) -> None:
    """A report is counted on the day on which it came in, however it reached the merged database.

    One that two nodes had counted is counted once, and one that comes in meanwhile today.
    """
    twice, late = [report(), report()], report()
    on_day(node, 1, [*twice, report()])
    on_day(node, 3, [report() for _ in range(4)])
    other = str(tmp_path / "other.db")
    on_day(other, 3, [*twice, report()])
    on_day(other, 4, [report()])
    with closing(open_store(database)) as into:
        for source, expected in (
            (node, {"2026-03-01": 3, "2026-03-03": 4}),
            (other, {"2026-03-01": 3, "2026-03-03": 5, "2026-03-04": 1}),
            (node, {"2026-03-01": 3, "2026-03-03": 5, "2026-03-04": 1}),
        ):
            with closing(open_store(source)) as store:
                merge(store, into)
            assert days(into) == expected
        on_day(node, 5, [report(), report()])  # the same node, some days later
        with closing(open_store(node)) as store:
            merge(store, into)
        assert days(into) == expected | {"2026-03-05": 2}
        published = into.surveys()[0]
        into.add([(published, late)])
        into.adopt_days(published, {"2026-03-01": 10})
        (today,) = set(days(into)) - {"2026-03-01"}
        assert days(into) == {"2026-03-01": 10, today: 2}
        assert into.count(published) == 12
        into.adopt_days(published, {"2026-03-01": 13})
        assert days(into) == {"2026-03-01": 10, today: 2}, "more than there are"


@pytest.mark.parametrize("known", [False, True])
def test_erased_anywhere_is_erased(
    deniable: Run, database: str, node: str, tmp_path: Path, known: bool
) -> None:
    """Whichever node erased a survey, and in whichever order: none of its reports is there."""
    kept = str(tmp_path / "kept.db")
    sent = [report(), report()]
    fill(node, SURVEY, sent)
    fill(kept, SURVEY, sent)
    if known:
        fill(database, SURVEY, sent)
    deniable("erase", "canteen-2026", "--yes", "--database", node)
    said = deniable("merge", database, node).stdout
    assert f"was erased there; {2 if known else 0} reports erased here too" in said
    said = deniable("merge", database, kept).stdout
    assert "was erased here; 2 reports left out" in said
    assert stored(database) == {"canteen-2026@1": []}
    with closing(open_store(database)) as store:
        (published,) = store.surveys()
        assert store.add([(published, sent[0])]) == [Outcome.ERASED]
        assert days(store) == {}


def test_closed_anywhere_is_closed(deniable: Run, database: str, node: str) -> None:
    """A survey that a later source had closed is closed, which is said; an open one opens none."""
    fill(database, SURVEY, [report()])
    fill(node, SURVEY, [report()])
    deniable("close", "canteen-2026", "--database", node)
    assert "0 in conflict; closed here too\n" in deniable("merge", database, node).stdout
    with closing(open_store(database)) as store:
        (published,) = store.surveys()
        assert (store.status(published), store.count(published)) == (Status.CLOSED, 2)
    deniable("reopen", "canteen-2026", "--database", node)
    assert "; closed" not in deniable("merge", database, node).stdout
    with closing(open_store(database)) as store:
        assert store.life(published).state is State.CLOSED


@pytest.mark.parametrize("known", [False, True])
def test_results_are_not_drawn_early(database: str, node: str, known: bool) -> None:
    """A page that everyone has seen stays the page, until as many reports came as it says."""
    published = fill(node, SHOWN, [report(SHOWN) for _ in range(28)])
    if known:
        fill(database, SHOWN, [report(SHOWN)])
    with closing(open_store(node)) as there, closing(open_store(database)) as here:
        there.keep_results(published, 25, "seen")
        merge(there, here)
        assert here.results(published) == (25, "seen")
        merge(there, here)
        assert here.results(published) == (25, "seen")


def test_invitations_used_in_both(deniable: Run, database: str, node: str) -> None:
    """An invitation that was used on two nodes is said, one whose report went to both is not."""
    retried = body(INVITED, token=token())
    again = token()
    for address in (database, node):
        mine = [body(INVITED, token=each) for each in (again, token())]
        fill(address, INVITED, [Report.parse(each, INVITED) for each in (retried, *mine)])
    found = deniable("merge", database, node)
    assert "2 reports stored, 1 were there already, 0 in conflict" in found.stdout
    assert "Note: invitations used both in" in found.stderr
    assert ": 2, of them with different reports: 1. " in found.stderr
    assert "may have answered twice" in found.stderr
    other = fill(database, SURVEY, [])
    with closing(open_store(database)) as store:
        assert len(store.spent()) == 4
        assert store.count(other) == 0


def test_nodes_without_a_common_invitation(deniable: Run, database: str, node: str) -> None:
    """Where a retry reached both nodes, nobody answered twice, and nothing is said."""
    retried = report(INVITED, token=token())
    fill(database, INVITED, [retried, report(INVITED, token=token())])
    fill(node, INVITED, [retried])
    assert deniable("merge", database, node).stderr == ""
