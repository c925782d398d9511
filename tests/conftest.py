"""The ledger of false alarms: tests that draw real entropy declare how often they may be wrong."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

MOST_ALPHA = 1e-6
"""All declared false-alarm rates of one run together stay below this."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stat-seed", help="replay the statistical tests from this 256-bit hex seed")


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", None)
    seed = worker["stat_seed"] if worker else config.getoption("--stat-seed")
    config.stat_seed = seed or secrets.token_hex(32)  # type: ignore[attr-defined]


def pytest_configure_node(node: object) -> None:
    """Give every worker of a distributed run the same seed."""
    node.workerinput["stat_seed"] = node.config.stat_seed  # type: ignore[attr-defined]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ledger = {item.nodeid: _alpha(item) for item in items if item.get_closest_marker("statistical")}
    total = sum(ledger.values())
    if total >= MOST_ALPHA:
        raise pytest.UsageError(f"declared false-alarm rates add up to {total:g}")
    config.stat_ledger = ledger  # type: ignore[attr-defined]


def _alpha(item: pytest.Item) -> float:
    marker = item.get_closest_marker("statistical")
    assert marker is not None
    if not 0 < marker.kwargs.get("alpha", 0) <= 1e-9 or not marker.kwargs.get("detects"):
        raise pytest.UsageError(f"{item.nodeid}: declare alpha=… (at most 1e-9) and detects=…")
    return float(marker.kwargs["alpha"])


def pytest_report_header(config: pytest.Config) -> str:
    return f"statistical seed: --stat-seed={config.stat_seed}"  # type: ignore[attr-defined]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ledger = getattr(terminalreporter.config, "stat_ledger", {})
    if ledger:
        total = sum(ledger.values())
        terminalreporter.write_line(
            f"{len(ledger)} statistical tests; chance of a false alarm in this run: {total:.0e}"
        )


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Give a generator driven by this run's seed and the test's name: failures can be replayed."""
    seed = int(request.config.stat_seed, 16)  # type: ignore[attr-defined]
    name = int.from_bytes(request.node.nodeid.encode(), "big")
    return np.random.default_rng([seed, name])


# Automation switches the back/forward cache off, and with it what a Back button brings back.
WITH_CACHE = ["--disable-back-forward-cache"]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise AssertionError("chromium is missing; `make test` installs it where it may")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def chromium(playwright: Playwright, chromium_path: str) -> Iterator[Browser]:
    browser = playwright.chromium.launch(
        executable_path=chromium_path, ignore_default_args=WITH_CACHE
    )
    yield browser
    browser.close()
