"""Every kind of question: asked, hidden, skipped, corrected, and in the report as in the row."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .site import Site
from .test_answering import SENT
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]
PAY = 23_500


def fill_kinds(visitor: Visitor) -> None:
    """Answer yes; a pay; two boxes; "Sometimes"; 70.5 kg; Month 1."""
    visitor.tab_to("radio", "Yes").press("Space")
    visitor.tab_to("spinbutton").page.keyboard.type(str(PAY))
    visitor.tab_to("checkbox", "Alcohol").press("Space")
    visitor.tab_to("checkbox", "Painkillers").press("Space")
    visitor.tab_to("radio", "Never").press("ArrowRight", "ArrowRight")
    visitor.tab_to("spinbutton").page.keyboard.type("70.5")
    visitor.tab_to("radio", "Month 1").press("Space")


def sent(visitor: Visitor) -> None:
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))


def marked(visitor: Visitor) -> list[str]:
    nodes = visitor.all("radio") + visitor.all("checkbox")
    return sorted(node.name for node in nodes if node["checked"] == "true")


def test_every_kind_is_answered_by_keyboard_stored_and_shown(visit: Visit, wire: Wire,
                                                             site: Site) -> None:  # fmt: skip
    visitor = visit().open("kinds")
    fill_kinds(visitor)
    assert marked(visitor) == ["Alcohol", "Month 1", "Painkillers", "Sometimes", "Yes"]
    assert [node.value for node in visitor.all("spinbutton")] == [str(PAY), "70.5"]
    sent(visitor)

    report = json.loads(wire.reports[0].body)
    row = site.row(wire.reports[0].body)
    assert row is not None
    stored = {name: list(drawn) for name, drawn in row.items() if name != "id" and drawn}
    assert stored == report["answers"]
    assert sum(name.startswith("used.") for name in report["answers"]) == 2
    lines = visitor.text().splitlines()
    assert lines.count("not sent") == 1
    points = ["30 kg", "200 kg"]
    assert points[report["answers"]["weight"][0]] in lines
    assert all(f"Month {index + 1}" in lines for index in report["answers"]["month"])
    assert visitor.violations() == []


def test_a_hidden_question_is_not_shown_and_still_reported(visit: Visit, wire: Wire) -> None:
    visitor = visit().open("kinds")
    assert len(visitor.all("spinbutton")) == 1
    visitor.tab_to("radio", "Yes").press("Space")
    assert len(visitor.all("spinbutton")) == 2
    visitor.tab_to("spinbutton").page.keyboard.type(str(PAY))
    visitor.press("Shift+Tab", "ArrowDown")  # back, to "No"
    assert len(visitor.all("spinbutton")) == 1
    visitor.tab_to("radio", "Never").press("Space")
    visitor.tab_to("spinbutton").page.keyboard.type("30")
    visitor.tab_to("radio", "Month 1").press("Space")
    sent(visitor)
    assert "pay" in json.loads(wire.reports[0].body)["answers"]


@pytest.mark.parametrize("typed", ["", "29.5", "70.25", "e"])
def test_a_number_that_does_not_fit_is_explained_in_words(visit: Visit, wire: Wire,
                                                          typed: str) -> None:  # fmt: skip
    visitor = visit().open("kinds")
    visitor.tab_to("radio", "Yes").press("Space", "ArrowDown")
    visitor.tab_to("radio", "Never").press("Space")
    visitor.tab_to("spinbutton").page.keyboard.type(typed)
    visitor.tab_to("radio", "Month 1").press("Space")
    visitor.send()
    assert visitor.says("One question is still open.")
    field = visitor.one("spinbutton")
    assert field["focused"]
    assert field["invalid"] == "true"
    assert field.name == "How much do you weigh?"
    assert field.description.startswith("Please give a number. From 30 to 200, in steps of 0.5.")
    visitor.press("Control+a").page.keyboard.type("7e1")
    assert visitor.one("spinbutton")["invalid"] == "false"
    assert not visitor.says("One question is still open.")
    assert not wire.reports
    sent(visitor)


def test_not_answering_and_answering_exclude_each_other(visit: Visit) -> None:
    visitor = visit().open("kinds")
    visitor.tab_to("radio", "Yes").press("Space")
    visitor.tab_to("spinbutton").page.keyboard.type("5")
    visitor.tab_to("checkbox", "I’d rather not answer").press("Space")
    assert visitor.all("spinbutton")[0].value in ("", "0")
    assert marked(visitor) == ["I’d rather not answer", "Yes"]
    visitor.press("Shift+Tab").page.keyboard.type("6")
    assert marked(visitor) == ["Yes"]
    assert visitor.all("spinbutton")[0].value == "6"


def test_the_page_names_the_arm_and_some_questions_are_sent(visit: Visit, wire: Wire,
                                                            site: Site) -> None:  # fmt: skip
    visitor = visit().open("arms?arm=autumn")
    assert visitor.says(
        "This device sends answers to 1 of the 2 questions. It picks them at random, before it "
        "looks at your answers."
    )
    for question in visitor.all("radiogroup"):
        del question
        visitor.tab_to("radio", "Yes").press("Space")
    sent(visitor)
    report = json.loads(wire.reports[0].body)
    assert report["arm"] == "autumn"
    assert len(report["answers"]) == 1
    row = site.row(wire.reports[0].body)
    assert row is not None
    assert row["arm"] == "autumn"
    assert sum(row[name] is None for name in ("smokes", "drinks")) == 1
    assert visitor.text().splitlines().count("not sent") == 1


@pytest.mark.parametrize("address", ["arms", "arms?arm=winter", "short?arm=autumn"])
def test_a_page_with_the_wrong_arm_asks_nothing(visit: Visit, wire: Wire, address: str) -> None:
    visitor = visit().open(address, "heading")
    visitor.wait(lambda: bool(visitor.all("alert")))
    assert visitor.says("This survey cannot be answered here, and nothing was sent")
    assert visitor.says("The page that holds this survey is not set up for it.")
    assert not visitor.all("radio")
    assert not wire.reports


def test_a_wheel_over_a_number_does_not_change_it(visit: Visit) -> None:
    visitor = visit().open("kinds")
    visitor.tab_to("radio", "Yes").press("Space", "ArrowDown")
    visitor.tab_to("spinbutton").page.keyboard.type("70")
    visitor.page.mouse.move(*visitor.middle(visitor.one("spinbutton")))
    visitor.page.mouse.wheel(0, -200)
    visitor.page.wait_for_timeout(100)
    assert visitor.one("spinbutton").value == "70"
