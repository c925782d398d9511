"""One respondent, a real browser, a real server: what is sent is what is shown and stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from .site import Site
from .surveys import SURVEYS
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]
SENT = "Sent. Thank you."


def fill_short(visitor: Visitor) -> None:
    """Answer the short survey: No; not answering; "Somewhat"."""
    visitor.tab_to("radio", "Yes").press("Space", "ArrowDown")
    visitor.press("Tab", "ArrowUp")  # from the first option, up is the last: not answering
    visitor.press("Tab", "Space", "ArrowDown", "ArrowDown")


def chosen(visitor: Visitor) -> list[str]:
    return [node.name for node in visitor.all("radio") if node["checked"] == "true"]


def test_answering_by_keyboard_stores_the_report_that_is_shown(visit: Visit, wire: Wire,
                                                               site: Site) -> None:  # fmt: skip
    visitor = visit().open("short")
    fill_short(visitor)
    assert chosen(visitor) == ["No", "I’d rather not answer", "Somewhat"]
    assert not wire.reports
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))

    (request,) = wire.reports
    row = site.row(request.body)
    assert row is not None
    report = json.loads(request.body)
    assert {name: list(drawn) for name, drawn in row.items() if name != "id"} == report["answers"]
    assert visitor.focused().name == SENT
    assert request.body.decode() in visitor.text().splitlines()
    for name, drawn in report["answers"].items():
        options = [str(option) for option in SURVEYS["short"][name].options]
        assert visitor.says([*options, "I’d rather not answer"][drawn[0]])
    assert visitor.violations() == []


def test_a_wide_question_sends_several_options_and_shows_them_all(visit: Visit, wire: Wire,
                                                                  site: Site) -> None:  # fmt: skip
    visitor = visit().open("wide")
    visitor.tab_to("radio").press("Space").send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    drawn = json.loads(wire.reports[0].body)["answers"]["month"]
    assert len(drawn) == SURVEYS["wide"]["month"].channel.subset > 1
    assert all(f"Month {index + 1}" in visitor.text().splitlines() for index in drawn)
    assert site.row(wire.reports[0].body) is not None


def test_nothing_is_sent_before_every_question_is_answered(visit: Visit, wire: Wire) -> None:
    visitor = visit().open("short")
    visitor.tab_to("radio", "Yes").press("Space")
    visitor.send()
    assert visitor.says("2 questions are still open.")
    assert [group["invalid"] for group in visitor.all("radiogroup")] == ["false", "true", "true"]
    assert visitor.focused().name == "Arithmetic"
    assert not wire.reports


def test_arrows_and_enter_neither_send_nor_move_on(visit: Visit, wire: Wire) -> None:
    visitor = visit().open("short")
    fill_short(visitor)
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp"):
        visitor.press(key)
        assert visitor.focused().name in map(str, SURVEYS["short"]["regret"].options)
    visitor.press("Enter")
    assert visitor.all("button", "Randomize and send")
    assert visitor.page.url.endswith("/s/short")
    assert not wire.reports


def test_a_second_visit_draws_no_second_report(visit: Visit, wire: Wire, site: Site) -> None:
    visitor = visit().open("short")
    fill_short(visitor)
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    before = site.count("short")
    for _ in range(3):
        visitor.open("short", "heading")
        visitor.wait(lambda: visitor.says("This device has answered this survey"))
        assert not visitor.all("radio")
    assert (len(wire.reports), site.count("short")) == (1, before)


def test_a_lost_acknowledgement_leads_to_the_same_bytes(visit: Visit, wire: Wire,
                                                        site: Site) -> None:  # fmt: skip
    visitor = visit()
    visitor.page.clock.install()
    visitor.open("short")
    fill_short(visitor)
    before = site.count("short")
    wire.lose = True
    visitor.send()
    blocked(visitor, wire)
    wire.lose = False
    visitor.open("short", "heading")  # what waits is sent
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    assert len({request.body for request in wire.reports}) == 1
    assert len(wire.reports) >= 6  # Chromium itself may try once more
    assert site.count("short") == before + 1


def test_a_blocked_request_is_shown_to_the_respondent(visit: Visit, wire: Wire) -> None:
    visitor = visit()
    visitor.page.clock.install()
    visitor.page.route("**/reports", lambda route: route.abort("blockedbyclient"))
    visitor.open("short")
    fill_short(visitor)
    visitor.send()
    visitor.wait(lambda: visitor.says("Sending"))
    for _ in range(4):
        visitor.page.clock.run_for(20_000)
    visitor.wait(lambda: visitor.says("Not sent yet"))
    assert visitor.says("The server could not be reached, or something blocked the request.")
    assert visitor.all("button", "Send the same report")
    assert not wire.reports


@pytest.mark.parametrize("year", [1971, 2099])
def test_a_clock_that_is_wrong(visit: Visit, wire: Wire, site: Site, year: int) -> None:
    """No part of asking, drawing, keeping and sending looks at the device's date."""
    visitor = visit()
    visitor.page.clock.install(time=datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC))
    visitor.open("short")
    assert visitor.page.evaluate("new Date().getUTCFullYear()") in (year, year + 1)
    before = site.count("short")
    fill_short(visitor)
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    assert site.count("short") == before + 1
    assert f"{year}" not in wire.reports[0].body.decode().partition('"survey"')[2]
    visitor.open("short", "heading")
    visitor.wait(lambda: visitor.says("This device has answered this survey"))
    assert len(wire.reports) == 1


def test_arrows_in_five_options(visit: Visit, wire: Wire) -> None:
    """Every arrow goes one option on, and round; the page stays, and nothing is sent."""
    visitor = visit().open("short")
    labels = [str(option) for option in SURVEYS["short"]["regret"].options]
    visitor.tab_to("radio", labels[0]).press("Space")
    for key, step in (("ArrowRight", 1), ("ArrowDown", 1), ("ArrowLeft", -1), ("ArrowUp", -1)):
        for _ in labels:
            place = labels.index(visitor.focused().name)
            visitor.press(key)
            now = [node.name for node in visitor.all("radio") if node["checked"] == "true"]
            assert now == [visitor.focused().name] == [labels[(place + step) % len(labels)]]
    assert visitor.page.evaluate("scrollX") == 0
    assert not wire.reports


def blocked(visitor: Visitor, wire: Wire) -> None:
    """Let the waits between the five attempts pass at once."""
    for attempt in range(1, 6):
        visitor.wait(lambda attempt=attempt: len(wire.reports) >= attempt)  # type: ignore[misc]
        visitor.page.clock.run_for(20_000)
    visitor.wait(lambda: visitor.says("Not sent yet"))
