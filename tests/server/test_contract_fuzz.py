"""The server does what its own OpenAPI document says, whatever is sent; and that can be told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response, request
from schemathesis.core.failures import FailureGroup

from deniable_server import create_app
from deniable_server.issuer import Issuer
from deniable_server.services import services

from .fuzzing import REPORTS, SURVEYS, fuzz, load


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    (tmp_path / "issuer.db").unlink(missing_ok=True)
    Issuer(tmp_path / "issuer.db").invite("invited", 1)
    config = {"DATABASE": tmp_path / "survey.db", "ISSUER": tmp_path / "issuer.db"}
    app = create_app(config)
    for survey in SURVEYS:
        services(app).store.publish(survey)
    yield app
    services(app).close()


def test_fuzzed_by_its_own_contract(app: Flask) -> None:
    """No answer is a server error, each is as described, and stored is what was acknowledged."""
    schema = load(app)
    seen = fuzz(schema, examples=40, few=4)
    assert {path for path, _ in seen} == {
        operation.ok().label for operation in schema.get_all_operations()
    }
    taken = f"POST {REPORTS}"
    assert {status for label, status in seen if label == taken} >= {201, 207, 404, 422}
    assert seen["POST /v1/surveys/{name}/tokens", 403]
    store = services(app).store
    assert sum(store.count(each) for each in store.surveys()) >= seen[taken, 201] > 0


def _undescribed_status(response: Response) -> None:
    if response.status_code == 422:
        response.status_code = 400


def _error(response: Response) -> None:
    if request.path.startswith("/s/"):
        response.status_code = 500


def _other_shape(response: Response) -> None:
    if response.status_code == 201:
        response.set_data(json.dumps({"status": "stored", "id": 1}))


def _other_type(response: Response) -> None:
    if response.mimetype == "application/problem+json":
        response.mimetype = "application/json"


def _takes_everything(response: Response) -> None:
    if response.status_code == 422:
        response.status_code = 201
        response.mimetype = "application/json"
        response.set_data(json.dumps({"status": "stored"}))


BREAKS: list[Callable[[Any], None]] = [
    _undescribed_status, _error, _other_shape, _other_type, _takes_everything,
]  # fmt: skip


@pytest.mark.parametrize("broken", BREAKS)
def test_a_broken_server_is_caught(app: Flask, broken: Callable[[Any], None]) -> None:
    """A status, a shape or a type that the contract does not have, or a wrong yes, is found."""

    @app.after_request
    def change(response: Response) -> Response:
        broken(response)
        return response

    with pytest.raises(FailureGroup):
        fuzz(load(app), examples=15, few=3)
