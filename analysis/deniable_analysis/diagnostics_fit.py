"""Whether groups with different designs agree on the same true shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from deniable_protocol import EstimateError

from .design import Design
from .diagnostics import ALARM, rounded
from .paper_estimate import PaperDesign, counted
from .paper_fit import fit_mixture, log_likelihood
from .paper_matrix import MatrixDesign


@dataclass(frozen=True)
class Fit:
    """Say whether designs and one set of true shares explain the reports of every group.

    Attributes:
        statistic: Likelihood ratio of the reports as they came against the best fit.
        degrees: Kinds of reports less the true shares that are free.
        p_value: Chance of reports that fit this badly if all is as assumed.
    """

    statistic: float
    degrees: int
    p_value: float

    def sentence(self) -> str:
        """Say it in plain words."""
        if self.p_value > ALARM:
            return (
                f"The groups agree on the same true shares (p = {rounded(self.p_value)}): the "
                "instructions seem to have been followed alike."
            )
        return (
            f"No true shares fit all groups (p = {rounded(self.p_value)}): some people did not "
            "follow the instructions, reports are forged, or the groups are different people."
        )


def compare_designs(counts: Sequence[ArrayLike], designs: Sequence[PaperDesign]) -> Fit:
    """Test whether groups that had different designs agree.

    With two mirrored designs (p and 1 − p) this is the fit test of the extended crosswise design;
    on devices it finds reports that were made by something else than the device.

    Args:
        counts: Counts of reports for each group, in the order of its design.
        designs: The design of each group; people were assigned to groups at random.

    Raises:
        EstimateError: If counts do not fit, or nothing is left to test.

    References:
        [HHM18] D. W. Heck, A. Hoffmann and M. Moshagen, Detecting Nonadherence without Loss in
        Efficiency: A Simple Extension of the Crosswise Model, Behav. Res. Methods 50 (2018).

    >>> from deniable_analysis.paper import warner
    >>> found = compare_designs([[400, 600], [600, 400]], [warner("1/4"), warner("3/4")])
    >>> found.degrees, found.p_value
    (1, 1.0)
    """
    if len(counts) != len(designs) or len(designs) < 2:
        raise EstimateError("expected counts and a design for each of two or more groups")
    groups = [counted(c, d) for c, d in zip(counts, designs, strict=True)]
    laws = [MatrixDesign.of_design(d) if isinstance(d, Design) else d for d in designs]
    if len({law.states for law in laws}) > 1:
        raise EstimateError("every design needs the same true states")
    if any(not group.sum() for group in groups):
        raise EstimateError("every group needs at least one report")
    degrees = sum(len(group) - 1 for group in groups) - (len(laws[0].states) - 1)
    if degrees < 1:
        raise EstimateError("nothing is left to test: more shares than kinds of reports")
    stacked = np.vstack([law.law for law in laws])
    every = np.concatenate(groups).astype(np.float64)
    fit = fit_mixture(stacked, every)
    seen = np.concatenate([group / group.sum() for group in groups])
    free = float(every[every > 0] @ np.log(seen[every > 0]))
    statistic = max(0.0, 2 * (free - log_likelihood(stacked, every, fit.shares)))
    p_value = 1.0 if statistic < 1e-9 else float(chdtrc(degrees, statistic))
    return Fit(statistic, degrees, p_value)
