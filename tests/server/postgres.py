"""A PostgreSQL server of the tests' own, in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import psycopg

from deniable_server.postgres_settings import QUIET

SETTINGS = QUIET | {
    "listen_addresses": "''",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "recovery_init_sync_method": "syncfs",  # shorter restarts after a kill
}


def programs() -> Path:
    """Find the folder of the server's programs."""
    found = shutil.which("postgres")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "pg_isready").exists():
            return folder
    raise AssertionError("PostgreSQL is missing. On Debian: sudo apt-get install postgresql")


def user() -> str | None:
    """Name a user for the server: it refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


class Postgres:
    """Run PostgreSQL on a socket in a folder of its own; ``new_database`` gives an empty one."""

    def __init__(self, **settings: str) -> None:
        # Directly under the system's folder: a socket's path may have 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="deniable-pg-"))
        self._user = user()
        if self._user:
            shutil.chown(self.folder, self._user)
        self.data, self.log = self.folder / "data", self.folder / "log"
        self._run("initdb", "--pgdata", self.data, "--username", "deniable", "--auth", "trust",
                  "--encoding", "UTF8", "--locale", "C", "--no-sync")  # fmt: skip
        self.url = f"postgresql://deniable@/postgres?host={self.folder}"
        self.process = self._start(settings)

    def _run(self, program: str, *words: object) -> None:
        subprocess.run(
            [programs() / program, *map(str, words)], check=True, capture_output=True,
            user=self._user, cwd=self.folder, env={"PATH": os.defpath},
        )  # fmt: skip

    def _start(self, settings: dict[str, str]) -> subprocess.Popen[bytes]:
        words = [f"--{name}={value}" for name, value in (SETTINGS | settings).items()]
        words = [word.replace("''", "") for word in words]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [programs() / "postgres", "-D", self.data, "-k", self.folder, *words],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, user=self._user,
                cwd=self.folder, env={"PATH": os.defpath}, start_new_session=True,
            )  # fmt: skip
        for _ in range(600):
            done = subprocess.run(
                [programs() / "pg_isready", "-q", "-h", self.folder, "-U", "deniable"], check=False
            ).returncode
            if done == 0:
                return process
            assert process.poll() is None, self.log.read_text()
            time.sleep(0.05)
        raise AssertionError("PostgreSQL did not start")

    def new_database(self) -> str:
        """Empty the database and give its address."""
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute("DROP SCHEMA public CASCADE")
            db.execute("CREATE SCHEMA public")
        return self.url

    def kill(self) -> None:
        """Kill every process of the server at once, as a power cut would."""
        if self.process.poll() is None:
            # Each of them has a group of its own; the first one is stopped while they are listed.
            self.process.send_signal(signal.SIGSTOP)
            workers = children(self.process.pid)
            for pid in (self.process.pid, *workers):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def restart(self, **settings: str) -> None:
        """Start again after ``kill``."""
        self.process = self._start(settings)

    def stop(self) -> None:
        """Stop at once, and remove the folder."""
        self.kill()
        shutil.rmtree(self.folder)

    def __enter__(self) -> Postgres:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()


def children(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found
