"""A subset of options as bytes: bit j of byte ⌊j/8⌋, least significant first, is option j."""

from __future__ import annotations

from collections.abc import Iterable


def to_bitmap(subset: Iterable[int], options: int) -> bytes:
    """Write a subset as ⌈options/8⌉ bytes; unused bits of the last byte are 0.

    Args:
        subset: Option indices, each from 0 to ``options − 1``.
        options: Number of options k.

    >>> to_bitmap((0, 3, 9), 10).hex()
    '0902'
    """
    return sum(1 << index for index in set(subset)).to_bytes((options + 7) // 8, "little")


def from_bitmap(bitmap: bytes) -> tuple[int, ...]:
    """Read the sorted option indices of a bitmap.

    >>> from_bitmap(bytes.fromhex("0902"))
    (0, 3, 9)
    """
    bits = int.from_bytes(bitmap, "little")
    return tuple(index for index in range(bits.bit_length()) if bits >> index & 1)
