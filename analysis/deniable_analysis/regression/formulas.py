"""Formula strings, through the optional library formulaic."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable_analysis.reported import Reported
from deniable_protocol import EstimateError

from .inputs import Data
from .rows import Terms

Codes = NDArray[np.int64]
_TINY: Final = 1e-10


@dataclass(frozen=True, eq=False)
class ByFormula:
    """Make columns from a formula, one design matrix for each latent cell.

    Attributes:
        spec: formulaic's model specification, which remembers categories and transformations.
    """

    spec: Any

    def __call__(
        self, data: Data, latent: Mapping[str, Reported], cells: Codes, rows: int
    ) -> Terms:
        """Make the columns for every row and cell."""
        alike = all(name in latent for name in data)  # then one row tells about all
        made = [
            _made(self.spec.get_model_matrix, _frame(data, latent, cell, 1 if alike else rows))
            for cell in cells
        ]
        names = tuple(map(str, self.spec.column_names))
        found = _factored(names, np.array(made, dtype=np.float64))
        return found.take(np.zeros(rows, dtype=np.int64)) if alike else found


def parse(
    formula: str, data: Data, latent: Mapping[str, object]
) -> tuple[str, list[str], ByFormula]:
    """Read a formula: the outcome's name, the predictors' names, and how columns are made.

    Raises:
        EstimateError: If formulaic is not installed, or the formula cannot be used.
    """
    formulaic = _library()
    try:
        parsed = formulaic.Formula(formula)
        left, right = parsed.lhs, parsed.rhs
    except (AttributeError, formulaic.errors.FormulaicError) as error:
        raise EstimateError(
            f"expected a formula such as 'outcome ~ age + income', got {formula!r}"
        ) from error
    outcomes = [str(term) for term in left]
    if len(outcomes) != 1:
        raise EstimateError(f"expected one outcome before ~, got {', '.join(outcomes)}")
    used = sorted(_names(right))
    absent = [name for name in [outcomes[0], *used] if name not in data and name not in latent]
    if absent:
        raise EstimateError(f"the data has no column {', '.join(map(repr, absent))}")
    return outcomes[0], used, ByFormula(right)


def _names(right: Any) -> set[str]:
    """Give the columns that a formula's right side uses; ``q.1`` is a name, not a part of q."""
    found: set[str] = set()
    for factor in (factor for term in right for factor in term.factors):
        kind = factor.eval_method.value
        if kind == "lookup":
            found.add(str(factor.expr))
        elif kind == "python":
            found |= set(map(str, _library().Formula(f"0 + {factor.expr}").required_variables))
    return found


def with_spec(made: ByFormula, data: Data, latent: Mapping[str, Reported], rows: int) -> ByFormula:
    """Fix categories and transformations on the data of the fit."""
    cell = np.zeros(len(latent), dtype=np.int64)
    frame = _frame(data, latent, cell, rows)
    matrix = _made(lambda given, **how: _library().model_matrix(made.spec, given, **how), frame)
    return ByFormula(matrix.model_spec)


def _made(make: Callable[..., Any], frame: Any) -> Any:
    """Make a design matrix, and turn whatever cannot be made into one kind of error."""
    library = _library()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", library.errors.DataMismatchWarning)
            return make(frame, na_action="ignore")
    except library.errors.DataMismatchWarning:
        raise EstimateError(
            "the formula does not fit the data: a column has categories that the fit did not have"
        ) from None
    except library.errors.FormulaicError as error:
        raise EstimateError(f"the formula does not fit the data: {error}") from error


def _library() -> Any:
    try:
        import formulaic
    except ImportError:
        raise EstimateError(
            "formula strings need the library formulaic: pip install 'deniable[formula]'; or give "
            "outcome and predictors as arrays"
        ) from None
    return formulaic


def _frame(data: Data, latent: Mapping[str, Reported], cell: NDArray[np.int64], rows: int) -> Any:
    import pandas as pd  # formulaic brings it

    columns: dict[str, Any] = {str(name): data[name] for name in data if name not in latent}
    for (name, variable), state in zip(latent.items(), cell.tolist(), strict=True):
        if variable.values is not None:
            columns[name] = np.full(rows, variable.values[state])
        else:
            columns[name] = pd.Categorical.from_codes(
                np.full(rows, state), categories=list(variable.states)
            )
    return pd.DataFrame(columns, index=range(rows))


def _factored(names: tuple[str, ...], matrices: NDArray[np.float64]) -> Terms:
    """Split each column into an observed part times a part of the cell."""
    cells, rows, width = matrices.shape
    observed, latent = np.zeros((rows, width)), np.ones((cells, width))
    for column in range(width):
        values = matrices[:, :, column]
        largest = int(np.argmax(np.abs(values).max(axis=1, initial=0.0)))
        base = values[largest]
        size = float(base @ base)
        shares = values @ base / size if size else np.ones(cells)
        if np.abs(values - np.outer(shares, base)).max(initial=0.0) > _TINY * (
            1 + np.abs(base).max(initial=0.0)
        ):
            raise EstimateError(
                f"column {names[column]!r} is not a product of observed and randomized variables, "
                "so that the true answers cannot be summed over"
            )
        observed[:, column], latent[:, column] = (
            base,
            np.where(np.abs(shares - np.round(shares)) < _TINY, np.round(shares), shares),
        )
    return Terms(names, observed, latent)
