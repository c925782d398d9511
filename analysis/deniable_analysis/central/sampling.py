"""Exact noise from uniform integers (Canonne, Kamath & Steinke 2020).

Every draw below is a comparison of integers: no float takes part, so the noise has exactly the law
it is said to have, and the attack on floating-point noise (Mironov 2012) finds nothing to look at.
The only randomness is a *source*: a function ``below(n)`` that returns a uniform integer in
``0 … n − 1``. It is an argument everywhere, so that a test can enumerate every decision.

This is the one place in the analysis that draws real noise, by :func:`system_below`. The
respondent's device has its own primitive in ``deniable_client``; the two parts may not import each
other.

How long a draw takes depends on the noise drawn. Who can time the curator's computer to the
microsecond learns something about the noise; nothing here protects against that.

References:
    [CKS20] C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy*,
    NeurIPS 2020 (arXiv:2004.00010v5), Algorithms 1, 2 and 3.
    [Mir12] I. Mironov, *On Significance of the Least Significant Bits for Differential Privacy*,
    CCS 2012.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import TypeVar

from deniable_protocol.errors import EntropyError, MechanismError

T = TypeVar("T")
Source = Callable[[int], int]
"""``below(n)`` returns a uniform integer in ``0 … n − 1``."""


def system_below(n: int) -> int:
    """Draw a uniform integer below n from the operating system.

    Bits are read until they form a number below n (rejection), so no value is favoured.

    Args:
        n: How many values; an integer of at least 1, of any size.

    Raises:
        MechanismError: If n is below 1.
        EntropyError: If the operating system gives no randomness.

    >>> 0 <= system_below(6) < 6
    True
    """
    if n < 1:
        raise MechanismError(f"below(n) needs an integer n of at least 1, got {n}")
    bits = (n - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        try:
            word = int.from_bytes(os.urandom(size))
        except (OSError, NotImplementedError) as error:
            raise EntropyError("the operating system gave no randomness") from error
        drawn = word >> (8 * size - bits)
        if drawn < n:
            return drawn


def until(attempt: Callable[[Source], T | None], below: Source) -> T:
    """Repeat an attempt until it returns something, and return that (rejection sampling).

    Every loop that discards a draw goes through here: what comes out has the law of one attempt,
    given that it succeeds, and that is how the tests compute it.
    """
    while True:
        found = attempt(below)
        if found is not None:
            return found


def bernoulli(chance: Fraction, below: Source) -> bool:
    """Draw true with exactly the given chance, a fraction in [0, 1]."""
    return below(chance.denominator) < chance.numerator


def bernoulli_exp(gamma: Fraction, below: Source) -> bool:
    """Draw true with chance exp(−gamma), exactly, for a fraction gamma of at least 0.

    The series of exp(−γ) is read as a race: K grows while Bernoulli(γ/K) succeeds, and stops at an
    odd number with chance exp(−γ) ([CKS20], Algorithm 1).

    Raises:
        MechanismError: If gamma is negative.

    >>> bernoulli_exp(Fraction(0), system_below)
    True
    """
    if gamma < 0:
        raise MechanismError(f"gamma must be at least 0, got {gamma}")
    whole, rest = divmod(gamma, 1)
    return all(_bernoulli_exp_unit(Fraction(1), below) for _ in range(whole)) and (
        _bernoulli_exp_unit(rest, below)
    )


def _bernoulli_exp_unit(gamma: Fraction, below: Source) -> bool:
    k = 1
    while bernoulli(gamma / k, below):
        k += 1
    return k % 2 == 1


def geometric(scale: Fraction, below: Source) -> int:
    """Draw a whole number g ≥ 0 with chance proportional to exp(−g/scale), exactly.

    For scale t/s: a number with chance ∝ exp(−x/t) is a remainder U below t, accepted with chance
    exp(−U/t), plus t times a count of successes of exp(−1); each s of them make one step
    ([CKS20], Algorithm 2 without its sign).

    Args:
        scale: A fraction above 0, in steps.

    >>> geometric(Fraction(5, 2), system_below) >= 0
    True
    """
    if scale <= 0:
        raise MechanismError(f"scale must be above 0, got {scale}")
    t, s = scale.numerator, scale.denominator

    def remainder_below_t(below: Source) -> int | None:
        drawn = below(t)
        return drawn if _bernoulli_exp_unit(Fraction(drawn, t), below) else None

    remainder = until(remainder_below_t, below)
    turns = 0
    while _bernoulli_exp_unit(Fraction(1), below):
        turns += 1
    return (remainder + t * turns) // s


def discrete_laplace(scale: Fraction, below: Source) -> int:
    """Draw a whole number x with chance proportional to exp(−|x|/scale), exactly.

    Args:
        scale: A fraction above 0, in steps.

    References:
        [CKS20], Algorithm 2 and Proposition 28 of arXiv:2004.00010v5.

    >>> isinstance(discrete_laplace(Fraction(10), system_below), int)
    True
    """

    def signed(below: Source) -> int | None:
        size = geometric(scale, below)
        negative = bernoulli(Fraction(1, 2), below)
        # "Minus zero" is drawn again: 0 would otherwise be twice as likely as the law says.
        if negative:
            return -size if size else None
        return size

    return until(signed, below)


def discrete_gaussian(variance: Fraction, below: Source) -> int:
    """Draw a whole number x with chance proportional to exp(−x²/(2·variance)), exactly.

    A discrete Laplace number of scale t = ⌊σ⌋ + 1 is accepted with chance
    exp(−(|x| − σ²/t)²/(2σ²)) ([CKS20], Algorithm 3).

    Args:
        variance: σ², a fraction above 0, in steps squared. The distribution's own variance is a
            little smaller.

    >>> isinstance(discrete_gaussian(Fraction(9), system_below), int)
    True
    """
    if variance <= 0:
        raise MechanismError(f"variance must be above 0, got {variance}")
    t = floor_sqrt(variance) + 1

    def accepted(below: Source) -> int | None:
        drawn = discrete_laplace(Fraction(t), below)
        gamma = (abs(drawn) - variance / t) ** 2 / (2 * variance)
        return drawn if bernoulli_exp(gamma, below) else None

    return until(accepted, below)


def floor_sqrt(value: Fraction) -> int:
    """Return the largest whole number whose square is at most the fraction."""
    return isqrt(value.numerator // value.denominator)
