"""Each way to embed a survey works on a page of another origin, under a strict policy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.site import Site
from tests.browser.wire import Wire

from .pages import PAY, Reader, leaks, only_report, surveys

Visit = Callable[..., Reader]


def stored(site: Site, body: bytes) -> dict[str, list[int]]:
    row = site.row(body)
    assert row is not None
    return {name: list(drawn) for name, drawn in row.items() if name != "id"}


@pytest.mark.parametrize("way", ["element", "react", "vue"])
def test_element(visit: Visit, wire: Wire, site: Site, pages: Any, way: str) -> None:
    """The element asks, randomizes and sends; the page hears that it did and nothing else."""
    reader = visit().read(way)
    reader.answer()
    reader.send()
    reader.hear("deniable-sent")
    report = only_report(wire, surveys()["tickets"])
    assert stored(site, wire.reports[0].body) == report["answers"]
    assert leaks(reader, wire, pages) == []
    assert set(reader.heard) == {"deniable-ready", "deniable-sent"}
    assert reader.page.evaluate("document.querySelector('deniable-survey').shadowRoot") is None
    if way != "element":
        assert reader.page.locator("#thanks").text_content() == "Thank you."
    everywhere = reader.page.content() + json.dumps(
        reader.context.storage_state(indexed_db=True)
    ) + reader.page.evaluate("document.body.innerText + JSON.stringify(localStorage)")  # fmt: skip
    assert PAY not in everywhere
    assert reader.violations() == []


def test_plain_form(visit: Visit, wire: Wire, site: Site, pages: Any) -> None:
    """A form of the page's own is randomized; the page shows what left the device."""
    reader = visit().read("plain")
    often = reader.page.locator("[data-question=often]")
    assert often.is_hidden()
    reader.answer_plain()
    assert often.is_visible()
    assert reader.page.evaluate("[...new FormData(document.forms[0])].length") == 0
    reader.page.get_by_role("button").click()
    reader.hear("deniable-sent")
    report = only_report(wire, surveys()["tickets"])
    assert stored(site, wire.reports[0].body) == report["answers"]
    shown = reader.page.locator("output").text_content() or ""
    assert wire.reports[0].body.decode() in shown
    assert leaks(reader, wire, pages) == []
    assert reader.page.evaluate("document.querySelectorAll(':checked').length") == 0
    assert reader.page.locator("[data-name=pay]").input_value() == ""
    assert reader.violations() == []


def test_a_blocked_request_is_shown_in_a_plain_form(visit: Visit, wire: Wire,
                                                    pages: Any) -> None:  # fmt: skip
    """Something on the device refuses the request: that is said, and that the report is kept."""
    reader = visit()
    page = reader.page
    page.clock.install()
    page.route("**/reports", lambda route: route.abort("blockedbyclient"))
    reader.read("plain").answer_plain()
    page.get_by_role("button").click()
    expect(page.locator("output")).to_contain_text("the same report again, 2 of 5")
    for _ in range(40):
        page.clock.run_for(5_000)
        if "deniable-error network" in reader.heard:
            break
    shown = page.locator("output").text_content() or ""
    assert "something blocked the request" in shown
    assert "is kept on this device" in shown
    assert not wire.reports
    assert leaks(reader, wire, pages) == []


def test_surveyjs(visit: Visit, wire: Wire, site: Site, pages: Any) -> None:
    """A form that SurveyJS draws is randomized as it is completed; its data is gone."""
    reader = visit().read("surveyjs")
    page = reader.page
    page.get_by_text("Yes", exact=True).click()
    page.get_by_text("More often").click()
    page.locator("input[type=number]").fill(PAY)
    assert page.evaluate("[...document.querySelectorAll('input:not([type=button])')].every("
                         "({ autocomplete }) => autocomplete === 'off')")  # fmt: skip
    page.get_by_text("Green").click()
    page.locator("input[value=Complete]").click()
    reader.hear("deniable-sent")
    report = only_report(wire, surveys()["tickets-surveyjs"])
    assert stored(site, wire.reports[0].body) == report["answers"]
    assert leaks(reader, wire, pages) == []
    assert PAY not in page.content()
    page.reload()
    reader.wait(lambda: "has answered" in (page.locator("#app").text_content() or ""))
    assert len(wire.reports) == 1


def test_themes_reach_in(visit: Visit, pages: Any) -> None:
    """Custom properties and parts style the closed root; other rules of the page do not."""
    rules = """deniable-survey { --deniable-card: rgb(1, 2, 3); } button { color: lime; }
               deniable-survey::part(button) { letter-spacing: 9px; }"""
    pages.extra["theme.css"] = rules
    reader = visit().read("element")
    found = reader.page.evaluate_handle("document.querySelector('deniable-survey')")
    session = reader.context.new_cdp_session(reader.page)
    document = session.send("DOM.getDocument", {"depth": -1, "pierce": True})
    text = json.dumps(document)
    buttons = [int(node) for node in re.findall(
        r'"nodeId": (\d+)[^{}]*"nodeName": "BUTTON"', text)]  # fmt: skip
    session.send("DOM.enable")
    session.send("CSS.enable")
    style = session.send("CSS.getComputedStyleForNode", {"nodeId": buttons[-1]})["computedStyle"]
    values = {entry["name"]: entry["value"] for entry in style}
    assert values["letter-spacing"] == "9px"
    assert values["color"] != "rgb(0, 255, 0)"
    assert values["--deniable-card"] == "rgb(1, 2, 3)"
    assert found is not None


@pytest.mark.parametrize(
    ("place", "reason"),
    [({"digest": "sha256-" + "A" * 43 + "="}, "digest"), ({"digest": ""}, "digest"),
     ({"arm": "north"}, "page"), ({"max-epsilon": "3.9"}, "limit"), ({"src": "/nowhere"}, "closed"),
     ({"max-epsilon": "many"}, "limit")],
)  # fmt: skip
def test_a_wrong_place_is_refused(visit: Visit, wire: Wire, pages: Any, place: dict[str, str],
                                  reason: str) -> None:  # fmt: skip
    """Another survey, an unknown arm or a limit below the survey's: an event, and no question."""
    made = pages.places("element.html")
    given = {"src": made["src"], "digest": made["digest"]} | place
    attributes = " ".join(f'{name}="{value}"' for name, value in given.items())
    pages.extra["wrong.html"] = (
        f'<script src="listen.js"></script>{made["script"]}<p id="heard"></p>'
        f"<deniable-survey {attributes}></deniable-survey>"
    )
    reader = visit().read("wrong", f"deniable-error {reason}")
    assert reader.says("nothing was sent")
    assert not reader.all("radio")
    assert not wire.reports
