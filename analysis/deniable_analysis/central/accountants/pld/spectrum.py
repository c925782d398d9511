"""Raise the characteristic functions of tilted lattices to powers, and bound the error.

A power multiplies errors by its exponent, so a transform alone is good for a thousand steps or so.
The few frequencies that survive a large power are therefore summed directly, as c − 1.

References:
    [Hig02] N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed. 2002, Chapter 3
        for inner products, Theorem 24.2 for transforms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft

from deniable_analysis.central.accountants.pld.cells import Lattice, Places
from deniable_analysis.central.accountants.pld.tilt import Law
from deniable_analysis.central.profiles import Floats

_ULP = 2.0**-53
_NEGLIGIBLE = -50.0  # ln of a power of a characteristic function
_LITTLE_WORK, _MUCH_WORK = 2**23, 2**30  # products that accuracy is worth
_BAND = 64  # neighbouring frequencies that share their sines
_COLUMNS = 512  # places in one block of work

Complexes = NDArray[np.complex128]


def transformed(
    lattices: Sequence[Lattice], laws: Sequence[Law], theta: float, size: int
) -> tuple[Floats, float]:
    """Compute the tilted masses of the sum, modulo *size* places, and bound their error.

    Powers multiply errors, so the few frequencies whose power is not negligible are computed again
    from sums without cancellation; the transform only proves that the others are negligible.
    """
    fft_error = 8 * 4 * math.log2(size) * _ULP
    found = [
        rfft(np.bincount(part.place % size, weights=law.tilted(theta), minlength=size))
        for part, law in zip(lattices, laws, strict=True)
    ]
    # Each output adds ‖w‖₁ = 1 in log2(size) rounds, so its own error is of that order.
    height = sum(n.count * np.log(np.abs(c) + fft_error) for c, n in zip(found, laws, strict=True))
    few = np.flatnonzero(height > _NEGLIGIBLE)
    error, counts = np.exp(height), [law.count for law in laws]
    spectrum = np.zeros(len(height), dtype=np.complex128)
    work = len(few) * sum(len(part.mass) for part in lattices)
    if work <= (_MUCH_WORK if sum(counts) * fft_error > 1e-9 else _LITTLE_WORK):
        spectrum[few], error[few] = _powers(lattices, laws, theta, size, few)
    else:
        spectrum[few], error[few] = _plain_powers([c[few] for c in found], laws, fft_error)
    masses = irfft(spectrum, n=size)
    norm = math.sqrt(2 / size) * float(np.linalg.norm(error))
    return masses, norm + fft_error * float(np.linalg.norm(masses))


def _plain_powers(
    found: Sequence[Complexes], laws: Sequence[Law], fft_error: float
) -> tuple[Complexes, Floats]:
    """Compute the product from the transforms themselves."""
    exponent = np.zeros(len(found[0]), dtype=np.complex128)
    doubt = np.zeros(len(found[0]))
    for values, law in zip(found, laws, strict=True):
        safe = np.where(np.abs(values) > fft_error, values, fft_error)
        log = np.log(safe)
        exponent += law.count * log
        doubt += law.count * (np.log1p(2 * fft_error / np.abs(safe)) + 4 * _ULP * np.abs(log))
    # |ĉⁿ − cⁿ| ≤ (|ĉ| + off)ⁿ − |ĉ|ⁿ
    error = np.exp(np.real(exponent) + doubt) * -np.expm1(-doubt)
    return np.exp(exponent), np.asarray(error)


def _powers(
    lattices: Sequence[Lattice], laws: Sequence[Law], theta: float, size: int, few: Places
) -> tuple[Complexes, Floats]:
    """Compute the sum's characteristic function at frequencies *few*, and its error."""
    exponent = np.zeros(len(few), dtype=np.complex128)
    doubt = np.zeros(len(few))
    for part, law in zip(lattices, laws, strict=True):
        short, lost = _less_one(part.place, law.tilted(theta), size, few)
        log = np.log1p(short)
        exponent += law.count * log
        doubt += law.count * (lost / np.exp(np.real(log)) + 4 * _ULP * np.abs(log))
    spectrum = np.exp(exponent)
    return spectrum, np.abs(spectrum) * np.expm1(np.minimum(doubt, 600.0))


def _less_one(place: Places, weight: Floats, size: int, few: Places) -> tuple[Complexes, Floats]:
    """Compute c − 1 of one lattice at frequencies *few*, and bound its error.

    With z = e^(−iφ) − 1 = −2 sin²(φ/2) − i sin φ there is no cancellation in the real part, and the
    imaginary part is small as places count from the bulk. Frequencies f + g share the sines of f
    and of g: z(f + g) = z(f) + z(g) + z(f) z(g), the last a matrix product.
    """
    bands, row = np.unique(few // _BAND, return_inverse=True)
    column = few % _BAND
    rows, columns = bands * _BAND, np.arange(_BAND)
    product = np.zeros((len(rows), _BAND), dtype=np.complex128)
    sums: list[tuple[Complexes, Complexes]] = []
    sizes = np.zeros((2, len(rows))), np.zeros((2, _BAND))
    blocks = [slice(at, at + _COLUMNS) for at in range(0, len(place), _COLUMNS)]
    for block in blocks:
        far, near = _turns(rows, place[block], size), _turns(columns, place[block], size)
        heavy = far * weight[block]
        product += heavy @ near.T
        sums.append((heavy.sum(axis=1), near @ weight[block]))
        for total, turns in zip(sizes, (far, near), strict=True):
            total[0] += np.abs(turns.real) @ weight[block] + np.abs(turns.imag) @ weight[block]
            total[1] += np.abs(turns) ** 2 @ weight[block]
    far_sum, near_sum = (np.sum([pair[i] for pair in sums], axis=0) for i in (0, 1))
    found = far_sum[row] + near_sum[column] + product[row, column]
    # Inner products err by as many ulps as they are long, block by block [Hig02]; the product is
    # small, as by Cauchy and Schwarz it is at most the root of both sums of squares.
    long = 4 * (_COLUMNS + len(blocks)) * _ULP
    lost = (32 + len(blocks)) * _ULP * (sizes[0][0][row] + sizes[1][0][column])
    lost += long * np.sqrt(sizes[0][1][row] * sizes[1][1][column])
    return found, lost


def _turns(frequency: Places, place: Places, size: int) -> Complexes:
    """Compute e^(−iφ) − 1 for every frequency and place, φ between −π and π."""
    steps = np.outer(frequency, place) % size
    half = np.where(2 * steps > size, steps - size, steps) * (math.pi / size)
    sine = np.sin(half)
    found = np.empty(half.shape, dtype=np.complex128)
    found.real, found.imag = -2 * sine**2, -2 * sine * np.cos(half)
    return found
