"""The likelihood and everything derived from it, against sums written down once more by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax

from deniable_analysis import Design, Reports
from deniable_analysis.regression import regress
from deniable_analysis.regression.expected import expected_information, penalty
from deniable_analysis.regression.model import Model
from deniable_analysis.reported import Reported
from deniable_protocol import Channel, Survey

from .studies import WARNER

RNG = np.random.default_rng(5)
MATRIX = np.array([[0.7, 0.1, 0.05], [0.2, 0.75, 0.15], [0.1, 0.15, 0.8]])


def survey() -> Survey:
    """Three questions: yes-no, four options with reports of two, three options."""
    return Survey.load(
        {
            "name": "demo",
            "title": "Demo",
            "questions": [
                {"name": "smokes", "kind": "yes-no", "text": "?", "truth": "3/4"},
                {"name": "drinks", "kind": "choice", "text": "?", "odds": "3:1",
                 "options": ["never", "rarely", "often", "daily"]},
                {"name": "mood", "kind": "scale", "text": "?", "odds": "4:1",
                 "options": ["bad", "fair", "good"], "scores": [-1, 0, 1]},
            ],
        }
    )  # fmt: skip


def drawn(n: int, rng: np.random.Generator) -> tuple[Reports, dict[str, np.ndarray]]:
    """Simulate reports with the law of each channel, for tests only."""
    form = survey()
    drinks = rng.integers(0, 4, n)
    mood = np.minimum(2, (rng.random(n) * 2 + drinks / 4).astype(int))
    smokes = (rng.random(n) < expit(-1 + 0.8 * drinks - 0.5 * mood)).astype(int)
    truth = {"smokes": 1 - smokes, "drinks": drinks, "mood": mood}  # index 0 is yes
    rows = {}
    for question in form.questions:
        channel = question.channel
        laws = [channel.law(state) for state in range(channel.options)]
        reports = list(laws[0])
        chances = np.array([[float(law[report]) for report in reports] for law in laws])
        ladder = chances.cumsum(axis=1)[truth[question.name], :-1]
        places = (rng.random(n)[:, None] > ladder).sum(axis=1)
        rows[question.name] = np.array(reports)[places]
    truth["smokes"] = smokes
    return Reports.of_subsets(form, rows), truth


def cases() -> dict[str, Model]:
    """Fits of every kind, at small n."""
    reports, _ = drawn(400, np.random.default_rng(3))
    x = RNG.normal(size=400)
    designs = [WARNER if i % 3 else Design(Fraction(-2, 3), Fraction(5, 6)) for i in range(400)]
    yes = Reported.of(RNG.integers(0, 2, 400), designs)
    three = Reported.of(RNG.integers(0, 3, 400), MATRIX, states=["a", "b", "c"])
    fits = {
        "logit": regress(yes, {"x": x}),
        "multinomial": regress(three, {"x": x}),
        "wide reports": regress(reports["drinks"], {"x": x}),
        "randomized predictor": regress(x > 0, {"yes": yes, "x2": x**2}),
        "both": regress(reports["smokes"], {"drinks": reports["drinks"], "x": x}),
        "normal": regress(x, {"three": three, "yes": yes}),
    }
    return {name: found.fit.point.model for name, found in fits.items()}


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    """Score and observed information are derivatives of the log-likelihood."""
    model = CASES[name]
    here = 0.3 * np.random.default_rng(1).normal(size=model.size)
    steps = 1e-5 * np.eye(model.size)
    slopes = [(model.at(here + e).value - model.at(here - e).value) / 2e-5 for e in steps]
    point = model.at(here)
    np.testing.assert_allclose(point.score, slopes, atol=2e-5)
    curves = [(model.at(here - e).score - model.at(here + e).score) / 2e-5 for e in steps]
    np.testing.assert_allclose(point.observed_information, curves, atol=2e-4)
    assert not np.allclose(point.complete_information, curves, atol=2e-4)


@pytest.mark.parametrize("name", ["logit", "multinomial", "wide reports"])
def test_expected_information(name: str) -> None:
    """It is the observed information averaged over every report that could have come."""
    model = CASES[name]
    here = 0.3 * np.random.default_rng(2).normal(size=model.size)
    point = model.at(here)
    outcome = model.rows.outcome
    assert outcome is not None
    total = np.zeros((model.size, model.size))
    columns = model.rows.terms.observed
    slopes = here.reshape(-1, columns.shape[1])
    truth = softmax(np.hstack([np.zeros((len(columns), 1)), columns @ slopes.T]), axis=1)
    for row, (x, chances) in enumerate(zip(columns, truth, strict=True)):
        law = outcome.laws[outcome.law_of[outcome.codes[row]]]
        for report in law:
            seen = float(report @ chances)
            off = (report * chances / seen - chances)[1:]
            score = np.kron(off, x)
            total += model.rows.times[row] * seen * np.outer(score, score)
    np.testing.assert_allclose(expected_information(point), total, atol=1e-9)


@pytest.mark.parametrize("name", ["logit", "multinomial", "wide reports"])
def test_penalty(name: str) -> None:
    """Jeffreys' slope is the derivative of half the log-volume of the expected information."""
    model = CASES[name]
    here = 0.3 * np.random.default_rng(4).normal(size=model.size)

    def volume(theta: np.ndarray) -> float:
        return float(np.linalg.slogdet(expected_information(model.at(theta)))[1]) / 2

    steps = 1e-5 * np.eye(model.size)
    slopes = [(volume(here + e) - volume(here - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(penalty(model.at(here))[1], slopes, atol=1e-6)


def test_channel_and_matrix_agree() -> None:
    """A channel's reports and the same reports with their matrix give the same fit."""
    reports, _ = drawn(500, np.random.default_rng(8))
    channel = Channel(3, 1, Fraction(4))
    law = np.full((3, 3), float(channel.q)) + float(channel.p - channel.q) * np.eye(3)
    codes = reports["mood"].indicators.argmax(axis=1)
    by_hand = Reported.of(codes, law, states=["bad", "fair", "good"], values=[-1, 0, 1])
    x = {"x": np.random.default_rng(9).normal(size=500)}
    for family in ("multinomial", "linear"):
        ours, other = (
            regress(y, x, family=family)  # type: ignore[arg-type]
            for y in (reports["mood"], by_hand)
        )
        np.testing.assert_allclose(ours.params, other.params, rtol=1e-9)
        np.testing.assert_allclose(ours.bse, other.bse, rtol=1e-9)


def test_all_noisy_by_hand() -> None:
    """Noisy outcome on two noisy predictors: the sum over all latent answers, spelled out."""
    reports, _ = drawn(600, np.random.default_rng(11))
    found = regress(reports["smokes"], {"drinks": reports["drinks"], "mood": reports["mood"]})
    laws = [
        np.where(reports[name].indicators, float(reports[name].channel.odds), 1.0)
        for name in ("smokes", "drinks", "mood")
    ]
    laws[0] = laws[0][:, ::-1]  # yes is second
    cells = list(product(range(4), range(3)))

    def loss(theta: np.ndarray) -> float:
        shares = softmax(np.append(0, theta[5:]))
        total = np.zeros(600)
        for share, (drink, mood) in zip(shares, cells, strict=True):
            scale = theta[0] + (theta[drink] if drink else 0) + theta[4] * (mood - 1)
            yes = expit(scale)
            seen = laws[0] @ np.array([1 - yes, yes])
            total += share * seen * laws[1][:, drink] * laws[2][:, mood]
        return -float(np.log(total).sum())

    full = np.concatenate([found.params, np.full(11, -50.0)])
    kept = [tuple(cell) for cell in found.cells.tolist()]
    shares = found.cell_chances()[0]
    logs = {cell: np.log(share) for cell, share in zip(kept, shares, strict=True)}
    base = logs.get((0, 0), -50.0)
    full[5:] = [logs.get(cell, -50.0) - base for cell in cells[1:]]
    constant = sum(
        600 * np.log(float(sum(channel.law(0).values())) / norm)
        for channel, norm in (
            (reports[name].channel, _weight(reports[name].channel)) for name in reports.tallies
        )
    )
    assert found.llf == pytest.approx(-loss(full) + constant, abs=1e-6)
    best = minimize(loss, np.zeros(16), method="L-BFGS-B", options={"maxiter": 60})
    assert loss(full) <= best.fun + 1e-6


def _weight(channel: Channel) -> float:
    """Add up the weights, odds or 1, of one row of a channel's law."""
    return sum(
        float(channel.odds) if 0 in report else 1.0 for report in channel.law(0)
    )  # fmt: skip


def test_moments_find_the_truth() -> None:
    """De-biased least squares on 40,000 noisy rows is near that on the answers themselves."""
    reports, truth = drawn(40_000, np.random.default_rng(13))
    found = regress(reports["mood"], {"drinks": reports["drinks"], "smokes": reports["smokes"]})
    assert found.family == "linear"
    design = np.column_stack(
        [np.ones(40_000), *(truth["drinks"] == k for k in (1, 2, 3)), truth["smokes"]]
    )
    answers = np.linalg.lstsq(design, truth["mood"] - 1.0, rcond=None)[0]
    assert np.all(np.abs(found.params - answers) < 4.5 * found.bse)
    assert np.all(found.bse < 0.2)
    naive = np.column_stack(
        [
            np.ones(40_000),
            reports["drinks"].indicators[:, 1:],
            reports["smokes"].indicators[:, 0],
        ]
    )
    raw = np.linalg.lstsq(naive, reports["mood"].indicators @ [-1.0, 0.0, 1.0], rcond=None)[0]
    assert np.any(np.abs(raw - answers) > 4.5 * found.bse)  # ignoring the noise is found out


def test_boundary_cell_is_taken_out() -> None:
    """The unemployment study: one cell of four is estimated as nobody, with the known maximum."""
    design = Design(Fraction(3, 5), Fraction(1, 5))
    first, second = np.array([[1, 1], [1, 0], [0, 1], [0, 0]]).T
    found = regress(
        Reported.of(first, design), {"second": Reported.of(second, design)},
        counts=[68, 52, 103, 189],
    )  # fmt: skip
    joint = np.exp(found.fit.point.outcome.log_chances[:, :, 0]) * found.cell_chances()[0]
    np.testing.assert_allclose(joint[1, 1], 0.164998, atol=5e-7)
    np.testing.assert_allclose(joint[0], [0.644885, 0.190117], atol=5e-7)
    assert found.llf == pytest.approx(-520.440291, abs=1e-5)
    assert found.separated
    assert np.isnan(found.bse).all()
