"""Where something is wrong, the respondent reads what, and nothing is drawn or sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .surveys import SURVEYS
from .test_answering import SENT, chosen, fill_short
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]

REFUSAL = "This survey cannot be answered here, and nothing was sent"


def refused(visitor: Visitor, name: str) -> str:
    visitor.open(name, "alert")
    visitor.wait(lambda: visitor.says(REFUSAL))
    assert visitor.focused().name == REFUSAL
    assert not visitor.all("radio")
    return visitor.text()


def test_a_survey_above_the_limit_of_the_device(visit: Visit, wire: Wire) -> None:
    visitor = visit()
    text = refused(visitor, "loud")
    assert (
        visitor.console == []
    )  # the refusal is shown, and no program on the page hears of it twice
    assert "it would reveal more than this device allows. (ε 4.500 > 4)" in text
    assert not wire.reports


def test_a_survey_that_is_not_the_pinned_one(visit: Visit, wire: Wire) -> None:
    wire.replace = {"Botany": "botany"}
    assert "The survey that arrived is not the one this page was made for." in refused(
        visit(), "short"
    )
    assert not wire.reports


@pytest.mark.parametrize(("status", "says"), [
    (404, "The survey is not open."),
    (503, "The server cannot take the request just now."),
])  # fmt: skip
def test_a_survey_that_does_not_arrive(visit: Visit, wire: Wire, status: int, says: str) -> None:
    wire.answer = lambda request: status if request.path.startswith("/v1/") else None
    assert says in refused(visit(), "short")


def test_a_part_that_cannot_be_loaded_leaves_the_answers_and_draws_nothing(
    visit: Visit, wire: Wire
) -> None:
    wire.answer = lambda request: 503 if "outcome" in request.path else None
    visitor = visit().open("short")
    fill_short(visitor)
    visitor.send()
    visitor.wait(lambda: visitor.says("A part of this page could not be loaded."))
    assert len(chosen(visitor)) == 3
    assert not wire.reports
    stored = visitor.context.storage_state(indexed_db=True)
    assert SURVEYS["short"].digest not in str(stored)
    wire.answer = lambda request: None
    visitor.press("Enter")
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))


def test_two_clicks_send_one_report(visit: Visit, wire: Wire) -> None:
    visitor = visit().open("short")
    fill_short(visitor)
    x, y = visitor.middle(visitor.one("button"))
    visitor.page.mouse.dblclick(x, y)
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    visitor.page.wait_for_timeout(200)
    assert visitor.all("heading", SENT)
    assert len(wire.reports) == 1


def test_without_scripts_the_page_says_what_is_needed_and_asks_nothing(visit: Visit) -> None:
    visitor = visit(java_script_enabled=False).open("short", "heading")
    assert visitor.says("In a browser this needs JavaScript.")
    assert not visitor.all("radio")
    assert not visitor.all("button")
