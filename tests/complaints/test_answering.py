"""What respondents of other tools' surveys complain of, in a real Chromium and on the embed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from tests.browser.conftest import site, visit, wire  # noqa: F401
from tests.browser.site import Site
from tests.browser.surveys import SURVEYS
from tests.browser.test_answering import SENT, fill_short
from tests.browser.visitor import Visitor
from tests.browser.wire import Wire

Visit = Callable[..., Visitor]


@pytest.mark.parametrize("year", [1971, 2099])
def test_a_clock_that_is_wrong(visit: Visit, wire: Wire, site: Site, year: int) -> None:  # noqa: F811
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


def test_arrows_in_five_options(visit: Visit, wire: Wire) -> None:  # noqa: F811
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
