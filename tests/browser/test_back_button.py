"""Going away and coming back brings no answer back, also from the back/forward cache."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .test_kinds import fill_kinds, marked
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]

# Pages of other sites that hold the form are cached whole; ours asks not to be.
CACHEABLE = {"no-store": "no-cache"}
NO_CLEARING = {'addEventListener("pagehide"': 'addEventListener("no such event"'}


GIVEN = ["Alcohol", "Month 1", "Painkillers", "Sometimes", "Yes", "23500", "70.5"]


def given(visitor: Visitor) -> list[str]:
    """Tell everything that the form holds."""
    values = [node.value for node in visitor.all("spinbutton")]
    return marked(visitor) + [value for value in values if value not in ("", "0")]


def leave_and_come_back(visitor: Visitor) -> list[bool]:
    """Answer, go elsewhere, press Back; tell for each showing whether it came from the cache."""
    visitor.open("kinds")
    fill_kinds(visitor)
    assert given(visitor) == GIVEN
    visitor.page.goto(f"{visitor.origin}/healthz")
    visitor.page.evaluate("history.back()")
    visitor.wait(lambda: bool(visitor.all("radio")))
    shows: list[bool] = visitor.page.evaluate("window.shows")
    return shows


def test_back_restores_nothing_from_the_back_forward_cache(visit: Visit, wire: Wire) -> None:
    wire.replace = CACHEABLE
    visitor = visit()
    assert leave_and_come_back(visitor) == [False, True]
    assert given(visitor) == []


def test_no_name_of_a_question_keeps_the_form_from_being_cleared(visit: Visit, wire: Wire) -> None:
    """A control called "reset" would hide the form's own method of that name."""
    wire.replace = CACHEABLE
    visitor = visit().open("names")
    for _ in range(5):
        visitor.tab_to("radio").press("Space")
    assert marked(visitor) == ["Yes"] * 5
    visitor.page.goto(f"{visitor.origin}/healthz")
    visitor.page.evaluate("history.back()")
    visitor.wait(lambda: bool(visitor.all("radio")))
    assert visitor.page.evaluate("window.shows") == [False, True]
    assert marked(visitor) == []
    visitor.page.reload()
    visitor.wait(lambda: bool(visitor.all("radio")))
    for _ in range(5):
        visitor.tab_to("radio").press("Space")
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", "Sent. Thank you.")))
    assert visitor.console == []


def test_a_form_that_is_not_cleared_is_caught(visit: Visit, wire: Wire) -> None:
    wire.replace = CACHEABLE | NO_CLEARING
    visitor = visit()
    assert leave_and_come_back(visitor) == [False, True]
    assert given(visitor) == GIVEN


@pytest.mark.parametrize("broken", [{}, NO_CLEARING])
def test_back_restores_nothing_where_the_page_is_loaded_again(
    visit: Visit, wire: Wire, broken: dict[str, str]
) -> None:
    wire.replace = broken  # even then: the browser itself restores no field of a closed root
    visitor = visit()
    assert leave_and_come_back(visitor) == [False]
    assert given(visitor) == []


def test_reload_restores_nothing(visit: Visit) -> None:
    visitor = visit().open("kinds")
    fill_kinds(visitor)
    visitor.page.reload()
    visitor.wait(lambda: bool(visitor.all("radio")))
    assert given(visitor) == []
