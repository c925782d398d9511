"""Impossible reports, batches and forgers: exact laws, scipy, and faults made on purpose."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, multinomial

from deniable_analysis import Reports
from deniable_analysis.design import Design
from deniable_analysis.diagnostics import (
    ALARM,
    compare_batches,
    compare_counts,
    forgery,
    impossible_reports,
    impossible_share,
)
from deniable_analysis.diagnostics_fit import compare_designs
from deniable_analysis.paper import warner
from deniable_analysis.paper_matrix import MatrixDesign
from deniable_analysis.tally import Tally
from deniable_protocol import Channel, EstimateError, Survey

WARNER = Design(Fraction(1, 2), Fraction(1, 4))


def survey(**question: Any) -> Survey:
    base = {"name": "a", "kind": "choice", "text": "?", "options": ["x", "y", "z"]}
    return Survey.load({"name": "s", "title": "S", "privacy": {"epsilon": 1},
                        "questions": [base | question]})  # fmt: skip


def tally(counts: list[int], **question: Any) -> Tally:
    return Reports.of_counts(survey(**question), {"a": counts})["a"]


@pytest.mark.parametrize(
    "design", [WARNER, WARNER.mirrored, Design(Fraction(2, 3), Fraction(1, 6))]
)
def test_size_of_the_binary_test(design: Design) -> None:
    """Whatever the true share, the test is wrong at most as often as it says: by enumeration."""
    n = 60
    p_values = np.array([impossible_share(count, n, design).p_value for count in range(n + 1)])
    for share in np.linspace(0, 1, 11):
        chances = binom.pmf(np.arange(n + 1), n, float(design.offset) + float(design.slope) * share)
        for size in (0.2, 0.05, 0.01, 0.001):
            assert chances[p_values <= size].sum() <= size
    least, most = sorted(float(design.offset + design.slope * x) for x in (0, 1))
    assert p_values[0] == pytest.approx(2 * binom.cdf(0, n, least))
    assert p_values[n] == pytest.approx(2 * binom.sf(n - 1, n, most))


def test_size_with_several_options() -> None:
    """The same for three options of which reports hold one: all counts of 15 reports."""
    channel = survey()["a"].channel
    p, q, n = float(channel.p), float(channel.q), 15
    cells = [c for c in product(range(n + 1), repeat=3) if sum(c) == n]
    p_values = np.array([impossible_reports(tally(list(cell))).p_value for cell in cells])
    for shares in ([1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3):
        law = q + (p - q) * np.array(shares)
        chances = multinomial.pmf(np.array(cells), n, law)
        for size in (0.2, 0.05, 0.01):
            assert chances[p_values <= size].sum() <= size


def test_forged_reports_are_found() -> None:
    """Reports that all say the same, or never do, raise the alarm; honest ones do not."""
    assert impossible_reports(tally([0, 300, 300])).p_value < ALARM
    found = impossible_reports(tally([600, 0, 0]))
    assert found.p_value < ALARM
    assert not found.nobody or found.below
    honest = impossible_reports(tally([200, 200, 200]))
    assert honest.p_value == 1
    assert honest.sentence() == "The reports are such as the noise can make."
    assert impossible_reports(tally([0, 0, 0])).sentence() == "There are no reports yet."


def test_subsets() -> None:
    """Reports that hold several options: each count is binomial all the same."""
    options = [f"o{i}" for i in range(12)]
    wide = survey(options=options)["a"].channel
    assert wide.subset > 1
    counts = [50 * wide.subset] * 12
    assert impossible_reports(tally(counts, options=options)).p_value == 1
    counts[3] -= 100
    counts[4] += 100
    found = impossible_reports(tally(counts, options=options))
    n = 50 * 12
    low, high = binom.cdf(counts[3], n, float(wide.q)), binom.sf(counts[4] - 1, n, float(wide.p))
    assert found.p_value == pytest.approx(min(1, 24 * min(low, high)))


def test_in_words() -> None:
    """Luck and faults are told apart, on both sides and where reports say the opposite."""
    assert impossible_share(40, 200, WARNER).sentence() == (
        "40 of 200 reports hold “yes”, fewer than the 50 that noise alone makes where nobody has "
        "it; chance does that (p = 0.12)."
    )
    assert "more than the 150 that noise alone makes where everybody has it. Chance hardly" in (
        impossible_share(190, 200, WARNER).sentence()
    )
    assert "fewer than the 50 that noise alone makes where everybody has it" in (
        impossible_share(10, 200, WARNER.mirrored).sentence()
    )


@pytest.mark.parametrize("shape", [(2, 2), (4, 3)])
def test_pearson_of_scipy(shape: tuple[int, int]) -> None:
    """Statistic, degrees and p-value are scipy's."""
    table = np.random.default_rng(1).integers(20, 60, shape)
    found = compare_counts(table)
    peer = chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(peer.statistic)
    assert (found.degrees, found.p_value) == (peer.dof, pytest.approx(peer.pvalue))
    assert found.least_expected == pytest.approx(peer.expected_freq.min())


def test_size_of_the_batch_test() -> None:
    """Two batches of 50 with the same shares are called different about 1 time in 20."""
    n = 50
    p_values = np.array(
        [[compare_counts([[a, n - a], [b, n - b]]).p_value if 0 < a + b < 2 * n else 1.0
          for b in range(n + 1)] for a in range(n + 1)]
    )  # fmt: skip
    for reported in (0.25, 0.3, 0.5):
        chances = binom.pmf(np.arange(n + 1), n, reported)
        assert 0.035 < np.outer(chances, chances)[p_values <= 0.05].sum() < 0.06


def test_batches_of_a_survey() -> None:
    """Days that are alike pass; a day on which half of the reports were forged does not."""
    days = {"mon": tally([200, 210, 190]), "tue": tally([205, 195, 200]), "wed": tally([0, 0, 0])}
    assert "The 2 batches differ no more than chance" in compare_batches(days).sentence()
    forged = days | {"wed": tally([400, 100, 100])}
    found = compare_batches(forged)
    assert found.p_value < 1e-9
    assert "differ more than chance makes them" in found.sentence()
    few = compare_batches({"a": tally([2, 1, 0]), "b": tally([0, 1, 2])})
    assert few.sentence().endswith("With so few reports this is only rough.")


def test_batches_of_subsets() -> None:
    """Where reports hold several options, each option is compared, and the p-value corrected."""
    options = [f"o{i}" for i in range(12)]
    size = survey(options=options)["a"].channel.subset
    even = [50 * size] * 12
    other = [*even]
    other[0], other[1] = other[0] + 90, other[1] - 90
    found = compare_batches({"a": tally(even, options=options), "b": tally(other, options=options)})
    pair = chi2_contingency(
        [[even[1], 600 - even[1]], [other[1], 600 - other[1]]], correction=False
    )
    assert found.p_value <= 12 * pair.pvalue + 1e-15


@pytest.mark.parametrize(
    "design", [WARNER, WARNER.mirrored, Design(Fraction(2, 3), Fraction(1, 6))]
)
def test_forgers_reach_the_bound_and_no_more(design: Design) -> None:
    """Replacing 10 of 1,000 average reports by the worst ones moves the estimate by the bound."""
    n, forged, share = 1000, 10, Fraction(3, 10)
    honest = (n - forged) * design.reported(share)
    shifts = [design.share((honest + forged * say) / n) - share for say in (0, 1)]
    found = forgery(design, forged / n, share=float(share))
    assert found.up == pytest.approx(float(max(shifts)))
    assert found.down == pytest.approx(-float(min(shifts)))
    assert found.votes_per_fake == pytest.approx(float(n * abs(shifts[1] - shifts[0]) / forged))


def test_votes_per_fake_in_words() -> None:
    """Stronger noise makes a forged report count for more; nothing is hidden."""
    votes = [
        forgery(Design.of(Channel(2, 1, Fraction(odds))), 0.01).votes_per_fake for odds in (2, 3, 9)
    ]
    assert votes == pytest.approx([3, 2, 1.25])
    sentence = forgery(WARNER, 0.02, share=0.1).sentence().replace("\N{NO-BREAK SPACE}", " ")
    assert sentence == (
        "One forged report counts like 2.0 forged answers to a direct question: if 2.0 % of the "
        "reports were forged, a true share of 10.0 % could look up to 2.8 points too high or 1.2 "
        "points too low."
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: impossible_share(3, 2, WARNER), "from 0 to the number"),
        (lambda: compare_counts([[1, 2]]), "a row of counts"),
        (lambda: compare_counts([[1.5, 2], [1, 1]]), "whole numbers"),
        (lambda: compare_counts([[0, 0], [1, 1]]), "at least one report"),
        (lambda: compare_batches({"a": tally([1, 1, 1])}), "two or more batches"),
        (lambda: forgery(WARNER, 1.2), "forged must be"),
        (lambda: forgery(WARNER, 0.1, share=float("nan")), "share must be"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    """What cannot be tested is refused in words."""
    with pytest.raises(EstimateError, match=message):
        call()


def test_groups_with_different_dice() -> None:
    """Honest groups agree, always-no people are found; at 5 % its exact size is under 6.5 %."""
    designs = [warner("1/4"), warner("3/4")]
    assert (
        "agree on the same true shares" in compare_designs([[40, 60], [60, 40]], designs).sentence()
    )
    cheating = compare_designs([[700, 300], [700, 300]], designs)
    assert "No true shares fit all groups" in cheating.sentence()
    n = 40
    p_values = np.array(
        [[compare_designs([[n - a, a], [n - b, b]], designs).p_value for b in range(n + 1)]
         for a in range(n + 1)]
    )  # fmt: skip
    for share in (0.1, 0.4):
        first, second = (
            binom.pmf(np.arange(n + 1), n, float(d.reported(Fraction(share)))) for d in designs
        )
        assert np.outer(first, second)[p_values <= 0.05].sum() < 0.065


@pytest.mark.parametrize(
    ("counts", "designs", "message"),
    [
        ([[1, 2]], [WARNER], "two or more groups"),
        ([[1, 2], [0, 0]], [WARNER, WARNER], "at least one report"),
        ([[1, 2], [1, 2, 3]], [WARNER, MatrixDesign.forced(["0.1"] * 3)], "same true states"),
    ],
)
def test_groups_that_cannot_be_compared(counts: Any, designs: Any, message: str) -> None:
    """What leaves nothing to test is refused in words."""
    with pytest.raises(EstimateError, match=message):
        compare_designs(counts, designs)
