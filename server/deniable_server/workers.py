"""Several processes that answer on one port, and one that starts them again when they end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, NoReturn

_PAUSE_SECONDS: Final = 1.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class _Stop(BaseException):
    """The supervisor was asked to stop."""


def supervise(count: int, work: Callable[[], None]) -> None:
    """Run *work* in *count* processes until SIGINT or SIGTERM, then stop them and wait.

    A worker that ends is replaced. If the supervisor itself is killed, its workers stop too. To be
    called while this process has one thread and no database connection: neither survives a fork.

    Args:
        count: How many processes.
        work: Runs in each of them, and returns on SIGTERM.
    """
    lifeline, held = os.pipe()
    workers: dict[int, float] = {}
    for signum in _SIGNALS:
        signal.signal(signum, _stop)
    try:
        while True:
            while len(workers) < count:
                workers[_start(work, lifeline, held)] = time.monotonic()
            pid, _ = os.waitpid(-1, 0)
            if time.monotonic() - workers.pop(pid, 0.0) < _PAUSE_SECONDS:
                time.sleep(_PAUSE_SECONDS)  # a worker that cannot start is not tried all the time
    except _Stop:
        for signum in _SIGNALS:
            signal.signal(signum, signal.SIG_IGN)
    os.close(held)
    for pid in workers:
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            continue


def _start(work: Callable[[], None], lifeline: int, held: int) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    # A signal that came to the new process before it has its own handlers waits for them.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    if not (pid := os.fork()):
        os.close(held)
        _work(work, lifeline)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    return pid


def _work(work: Callable[[], None], lifeline: int) -> NoReturn:
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor says when to stop
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        threading.Thread(target=_stop_with_supervisor, args=(lifeline,), daemon=True).start()
        work()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _stop_with_supervisor(lifeline: int) -> None:
    os.read(lifeline, 1)  # returns when the supervisor closes its end, however it ends
    os.kill(os.getpid(), signal.SIGTERM)


def _stop(signum: int, frame: FrameType | None) -> None:
    raise _Stop
