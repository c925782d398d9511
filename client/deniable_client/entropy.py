"""Uniform integers from the operating system's randomness. No float takes part."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from deniable_protocol import EntropyError

Read = Callable[[int], bytes]
"""Give this many fresh random bytes. Only vectors and enumeration pass one of their own."""

_WORDS: Final = 2**32


def system(size: int) -> bytes:
    """Read random bytes from the operating system.

    Raises:
        EntropyError: If the system has no source of randomness.
    """
    try:
        return os.urandom(size)
    except (NotImplementedError, OSError) as error:
        raise EntropyError(f"the system's randomness cannot be read: {error}") from None


def below(bound: int, read: Read) -> int:
    """Draw a uniform integer below *bound*.

    Four big-endian bytes are one word. Words at or above the largest multiple of *bound* are
    thrown away, since keeping them would make small results more likely (modulo bias).

    Args:
        bound: 1 to 2^32.
        read: Where the bytes come from.

    Raises:
        EntropyError: If *read* gives too few bytes.

    >>> from io import BytesIO
    >>> below(6, BytesIO(bytes.fromhex("ffffffff 00000007")).read)  # the first word is refused
    1
    """
    ceiling = _WORDS - _WORDS % bound
    while True:
        word = int.from_bytes(exactly(4, read), "big")
        if word < ceiling:
            return word % bound


def exactly(size: int, read: Read) -> bytes:
    """Read *size* bytes, all or an error."""
    data = read(size)
    if len(data) != size:
        raise EntropyError(f"expected {size} random bytes, got {len(data)}")
    return data
