"""What is around the intake: limits, public results, the operator's page, metrics, contract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from jsonschema import Draft202012Validator

from deniable_server import create_app
from deniable_server import limits as limits_module
from deniable_server.browser_files import BrowserFiles
from deniable_server.limits import RateLimiter
from deniable_server.openapi import document
from deniable_server.problems import PROBLEMS
from deniable_server.services import services

from .samples import SHOWN, SURVEY, body, dump

REPORTS = f"/v1/surveys/{SHOWN.name}/reports"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    app = create_app({"DATABASE": tmp_path / "survey.db", "OPERATOR_TOKEN": "open sesame"})
    services(app).store.publish(SHOWN)
    services(app).store.publish(SURVEY)
    yield app
    services(app).close()


def send(app: Flask, count: int) -> None:
    sent = [body(SHOWN) for _ in range(count)]
    assert app.test_client().post(REPORTS, data=dump(sent)).status_code == 207


class Seconds:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_limit_by_network() -> None:
    """A network is a /24 or a /48; others are not slowed down; after a minute it may go on."""
    clock = Seconds()
    limiter = RateLimiter(3, clock)
    assert [limiter.allow(f"192.0.2.{host}") for host in range(5)] == [True] * 3 + [False] * 2
    assert limiter.allow("192.0.3.1")
    assert limiter.allow("::ffff:192.0.3.9", 2)
    assert not limiter.allow("192.0.3.200")
    assert [limiter.allow(f"2001:db8:1:{net}::1") for net in range(4)] == [True] * 3 + [False]
    assert limiter.allow("2001:db8:2::1%eth0", 3)
    assert limiter.allow(None, 2)
    assert not limiter.allow("not an address", 2)
    clock.now = 61
    assert limiter.allow("192.0.2.1", 3)


def test_limit_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """No address is in memory, keys change every day, and memory is bounded."""
    clock = Seconds()
    limiter = RateLimiter(3, clock)
    limiter.allow("192.0.2.1")
    assert "192.0" not in repr(vars(limiter))
    before = limiter._key
    clock.now = 90_000
    limiter.allow("192.0.2.1")
    assert limiter._key != before
    monkeypatch.setattr(limits_module, "_MOST", 50)
    for net in range(500):
        limiter.allow(f"10.0.{net // 250}.0" if net < 250 else f"10.{net}.0.0")
    assert len(limiter._counts) <= 50


def test_limit_counts_reports(tmp_path: Path) -> None:
    """A batch counts as many as it holds; a proxy's word is believed only if there is one."""
    app = create_app({"DATABASE": tmp_path / "s.db", "LIMIT": 5, "PROXIES": 1})
    services(app).store.publish(SHOWN)
    http = app.test_client()
    for network, count, status in (("192.0.2.7", 5, 207), ("192.0.2.8", 1, 429),
                                   ("198.51.100.1", 4, 207), ("198.51.100.1", 6, 429),
                                   ("203.0.113.1", 6, 207), ("203.0.113.1", 1, 429)):  # fmt: skip
        sent = dump([body(SHOWN) for _ in range(count)])
        found = http.post(
            REPORTS, data=sent, headers={"X-Forwarded-For": f"203.0.113.9, {network}"}
        )
        assert found.status_code == status
        assert ("Retry-After" in found.headers) == (status == 429)
    services(app).close()


def test_results_for_everyone(app: Flask) -> None:
    """Nothing before the least number, then a page that stays until ten more reports are there."""
    http = app.test_client()
    assert http.get(f"/s/{SURVEY.name}/results").status_code == 404
    assert http.get("/s/nowhere/results").status_code == 404
    send(app, 19)
    found = http.get(f"/s/{SHOWN.name}/results")
    assert found.status_code == 404
    assert "at least 20 reports" in found.text
    shown = []
    for more in (6, 4, 5, 1):
        send(app, more)
        found = http.get(f"/s/{SHOWN.name}/results")
        assert found.status_code == 200
        shown.append(found.text)
    assert "25" in shown[0]
    assert shown[0] == shown[1] == shown[2]
    assert shown[3] != shown[0]
    policy = found.headers["Content-Security-Policy"]
    assert "style-src 'sha256-" in policy
    assert "script" not in policy.replace("default-src 'none'", "")


def test_drawing_more_often_is_caught(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a page drawn for every report, the test above would see it."""
    monkeypatch.setattr("deniable_protocol.survey.Results.due", lambda *_: True)
    http = app.test_client()
    send(app, 25)
    first = http.get(f"/s/{SHOWN.name}/results").text
    send(app, 1)
    assert http.get(f"/s/{SHOWN.name}/results").text != first


def test_the_operators_page(app: Flask, tmp_path: Path) -> None:
    """Only the token opens it; without a token there is none."""
    http = app.test_client()
    send(app, 7)
    refused = http.get("/operator")
    assert refused.status_code == 401
    assert "Basic" in refused.headers["WWW-Authenticate"]
    assert http.get("/operator", auth=("x", "wrong")).status_code == 401
    page = http.get("/operator", auth=("anyone", "open sesame"))
    assert page.status_code == 200
    assert f"{SHOWN.name}@1" in page.text
    assert "7 reports" in page.text
    plain = create_app({"DATABASE": tmp_path / "other.db"})
    assert plain.test_client().get("/operator", auth=("x", "")).status_code == 404
    services(plain).close()


def test_metrics_hold_no_single_report(app: Flask) -> None:
    """Counts go up by tens: between two reports within ten nothing changes."""
    http = app.test_client()
    found = []
    for more in (9, 1, 9, 1):
        send(app, more)
        text = http.get("/metrics").text
        line = next(
            line
            for line in text.splitlines()
            if line.startswith('deniable_reports_total{survey="shown')
        )
        found.append(float(line.split()[-1]))
    assert found == [0, 10, 10, 20]
    assert "created" not in text  # a time


def test_readiness(app: Flask) -> None:
    """The server says whether its database answers."""
    assert app.test_client().get("/readyz").status_code == 200


def test_the_contract_is_what_the_server_does(app: Flask) -> None:
    """Every reason is in the document, its report is a report, and its answers are described."""
    http = app.test_client()
    found = http.get("/openapi.json").json
    assert found == json.loads(json.dumps(document()))
    post = found["paths"]["/v1/surveys/{name}/reports"]["post"]["responses"]
    assert {int(status) for status in post} >= {200, 201, 207, 404, 409, 413, 422, 429, 503}
    schemas = found["components"]["schemas"]
    assert set(schemas["Problem"]["properties"]["reason"]["enum"]) == set(PROBLEMS)
    Draft202012Validator.check_schema(schemas["Report"])
    check = Draft202012Validator(schemas["Report"])
    assert check.is_valid(body(SHOWN))
    assert not check.is_valid(body(SHOWN) | {"ip": "x"})
    assert not check.is_valid(body(SHOWN) | {"id": "8" + "0" * 15})


def test_names_that_are_not_there_crowd_out_no_file() -> None:
    """Whoever asks for thousands of files that do not exist keeps nobody from the form."""
    files = BrowserFiles()
    asked = [f"{entry}/{n}.js" for entry in ("embed", "plain") for n in range(600)]
    assert [
        name for name in (*asked, "a" * 300 + ".js", "\0.js", "../cli.py") if files.find(name)
    ] == []
    assert files.find("embed/index.js")
    assert files.find("outcome.js") is files.find("outcome.js")
