"""What goes wrong in other packages, each tried here: the right answer or a clear refusal."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import multinomial

from deniable_analysis import Reports, estimate
from deniable_analysis.paper import forced_response, warner
from deniable_analysis.paper_data import read_paper
from deniable_analysis.paper_estimate import estimate_paper
from deniable_analysis.paper_matrix import MatrixDesign
from deniable_protocol import Channel, EstimateError, Survey


def test_mirrored_design_below_one_half() -> None:
    """Warner's design with 1/3 is legal: it is 2/3 mirrored. rr has "negative weights" here."""
    low = estimate_paper([120, 80], warner("1/3"))["yes"]
    high = estimate_paper([80, 120], warner("2/3"))["yes"]
    assert (low.share, low.se, low.mle, low.low, low.high) == pytest.approx(
        (high.share, high.se, high.mle, high.low, high.high)
    )


def test_fewer_yes_than_the_die_forces() -> None:
    """20 of 200 under forced response: no −22 ± 3e8, but 0 at the boundary, and said so."""
    found = estimate_paper([180, 20], forced_response("1/6", "1/6"))["yes"]
    assert found.share == pytest.approx(-0.1)
    assert 0.02 < found.se < 0.05
    assert found.mle == 0
    assert found.at_boundary
    assert (found.low, found.high) == (0, pytest.approx(0.019, abs=5e-4))


@pytest.mark.parametrize("yes", [40, 50])
def test_boundary_has_no_false_precision(yes: int) -> None:
    """Warner 40/200 and 50/200: the standard error is that of the noise, not 2e-06."""
    found = estimate_paper([200 - yes, yes], warner("3/4"))["yes"]
    expected = math.sqrt(yes / 200 * (1 - yes / 200) / 199) / 0.5
    assert found.se == pytest.approx(expected)
    assert found.low == 0
    assert found.high > 0.04
    assert found.at_boundary


def test_log_likelihoods() -> None:
    """Log-likelihoods are those of the multinomial: −2.789 and −5.48, not −70.6 and −11.2."""
    forced = estimate_paper([140, 60], forced_response("1/6", "1/6"))
    assert forced.log_likelihood == pytest.approx(-2.789, abs=5e-4)
    law = [["0.8", "0.1", "0.1"], ["0.1", "0.8", "0.1"], ["0.1", "0.1", "0.8"]]
    custom = estimate_paper([60, 60, 80], MatrixDesign.of(law))
    assert custom.log_likelihood == pytest.approx(-5.48, abs=5e-3)
    seen = [0.3, 0.3, 0.4]
    assert custom.log_likelihood == pytest.approx(multinomial.logpmf([60, 60, 80], 200, seen))
    edge = estimate_paper([160, 40], warner("3/4"))
    assert edge.log_likelihood == pytest.approx(multinomial.logpmf([160, 40], 200, [0.75, 0.25]))


@pytest.mark.parametrize(
    "column",
    [
        [True, False, None, True],
        ["yes", "no", "NA", "Yes"],
        [1, 0, math.nan, 1],
        [1.0, 0.0, np.nan, 1.0],
        ["1", "0", "", "1"],
        np.array([True, False, True]),
    ],
)
def test_booleans_words_and_gaps(column: object) -> None:
    """Logical answers, words and missing ones are read alike: no zero likelihood, no crash."""
    found = read_paper({"said": column}, "said", warner("3/4"))
    assert found.n == 3
    assert [c.tolist() for c in found.counts] == [[1, 2]]
    assert found.estimate()["yes"].share == pytest.approx((2 / 3 - 1 / 4) * 2)


def test_answers_coded_1_and_2() -> None:
    """Codes 1 and 2 do not become silent nonsense: they are refused, or read as they are told."""
    columns = {"said": [1, 2, 2, 1]}
    with pytest.raises(EstimateError, match="respondent 2: expected one of 0, no, false, 1"):
        read_paper(columns, "said", warner("3/4"))
    found = read_paper(columns, "said", warner("3/4"), codes={"1": 1, "2": 0})
    assert [c.tolist() for c in found.counts] == [[2, 2]]


def test_standard_errors_divide_by_n_less_1() -> None:
    """The squared error is the unbiased variance of the scores, over n: for Kuk's cards too."""
    counts = [20, 50, 60, 40, 20, 10]
    reports = np.repeat(np.arange(6), counts)
    scores = (reports / 5 - 0.2) / 0.5
    found = estimate_paper(counts, MatrixDesign.kuk("0.7", "0.2", 5))["yes"]
    assert found.share == pytest.approx(scores.mean())
    assert found.se == pytest.approx(scores.std(ddof=1) / math.sqrt(200))


def test_odds_are_of_the_design_that_runs() -> None:
    """Truth with 3/4 has odds 3, not those of "truth with p, else a coin"."""
    assert Channel(2, 1, Fraction(3)).p == Fraction(3, 4)
    coin = forced_response("1/8", "1/8")  # truth with 3/4, else a coin
    assert coin.offset + coin.slope == Fraction(7, 8)


def test_unbiased_unless_asked() -> None:
    """The estimate of the mean of reports is their mean score; nothing is clipped or rounded up."""
    found = estimate_paper([160, 40], warner("3/4"))
    assert [o.share for o in found.options] == pytest.approx([1.1, -0.1])
    survey = Survey.load(
        {"name": "s", "title": "S", "questions": [
            {"name": "a", "kind": "yes-no", "text": "?", "truth": "3/4"}]}
    )  # fmt: skip
    device = estimate(Reports.of_counts(survey, {"a": [40, 160]}), "a")
    assert device["Yes"].share == pytest.approx(found["yes"].share)
    assert device["Yes"].se == pytest.approx(found["yes"].se)
    assert not math.isnan(device["Yes"].low)
