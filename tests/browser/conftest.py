"""One real server for all tests, and respondents who visit it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from .site import Site
from .visitor import Visitor
from .wire import Wire


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture
def wire(site: Site) -> Iterator[Wire]:
    with Wire(site.port) as found:
        yield found
        assert found.changed == set(found.replace)


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
