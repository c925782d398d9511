"""For everyone: assistive software, keyboards, phones of 320 px, dark rooms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from .test_kinds import fill_kinds, sent
from .test_learning import learn
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]

AXE = (Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


# Told on the page: all that axe has looked at would be a megabyte.
RUN = """async (tags) => {
  const { violations, incomplete } = await axe.run({ runOnly: tags });
  const why = ({ target, any, all, none }) => `${target} ${JSON.stringify([any, all, none])}`;
  return [...violations, ...incomplete].flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${why(node)}`));
}"""


def axe(visitor: Visitor) -> list[str]:
    """Give what axe finds, and what it cannot decide, as rule and place."""
    if not visitor.page.evaluate("!!window.axe"):
        visitor.page.evaluate(AXE)
    found: list[str] = visitor.page.evaluate(RUN, RULES)
    return found


@pytest.mark.parametrize(
    ("locale", "scheme", "width"),
    [("en", "light", 320), ("en", "dark", 1280), ("bn", "dark", 320), ("zh-TW", "light", 1280)],
)
def test_axe_finds_nothing_at_any_stage(visit: Visit, locale: str, scheme: str,
                                        width: int) -> None:  # fmt: skip
    size = {"width": width, "height": 800}
    visitor = visit(opened=True, locale=locale, color_scheme=scheme, viewport=size)
    visitor.open("kinds")
    visitor.tab_to("DisclosureTriangle").press("Enter")
    visitor.wait(lambda: bool(visitor.all("image")))
    visitor.tab_to("combobox").tab_to("button").press("Enter")
    visitor.wait(lambda: len(visitor.all("image")) == 2)
    assert axe(visitor) == []
    visitor.tab_to("button").press("Enter")  # the next one sends
    visitor.wait(lambda: bool(visitor.focused()["invalid"]))
    assert axe(visitor) == []
    if locale == "en":
        visitor.page.reload()
        visitor.wait(lambda: bool(visitor.all("radio")))
        fill_kinds(visitor)
        sent(visitor)
        assert axe(visitor) == []
    assert sideways(visitor) == 0


def test_axe_sees_into_the_form(visit: Visit, wire: Wire) -> None:
    """The form is opened for axe; a form without labels and with faint text must be caught."""
    wire.replace = {'make("label"': 'make("div"', "#566068": "#aaaaaa",
                    "return PINS[name]": "return false"}  # fmt: skip
    found = "".join(axe(visit(opened=True).open("short")))
    assert "color-contrast: " in found
    assert "label: " in found


def test_a_phone_of_320_px_needs_no_sideways_scrolling(visit: Visit) -> None:
    visitor = visit(viewport={"width": 320, "height": 640}).open("kinds")
    assert sideways(visitor) == 0
    fill_kinds(visitor)
    assert sideways(visitor) == 0
    sent(visitor)
    assert sideways(visitor) == 0


def test_a_scale_of_eleven_fits_into_a_row_with_targets_of_24_px(visit: Visit) -> None:
    visitor = visit(viewport={"width": 320, "height": 640}).open("eleven")
    places = [visitor.middle(node) for node in visitor.all("radio")]
    assert len({round(y) for _, y in places}) == 1
    gaps = [right[0] - left[0] for left, right in pairwise(places)]
    assert min(gaps) >= 24
    assert sideways(visitor) == 0
    visitor.tab_to("radio", "0").press("ArrowLeft")  # round to the other end
    assert visitor.focused().name == "10"


def test_nothing_moves_on_the_page(visit: Visit) -> None:
    """So there is nothing that `prefers-reduced-motion` would have to stop."""
    visitor = learn(visit(opened=True).open("short"))
    durations = visitor.page.evaluate(
        """() => [...document.querySelector("#form").shadowRoot.querySelectorAll("*")]
             .map((element) => getComputedStyle(element))
             .flatMap((style) => [style.transitionDuration, style.animationDuration])"""
    )
    assert len(durations) > 100
    assert set(durations) == {"0s"}
    assert visitor.page.evaluate("document.getAnimations().length") == 0


def sideways(visitor: Visitor) -> int:
    width: int = visitor.page.evaluate(
        "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width


def test_dark_and_light_are_the_readers_choice(visit: Visit) -> None:
    papers = []
    for scheme in ("light", "dark"):
        visitor = visit(color_scheme=scheme).open("short")
        papers.append(visitor.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    light, dark = (sum(map(int, paper[4:-1].split(","))) for paper in papers)
    assert light > 3 * 230
    assert dark < 3 * 40


def test_radios_are_native_and_grouped_under_their_question(visit: Visit) -> None:
    visitor = visit().open("short")
    groups = visitor.all("radiogroup")
    assert [group.name for group in groups] == [
        "Did you ever cheat in an exam?", "In which subject?", "How much do you regret it?",
    ]  # fmt: skip
    assert all(group["required"] for group in groups)
    assert all("chances in 100" in group.description for group in groups)
    assert len(visitor.all("radio")) == 2 + 4 + 5


def test_tab_walks_through_everything_once_and_in_order(visit: Visit) -> None:
    visitor = visit().open("kinds")
    stops = []
    while not stops or stops[-1] != ("button", "Randomize and send"):
        visitor.press("Tab")
        here = visitor.focused()
        stops.append((here.role, here.name))
        assert len(stops) < 12
    assert stops == [
        ("combobox", "Language"),
        ("DisclosureTriangle", "See how, and try it"),
        ("radio", "Yes"),
        ("checkbox", "Alcohol"),
        ("checkbox", "Sleeping pills"),
        ("checkbox", "Painkillers"),
        ("radio", "Never"),
        ("spinbutton", "How much do you weigh?"),
        ("radio", "Month 1"),
        ("button", "Randomize and send"),
    ]
