"""The distribution's chromium with its back/forward cache on, and one real server for all tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from .site import Site
from .visitor import Visitor
from .wire import Wire

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
    with sync_playwright() as found:
        yield found


@pytest.fixture(scope="session")
def chromium(playwright: Playwright, chromium_path: str) -> Iterator[Browser]:
    browser = playwright.chromium.launch(
        executable_path=chromium_path, ignore_default_args=WITH_CACHE
    )
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture
def wire(site: Site) -> Iterator[Wire]:
    with Wire(site.port) as found:
        yield found


@pytest.fixture
def visit(chromium: Browser, wire: Wire) -> Iterator[Callable[..., Visitor]]:
    """Give a new respondent with a browser of their own; options are the context's."""
    contexts = []

    def arrive(*, opened: bool = False, **options: object) -> Visitor:
        contexts.append(chromium.new_context(**({"locale": "en-GB"} | options)))  # type: ignore[arg-type]
        return Visitor(contexts[-1], wire.origin, opened=opened)

    yield arrive
    for context in contexts:
        context.close()
