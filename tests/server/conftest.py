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
from .verbs import Run, typed_for


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


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the address of an empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "survey.db")
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.new_database()


@pytest.fixture
def deniable(database: str) -> Run:
    return typed_for(database)
