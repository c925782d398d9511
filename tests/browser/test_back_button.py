"""Going away and coming back brings no answer back, also from the back/forward cache."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .test_answering import chosen, fill_short
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]

# Pages of other sites that hold the form are cached whole; ours asks not to be.
CACHEABLE = {"no-store": "no-cache"}
NO_CLEARING = {'addEventListener("pagehide"': 'addEventListener("no such event"'}


def leave_and_come_back(visitor: Visitor) -> list[bool]:
    """Answer, go elsewhere, press Back; tell for each showing whether it came from the cache."""
    visitor.open("short")
    fill_short(visitor)
    assert len(chosen(visitor)) == 3
    visitor.page.goto(f"{visitor.origin}/healthz")
    visitor.page.evaluate("history.back()")
    visitor.wait(lambda: bool(visitor.all("radio")))
    shows: list[bool] = visitor.page.evaluate("window.shows")
    return shows


def test_back_restores_nothing_from_the_back_forward_cache(visit: Visit, wire: Wire) -> None:
    wire.replace = CACHEABLE
    visitor = visit()
    assert leave_and_come_back(visitor) == [False, True]
    assert chosen(visitor) == []


def test_a_form_that_is_not_cleared_is_caught(visit: Visit, wire: Wire) -> None:
    wire.replace = CACHEABLE | NO_CLEARING
    visitor = visit()
    assert leave_and_come_back(visitor) == [False, True]
    assert len(chosen(visitor)) == 3


@pytest.mark.parametrize("broken", [{}, NO_CLEARING])
def test_back_restores_nothing_where_the_page_is_loaded_again(
    visit: Visit, wire: Wire, broken: dict[str, str]
) -> None:
    wire.replace = broken  # even then: the browser itself restores no field of a closed root
    visitor = visit()
    assert leave_and_come_back(visitor) == [False]
    assert chosen(visitor) == []


def test_reload_restores_nothing(visit: Visit) -> None:
    visitor = visit().open("short")
    fill_short(visitor)
    visitor.page.reload()
    visitor.wait(lambda: bool(visitor.all("radio")))
    assert chosen(visitor) == []
