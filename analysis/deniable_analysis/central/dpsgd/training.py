"""Differentially private stochastic gradient descent [ACG16].

Each step draws a Poisson batch, takes one gradient per record, clips it to an L2 norm, adds up,
adds Gaussian noise and moves the weights. What is released, all weights of all steps, is a function
of the noisy sums, so only those are accounted for.

References:
    [ACG16] M. Abadi et al., *Deep Learning with Differential Privacy*, CCS 2016, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from deniable_analysis.central.accountants import PLDAccountant, RDPAccountant
from deniable_analysis.central.dpsgd.models import Labels, Model
from deniable_analysis.central.dpsgd.noise import Exact, Noise
from deniable_analysis.central.events import (
    GaussianEvent,
    Neighbours,
    PoissonSampledEvent,
    check_count,
    check_real,
    check_share,
)
from deniable_analysis.central.profiles import Floats
from deniable_protocol.errors import MechanismError


@dataclass(frozen=True)
class Settings:
    """Everything that decides what training costs, fixed before the records are seen.

    Args:
        sampling_probability: q, the chance of each record to be in a batch; above 0, at most 1.
        expected_batch: What a sum of gradients is divided by; a number of your own, about q times
            the number of records. (The number of records itself is not public here.)
        clip: C, the L2 norm that a gradient is clipped to.
        noise_multiplier: Standard deviation of the noise over C. Find it with
            :func:`~deniable_analysis.central.calibration.smallest_noise`.
        steps: How many batches.
        learning_rate: How far a step goes.
        delta: δ at which ε is told; far below one over the number of records.
        report_every: Steps between two points of the learning curve.
    """

    sampling_probability: float
    expected_batch: float
    clip: float
    noise_multiplier: float
    steps: int
    learning_rate: float
    delta: float
    report_every: int = 100

    def __post_init__(self) -> None:
        check_share("sampling_probability", self.sampling_probability, one=True)
        for name in ("expected_batch", "clip", "noise_multiplier", "learning_rate", "delta"):
            check_real(name, getattr(self, name))
        check_share("delta", self.delta, one=False)
        check_count("steps", self.steps)
        check_count("report_every", self.report_every)

    @property
    def step(self) -> PoissonSampledEvent:
        """What one step costs, for any accountant."""
        return PoissonSampledEvent(self.sampling_probability, GaussianEvent(self.noise_multiplier))


@dataclass(frozen=True)
class Point:
    """A point of a learning curve.

    Args:
        steps: Steps so far.
        epsilon: ε so far at the settings' δ, by privacy loss distributions.
        epsilon_renyi: The same by Rényi divergences (the moments accountant).
        accuracy: Share of the test records whose label was predicted.
    """

    steps: int
    epsilon: float
    epsilon_renyi: float
    accuracy: float


@dataclass(frozen=True)
class Trained:
    """Weights that may be published, with what they cost.

    Args:
        weights: The model's weights after the last step.
        settings: What they were trained with.
        curve: ε beside accuracy, as training went on.
    """

    weights: Floats = field(compare=False)
    settings: Settings
    curve: tuple[Point, ...]

    @property
    def epsilon(self) -> float:
        """ε of everything, at the settings' δ, for add-or-remove-one neighbours."""
        return self.curve[-1].epsilon

    def __str__(self) -> str:
        delta = self.settings.delta
        rows = [f"  steps  epsilon  (Renyi)  accuracy   at delta = {delta:g}"]
        rows += [
            f"{p.steps:7}  {p.epsilon:7.3f}  {p.epsilon_renyi:7.3f}  {p.accuracy:8.1%}"
            for p in self.curve
        ]
        return "\n".join(rows)


def train(
    model: Model,
    features: ArrayLike,
    labels: ArrayLike,
    test: tuple[ArrayLike, ArrayLike],
    settings: Settings,
    noise: Noise | None = None,
) -> Trained:
    """Train on private records.

    Privacy:
        (ε, δ) of the last point of the curve for each training record, if one is added or removed,
        with ``Exact`` noise. Test records are not protected: accuracy is told as it is. Nor are
        choices that were made by looking at the records beforehand, as of the settings.

    Args:
        model: ``Logistic()`` or ``Softmax(classes)``.
        features: One row per record; finite. Scale them by constants of your own, not by their
            means, which are private too. Add a column of ones for an intercept.
        labels: 0, 1, … per record.
        test: Features and labels to measure accuracy on.
        settings: What decides the cost.
        noise: ``Exact()`` if left out; ``Simulated(rng)`` for simulations only.

    Raises:
        MechanismError: If features or labels are not as described.
    """
    rows, known = _records(model, features, labels)
    test_rows, test_labels = _records(model, *test)
    if rows.shape[1] != test_rows.shape[1]:
        raise MechanismError(
            f"test records must have {rows.shape[1]} features, got {test_rows.shape[1]}"
        )
    noise = Exact() if noise is None else noise
    weights = np.zeros(model.size(rows.shape[1]))
    curve = []
    for done in range(1, settings.steps + 1):
        weights = weights - _move(model, weights, rows, known, settings, noise)
        if done % settings.report_every == 0 or done == settings.steps:
            right = float(np.mean(model.predict(weights, test_rows) == test_labels))
            curve.append(Point(done, *_spent(settings, done), right))
    return Trained(weights, settings, tuple(curve))


def _move(
    model: Model, weights: Floats, rows: Floats, known: Labels, settings: Settings, noise: Noise
) -> Floats:
    batch = noise.members(len(rows), settings.sampling_probability)
    gradients = model.gradients(weights, rows[batch], known[batch])
    total = noise.noisy_sum(gradients, settings.clip, settings.noise_multiplier)
    return np.asarray(settings.learning_rate / settings.expected_batch * total)


def _spent(settings: Settings, steps: int) -> tuple[float, float]:
    both = (kind(Neighbours.ADD_OR_REMOVE_ONE) for kind in (PLDAccountant, RDPAccountant))
    tight, renyi = (each.spend(settings.step, steps).epsilon(settings.delta) for each in both)
    return tight, renyi


def _records(model: Model, features: ArrayLike, labels: ArrayLike) -> tuple[Floats, Labels]:
    # The messages must not show a record.
    rows, known = np.asarray(features, dtype=np.float64), np.asarray(labels)
    if rows.ndim != 2 or known.shape != rows.shape[:1] or not np.all(np.isfinite(rows)):
        raise MechanismError(
            "features must be finite numbers with one row per record and labels one per record, "
            f"got shapes {rows.shape} and {known.shape}"
        )
    if known.dtype.kind not in "iub" or (len(known) and not _within(known, model.classes)):
        raise MechanismError(f"labels must be whole numbers from 0 to {model.classes - 1}")
    return rows, known.astype(np.int64)


def _within(known: np.ndarray, classes: int) -> bool:
    return bool(known.min() >= 0 and known.max() < classes)
