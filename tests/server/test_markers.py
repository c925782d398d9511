"""Marked submissions: whatever comes with a report besides the report is nowhere afterwards."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing
from pathlib import Path

import pytest

from deniable_server.backups import back_up
from deniable_server.opening import open_store
from deniable_server.store import _varint

from .postgres import Postgres
from .running import CLIENT, REPORTS, Server
from .samples import body, dump, other_answers

MARK = "mark-55d1"
HEADERS = {
    name: f"{MARK}-{name}"
    for name in ("User-Agent", "Referer", "Cookie", "X-Forwarded-For", "Forwarded", "X-Real-IP",
                 "Origin", "Accept-Language", "Authorization", MARK)
}  # fmt: skip
MARKS = [MARK.encode(), CLIENT.encode(), b"Mark-55D1", b"mark_55d1"]


def send_marked(server: Server, count: int) -> list[str]:
    """Send reports, wrong ones among them, each with marks; give the ids that were stored."""
    stored = []
    with closing(server.connect()) as connection:
        for number in range(count):
            sent = body()
            wrong = [b"{" + MARK.encode(), dump(sent | {"id": MARK}), b" " * 70_000]
            content = wrong[number % 3] if number % 5 == 0 else dump(sent)
            try:
                for each in (content, dump(other_answers(sent))):
                    connection.request("POST", f"{REPORTS}?{MARK}={number}", each, HEADERS)
                    answer = connection.getresponse()
                    assert MARK.encode() not in answer.read()
                    if answer.status == 201:
                        stored.append(sent["id"])
                connection.request("GET", f"/{MARK}/{number}", headers=HEADERS)
                assert connection.getresponse().read().count(MARK.encode()) == 0
            except http.client.HTTPException:
                connection.close()
    return stored


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_markers(tmp_path: Path, postgres: Postgres, kind: str) -> None:
    """No mark and no address: in tables, write-ahead logs, backups, metrics, output or any log."""
    url = postgres.new_database() if kind == "postgres" else None
    logged = len(postgres.log.read_text())  # other tests have rows refused, which is logged
    with Server(tmp_path, database=url) as server:
        stored = send_marked(server, 250)
        assert len(stored) >= 250
        address = url or str(server.database)
        store = open_store(address)
        try:
            back_up(store, tmp_path / "backup.db")
        finally:
            store.close(rewrite=False)
        with closing(server.connect()) as connection:
            connection.request("GET", "/metrics")
            metrics = connection.getresponse().read()
        running = everything(tmp_path) + everything(postgres.folder)
        assert server.stop() == 0
    patterns = [
        int(key, 16).to_bytes(8, "little") if url else _varint(int(key, 16)) for key in stored
    ]
    assert all(pattern in running for pattern in patterns), "nothing could have been found"
    for found in (running, metrics, everything(tmp_path) + everything(postgres.folder)):
        for mark in MARKS:
            assert mark not in found, mark
    assert socket.inet_aton(CLIENT) not in everything(tmp_path)
    assert server.complaints() == ""
    log = postgres.log.read_text()[logged:]
    assert "INSERT" not in log
    assert "reports_" not in log


def everything(folder: Path) -> bytes:
    """Read every file below a folder: tables, write-ahead logs, outputs."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
