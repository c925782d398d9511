"""The pages that people see without a form: what they say, and how every answer is locked down."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_server import create_app
from deniable_server.app import HEADERS
from deniable_server.problems import PROBLEMS
from deniable_server.services import services

from .samples import CANARY, OTHER, SURVEY


def test_pages(app: Flask, http: FlaskClient) -> None:
    """People get pages in plain words, with the survey's title escaped and its language named."""
    services(app).store.publish(OTHER)
    index = http.get("/").text
    assert "Canteen &lt;1&gt;" in index
    assert f'href="/s/{SURVEY.name}"' in index
    form = http.get(f"/s/{SURVEY.name}").text
    assert f'="/v1/surveys/{SURVEY.name}"' in form
    assert f'="{SURVEY.digest}"' in form
    assert '<html lang="en">' in form
    assert "<noscript>" in form
    missing = http.get(f"/s/{CANARY}")
    assert missing.status_code == 404
    assert "There is no such survey here" in missing.text
    assert CANARY not in missing.text
    assert http.get("/healthz").text == "ok\n"
    for reason, problem in PROBLEMS.items():
        page = http.get(f"/problems/{reason}")
        assert page.status_code == 200
        assert str(problem.status) in page.text


def test_no_survey_yet(tmp_path: Path) -> None:
    """A server without surveys says so."""
    app = create_app({"DATABASE": tmp_path / "empty.db"})
    assert "No survey is open here" in app.test_client().get("/").text
    services(app).close()


@pytest.mark.parametrize("path", ["/", f"/s/{SURVEY.name}", "/s/none", "/healthz", "/nothing",
                                  f"/v1/surveys/{SURVEY.name}", "/v1/surveys/none",
                                  "/problems/id"])  # fmt: skip
def test_headers(http: FlaskClient, path: str) -> None:
    """Every answer is locked down, kept nowhere and sets no cookie; only /v1 is for other sites."""
    answer = http.get(path, headers={"Cookie": f"a={CANARY}"})
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "Set-Cookie" not in answer.headers
    assert "Server" not in answer.headers
    assert answer.headers.get("Access-Control-Allow-Origin") == (
        "*" if path.startswith("/v1/") else None
    )


def test_content_security_policy() -> None:
    """The policy is the one that the browser client is built for."""
    assert HEADERS["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/client/form.js", "text/javascript"), ("/client/deniable.js", "text/javascript"),
     ("/static/pages.css", "text/css")],
)  # fmt: skip
def test_files(http: FlaskClient, path: str, kind: str) -> None:
    """Files have the type that browsers insist on, and are asked for again by their ETag."""
    with http.get(path) as answer:
        assert answer.status_code == 200
        assert answer.mimetype == kind
        assert answer.headers["Cache-Control"] == "no-cache"
        etag = answer.headers["ETag"]
        assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
    with http.get(path, headers={"If-None-Match": etag}) as answer:
        assert answer.status_code == 304
