"""The example pages, who reads them, and what must never be found."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

from deniable_protocol import Survey
from deniable_server.browser_files import BrowserFiles
from tests.browser.visitor import Visitor
from tests.browser.wire import Wire

ROOT = Path(__file__).resolve().parents[2]
PAY = "7315.47"
"""What a reader types. No id and no hash can hold it, so one look tells where it went."""
WORDS = ("More often", "Green", "true")
"""What a reader chooses: in what a browser gets, and in nothing that it sends."""

_spec = importlib.util.spec_from_file_location("embedding", ROOT / "examples/embedding/run.py")
assert _spec is not None
assert _spec.loader is not None
example: Any = importlib.util.module_from_spec(_spec)
__import__("sys").modules["embedding"] = example
_spec.loader.exec_module(example)
example.surveys = cache(example.surveys)  # SurveyJS's JSON is converted once

Pages = example.Pages
FILES = BrowserFiles()
example.BrowserFiles = lambda: FILES

PANEL = Survey.load(
    {
        "name": "panel",
        "title": "Panel",
        "arms": [f"w{wave}" for wave in range(1, 13)],
        "privacy": {"epsilon": 2, "waves": "memoize"},
        "questions": [{"name": "used", "kind": "yes-no", "text": "Used?", "odds": "3:1"}],
    }
)
LOOSE = Survey.load(
    {
        "name": "loose",
        "title": "Loose",
        "privacy": {"epsilon": 3},
        "questions": [
            {"name": "used", "kind": "yes-no", "text": "Used?"},
            {"name": "pay", "kind": "number", "text": "Pay?", "min": 0, "max": 9, "optional": True},
            {"name": "lines", "kind": "multiple", "text": "Lines?", "options": ["Red", "Green"],
             "optional": True},
        ],
    }
)  # fmt: skip


def surveys() -> dict[str, Survey]:
    found: dict[str, Survey] = example.surveys()
    return found


class Reader(Visitor):
    """A respondent on a page of another site."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        super().__init__(context, address)
        self.asked: list[str] = []
        context.on("request", lambda request: self.asked.append(
            f"{request.method} {request.url}\n{request.headers}\n{request.post_data}"))  # fmt: skip

    def read(self, page: str, event: str = "deniable-ready") -> Reader:
        self.page.goto(f"{self.origin}/{page}.html")
        self.hear(event)
        return self

    @property
    def heard(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.heard")
        return found

    def hear(self, event: str) -> None:
        self.wait(lambda: event in self.heard)

    def answer(self) -> None:
        """Answer yes, more often, 7315.47 and Green by keyboard, in a closed shadow root."""
        self.tab_to("radio", "Yes").press("Space")
        self.tab_to("radio", "Once").press("ArrowDown", "ArrowDown")
        self.tab_to("spinbutton").page.keyboard.type(PAY)
        self.tab_to("checkbox", "Green").press("Space")

    def answer_plain(self) -> None:
        """Answer the same in a form of the page."""
        page = self.page
        page.get_by_label("Yes").check()
        page.get_by_label("More often").check()
        page.locator("[data-name=pay]").fill(PAY)
        page.get_by_label("Green").check()


def leaks(reader: Reader, wire: Wire, pages: Any) -> list[str]:
    """Find requests, to whomever, that hold what was answered."""
    sent = [request.raw.decode("latin-1") for request in wire.requests]
    every = [*sent, *pages.requests, *reader.asked]
    return [one for one in every if PAY in one or any(word in one for word in WORDS)]


def bodies(wire: Wire) -> list[bytes]:
    return [request.body for request in wire.reports]


def only_report(wire: Wire, survey: Survey) -> dict[str, Any]:
    """Check that one request carries something, and that it is a report and says no more."""
    (request,) = wire.reports
    names = {key.lower() for key, _ in request.headers}
    assert request.method == "POST", "no preflight was needed"
    assert not names & {"cookie", "referer", "authorization"}
    assert (request.header("content-type") or "").startswith("text/plain")
    report: dict[str, Any] = json.loads(request.body)
    assert set(report) == {"answers", "id", "survey"}
    assert report["survey"] == survey.digest
    return report
