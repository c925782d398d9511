"""Taking reports, inside one process: what is refused, with which status, and what stays out."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_protocol import Report, ReportError
from deniable_protocol.errors import REASONS
from deniable_server import ReportStore, create_app
from deniable_server.app import HEADERS
from deniable_server.life import Limits
from deniable_server.problems import MAX_BODY_BYTES
from deniable_server.services import services

from .samples import CANARY, CHANGED, OTHER, SAMPLED, SURVEY, WIDTH, body, dump, other_answers

URL = f"/v1/surveys/{SURVEY.name}/reports"


def stored(app: Flask) -> int:
    store = services(app).store
    found = store.newest(SURVEY.name)
    assert found is not None
    return store.count(found)


def check_problem(answer: TestResponse, status: int, reason: str | None) -> None:
    """Check that a problem document says what it must and repeats nothing."""
    assert answer.status_code == status
    assert answer.content_type == "application/problem+json"
    found = json.loads(answer.data)
    assert found.get("reason") == reason
    assert found["status"] == status
    assert found["title"]
    assert CANARY not in answer.text
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


def test_one_report(app: Flask, http: FlaskClient) -> None:
    """New: 201. The same again, however written: 200. Another with its id: 409; the first stays."""
    sent = body()
    assert http.post(URL, data=dump(sent), content_type="text/plain").status_code == 201
    again = json.dumps(sent, indent=3, sort_keys=True)
    assert http.post(URL, data=again, content_type="application/json").status_code == 200
    check_problem(http.post(URL, data=dump(other_answers(sent))), 409, "conflict")
    assert http.post(URL, data=dump(sent)).status_code == 200
    assert stored(app) == 1


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/json", "application/x-www-form-urlencoded",
             "multipart/form-data; boundary=x", "no kind at all", None]
)  # fmt: skip
def test_any_content_type(app: Flask, http: FlaskClient, kind: str | None) -> None:
    """A report is told by its content: browsers send it as plain text to avoid a preflight."""
    assert http.post(URL, data=dump(body()), content_type=kind).status_code == 201
    assert stored(app) == 1


def answers(**changes: Any) -> dict[str, Any]:
    sent = body()
    return sent | {"answers": sent["answers"] | changes}


WIDE = list(range(WIDTH))
REFUSED: list[tuple[str, bytes]] = [
    ("not-json", b""),
    ("not-json", CANARY.encode()),
    ("not-json", b"\xff" + dump(body())),
    ("not-json", dump(body()) + b"{}"),
    ("not-json", dump(body())[:-1]),
    ("not-json", dump(body()).replace(b'"id"', b'"id": "0", "id"')),
    ("not-json", dump(answers(order=[0.0]))),
    ("not-json", b'{"survey":' * 5000),
    ("token", dump(body() | {"token": CANARY})),
    ("shape", b"null"),
    ("shape", dump(CANARY)),
    ("shape", dump(body() | {"user_agent": CANARY})),
    ("shape", dump({key: value for key, value in body().items() if key != "id"})),
    ("survey", dump(body(OTHER))),
    ("survey", dump(body() | {"survey": CANARY})),
    ("survey", dump(body() | {"survey": None})),
    ("survey", dump(body() | {"survey": [CANARY]})),
    ("id", dump(body(id="8" + "0" * 15))),
    ("id", dump(body(id=CANARY))),
    ("id", dump(body(id="0" * 15))),
    ("id", dump(body(id="0" * 15 + "A"))),
    ("id", dump(body(id=12))),
    ("questions", dump(body(answers={"order": [0]}))),
    ("questions", dump(answers(extra=[0]))),
    ("questions", dump(body(answers=CANARY))),
    ("subset", dump(answers(order=[2]))),
    ("subset", dump(answers(order=[-1]))),
    ("subset", dump(answers(order=[True]))),
    ("subset", dump(answers(order=[]))),
    ("subset", dump(answers(order=[0, 1]))),
    ("subset", dump(answers(order=0))),
    ("subset", dump(answers(dish=WIDE[:-1]))),
    ("subset", dump(answers(dish=[*WIDE, WIDTH]))),
    ("subset", dump(answers(dish=WIDE[::-1]))),
    ("subset", dump(answers(dish=[0] * WIDTH))),
    ("subset", dump(answers(dish=[*WIDE[:-1], 11]))),
    ("subset", dump(answers(dish=[*WIDE[:-1], CANARY]))),
]


@pytest.mark.parametrize(
    ("reason", "sent"), REFUSED, ids=[f"{n}-{reason}" for n, (reason, _) in enumerate(REFUSED)]
)
def test_refused(app: Flask, http: FlaskClient, reason: str, sent: bytes) -> None:
    """What its survey cannot have produced is refused as a whole, alone and in an array."""
    check_problem(http.post(URL, data=sent), 422, reason)
    if reason != "not-json":
        answer = http.post(URL, data=b"[" + sent + b"," + dump(body()) + b"]")
        assert answer.status_code == 207
        assert answer.json == [{"status": 422, "reason": reason}, {"status": 201}]
    assert stored(app) == (reason != "not-json")


def test_every_reason_is_tested() -> None:
    """The table above, with the tests of size and of arms, has every reason for a refusal."""
    assert {reason for reason, _ in REFUSED} | {"too-large", "arm"} == set(REASONS)


def test_arms_and_sampling(app: Flask, http: FlaskClient) -> None:
    """A survey with arms takes its own arms only, and exactly as many answers as it asks for."""
    published = services(app).store.publish(SAMPLED)
    url = f"/v1/surveys/{SAMPLED.name}/reports"
    sent = body(SAMPLED, answers={"paid": [0], "ate.1": [1], "ate.3": [0]}, arm="b")
    assert http.post(url, data=dump(sent)).status_code == 201
    check_problem(http.post(url, data=dump(sent | {"arm": "a"})), 409, "conflict")
    check_problem(http.post(url, data=dump(sent | {"arm": CANARY})), 422, "arm")
    check_problem(http.post(url, data=dump(sent | {"answers": {"paid": [0]}})), 422, "questions")
    assert services(app).store.count(published) == 1


def test_too_large(app: Flask, http: FlaskClient) -> None:
    """More than 64 KiB is no report, however it goes on; more than 4 MiB is not read."""
    padded = b" " * (64 * 1024) + dump(body())
    check_problem(http.post(URL, data=padded), 413, "too-large")
    check_problem(http.post(URL, data=b"[" * (MAX_BODY_BYTES + 1)), 413, "batch-too-large")
    assert stored(app) == 0


def test_many(app: Flask, http: FlaskClient) -> None:
    """An array gets one status for each report, in order; a bad one does not stop the others."""
    sent = [body() for _ in range(997)]
    mixed = [*sent, sent[0], other_answers(sent[1]), body() | {"id": CANARY}]
    answer = http.post(URL, data=dump(mixed))
    assert answer.status_code == 207
    assert CANARY not in answer.text
    assert answer.json == [
        *[{"status": 201}] * 997,
        {"status": 200},
        {"status": 409, "reason": "conflict"},
        {"status": 422, "reason": "id"},
    ]
    assert http.post(URL, data=dump(sent)).json == [{"status": 200}] * 997
    assert stored(app) == 997
    assert http.post(URL, data=b"[]").json == []
    check_problem(http.post(URL, data=dump([None] * 1001)), 413, "batch-too-large")


def test_versions(app: Flask, http: FlaskClient) -> None:
    """After a survey changed, reports of the earlier version still go to its own table."""
    store = services(app).store
    first, second = store.publish(SURVEY), store.publish(CHANGED)
    for survey in (SURVEY, CHANGED, SURVEY):
        assert http.post(URL, data=dump(body(survey))).status_code == 201
    assert (store.count(first), store.count(second)) == (2, 1)
    assert http.get(f"/v1/surveys/{SURVEY.name}").data == CHANGED.to_json()


def test_closed_and_erased(app: Flask, http: FlaskClient) -> None:
    """A closed survey takes nothing new but knows what it has; of an erased one nothing is left."""
    store = services(app).store
    published = store.publish(SURVEY)
    kept = dump(body())
    assert http.post(URL, data=kept).status_code == 201
    store.close_survey(published)
    check_problem(http.post(URL, data=dump(body())), 403, "closed")
    assert http.post(URL, data=kept).status_code == 200
    many = http.post(URL, data=b"[" + kept + b"," + dump(body()) + b"]")
    assert many.json == [{"status": 200}, {"status": 403, "reason": "closed"}]
    assert http.get(f"/v1/surveys/{SURVEY.name}").status_code == 200
    assert "Canteen" not in http.get("/").text
    page = http.get(f"/s/{SURVEY.name}")
    assert page.status_code == 200
    assert "This survey is closed" in page.text
    assert "<script" not in page.text
    store.erase_survey(published)
    check_problem(http.post(URL, data=kept), 410, "erased")
    check_problem(http.get(f"/v1/surveys/{SURVEY.name}"), 410, "erased")
    assert http.get(f"/s/{SURVEY.name}").status_code == 410
    assert store.count(published) == 0


def test_dates_and_target(tmp_path: Path) -> None:
    """Whether a survey is open is decided when a report comes, also after the clock jumped."""
    app = create_app({"DATABASE": tmp_path / "dates.db"})
    store, http = services(app).store, app.test_client()
    moments = [datetime(year, 6, 1, tzinfo=UTC) for year in (1969, 2026, 2099, 2026, 9999)]
    limits = Limits(datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC), target=3)
    published = store.publish(SURVEY, limits)
    found = []
    for moment in moments:
        store._clock = lambda moment=moment: moment
        found.append([http.post(URL, data=dump(body())).status_code for _ in range(2)])
    assert found == [[403, 403], [201, 201], [403, 403], [201, 403], [403, 403]]
    assert store.days(published) == {"2026-06-01": 3}
    store._clock = lambda: datetime(2019, 6, 1, tzinfo=UTC)
    assert "opens on 1 January 2020 at 00:00 (UTC)" in http.get(f"/s/{SURVEY.name}").text
    services(app).close()


def test_a_change_elsewhere_is_noticed(app: Flask, http: FlaskClient, tmp_path: Path) -> None:
    """What another process decides holds for the next report, and its new version is found."""
    assert http.post(URL, data=dump(body())).status_code == 201
    with closing(ReportStore(tmp_path / "survey.db")) as other:
        other.close_survey(other.publish(SURVEY))
        check_problem(http.post(URL, data=dump(body())), 403, "closed")
        other.publish(CHANGED)
        assert http.post(URL, data=dump(body(CHANGED))).status_code == 201
        services(app).store._remembered.clear()  # instead of waiting for a second
        assert http.get(f"/v1/surveys/{SURVEY.name}").data == CHANGED.to_json()


def test_mutated_reports(app: Flask, http: FlaskClient) -> None:
    """Ten thousand broken reports, one at a time and in arrays: all refused, nothing changed."""
    random = Random("mutations")
    published = services(app).store.publish(SURVEY)
    whole = [dump(body()) for _ in range(20)]
    assert http.post(URL, data=b"[" + b",".join(whole) + b"]").status_code == 207
    database = Path(services(app).store.name)
    before, rows = database.read_bytes(), stored(app)
    together: list[bytes] = []
    alone = 0
    while alone + len(together) < 10_000:
        sent = mutated(random, dump(body()))
        try:
            Report.parse(sent, SURVEY)
        except ReportError as error:
            if error.reason != "not-json":
                together.append(sent)
                continue
            alone += 1
            answer = http.post(URL, data=sent)
            assert answer.status_code in (207, 413, 422), sent
            if answer.status_code == 207:
                assert all(each["status"] == 422 for each in answer.json), sent
    for start in range(0, len(together), 500):
        some = together[start : start + 500]
        answer = http.post(URL, data=b"[" + b",".join(some) + b"]")
        assert [each["status"] for each in answer.json] == [422] * len(some)
    assert 2_000 < alone < 8_000
    assert stored(app) == rows
    assert sum(services(app).store.days(published).values()) == rows
    assert database.read_bytes() == before


def mutated(random: Random, sent: bytes) -> bytes:
    """Change a report at one place or more: bytes, brackets, keys, numbers, lengths."""
    found = bytearray(sent)
    for _ in range(random.choice((1, 1, 2, 5))):
        place = random.randrange(len(found))
        match random.randrange(6):
            case 0:
                found[place] = random.randrange(256)
            case 1:
                del found[place : place + random.randrange(1, 9)]
            case 2:
                found[place:place] = random.choice((b"[", b"]", b"{", b"}", b'"', b",", b"9", b"-"))
            case 3:
                found[place:place] = found[place // 2 : place]
            case 4:
                found = bytearray(found.replace(b'"order"', random.choice((b'"dish"', b'"ORDER"'))))
            case 5:
                other = random.choice((b"null", b"true", b"1e3", b"[[0]]", b"{}", b'"0"', b"11"))
                found = bytearray(found.replace(b"[0]", other))
        if not found:
            return b""
    return bytes(found)


def test_report_of_another_survey_here(app: Flask, http: FlaskClient) -> None:
    """A report is not taken at the address of another survey, though that one is open here too."""
    services(app).store.publish(OTHER)
    check_problem(http.post(URL, data=dump(body(OTHER))), 422, "survey")


@pytest.mark.parametrize(
    ("method", "path", "status", "reason"),
    [
        ("GET", f"/v1/surveys/{CANARY}", 404, "unknown-survey"),
        ("POST", f"/v1/surveys/{CANARY}/reports", 404, "unknown-survey"),
        ("POST", f"/v1/surveys/{CANARY}%00%0a/reports", 404, "unknown-survey"),
        ("GET", URL, 405, None),
        ("PUT", URL, 405, None),
        ("GET", f"/{CANARY}", 404, None),
        ("GET", f"/problems/{CANARY}", 404, None),
        ("GET", f"/client/{CANARY}.py", 404, None),
        ("GET", f"/client/{CANARY}.js", 404, None),
        ("GET", "/client/..%2f__init__.py", 404, None),
        ("GET", "/client/../cli.js", 404, None),
        ("GET", f"/s//{CANARY}", 404, None),
        ("GET", f"/s/{CANARY}/", 404, None),
    ],
)
def test_elsewhere(
    http: FlaskClient, method: str, path: str, status: int, reason: str | None
) -> None:
    """Whatever is not there is a problem document that does not repeat the address."""
    answer = http.open(path, method=method, data=dump(body()))
    check_problem(answer, status, reason)
    assert ("Allow" in answer.headers) == (status == 405)


def test_mistake_in_the_code(
    app: Flask, http: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug gives 500 and one log line with the place, and neither path, value nor traceback."""

    @app.get("/broken/<value>")
    def broken(value: str) -> str:
        raise KeyError(value)

    check_problem(http.get(f"/broken/{CANARY}?{CANARY}"), 500, None)
    assert "KeyError at test_intake.py:" in caplog.text
    assert CANARY not in caplog.text
    assert all(record.exc_info is None for record in caplog.records)


def test_settings_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another WSGI server needs only variables; what the caller gives comes first."""
    monkeypatch.setenv("DENIABLE_DATABASE", str(tmp_path / "env.db"))
    monkeypatch.setenv("DENIABLE_QUEUE", "7")
    services(create_app()).close()
    assert (tmp_path / "env.db").exists()
    app = create_app({"DATABASE": tmp_path / "given.db"})
    services(app).close()
    assert (tmp_path / "given.db").exists()
    assert app.config["QUEUE"] == 7
