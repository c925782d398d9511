"""Climbing to the maximum: scoring steps with halving, the same from any order of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .expected import expected_information, has_expected, penalty
from .model import Model, Point
from .outcomes import Normal

Floats = NDArray[np.float64]

_STEPS: Final = 500
_FEW_ROWS: Final = 5_000
"""Rows up to which the curvature of Jeffreys' penalty is worked out too."""
_HALVINGS: Final = 40
_CLOSE: Final = 1e-18
"""Squared length of a Newton step, in standard errors, below which the climb is over."""
_REACHED: Final = 1e-12
"""The same, for what is left when rounding ends it: a millionth of a standard error."""
_NEAR: Final = 0.1
"""The same, from where on scoring gives way to Newton steps."""
_FLOOR: Final = 1e-11
"""Information, relative to what complete data would tell at the start, that counts as none."""
_STRIDE: Final = 5.0
"""The most that a step may change any log-odds."""
_FAR: Final = 10.0
"""How far log-odds are moved to see whether the likelihood cares."""
_FLAT: Final = 1e-3
"""A change of the log-likelihood that is nothing, for a move as far as that."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Hold where the climb ended.

    Attributes:
        point: The likelihood there.
        penalised: Whether Jeffreys' penalty was part of what was maximised.
        steps: Steps taken.
        converged: Whether the maximum was reached.
        separated: Whether the likelihood hardly changes however far coefficients grow, so that
            there is no finite maximum.
        runaway: The direction in which it does not, one number for each coefficient; or None.
        score: Largest derivative of what was maximised, in absolute value.
    """

    point: Point
    penalised: bool
    steps: int
    converged: bool
    separated: bool
    runaway: Floats | None
    score: float


@dataclass(frozen=True, eq=False)
class _Place:
    """A point with the value and slope of what is maximised there."""

    point: Point
    value: float
    slope: Floats

    @classmethod
    def at(cls, model: Model, coefficients: Floats, penalised: bool) -> _Place:
        with np.errstate(over="ignore", invalid="ignore"):
            point = model.at(coefficients)
            value = point.value
        if not np.isfinite(value):
            return cls(point, -np.inf, np.zeros(model.size))
        if not penalised:
            return cls(point, value, point.score)
        bonus, slope = penalty(point)
        return cls(point, value + bonus, point.score + slope)


def maximise(model: Model, start: Floats, *, penalised: bool = False) -> Fit:
    """Find the maximum-likelihood (or penalised) coefficients.

    Steps are of Fisher scoring where the expected information can be added up. With randomized
    predictors, or reports of too many kinds to list, they are Newton steps where the observed
    information is positive, and otherwise go by the same with negative curvature turned, or by
    EM's own information of the complete data, which always climbs. Every step is halved until the
    likelihood has grown.
    """
    here = _Place.at(model, start, penalised)
    known = np.diag(here.point.complete_information)
    floor = np.where(known > 0, _FLOOR * known, 1.0)
    steps, length = 0, np.inf
    while steps < _STEPS:
        moved, length = _climb(here, model, penalised, floor, close=length < _NEAR)
        steps += 1
        if moved is None or length < _CLOSE:
            break
        gained, here = moved.value - here.value, moved
        if gained < _FLAT / 1e4 and not penalised and runaway(here.point) is not None:
            break
    here, converged = _polish(here, model, penalised, floor)
    direction = None if penalised else runaway(here.point)
    return Fit(
        point=here.point,
        penalised=penalised,
        steps=steps,
        converged=converged and direction is None,
        separated=direction is not None,
        runaway=direction,
        score=float(np.max(np.abs(here.slope))),
    )


def _climb(
    here: _Place, model: Model, penalised: bool, floor: Floats, *, close: bool
) -> tuple[_Place | None, float]:
    """Take one step; None if nothing longer than rounding climbs. Also its squared length."""
    length = np.inf
    for information in _informations(here, model, penalised, close):
        step = _solved(information, here.slope, floor)
        if step is None:
            continue
        length = min(length, float(here.slope @ step))
        if length < _CLOSE:
            return None, length
        step *= min(1.0, _STRIDE / max(_reach(model, step), 1e-300))
        gain = float(here.slope @ step)
        size = 1.0
        for _ in range(_HALVINGS):
            there = _Place.at(model, here.point.coefficients + size * step, penalised)
            # At the last digits the likelihood is flat to rounding: 1e-15 lets the step through.
            if there.value >= here.value + 1e-4 * size * gain - 1e-15 * abs(here.value):
                return there, length
            size /= 2
    return None, length


def _informations(here: _Place, model: Model, penalised: bool, close: bool) -> Iterator[Floats]:
    """Give what steps can go by, the best first; the last always climbs."""
    point = here.point
    if close:  # scoring is slow at the end, where Newton is fast
        yield _curvature(here, model, penalised)
    if has_expected(model):
        yield expected_information(point)
    else:
        yield point.observed_information
        yield _turned(point.observed_information)
    yield point.complete_information


def _turned(information: Floats) -> Floats:
    """Make a curvature positive by turning its eigenvalues, none nearer to 0 than 1e-8."""
    sizes = np.abs(np.diag(information))
    scale = np.sqrt(np.where(sizes > 1e-300, sizes, 1.0))
    values, vectors = np.linalg.eigh(information / scale[:, None] / scale)
    found: Floats = (
        (vectors * np.maximum(np.abs(values), 1e-8)) @ vectors.T * scale[:, None] * scale
    )
    return found


def _curvature(here: _Place, model: Model, penalised: bool) -> Floats:
    """Give minus the second derivative; of many rows the penalty's own part is next to nothing."""
    if penalised and len(model.rows.counts) <= _FEW_ROWS:
        return _differences(here, model)
    return here.point.observed_information


def _differences(here: _Place, model: Model) -> Floats:
    """Minus the second derivative of the penalised likelihood, by differences of its slope."""
    steps = 1e-5 * np.eye(model.size)
    rows = [
        _Place.at(model, here.point.coefficients - step, True).slope
        - _Place.at(model, here.point.coefficients + step, True).slope
        for step in steps
    ]
    found = np.array(rows) / 2e-5
    return (found + found.T) / 2


def _solved(information: Floats, slope: Floats, floor: Floats) -> Floats | None:
    """Solve for a step with columns scaled alike; None where the matrix is not positive.

    The floor keeps rounding in a slope from being taken for a long way to go, where log-odds are
    so large that nothing is known about them any more.
    """
    information = information + np.diag(floor)
    diagonal = np.diag(information)
    if not np.all(np.isfinite(information)) or np.any(diagonal <= 0):
        return None
    scale = 1 / np.sqrt(diagonal)
    try:
        root = np.linalg.cholesky(information * scale[:, None] * scale)
    except np.linalg.LinAlgError:
        return None
    found: Floats = scale * np.linalg.solve(root.T, np.linalg.solve(root, scale * slope))
    return found


def _polish(here: _Place, model: Model, penalised: bool, floor: Floats) -> tuple[_Place, bool]:
    """Take full Newton steps, all by one curvature, for as long as they make the slope smaller.

    Whether this ended at a maximum: the curvature is that of one, and what is left of a step is
    nothing next to the standard errors.
    """
    information = _curvature(here, model, penalised)
    for _ in range(6):
        step = _solved(information, here.slope, floor)
        if step is None:
            break
        there = _Place.at(model, here.point.coefficients + step, penalised)
        if not np.isfinite(there.value) or np.abs(there.slope).max() >= np.abs(here.slope).max():
            break
        here = there
    step = _solved(information, here.slope, floor)
    return here, step is not None and float(here.slope @ step) < _REACHED


def runaway(point: Point) -> Floats | None:
    """Find a direction in which log-odds can move far without the likelihood falling, if any.

    It can only be one that the information knows least about. Where a logit's coefficients have no
    finite maximum, the likelihood is flat there to all digits.
    """
    model = point.model
    information = point.observed_information
    diagonal = np.diag(information)
    scale = np.where(diagonal > 0, 1 / np.sqrt(np.maximum(diagonal, 1e-300)), 1.0)
    # A coefficient the rows say nothing about any more is a direction of its own.
    lost = np.flatnonzero(diagonal <= 1e-12 * diagonal.max())
    _, vectors = np.linalg.eigh(information * scale[:, None] * scale)
    directions = [np.eye(model.size)[place] for place in lost] + [vectors[:, 0] * scale]
    for direction in directions:
        reach = _reach(model, direction)
        if reach < 1e-9:  # it moves nothing at all, as where nobody is left in a latent cell
            return np.asarray(direction)
        for way in (direction, -direction):
            with np.errstate(over="ignore", invalid="ignore"):
                there = model.at(point.coefficients + way * (_FAR / reach)).value
            if there >= point.value - _FLAT:
                found: Floats = way * (_FAR / reach)
                return found
    return None


def _reach(model: Model, direction: Floats) -> float:
    """Largest change of any log-odds, of outcome or cells, for one step in a direction."""
    terms, count = model.rows.terms, model.outcome_size
    width = len(terms.names)
    linear = isinstance(model.outcome, Normal)  # the last coefficient is then log σ
    slopes = direction[: count - linear].reshape(-1, width)
    moves = [np.abs(terms.observed @ (terms.latent * slope).T).max() for slope in slopes]
    moves += [abs(direction[count - 1])] * linear
    cells = direction[count:].reshape(model.cells - 1, model.rows.given.shape[1])
    moves += [np.abs(model.rows.given @ slope).max() for slope in cells]
    return float(max(moves, default=0.0))
