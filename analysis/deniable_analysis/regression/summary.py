"""The results of a regression as plain text."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .results import RegressionResults

_KINDS: Final = {
    "observed": "observed information",
    "expected": "expected information",
    "opg": "outer products of scores",
    "sandwich": "sandwich, robust",
    "design": "strata and clusters",
    "moments": "spread of the de-biased equations",
}
_FAMILIES: Final = {
    "logit": "Logit",
    "multinomial": "Multinomial logit",
    "linear": "Linear regression",
}


def summary(results: RegressionResults, level: float) -> str:
    """Write the results as plain text."""
    lines = [_title(results), *_facts(results), ""]
    lines += _table(results, level)
    for name, shares in results.latent_shares().items() if results.fit else ():
        states = results.inputs.latent[name].states
        said = ", ".join(
            f"{state} {100 * share:.1f} %" for state, share in zip(states, shares, strict=True)
        )
        lines += ["", f"Estimated true answers to {name}: {said}."]
    for warning in results.warnings:
        lines += ["", *textwrap.wrap(f"Note: {warning}", 88)]
    return "\n".join(lines)


def _title(results: RegressionResults) -> str:
    how = "de-biased least squares" if results.fit is None else (
        "Jeffreys-penalised likelihood" if results.fit.penalised else "maximum likelihood"
    )  # fmt: skip
    states = results.outcome_states
    what = results.inputs.name + (f" = {states[1]}" if len(states) == 2 else "")
    return f"{_FAMILIES[results.family]} of {what} ({how})"


def _facts(results: RegressionResults) -> list[str]:
    first = f"{results.nobs:,} respondents"
    if results.dropped:
        first += f" ({results.dropped:,} left out: a value is missing)"
    facts = [f"{first}; standard errors from {_KINDS[results.covariance_kind]}"]
    if results.fit is not None:
        said = f"log-likelihood {results.llf:.4f}"
        if results.likelihood_counts:
            said += f", AIC {results.aic:.2f}, BIC {results.bic:.2f}"
        state = "separated" if results.separated else (
            "converged" if results.converged else "did NOT converge"
        )  # fmt: skip
        facts.append(f"{said}; {state} in {results.fit.steps} steps")
    return facts


def _table(results: RegressionResults, level: float) -> list[str]:
    width = max(11, *(len(name) for name in results.names))
    percent = f"{round(100 * level, 10):g} %"
    lines = [
        f"{'':<{width}}  {'estimate':>10}  {'std err':>9}  {'z':>7}  {'p-value':>8}  "
        f"{percent + ' interval':>22}"
    ]
    rows = zip(
        results.names, results.params, results.bse, results.tvalues, results.pvalues,
        results.conf_int(level), strict=True,
    )  # fmt: skip
    for name, value, se, z, pvalue, (low, high) in rows:
        ends = "-" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
        lines.append(
            f"{name:<{width}}  {value:>10.4f}  {_number(se, 9, 4)}  {_number(z, 7, 2)}  "
            f"{_pvalue(pvalue):>8}  {ends:>22}"
        )
    return lines


def _number(value: float, width: int, digits: int) -> str:
    return f"{'-':>{width}}" if math.isnan(value) else f"{value:>{width}.{digits}f}"


def _pvalue(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"
