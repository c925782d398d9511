"""One device, one report: across reloads, tabs, lost answers, a dead network and a dead browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Playwright, expect

from deniable_protocol import Survey
from tests.browser.site import Site
from tests.browser.wire import Wire

from .pages import PANEL, PAY, Reader, bodies, leaks, surveys

Visit = Callable[..., Reader]


def test_reloads_tabs_and_no_network(visit: Visit, wire: Wire, site: Site, pages: Any) -> None:
    """Twenty reloads, two tabs, offline and back: one row, one set of bytes, and it is shown."""
    before = site.count("tickets")
    wire.lose = True  # what is sent is stored, but nobody is told
    reader = visit().read("element")
    other = Reader(reader.context, pages.address).read("element")
    for tab in (reader, other):
        tab.page.bring_to_front()
        tab.answer() if tab is reader else other.tab_to("radio", "Yes").press("ArrowDown")
    other.tab_to("spinbutton").page.keyboard.type("1")
    reader.page.bring_to_front()
    reader.send()
    reader.wait(lambda: len(bodies(wire)) >= 1)
    other.page.bring_to_front()
    other.send()
    other.wait(lambda: other.says("Sending"))
    reader.page.bring_to_front()
    for _ in range(20):
        count = len(bodies(wire))
        reader.page.reload()
        reader.wait(lambda count=count: len(bodies(wire)) > count)  # type: ignore[misc]
    # Reading a closed root ends the emulated absence of a network; a form of the page can be read.
    plain = Reader(reader.context, pages.address).read("plain")
    plain.context.set_offline(True)
    told = plain.page.locator("output")
    expect(told).to_contain_text("offline", timeout=20_000)
    wire.lose = False
    plain.context.set_offline(False)
    expect(plain.page.locator("#heard")).to_contain_text("deniable-sent", timeout=20_000)
    assert len(bodies(wire)) > 20
    assert len(set(bodies(wire))) == 1
    assert site.count("tickets") == before + 1
    assert leaks(reader, wire, pages) == []
    other.page.reload()
    other.wait(lambda: other.says("has answered this survey"))


def test_answered_without_a_network(visit: Visit, wire: Wire, site: Site, pages: Any) -> None:
    """The connection is lost while someone answers: the report waits, and goes out by itself."""
    before = site.count("tickets")
    reader = visit().read("element")
    reader.wait(lambda: any("outcome.js" in request.path for request in wire.requests))
    reader.page.wait_for_load_state("networkidle")
    reader.context.set_offline(True)
    # By keys alone: looking at the closed root would end the emulated absence of a network.
    keys = reader.page.keyboard
    for key in ("Tab", "Tab", "Space", "Tab", "ArrowDown", "Tab"):
        keys.press(key)
    keys.type(PAY)
    for key in ("Tab", "Tab", "Space", "Tab", "Enter"):
        keys.press(key)
    kept = json.dumps(reader.context.storage_state(indexed_db=True))
    assert not wire.reports
    reader.context.set_offline(False)
    expect(reader.page.locator("#heard")).to_contain_text("deniable-sent", timeout=20_000)
    assert len(bodies(wire)) == 1
    assert json.loads(bodies(wire)[0])["id"] in kept, "it was on disk before it left"
    assert PAY not in kept
    assert site.count("tickets") == before + 1


def test_two_tabs_at_the_same_moment(visit: Visit, wire: Wire, site: Site, pages: Any) -> None:
    """Forms that are sent together in one browser draw one report between them."""
    before = site.count("tickets")
    pages.policy = False  # it allows no frames
    reader = visit()
    frames = '<iframe src="plain.html" width="45%" height="900"></iframe>' * 2
    pages.extra["two.html"] = frames
    reader.page.goto(f"{pages.address}/two.html")
    both = reader.page.main_frame.child_frames
    for frame in both:
        frame.wait_for_function("window.heard?.includes('deniable-ready')")
        for label in ("Yes", "More often", "Green"):
            frame.get_by_label(label).check()
        frame.locator("[data-name=pay]").fill(PAY)
    reader.page.evaluate(
        "document.querySelectorAll('iframe').forEach((frame) =>"
        " frame.contentDocument.querySelector('button').click())"
    )
    for frame in both:
        frame.wait_for_function("heard.includes('deniable-sent') || heard.length > 1")
    assert len(set(bodies(wire))) == 1
    assert site.count("tickets") == before + 1


def test_a_crash_draws_no_second_report(
    playwright: Playwright, chromium_path: str, wire: Wire, site: Site, pages: Any, profile: Path
) -> None:
    """The browser is killed as the report leaves; started again it sends the same bytes.

    The profile folder holds that report and nothing that was answered.
    """
    before = site.count("tickets")
    wire.lose = True

    def start() -> Reader:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium_path, locale="en-GB"
        )
        return Reader(context, pages.address)

    reader = start().read("element")
    reader.answer()
    reader.send()
    reader.wait(lambda: len(bodies(wire)) >= 1)
    assert reader.context.pages
    with suppress(Error):  # it is gone before it can answer
        reader.context.new_cdp_session(reader.page).send("Browser.crash")
    identifier = json.loads(bodies(wire)[0])["id"]
    assert traces(profile, identifier), "the report is on disk"
    assert not traces(profile, PAY)
    wire.lose = False
    for lock in profile.glob("Singleton*"):
        lock.unlink()  # the dead browser's
    reader = start().read("element", "deniable-sent")
    assert len(set(bodies(wire))) == 1
    assert site.count("tickets") == before + 1
    reader.page.evaluate(f"localStorage.setItem('found', 'canary{PAY}')")
    reader.context.close()
    assert traces(profile, f"canary{PAY}"), "what a page keeps is found by the same look"
    assert not [path for path in traces(profile, PAY) if "canary" not in read(path)]


def traces(folder: Path, text: str) -> list[Path]:
    """Find files that hold a text, in one byte or two for each letter."""
    forms = (text.encode(), text.encode("utf-16-le"))
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if any(form in path.read_bytes() for form in forms)]


def read(path: Path) -> str:
    return path.read_bytes().replace(b"\0", b"").decode("latin-1")


def panel(pages: Any, arm: str, limit: str = "4") -> str:
    script = pages.places("element.html")["script"]
    pages.extra[f"{arm}.html"] = (
        f'<script src="listen.js"></script>{script}<p id="heard"></p>'
        f'<deniable-survey src="{pages.origin}/v1/surveys/panel" digest="{PANEL.digest}" '
        f'arm="{arm}" max-epsilon="{limit}"></deniable-survey>'
    )
    return arm


def test_a_panel_sends_the_same_in_every_wave(visit: Visit, wire: Wire, pages: Any) -> None:
    """The same answer in four waves: one subset under four ids; then a limit stops the fifth."""
    reader = visit()
    for wave in range(1, 5):
        reader.read(panel(pages, f"w{wave}"))
        reader.tab_to("radio", "Yes").press("Space")
        reader.send()
        reader.hear("deniable-sent")
    reports = [json.loads(body) for body in bodies(wire)]
    assert len({str(report["answers"]) for report in reports}) == 1
    assert len({report["id"] for report in reports}) == 4
    assert [report["arm"] for report in reports] == ["w1", "w2", "w3", "w4"]
    kept = reader.context.storage_state(indexed_db=True)
    (store,) = kept["origins"][0]["indexedDB"][0]["stores"]  # type: ignore[typeddict-item]
    assert len(store["records"]) == 5  # four waves, and the one permanent table
    reader.read(panel(pages, "w5", "2.1"), "deniable-error limit")
    assert not reader.all("radio")
    assert len(bodies(wire)) == 4


def test_a_closed_survey_keeps_the_report(visit: Visit, wire: Wire, site: Site) -> None:
    """A survey that closes while someone answers: it is said, kept, and sent when it opens."""
    before = site.count("tickets")
    reader = visit().read("plain")
    wire.answer = lambda request: 404 if request.method == "POST" else None
    reader.answer_plain()
    reader.page.get_by_role("button").click()
    reader.hear("deniable-error closed")
    shown = reader.page.locator("output").text_content() or ""
    assert "not open" in shown
    assert "is kept on this device" in shown
    wire.answer = lambda request: None
    reader.page.reload()
    reader.hear("deniable-sent")
    assert len(set(bodies(wire))) == 1
    assert site.count("tickets") == before + 1


def test_a_changed_survey_is_another(visit: Visit, wire: Wire, site: Site, pages: Any) -> None:
    """A changed survey is refused by a page that pins the earlier one; what waits is still sent.

    A page that pins the new one asks again, and both count.
    """
    before = site.count("tickets")
    reader = visit().read("plain")
    wire.answer = lambda request: 404 if request.method == "POST" else None
    reader.answer_plain()
    reader.page.get_by_role("button").click()
    reader.hear("deniable-error closed")
    old, new = surveys()["tickets"].title, "Riding with no ticket"
    wire.replace = {str(old): new}
    wire.answer = lambda request: None
    reader.read("element", "deniable-error digest")
    assert not reader.all("radio")
    changed = Survey.load({**surveys()["tickets"].published, "title": {"en": new}})
    made = pages.places("element.html")["snippet"]
    pages.extra["changed.html"] = (
        '<script src="listen.js"></script><p id="heard"></p>'
        + made.replace(surveys()["tickets"].digest, changed.digest).replace(
            "></deniable-survey>", ' max-epsilon="8.1"></deniable-survey>'
        )
    )
    reader.read("changed")
    reader.wait(lambda: site.count("tickets") == before + 1)
    assert reader.all("radio")
    assert len(set(bodies(wire))) == 1
    identifier = json.loads(bodies(wire)[0])["id"]
    reader.wait(
        lambda: identifier not in json.dumps(reader.context.storage_state(indexed_db=True))
    )  # it has heard of the acknowledgement
    reader.page.reload()
    reader.hear("deniable-ready")
    assert len(bodies(wire)) == 2, "the acknowledged one is not sent again"


def test_without_storage_it_is_said(chromium: Browser, pages: Any, wire: Wire) -> None:
    """Where the browser keeps nothing, the form says so, and this page still sends once."""
    context = chromium.new_context(locale="en-GB")
    context.add_init_script("delete window.indexedDB; window.indexedDB = undefined;")
    reader = Reader(context, pages.address).read("element")
    assert reader.says("lets the page remember nothing")
    reader.answer()
    reader.send()
    reader.hear("deniable-sent")
    assert len(bodies(wire)) == 1
    context.close()
