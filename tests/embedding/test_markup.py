"""Forms as pages really write them: questions left out or asked twice, a page that listens."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.browser.wire import Wire

from .pages import LOOSE, PAY, Reader

Visit = Callable[..., Reader]


def test_optional_questions_may_be_left_out_or_left_empty(visit: Visit, wire: Wire,
                                                          pages: Any) -> None:  # fmt: skip
    """No control for a number, and a box for no answer: both send "no answer" through the noise."""
    form = f"""<form data-deniable="{wire.origin}/v1/surveys/loose" data-digest="{LOOSE.digest}"
      method="dialog"><fieldset disabled>
      <label><input type="radio" data-name="used" value="Yes"> Yes</label>
      <label><input type="radio" data-name="used" value="No"> No</label>
      <label><input type="checkbox" data-name="lines" value="Red"> Red</label>
      <label><input type="checkbox" data-name="lines" value=""> Rather not say</label>
      <button>Send</button></fieldset><output></output></form>"""
    script = pages.places("plain.html")["script"]
    pages.extra["twice.html"] = f'<script src="listen.js"></script>{form}{form}{script}'
    reader = visit().read("twice")
    reader.wait(lambda: reader.heard.count("deniable-ready") == 2)
    first, second = (reader.page.locator("form").nth(place) for place in (0, 1))
    first.get_by_label("Yes").check()
    second.get_by_label("No", exact=True).check()  # another form, though it asks the same
    assert first.get_by_label("Yes").is_checked()
    first.get_by_label("Rather not say").check()
    first.get_by_role("button").click()
    reader.hear("deniable-sent")
    (request,) = wire.reports
    assert {*json.loads(request.body)["answers"]} == {item.name for item in LOOSE.items}


def test_what_is_typed_does_not_bubble_into_the_page(visit: Visit, pages: Any) -> None:
    """A page that listens on its document is told no key, no letter, and not where one clicks."""
    pages.extra["spy.js"] = """window.spied = [];
      const kinds = [Document, HTMLElement].flatMap(({ prototype }) =>
        Object.getOwnPropertyNames(prototype).filter((name) => name.startsWith("on")));
      for (const kind of ["beforeinput", ...kinds.map((name) => name.slice(2))]) {
        document.addEventListener(kind, ({ type, data, key, clientX }) => {
          const moves = /move|raw|over|out|enter|leave/.test(type);
          if (data || key || (clientX && !moves)) spied.push(type);
        });
      }"""
    made = pages.places("element.html")
    pages.extra["spied.html"] = (
        f'<script src="listen.js"></script><script src="spy.js"></script>{made["script"]}'
        f'<deniable-survey src="{made["src"]}" digest="{made["digest"]}"></deniable-survey>'
    )
    reader = visit().read("spied")
    reader.tab_to("radio", "Yes")
    reader.page.evaluate("spied.length = 0")  # Tab came from the page
    reader.press("Space")
    reader.tab_to("radio", "Once").press("ArrowDown", "ArrowDown")
    reader.tab_to("spinbutton").page.keyboard.type(PAY)
    reader.page.mouse.dblclick(*reader.middle(reader.one("checkbox", "Green")))
    assert reader.page.evaluate("[...new Set(spied)]") == []
    reader.page.evaluate("document.body.append(document.createElement('input'))")
    reader.page.locator("input").fill("1")  # and what the page's own field gets is heard
    reader.page.locator("input").press("2")
    assert {"beforeinput", "keydown"} <= {*reader.page.evaluate("spied")}
