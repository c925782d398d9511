"""One survey that was erased, or cannot be read, keeps a server from none of the others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flask import Flask

from deniable_protocol import StoreError, Survey
from deniable_server import create_app
from deniable_server.contract import Store
from deniable_server.services import services

from .running import Server
from .samples import CHANGED, OTHER, SOURCE, SURVEY, body, dump, report
from .verbs import Run, fill, published_file, typed_for

REPORTS = f"/v1/surveys/{SURVEY.name}/reports"
REPORTS_OF_OTHER = f"/v1/surveys/{OTHER.name}/reports"


@pytest.fixture
def app(database: str) -> Iterator[Flask]:
    app = create_app({"DATABASE": database, "OPERATOR_TOKEN": "open sesame"})
    for survey in (SURVEY, OTHER):
        services(app).store.publish(survey)
    services(app).store.close()
    app = create_app({"DATABASE": database, "OPERATOR_TOKEN": "open sesame"})
    yield app
    services(app).close()


def replace(store: Store, survey: Survey, json: bytes) -> None:
    with store._deciding(survey.digest) as session:
        session.execute("UPDATE surveys SET json = ? WHERE digest = ?", (json, survey.digest))


OF_LATER = SURVEY.to_json().replace(b"deniable-survey/1", b"deniable-survey/2")


@pytest.mark.parametrize("json", [OF_LATER, b"{", CHANGED.to_json(), OTHER.to_json()])
def test_unreadable(app: Flask, deniable: Run, json: bytes) -> None:
    """A row of a later version, a damaged one, one that its digest does not name."""
    http, store = app.test_client(), services(app).store
    replace(store, SURVEY, json)
    assert http.post(REPORTS_OF_OTHER, data=dump(body(OTHER))).status_code == 201
    index = http.get("/")
    assert index.status_code == 200
    assert f"/s/{OTHER.name}" in index.text
    assert f"/s/{SURVEY.name}" not in index.text
    refused = http.post(REPORTS, data=dump(body()))
    assert (refused.status_code, refused.json["reason"]) == (503, "unavailable")  # type: ignore[index]  # a problem
    for path in (f"/s/{SURVEY.name}", f"/v1/surveys/{SURVEY.name}", f"/s/{SURVEY.name}/results"):
        assert http.get(path).status_code == 503
    assert 'survey="other"' in http.get("/metrics").text
    page = http.get("/operator", auth=("x", "open sesame")).text
    assert f"{SURVEY.name}@1" in page
    assert "cannot be read" in page
    assert "1 reports" in page
    said = deniable("surveys")
    assert "other@1" in said.stdout
    assert f"Note: {SURVEY.name}@1 in " in said.stderr
    with pytest.raises(StoreError, match=f"{SURVEY.name}@1 in .* cannot be read"):
        store.surveys()
    assert "cannot be read" in deniable("counts", SURVEY.name, status=1).output


def test_an_earlier_version_does_not_stand_in(app: Flask) -> None:
    """Where the newest version is unreadable, its name has no form and takes nothing."""
    http, store = app.test_client(), services(app).store
    store.publish(CHANGED)
    store._published.clear()
    replace(store, CHANGED, b"{")
    assert [each.survey for each in store.open_surveys()] == [OTHER]
    assert len(store.readable_surveys()[0]) == 2
    assert http.get(f"/s/{SURVEY.name}").status_code == 503
    assert store.publish(SURVEY).version == 1
    assert store.publish(Survey.load(SOURCE | {"title": "Once more"})).version == 3


def test_served_with_an_unreadable_one(tmp_path: Path) -> None:
    """Starting says what cannot be read, and serves the others."""
    database = str(tmp_path / "survey.db")
    fill(database, SURVEY, [report()])
    with Server(tmp_path, published=OTHER) as server:
        server.stop()
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("UPDATE surveys SET json = ? WHERE name = ?", (b"{", SURVEY.name))
    with Server(tmp_path, published=OTHER) as server:
        assert server.post(body(OTHER), REPORTS_OF_OTHER)[0] == 201
        assert f"Note: {SURVEY.name}@1 in {database} cannot be read" in server.complaints()


def test_erased_while_it_serves(tmp_path: Path) -> None:
    """The one is refused from then on, the other goes on, and the lists show that."""
    more = [str(path) for path in published_file(tmp_path, OTHER)]
    with Server(tmp_path, options=more) as server:
        assert server.post(body())[0] == 201
        typed_for(str(server.database))("erase", SURVEY.name, "--yes")
        assert server.post(body())[0] == 410
        assert server.post(body(OTHER), REPORTS_OF_OTHER)[0] == 201
        shown = get(server, "/")
        assert f"/s/{OTHER.name}" in shown
        assert f"/s/{SURVEY.name}" not in shown
        assert "survey=" in get(server, "/metrics")
        assert server.stop() == 0


def test_erased_before_it_serves(tmp_path: Path) -> None:
    """The file of an erased survey is named, and does not keep the others from being served."""
    database = str(tmp_path / "survey.db")
    type_verb = typed_for(database)
    fill(database, SURVEY, [report()])
    type_verb("erase", SURVEY.name, "--yes")
    (file,) = published_file(tmp_path, SURVEY)
    refused = type_verb("serve", file, "--port", 0, status=1).output
    assert f"{SURVEY.name} was erased from" in refused
    with Server(tmp_path, published=OTHER, options=[str(file)]) as server:
        assert server.post(body(OTHER), REPORTS_OF_OTHER)[0] == 201
        assert server.post(body())[0] == 410
        assert f"Note: {SURVEY.name} was erased from" in server.complaints()
        assert "(version 1): erased" in server.output()


def get(server: Server, path: str) -> str:
    with closing(server.connect()) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read().decode()
