"""What the server's tests share: a small server, and one PostgreSQL server for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_server import create_app
from deniable_server.services import services

from .postgres import Postgres
from .samples import SURVEY


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    app = create_app({"DATABASE": tmp_path / "survey.db"})
    services(app).store.publish(SURVEY)
    yield app
    services(app).close()


@pytest.fixture
def http(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as postgres:
        yield postgres
