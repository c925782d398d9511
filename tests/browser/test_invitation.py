"""A survey by invitation, answered in the browser: the code, the token, and one report for both."""

from __future__ import annotations

import json
from collections.abc import Callable

from .site import Site
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]


def test_a_link_with_a_code(visit: Visit, site: Site, wire: Wire) -> None:
    """The code of a link is redeemed by keyboard; then one report goes out with a token."""
    (code,) = site.issuer.invite("invited", 1)
    before = site.count("invited")
    visitor = visit()
    visitor.page.goto(f"{wire.origin}/s/invited#code={code}")
    visitor.wait(lambda: bool(visitor.all("button", "Use this code")))
    assert visitor.one("textbox", "Your code").value == code
    assert visitor.page.url == f"{wire.origin}/s/invited"  # gone from the address bar
    visitor.tab_to("button", "Use this code").press("Enter")
    visitor.wait(lambda: visitor.says("Your code was used"))
    assert site.count("invited") == before
    visitor.page.reload()  # later, on the same device: the token is there
    visitor.wait(lambda: bool(visitor.all("radio")))
    visitor.tab_to("radio").press("Space").send()
    visitor.wait(lambda: visitor.says("Sent. Thank you."))
    asked, sent = wire.reports
    assert asked.path.endswith("/tokens")
    assert sent.path.endswith("/reports")
    assert site.count("invited") == before + 1
    assert code.encode() not in b"".join(request.path.encode() for request in wire.requests)
    assert code.encode() not in sent.raw
    assert json.loads(asked.body)["blinded"].encode() not in sent.raw
    assert not visitor.violations()


def test_a_code_of_no_use(visit: Visit, site: Site, wire: Wire) -> None:
    """An unknown code is refused in words, and the right one can still be typed."""
    (code,) = site.issuer.invite("invited", 1)
    visitor = visit().open("invited")
    visitor.tab_to("textbox", "Your code")
    visitor.page.keyboard.type("AAAA-BBBB-CCCC-DDDD")
    visitor.press("Enter")
    visitor.wait(lambda: visitor.says("the invitation of this page does not fit"))
    visitor.tab_to("textbox", "Your code").press("Control+a")
    visitor.page.keyboard.type(code.lower())
    visitor.press("Enter")
    visitor.wait(lambda: visitor.says("Your code was used"))
    first, second = (json.loads(request.body)["blinded"] for request in wire.reports)
    assert first == second  # one blinded message for one device, whichever code it tries
    assert site.issuer.used("invited")[0] >= 1


def test_an_issuer_with_another_key(visit: Visit, site: Site, wire: Wire) -> None:
    """A signature of another key, which could mark one person, is refused by the browser."""
    (code,) = site.issuer.invite("invited", 1)
    wire.replace = {'"signed": "': '"signed": "00'}
    visitor = visit().open("invited")
    visitor.tab_to("textbox", "Your code")
    visitor.page.keyboard.type(code)
    visitor.press("Enter")
    visitor.wait(lambda: visitor.says("does not fit"))
    assert not visitor.all("radio")
