"""How respondents came into the sample: weights, strata, clusters, and what that does to errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import EstimateError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """Describe a sample: one entry for each respondent, in the order of the reports.

    All that follows works on de-biased scores z, which are unbiased for each respondent's true
    answer whatever the sample is; so textbook formulas apply to them as they are, and the variance
    between respondents contains the noise.

    Args:
        weights: How many people each respondent stands for, above 0; all 1 if left out.
        strata: Stratum of each respondent; names or numbers.
        clusters: Cluster (primary sampling unit) of each respondent. Clusters are told apart
            within strata, so that "village 1" may occur in two of them.
        population: Finite population: how many units (clusters, or people where there are no
            clusters) each stratum has; a number where there are no strata. Errors shrink as the
            sample nears it, but not what the noise adds to them.

    Attributes:
        calibration: Columns that the weights were made to fit, shape (respondents, columns);
            None if they were not. See ``poststratify`` and ``rake``.

    Raises:
        EstimateError: If a weight is not above 0, lengths differ.

    References:
        [SSW92] C.-E. Särndal, B. Swensson and J. Wretman, Model Assisted Survey Sampling, 1992,
        Sections 4.2 (clusters) and 6.6 (calibration residuals).
    """

    weights: Floats
    strata: NDArray[np.generic] | None = None
    clusters: NDArray[np.generic] | None = None
    population: Mapping[object, float] | float | None = None
    calibration: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not np.all(np.isfinite(weights)) or np.any(weights <= 0):
            raise EstimateError("weights must be finite numbers above 0, one for each respondent")
        object.__setattr__(self, "weights", weights)
        for name in ("strata", "clusters"):
            given = getattr(self, name)
            if given is None:
                continue
            column = np.asarray(given)
            if column.shape != weights.shape:
                raise EstimateError(
                    f"{name} must have one entry for each of {len(weights)} respondents, "
                    f"got shape {column.shape}"
                )
            object.__setattr__(self, name, column)
        object.__setattr__(self, "_fractions", self._checked_fractions())

    @classmethod
    def of(
        cls,
        respondents: int,
        weights: ArrayLike | None = None,
        *,
        strata: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        population: Mapping[object, float] | float | None = None,
    ) -> SampleDesign:
        """Describe a sample from arrays or lists; weights left out are 1.

        >>> SampleDesign.of(4, strata=["a", "a", "b", "b"]).degrees
        2
        """
        return cls(
            np.ones(respondents) if weights is None else np.asarray(weights, dtype=np.float64),
            None if strata is None else np.asarray(strata),
            None if clusters is None else np.asarray(clusters),
            population,
        )

    @property
    def n(self) -> int:
        """Number of respondents."""
        return len(self.weights)

    @property
    def simple(self) -> bool:
        """Whether there is nothing but weights: no strata, clusters, population, calibration."""
        parts = (self.strata, self.clusters, self.population, self.calibration)
        return all(part is None for part in parts)

    @cached_property
    def stratum_codes(self) -> Codes:
        """Stratum of each respondent as 0, 1, …; all 0 without strata."""
        return _coded(self.strata, self.n)

    @cached_property
    def cluster_codes(self) -> Codes:
        """Cluster of each respondent, different in every stratum; all −1 without clusters."""
        if self.clusters is None:
            return np.full(self.n, -1, dtype=np.int64)
        own = _coded(self.clusters, self.n)
        pairs = self.stratum_codes * (own.max(initial=0) + 1) + own
        return np.unique(pairs, return_inverse=True)[1].astype(np.int64)

    @property
    def units(self) -> Codes:
        """Number of primary sampling units of each stratum: clusters, or respondents."""
        if self.clusters is None:
            return np.bincount(self.stratum_codes)
        pairs = np.unique(np.column_stack([self.stratum_codes, self.cluster_codes]), axis=0)
        return np.bincount(pairs[:, 0])

    @property
    def degrees(self) -> int:
        """Degrees of freedom of a variance: sampling units less strata."""
        return int((self.units - 1).sum())

    @property
    def fractions(self) -> Floats:
        """The sampled part of the units of each stratum; 0 where the population is not known."""
        found: Floats = getattr(self, "_fractions")  # noqa: B009  # set once, in __post_init__
        return found

    @property
    def kish(self) -> float:
        """Kish's design effect of unequal weights: 1 + cv²(weights)."""
        return float(self.n * (self.weights**2).sum() / self.weights.sum() ** 2)

    @property
    def infinite(self) -> SampleDesign:
        """The same sample of a population without end: errors a little larger, never smaller."""
        return replace(self, population=None)

    def only(self, kept: NDArray[np.bool_]) -> SampleDesign:
        """Keep some of the respondents; a finite population is kept as it is."""
        return SampleDesign(
            self.weights[kept],
            None if self.strata is None else self.strata[kept],
            None if self.clusters is None else self.clusters[kept],
            self.population,
            None if self.calibration is None else self.calibration[kept],
        )

    def covariance_of_total(self, scores: Floats, noise: Floats | None = None) -> Floats:
        """Estimate the covariance of Σ weight · score over the sample.

        With strata h of m_h units and totals t_c of each unit,
        V = Σ_h (1 − f_h) · m_h/(m_h − 1) · Σ_c (t_c − t̄_h)(t_c − t̄_h)ᵀ. The spread between
        units contains the noise of the reports, but the factor 1 − f_h must not shrink that, so
        Σ f_h · weight² · noise is added back: what noise adds does not vanish in a census.

        Args:
            scores: Linearised scores, shape (respondents, columns).
            noise: Unbiased estimate of each score's variance from randomization alone, shape
                (respondents, columns, columns); only needed with a finite population.

        Raises:
            EstimateError: If a stratum has a single unit, so that its spread cannot be seen.
        """
        weighted = self._residuals(scores) * self.weights[:, None]
        found = covariance_of_sums(
            weighted, np.ones(self.n, dtype=np.int64), self.stratum_codes, self.cluster_codes,
            self.fractions,
        )  # fmt: skip
        if noise is not None and self.population is not None:
            kept = self.fractions[self.stratum_codes] * self.weights**2
            found = found + np.einsum("i,ijk->jk", kept, noise)
        return found

    def _residuals(self, scores: Floats) -> Floats:
        """Take away what calibration fixes: the weighted regression on its columns."""
        if self.calibration is None:
            return scores
        root = np.sqrt(self.weights)[:, None]
        fit = np.linalg.lstsq(self.calibration * root, scores * root, rcond=None)[0]
        found: Floats = scores - self.calibration @ fit
        return found

    def _checked_fractions(self) -> Floats:
        units = self.units
        if self.population is None:
            return np.zeros(len(units))
        names = [None] if self.strata is None else list(np.unique(self.strata))
        if isinstance(self.population, Mapping):
            missing = [str(name) for name in names if name not in self.population]
            if missing:
                raise EstimateError(f"population is missing for strata {', '.join(missing)}")
            sizes = np.array([float(self.population[name]) for name in names])
        elif len(names) == 1:
            sizes = np.array([float(self.population)])
        else:
            raise EstimateError("with several strata, population needs a number for each of them")
        if np.any(sizes < units):
            raise EstimateError("population must be at least the number of sampled units")
        found: Floats = units / sizes
        return found


def covariance_of_sums(
    scores: Floats, counts: Codes, strata: Codes, clusters: Codes, fractions: Floats
) -> Floats:
    """Estimate the covariance of the column sums of scores from the spread between units.

    Args:
        scores: One row for each different respondent, already weighted.
        counts: How often each row occurs.
        strata: Stratum codes.
        clusters: Cluster codes, or −1 throughout where every respondent is a unit.
        fractions: Sampled part of the units of each stratum.

    Raises:
        EstimateError: If a stratum has a single unit.
    """
    if len(clusters) and clusters[0] >= 0:
        sums = np.zeros((clusters.max() + 1, scores.shape[1]))
        np.add.at(sums, clusters, scores * counts[:, None])
        members = np.zeros(len(sums), dtype=np.int64)
        members[clusters] = strata
        scores, strata, counts = sums, members, np.ones(len(sums), dtype=np.int64)
    found = np.zeros((scores.shape[1], scores.shape[1]))
    for stratum, fraction in enumerate(fractions):
        inside = strata == stratum
        many = int(counts[inside].sum())
        if many == 1 and fraction < 1:
            raise EstimateError(
                "a stratum has a single sampling unit, so its variance cannot be estimated: "
                "merge it with another stratum"
            )
        if many > 1:
            mean = (scores[inside] * counts[inside, None]).sum(axis=0) / many
            off = scores[inside] - mean
            found += (1 - fraction) * many / (many - 1) * (off * counts[inside, None]).T @ off
    return found


def _coded(labels: NDArray[np.generic] | None, n: int) -> Codes:
    if labels is None:
        return np.zeros(n, dtype=np.int64)
    found: Codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return found
