"""R's random numbers, so that examples which R packages publish by a seed are made again here.

``set.seed(123)`` and the calls after it are all that a vignette prints about its data. With the
same numbers the data are the same, and a fit can be compared where R is not installed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Numbers = NDArray[np.float64]


class RNumbers:
    """Draw as R 4 does by default: Mersenne Twister, and normal numbers by inversion.

    >>> RNumbers(123).uniform(3).round(7).tolist()
    [0.2875775, 0.7883051, 0.4089769]
    >>> RNumbers(123).normal(3).round(8).tolist()
    [-0.56047565, -0.23017749, 1.55870831]
    """

    def __init__(self, seed: int) -> None:
        scrambled = [seed]
        for _ in range(50 + 625):  # R's set.seed: 50 steps are thrown away, the next place is too
            scrambled.append((69069 * scrambled[-1] + 1) % 2**32)
        self._twister = np.random.MT19937()
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(scrambled[-624:], dtype=np.uint32), "pos": 624},
        }

    def uniform(self, n: int) -> Numbers:
        """Give ``runif(n)``."""
        return self._twister.random_raw(n) * 2.3283064365386963e-10

    def normal(self, n: int) -> Numbers:
        """Give ``rnorm(n)``: two uniform numbers make one of 53 bits, and its quantile is taken."""
        high, low = self.uniform(2 * n).reshape(n, 2).T
        return ndtri((np.floor(2**27 * high) + low) / 2**27)

    def binary(self, n: int, share: float) -> NDArray[np.int64]:
        """Give ``rbinom(n, 1, share)`` for a share of at most a half, by its inversion."""
        return (self.uniform(n) >= 1 - share).astype(np.int64)


def warner(numbers: RNumbers, n: int, share: float, truth: float) -> tuple[Numbers, Numbers]:
    """Give true answers and reports as ``RRreg::RRgen(n, share, "Warner", truth)`` draws them."""
    says_so = numbers.uniform(n) < truth
    true = numbers.binary(n, share)
    numbers.uniform(n)  # whether people comply, drawn last; everybody does
    return true, np.where(says_so, true, 1 - true)


def forced(numbers: RNumbers, n: int, shares: list[float], forced: list[float]) -> tuple[
    Numbers, Numbers
]:  # fmt: skip
    """Give true answers and reports as ``RRreg::RRgen(n, shares, "FR", forced)`` draws them."""
    numbers.uniform(n)  # whether people comply, drawn first here
    true = np.searchsorted(np.cumsum(shares), numbers.uniform(n), side="right")
    told = np.searchsorted(np.cumsum(forced), numbers.uniform(n), side="right")
    numbers.uniform(n)  # what they would say who do not comply
    return true, np.where(told == len(forced), true, told)
