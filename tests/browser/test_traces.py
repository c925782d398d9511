"""A marked true answer is looked for everywhere it could have been left behind."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import BrowserContext, Playwright

from tests.conftest import WITH_CACHE

from .site import Site
from .surveys import CALLED
from .test_kinds import sent
from .visitor import Visitor
from .wire import Wire

FORMS = (str(CALLED).encode(), str(CALLED).encode("utf-16-le"))


def with_profile(playwright: Playwright, chromium_path: str, folder: Path) -> BrowserContext:
    return playwright.chromium.launch_persistent_context(
        folder, executable_path=chromium_path, ignore_default_args=WITH_CACHE, locale="en-GB"
    )


def holds(found: bytes) -> bool:
    return any(form in found for form in FORMS)


def traces(folder: Path) -> list[str]:
    """Name the files of a browser profile that hold the mark."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 50  # there is a profile to search
    return [path.name for path in files if holds(path.read_bytes())]


def test_a_marked_answer_is_in_no_request_and_stays_nowhere(
    playwright: Playwright, chromium_path: str, wire: Wire, site: Site, tmp_path: Path
) -> None:
    context = with_profile(playwright, chromium_path, tmp_path)
    visitor = Visitor(context, wire.origin).open("calls")
    visitor.tab_to("spinbutton").page.keyboard.type(str(CALLED))
    visitor.page.goto(f"{wire.origin}/healthz")  # typed, not sent, and left
    visitor.open("calls")
    visitor.tab_to("spinbutton").page.keyboard.type(str(CALLED))
    assert visitor.one("spinbutton").value.startswith("412867")  # the tree has single precision
    sent(visitor)
    shown = visitor.text()
    storage = visitor.page.evaluate(
        "JSON.stringify([localStorage, sessionStorage, document.cookie])"
    )
    kept = context.storage_state(indexed_db=True)
    context.close()

    assert site.row(wire.reports[0].body) is not None
    assert not any(holds(request.raw) for request in wire.requests)
    assert not holds(site.kept())
    assert not holds(f"{shown} {storage} {kept}".encode())
    assert traces(tmp_path) == []


def test_a_field_of_the_page_itself_would_leave_a_trace(
    playwright: Playwright, chromium_path: str, wire: Wire, tmp_path: Path
) -> None:
    wire.replace = {"<main>": '<main><input id="plain" type="number">'}
    context = with_profile(playwright, chromium_path, tmp_path)
    visitor = Visitor(context, wire.origin).open("short")
    visitor.page.locator("#plain").press_sequentially(str(CALLED))
    visitor.page.goto(f"{wire.origin}/healthz")
    visitor.page.wait_for_timeout(300)
    context.close()
    assert traces(tmp_path) != []
