"""The randomizer of DESIGN §3: noise first, then the answer, always the same number of draws."""

from __future__ import annotations

from deniable_protocol import Channel

from .entropy import Read, below


def draw_noise(channel: Channel, read: Read) -> tuple[int, ...]:
    """Draw a subset of the options as if the true answer were option 0.

    This is all the randomness of one report. It happens before the answer is looked at and takes
    ``1 + subset`` draws whatever comes out, so neither the answer nor whether the report holds it
    can be read from how long it took.

    Returns:
        ``channel.subset`` distinct indices, in no order.
    """
    k, d = channel.options, channel.subset
    keeps_truth = below(channel.weight, read) < channel.a * d
    places = list(range(1, k))
    for i in range(d):  # partial Fisher-Yates; d steps even where d - 1 would do
        j = i + below(k - 1 - i, read)
        places[i], places[j] = places[j], places[i]
    return (0, *places[: d - 1]) if keeps_truth else tuple(places[:d])


def apply_noise(channel: Channel, noise: tuple[int, ...], answer: int) -> tuple[int, ...]:
    """Turn noise into the report of one answer, by rotation.

    Privacy:
        Given the answer x, the subset {(x + s) mod k} has the law of ``channel.law(x)``: the noise
        holds 0 with chance a·d / (a·d + b·(k − d)) = p, and the other places are uniform, so each
        set with x has chance p / C(k−1, d−1) = a/Z and each without has b/Z. Sorting hides where
        the true answer would stand.
    """
    return tuple(sorted((answer + place) % channel.options for place in noise))
