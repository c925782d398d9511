"""How it works: explained on demand, tried with the real randomizer, true to the odds."""

from __future__ import annotations

import re
from collections.abc import Callable

from deniable_client.entropy import Read
from deniable_client.randomizer import draw_noise

from .surveys import SURVEYS
from .test_answering import SENT, fill_short
from .visitor import Visitor
from .wire import Wire

Visit = Callable[..., Visitor]


def learn(visitor: Visitor) -> Visitor:
    visitor.tab_to("DisclosureTriangle").press("Enter")
    visitor.wait(lambda: bool(visitor.all("heading", "Try it")))
    return visitor


def test_explanations_are_loaded_when_they_are_asked_for(visit: Visit, wire: Wire) -> None:
    visitor = visit().open("short")
    sending = {f"/client/embed/{name}" for name in ("outcome.js", "more.en.js", "more.css")}
    visitor.wait(lambda: sending <= {request.path for request in wire.requests})
    before = {request.path for request in wire.requests}
    learn(visitor)
    after = {request.path for request in wire.requests}
    assert after - before == {"/client/embed/learn.js"}
    assert visitor.violations() == []


def test_a_trial_draws_what_the_randomizer_draws_and_sends_nothing(visit: Visit,
                                                                   wire: Wire) -> None:  # fmt: skip
    visitor = visit()
    visitor.page.add_init_script(KNOWN_BYTES)
    learn(visitor.open("short"))
    assert visitor.says("A demonstration: nothing is sent")
    read = known_bytes()
    channel = SURVEYS["short"]["cheated"].channel
    visitor.tab_to("button", "Draw 20 reports")
    shown, drawn = [], []
    for _ in range(5):
        visitor.press("Enter")
        (said,) = re.findall(r"Of 20 reports, (\d+) held the true answer", visitor.text())
        shown.append(int(said))
        drawn.append(sum(0 in draw_noise(channel, read) for _ in range(20)))
    assert shown == drawn
    assert len(set(shown)) > 1
    assert not wire.reports


# The system's randomness, replaced by bytes that both languages can make.
KNOWN_BYTES = """
let state = 1;
crypto.getRandomValues = (array) => array.map(() => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state >>> 24;
});
"""


def known_bytes() -> Read:
    state = 1

    def read(size: int) -> bytes:
        nonlocal state
        found = bytearray()
        for _ in range(size):
            state = (state * 1664525 + 1013904223) % 2**32
            found.append(state >> 24)
        return bytes(found)

    return read


def test_what_can_be_learnt_is_computed_from_the_odds(visit: Visit) -> None:
    visitor = learn(visit().open("short"))
    odds = SURVEYS["short"].odds
    whole = -(-100 * odds.numerator // (odds.numerator + odds.denominator))
    alone = -(-100 * 1264 // 1729)
    assert visitor.says(f"who thought 50 % before can be at most {alone} % sure.")
    assert visitor.says(f"From everything in the report of this survey: at most {whole} %.")
    assert visitor.says("This browser has sent nothing to surveys on this site so far.")
    assert visitor.says(SURVEYS["short"].digest)
    pictures = [node.name for node in visitor.all("image")]
    assert pictures == ["73 of 100 cards are marked."]


def test_the_running_total_of_this_browser_is_shown_after_sending(visit: Visit) -> None:
    visitor = visit().open("wide")
    visitor.tab_to("radio").press("Space").send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    assert visitor.says("who thought 50 % can be at most 74 % sure.")
    visitor.open("short")
    fill_short(visitor)
    visitor.send()
    visitor.wait(lambda: bool(visitor.all("heading", SENT)))
    odds = SURVEYS["short"].odds * SURVEYS["wide"].odds
    total = -(-100 * odds.numerator // (odds.numerator + odds.denominator))
    assert visitor.says(f"who thought 50 % can be at most {total} % sure.")
