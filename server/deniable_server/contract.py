"""What every store does, in the SQL that SQLite and PostgreSQL have in common.

``deniable_protocol.layout`` says where reports are. Beside them there are more tables:

``counters``
    How many reports of a survey version (``digest``) came in on a ``day`` (UTC), so that an
    operator sees a survey fill.
``life``
    What the operator decided about a survey version: its ``state``, when it ``opens`` and
    ``closes``, and the ``target`` number of reports at which it is full.
``spent``
    Hashes of the tokens with which invited people answered, of all surveys together.
``results``
    The page of results that everyone may see, and from how many ``reports`` it was drawn.

Nothing links a report to a day, an address, a browser or another report.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Final

from deniable_protocol import Report
from deniable_protocol.counting import Dialect, counting_query

from .catalogue import Catalogue, Session
from .life import State, Status
from .published import Entry, Outcome, Published, Row

_SPENT: Final = {"hash": "bytea"}


class Store(Catalogue):
    """Keep published surveys and their noisy reports. Threads may share a store."""

    _dialect: ClassVar[Dialect]
    _count_up: ClassVar[str]
    """Adds a number of reports to the counter of a digest and a day."""

    @abstractmethod
    def _adding(self, digests: Sequence[str]) -> AbstractContextManager[Session]:
        """Begin a transaction that stores reports of some surveys, and is on disk afterwards."""

    @abstractmethod
    def _wipe(self, ids: Sequence[int]) -> None:
        """Remove from the disk what was deleted, and check that *ids* are nowhere."""

    @abstractmethod
    def try_storing(self) -> None:
        """Do what storing a report needs, without one, and take it back.

        Raises:
            NotReadyError: If a report could not be stored now.
        """

    @abstractmethod
    def _alone(self, session: Session, digest: str) -> None:
        """Wait until nobody else stores reports of a survey, and keep it so: for its target."""

    def add(self, entries: Sequence[Entry], *, although_closed: bool = False) -> list[Outcome]:
        """Store reports in one transaction that is on disk when this returns.

        Args:
            entries: Reports, each with the survey it was made for.
            although_closed: Whether an operator brings them, who may also add to a closed survey.

        Returns:
            One outcome for each report, in order.

        Raises:
            StoreError: If the disk or the database failed; then none of the reports is stored.
        """
        if not entries:
            return []
        by_survey: dict[str, list[int]] = {}
        for place, (published, _) in enumerate(entries):
            by_survey.setdefault(published.survey.digest, []).append(place)
        outcomes = [Outcome.CLOSED] * len(entries)
        with self._adding(sorted(by_survey)) as session:
            for _, places in sorted(by_survey.items()):
                reports = [entries[place][1] for place in places]
                published = entries[places[0]][0]
                found = self._add(session, published, reports, although_closed)
                for place, outcome in zip(places, found, strict=True):
                    outcomes[place] = outcome
        return outcomes

    def _add(
        self, session: Session, published: Published, reports: list[Report], although_closed: bool
    ) -> list[Outcome]:
        digest, now = published.survey.digest, self._clock()
        life = self._life(session, digest)
        if life.state is State.ERASED:
            return [Outcome.ERASED] * len(reports)
        target = None if although_closed else life.limits.target
        if target is not None:
            self._alone(session, digest)
        held = 0 if target is None else self._held(session, digest)
        open_now = although_closed or life.status(now, held) is Status.OPEN
        room = len(reports) if target is None else max(0, target - held)
        rows = [published.row(report) for report in reports]
        new, spent = self._insert(session, published, reports, rows, room if open_now else 0)
        outcomes = [
            Outcome.STORED if stored
            else Outcome.SPENT if row[0] in spent
            else self._compare(session, published, row)
            for stored, row in zip(new, rows, strict=True)
        ]  # fmt: skip
        if stored := outcomes.count(Outcome.STORED):
            session.execute(self._count_up, (digest, now.date().isoformat(), stored))
        return outcomes

    def _insert(
        self,
        session: Session,
        published: Published,
        reports: list[Report],
        rows: list[Row],
        room: int,
    ) -> tuple[list[bool], set[object]]:
        """Insert rows in the order of their ids, so that no two transactions wait for each other.

        Of equal ids the first stays. Where there is room for fewer, it goes to the first too.

        Returns:
            For each row whether it is stored, and the ids of those whose token was spent before.
        """
        new = [False] * len(rows)
        spent: set[object] = set()
        places = list(range(len(rows)))
        while places and room > 0:  # repeated only where some of the first were not stored
            now, places = places[:room], places[room:]
            now.sort(key=lambda place: rows[place][0] or 0)
            sent = [rows[place] for place in now]
            stored = session.insert(published.table, published.column_types, sent)
            for place, first in zip(now, stored, strict=True):
                new[place] = first
            for place in self._spend(session, published, {p: reports[p] for p in now if new[p]}):
                new[place] = False
                spent.add(rows[place][0])
            room -= sum(new[place] for place in now)
        return new, spent

    def _spend(self, session: Session, published: Published, new: Mapping[int, Report]) -> set[int]:
        """Spend the tokens of new reports, and take back each whose token was spent before."""
        tokens = sorted((r.token.spent, place) for place, r in new.items() if r.token is not None)
        fresh = session.insert("spent", _SPENT, [(hash_,) for hash_, _ in tokens]) if tokens else []
        again = {place for (_, place), first in zip(tokens, fresh, strict=True) if not first}
        for place in again:
            delete = f"DELETE FROM {published.table} WHERE id = ?"  # noqa: S608  # matched  # a matched name
            session.execute(delete, (new[place].key,))
        return again

    def spent(self) -> list[bytes]:
        """Give the hashes of all tokens that were used, sorted."""
        with self._looking() as session:
            rows = session.execute("SELECT hash FROM spent ORDER BY hash").fetchall()
        return [bytes(row[0]) for row in rows]

    def adopt_spent(self, hashes: Sequence[bytes]) -> int:
        """Take over which tokens were used elsewhere.

        Returns:
            How many of them were used here too.
        """
        with self._adding([]) as session:
            new = session.insert("spent", _SPENT, [(hash_,) for hash_ in hashes])
        return new.count(False)

    def results(self, published: Published) -> tuple[int, str] | None:
        """Give the page of results that everyone may see, and from how many reports it is."""
        query = "SELECT reports, page FROM results WHERE digest = ?"
        with self._looking() as session:
            row = session.execute(query, (published.survey.digest,)).fetchone()
        return None if row is None else (row[0], row[1])

    def keep_results(self, published: Published, reports: int, page: str) -> None:
        """Keep a page of results, unless another process has drawn one in the meantime."""
        digest, rule = published.survey.digest, published.survey.results
        with self._deciding(digest) as session:
            query = "SELECT reports FROM results WHERE digest = ?"
            row = session.execute(query, (digest,)).fetchone()
            if rule is not None and rule.due(reports, row and row[0]):
                session.execute("DELETE FROM results WHERE digest = ?", (digest,))
                session.execute("INSERT INTO results VALUES (?, ?, ?)", (digest, reports, page))

    def _compare(self, session: Session, published: Published, row: Row) -> Outcome:
        query = f"SELECT {published.columns} FROM {published.table} WHERE id = ?"  # noqa: S608  # matched
        held = session.execute(query, row[:1]).fetchone()
        if held is None:
            return Outcome.CLOSED
        return Outcome.SAME if tuple(held) == row else Outcome.CONFLICT

    def count(self, published: Published) -> int:
        """Count the reports of one survey version."""
        with self._looking() as session:
            query = f"SELECT count(*) FROM {published.table}"  # noqa: S608  # a matched name
            return int(session.execute(query).fetchone()[0])

    def counts(self, published: Published, arm: str | None = None) -> list[tuple[str, int, int]]:
        """Count, for every item and option, the reports that hold it; none are left out.

        Raises:
            SurveyError: If the survey has no such arm.
        """
        query = counting_query(published.survey, published.table, self._dialect, arm)
        with self._looking() as session:
            return [(row[0], row[1], row[2]) for row in session.execute(query).fetchall()]

    def reports(self, published: Published, *, chunk: int = 1000) -> Iterator[list[Report]]:
        """Read a survey's reports in the order of their ids, some at a time.

        A report that comes in meanwhile may be among them.
        """
        for rows in self.rows(published, chunk=chunk):
            yield [published.report(row) for row in rows]

    def rows(self, published: Published, *, chunk: int = 1000) -> Iterator[list[Row]]:
        """Read the rows of a survey's reports in the order of their ids, some at a time."""
        query = (
            f"SELECT {published.columns} FROM {published.table}"  # noqa: S608  # matched names
            " WHERE id > ? ORDER BY id LIMIT ?"
        )
        last = -1
        while True:
            with self._looking() as session:
                rows = [tuple(row) for row in session.execute(query, (last, chunk)).fetchall()]
            if not rows:
                return
            yield rows
            last = rows[-1][0]

    def days(self, published: Published) -> dict[str, int]:
        """Give the number of reports that came in on each day (UTC)."""
        query = "SELECT day, sum(reports) FROM counters WHERE digest = ? GROUP BY day ORDER BY day"
        with self._looking() as session:
            found = session.execute(query, (published.survey.digest,)).fetchall()
        return {day: int(reports) for day, reports in found}

    def adopt_days(self, published: Published, days: Mapping[str, int]) -> None:
        """Take over on which days reports came in elsewhere, after they were added here.

        Args:
            published: The survey version.
            days: Its counters, with those of the reports that were here before. Whatever else is
                counted came in meanwhile, and stays counted: today.
        """
        digest, today = published.survey.digest, self._clock().date().isoformat()
        with self._deciding(digest) as session:
            meanwhile = self._held(session, digest) - sum(days.values())
            if meanwhile < 0:  # somebody erased it
                return
            session.execute("DELETE FROM counters WHERE digest = ?", (digest,))
            for day, reports in (Counter(days) + Counter({today: meanwhile})).items():
                session.execute(self._count_up, (digest, day, reports))

    def erase_survey(self, published: Published) -> int:
        """Erase all reports of a survey version from the disk, for good.

        The published survey itself stays, so that its reports are known and refused should a
        device send one again.

        Returns:
            How many reports were erased.

        Raises:
            StoreError: If the disk still holds one of them. Erasing again is safe.
        """
        table, digest = published.table, published.survey.digest
        with self._deciding(digest) as session:
            count = int(session.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  # matched
            query = f"SELECT id FROM {table} ORDER BY id"  # noqa: S608  # a matched name
            ids = [row[0] for row in session.execute(f"{query} LIMIT 32").fetchall()]
            ids += [row[0] for row in session.execute(f"{query} DESC LIMIT 32").fetchall()]
            session.execute(f"DROP TABLE {table}")
            session.execute(self._create_table(published))  # an empty one: whoever reads finds it
            for beside in ("counters", "results"):
                session.execute(f"DELETE FROM {beside} WHERE digest = ?", (digest,))  # noqa: S608  # ours
            self._decide(session, published, State.ERASED)
        self._wipe(ids)
        return count
