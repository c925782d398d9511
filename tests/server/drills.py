"""Failures under load: what is killed, filled, locked or set wrong, and what is there afterwards.

Tests run each once or twice. ``python -m tests.server.drills --times 10`` runs them often and
prints what was seen.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from .postgres import Postgres, children
from .running import Load, Server
from .samples import body, dump

Seen = str


def kill_server(folder: Path, times: int) -> Seen:
    """Kill the server under load, start it on the same file, again and again."""
    total, acknowledged, sent = 0, set[str](), set[str]()
    for _ in range(times):
        with Server(folder) as server:
            load = Load(server)
            load.wait_for(100)
            server.stop(signal.SIGKILL)
            load.join()
        sent |= load.sent
        acknowledged |= load.acknowledged
        load.sent, load.acknowledged = sent, acknowledged
        total = load.check(server.database)
    return f"{len(acknowledged):,} acknowledged, {total:,} stored"


def kill_workers(folder: Path, times: int, database: str | None = None) -> Seen:
    """Kill a worker under load; the others answer, and another takes its place."""
    with Server(folder, options=["--workers", "2"], database=database) as server:
        load = Load(server, patient=True)
        for _ in range(times):
            load.wait_for(60)
            victim = children(server.process.pid)[0]
            os.kill(victim, signal.SIGKILL)
            load.wait_for(60)
            _until(lambda gone=victim: len(set(children(server.process.pid)) - {gone}) == 2)
        load.stop()
        assert server.stop() == 0
        total = load.check(database or server.database)
    assert set(load.statuses) <= {200, 201} | _LOST, load.statuses
    return _told(load, total)


def kill_supervisor(folder: Path, database: str | None = None) -> Seen:
    """Kill the process that starts the workers; they end by themselves and lose nothing."""
    with Server(folder, options=["--workers", "2"], database=database) as server:
        load = Load(server)
        load.wait_for(60)
        workers = children(server.process.pid)
        server.stop(signal.SIGKILL)
        _until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
        load.join()
        return _told(load, load.check(database or server.database))


def kill_postgres(folder: Path, times: int, postgres: Postgres) -> Seen:
    """Kill all of PostgreSQL under load; the intake answers 503 and goes on by itself."""
    url = postgres.new_database()
    with Server(folder, database=url) as server:
        load = Load(server, patient=True)
        for _ in range(times):
            load.wait_for(60)
            postgres.kill()
            assert server.process.poll() is None
            postgres.restart()
            load.wait_for(60)
        load.stop()
        assert server.stop() == 0
        total = load.check(url)
    assert set(load.statuses) <= {200, 201, 503}, load.statuses
    assert load.statuses[503]
    return _told(load, total)


def two_intakes(folder: Path, postgres: Postgres) -> Seen:
    """Run intakes on two addresses with one PostgreSQL, one of which is killed."""
    url = postgres.new_database()
    folders = [folder / name for name in ("one", "two")]
    for each in folders:
        each.mkdir()
    with (
        Server(folders[0], database=url, host="127.0.0.2") as one,
        Server(folders[1], database=url, host="127.0.0.3") as two,
    ):
        sent = body()
        assert [server.post(sent)[0] for server in (one, two, one)] == [201, 200, 200]
        load = Load(one, two, patient=True)
        load.sent.add(sent["id"])
        load.wait_for(100)
        one.stop(signal.SIGKILL)
        load.wait_for(60)
        load.stop()
        assert two.stop() == 0
        total = load.check(url)
    return _told(load, total)


def full_disk(folder: Path) -> Seen:
    """Fill the disk under load: 503 while it is full, and 201 again when there is room."""
    with Server(folder) as server:
        load = Load(server, patient=True)
        load.wait_for(60)
        unlimited = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        size = server.database.with_name("survey.db-wal").stat().st_size + 100_000
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, unlimited[1]))
        _until(lambda: load.statuses[503] > 20)
        assert server.process.poll() is None
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)
        load.wait_for(60)
        load.stop()
        total = load.check(server.database)
        said = server.complaints()
    assert set(load.statuses) <= {200, 201, 503}, load.statuses
    assert 1 <= said.count("\n") < 5, "once a minute is enough"
    return _told(load, total)


def full_file_system(folder: Path) -> Seen:
    """Do the same with a file system of 2 MiB that is full to the last block. Needs root."""
    place = folder / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        return "not run: no mounting here"
    try:
        with Server(place) as server:
            load = Load(server, patient=True)
            load.wait_for(60)
            ballast = place / "ballast"
            with ballast.open("wb", buffering=0) as file:
                try:
                    while file.write(b"\0" * 4096):
                        pass
                except OSError:
                    pass
            _until(lambda: load.statuses[503] > 20)
            ballast.unlink()
            load.wait_for(60)
            load.stop()
            assert server.stop() == 0
            return _told(load, load.check(server.database))
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def read_only_file(folder: Path) -> Seen:
    """Start with a file that may not be written: a plain sentence, and nothing is touched."""
    with Server(folder) as server:
        assert server.post(body())[0] == 201
        assert server.stop() == 0
    before = server.database.read_bytes()
    server.database.chmod(0o444)
    folder.chmod(0o555)
    prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []
    program = ["deniable_protocol", "serve", "--port", "0", "--database", str(server.database)]
    try:
        found = subprocess.run(
            [*prefix, sys.executable, "-m", *program], capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip
    finally:
        folder.chmod(0o755)
        server.database.chmod(0o644)
    assert found.returncode == 1
    assert "readonly" in found.stderr or "unable to open" in found.stderr
    assert "Traceback" not in found.stderr
    assert server.database.read_bytes() == before
    return found.stderr.strip().replace(str(folder), "…")


def locked_database(folder: Path, seconds: float) -> Seen:
    """Let another program lock the file under load: waiting, then 503, then as before."""
    with Server(folder) as server:
        load = Load(server, patient=True, connections=80)  # more than there are threads
        load.wait_for(60)
        with closing(sqlite3.connect(server.database, isolation_level=None, timeout=30)) as db:
            db.execute("BEGIN EXCLUSIVE")
            held = len(load.acknowledged)
            slowest = 0.0
            for _ in range(int(seconds)):
                time.sleep(1)
                start = time.monotonic()
                with closing(server.connect()) as connection:
                    connection.request("GET", "/healthz")
                    assert connection.getresponse().status == 200
                slowest = max(slowest, time.monotonic() - start)
            assert len(load.acknowledged) <= held + 80
            db.execute("ROLLBACK")
        load.wait_for(60)
        load.stop()
        assert server.stop() == 0
        total = load.check(server.database)
    assert set(load.statuses) <= {200, 201, 503}, load.statuses
    return f"{_told(load, total)}; others answered within {slowest:.1f} s"


def clock_jumps(folder: Path, times: int) -> Seen:
    """Let the clock of the process jump between 1971 and 2199 under load."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        return "not run: no libfaketime here"
    setting = folder / "clock"
    setting.write_text("@2026-03-01 12:00:00\n")
    clock = {
        "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(setting),
        "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
    with Server(folder, **clock) as server:
        load = Load(server, patient=True)
        for year in [2099, 1971, 2038, 2026, 2199, 2025] * times:
            load.wait_for(30)
            setting.write_text(f"@{year}-06-01 00:00:00\n")
        load.wait_for(30)
        load.stop()
        assert server.stop() == 0
        total = load.check(server.database)
    with closing(sqlite3.connect(server.database)) as db:
        days = [day for (day,) in db.execute("SELECT day FROM counters ORDER BY day")]
    assert {day[:4] for day in days} == {"1971", "2025", "2026", "2038", "2099", "2199"}
    assert set(load.statuses) <= {200, 201}, load.statuses
    return _told(load, total)


def idle_connections(folder: Path, count: int) -> Seen:
    """Hold many connections that say nothing, or a little now and then, while others report."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 200)), hard))
    held: list[socket.socket] = []
    with Server(folder) as server:
        load = Load(server, patient=True)
        load.wait_for(60)
        quiet = _pace(load)
        for number in range(count):
            connection = server.raw()
            if number % 2:
                connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            held.append(connection)
        crowded = _pace(load)
        load.stop()
        for connection in held:
            connection.close()
        assert server.stop() == 0
        total = load.check(server.database)
        assert server.complaints() == ""
    return f"{_told(load, total)}; {crowded / quiet:.2f} of the pace without them"


def repeats(folder: Path, count: int) -> Seen:
    """Send one report again and again; neither memory nor file grows with it."""
    with Server(folder) as server:
        content = dump([body()] * 1000)
        for _ in range(10):
            assert server.post(content)[0] == 207
        before = memory(server)
        for _ in range(count // 1000):
            assert server.post(content)[0] == 207
        grown = memory(server) - before
        assert len(server.rows()) == 1
    assert grown < 10_000
    return f"{count:,} repeats, 1 stored, memory grew by {grown:,} KiB"


def memory(server: Server) -> int:
    """Give the memory that a server's process holds, in KiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def _pace(load: Load) -> float:
    start, before = time.monotonic(), len(load.acknowledged)
    time.sleep(2)
    return (len(load.acknowledged) - before) / (time.monotonic() - start)


_LOST = {
    "IncompleteRead",
    "ConnectionResetError",
    "RemoteDisconnected",
    "ConnectionRefusedError",
    "BrokenPipeError",
}


def _told(load: Load, total: int) -> Seen:
    answers: Counter[str] = Counter()
    for status, count in load.statuses.items():
        answers[str(status) if isinstance(status, int) else "lost connections"] += count
    parts = ", ".join(f"{count:,} × {status}" for status, count in sorted(answers.items()))
    return f"{len(load.acknowledged):,} acknowledged, {total:,} stored; {parts}"


def _until(true: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


def main() -> None:
    """Run every drill and print what was seen; a drill that fails ends the run."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--times", type=int, default=10, help="how often to kill")
    times = options.parse_args().times
    with Postgres() as postgres:
        drills: dict[str, Callable[[Path], Seen]] = {
            f"kill -9 of the server, SQLite, {times} times": lambda f: kill_server(f, times),
            f"kill -9 of a worker, SQLite, {times} times": lambda f: kill_workers(f, times),
            f"kill -9 of a worker, PostgreSQL, {times} times": lambda f: kill_workers(
                f, times, postgres.new_database()
            ),
            "kill -9 of the supervisor": kill_supervisor,
            f"kill -9 of PostgreSQL, {times} times": lambda f: kill_postgres(f, times, postgres),
            "two intakes on two addresses, one killed": lambda f: two_intakes(f, postgres),
            "full disk (file size limit)": full_disk,
            "full file system (tmpfs of 2 MiB)": full_file_system,
            "10,000 idle connections": lambda f: idle_connections(f, 10_000),
            "100,000 repeats of one id": lambda f: repeats(f, 100_000),
            "read-only file": read_only_file,
            "database locked for 15 s": lambda f: locked_database(f, 15),
            "clock jumps between 1971 and 2199": lambda f: clock_jumps(f, 2),
        }
        for name, drill in drills.items():
            folder = Path(tempfile.mkdtemp(prefix="deniable-drill-"))
            start = time.monotonic()
            seen = drill(folder)
            print(f"{name}: {seen} ({time.monotonic() - start:.0f} s)", flush=True)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
