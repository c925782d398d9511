"""What to know before a regression's numbers are used, in words."""

from __future__ import annotations

from typing import Final

import numpy as np

from .fit import Fit
from .inputs import Inputs
from .outcomes import CategoriesAt
from .settle import Settled

_PENALTY: Final = '"jeffreys"'
_FEW: Final = 50
"""Direct answers that the reports are worth, roughly, below which to warn."""


def notes_on(settled: Settled, inputs: Inputs) -> list[str]:
    """Say what is wrong, or delicate, about a fit; nothing if nothing is."""
    fit, notes = settled.fit, []
    steadier = not inputs.latent and isinstance(fit.point.outcome, CategoriesAt)
    if fit.separated:
        notes.append(
            "separated: the likelihood keeps growing, or stays the same, however far coefficients "
            "grow, so they have no finite estimate and no standard error. More reports or fewer "
            f"predictors help{', and so does penalty=' + _PENALTY if steadier else ''}."
        )
    elif not fit.converged:
        notes.append(
            f"the climb stopped after {fit.steps} steps with a slope of {fit.score:.2g}: do not "
            "use these numbers."
        )
    for cell in settled.empty:
        pairs = zip(inputs.latent.items(), cell, strict=True)
        said = " and ".join(f"{name} = {v.states[state]}" for (name, v), state in pairs)
        notes.append(
            f"nobody seems to have {said}: the share is estimated as 0, and standard errors take "
            "that as known."
        )
    worth = _worth(fit)
    if worth < _FEW and not fit.separated and not fit.penalised:
        notes.append(
            f"the noise leaves about what {max(worth, 1):.0f} direct answers would tell: estimates "
            "this small lean away from 0, and intervals are rough"
            f"{'; penalty=' + _PENALTY + ' is steadier' if steadier else ''}."
        )
    return notes


def _worth(fit: Fit) -> float:
    """Add up slope² over the reports of the noisiest variable.

    The slope of a law is its smallest singular value, which for a binary design is c.
    """
    rows = fit.point.model.rows
    found = [float(rows.n)]
    for variable in (rows.outcome, *rows.latent):
        if variable is not None and np.all(variable.law_of >= 0):
            slopes = [np.linalg.svd(law, compute_uv=False)[-1] for law in variable.laws[:-1]]
            own = np.append(slopes, 0.0)[variable.law_of[variable.codes]]
            found.append(float(rows.counts @ own**2))
    return min(found)
