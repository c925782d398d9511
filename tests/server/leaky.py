"""The real server with one leak built in on purpose, so that the search for leaks can be tried.

``leaky.py SURVEY --database FILE``; the variable ``LEAK`` names one of ``LEAKS``.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from flask import Flask, request

from deniable_protocol import Survey
from deniable_server import create_app
from deniable_server.services import services
from deniable_server.wsgi import listen, run


def access_log(database: Path) -> None:
    print(request.remote_addr, request.full_path, file=sys.stderr, flush=True)


def agents(database: Path) -> None:
    with closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS agents (agent TEXT)")
        db.execute("INSERT INTO agents VALUES (?)", (request.user_agent.string,))


def moments(database: Path) -> None:
    with closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS moments (moment INTEGER)")
        db.execute("INSERT INTO moments VALUES (?)", (time.time_ns() // 1000,))


def clock_in_log(database: Path) -> None:
    print(time.strftime("%Y-%m-%dT%H:%M:%S"), "a report", flush=True)


def bodies(database: Path) -> None:
    with database.with_name("bodies").open("ab") as file:
        file.write(request.get_data())


LEAKS: dict[str, Callable[[Path], None]] = {
    leak.__name__: leak for leak in (access_log, agents, moments, clock_in_log, bodies)
}


def main() -> None:
    survey, _, database = sys.argv[1:4]
    app: Flask = create_app({"DATABASE": database})
    services(app).store.publish(Survey.load(Path(survey)))
    leak = LEAKS[os.environ["LEAK"]]

    @app.before_request
    def tell() -> Any:
        if request.method == "POST":
            leak(Path(database))

    server = listen(app, "127.0.0.1", 0)
    print(f"Listening on http://127.0.0.1:{server.effective_port}/", flush=True)
    run(server, app)


if __name__ == "__main__":
    main()
