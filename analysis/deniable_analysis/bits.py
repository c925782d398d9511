"""A matrix of zeros and ones kept as bits: one row for each report, one column for each option.

Bit j of byte ⌊j/8⌋, least significant first, as the database has it. A million reports of 100
options take 13 MB instead of 800, and products go byte by byte through tables of 256 entries.
"""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]

_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
"""The eight bits of every byte, shape (256, 8)."""

_CHUNK: Final = 8192
"""Rows at a time, so that what is computed from them stays in the processor's cache."""

_MANY: Final = 1 << 16
"""Rows from which on bytes are counted two at a time, in a table of as many entries."""

_PRODUCT: Final = 32_768
"""Rows at a time in a product of matrices: few calls, because threads of a linear algebra library
wait for each other at every call, and long where other programs have the processors."""


def pack(indicators: NDArray[np.bool_]) -> Bits:
    """Turn a matrix of booleans, shape (rows, options), into bits.

    >>> pack(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    return np.packbits(indicators, axis=1, bitorder="little")


def unpack(bits: Bits, options: int) -> NDArray[np.bool_]:
    """Turn bits back into booleans, shape (rows, options)."""
    return np.unpackbits(bits, axis=1, count=options, bitorder="little").astype(np.bool_)


def column_sums(bits: Bits, weights: Floats | None, options: int) -> Floats:
    """Sum the weights of the rows that hold each option: Sᵀw, float64, shape (options,)."""
    times = _byte_times(np.ascontiguousarray(bits.T), weights)
    return (np.stack(times) @ _BYTES).ravel()[:options].astype(np.float64)


def _byte_times(columns: Bits, weights: Floats | None) -> list[NDArray[Any]]:
    """Sum the weights of each byte's 256 values, in each column and perhaps one more of zeros."""
    rows = columns.shape[1]
    if rows < _MANY:
        return [np.bincount(column, weights, minlength=256) for column in columns]
    found: list[NDArray[Any]] = []
    rest = np.zeros(rows, np.uint8)
    for low, high in zip_longest(columns[::2], columns[1::2], fillvalue=rest):
        both = low | high.astype(np.uint16) << 8
        times = np.bincount(both, weights, minlength=1 << 16).reshape(256, 256)
        found += [times.sum(axis=0), times.sum(axis=1)]
    return found


def row_sums(bits: Bits, values: Floats) -> Floats:
    """Sum the values of the options that each row holds: Sx, float64, shape (rows,)."""
    padded = np.zeros(bits.shape[1] * 8)
    padded[: len(values)] = values
    tables = (padded.reshape(-1, 8) @ _BYTES.T).astype(np.float64)
    found = np.zeros(len(bits))
    for start in range(0, len(bits), _CHUNK):
        rows = slice(start, start + _CHUNK)
        for table, column in zip(tables, bits[rows].T, strict=True):
            found[rows] += table.take(column, mode="clip")  # no byte is beyond: no check
    return found


def gram(bits: Bits, weights: Floats, options: int) -> Floats:
    """Sum the weights of the rows that hold each pair of options: Sᵀ diag(w) S, float64."""
    found = np.zeros((options, options))
    roots = np.sqrt(weights)[:, None]
    for start in range(0, len(bits), _PRODUCT):
        rows = slice(start, start + _PRODUCT)
        scaled = unpack(bits[rows], options) * roots[rows]
        found += scaled.T @ scaled
    return found


def distinct(bits: Bits, options: int, subset: int) -> tuple[Bits, Floats]:
    """Give different rows once each, with how often they occur.

    Where there are more possible rows than rows, they are hardly ever equal: they are given as
    they are, because finding that out would cost a sort.

    Returns:
        Rows as bits and their multiplicities, float64, shape (rows,).
    """
    if math.comb(options, subset) > len(bits):
        return bits, np.ones(len(bits))
    keys = np.ascontiguousarray(bits).view(f"V{bits.shape[1]}").ravel()
    rows, times = np.unique(keys, return_counts=True)
    return rows.view(np.uint8).reshape(-1, bits.shape[1]), times.astype(np.float64)
