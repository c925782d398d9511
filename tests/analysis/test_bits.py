"""Sums over rows of bits, against the matrix that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from deniable_analysis.bits import column_sums, gram, pack, row_sums

ROWS = (0, 1, 9000, 65_535, 65_536, 70_001)  # from 65,536 on, bytes are counted two at a time
OPTIONS = (2, 8, 9, 16, 100)  # one byte, two, and thirteen: no other byte is there to pair with


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rows", ROWS)
def test_sums_are_those_of_the_matrix(rows: int, options: int) -> None:
    rng = np.random.default_rng(rows + options)
    held = rng.random((rows, options)) < rng.random(options)
    bits, matrix = pack(held), held.astype(np.int64)
    weights = rng.integers(0, 1 << 20, rows).astype(np.float64)  # sums of whole numbers are exact
    values = rng.integers(0, 1 << 20, options).astype(np.float64)
    assert column_sums(bits, None, options).tolist() == matrix.sum(axis=0).tolist()
    assert column_sums(bits, weights, options).tolist() == (weights @ matrix).tolist()
    assert row_sums(bits, values).tolist() == (matrix @ values).tolist()
    pairs = matrix.T @ (matrix * weights[:, None])
    assert gram(bits, weights, options) == pytest.approx(pairs, rel=1e-12)
