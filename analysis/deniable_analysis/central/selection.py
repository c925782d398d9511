"""Choose the best of a list of candidates: exponential mechanism and its two relatives.

All three take a utility for each candidate and tend to name the one with the highest. With rate
r = ε/(2Δu), or ε/Δu when one person can only raise (or only lower) all utilities at once:

- the exponential mechanism names candidate i with probability ∝ e^(r·u_i);
- permute-and-flip is never worse in expected utility, at the same ε;
- report-noisy-max adds Laplace noise of scale 1/r to each utility and names the largest.

Names are drawn by exact coin flips of fractions; no float takes part.

References:
    [MT07] F. McSherry and K. Talwar, *Mechanism Design via Differential Privacy*, FOCS 2007.
    [MS20] R. McKenna and D. Sheldon, *Permute-and-Flip*, NeurIPS 2020 (arXiv:2010.12603).
    [DR14] C. Dwork and A. Roth, 2014, Claim 3.9 (report noisy max).
    [DKSS21] Z. Ding, D. Kifer, S. Saghaian, T. Steinke, Y. Wang, Y. Xiao and D. Zhang, *The
    Permute-and-Flip Mechanism Is Identical to Report-Noisy-Max with Exponential Noise*,
    arXiv:2105.07260.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw

from deniable_protocol.errors import MechanismError

from . import cells
from .arguments import Number, above_zero, at_least_zero, exact, float_up, fraction, inside_unit
from .definitions import Definition, PureDP
from .events import PureEvent
from .profiles import ApproximateProfile
from .sampling import Source, bernoulli_exp, system_below
from .sensitivity import Sensitivity


@dataclass(frozen=True)
class Selection(ABC):
    """Name one of several candidates, the better ones more often.

    Args:
        promise: The definition it is to meet; PureDP.
        sensitivity: How far one person moves one utility; its L1 is used.
        rate: r, a fraction per unit of utility.
        monotone: Whether one person moves all utilities in the same direction.
    """

    promise: Definition
    sensitivity: Sensitivity
    rate: Fraction
    monotone: bool = False

    def __post_init__(self) -> None:
        above_zero("rate", self.rate)
        if self.promise.neighbours is not self.sensitivity.neighbours:
            raise MechanismError(
                f"the promise is for {self.promise.neighbours.value} neighbours, the sensitivity "
                f"for {self.sensitivity.neighbours.value} ones: use the same relation"
            )

    @classmethod
    def calibrate(
        cls, definition: Definition, sensitivity: Sensitivity, *, monotone: bool = False
    ) -> Selection:
        """Choose the largest rate that meets ε.

        Args:
            definition: PureDP.
            sensitivity: How far one person moves one candidate's utility.
            monotone: Whether one person moves all utilities in the same direction, as with votes
                under add-or-remove; it doubles the rate.

        Raises:
            MechanismError: For another definition.
        """
        if not isinstance(definition, PureDP):
            raise MechanismError(
                f"a choice is calibrated to PureDP, got {type(definition).__name__}"
            )
        moves = sensitivity.l1 if monotone else 2 * sensitivity.l1
        return cls(definition, sensitivity, exact("epsilon", definition.epsilon) / moves, monotone)

    @property
    def largest_loss(self) -> Fraction:
        """ε, exactly: the rate times the utility's largest move, twice unless monotone."""
        return self.rate * self.sensitivity.l1 * (1 if self.monotone else 2)

    @property
    def event(self) -> PureEvent:
        """A release of which this ε is known, rounded up."""
        return PureEvent(self.profile.ceiling)

    @property
    def profile(self) -> ApproximateProfile:
        """The profile of the worst mechanism with this ε: an upper bound for this one."""
        return ApproximateProfile(float_up(self.largest_loss))

    def delta(self, epsilon: float) -> float:
        """Return δ(ε), an upper bound."""
        return float(self.profile.delta(float(at_least_zero("epsilon", epsilon))))

    @property
    def rho(self) -> None:
        """None: it is not Gaussian noise."""
        return None

    @abstractmethod
    def probabilities(self, utilities: Sequence[Number]) -> NDArray[np.float64]:
        """Return each candidate's chance of being named; float64, sums to 1."""

    @property
    def noise_scale(self) -> float:
        """Scale 1/r of the noise that the choice amounts to, in units of utility."""
        return 1 / float(self.rate)

    @abstractmethod
    def _shortfall(self, others: int, miss: float) -> float:
        """Return how far below the best, times r, a named candidate is with chance `miss`."""

    @abstractmethod
    def _choose(self, gaps: list[Fraction], below: Source) -> int:
        """Name a candidate, given r times how far each utility is below the best."""

    def release(self, utilities: Sequence[Number], below: Source = system_below) -> Chosen:
        """Name a candidate, drawn exactly.

        Privacy:
            ``promise``, if ``verify`` passes. The utilities stay secret; only the name is released.

        Args:
            utilities: One for each candidate; finite numbers.
            below: The source of randomness; for tests only.

        Returns:
            The candidate, with how far from the best it may be.

        Raises:
            MechanismError: If there is no candidate, or a utility is not a finite number.
        """
        gaps = [self.rate * gap for gap in _gaps(utilities)]
        return Chosen(self, self._choose(gaps, below), len(gaps))

    def _scaled(self, utilities: Sequence[Number]) -> NDArray[np.float64]:
        return np.array([-float(self.rate * gap) for gap in _gaps(utilities)])


@dataclass(frozen=True)
class Chosen:
    """A candidate's name that may be published, with the noise it carries.

    Args:
        mechanism: Where it comes from.
        index: Place of the candidate among the utilities.
        candidates: How many there were.
    """

    mechanism: Selection
    index: int
    candidates: int

    @property
    def noise_scale(self) -> float:
        """Scale of the noise, in units of utility."""
        return self.mechanism.noise_scale

    def shortfall(self, level: float = 0.95) -> float:
        """Return how far below the best utility this candidate's is, at most, at a given level.

        The one-sided confidence statement for a choice: whatever the utilities are, it is wrong
        with chance 1 − level at most. Exact for the exponential mechanism in its worst case (all
        others equal); an upper bound for the other two.

        Args:
            level: Chance of holding, in (0, 1).

        Returns:
            A distance in units of utility, at least 0.
        """
        miss = 1 - inside_unit("level", level)
        if self.candidates == 1:
            return 0.0
        found = self.mechanism._shortfall(self.candidates - 1, miss)
        return max(0.0, found) * self.noise_scale


@dataclass(frozen=True)
class Exponential(Selection):
    """Name candidate i with probability proportional to e^(r·u_i).

    Privacy:
        Between neighbours e^(r·u_i) changes by a factor of at most e^(rΔ), and the sum that divides
        it by at most e^(rΔ) the other way; monotone utilities cannot do both [MT07, Theorem 6].

    >>> from deniable_analysis.central import PureDP, count
    >>> canteen = Exponential.calibrate(PureDP(1), count())
    >>> canteen.probabilities([30, 25, 5]).round(4).tolist()
    [0.9241, 0.0759, 0.0]
    """

    def probabilities(self, utilities: Sequence[Number]) -> NDArray[np.float64]:
        """Return each candidate's chance; computed from the best down, so nothing overflows."""
        weights = np.exp(self._scaled(utilities))
        return np.asarray(weights / weights.sum())

    def _shortfall(self, others: int, miss: float) -> float:
        # P(one of m others, all lower by s) = m e^(−rs)/(1 + m e^(−rs)), solved for rs.
        return math.log(others) + math.log1p(-miss) - math.log(miss)

    def _choose(self, gaps: list[Fraction], below: Source) -> int:
        # A uniform candidate kept with chance e^(−gap) is one with chance ∝ e^(−gap).
        while True:
            candidate = below(len(gaps))
            if bernoulli_exp(gaps[candidate], below):
                return candidate


@dataclass(frozen=True)
class PermuteAndFlip(Selection):
    """Try the candidates in random order; each is named with chance e^(−r·(u_max − u_i)).

    Privacy:
        ε for the same rate as the exponential mechanism [MS20, Theorem 1].

    >>> from deniable_analysis.central import PureDP, count
    >>> canteen = PermuteAndFlip.calibrate(PureDP(1), count())
    >>> canteen.probabilities([30, 25, 5]).round(4).tolist()
    [0.959, 0.041, 0.0]
    """

    def probabilities(self, utilities: Sequence[Number]) -> NDArray[np.float64]:
        """Return each candidate's chance: q_i ∫₀¹ Π_{j≠i} (1 − q_j t) dt, by exact quadrature."""
        q = np.exp(self._scaled(utilities))
        # With arrival times t uniform on [0, 1] instead of an order, j has not been named before t
        # with chance 1 − q_j t. The integrand is a polynomial of degree k − 1, which k/2 Gauss
        # nodes integrate exactly.
        nodes, weights = np.polynomial.legendre.leggauss(len(q) // 2 + 1)
        t = (nodes + 1) / 2
        others = np.ones((len(q), len(t)))
        for j, chance in enumerate(q):
            others[np.arange(len(q)) != j] *= 1 - chance * t
        return np.asarray(q * (others @ weights) / 2)

    def _shortfall(self, others: int, miss: float) -> float:
        # Its shortfall is never the likelier to pass a bound [MS20, Theorem 2].
        return math.log(others) + math.log1p(-miss) - math.log(miss)

    def _choose(self, gaps: list[Fraction], below: Source) -> int:
        left = list(range(len(gaps)))
        while True:
            candidate = left.pop(below(len(left)))
            if bernoulli_exp(gaps[candidate], below):
                return candidate


@dataclass(frozen=True)
class ReportNoisyMax(Selection):
    """Add Laplace noise of scale 1/r to every utility and name the largest.

    The noisy utilities are real numbers, compared digit by digit until one is certainly the
    largest, so there are no ties (on which floating-point versions lose their guarantee).

    Privacy:
        Fix the others' noise: candidate i wins for its noise above some z; between neighbours that
        bound moves by at most 2Δ (Δ when monotone), which costs e^(2rΔ) [DR14, Claim 3.9].

    >>> from deniable_analysis.central import PureDP, count
    >>> canteen = ReportNoisyMax.calibrate(PureDP(1), count())
    >>> canteen.probabilities([30, 25, 5]).round(4).tolist()
    [0.9077, 0.0923, 0.0]
    """

    def probabilities(self, utilities: Sequence[Number]) -> NDArray[np.float64]:
        """Return each candidate's chance, by numerical integration to about 1e-12."""
        u = self._scaled(utilities)
        # Between the kinks (the utilities) everything is smooth; beyond them it is below e^(−45).
        ends = np.unique(np.concatenate([u[u > -90], [-45.0, 45.0]]))
        ends = np.unique(np.concatenate([np.linspace(a, b, 9) for a, b in pairwise(ends)]))
        nodes, weights = np.polynomial.legendre.leggauss(24)
        width = np.diff(ends)[:, None] / 2
        x = (ends[:-1, None] + width + width * nodes).ravel()
        away = x - u[:, None]
        tail = np.exp(-np.abs(away)) / 2
        log_cdf = np.where(away < 0, away - np.log(2), np.log1p(-tail))
        found = (tail * np.exp(log_cdf.sum(axis=0) - log_cdf)) @ (width * weights).ravel()
        return np.asarray(found / found.sum())

    def _shortfall(self, others: int, miss: float) -> float:
        # A difference of two Laplace numbers passes x with chance (2 + x)e^(−x)/4; times m, solved
        # for x by the lower branch of Lambert's W.
        target = 4 * miss / others * math.exp(-2)
        return -2 - float(lambertw(-target, -1).real) if target < math.exp(-1) else 0.0

    def _choose(self, gaps: list[Fraction], below: Source) -> int:
        noisy = [replace(cells.laplace(Fraction(1), below), offset=-gap) for gap in gaps]
        best = 0
        for challenger in range(1, len(noisy)):
            if noisy[challenger].is_above(noisy[best]):
                best = challenger
        return best


def _gaps(utilities: Sequence[Number]) -> list[Fraction]:
    if len(utilities) == 0:
        raise MechanismError("a choice needs at least one candidate, got none")
    exact_values = [fraction(value) for value in utilities]
    known = [value for value in exact_values if value is not None]
    if len(known) < len(exact_values):
        # Utilities are computed from true answers, so the message does not repeat them.
        raise MechanismError("every utility must be a finite number")
    best = max(known)
    return [best - value for value in known]
