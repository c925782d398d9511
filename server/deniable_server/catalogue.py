"""Published surveys: their versions, and when each takes reports."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final, Protocol

from deniable_protocol import StoreError, Survey, SurveyError

from .life import Clock, Life, Limits, State, Status, read_moment, utc_now, written
from .published import Published, Row

_PUBLISHED: Final = "SELECT digest, name, version, json FROM surveys"
_ALL: Final = f"{_PUBLISHED} ORDER BY name, version"
_NEWEST: Final = f"{_PUBLISHED} WHERE name = ? ORDER BY version DESC LIMIT 1"
_LIFE: Final = "SELECT state, opens, closes, target FROM life WHERE digest = ?"
_HELD: Final = "SELECT coalesce(sum(reports), 0) FROM counters WHERE digest = ?"
_SurveyRow = tuple[str, str, int, bytes]
_REMEMBER_SECONDS: Final = 1.0
"""So long the newest version of a name is remembered; another process may publish one."""


class ErasedError(StoreError):
    """A survey version that was erased cannot be published again."""


class UnreadableError(StoreError):
    """A published survey that this version of deniable cannot read; others are not concerned.

    Attributes:
        survey: Its name.
        version: Its version.
    """

    def __init__(self, survey: str, version: int, database: str, why: str) -> None:
        self.survey, self.version = survey, version
        super().__init__(
            f"{survey}@{version} in {database} cannot be read ({why}); if a newer version of "
            "deniable published it, update deniable"
        )


class Session(Protocol):
    """A transaction: statements have ``?`` for values."""

    def execute(self, query: str, values: Sequence[object] = ()) -> Any:
        """Run a statement and give a cursor."""
        ...

    def insert(self, table: str, columns: Mapping[str, str], rows: Sequence[Row]) -> list[bool]:
        """Insert rows in order, and say which of them were new, by their first column.

        *columns* gives each its type in PostgreSQL. Names have been matched against patterns.
        """
        ...


class Catalogue(ABC):
    """Keep published surveys. Threads may share a store.

    Attributes:
        name: What to call the database in messages; holds no password.
    """

    def __init__(self, name: str, clock: Clock = utc_now) -> None:
        self.name, self._clock = name, clock
        self._published: dict[str, Published] = {}
        self._frozen: Session | None = None
        self._remembered: dict[str, tuple[float, Published]] = {}

    @abstractmethod
    def _deciding(self, digest: str) -> AbstractContextManager[Session]:
        """Begin a transaction about a survey, while nobody adds reports to it."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Session]:
        """Begin to read; what is read fits together."""

    @abstractmethod
    def _create_table(self, published: Published) -> str:
        """Write the statement that creates a survey version's own table."""

    @abstractmethod
    def _settle(self, session: Session, published: Published) -> None:
        """Make the database forget in which order a survey's reports came, where it still knows."""

    @abstractmethod
    def close(self, *, rewrite: bool = True) -> None:
        """Finish, and let go of the database.

        Args:
            rewrite: Whether to remove from the database's own bytes, as far as closing can, the
                order in which reports came. Whoever added none may leave it out.
        """

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Read everything as of one moment. For a store that only one thread uses."""
        with self._reading() as session:
            self._frozen = session
            try:
                yield
            finally:
                self._frozen = None

    def _looking(self) -> AbstractContextManager[Session]:
        return self._reading() if self._frozen is None else nullcontext(self._frozen)

    def publish(self, survey: Survey, limits: Limits | None = None) -> Published:
        """Open a survey for reports; one that was published before stays as it is.

        Another survey of the same name becomes its next version. Reports that devices made for the
        earlier version are still taken, each into the table of its own version.

        Args:
            survey: The survey.
            limits: When it takes reports; None leaves those of a known survey, and sets none for a
                new one.

        Raises:
            ErasedError: If this very survey was erased.
        """
        with self._deciding(survey.digest) as session:
            known = session.execute(f"{_PUBLISHED} WHERE digest = ?", (survey.digest,)).fetchone()
            published = Published(survey, known[2]) if known else self._add_survey(session, survey)
            if self._life(session, survey.digest).state is State.ERASED:
                raise ErasedError(
                    f"{survey.name} was erased from {self.name} and cannot come back, so that its "
                    "old reports cannot either; a survey with another title is a new one"
                )
            if limits is not None:
                session.execute(
                    "UPDATE life SET opens = ?, closes = ?, target = ? WHERE digest = ?",
                    (*_moments(limits), limits.target, survey.digest),
                )
        self._remembered.pop(survey.name, None)
        return published

    def _add_survey(self, session: Session, survey: Survey) -> Published:
        (latest,) = session.execute(
            "SELECT max(version) FROM surveys WHERE name = ?", (survey.name,)
        ).fetchone()
        published = Published(survey, (latest or 0) + 1)
        session.execute(
            "INSERT INTO surveys (digest, name, version, json) VALUES (?, ?, ?, ?)",
            (survey.digest, survey.name, published.version, survey.to_json()),
        )
        session.execute(
            "INSERT INTO life (digest, state) VALUES (?, ?)", (survey.digest, State.OPEN.value)
        )
        session.execute(self._create_table(published))
        return published

    def find(self, digest: str) -> Published | None:
        """Look up a published survey by its digest; None if there is none."""
        known = self._published.get(digest)  # never changes once published, so no lock
        return known or next(self._select(f"{_PUBLISHED} WHERE digest = ?", digest), None)

    def newest(self, name: str) -> Published | None:
        """Look up the newest survey of a name; None if there is none."""
        until, published = self._remembered.get(name, (0.0, None))
        if published is None or time.monotonic() > until:
            published = next(self._select(_NEWEST, name), None)
            if published is not None:
                self._remembered[name] = (time.monotonic() + _REMEMBER_SECONDS, published)
        return published

    def surveys(self, name: str | None = None) -> list[Published]:
        """List every version of every survey, or of those of one name, oldest first.

        Raises:
            UnreadableError: If one of them cannot be read: none is left out unsaid.
        """
        if name is None:
            return list(self._select(_ALL))
        return list(self._select(f"{_PUBLISHED} WHERE name = ? ORDER BY version", name))

    def readable_surveys(self) -> tuple[list[Published], list[UnreadableError]]:
        """List every version of every survey that can be read, and what is wrong with the others.

        For a server, which goes on with the others.
        """
        found: list[Published] = []
        unreadable: list[UnreadableError] = []
        for row in self._rows(_ALL):
            try:
                found.append(self._read(row))
            except UnreadableError as error:
                unreadable.append(error)
        return found, unreadable

    def newest_surveys(self) -> tuple[list[tuple[Published, Status]], list[UnreadableError]]:
        """List the newest version of every name with its status, and what cannot be read.

        Where the newest version cannot be read, an earlier one does not stand in for it.
        """
        found, unreadable = self.readable_surveys()
        newest = {published.survey.name: published for published in found}
        for error in unreadable:
            if error.survey in newest and newest[error.survey].version < error.version:
                del newest[error.survey]
        return [(each, self.status(each)) for each in newest.values()], unreadable

    def open_surveys(self) -> list[Published]:
        """List the newest survey of every name that takes reports now."""
        return [each for each, status in self.newest_surveys()[0] if status is Status.OPEN]

    def _select(self, query: str, *values: str) -> Iterator[Published]:
        return map(self._read, self._rows(query, *values))

    def _rows(self, query: str, *values: str) -> list[_SurveyRow]:
        with self._looking() as session:
            rows: list[_SurveyRow] = session.execute(query, values).fetchall()
        return rows

    def _read(self, row: _SurveyRow) -> Published:
        digest, name, version, json = row
        if digest not in self._published:
            try:
                survey = Survey.from_json(json)
            except SurveyError as error:
                raise UnreadableError(name, version, self.name, error.problems[0]) from None
            if (survey.digest, survey.name) != (digest, name):
                raise UnreadableError(name, version, self.name, "its digest names another survey")
            self._published[digest] = Published(survey, version)
        return self._published[digest]

    def life(self, published: Published) -> Life:
        """Tell what the operator decided about a survey version."""
        with self._looking() as session:
            return self._life(session, published.survey.digest)

    def status(self, published: Published) -> Status:
        """Tell whether a survey version takes reports now."""
        digest = published.survey.digest
        with self._looking() as session:
            life = self._life(session, digest)
            held = 0 if life.limits.target is None else self._held(session, digest)
        return life.status(self._clock(), held)

    def held(self, published: Published) -> int:
        """Tell how many reports of a survey version there are, by its counters: they are few."""
        with self._looking() as session:
            return self._held(session, published.survey.digest)

    def close_survey(self, published: Published) -> None:
        """Take no more reports of a survey version. One that is stored is still acknowledged."""
        with self._deciding(published.survey.digest) as session:
            self._refuse_erased(session, published)
            self._settle(session, published)
            self._decide(session, published, State.CLOSED)

    def reopen_survey(self, published: Published, limits: Limits | None = None) -> None:
        """Take reports of a survey version again, within new limits or, with None, the old ones."""
        with self._deciding(published.survey.digest) as session:
            self._refuse_erased(session, published)
            self._decide(session, published, State.OPEN)
        if limits is not None:
            self.publish(published.survey, limits)

    def _held(self, session: Session, digest: str) -> int:
        return int(session.execute(_HELD, (digest,)).fetchone()[0])

    def _refuse_erased(self, session: Session, published: Published) -> None:
        if self._life(session, published.survey.digest).state is State.ERASED:
            raise StoreError(f"{published.survey.name} {published.version} was erased")

    def _decide(self, session: Session, published: Published, state: State) -> None:
        session.execute(
            "UPDATE life SET state = ? WHERE digest = ?", (state.value, published.survey.digest)
        )

    def _life(self, session: Session, digest: str) -> Life:
        state, opens, closes, target = session.execute(_LIFE, (digest,)).fetchone()
        opens, closes = (None if text is None else read_moment(text) for text in (opens, closes))
        return Life(State(state), Limits(opens, closes, target))


def _moments(limits: Limits) -> tuple[str | None, str | None]:
    opens, closes = ((m and written(m)) or None for m in (limits.opens, limits.closes))
    return opens, closes
