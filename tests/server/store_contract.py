"""What every store promises, whatever database is behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deniable_protocol import Report, Survey
from deniable_server.published import Outcome, Published
from deniable_server.store import ReportStore

from .samples import CHANGED, OTHER, SOURCE, SURVEY, body, other_answers, report


class StoreContract:
    """Subclass it with a ``store`` fixture; ``rows`` reads what a version's table holds."""

    @pytest.fixture
    def store(self) -> Iterator[ReportStore]:
        raise NotImplementedError

    def rows(self, store: ReportStore, published: Published) -> set[tuple[object, ...]]:
        raise NotImplementedError

    def test_publishing_twice_changes_nothing(self, store: ReportStore) -> None:
        """A survey is published once, however often it is asked for."""
        first = store.publish(SURVEY)
        assert (first.survey, first.version) == (SURVEY, 1)
        assert store.publish(Survey.load(SOURCE)) == first
        assert store.open_surveys() == [first]

    def test_versions(self, store: ReportStore) -> None:
        """A changed survey of the same name is the next version; each is found by its digest."""
        first, other, second = (store.publish(s) for s in (SURVEY, OTHER, CHANGED))
        assert [p.version for p in (first, other, second)] == [1, 1, 2]
        assert store.newest(SURVEY.name) == second
        assert store.find(SURVEY.digest) == first
        assert store.open_surveys() == [second, other]
        assert store.publish(SURVEY) == first
        assert store.newest(SURVEY.name) == second

    def test_unknown(self, store: ReportStore) -> None:
        """What was not published is not found."""
        assert store.newest("canteen") is None
        assert store.find(SURVEY.digest) is None
        assert store.open_surveys() == []

    def test_rows(self, store: ReportStore) -> None:
        """A row is the id, the index where one option is drawn, and a bitmap where several are."""
        published = store.publish(SURVEY)
        dish = [0, 3, 9, 10][: SURVEY["dish"].channel.subset]
        sent = report(id="7" + "f" * 15, answers={"order": [1], "dish": dish})
        assert store.add([(published, sent)]) == [Outcome.STORED]
        bitmap = bytes([sum(1 << j for j in dish if j < 8), sum(1 << j - 8 for j in dish if j > 7)])
        assert self.rows(store, published) == {(2**63 - 1, 1, bitmap)}

    def test_outcomes_in_order(self, store: ReportStore) -> None:
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

    def test_ids_are_per_version(self, store: ReportStore) -> None:
        """Two surveys may hold the same id."""
        entries = [
            (store.publish(survey), report(survey, id="0" * 16))
            for survey in (SURVEY, CHANGED, OTHER)
        ]
        assert store.add(entries) == [Outcome.STORED] * 3

    def test_nothing_to_add(self, store: ReportStore) -> None:
        """Adding no reports gives no outcomes."""
        assert store.add([]) == []
