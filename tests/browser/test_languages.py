"""The interface in three languages, ready for those that are written from right to left."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Route

from .visitor import Visitor

Visit = Callable[..., Visitor]

SEND = {
    "en-GB": "Randomize and send",
    "bn-BD": "দৈবভাবে বদলে পাঠান",
    "zh-TW": "隨機更改並送出",
    "zh-HK": "隨機更改並送出",
    "fr-FR": "Randomize and send",
}


@pytest.mark.parametrize(("locale", "send"), SEND.items())
def test_the_readers_language_is_spoken_where_there_is_one(visit: Visit, locale: str,
                                                           send: str) -> None:  # fmt: skip
    assert visit(locale=locale).open("kinds").all("button", send)


def test_changing_the_language_keeps_the_answers(visit: Visit) -> None:
    visitor = visit().open("kinds")
    visitor.tab_to("combobox").press("ArrowDown")
    visitor.wait(lambda: bool(visitor.all("button", SEND["bn-BD"])))
    visitor.tab_to("radio", "হ্যাঁ").press("Space")
    visitor.press("Shift+Tab", "Shift+Tab", "ArrowDown")
    visitor.wait(lambda: bool(visitor.all("button", SEND["zh-TW"])))
    assert [node.name for node in visitor.all("radio") if node["checked"] == "true"] == ["是"]


def test_a_language_chosen_while_earlier_texts_still_come_is_kept(visit: Visit) -> None:
    visitor, late = visit(), list[Route]()
    visitor.page.route("**/more.en.js", lambda route: late.append(route))  # noqa: PLW0108 - routes want a Python function
    visitor.open("kinds")
    visitor.wait(lambda: bool(late))
    visitor.tab_to("combobox").press("ArrowDown")
    with visitor.page.expect_request("**/more.css"):  # asked for when the texts have come
        late[0].continue_()
    visitor.wait(lambda: bool(visitor.all("button", SEND["bn-BD"])))


@pytest.mark.parametrize("width", [320, 1280])
def test_from_right_to_left_everything_is_mirrored(visit: Visit, width: int) -> None:
    visitor = visit(locale="ar", viewport={"width": width, "height": 800}).open("short")
    radio, text = visitor.all("radio", "Yes")[0], visitor.all("StaticText", "Yes")[0]
    assert visitor.middle(radio)[0] > visitor.middle(text)[0] > width / 2
    heading = visitor.all("StaticText", "Every answer here is deniable")[0]
    assert visitor.middle(heading)[0] > width / 2  # not translated, and still on the right
    scroll = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
    assert visitor.page.evaluate(scroll) == 0


def test_from_left_to_right_the_button_is_before_its_text(visit: Visit) -> None:
    visitor = visit().open("short")
    radio, text = visitor.all("radio", "Yes")[0], visitor.all("StaticText", "Yes")[0]
    assert visitor.middle(radio)[0] < visitor.middle(text)[0]
