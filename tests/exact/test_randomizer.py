"""The law of the randomizer, enumerated: every value of every draw, compared as fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from io import BytesIO
from unittest.mock import patch

import pytest

from deniable_client import entropy, randomizer
from deniable_client.randomizer import apply_noise, draw_noise
from deniable_protocol import Channel
from tests.support import BROKEN, Draw, Script, law, unsorted

SMALL = [
    Channel(k, d, odds)
    for k in range(2, 7)
    for d in range(1, min(3, k - 1) + 1)
    for odds in (Fraction(2), Fraction(3), Fraction(3, 2), Fraction(7, 4))
]


def ours(channel: Channel, answer: int, draw: Draw) -> tuple[int, ...]:
    """Run the shipped randomizer with scripted draws in the place of its uniform integers."""
    with patch.object(randomizer, "below", lambda bound, read: draw(bound)):
        noise = draw_noise(channel, lambda size: b"")
    return apply_noise(channel, noise, answer)


@pytest.mark.parametrize("channel", SMALL, ids=str)
def test_law(channel: Channel) -> None:
    """Every report has exactly the stated probability, for every true answer."""
    for answer in range(channel.options):
        assert law(partial(ours, channel, answer)) == channel.law(answer)


@pytest.mark.parametrize("channel", SMALL, ids=str)
def test_privacy(channel: Channel) -> None:
    """The largest ratio between any two answers is exactly the odds, read off the stated law."""
    laws = [channel.law(answer) for answer in range(channel.options)]
    ratios = {one[s] / other[s] for one in laws for other in laws for s in one}
    assert max(ratios) == channel.odds


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_is_caught(broken: object) -> None:
    """A wrong threshold, wrong rows, a doubled ε or modulo bias cannot pass for the law."""
    for channel in (Channel(3, 1, Fraction(3)), Channel(4, 2, Fraction(3, 2))):
        found = [law(partial(broken, channel, x)) for x in range(channel.options)]
        assert found != [channel.law(x) for x in range(channel.options)]


def test_unsorted_is_caught() -> None:
    """A report that leaves the truth in front would be caught, and would reveal it."""
    channel = Channel(4, 2, Fraction(3, 2))
    found = [law(partial(unsorted, channel, x)) for x in range(4)]
    assert found != [channel.law(x) for x in range(4)]
    worst = max(one[s] / other[s] for one in found for other in found for s in one if s in other)
    assert worst > channel.odds


@pytest.mark.parametrize("channel", SMALL, ids=str)
def test_constants(channel: Channel) -> None:
    """P and q are the marginals of the law, and the de-biased indicators are unbiased."""
    for answer in range(channel.options):
        marginals = [
            sum(chance for s, chance in channel.law(answer).items() if j in s)
            for j in range(channel.options)
        ]
        assert marginals[answer] == channel.p
        assert {m for j, m in enumerate(marginals) if j != answer} == {channel.q}
        z = [(m - channel.q) / (channel.p - channel.q) for m in marginals]
        assert z == [int(j == answer) for j in range(channel.options)]


def test_same_number_of_draws() -> None:
    """Whether the truth is kept cannot be read from how many draws there were."""
    channel = Channel(5, 3, Fraction(3))
    bounds = set()
    for u in range(channel.weight):
        script = Script((u,))
        ours(channel, 2, script)
        bounds.add(tuple(script.bounds))
    assert bounds == {(channel.weight, 4, 3, 2)}


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 7, 11, 13, 16])
def test_below_is_uniform(bound: int) -> None:
    """With words of 4 bits instead of 32, every result is equally likely; modulo alone is not."""
    with patch.object(entropy, "_WORDS", 16):
        found = [entropy.below(bound, _word(w)) for w in range(16 - 16 % bound)]
        for refused in range(16 - 16 % bound, 16):  # refused, so the next word decides
            assert entropy.below(bound, _word(refused, 0)) == 0
            with pytest.raises(entropy.EntropyError):
                entropy.below(bound, _word(refused))
    counts = [found.count(value) for value in range(bound)]
    assert len(set(counts)) == 1
    if 16 % bound:
        naive = [word % bound for word in range(16)]
        assert len({naive.count(value) for value in range(bound)}) == 2


def _word(*values: int) -> entropy.Read:
    return BytesIO(b"".join(value.to_bytes(4, "big") for value in values)).read
