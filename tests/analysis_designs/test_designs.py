"""Paper-and-dice designs: every design's algebra, exact odds, and other packages' numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, chi2

from deniable_analysis import estimate_share
from deniable_analysis.design import Design
from deniable_analysis.paper import (
    crosswise,
    design_epsilon,
    design_odds,
    direct_question,
    forced_response,
    kuk,
    mangat,
    triangular,
    unrelated_question,
    warner,
)
from deniable_analysis.paper_estimate import PaperDesign, estimate_paper
from deniable_analysis.paper_fit import fit_mixture, profile_interval
from deniable_analysis.paper_matrix import MatrixDesign
from deniable_protocol import Channel, EstimateError

F = Fraction

# What happens at a respondent's table: (chance, says yes with the trait, says yes without).
STORIES = [
    (warner("3/4"), [(F(3, 4), 1, 0), (F(1, 4), 0, 1)]),
    (crosswise("1/4"), [(F(1, 4), 1, 0), (F(3, 4), 0, 1)]),
    (triangular("1/4"), [(F(1, 4), 1, 1), (F(3, 4), 1, 0)]),
    (forced_response("1/6", "1/12"), [(F(1, 6), 1, 1), (F(1, 12), 0, 0), (F(3, 4), 1, 0)]),
    (unrelated_question("0.7", "0.25"),
     [(F(7, 10), 1, 0), (F(3, 10) * F(1, 4), 1, 1), (F(3, 10) * F(3, 4), 0, 0)]),
    (mangat("0.7"), [(F(7, 10), 1, 0), (F(3, 10), 1, 1)]),
    (direct_question(), [(F(1), 1, 0)]),
]  # fmt: skip


@pytest.mark.parametrize(("design", "story"), STORIES)
def test_design_is_its_story(design: Design, story: list[tuple[Fraction, int, int]]) -> None:
    """Adding up what a respondent is told to say gives the two numbers, exactly."""
    assert design.reported(F(1)) == sum(c * y for c, y, _ in story)
    assert design.reported(F(0)) == sum(c * n for c, _, n in story)


def test_kuk_is_its_story() -> None:
    """One card and five: enumerate every sequence of cards."""
    assert kuk("0.7", "0.2") == Design(F(1, 2), F(1, 5))
    five = MatrixDesign.kuk("0.7", "0.2", 5)
    for state, red in enumerate((F(1, 5), F(7, 10))):
        chances = [F(0)] * 6
        for cards in product((0, 1), repeat=5):
            chances[sum(cards)] += math.prod(
                (red if card else 1 - red for card in cards), start=F(1)
            )
        assert tuple(row[state] for row in five.chances) == tuple(chances)


@pytest.mark.parametrize(
    ("design", "odds"),
    [
        (warner("3/4"), F(3)), (warner("1/4"), F(3)), (crosswise("1/3"), F(2)),
        (forced_response("1/6", "1/6"), F(5)), (forced_response("1/6", "1/12"), F(10)),
        (unrelated_question("0.7", "0.25"), F(31, 3)), (kuk("0.7", "0.2"), F(7, 2)),
        (triangular("1/4"), None), (mangat("0.7"), None), (direct_question(), None),
        (forced_response("1/6", 0), None), (unrelated_question("0.7", 1), None),
    ],
)  # fmt: skip
def test_exact_odds(design: Design, odds: Fraction | None) -> None:
    """The odds are the greatest ratio of the two columns; a certain report has none."""
    assert design_odds(design) == odds
    epsilon = design_epsilon(design)
    assert epsilon == math.inf if odds is None else epsilon >= math.log(odds)
    assert MatrixDesign.of_design(design).odds == odds


def test_odds_of_matrices() -> None:
    """A device's channel written as a matrix has the channel's odds; cards multiply."""
    channel = Channel(4, 2, F(5, 2))
    laws = [channel.law(state) for state in range(4)]
    rows = [[law[report] for law in laws] for report in laws[0]]
    assert MatrixDesign.of(rows).odds == F(5, 2)
    assert MatrixDesign.kuk("0.7", "0.2", 3).odds == F(7, 2) ** 3
    assert MatrixDesign.of([[1, 0], [0, 1]]).odds is None
    assert MatrixDesign.of([[1, 0], [0, 1]]).epsilon == math.inf


# Moment estimates and standard errors of RRreg 0.7.5, RRuni.
RRUNI: list[tuple[PaperDesign, list[int], list[float], list[float]]] = [
    (warner("0.75"), [140, 60], [0.1], [0.06497003561364]),
    (warner("0.75"), [160, 40], [-0.1], [0.05671049640067]),
    (warner("1/6"), [150, 350], [0.2], [0.03077163933844]),
    (crosswise("0.25"), [140, 60], [0.9], [0.06497003561364]),
    (triangular("0.25"), [110, 90], [0.2666666666667], [0.04702185955895]),
    (unrelated_question("0.7", "0.25"), [130, 70], [0.3928571428571], [0.04830211218608]),
    (mangat("0.7"), [110, 90], [0.2142857142857], [0.05038056381316]),
    (kuk("0.7", "0.2"), [120, 80], [0.4], [0.06945588962079]),
    (forced_response("1/6", "1/6"), [140, 60], [0.2], [0.04872752671023]),
    (MatrixDesign.forced(["0.1", "0.1", "0.05", "0.05", "0.05"]), [150, 220, 140, 350, 140],
     [0.07692307692308, 0.1846153846154, 0.1384615384615, 0.4615384615385, 0.1384615384615],
     [0.01738036895909, 0.02016334313948, 0.0168895136067, 0.02321638514068, 0.0168895136067]),
    (MatrixDesign.of([["0.8", "0.1", "0.1"], ["0.1", "0.8", "0.1"], ["0.1", "0.1", "0.8"]]),
     [60, 60, 80], [0.2857142857143, 0.2857142857143, 0.4285714285714],
     [0.04640716829546, 0.04640716829546, 0.04961134972913]),
    (MatrixDesign.of([[0.7, 0.1, 0.05], [0.2, 0.75, 0.15], [0.1, 0.15, 0.8]]), [160, 160, 180],
     [0.3961290322581, 0.2503225806452, 0.3535483870968],
     [0.03368594899325, 0.03637422226388, 0.03196865455792]),
]  # fmt: skip


@pytest.mark.parametrize(("design", "counts", "shares", "errors"), RRUNI)
def test_closed_forms_of_rrreg(
    design: PaperDesign, counts: list[int], shares: list[float], errors: list[float]
) -> None:
    """Estimates and standard errors are RRreg's, to 1e-11, for every design it has."""
    found = estimate_paper(counts, design)
    options = found.options[-1:] if len(shares) == 1 else found.options
    for option, share, error in zip(options, shares, errors, strict=True):
        assert option.share == pytest.approx(share, abs=1e-11)
        assert option.se == pytest.approx(error, abs=1e-11)
        assert option.low <= min(max(share, 0), 1) <= option.high
    assert found.kkt <= 1e-9
    assert sum(option.mle for option in found.options) == pytest.approx(1)


@pytest.mark.parametrize("design", [warner("3/4"), crosswise("1/4"), forced_response("1/6", 0)])
def test_every_estimate_has_its_error(design: PaperDesign) -> None:
    """Enumerated: the squared standard error is unbiased for the variance of the estimate."""
    n, share = 40, 0.3
    law = binom.pmf(np.arange(n + 1), n, float(design.offset) + float(design.slope) * share)
    found = [estimate_paper([n - k, k], design)["yes"] for k in range(n + 1)]
    shares, squares = np.array([(option.share, option.se**2) for option in found]).T
    assert law @ shares == pytest.approx(share, abs=1e-12)
    assert law @ squares == pytest.approx(law @ (shares - share) ** 2, rel=1e-10)


def test_five_cards() -> None:
    """Kuk's estimate is RRreg's; its error is that of the sample, theirs that of the model."""
    counts, cards, n = np.array([20, 50, 60, 40, 20, 10]), 5, 200
    found = estimate_paper(counts, MatrixDesign.kuk("0.7", "0.2", cards))["yes"]
    assert found.share == pytest.approx(0.44)
    red = counts @ np.arange(6) / n / cards
    model = red * (1 - red) / (n * cards - 1) / 0.5**2 + (1 - 1 / cards) * 0.44 * 0.56 / (n - 1)
    assert math.sqrt(model) == pytest.approx(0.04433878820169, abs=1e-12)
    scores = np.repeat((np.arange(6) / cards - 0.2) / 0.5, counts)
    assert found.se == pytest.approx(scores.std(ddof=1) / math.sqrt(n))
    assert found.low < 0.44 < found.high


def test_nigeria() -> None:
    """Blair, Imai and Zhou's prevalence: 831 of 2,435 under forced response."""
    found = estimate_paper([1604, 831], forced_response("1/6", "1/6"), method="wilson")["yes"]
    assert found.share == pytest.approx(0.2619097, abs=1e-7)
    assert found.se * math.sqrt(2434 / 2435) == pytest.approx(0.0144127, abs=1e-7)
    assert (found.low, found.high) == (
        pytest.approx(0.2341, abs=5e-5),
        pytest.approx(0.2905, abs=5e-5),
    )


def test_unemployment() -> None:
    """The two questions of van den Hout and van der Heijden, as moments and joint best fit."""
    for yes, share, error in ((120, 0.152104, 0.037352), (171, 0.358414, 0.040508)):
        found = estimate_share(yes, 412, warner("0.8"))
        assert (found.share, found.se) == (
            pytest.approx(share, abs=1e-6),
            pytest.approx(error, abs=1e-6),
        )
    one = [["0.8", "0.2"], ["0.2", "0.8"]]
    joint = MatrixDesign.of(
        [
            [F(one[a][c]) * F(one[b][d]) for c in (0, 1) for d in (0, 1)]
            for a in (0, 1)
            for b in (0, 1)
        ]
    )
    found = estimate_paper([68, 52, 103, 189], joint)
    moments = [0.177184, -0.025081, 0.181230, 0.666667]
    assert [o.share for o in found.options] == pytest.approx(moments, abs=1e-6)
    fits = [0.164998, 0, 0.190117, 0.644885]
    assert [o.mle for o in found.options] == pytest.approx(fits, abs=1e-6)
    assert found.options[1].at_boundary
    assert found.options[1].mle == 0
    counts = np.array([68, 52, 103, 189])
    constant = math.lgamma(413) - sum(math.lgamma(c + 1) for c in counts)
    assert found.log_likelihood - constant == pytest.approx(-520.440291, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_best_fit_of_any_matrix(seed: int) -> None:
    """The best fit beats a general optimiser and meets the optimality conditions."""
    rng = np.random.default_rng(seed)
    reports, states = (4, 3) if seed % 2 else (6, 4)
    law = rng.dirichlet(np.ones(reports) * 2, states).T
    counts = rng.multinomial(300, rng.dirichlet(np.ones(reports))).astype(float)
    found = fit_mixture(law, counts)
    assert found.kkt <= 1e-9
    peer = minimize(
        lambda x: -counts @ np.log(law @ np.abs(x) / np.abs(x).sum()), np.ones(states),
        method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-10, "maxiter": 20000},
    )  # fmt: skip
    assert counts @ np.log(law @ found.shares) >= -peer.fun - 1e-7


def test_profile_interval_by_grid() -> None:
    """The interval of a share holds the points of a fine simplex that are likely enough."""
    law = np.array([[0.7, 0.1, 0.05], [0.2, 0.75, 0.15], [0.1, 0.15, 0.8]])
    counts = np.array([30, 50, 20])
    found = estimate_paper(counts, MatrixDesign.of(law.tolist()), level=0.9)
    steps = 400
    grid = np.array([(a, b, steps - a - b) for a in range(steps + 1) for b in range(steps + 1 - a)])
    value = np.log(np.maximum(grid / steps @ law.T, 1e-300)) @ counts
    kept = grid[
        value >= counts @ np.log(law @ [o.mle for o in found.options]) - chi2.ppf(0.9, 1) / 2
    ]
    for place, option in enumerate(found.options):
        assert option.low == pytest.approx(kept[:, place].min() / steps, abs=1.5 / steps)
        assert option.high == pytest.approx(kept[:, place].max() / steps, abs=1.5 / steps)


def test_binary_as_matrix() -> None:
    """A binary design and its matrix give the same numbers, and the constrained intervals agree."""
    counts = [150, 50]
    for design in (warner("3/4"), warner("1/6"), forced_response("1/6", "1/12")):
        plain = estimate_paper(counts, design, method="likelihood-ratio")
        matrix = estimate_paper(counts, MatrixDesign.of_design(design))
        for a, b in zip(plain.options, matrix.options, strict=True):
            assert (a.share, a.se, a.mle) == pytest.approx((b.share, b.se, b.mle), abs=1e-9)
            assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=1e-7)


def test_several_designs_side_by_side() -> None:
    """Two dice and a direct question: unbiased, and the variance is the enumerated one."""
    designs = [warner("3/4"), forced_response("1/6", "1/6"), direct_question()]
    sizes, truth = [8, 7, 6], F(1, 3)
    first = second = 0.0
    for yes in product(*(range(size + 1) for size in sizes)):
        weight = math.prod(
            binom.pmf(k, size, float(d.reported(truth)))
            for k, size, d in zip(yes, sizes, designs, strict=True)
        )
        counts = [[size - k, k] for k, size in zip(yes, sizes, strict=True)]
        share = _share(counts, designs)
        first, second = first + weight * share, second + weight * share**2
    assert first == pytest.approx(1 / 3)
    found = estimate_paper([[4, 4], [4, 3], [4, 2]], designs)
    assert found["yes"].low <= found["yes"].mle <= found["yes"].high
    weights = [n / float(_even(d)) for n, d in zip(sizes, designs, strict=True)]
    expected = (
        sum(
            w**2 * float(d.reported(truth) * (1 - d.reported(truth))) / float(d.slope) ** 2 / n
            for w, n, d in zip(weights, sizes, designs, strict=True)
        )
        / sum(weights) ** 2
    )
    assert second - first**2 == pytest.approx(expected)


def test_coverage_of_the_interval_of_two_designs() -> None:
    """The likelihood-ratio interval of a dice and a direct group covers by exact sum, near 95 %."""
    n, designs = 15, [warner("3/4"), direct_question()]
    law = np.vstack([MatrixDesign.of_design(d).law for d in designs])
    held = {0.0: 0.0, 0.1: 0.0, 0.4: 0.0}
    for a, b in product(range(n + 1), repeat=2):
        counts = np.array([n - a, a, n - b, b], dtype=float)
        low, high = profile_interval(law, counts, fit_mixture(law, counts), 1, 0.95)
        for share in held:
            if low - 1e-9 <= share <= high + 1e-9:
                held[share] += math.prod(
                    float(binom.pmf(k, n, float(d.offset) + float(d.slope) * share))
                    for k, d in zip((a, b), designs, strict=True)
                )
    assert min(held.values()) > 0.93, held


def _even(design: Design) -> Fraction:
    seen = design.reported(F(1, 2))
    return seen * (1 - seen) / design.slope**2


def _share(counts: list[list[int]], designs: list[Design]) -> float:
    weights = [F(sum(c)) / _even(d) for c, d in zip(counts, designs, strict=True)]
    shares = [d.share(F(c[1], sum(c))) for c, d in zip(counts, designs, strict=True)]
    expected = sum(w * s for w, s in zip(weights, shares, strict=True)) / sum(weights)
    if (
        counts[0][1] % 4 == 0 and counts[1][1] % 3 == 0
    ):  # the code itself, where it matters not to be slow
        assert estimate_paper(counts, designs)["yes"].share == pytest.approx(float(expected))
    return float(expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: warner("1/2"), "slope must not be 0"),
        (lambda: crosswise(0.5), "slope must not be 0"),
        (lambda: kuk("0.3", "0.3"), "slope must not be 0"),
        (lambda: mangat(0), "slope must not be 0"),
        (lambda: triangular(1), "slope must not be 0"),
        (lambda: warner(1.2), "asked must be a chance from 0 to 1"),
        (lambda: warner(math.nan), "asked must be a chance"),
        (lambda: warner(True), "asked must be a chance"),
        (lambda: warner("1/0"), "asked must be a chance"),
        (lambda: forced_response("1/2", "1/2"), "below 1 together"),
        (lambda: MatrixDesign.of([[0.333, 0.5], [0.667, 0.4]]), "for state '1' must add up to 1"),
        (lambda: MatrixDesign.of([["1/2", "1/2"], ["1/2", "1/2"]]), "the same reports"),
        (lambda: MatrixDesign.of([["1/2"], ["1/2"]]), "two or more states"),
        (lambda: MatrixDesign.kuk("0.7", "0.2", 0), "1 to 100 cards"),
        (lambda: MatrixDesign.forced(["0.6", "0.6"]), "below 1 together"),
    ],
)  # fmt: skip
def test_refused_designs(make: object, message: str) -> None:
    """A design that says nothing, or is no design, is refused in words."""
    with pytest.raises(EstimateError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("counts", "design", "message"),
    [
        ([1, 2, 3], warner("3/4"), "expected 2 counts of reports"),
        ([1.5, 2.5], warner("3/4"), "whole numbers"),
        ([-1, 2], warner("3/4"), "at least 0"),
        ([0, 0], warner("3/4"), "there are no reports"),
        ([[1, 2]], [warner("3/4"), direct_question()], "counts for each of 2 designs"),
        ([[1, 2], [1, 1, 1]], [warner("3/4"), MatrixDesign.forced(["0.1"] * 3)], "same true"),
        ([1, 2, 3], MatrixDesign.of([[1, 0], [0, 1], [0, 0]]), "no true state can send"),
    ],
)  # fmt: skip
def test_refused_counts(counts: list[int], design: PaperDesign, message: str) -> None:
    """Counts that do not fit their design are refused in words."""
    with pytest.raises(EstimateError, match=message):
        estimate_paper(counts, design)
