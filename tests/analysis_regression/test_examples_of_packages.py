"""The examples that RRreg 0.7.5 and GLMMRR 0.6.0 print, made again and fitted by ours.

RRreg's vignette draws its data by a seed, and the same draws are made here (its later examples
with seeds of their own, 9 and 7). GLMMRR's plagiarism
study is typed as counts. Every number compared was printed by the package under R 4.2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable_analysis import Design
from deniable_analysis.regression import regress
from deniable_analysis.reported import DIRECT, Reported

from .r_numbers import RNumbers, forced, warner

SIXTH = Design(slope=Fraction(-2, 3), offset=Fraction(5, 6))
CROSSWISE = Design(slope=Fraction(-1, 2), offset=Fraction(3, 4))
COVARIANCE = [[0.0288965579, -0.0167857174], [-0.0167857174, 0.0212255710]]

# Jann, Jerke and Krumpal's study of plagiarism in R's package GLMMRR, 802 answers of students whose
# age is known. For each of: randomized, question, woman. Then age, ones and answers.
PLAGIARISM = """
0 0 0: 18 0/1 20 1/5 21 0/6 22 0/7 23 0/3 24 0/6 25 0/6 26 0/2 27 0/1 28 0/1 29 0/1 30 0/1 31 0/1
0 0 1: 19 0/6 20 0/6 21 0/11 22 0/5 23 0/9 24 0/7 25 0/4 26 0/3 29 0/1 31 0/1
0 1 0: 18 0/1 20 1/5 21 0/6 22 0/7 23 0/3 24 0/6 25 0/6 26 0/2 27 0/1 28 0/1 29 0/1 30 0/1 31 0/1
0 1 1: 19 0/6 20 0/6 21 4/11 22 0/5 23 1/9 24 0/7 25 0/4 26 0/3 29 0/1 31 0/1
1 0 0: 18 1/1 19 1/2 20 14/21 21 22/27 22 15/18 23 14/19 24 8/18 25 12/13 26 8/11 27 7/10 28 2/2 \
29 3/4 31 2/2 32 0/2 33 0/1 36 1/1
1 0 1: 19 15/17 20 18/25 21 20/25 22 14/17 23 10/18 24 13/16 25 7/13 26 4/4 27 2/3 28 1/1 29 1/2 \
30 5/5 31 4/4 32 1/2 35 1/1 40 1/1 41 1/1
1 1 0: 18 1/1 19 2/2 20 9/21 21 16/27 22 13/18 23 14/19 24 11/18 25 8/13 26 6/11 27 7/10 28 2/2 \
29 3/4 31 2/2 32 2/2 33 0/1 36 1/1
1 1 1: 19 9/18 20 17/25 21 16/25 22 11/17 23 11/18 24 10/16 25 10/13 26 2/3 27 2/3 28 1/1 29 1/2 \
30 4/5 31 3/4 32 1/2 35 1/1 40 0/1 41 1/1
"""


def test_warner() -> None:
    """Warner with slope −2/3: logit, and the normal model with a randomized predictor."""
    numbers = RNumbers(123)
    true, reports = warner(numbers, 1000, 0.3, 1 / 6)
    covariate = np.zeros(1000)
    covariate[true == 1] = 1 + numbers.normal(int(true.sum()))
    covariate[true == 0] = numbers.normal(int((1 - true).sum()))
    answer = Reported.of(reports, SIXTH)
    found = regress(answer, {"cov": covariate})
    np.testing.assert_allclose(found.params, [-1.353863062979, 1.016914607469], atol=5e-6)
    assert found.llf == pytest.approx(-617.277070516, abs=1e-6)
    np.testing.assert_allclose(found.cov_params(), COVARIANCE, rtol=2e-5)
    tests = found.lr_tests()
    statistics = [tests[name].statistic / -2 for name in found.names]
    np.testing.assert_allclose(statistics, [-58.006591269, -40.062633013], atol=1e-5)
    linear = regress(covariate, {"trait": answer}, family="linear")
    np.testing.assert_allclose(linear.params, [-0.0131666, 1.0293094], atol=1e-5)
    np.testing.assert_allclose(linear.bse, [0.04512, 0.10611], atol=5e-6)
    assert linear.sigma == pytest.approx(0.994989, abs=5e-6)
    assert -2131.43718932799 <= linear.llf < -2131.4371
    np.testing.assert_allclose(linear.latent_shares()["trait"], [0.701252, 0.298748], atol=5e-6)


def test_direct_questions_among_randomized_ones() -> None:
    """Half were asked directly: the difference between the two ways, and an interaction."""
    numbers = RNumbers(9)
    true, reports = warner(numbers, 500, 0.5, 2 / 12)
    direct = numbers.binary(500, 0.35)
    age = np.r_[true + 3 * numbers.normal(500), 0.5 + 3 * numbers.normal(500)]
    answer = Reported.of(np.r_[reports, direct], [SIXTH] * 500 + [DIRECT] * 500)
    way = np.repeat([1.0, -1.0], 500)
    z = (age - age.mean()) / age.std(ddof=1)
    found = regress(answer, {"way": way, "age": z, "both": way * z})
    assert found.llf == pytest.approx(-662.424962691448, abs=1e-8)
    theirs = [-0.295926885466, 0.4059537946728, 0.08822001392552, 0.1351762407208]
    np.testing.assert_allclose(found.params, theirs, atol=1e-6)
    errors = [0.0829826083788, 0.0829826083855, 0.08306225078098, 0.08306225078193]
    np.testing.assert_allclose(found.bse, errors, atol=1e-6)
    assert regress(answer, {"way": way}).llf == pytest.approx(-663.966468234699, abs=1e-8)


def test_forced_answers_on_a_scale() -> None:
    """A scale of five with forced answers predicts a number: ours is a better maximum."""
    told = np.array([0.1, 0.1, 0.05, 0.05, 0.05])
    numbers = RNumbers(7)
    true, reports = forced(numbers, 1000, [0.1, 0.2, 0.1, 0.4, 0.2], list(told))
    outcome = true + numbers.normal(1000)
    law = told[:, None] + (1 - told.sum()) * np.eye(5)
    scale = Reported.of(reports, law, values=range(5))
    found = regress(outcome, {"scale": scale}, family="linear")
    np.testing.assert_allclose(found.params, [0.0381927841312, 0.9877910999797], atol=1e-4)
    theirs = [0.1062241767203, 0.2189179726471, 0.09315997944935, 0.3676018183764, 0.2140960528069]
    np.testing.assert_allclose(found.latent_shares()["scale"], theirs, atol=5e-4)

    def by_hand(beta: np.ndarray, sigma: float, shares: np.ndarray) -> float:
        means = beta[0] + beta[1] * np.arange(5)
        density = np.exp(-(((outcome[:, None] - means) / sigma) ** 2) / 2) / sigma
        return float(np.log((density * law[reports] * shares).sum(1) / np.sqrt(2 * np.pi)).sum())

    shares = found.latent_shares()["scale"]
    assert found.llf == pytest.approx(by_hand(found.params, found.sigma, shares), abs=1e-8)
    # Theirs stopped a little early: -3269.71897 at its numbers, whatever sigma is.
    assert -3269.71896878303 < found.llf < -3269.7187
    for step in (-1e-3, 1e-3):
        for moved in np.eye(2) * step:
            assert by_hand(found.params + moved, found.sigma, shares) < found.llf
        assert by_hand(found.params, found.sigma + step, shares) < found.llf


def test_plagiarism() -> None:
    """Crosswise with p = 1/4 beside direct questions: a logit with the direct ones among them."""
    rows = []
    for line in PLAGIARISM.strip().splitlines():
        kind, cells = line.split(": ")
        words = iter(cells.split())
        for age, cell in zip(words, words, strict=True):
            yes, n = map(int, cell.split("/"))
            about = [*map(int, kind.split()), int(age)]
            rows += [(1, yes, *about), (0, n - yes, *about)]
    said, counts, randomized, question, woman, age = np.array([r for r in rows if r[1]]).T
    assert (counts.sum(), counts[randomized == 1].sum()) == (802, 614)
    found = regress(
        Reported.of(said, [CROSSWISE if r else DIRECT for r in randomized]),
        {"woman": woman, "randomized": randomized, "question": question, "age": age},
        counts=counts,
        covariance="expected",
    )
    # Printed after 8 steps: 1.332542 and -400.4446. Its own answer once told to go on to 1e-15:
    assert found.llf == pytest.approx(-400.44459539683, abs=1e-9)
    theirs = [0.834953758103, -0.044124213527, 1.332361647302, 2.389940019139, -0.263068324825]
    np.testing.assert_allclose(found.params, theirs, atol=1e-6)
    errors = [3.072796109932, 0.519154686893, 0.522675627445, 1.084411300387, 0.132662854665]
    np.testing.assert_allclose(found.bse, errors, rtol=1e-6)
    assert found["randomized"] == pytest.approx(1.332542, abs=2e-4)
