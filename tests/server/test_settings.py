"""How an intake is set, by options and by variables, seen at a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

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
