"""How an intake is set, by options and by variables, seen at a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable_protocol import SettingError
from deniable_protocol.cli import main
from deniable_server import create_app
from deniable_server.issuer import Issuer
from deniable_server.services import services

from .running import Server
from .samples import SURVEY, body, dump
from .test_gunicorn import OURS, Gunicorn

NETWORKS = ("192.0.2.7", "198.51.100.7", "203.0.113.7", "192.0.2.8")
"""The first and the last are in one network, as a limit counts it."""


def through_a_proxy(server: Server) -> list[int]:
    """Send a report of each network, as a proxy hands it on; the client's own word comes first."""
    return [
        server.post(body(), **{"X-Forwarded-For": f"10.9.{place}.1, {network}"})[0]
        for place, network in enumerate(NETWORKS)
    ]


@pytest.mark.parametrize(
    ("options", "statuses"),
    [
        (["--proxies", "1"], [201, 201, 201, 429]),  # what the last proxy says
        (["--proxies", "2"], [201, 201, 201, 201]),  # what the one before it says
        (["--proxies", "3"], [201, 429, 429, 429]),  # nobody says: all are the proxy's network
        ([], [201, 429, 429, 429]),
    ],
)
def test_whom_the_limit_counts(tmp_path: Path, options: list[str], statuses: list[int]) -> None:
    """As many proxies as are declared are believed, and none if none is; nobody is named."""
    with Server(tmp_path, options=["--limit", "1", *options]) as server:
        assert through_a_proxy(server) == statuses
        assert server.stop() == 0
        assert server.complaints() == ""


Start = Callable[..., Server]


def serve(folder: Path, **env: str) -> Server:
    return Server(folder, **env)


def gunicorn(folder: Path, **env: str) -> Server:
    return Gunicorn(folder, *OURS, **env)


def asks_for_a_code(server: Server) -> bool:
    """Tell whether a server signs invitations: then it says that this one is unknown."""
    request = dump({"code": "x", "blinded": "00"})
    return server.post(request, f"/v1/surveys/{SURVEY.name}/tokens")[0] == 403


@pytest.mark.parametrize("start", [serve, gunicorn])
def test_variables_are_the_same_everywhere(tmp_path: Path, start: Start) -> None:
    """Under deniable serve and under gunicorn one set of variables says the same."""
    Issuer(tmp_path / "issuer.db")
    settings = {
        "DENIABLE_LIMIT": "1", "DENIABLE_PROXIES": "1",
        "DENIABLE_ISSUER": str(tmp_path / "issuer.db"),
    }  # fmt: skip
    with start(tmp_path, **settings) as server:
        assert through_a_proxy(server) == [201, 201, 201, 429]
        assert server.stop() == 0
    with start(tmp_path, DENIABLE_ISSUER=settings["DENIABLE_ISSUER"]) as server:
        assert asks_for_a_code(server)
        assert server.stop() == 0
    with start(tmp_path, DENIABLE_ISSUER="", DENIABLE_LIMIT="", DENIABLE_PROXIES="") as server:
        assert through_a_proxy(server) == [201, 201, 201, 201]
        assert not asks_for_a_code(server)


def test_options_come_before_variables(tmp_path: Path) -> None:
    """What is typed counts, and help names the variable beside the option."""
    env = {"DENIABLE_LIMIT": "1", "DENIABLE_PROXIES": "3"}
    with Server(tmp_path, options=["--limit", "2", "--proxies", "1"], **env) as server:
        assert through_a_proxy(server) == [201, 201, 201, 201]
        assert server.post(body(), **{"X-Forwarded-For": NETWORKS[0]})[0] == 429
    help_ = CliRunner().invoke(main, ["serve", "--help"]).output
    for name in ("LIMIT", "PROXIES", "ISSUER", "OPERATOR_TOKEN", "QUEUE", "DATABASE"):
        assert f"DENIABLE_{name}" in help_


def test_an_issuer_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file is not made anew: that would know none of the codes that people have."""
    monkeypatch.setenv("DENIABLE_ISSUER", str(tmp_path / "issue.db"))
    with pytest.raises(SettingError, match=r"^DENIABLE_ISSUER: expected the file .*issue\.db'$"):
        create_app({"DATABASE": tmp_path / "survey.db"})
    assert list(tmp_path.iterdir()) == []


NUMBERS = ("many", "0", "-1", "1.5", "true", "1_0", "9" * 10)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_variable_that_is_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    """The message names the variable, what it may be and what it is."""
    monkeypatch.setenv("DENIABLE_QUEUE", number)
    with pytest.raises(SettingError) as error:
        create_app({"DATABASE": tmp_path / "survey.db"})
    assert str(error.value) == (
        f"DENIABLE_QUEUE: expected a whole number, 1 or more, got {number!r}"
    )
    assert not (tmp_path / "survey.db").exists()


def test_settings_of_whoever_makes_the_application(tmp_path: Path) -> None:
    """What is given in Python is named as it is there, and may not be a yes either."""
    for name, value, said in (("PROXIES", 10, "0 to 9"), ("LIMIT", True, "0 or more")):
        with pytest.raises(SettingError, match=f"^{name}: expected a whole number, {said}, got"):
            create_app({"DATABASE": tmp_path / "survey.db", name: value})


@pytest.mark.parametrize("workers", ["1", "2"])
def test_serve_says_so_and_ends(tmp_path: Path, workers: str) -> None:
    """No traceback, and no worker that is started again and again."""
    words = ["serve", "--workers", workers, "--port", "0", "--database", tmp_path / "survey.db"]
    done = subprocess.run(
        [sys.executable, "-m", "deniable_protocol", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=60,
        env=os.environ | {"DENIABLE_QUEUE": "lots"},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "Error: DENIABLE_QUEUE: expected a whole number, 1 or more, got 'lots'\n"


@pytest.mark.parametrize("token", ["1234", "0123", "true", "null", '"quoted"', "1e3", "[1]"])
def test_a_token_is_taken_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    """Also if it looks like something of JSON."""
    monkeypatch.setenv("DENIABLE_OPERATOR_TOKEN", token)
    app = create_app({"DATABASE": tmp_path / "survey.db"})
    assert app.test_client().get("/operator", auth=("any", token)).status_code == 200
    assert app.test_client().get("/operator", auth=("any", f"{token} ")).status_code == 401
    services(app).close()


def test_an_empty_variable_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a service's file may have it, with nothing behind the sign."""
    for name in ("QUEUE", "LIMIT", "PROXIES", "ISSUER", "OPERATOR_TOKEN"):
        monkeypatch.setenv(f"DENIABLE_{name}", "")
    app = create_app({"DATABASE": tmp_path / "survey.db"})
    assert (app.config["QUEUE"], app.config["LIMIT"], app.config["PROXIES"]) == (4096, 0, 0)
    assert app.test_client().get("/operator").status_code == 404
    services(app).close()
