"""What the server's tests share: one PostgreSQL server for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as postgres:
        yield postgres
