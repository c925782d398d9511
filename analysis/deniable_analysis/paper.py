"""Designs of paper-and-dice studies: each is two numbers, or a matrix, like those of a device.

Data collected elsewhere, with cards, dice, birthdays or spinners in place of a device, are analysed
by the same formulas. Chances are exact: write them as "1/6", "0.25", a Fraction or a number.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from deniable_protocol import EstimateError
from deniable_protocol.channel import epsilon_of

from .design import DIRECT, Design

Chance: TypeAlias = Fraction | str | int | float | Decimal
"""A probability; floats are taken as the decimal number that they print as."""


def chance(name: str, value: Chance) -> Fraction:
    """Read a probability exactly.

    Raises:
        EstimateError: If it is not a number from 0 to 1.

    >>> chance("truth", "2/3"), chance("truth", 0.1)
    (Fraction(2, 3), Fraction(1, 10))
    """
    exact = None
    if not isinstance(value, bool) and isinstance(value, Fraction | str | int | float | Decimal):
        try:
            exact = Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            exact = None
    if exact is None or not 0 <= exact <= 1:
        raise EstimateError(f'{name} must be a chance from 0 to 1, such as "1/6", got {value!r}')
    return exact


def warner(asked: Chance) -> Design:
    """Give Warner's design: with chance *asked* the card says "I have it", else "I do not".

    A report is a yes to the card, which only the respondent sees: λ = (2p − 1)π + 1 − p.

    Args:
        asked: Chance of the card "I have it"; any but one half. Below one half is legal.

    References:
        [War65] S. L. Warner, Randomized Response, JASA 60 (1965), 63-69.

    >>> warner("3/4")
    Design(slope=Fraction(1, 2), offset=Fraction(1, 4))
    """
    p = chance("asked", asked)
    return Design(2 * p - 1, 1 - p)


def crosswise(innocent: Chance) -> Design:
    """Give the crosswise design: a report says that both statements hold, or neither does.

    The other statement ("my mother was born in January to March") is innocent, unrelated, and true
    with a known chance. That is Warner's law without a device: λ = (2p − 1)π + 1 − p.

    Args:
        innocent: Chance that the innocent statement is true; any but one half.

    References:
        [YTT08] J.-W. Yu, G.-L. Tian and M.-L. Tang, Two New Models for Survey Sampling with
        Sensitive Characteristic, Metrika 67 (2008), 251-263.
    """
    return warner(chance("innocent", innocent))


def triangular(innocent: Chance) -> Design:
    """Give the triangular design: a report says that at least one of two statements holds.

    λ = (1 − p)π + p. Privacy is one-sided: a report of "neither" is certain, so there is no ε.

    Args:
        innocent: Chance that the innocent statement is true, below 1.

    References:
        [YTT08] As for ``crosswise``.

    >>> design_odds(triangular("1/4")) is None
    True
    """
    p = chance("innocent", innocent)
    return Design(1 - p, p)


def forced_response(forced_yes: Chance, forced_no: Chance) -> Design:
    """Give the forced-response design: the die says yes, says no, or asks for the truth.

    λ = (1 − p₁ − p₀)π + p₁.

    Args:
        forced_yes: Chance that the die says yes.
        forced_no: Chance that the die says no; both together below 1.

    References:
        [Bor71] R. F. Boruch, Assuring Confidentiality of Responses in Social Research, The
        American Sociologist 6 (1971), 308-311.

    >>> forced_response("1/6", "1/6")
    Design(slope=Fraction(2, 3), offset=Fraction(1, 6))
    """
    yes, no = chance("forced_yes", forced_yes), chance("forced_no", forced_no)
    if yes + no >= 1:
        raise EstimateError(f"forced_yes and forced_no must be below 1 together, got {yes + no}")
    return Design(1 - yes - no, yes)


def unrelated_question(asked: Chance, prevalence: Chance) -> Design:
    """Give the unrelated-question design with a known prevalence of the unrelated trait.

    λ = pπ + (1 − p)·prevalence. Where the prevalence is not known, two groups with different
    chances are needed: ``paper_unknown.unrelated_unknown``.

    Args:
        asked: Chance of the sensitive question, above 0.
        prevalence: Share that would say yes to the other question.

    References:
        [GASH69] B. G. Greenberg, A.-L. Abul-Ela, W. R. Simmons and D. G. Horvitz, The Unrelated
        Question Randomized Response Model, JASA 64 (1969), 520-539.
    """
    p, other = chance("asked", asked), chance("prevalence", prevalence)
    return Design(p, (1 - p) * other)


def mangat(truthful: Chance) -> Design:
    """Give Mangat's design: who has it says yes; others say no only with chance *truthful*.

    λ = pπ + 1 − p. Privacy is one-sided: a no is certain, so there is no ε.

    Args:
        truthful: Chance that someone without the trait is to say no, above 0.

    References:
        [Man94] N. S. Mangat, An Improved Randomized Response Strategy, JRSS B 56 (1994), 93-95.
    """
    p = chance("truthful", truthful)
    return Design(p, 1 - p)


def kuk(with_trait: Chance, without: Chance) -> Design:
    """Give Kuk's design with one card: who has the trait draws from one deck, others from another.

    λ = (p₁ − p₂)π + p₂, a report being "red". For several cards see ``MatrixDesign.kuk``.

    Args:
        with_trait: Part of red cards in the deck of those who have the trait.
        without: Part of red cards in the other deck; not the same.

    References:
        [Kuk90] A. Y. C. Kuk, Asking Sensitive Questions Indirectly, Biometrika 77 (1990), 436-438.
    """
    red, other = chance("with_trait", with_trait), chance("without", without)
    return Design(red - other, other)


def direct_question() -> Design:
    """Give the design of a question that was asked without noise: λ = π, and no privacy."""
    return DIRECT


def design_odds(design: Design) -> Fraction | None:
    """Give the exact odds e^ε of one report: the most it can shift anyone's odds about the trait.

    Privacy:
        Holds for respondents who follow the instructions, and only if nobody else sees the card or
        die. Where a report is impossible for some, it gives others away: there is no ε.

    Returns:
        The odds, or None where no ε exists.

    >>> design_odds(forced_response("1/6", "1/6")), design_odds(direct_question())
    (Fraction(5, 1), None)
    """
    yes = design.offset, design.offset + design.slope
    return matrix_odds([yes, (1 - yes[0], 1 - yes[1])])


def design_epsilon(design: Design) -> float:
    """Give ε of one report in nats, rounded up; infinite where none exists."""
    odds = design_odds(design)
    return math.inf if odds is None else epsilon_of(odds)


def matrix_odds(rows: list[tuple[Fraction, ...]]) -> Fraction | None:
    """Give the greatest ratio of two chances within a row; None where a report can be certain.

    A report that nobody can send does not count.
    """
    seen = [row for row in rows if any(row)]
    if any(min(row) == 0 for row in seen):
        return None
    return max(max(row) / min(row) for row in seen)
