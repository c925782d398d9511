"""What leaves the device, and what stays behind: the report, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .site import Site
from .surveys import SURVEYS
from .test_answering import SENT, fill_short
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
# A request with these headers alone, and a text body, is sent without asking first (Fetch, 2.2.2).
WITHOUT_ASKING = {
    "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length",
    "content-type", "host", "origin", "pragma", "user-agent",
}  # fmt: skip


def answer_short(visitor: Visitor) -> None:
    visitor.open("short")
    fill_short(visitor)
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))


def cookie(visitor: Visitor) -> None:
    visitor.context.add_cookies([{"name": "person", "value": "1234", "url": visitor.origin}])


def assert_bare(visitor: Visitor, wire: Wire, survey: str = "short") -> None:
    """Check that the browser said nothing more than it must."""
    (sent,) = wire.reports
    assert sent.method == "POST"
    assert sent.path == f"/v1/surveys/{survey}/reports"
    assert (sent.header("content-type") or "").startswith("text/plain")
    names = {name.lower() for name, _ in sent.headers}
    assert {n for n in names if not n.startswith(("sec-ch-ua", "sec-fetch-"))} <= WITHOUT_ASKING
    assert set(json.loads(sent.body)) == {"survey", "id", "answers"}
    fetched = [r for r in wire.requests if r.path.startswith("/v1/")]
    assert all(r.header("cookie") is None for r in fetched)
    assert all(r.header("referer") is None for r in wire.requests)


def test_the_request_has_no_cookie_no_referer_and_is_not_asked_for_first(
    visit: Visit, wire: Wire
) -> None:
    visitor = visit()
    cookie(visitor)
    answer_short(visitor)
    assert_bare(visitor, wire)
    assert wire.requests[0].header("cookie") == "person=1234"  # there was one to send


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('credentials:"omit"', 'credentials:"include"'),
        ('cache:"no-store",', 'cache:"no-store",headers:{"x-mine":"1"},'),
    ],
)
def test_a_client_that_says_more_is_caught(visit: Visit, wire: Wire, old: str, new: str) -> None:
    wire.replace = {old: new}
    visitor = visit()
    cookie(visitor)
    answer_short(visitor)
    with pytest.raises(AssertionError):
        assert_bare(visitor, wire)


def test_the_strict_policy_holds_without_a_complaint(visit: Visit, wire: Wire) -> None:
    visitor = visit()
    with visitor.page.expect_response("**/s/short") as response:
        answer_short(visitor)
    assert response.value.headers["content-security-policy"] == POLICY
    assert visitor.violations() == []


@pytest.mark.parametrize(
    "inject",
    [
        {"<main>": '<main style="color: red">'},
        {"form.append(": 'form.innerHTML = "<b>!</b>"; form.append('},
    ],
)
def test_a_page_against_the_policy_is_caught(visit: Visit, wire: Wire,
                                             inject: dict[str, str]) -> None:  # fmt: skip
    wire.replace = inject
    visitor = visit()
    visitor.open("short", "main")
    visitor.wait(lambda: visitor.violations() != [])


def test_the_browser_keeps_the_odds_and_no_answer(visit: Visit, wire: Wire) -> None:
    visitor = visit()
    answer_short(visitor)
    kept = visitor.context.storage_state(indexed_db=True)
    odds = SURVEYS["short"].odds
    assert kept["cookies"] == []
    (origin,) = kept["origins"]
    assert origin["localStorage"] == []
    ((entry,),) = [store["records"] for store in origin["indexedDB"][0]["stores"]]
    assert entry["key"] == f"report {SURVEYS['short'].digest} "
    written = json.dumps(entry)
    assert str(odds.numerator) in written
    assert str(odds.denominator) in written
    assert "answers" not in written


def test_the_server_says_nothing_about_those_who_answer(visit: Visit, site: Site) -> None:
    before = site.output()
    answer_short(visit(user_agent="canary/9.9"))
    assert site.output() == before
    assert b"canary/9.9" not in site.kept()
    assert b"127.0.0.1:" not in site.kept().replace(before.encode(), b"")
