"""What every store promises, whatever database is behind it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from deniable_analysis import read_reports
from deniable_protocol import Report, ReportError, StoreError, Survey
from deniable_protocol.bitmap import to_bitmap
from deniable_server.contract import Store
from deniable_server.life import Life, Limits, State, Status
from deniable_server.published import Outcome, Published

from .samples import (
    CHANGED,
    INVITED,
    OTHER,
    SAMPLED,
    SHOWN,
    SOURCE,
    SURVEY,
    WIDTH,
    body,
    other_answers,
    report,
    token,
)


class Clock:
    """Tell the time that a test says it is."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class StoreContract:
    """Subclass it with a ``store`` fixture that sets ``address``, and two ways into its tables."""

    address: str
    every = 1
    """Each so-manyth bitmap is tried that no device can send; all that can be are tried anyway."""

    @pytest.fixture(autouse=True)
    def _clock(self) -> None:
        self.clock = Clock()

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        raise NotImplementedError

    def rows(self, store: Store, published: Published) -> set[tuple[object, ...]]:
        """Read a version's table."""
        raise NotImplementedError

    def try_rows(
        self, store: Store, published: Published, rows: Sequence[tuple[object, ...]]
    ) -> list[tuple[object, ...]]:
        """Write rows into a version's table past the store, and give those that it took."""
        raise NotImplementedError

    def test_publishing_twice_changes_nothing(self, store: Store) -> None:
        """A survey is published once, however often it is asked for."""
        first = store.publish(SURVEY)
        assert (first.survey, first.version) == (SURVEY, 1)
        assert store.publish(Survey.load(SOURCE)) == first
        assert store.open_surveys() == [first]

    def test_versions(self, store: Store) -> None:
        """A changed survey of the same name is the next version; each is found by its digest."""
        first, other, second = (store.publish(s) for s in (SURVEY, OTHER, CHANGED))
        assert [p.version for p in (first, other, second)] == [1, 1, 2]
        assert store.newest(SURVEY.name) == second
        assert store.find(SURVEY.digest) == first
        assert store.open_surveys() == [second, other]
        assert store.publish(SURVEY) == first
        assert store.newest(SURVEY.name) == second

    def test_unknown(self, store: Store) -> None:
        """What was not published is not found."""
        assert store.newest("canteen") is None
        assert store.find(SURVEY.digest) is None
        assert store.open_surveys() == []

    def test_rows(self, store: Store) -> None:
        """A row is the id, the index where one option is drawn, and a bitmap where several are."""
        published = store.publish(SURVEY)
        dish = [0, 3, 9, 10][: SURVEY["dish"].channel.subset]
        sent = report(id="7" + "f" * 15, answers={"order": [1], "dish": dish})
        assert store.add([(published, sent)]) == [Outcome.STORED]
        bitmap = bytes([sum(1 << j for j in dish if j < 8), sum(1 << j - 8 for j in dish if j > 7)])
        assert self.rows(store, published) == {(2**63 - 1, 1, bitmap)}

    def test_outcomes_in_order(self, store: Store) -> None:
        """The first report of an id stays; the same again and another are told apart."""
        published = store.publish(SURVEY)
        sent = body()
        first, second = (Report.parse(found, SURVEY) for found in (sent, other_answers(sent)))
        outcomes = store.add([(published, r) for r in (first, first, second, report())])
        expected = [Outcome.STORED, Outcome.SAME, Outcome.CONFLICT, Outcome.STORED]
        assert outcomes == expected
        assert store.add([(published, second), (published, first)]) == [
            Outcome.CONFLICT,
            Outcome.SAME,
        ]
        assert store.count(published) == len(self.rows(store, published)) == 2

    def test_ids_are_per_version(self, store: Store) -> None:
        """Two surveys may hold the same id."""
        entries = [
            (store.publish(survey), report(survey, id="0" * 16))
            for survey in (SURVEY, CHANGED, OTHER)
        ]
        assert store.add(entries) == [Outcome.STORED] * 3

    def test_nothing_to_add(self, store: Store) -> None:
        """Adding no reports gives no outcomes."""
        assert store.add([]) == []

    def test_schema_refuses_every_impossible_answer(self, store: Store) -> None:
        """Of all bitmaps of two bytes, the table takes exactly those of the right size and range.

        And whatever else the protocol refuses, the table refuses too.
        """
        published = store.publish(SURVEY)
        possible = [to_bitmap(subset, 11) for subset in itertools.combinations(range(11), WIDTH)]
        numbers = {int.from_bytes(each, "little") for each in possible}
        numbers |= set(range(0, 2**16, self.every))
        taken = self.try_rows(
            store, published, [(n, n % 2, n.to_bytes(2, "little")) for n in numbers]
        )
        assert sorted(bitmap for _, _, bitmap in taken) == sorted(possible)  # type: ignore[type-var]
        good = possible[0]
        refused: list[tuple[object, ...]] = [
            (-1, 0, good), (70000, 2, good), (70000, -1, good), (70000, None, good),
            (70000, 0, None), (70000, 0, good + b"\0"), (70000, 0, good[:1]), (70000, 0, b""),
        ]  # fmt: skip
        assert self.try_rows(store, published, refused) == []

    def test_schema_takes_what_the_protocol_takes(self, store: Store) -> None:
        """With sampled questions, sampled boxes and arms: every row is a report or is refused."""
        published = store.publish(SAMPLED)
        names = [item.name for item in SAMPLED.items]
        assert names == ["paid", "ate.1", "ate.2", "ate.3", "drank"]
        reports, others = [], []
        for key, row in enumerate(itertools.product(("a", "c", None), *[(None, 0, 1)] * 5)):
            arm, *drawn = row
            sent = {n: [i] for n, i in zip(names, drawn, strict=True) if i is not None}
            found = {"survey": SAMPLED.digest, "id": f"{key:016x}", "answers": sent, "arm": arm}
            try:
                reports.append(Report.parse(found, SAMPLED))
            except ReportError:
                others.append((key, *row))
        # Two of three questions: both plain ones, or one of them and two of three boxes.
        assert len(reports) == 4 + 2 * 2 * 3 * 4
        assert self.try_rows(store, published, others) == []
        for outcome in (Outcome.STORED, Outcome.SAME):
            found_outcomes = store.add([(published, report) for report in reports])
            assert found_outcomes == [outcome] * len(reports)
        assert [r for chunk in store.reports(published, chunk=7) for r in chunk] == reports

    def test_counters(self, store: Store) -> None:
        """Counters hold new reports by survey version and day, and no repeated one."""
        first, second = store.publish(SURVEY), store.publish(OTHER)
        sent = report()
        store.add([(first, sent), (first, sent), (second, report(OTHER))])
        self.clock.now = datetime(2026, 3, 2, 0, 0, tzinfo=UTC)
        store.add([(first, sent), (first, report()), (first, report())])
        assert store.days(first) == {"2026-03-01": 1, "2026-03-02": 2}
        assert store.days(second) == {"2026-03-01": 1}

    def test_reports_in_the_order_of_their_ids(self, store: Store) -> None:
        """Reading gives every report once, ordered by id and by nothing else."""
        published = store.publish(SURVEY)
        assert list(store.reports(published)) == []
        sent = [report() for _ in range(23)]
        store.add([(published, each) for each in sent])
        chunks = list(store.reports(published, chunk=5))
        assert [len(chunk) for chunk in chunks] == [5, 5, 5, 5, 3]
        found = [each for chunk in chunks for each in chunk]
        assert found == sorted(sent, key=lambda each: each.id)

    def test_opens_and_closes_by_date(self, store: Store) -> None:
        """Reports are taken from the first moment to the last, and a stored one always counts."""
        limits = Limits(datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))
        published = store.publish(SURVEY, limits)
        assert store.life(published) == Life(State.OPEN, limits)
        kept = report()
        for day, status, outcome in [
            (1, Status.NOT_YET, Outcome.CLOSED),
            (2, Status.OPEN, Outcome.STORED),
            (3, Status.OPEN, Outcome.SAME),
            (4, Status.OVER, Outcome.SAME),
        ]:
            self.clock.now = datetime(2026, 3, day, tzinfo=UTC)
            assert store.status(published) is status
            assert store.open_surveys() == ([published] if status is Status.OPEN else [])
            assert store.add([(published, kept)]) == [outcome]
        assert store.add([(published, report())]) == [Outcome.CLOSED]
        assert store.publish(SURVEY) == published
        assert store.status(published) is Status.OVER
        store.publish(SURVEY, Limits())
        assert store.add([(published, report())]) == [Outcome.STORED]

    def test_target(self, store: Store) -> None:
        """A full survey takes no more, whether reports come one by one or many at once."""
        published = store.publish(SURVEY, Limits(target=5))
        first = [report() for _ in range(3)]
        assert store.add([(published, each) for each in first]) == [Outcome.STORED] * 3
        more = [first[0], report(), first[1], report(), report()]
        assert store.add([(published, each) for each in more]) == [
            Outcome.SAME, Outcome.STORED, Outcome.SAME, Outcome.STORED, Outcome.CLOSED,
        ]  # fmt: skip
        assert store.status(published) is Status.FULL
        assert store.add([(published, report())]) == [Outcome.CLOSED]
        assert store.add([(published, report())], although_closed=True) == [Outcome.STORED]

    def test_close_and_reopen(self, store: Store) -> None:
        """A closed survey takes nothing new, acknowledges what it has, and can be opened again."""
        published = store.publish(SURVEY)
        sent = body()
        kept = Report.parse(sent, SURVEY)
        store.add([(published, kept), (published, report())])
        before = self.rows(store, published)
        store.close_survey(published)
        assert store.status(published) is Status.CLOSED
        other = Report.parse(other_answers(sent), SURVEY)
        assert store.add([(published, each) for each in (kept, other, report())]) == [
            Outcome.SAME, Outcome.CONFLICT, Outcome.CLOSED,
        ]  # fmt: skip
        assert self.rows(store, published) == before
        assert store.publish(SURVEY) == published
        assert store.status(published) is Status.CLOSED, "publishing again does not open it"
        store.reopen_survey(published)
        assert store.add([(published, report())]) == [Outcome.STORED]

    def test_closing_one_version_leaves_the_other(self, store: Store) -> None:
        """Versions are open or closed each for itself."""
        first, second = store.publish(SURVEY), store.publish(CHANGED)
        store.close_survey(second)
        assert store.surveys(SURVEY.name) == [first, second]
        assert store.open_surveys() == [], "the newest version is closed"
        assert store.add([(first, report()), (second, report(CHANGED))]) == [
            Outcome.STORED, Outcome.CLOSED,
        ]  # fmt: skip

    def test_erase(self, store: Store) -> None:
        """An erased survey has no reports, takes none back, and cannot be published again."""
        published, other = store.publish(SURVEY), store.publish(CHANGED)
        kept = report()
        store.add([(published, kept), (published, report()), (other, report(CHANGED))])
        assert store.erase_survey(published) == 2
        assert store.status(published) is Status.ERASED
        assert (store.count(published), store.count(other)) == (0, 1)
        assert (store.days(published), list(store.reports(published))) == ({}, [])
        assert store.add([(published, kept)]) == [Outcome.ERASED]
        assert store.add([(published, kept)], although_closed=True) == [Outcome.ERASED]
        assert store.find(SURVEY.digest) == published
        for refused in (store.publish, lambda _: store.reopen_survey(published)):
            with pytest.raises(StoreError, match="was erased"):
                refused(SURVEY)
        assert store.erase_survey(published) == 0, "erasing again is harmless"

    def test_researchers_read_it(self, store: Store) -> None:
        """Analysis reads one version at a time, and an erased one as having no reports."""
        first, second = store.publish(SURVEY), store.publish(CHANGED)
        store.add([(first, report()), (first, report()), (second, report(CHANGED))])
        found = {key: read_reports(self.address, key) for key in ("canteen-2026@1", "canteen-2026")}
        assert [each.n for each in found.values()] == [2, 1]
        assert "2 in version 1" in str(found["canteen-2026"].note)
        store.erase_survey(first)
        assert read_reports(self.address, "canteen-2026").note is None

    def test_decisions_wait_for_reports(self, store: Store) -> None:
        """Once a survey is closed, nothing is added by a request that had begun before."""
        published = store.publish(SURVEY)
        done = threading.Event()

        def keep_adding() -> list[Outcome]:
            found = []
            while not done.is_set():
                found += store.add([(published, report())])
            return found

        with ThreadPoolExecutor(4) as pool:
            adding = [pool.submit(keep_adding) for _ in range(4)]
            while store.count(published) < 20:
                pass
            store.close_survey(published)
            held = store.count(published)
            done.set()
            outcomes = [outcome for each in adding for outcome in each.result()]
        assert outcomes.count(Outcome.STORED) == held == store.count(published)

    def test_many_at_once(self, store: Store) -> None:
        """Batches that overlap in any order: every id is stored once, and nobody waits for ever."""
        published = store.publish(SURVEY)
        sent = [report() for _ in range(60)]
        batches = [sent, sent[::-1], sent[30:] + sent[:30], sent[::2] + sent[1::2]]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda b: store.add([(published, r) for r in b]), batches))
        outcomes = [outcome for each in found for outcome in each]
        assert outcomes.count(Outcome.STORED) == 60
        assert outcomes.count(Outcome.SAME) == 180
        assert sum(store.days(published).values()) == store.count(published) == 60

    def test_a_token_is_spent_once(self, store: Store) -> None:
        """Of many reports with one token one is stored; sending that one again stays harmless."""
        published, one = store.publish(INVITED), token()
        sent = [report(INVITED, token=one) for _ in range(20)]
        with ThreadPoolExecutor(20) as pool:
            found = list(pool.map(lambda each: store.add([(published, each)])[0], sent))
        assert sorted(o.value for o in found) == ["spent"] * 19 + ["stored"]
        assert store.count(published) == 1
        first = sent[found.index(Outcome.STORED)]
        assert store.add([(published, first)]) == [Outcome.SAME]
        assert store.add([(published, report(INVITED, token=token()))]) == [Outcome.STORED]
        assert len(store.spent()) == 2
        assert all(len(hash_) == 32 for hash_ in store.spent())
        assert sum(store.days(published).values()) == 2

    def test_a_token_is_not_spent_in_vain(self, store: Store) -> None:
        """A report that is not taken leaves its token for another time."""
        published, sent = store.publish(INVITED), report(INVITED, token=token())
        store.close_survey(published)
        assert store.add([(published, sent)]) == [Outcome.CLOSED]
        assert store.spent() == []
        store.reopen_survey(published)
        assert store.add([(published, sent), (published, sent)]) == [Outcome.STORED, Outcome.SAME]
        (stored,) = next(store.reports(published))
        assert stored.token is None
        assert stored.answers == sent.answers

    def test_a_spent_token_takes_no_place(self, store: Store) -> None:
        """The last place of a survey goes to a good report, whatever came in the same commit."""
        published, one = store.publish(INVITED, Limits(target=2)), token()
        assert store.add([(published, report(INVITED, token=one))]) == [Outcome.STORED]
        again, good, late = (report(INVITED, token=each) for each in (one, token(), token()))
        found = store.add([(published, each) for each in (again, again, good, late)])
        assert [o.value for o in found] == ["spent", "spent", "stored", "closed"]
        assert store.count(published) == sum(store.days(published).values()) == 2

    def test_tokens_of_elsewhere(self, store: Store) -> None:
        """What was used in a store that is merged into this one is used here too."""
        published, sent = store.publish(INVITED), report(INVITED, token=token())
        assert sent.token is not None
        store.adopt_spent([sent.token.spent] * 2)
        store.adopt_spent([sent.token.spent])
        assert store.add([(published, sent)]) == [Outcome.SPENT]
        assert store.count(published) == 0

    def test_results_are_drawn_rarely(self, store: Store) -> None:
        """A page stays until so many more reports are there, whoever else draws one."""
        published = store.publish(SHOWN)
        assert store.results(published) is None
        for reports, shown in ((19, None), (25, 25), (30, 25), (34, 25), (35, 35), (20, 35)):
            store.keep_results(published, reports, f"page {reports}")
            assert store.results(published) == (shown and (shown, f"page {shown}"))
        store.erase_survey(published)
        assert store.results(published) is None
