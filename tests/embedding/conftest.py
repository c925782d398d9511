"""A server of surveys, and a site of another origin whose pages hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser

from deniable_server.browser_files import ENTRIES, in_use
from tests.browser.site import Site
from tests.browser.wire import Wire

from .pages import FILES, LOOSE, PANEL, Pages, Reader, surveys


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    own = {each.name: each for each in (PANEL, LOOSE)}
    with Site(tmp_path_factory.mktemp("site"), surveys() | own) as found:
        for entry in ENTRIES:  # so that both have read the same files, whoever edits them meanwhile
            for file in in_use(FILES, entry):
                urlopen(f"http://127.0.0.1:{found.port}/client/{entry}/{file.name}").close()
        yield found


@pytest.fixture
def wire(site: Site) -> Iterator[Wire]:
    with Wire(site.port) as found:
        yield found


@pytest.fixture
def pages(wire: Wire) -> Iterator[Pages]:
    found = Pages(wire.origin)
    yield found
    found.close()


@pytest.fixture
def visit(chromium: Browser, pages: Pages) -> Iterator[Callable[..., Reader]]:
    """Give a new reader of the pages, with a browser of their own."""
    contexts = []

    def arrive() -> Reader:
        contexts.append(chromium.new_context(locale="en-GB"))
        return Reader(contexts[-1], pages.address)

    yield arrive
    for context in contexts:
        context.close()


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return tmp_path / "profile"
