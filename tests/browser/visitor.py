"""A respondent at the keyboard: presses keys, and perceives what a screen reader would say.

The form is in a closed shadow root, which no script and no selector reaches. The accessibility tree
is what Chromium hands to assistive software; it holds everything that a person can perceive.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page

# Runs before the page: notes what the page would not show, and leaves the form itself alone.
WATCH = """
window.shows = []; window.violations = [];
addEventListener("pageshow", (event) => shows.push(event.persisted));
const watch = ({ violatedDirective }) => violations.push(violatedDirective);
document.addEventListener("securitypolicyviolation", watch);
"""

# For axe alone, which cannot see into a closed root.
OPEN = """
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  return attach.call(this, { ...options, mode: "open" });
};
"""


@dataclass(frozen=True)
class Node:
    """Something that assistive software tells: its role, its name, and its states."""

    role: str
    name: str
    states: dict[str, Any]
    description: str
    value: str
    id: int = field(compare=False)

    def __getitem__(self, state: str) -> Any:
        return self.states.get(state)


class Visitor:
    def __init__(self, context: BrowserContext, origin: str, *, opened: bool = False) -> None:
        self.context = context
        self.origin = origin
        self.page: Page = context.new_page()
        self._session = context.new_cdp_session(self.page)
        self.page.set_default_timeout(10_000)
        self.console: list[str] = []
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.add_init_script(WATCH)
        if opened:
            self.page.add_init_script(OPEN)

    def open(self, name: str, wait_for: str = "button") -> Visitor:
        """Go to a survey and wait until there is something to press."""
        self.page.goto(f"{self.origin}/s/{name}")
        self.wait(lambda: bool(self.all(wait_for)))
        return self

    def wait(self, condition: Callable[[], bool], seconds: float = 10) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited in vain; the page says:\n{self.text()}"
            self.page.wait_for_timeout(20)  # a sleep would hear of nothing

    def nodes(self) -> list[Node]:
        """Give the accessibility tree, in the order of the document as far as it tells."""
        found = self._session.send("Accessibility.getFullAXTree")["nodes"]
        return [_node(node) for node in found if not node.get("ignored")]

    def all(self, role: str, name: str | None = None) -> list[Node]:
        """Give what has a role (and a name), in the order of the document.

        The browser looks for it: handing over everything took most of the time of these tests.
        """
        root = self._session.send("DOM.getDocument", {"depth": 0})["root"]["backendNodeId"]
        which = {"backendNodeId": root, "role": role}
        try:
            found = self._session.send("Accessibility.queryAXTree", which)["nodes"]
        except Error:  # the page has just been left
            return []
        nodes = [_node(node) for node in found if not node.get("ignored")]
        return [node for node in nodes if name in (None, node.name)]

    def one(self, role: str, name: str | None = None) -> Node:
        (node,) = self.all(role, name)
        return node

    def focused(self) -> Node:
        inner = [node for node in self.nodes() if node["focused"] and node.role != "RootWebArea"]
        return inner[0] if inner else Node("RootWebArea", "", {}, "", "", 0)

    def middle(self, node: Node) -> tuple[float, float]:
        """Where to point at something, on the screen."""
        which = {"backendNodeId": node.id}
        self._session.send("DOM.scrollIntoViewIfNeeded", which)
        box = self._session.send("DOM.getBoxModel", which)["model"]["border"]
        return sum(box[0::2]) / 4, sum(box[1::2]) / 4

    def text(self) -> str:
        return "\n".join(n.name for n in self.all("StaticText")).replace("\u00a0", " ")

    def says(self, text: str) -> bool:
        return text in self.text()

    def press(self, *keys: str) -> Visitor:
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def tab_to(self, role: str, name: str | None = None, most: int = 40) -> Visitor:
        """Press Tab until something has the focus."""
        for _ in range(most):
            self.press("Tab")
            if any(node["focused"] for node in self.all(role, name)):
                return self
        raise AssertionError(f"Tab does not reach {role} {name!r}")

    def send(self) -> None:
        self.tab_to("button", "Randomize and send").press("Enter")

    def violations(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.violations")
        return found + self.console


def _node(found: dict[str, Any]) -> Node:
    states = {p["name"]: p["value"].get("value") for p in found.get("properties", [])}

    def text(key: str) -> str:
        return str(found.get(key, {}).get("value", ""))

    return Node(
        text("role"), text("name"), states, text("description"), text("value"),
        found.get("backendDOMNodeId", 0),
    )  # fmt: skip
