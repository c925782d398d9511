"""Private gradient descent: gradients, clipping, exact sums, batches, and a real data set."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from statsmodels.datasets import fair

from deniable_analysis.central.accountants import PLDAccountant, RDPAccountant
from deniable_analysis.central.calibration import smallest_noise
from deniable_analysis.central.dpsgd import Exact, Logistic, Settings, Simulated, Softmax, train
from deniable_analysis.central.dpsgd.noise import STEPS, clipped
from deniable_analysis.central.events import GaussianEvent, Neighbours, PoissonSampledEvent
from deniable_protocol.errors import EventError, MechanismError

ADD = Neighbours.ADD_OR_REMOVE_ONE
SETTINGS = Settings(
    sampling_probability=0.05,
    expected_batch=250.0,
    clip=1.0,
    noise_multiplier=1.3,
    steps=200,
    learning_rate=2.0,
    delta=1e-5,
    report_every=100,
)


def affairs() -> tuple[np.ndarray, np.ndarray]:
    """6,366 answers of the Redbook survey (Fair 1978); scaled by constants, not by their means."""
    data = fair.load_pandas().data
    columns = ["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]
    scaled = data[columns].to_numpy() / np.array([5, 50, 25, 6, 4, 20]) - 0.5
    features = np.column_stack([np.ones(len(data)), scaled])
    return features, (data["affairs"] > 0).to_numpy().astype(np.int64)


@pytest.mark.parametrize("classes", [2, 3])
def test_gradients_are_those_of_the_log_likelihood(classes: int) -> None:
    rng = np.random.default_rng(3)
    features, labels = rng.normal(size=(7, 4)), rng.integers(0, classes, 7)
    model = Softmax(classes)

    def loss(weights: np.ndarray) -> float:
        scores = features @ weights.reshape(classes, -1).T
        return float(np.sum(np.log(np.exp(scores).sum(1)) - scores[np.arange(7), labels]))

    def gradient(weights: np.ndarray) -> np.ndarray:
        return model.gradients(weights, features, labels).sum(axis=0)

    assert check_grad(loss, gradient, rng.normal(size=4 * classes)) < 1e-5
    if classes == 2:
        two = rng.normal(size=(2, 4))
        pair = model.gradients(two.ravel(), features, labels).reshape(7, 2, 4)
        one = Logistic().gradients(two[1] - two[0], features, labels)
        assert np.allclose(pair[:, 1], one)
        assert np.allclose(pair[:, 0], -one)


def test_one_record_moves_an_exact_sum_by_no_more_than_the_norm() -> None:
    rng = np.random.default_rng(4)
    gradients = rng.normal(size=(500, 6)) * np.exp(rng.normal(size=(500, 1)) * 5)
    assert np.all(np.linalg.norm(clipped(gradients, 0.7), axis=1) <= 0.7)
    whole = Exact._sum(gradients, 0.7)
    for leave in range(0, 500, 25):
        rest = Exact._sum(np.delete(gradients, leave, axis=0), 0.7)
        moved = [int(a) - int(b) for a, b in zip(whole, rest, strict=True)]
        assert sum(m * m for m in moved) <= STEPS**2  # in integers
    # Rounding to the nearest step instead of towards zero would break it.
    longest = clipped(np.full((1, 6), 1.0), 1.0) / 1.0 * STEPS
    assert np.sum(np.ceil(longest).astype(np.int64) ** 2) > STEPS**2


def test_batches_are_drawn_with_the_chance_rounded_down() -> None:
    words = iter([(2**31 - 1) | (2**31 << 32) | (0 << 64)])
    drawn = Exact(lambda n: next(words)).members(3, 0.5)
    assert drawn.tolist() == [True, False, True]
    assert Exact().members(0, 0.5).tolist() == []
    assert Exact().members(4, 1.0).all()
    assert not Exact().members(4, 2.0**-33).any()


@pytest.mark.statistical(alpha=1e-9, detects="noise whose variance is off by a half")
def test_exact_noise_has_the_variance_it_says() -> None:
    total = Exact().noisy_sum(np.zeros((1, 2000)), 2.0, 1.5)
    steps = [Fraction(float(value)) / Fraction(2, STEPS) for value in total]
    assert all((2 * step).denominator == 1 for step in steps)  # middles of whole steps
    square = float(np.mean((total / 3.0) ** 2))
    # 2000 squares of standard normals: P(mean outside ±0.25) = 1.1e-13.
    assert abs(square - 1) < 0.25


@pytest.mark.parametrize("model", [Logistic(), Softmax(2)])
def test_learning_curve_on_real_answers(model: Logistic | Softmax) -> None:
    features, labels = affairs()
    order = np.random.default_rng(1).permutation(len(labels))
    learn, test = order[:5000], order[5000:]
    noise = Simulated(np.random.default_rng(0))
    held_out = features[test], labels[test]
    found = train(model, features[learn], labels[learn], held_out, SETTINGS, noise)
    assert [point.steps for point in found.curve] == [100, 200]
    majority = float(np.mean(labels[test] == 0))
    assert found.curve[-1].accuracy > majority + 0.02
    step = PoissonSampledEvent(0.05, GaussianEvent(1.3))
    for point in found.curve:
        pld = PLDAccountant(ADD).spend(step, point.steps).epsilon(1e-5)
        rdp = RDPAccountant(ADD).spend(step, point.steps).epsilon(1e-5)
        assert (point.epsilon, point.epsilon_renyi) == (pld, rdp)
    assert found.epsilon == found.curve[-1].epsilon < found.curve[-1].epsilon_renyi
    assert str(found).count("\n") == 2


def test_hardly_any_noise_finds_the_maximum_likelihood() -> None:
    features, labels = affairs()

    def loss(weights: np.ndarray) -> float:
        return float(np.mean(np.logaddexp(0, features @ weights) - labels * (features @ weights)))

    best = minimize(loss, np.zeros(features.shape[1])).x
    settings = Settings(1.0, len(labels), 100.0, 1e-6, 300, 4.0, 1e-5, 300)
    data = features, labels
    found = train(Logistic(), *data, data, settings, Simulated(np.random.default_rng(0)))
    assert loss(found.weights) < loss(best) + 2e-3
    assert found.epsilon == math.inf or found.epsilon > 1e9


def test_exact_training_on_real_answers() -> None:
    features, labels = affairs()
    settings = Settings(0.02, 100.0, 1.0, 2.0, 20, 2.0, 1e-5, 20)
    found = train(Logistic(), features, labels, (features, labels), settings)
    assert found.weights.shape == (7,)
    # Every weight is a multiple of learning rate / batch · clip / 2^21: nothing finer leaks.
    unit = 2.0 / 100 / STEPS / 2
    assert np.allclose(found.weights / unit, np.round(found.weights / unit), atol=1e-3)
    again = train(Logistic(), features, labels, (features, labels), settings)
    assert not np.array_equal(found.weights, again.weights)


def test_noise_for_a_target() -> None:
    def step(sigma: float) -> PoissonSampledEvent:
        return PoissonSampledEvent(0.05, GaussianEvent(sigma))

    sigma = {
        name: smallest_noise(step, 1.0, 1e-5, count=200, accountant=name, neighbours=ADD)
        for name in ("pld", "rdp")
    }
    assert sigma["pld"] < sigma["rdp"]
    assert PLDAccountant(ADD).spend(step(sigma["pld"]), 200).epsilon(1e-5) <= 1.0


@pytest.mark.parametrize(
    ("features", "labels"),
    [
        ([[math.nan, 1.0]], [0]),
        ([[math.inf, 1.0]], [0]),
        ([[1.0, 1.0]], [2]),
        ([[1.0, 1.0]], [-1]),
        ([[1.0, 1.0]], [0.5]),
        ([[1.0, 1.0]], [0, 1]),
        ([1.0, 1.0], [0, 1]),
    ],
)
def test_records_that_cannot_be_trained_on(features: list[object], labels: list[object]) -> None:
    good = np.ones((3, 2)), np.array([0, 1, 0])
    with pytest.raises(MechanismError) as caught:
        train(Logistic(), features, labels, good, SETTINGS)  # type: ignore[arg-type]
    assert "1.0" not in str(caught.value)  # the message shows no record


@pytest.mark.parametrize("field", ["clip", "noise_multiplier", "steps", "delta", "expected_batch"])
@pytest.mark.parametrize("value", [math.nan, math.inf, 0, -1])
def test_settings_that_make_no_sense(field: str, value: float) -> None:
    given = {**{f: getattr(SETTINGS, f) for f in SETTINGS.__dataclass_fields__}, field: value}
    with pytest.raises(EventError, match=field):
        Settings(**given)
