"""The variance of any linear score of a report, exactly, for any subset size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable_protocol import Channel, EstimateError


def score_variance(
    channel: Channel, shares: Sequence[Fraction], weights: Sequence[Fraction]
) -> Fraction:
    """Give the variance of Σ_j w_j z_j for one report, z being the de-biased indicators.

    A share has weight 1 on its option, a mean has the options' values. Given the true answer x, a
    report holds x with probability p, and any d − 1 or d of the others alike, so it takes the
    chances of pairs of options only:

        P(j, l ∈ S | x) = p(d−1)/(k−1)  where x is j or l, else
        (p(d−1)(d−2) + (1−p)d(d−1)) / ((k−1)(k−2)).

    Args:
        channel: The channel of the question.
        shares: True share of every option of the channel; they add up to 1.
        weights: Weight of every option.

    >>> coin = Channel(options=2, subset=1, odds=Fraction(3))
    >>> score_variance(coin, [Fraction(1, 5), Fraction(4, 5)], [Fraction(1), Fraction(0)])
    Fraction(91, 100)
    """
    k, d, p, q = channel.options, channel.subset, channel.p, channel.q
    if len(shares) != k or len(weights) != k or sum(shares) != 1:
        raise EstimateError(f"expected {k} shares that add up to 1, and {k} weights")
    total = sum(weights, start=Fraction(0))
    squares = sum((w * w for w in weights), start=Fraction(0))
    mean = sum((s * w for s, w in zip(shares, weights, strict=True)), start=Fraction(0))
    mean_square = sum((s * w * w for s, w in zip(shares, weights, strict=True)), start=Fraction(0))
    singles = q * squares + (p - q) * mean_square
    own = p * Fraction(d - 1, k - 1)
    other = Fraction(0)
    if k > 2:
        other = (p * (d - 1) * (d - 2) + (1 - p) * d * (d - 1)) / ((k - 1) * (k - 2))
    with_own = 2 * (total * mean - mean_square)  # Σ over x of π_x · 2 w_x (W − w_x)
    pairs = own * with_own + other * (total * total - squares - with_own)
    # Σ w_j z_j = (Σ_{j∈S} w_j − q W) / (p − q), and its mean is Σ w_j π_j.
    return (singles + pairs - ((p - q) * mean + q * total) ** 2) / (p - q) ** 2
