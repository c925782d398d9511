"""Numbers that come from outside: finite, of the right sign, exact where exactness is kept."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real

from deniable_protocol.errors import MechanismError

Number = int | float | Fraction

_MOST = 10**18


def shown(value: object) -> str:
    """Write a value into a message; Python refuses to write out integers of thousands of digits."""
    if isinstance(value, int | Fraction):
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if bits > 4096:
            return f"a number of {bits:,} bits"
    return repr(value)


def exact(name: str, value: Number) -> Fraction:
    """Return a finite number as the fraction it is; a float is the binary fraction it holds.

    Raises:
        MechanismError: If it is not a finite number.

    >>> exact("scale", 0.5)
    Fraction(1, 2)
    """
    found = fraction(value)
    if found is None:
        raise MechanismError(f"{name} must be a finite number, got {shown(value)}")
    return found


def fraction(value: object) -> Fraction | None:
    """Return a finite number as a fraction of Python's own integers; None if it is not one.

    numpy's integers would stay inside the fraction and overflow there, so they are taken out.

    >>> import numpy as np
    >>> type(fraction(np.int8(100)).numerator), fraction(True)
    (<class 'int'>, None)
    """
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        return Fraction(float(value)) if isinstance(value, Real) else None
    except (ValueError, OverflowError):
        return None


def above_zero(name: str, value: Number) -> Fraction:
    """Return a number above 0 that a float can hold too, as a fraction.

    Raises:
        MechanismError: If it is not above 0, or rounds to 0 or infinity as a float.
    """
    found = exact(name, value)
    if found <= 0:
        raise MechanismError(f"{name} must be a finite number above 0, got {shown(value)}")
    try:
        if float(found) > 0:
            return found
    except OverflowError:
        pass
    raise MechanismError(f"{name} must be between 5e-324 and 1.8e308, got {shown(value)}")


def at_least_zero(name: str, value: Number) -> Fraction:
    """Return a number of at least 0, as a fraction.

    Raises:
        MechanismError: If it is not one.
    """
    return above_zero(name, value) if exact(name, value) else Fraction(0)


def inside_unit(name: str, value: Number) -> float:
    """Return a number strictly between 0 and 1, as a float.

    Raises:
        MechanismError: If it is not one.
    """
    if not 0 < exact(name, value) < 1:
        raise MechanismError(f"{name} must be strictly between 0 and 1, got {shown(value)}")
    return float(value)


def whole(name: str, value: int, least: int = 1) -> int:
    """Return a whole number of at least `least`, and at most 10^18.

    Raises:
        MechanismError: If it is not one.
    """
    found = exact(name, value)
    if found.denominator != 1 or found < least:
        raise MechanismError(
            f"{name} must be a whole number of at least {least}, got {shown(value)}"
        )
    if found > _MOST:
        raise MechanismError(f"{name} must be at most 10^18, got {shown(value)}")
    return int(found)


def float_up(value: Fraction) -> float:
    """Return the nearest float that is not below a fraction.

    >>> float_up(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def float_down(value: Fraction) -> float:
    """Return the nearest float that is not above a fraction."""
    return -float_up(-value)


def root_up(square: Fraction) -> float:
    """Return a float that is not below the square root of a fraction, by whole numbers alone.

    >>> root_up(Fraction(4)), root_up(Fraction(1, 10**400)) > 0
    (2.0, True)
    """
    # Shifted by an even number of bits, so that the whole root has at least 64 of them.
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    shifted = (square.numerator << 2 * shift) // square.denominator
    root = math.isqrt(shifted)
    return float_up(Fraction(root + (root * root < square * 4**shift), 1 << shift))
