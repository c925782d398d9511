"""How an intake is set, by options and by variables, seen at a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deniable_protocol import SettingError
from deniable_server import create_app
from deniable_server.services import services

from .running import Server
from .samples import body

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
