"""For everyone: assistive software, keyboards, phones of 320 px, dark rooms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .test_answering import SENT, fill_short
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]

AXE = (Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def axe(visitor: Visitor) -> list[str]:
    """Give what axe finds, and what it cannot decide, as rule and place."""
    visitor.page.evaluate(AXE)
    found: dict[str, Any] = visitor.page.evaluate("(tags) => axe.run({ runOnly: tags })", RULES)
    return [
        f"{rule['id']}: {node['target']} {node['any'] or node['all'] or node['none']}"
        for rule in found["violations"] + found["incomplete"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_finds_nothing_at_any_stage(visit: Visit, wire: Wire, scheme: str, width: int) -> None:
    visitor = visit(opened=True, color_scheme=scheme, viewport={"width": width, "height": 800})
    visitor.open("short")
    assert axe(visitor) == []
    visitor.tab_to("radio", "Yes").press("Space")
    visitor.send()
    visitor.wait(lambda: visitor.says("2 questions are still open."))
    assert axe(visitor) == []
    visitor.page.reload()
    visitor.wait(lambda: bool(visitor.all("radio")))
    fill_short(visitor)
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    assert axe(visitor) == []


def test_axe_sees_into_the_form(visit: Visit, wire: Wire) -> None:
    """The form is opened for axe; a form without labels and with faint text must be caught."""
    wire.replace = {'make("label", {}': 'make("div", {}', "-quiet, #566068": "-quiet, #aaaaaa"}
    found = "".join(axe(visit(opened=True).open("short")))
    assert "color-contrast: " in found
    assert "label: " in found


@pytest.mark.parametrize("survey", ["short", "wide"])
def test_a_phone_of_320_px_needs_no_sideways_scrolling(visit: Visit, survey: str) -> None:
    visitor = visit(viewport={"width": 320, "height": 640}).open(survey)
    assert sideways(visitor) == 0
    if survey == "short":
        fill_short(visitor)
        visitor.send()
        visitor.wait(lambda: bool(visitor.all("heading", SENT)))
        assert sideways(visitor) == 0


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
