"""Group commit: what waits together goes to disk together, and never more than may wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from deniable_protocol import StoreError
from deniable_server.published import Entry, Outcome, Published
from deniable_server.writer import GroupWriter

from .samples import SURVEY, report

PUBLISHED = Published(SURVEY, 1)


class Gate:
    """A sink that opens when it is told to, and remembers the groups that it got."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.entered, self.open = threading.Semaphore(0), threading.Event()
        self.error: Exception | None = None

    def add(self, entries: Sequence[Entry]) -> list[Outcome]:
        self.groups.append([sent.id for _, sent in entries])
        self.entered.release()
        assert self.open.wait(20)
        if self.error is not None:
            raise self.error
        return [Outcome.SAME if sent.id[0] == "0" else Outcome.STORED for _, sent in entries]


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


def entries(*ids: str) -> list[Entry]:
    return [(PUBLISHED, report(id=start.ljust(16, "a"))) for start in ids]


def wait_for(count: int, writer: GroupWriter) -> None:
    for _ in range(2000):
        with writer._lock:
            if len(writer._next.entries) == count:
                return
        threading.Event().wait(0.005)
    raise AssertionError("the reports did not queue up")


def test_one_commit_for_all_that_wait(gate: Gate) -> None:
    """Reports that arrive during a commit share the next; each caller gets its own outcomes."""
    with closing(GroupWriter(gate)) as writer, ThreadPoolExecutor(21) as pool:
        first = pool.submit(writer.submit, entries("1"))
        assert gate.entered.acquire(timeout=10)
        rest = [pool.submit(writer.submit, entries(f"{n % 2}{n:02}", "2")) for n in range(20)]
        wait_for(40, writer)
        gate.open.set()
        assert first.result() == [Outcome.STORED]
        for n, found in enumerate(rest):
            expected = Outcome.STORED if n % 2 else Outcome.SAME
            assert found.result() == [expected, Outcome.STORED]
    assert [len(group) for group in gate.groups] == [1, 40]


def test_full_queue(gate: Gate) -> None:
    """What does not fit is refused at once and never stored; what waits is stored."""
    with closing(GroupWriter(gate, capacity=3)) as writer, ThreadPoolExecutor(2) as pool:
        pool.submit(writer.submit, entries("1"))
        assert gate.entered.acquire(timeout=10)
        pool.submit(writer.submit, entries("2", "3"))
        wait_for(2, writer)
        with pytest.raises(StoreError, match="more than 3 reports wait"):
            writer.submit(entries("4", "5"))
        gate.open.set()
    assert [len(group) for group in gate.groups] == [1, 2]


def test_patience(gate: Gate) -> None:
    """A caller does not wait for a stuck disk for ever; its report may still be stored."""
    with closing(GroupWriter(gate, patience=0.05)) as writer:
        with pytest.raises(StoreError, match=r"more than 0\.05 seconds"):
            writer.submit(entries("1"))
        gate.open.set()


@pytest.mark.parametrize("error", [StoreError("disk full"), ZeroDivisionError("a mistake")])
def test_failure_reaches_every_caller_and_passes(gate: Gate, error: Exception) -> None:
    """All callers of a failed commit learn of it, and the writer goes on, whatever failed."""
    gate.error = error
    with closing(GroupWriter(gate)) as writer, ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(writer.submit, entries(str(n))) for n in range(1, 4)]
        assert gate.entered.acquire(timeout=10)
        gate.open.set()
        assert all(isinstance(found.exception(10), type(error)) for found in waiting)
        gate.error = None
        assert writer.submit(entries("4")) == [Outcome.STORED]


def test_closing_stores_what_waits(gate: Gate) -> None:
    """A writer that is closed finishes first, and takes nothing more."""
    writer = GroupWriter(gate)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(writer.submit, entries("1"))]
        assert gate.entered.acquire(timeout=10)
        waiting.append(pool.submit(writer.submit, entries("2")))
        wait_for(1, writer)
        closed = pool.submit(writer.close)
        gate.open.set()
        closed.result()
        assert [found.result() for found in waiting] == [[Outcome.STORED]] * 2
    with pytest.raises(StoreError, match="stopping"):
        writer.submit(entries("3"))
    assert len(gate.groups) == 2


def test_nothing_to_store(gate: Gate) -> None:
    """An empty request costs no commit."""
    with closing(GroupWriter(gate)) as writer:
        assert writer.submit([]) == []
    assert gate.groups == []


def test_several_threads(gate: Gate) -> None:
    """With three threads three groups are written at once, and what comes then shares the next."""
    with closing(GroupWriter(gate, threads=3)) as writer, ThreadPoolExecutor(9) as pool:
        waiting = []
        for start in ("1", "2", "3"):
            waiting.append(pool.submit(writer.submit, entries(start)))
            assert gate.entered.acquire(timeout=10)
        waiting += [pool.submit(writer.submit, entries(f"0{n}")) for n in range(6)]
        wait_for(6, writer)
        gate.open.set()
        found = [each.result() for each in waiting]
    assert found == [[Outcome.STORED]] * 3 + [[Outcome.SAME]] * 6
    assert [len(group) for group in gate.groups] == [1, 1, 1, 6]


def test_groups_take_turns(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a group is written the next one grows, although there are threads that could begin."""
    monkeypatch.setattr("deniable_server.writer._TURN_SECONDS", 20)
    with closing(GroupWriter(gate, threads=3)) as writer, ThreadPoolExecutor(9) as pool:
        waiting = [pool.submit(writer.submit, entries("1"))]
        assert gate.entered.acquire(timeout=10)
        waiting += [pool.submit(writer.submit, entries(f"1{n}")) for n in range(8)]
        wait_for(8, writer)
        gate.open.set()
        assert [each.result() for each in waiting] == [[Outcome.STORED]] * 9
    assert [len(group) for group in gate.groups] == [1, 8]


def test_stuck_disk(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many may wait for a busy disk; once it is stuck, more are refused at once."""
    monkeypatch.setattr("deniable_server.writer._STUCK_SECONDS", 0.5)
    with closing(GroupWriter(gate)) as writer, ThreadPoolExecutor(50) as pool:
        waiting = [pool.submit(writer.submit, entries("1"))]
        assert gate.entered.acquire(timeout=10)
        waiting += [pool.submit(writer.submit, entries(f"{n:02}")) for n in range(20, 59)]
        wait_for(39, writer)
        while not writer._is_stuck():
            threading.Event().wait(0.01)
        with pytest.raises(StoreError, match=r"busy for more than 0\.5 seconds"):
            writer.submit(entries("6"))
        gate.open.set()
        assert [found.result() for found in waiting] == [[Outcome.STORED]] * 40
        assert writer.submit(entries("7")) == [Outcome.STORED]
