"""What a regression found: coefficients with errors, tests, predictions, effects, posteriors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from deniable_analysis.sample_design import SampleDesign
from deniable_protocol import EstimateError

from .averages import Effect, Prediction, average_prediction, effects, predict
from .covariance import Covariance, covariance_of
from .fit import Fit
from .hypotheses import ChiSquareTest, likelihood_ratio, wald
from .inputs import Data, Inputs
from .outcomes import CategoriesAt
from .rows import Terms
from .settle import settle
from .summary import summary

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RegressionResults:
    """Hold a regression's results, in the manner of statsmodels.

    Attributes:
        family: ``logit``, ``multinomial`` or ``linear``.
        names: One name for each coefficient; of a multinomial, "state: column".
        params: The outcome's coefficients, float64.
        covariance: Covariance of all coefficients, the outcome's first.
        covariance_kind: How it was estimated.
        fit: Where the climb ended; None for de-biased least squares, which has no likelihood.
        inputs: The variables.
        sample: How respondents were sampled.
        counts: How often each row was said to occur.
        warnings: What to know before the numbers are used, in words.
        dropped: Rows left out because a value was missing.
    """

    family: str
    names: tuple[str, ...]
    params: Floats
    covariance: Floats
    covariance_kind: str
    fit: Fit | None
    inputs: Inputs
    sample: SampleDesign
    counts: Codes
    warnings: tuple[str, ...]
    dropped: int

    @property
    def outcome_states(self) -> tuple[str, ...]:
        """The outcome's states, the reference first; none for a linear model."""
        outcome = self.inputs.outcome
        return () if self.family == "linear" else getattr(outcome, "states", ())

    @property
    def converged(self) -> bool:
        """Whether the maximum was reached."""
        return self.fit is None or self.fit.converged

    @property
    def separated(self) -> bool:
        """Whether there is no finite maximum: some coefficients can grow without limit."""
        return self.fit is not None and self.fit.separated

    @property
    def score(self) -> float:
        """Largest derivative of the (penalised) log-likelihood at the estimate; NaN without one."""
        return math.nan if self.fit is None else self.fit.score

    @property
    def nobs(self) -> int:
        """Number of respondents."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """Number of all coefficients, those of the randomized predictors' law included."""
        return len(self.params) if self.fit is None else self.fit.point.model.size

    @property
    def llf(self) -> float:
        """Log-likelihood of the reports; NaN where there is none."""
        return math.nan if self.fit is None else self.fit.point.value

    @property
    def likelihood_counts(self) -> bool:
        """Whether the log-likelihood is one, and not a weighted sum that stands for it."""
        return self.fit is not None and self.sample.simple and bool(
            np.all(self.sample.weights == 1)
        )  # fmt: skip

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2·coefficients − 2·llf; NaN for weighted samples."""
        return 2 * (self.size - self.llf) if self.likelihood_counts else math.nan

    @property
    def bic(self) -> float:
        """Schwarz's criterion, ln(n)·coefficients − 2·llf; NaN for weighted samples."""
        return (
            math.log(self.nobs) * self.size - 2 * self.llf if self.likelihood_counts else math.nan
        )

    @property
    def sigma(self) -> float:
        """Standard deviation of a linear model's errors, by maximum likelihood; NaN without one."""
        if self.family != "linear" or self.fit is None:
            return math.nan
        return math.exp(float(self.fit.point.coefficients[len(self.params)]))

    @property
    def bse(self) -> Floats:
        """Standard errors."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(np.diag(self.cov_params()))

    @property
    def tvalues(self) -> Floats:
        """Coefficients over their standard errors, to be looked up in the normal law."""
        return self.params / self.bse

    @property
    def pvalues(self) -> Floats:
        """Two-sided p-values of Wald's test that a coefficient is 0."""
        return np.asarray(2 * ndtr(-np.abs(self.tvalues)))

    def cov_params(self, kind: Covariance | None = None) -> Floats:
        """Give the covariance of the coefficients, or another estimate of it by *kind*.

        Raises:
            EstimateError: If the kind is not one, or cannot be had here.
        """
        count = len(self.params)
        if kind is None:
            return self.covariance[:count, :count]
        if self.fit is None:
            raise EstimateError("de-biased least squares has one covariance, of its own equations")
        return covariance_of(self.fit.point, kind, self.sample)[:count, :count]

    def conf_int(self, level: float = 0.95) -> Floats:
        """Give Wald intervals, float64, shape (coefficients, 2)."""
        if not 0 < level < 1:
            raise EstimateError(f"level must be between 0 and 1, got {level!r}")
        half = ndtri((1 + level) / 2) * self.bse
        return np.column_stack([self.params - half, self.params + half])

    def __getitem__(self, name: str) -> float:
        """Give one coefficient by its name."""
        if name not in self.names:
            raise EstimateError(f"expected one of {', '.join(self.names)}, got {name!r}")
        return float(self.params[self.names.index(name)])

    @property
    def cells(self) -> Codes:
        """State of each randomized predictor in each latent cell, shape (cells, predictors)."""
        return self.inputs.cells if self.fit is None else self.fit.point.model.rows.cells

    def cell_chances(self) -> Floats:
        """Chance of each latent cell given the observed predictors, shape (rows, cells)."""
        if self.fit is None:
            if self.inputs.latent:
                raise EstimateError("de-biased least squares says nothing about latent answers")
            return np.ones((self.inputs.n, 1))
        point = self.fit.point
        return np.asarray(np.exp(point.cell_logs).T[point.model.rows.place])

    def terms(self, data: Data | None = None) -> Terms:
        """Make the columns for every row and every latent cell of the fit."""
        found = self.inputs.terms(data)
        known = {tuple(cell): place for place, cell in enumerate(self.inputs.cells.tolist())}
        index = [known[tuple(cell)] for cell in self.cells.tolist()]
        return Terms(found.names, found.observed, found.latent[index])

    def latent_shares(self) -> dict[str, Floats]:
        """Estimate the share of every state of each randomized predictor, by maximum likelihood."""
        chances = self.cell_chances()
        times = self.counts * self.sample.weights
        mean = times @ chances / times.sum()
        return {
            name: np.array([mean[self.cells[:, place] == s].sum() for s in range(len(v.states))])
            for place, (name, v) in enumerate(self.inputs.latent.items())
        }

    def predict(self, new: Data | None = None, *, level: float = 0.95) -> Prediction:
        """Predict the true outcome, with intervals.

        Args:
            new: Values of every predictor by name, one for each prediction; of a randomized one
                its true state. Left out: the rows of the fit, where the model has no randomized
                predictors.
            level: Confidence level.

        Returns:
            Of a logit the share of the outcome's second state, of a multinomial those of all.
        """
        if new is not None:
            return predict(self, self.inputs.at(new), level)
        if self.inputs.latent:
            raise EstimateError(
                "with randomized predictors, a prediction needs their true states: give new data, "
                "or take average_prediction()"
            )
        return predict(self, self.terms().cell(0), level)

    def average_prediction(self, level: float = 0.95) -> Prediction:
        """Predict the share of each true state but the first (or the mean) over all rows."""
        return average_prediction(self, level)

    def marginal_effects(self, level: float = 0.95) -> tuple[Effect, ...]:
        """Give average marginal effects: of a unit of a number, of one state against another.

        They are of variables, not of columns: with age and its square in a formula, age moves both.
        """
        return effects(self, level)

    def posterior(self, variable: str | None = None) -> Floats:
        """Give the chance of every true state, given all that is known of each respondent.

        Privacy:
            Nothing is added to what the reports tell: the odds between two answers are those of
            the predictors times those of the report, which the channel bounds.

        Args:
            variable: The outcome (default) or a randomized predictor, by name.

        Returns:
            float64, shape (rows, states).
        """
        if self.fit is None:
            raise EstimateError("de-biased least squares says nothing about single answers")
        point = self.fit.point
        place = point.model.rows.place
        if variable is not None and variable != self.inputs.name:
            if variable not in self.inputs.latent:
                raise EstimateError(f"{variable!r} is not a randomized variable of this model")
            own = self.cells[:, list(self.inputs.latent).index(variable)]
            states = len(self.inputs.latent[variable].states)
            merged = (own[:, None] == np.arange(states)).astype(np.float64)
            return np.asarray(point.posterior.T[place] @ merged)
        if not isinstance(point.outcome, CategoriesAt):
            raise EstimateError("the outcome is a number that everybody knows")
        found = np.einsum("si,ksi->ik", point.posterior, point.outcome.posterior)
        return np.asarray(found[place])

    def wald_test(
        self, columns: str | Sequence[str] | ArrayLike, values: ArrayLike = 0.0
    ) -> ChiSquareTest:
        """Test that named coefficients (or rows of a matrix times them) have given values."""
        return wald(self, columns, values)

    def lr_test(self, restricted: RegressionResults) -> ChiSquareTest:
        """Test this model against a smaller one of the same rows, by the likelihood ratio."""
        return likelihood_ratio(self, restricted)

    def lr_tests(self) -> dict[str, ChiSquareTest]:
        """Test every column of the model by leaving it out and fitting again.

        At small n these keep their size better than Wald's tests do.
        """
        if self.fit is None or self.fit.penalised or not self.likelihood_counts:
            raise EstimateError("likelihood-ratio tests need an unweighted maximum-likelihood fit")
        rows = self.fit.point.model.rows
        width = len(rows.terms.names)
        found = {}
        for place, name in enumerate(rows.terms.names):
            if width == 1:
                break
            less = settle(rows.with_columns([j for j in range(width) if j != place])).fit
            statistic = 2 * (self.llf - less.point.value)
            df = self.size - less.point.model.size
            found[name] = ChiSquareTest.of(statistic, df, f"nothing of {name}")
        return found

    def summary(self, level: float = 0.95) -> str:
        """Write the results as plain text."""
        return summary(self, level)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<{self.family} regression of {self.inputs.name!r}: {self.nobs:,} respondents>"
