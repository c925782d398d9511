"""One call for every regression on noisy reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_analysis.paper_data import PaperAnswers
from deniable_analysis.reported import Law, Reported
from deniable_analysis.reports import Reports
from deniable_analysis.sample_design import SampleDesign
from deniable_analysis.tally import Tally
from deniable_protocol import EstimateError

from .covariance import Covariance, covariance_of
from .expected import has_expected
from .fit import Fit
from .formulas import parse, with_spec
from .inputs import ByHand, Inputs, as_reported, by_name, missing_rows, split
from .moments import least_squares
from .notes import notes_on
from .outcomes import Categories
from .results import RegressionResults
from .rows import Rows, check_columns, gather
from .settle import Settled, settle

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Family = Literal["logit", "multinomial", "linear"]
FAMILIES: Final[tuple[Family, ...]] = get_args(Family)


def regress(
    outcome: str | Reported | Tally | PaperAnswers | ArrayLike,
    predictors: Any = None,
    *,
    family: Family | None = None,
    data: Any = None,
    designs: Mapping[str, Law | Sequence[Law]] | None = None,
    penalty: Literal["jeffreys"] | None = None,
    method: Literal["likelihood", "moments"] | None = None,
    covariance: Covariance | None = None,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    sample: SampleDesign | None = None,
    counts: ArrayLike | None = None,
    missing: Literal["raise", "drop"] = "raise",
    intercept: bool = True,
) -> RegressionResults:
    """Regress a true answer on others, any of which is known through noisy reports only.

    The likelihood of a row is summed over every true answer that nobody saw. With randomized
    predictors, their states follow a multinomial logit on the observed predictors, all
    combinations of states being free; it is estimated at the same time.

    Privacy:
        None is spent. The reports are private as they are, and this reads nothing else
        (post-processing [DR14, Proposition 2.1]).

    Args:
        outcome: A formula such as ``"smokes ~ age + drinks"`` (with *data*); or the outcome itself:
            the reports to a question, paper answers, a ``Reported``, 0 and 1, or numbers.
        predictors: A mapping of names to columns, a data frame or a matrix. A column may be reports
            to a question or a ``Reported``: a randomized predictor. None is an intercept alone.
        family: ``logit``, ``multinomial`` or ``linear``; by default what fits the outcome: two
            states, more states, or numbers (a scale has numbers as well).
        data: For a formula: ``Reports``, a data frame, or a mapping of names to columns.
        designs: For a formula: the design of every randomized column of *data*, by name.
        penalty: ``"jeffreys"`` for estimates that are finite in every sample; for outcomes in
            categories without randomized predictors.
        method: ``"moments"`` for a linear model without any law of errors; always used where the
            outcome is a randomized number, for which no law would be right.
        covariance: How standard errors are made, one of ``observed``, ``expected``, ``opg``,
            ``sandwich``, ``design``. By default ``observed``; ``expected`` with a penalty;
            ``sandwich`` with weights; ``design`` with clusters or strata.
        weights: Survey weight of each respondent, above 0.
        clusters: Cluster of each respondent, for errors that hold if members are alike.
        sample: Weights, strata and clusters together, instead of the two above. A finite population
            is taken as one without end: coefficients are about more than the people in it.
        counts: How many respondents each row stands for: rows with a count are those rows
            repeated.
        missing: What to do about rows with a missing value: refuse, or ``drop`` them. A report
            that a device did not send is not missing: it says nothing, and stays.
        intercept: Whether to add an intercept. A formula says so itself.

    Returns:
        The results, with ``params``, ``bse``, ``conf_int()``, ``summary()`` and more. Look at
        ``converged``, ``separated`` and ``warnings`` first.

    Raises:
        EstimateError: If the model cannot be fitted as it was asked for.

    References:
        [DR14] C. Dwork and A. Roth, The Algorithmic Foundations of Differential Privacy, 2014.
        [SD88] N. J. Scheers and C. M. Dayton, Covariate Randomized Response Models, JASA 83
        (1988), 969-974.
        [BIZ15] G. Blair, K. Imai and Y.-Y. Zhou, Design and Analysis of the Randomized Response
        Technique, JASA 110 (2015), 1304-1319.
        [Fir93] D. Firth, Bias Reduction of Maximum Likelihood Estimates, Biometrika 80 (1993).

    >>> from fractions import Fraction
    >>> from deniable_analysis import Design
    >>> forced = Design(slope=Fraction(2, 3), offset=Fraction(1, 6))
    >>> found = regress(Reported.of([0, 1, 0, 1], forced), {"urban": [0, 0, 1, 1]},
    ...     counts=[80, 20, 50, 50])
    >>> found.names, found.params.round(4).tolist(), found.converged
    (('Intercept', 'urban'), [-2.9444, 2.9444], True)
    """
    inputs, dropped, kept = _inputs(outcome, predictors, data, designs, missing, intercept)
    chosen = _family(inputs.outcome, family)
    inputs = _with_outcome(inputs, chosen)
    plan = _sample(kept, weights, clusters, sample)
    times = _counts(counts, kept)
    rows = _rows(inputs, chosen, plan, times)
    if method == "moments" or (chosen == "linear" and rows.outcome is not None):
        return _moments(inputs, rows, plan, times, dropped, chosen, method, penalty, covariance)
    if penalty not in (None, "jeffreys"):
        raise EstimateError(f'penalty must be None or "jeffreys", got {penalty!r}')
    if penalty and (rows.outcome is None or rows.latent):
        raise EstimateError(
            "Jeffreys' penalty is for outcomes in categories without randomized predictors"
        )
    settled = settle(rows, _start(rows), penalised=penalty is not None)
    if penalty and not has_expected(settled.fit.point.model):
        raise EstimateError("the reports are of too many kinds to list for Jeffreys' penalty")
    return _results(inputs, settled, plan, times, dropped, chosen, covariance)


def _inputs(
    outcome: Any, predictors: Any, data: Any, designs: Any, missing: str, intercept: bool
) -> tuple[Inputs, int, NDArray[np.bool_]]:
    if missing not in ("raise", "drop"):
        raise EstimateError(f'missing must be "raise" or "drop", got {missing!r}')
    if isinstance(outcome, str):
        if data is None or predictors is not None:
            raise EstimateError("a formula needs data=…, and no predictors beside it")
        return _by_formula(outcome, data, designs or {}, missing)
    if data is not None or designs is not None:
        raise EstimateError("data and designs go with a formula; give arrays and Reported here")
    observed, latent = split(by_name(predictors))
    named = by_name(predictors)
    answer = as_reported(outcome)
    number = None if answer else np.asarray(outcome)
    rows = answer.n if answer else len(np.atleast_1d(np.asarray(outcome)))
    _check_lengths(rows, {**observed, **latent})
    columns: dict[str, Any] = {**observed, **({} if number is None else {"the outcome": number})}
    kept = _kept(columns, rows, missing)
    return (
        Inputs(
            name="outcome",
            outcome=answer.only(kept) if answer else np.asarray(number)[kept],
            data={name: np.asarray(column)[kept] for name, column in observed.items()},
            latent={name: variable.only(kept) for name, variable in latent.items()},
            make=ByHand(tuple(named), intercept),
        ),
        int(rows - kept.sum()),
        kept,
    )


def _by_formula(
    formula: str, data: Any, designs: Mapping[str, Any], missing: str
) -> tuple[Inputs, int, NDArray[np.bool_]]:
    if isinstance(data, Reports):
        given: dict[str, Any] = dict(data.tallies)
    else:
        given = by_name(data)
    for name in designs:
        if name not in given:
            raise EstimateError(f"designs names {name!r}, which is not a column of the data")
    observed, latent = split(given)
    coded = {n: np.asarray(observed.pop(n)) for n in designs}
    rows = max([v.n for v in latent.values()] + [len(v) for v in (*observed.values(),
                                                                  *coded.values())])  # fmt: skip
    everything: dict[str, Any] = {**dict.fromkeys(latent), **dict.fromkeys(coded)}
    name, used, make = parse(formula, observed, everything)
    columns = {n: observed[n] for n in [name, *used] if n in observed}
    _check_lengths(rows, {**columns, **coded, **latent})
    kept = _kept({**columns, **{n: coded[n] for n in [name, *used] if n in coded}}, rows, missing)
    for n, column in coded.items():
        latent[n] = Reported.of(column, designs[n]).only(kept)
    latent = {n: v if n in coded else v.only(kept) for n, v in latent.items()}
    frame = {n: np.asarray(column)[kept] for n, column in columns.items() if n != name}
    within = {n: latent[n] for n in used if n in latent}
    answer = latent[name] if name in latent else np.asarray(columns[name])[kept]
    fixed = with_spec(make, frame, within, int(kept.sum()))
    return Inputs(name, answer, frame, within, fixed), int(rows - kept.sum()), kept


def _check_lengths(rows: int, columns: Mapping[str, Any]) -> None:
    for name, column in columns.items():
        length = column.n if isinstance(column, Reported) else len(np.atleast_1d(column))
        if length != rows:
            raise EstimateError(f"{name!r} has {length} rows, the outcome {rows}")
    if rows == 0:
        raise EstimateError("there are no rows")


def _kept(columns: Mapping[str, Any], rows: int, missing: str) -> NDArray[np.bool_]:
    lost = missing_rows(columns.items(), rows)
    if lost.any() and missing == "raise":
        names = [n for n, column in columns.items() if missing_rows([(n, column)], rows).any()]
        raise EstimateError(
            f"{int(lost.sum())} rows have a missing value in {', '.join(names)}: "
            'pass missing="drop" to leave them out'
        )
    if lost.all():
        raise EstimateError("every row has a missing value")
    return ~lost


def _family(outcome: Reported | Floats, family: str | None) -> Family:
    if family is not None and family not in FAMILIES:
        raise EstimateError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    if not isinstance(outcome, Reported):
        binary = bool(np.all(np.isin(outcome, [0, 1]))) if outcome.dtype.kind in "biuf" else False
        fits: Family = "logit" if binary else "linear"
    elif outcome.values is not None and len(outcome.states) > 2:
        fits = "linear"
    else:
        fits = "logit" if len(outcome.states) == 2 else "multinomial"
    chosen: Family = fits if family is None else family
    if chosen == "logit" and isinstance(outcome, Reported) and len(outcome.states) != 2:
        raise EstimateError(
            f'the outcome has {len(outcome.states)} states: use family="multinomial"'
        )
    return chosen


def _with_outcome(inputs: Inputs, family: Family) -> Inputs:
    """Turn the outcome into what the family needs: noiseless reports, or numbers."""
    outcome = inputs.outcome
    if isinstance(outcome, Reported):
        if family == "linear" and outcome.values is None:
            if len(outcome.states) != 2:
                raise EstimateError("a linear model needs values=… for the outcome's states")
            outcome = Reported(
                outcome.states, outcome.codes, outcome.likelihoods, outcome.scores, outcome.laws,
                outcome.law_of, np.array([0.0, 1.0]),
            )  # fmt: skip
    elif family == "linear":
        if outcome.dtype.kind not in "biuf" or not np.all(np.isfinite(outcome)):
            raise EstimateError("a linear model needs an outcome of finite numbers")
        outcome = outcome.astype(np.float64)
    elif family == "logit":
        if outcome.dtype.kind not in "biuf" or not np.all(np.isin(outcome, [0, 1])):
            # What came is not repeated: without noise it is people's answers.
            raise EstimateError(
                f"a logit needs an outcome of 0 and 1, got {outcome.dtype} with other values: "
                "recode it, for instance outcome == 2"
            )
        outcome = Reported.of(outcome)
    else:
        states = [str(state) for state in np.unique(outcome).tolist()]
        codes = np.unique(outcome, return_inverse=True)[1]
        outcome = Reported.of(codes, np.eye(len(states)), states=states)
    return Inputs(inputs.name, outcome, inputs.data, inputs.latent, inputs.make)


def _sample(
    kept: NDArray[np.bool_], weights: Any, clusters: Any, sample: SampleDesign | None
) -> SampleDesign:
    if sample is None:
        sample = SampleDesign.of(len(kept), weights, clusters=clusters)
    elif weights is not None or clusters is not None:
        raise EstimateError("give weights and clusters inside sample, or beside it, not both")
    if sample.n != len(kept):
        raise EstimateError(f"the sample design has {sample.n} respondents, the data {len(kept)}")
    endless = sample.infinite
    return endless if kept.all() else endless.only(kept)


def _counts(counts: Any, kept: NDArray[np.bool_]) -> Codes:
    if counts is None:
        return np.ones(int(kept.sum()), dtype=np.int64)
    found = np.asarray(counts)
    if found.shape != kept.shape or np.any(found < 0) or np.any(found != np.floor(found)):
        raise EstimateError(
            f"counts must be whole numbers of at least 0, one for each of {len(kept)} rows; "
            "numbers that are not whole are weights"
        )
    return found[kept].astype(np.int64)


def _rows(inputs: Inputs, family: Family, plan: SampleDesign, times: Codes) -> Rows:
    terms = inputs.terms()
    rows = gather(
        terms, inputs.given(), inputs.outcome, tuple(inputs.latent.values()), inputs.cells,
        times, plan,
    )  # fmt: skip
    check_columns(rows.terms.take(rows.counts > 0))
    if family == "linear" and rows.n <= len(terms.names):
        raise EstimateError(f"{rows.n} respondents are too few for {len(terms.names)} coefficients")
    return rows


def _start(rows: Rows) -> Floats | None:
    """Start at 0, or a linear model at least squares, which is its maximum without noise."""
    if rows.number is None:
        return None
    columns = rows.terms.observed * rows.terms.latent.mean(axis=0)
    root = np.sqrt(rows.times)[:, None]
    params = np.linalg.lstsq(columns * root, rows.number * root[:, 0], rcond=None)[0]
    off = rows.number - columns @ params
    spread = float(rows.times @ off**2 / rows.times.sum())
    if spread <= 1e-20 * float(rows.times @ rows.number**2 / rows.times.sum()):
        raise EstimateError("the predictors fit the outcome exactly: there is nothing to estimate")
    return np.append(params, np.log(spread) / 2)


def _moments(
    inputs: Inputs, rows: Rows, plan: SampleDesign, times: Codes, dropped: int, family: Family,
    method: str | None, penalty: str | None, covariance: str | None,
) -> RegressionResults:  # fmt: skip
    if family != "linear" or method == "likelihood" or penalty or covariance:
        raise EstimateError(
            "de-biased least squares is for linear models, has no likelihood or penalty, and one "
            "covariance of its own; a randomized number as the outcome has no other fit"
        )
    found = least_squares(rows, plan)
    notes = []
    if found.used < rows.n:
        notes.append(
            f"{rows.n - found.used:,} respondents were not asked every question of the model, at "
            "random; they are not used here."
        )
    return RegressionResults(
        family, rows.terms.names, found.params, found.covariance, "moments", None, inputs, plan,
        times, tuple(notes), dropped,
    )  # fmt: skip


def _results(
    inputs: Inputs, settled: Settled, plan: SampleDesign, times: Codes, dropped: int,
    family: Family, covariance: Covariance | None,
) -> RegressionResults:  # fmt: skip
    fit = settled.fit
    model = fit.point.model
    kind: Covariance = covariance or _default(fit, plan)
    spread = covariance_of(fit.point, kind, plan)
    notes = notes_on(settled, inputs)
    if fit.separated:
        spread = np.full_like(spread, np.nan)
    elif not np.all(np.isfinite(spread)):
        notes.append("the curvature is not that of a maximum: no standard errors can be given.")
    size = model.outcome_size - (family == "linear")
    terms = model.rows.terms.names
    names = terms
    if isinstance(model.outcome, Categories) and model.outcome.categories > 2:
        states = getattr(inputs.outcome, "states", ())
        names = tuple(f"{s}: {name}" for s in states[1:] for name in terms)
    return RegressionResults(
        family, names, fit.point.coefficients[:size], spread, kind, fit, inputs, plan, times,
        tuple(notes), dropped,
    )  # fmt: skip


def _default(fit: Fit, plan: SampleDesign) -> Covariance:
    if not plan.simple:
        return "design"
    if np.any(plan.weights != 1):
        return "sandwich"
    return "expected" if fit.penalised else "observed"
