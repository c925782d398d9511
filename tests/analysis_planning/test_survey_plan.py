"""Plans of whole surveys: every kind of question against enumeration, and the verb itself."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deniable_analysis.plan_picture import trade_off
from deniable_analysis.planning_scores import score_variance
from deniable_analysis.survey_plan import plan_survey
from deniable_protocol import Channel, EstimateError, Survey
from deniable_protocol.cli import main

Z = 1.959963984540054

SOURCE: dict[str, Any] = {
    "name": "kinds",
    "title": "Every kind",
    "arms": ["first", "second"],
    "privacy": {"epsilon": 4},
    "questions": [
        {"name": "used", "kind": "yes-no", "text": "Used?"},
        {"name": "often", "kind": "choice", "text": "How often?", "options": ["a", "b", "c"],
         "show_if": {"question": "used", "is": "Yes"}},
        {"name": "mood", "kind": "scale", "text": "Mood?", "options": ["low", "mid", "high"],
         "scores": [0, 1, 4], "optional": True},
        {"name": "spent", "kind": "number", "text": "Spent?", "min": 0, "max": 12, "unit": "euro",
         "points": 3},
        {"name": "places", "kind": "multiple", "text": "Where?", "ask": 2,
         "options": ["home", "work", "bar", "elsewhere"]},
    ],
}  # fmt: skip


def spread(channel: Channel, shares: list[Fraction], weights: list[Fraction]) -> Fraction:
    """Give the variance of Σ w z by running through every answer and every report."""
    first = second = Fraction(0)
    for answer, share in enumerate(shares):
        for report, chance in channel.law(answer).items():
            z = sum(
                w * ((j in report) - channel.q) / (channel.p - channel.q)
                for j, w in enumerate(weights)
            )
            first, second = first + share * chance * z, second + share * chance * z * z
    return second - first**2


@pytest.mark.parametrize(("options", "subset"), [(2, 1), (3, 1), (3, 2), (5, 2), (6, 4)])
def test_score_variance(options: int, subset: int) -> None:
    """The closed form is the enumerated variance, exactly."""
    channel = Channel(options, subset, Fraction(5, 2))
    shares = [Fraction(2 * j + 1, options**2) for j in range(options)]
    weights = [Fraction((7 * j) % 5 - 2, 3) for j in range(options)]
    assert score_variance(channel, shares, weights) == spread(channel, shares, weights)


def test_every_kind() -> None:
    """Half-widths are z times the root of the enumerated variance over the reports."""
    survey = Survey.load(SOURCE)
    found = {p.question.name: p for p in plan_survey(survey, respondents=2000).questions}
    for name, reports in (("used", 2000), ("often", 2000), ("mood", 2000), ("places", 1000)):
        channel = survey[name].channel
        shares = [Fraction(1, channel.options)] * channel.options
        one = [Fraction(int(j == 0)) for j in range(channel.options)]
        expected = Z * math.sqrt(spread(channel, shares, one) / reports)
        assert found[name].reports == reports
        assert found[name].half_width == pytest.approx(expected, rel=1e-12)
        direct = 1 / channel.options * (1 - 1 / channel.options)
        assert found[name].direct_respondents == math.ceil(Z**2 * direct / expected**2)


def test_mean_of_a_number() -> None:
    """The noise of rounding is in: answers 0 to 12, each as common, rounded to 0, 6 or 12."""
    survey = Survey.load(SOURCE)
    channel = survey["spent"].channel
    shares = [Fraction(0)] * 3
    for answer in range(13):
        for draw in range(12):  # DESIGN: index = ⌊(i (points − 1) + t)/M⌋
            shares[(answer * 2 + draw) // 12] += Fraction(1, 13 * 12)
    expected = Z * math.sqrt(spread(channel, shares, [Fraction(v) for v in (0, 6, 12)]) / 500)
    (found,) = [p for p in plan_survey(survey, respondents=500).questions if p.question.grid]
    assert found.mean_half_width == pytest.approx(expected, rel=1e-12)
    assert found.half_width == pytest.approx(expected / 12, rel=1e-12)
    even = sum((Fraction(i) - 6) ** 2 for i in range(13)) / 13
    assert found.direct_respondents == math.ceil(Z**2 * float(even) / expected**2)


def test_mean_of_those_who_answer() -> None:
    """With "no answer" the mean is a ratio, linearised: a difference quotient gives the same."""
    survey = Survey.load(SOURCE)
    channel = survey["mood"].channel
    shares, scores = [Fraction(1, 4)] * 4, [Fraction(0), Fraction(1), Fraction(4)]

    def ratio(of: list[Fraction]) -> Fraction:
        return sum((s * v for s, v in zip(of, scores, strict=False)), Fraction(0)) / sum(of[:3])

    step = Fraction(1, 10**12)
    slopes = [
        (ratio([s + step * (j == i) for j, s in enumerate(shares)]) - ratio(shares)) / step
        for i in range(4)
    ]
    (found,) = [p for p in plan_survey(survey, respondents=800).questions if p.question.scores]
    expected = Z * math.sqrt(spread(channel, shares, slopes) / 800)
    assert found.mean_half_width == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("ask", [None, 2])
def test_least_respondents(ask: int | None) -> None:
    """The number found reaches the half-width, and fewer do not."""
    privacy = {"epsilon": 4} | ({"allocation": "sample", "ask": ask} if ask else {})
    survey = Survey.load(SOURCE | {"privacy": privacy})
    for found in plan_survey(survey, half_width=0.05).questions:
        assert found.half_width <= 0.05 + 1e-9
        step = math.ceil(1 / found.reach)
        fewer = plan_survey(survey, respondents=found.respondents - step)
        (less,) = [p for p in fewer.questions if p.question is found.question]
        assert less.half_width > 0.05


def test_allocation_is_compared_on_the_same_total() -> None:
    """The ratio printed is that of the standard errors of two surveys with the same epsilon."""
    questions = [
        {"name": name, "kind": "choice", "text": "?", "options": list("abcde")} for name in "xyz"
    ]
    base = {"name": "s", "title": "S", "questions": questions}
    total = plan_survey(Survey.load(base | {"privacy": {"epsilon": 2}}), respondents=900)
    sampled = Survey.load(base | {"privacy": {"epsilon": 2, "allocation": "sample", "ask": 1}})
    one = plan_survey(sampled, respondents=900).questions[0]
    expected = one.half_width / total.questions[0].half_width
    assert total.error_by_ask[1] == pytest.approx(expected, rel=1e-3)  # ε is rounded down to odds
    assert "Sampling gives the smaller standard errors" in (total.allocation_sentence() or "")


def test_splitting_can_be_better() -> None:
    """With a large epsilon nothing is gained by asking fewer."""
    questions = [{"name": name, "kind": "yes-no", "text": "?"} for name in "xy"]
    survey = Survey.load(
        {"name": "s", "title": "S", "privacy": {"epsilon": 12}, "questions": questions}
    )
    sentence = plan_survey(survey, respondents=900).allocation_sentence()
    assert sentence is not None
    assert sentence.startswith("Splitting the budget")


def test_the_verb(tmp_path: Path) -> None:
    """The table and the sentences say what to expect, with units."""
    path, picture = tmp_path / "survey.toml", tmp_path / "picture.svg"
    path.write_text(
        'name = "s"\ntitle = "Money"\narms = ["a", "b"]\n[privacy]\nepsilon = 2\n'
        '[[questions]]\nname = "hid"\nkind = "yes-no"\ntext = "Did you hide income?"\n'
        '[[questions]]\nname = "spent"\nkind = "number"\ntext = "How much?"\n'
        'min = 0\nmax = 100\nunit = "euro"\n',
        encoding="utf-8",
    )
    words = ["plan", str(path), "--respondents", "1000", "--picture", str(picture)]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    rows = [line.split() for line in found.output.splitlines()]
    assert ["hid", "2", "1.00", "1,000", "1,000", "6.7", "points"] in rows
    assert ["spent", "2", "1.00", "1,000", "1,000", "6.7", "euro"] in rows
    assert (
        "hid: in 95 % of such surveys, the share of an option that 50 % truly have will come out "
        "within 6.7 percentage points of the truth." in found.output
    )
    assert "the mean will come out within 6.7 euro of the true one" in found.output
    assert "difference between two arms 2.00 times" in found.output
    assert ET.parse(picture).getroot().tag.endswith("svg")
    few = CliRunner().invoke(main, ["plan", str(path), "--respondents", "10"])
    assert "That is too few respondents to tell it from 0." in few.output
    assert "That is too few respondents to say anything about it." in few.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either --respondents or --half-width"),
        (["--respondents", "10", "--half-width", "3"], "give either"),
        (["--respondents", "0"], "0 is not in the range"),
        (["--half-width", "nan"], "half_width must be between 0 and 1"),
        (["--respondents", "10", "--share", "nan"], "share must be between 0 and 1"),
        (["--respondents", "10", "--level", "100"], "not in the range"),
    ],
)
def test_the_verb_refuses(tmp_path: Path, words: list[str], message: str) -> None:
    """Wrong arguments are refused in words."""
    path = tmp_path / "survey.toml"
    path.write_text(
        'name = "s"\ntitle = "S"\n[privacy]\nepsilon = 2\n[[questions]]\nname = "a"\n'
        'kind = "yes-no"\ntext = "?"\n'
    )
    found = CliRunner().invoke(main, ["plan", str(path), *words])
    assert found.exit_code != 0
    assert message in found.output


def test_sampled_so_thinly_that_nobody_answers() -> None:
    """One respondent of a survey that asks one question of two reaches no question for sure."""
    survey = Survey.load(SOURCE | {"privacy": {"epsilon": 4, "allocation": "sample", "ask": 1}})
    with pytest.raises(EstimateError, match="nobody may be asked 'used'"):
        plan_survey(survey, respondents=2)


def test_picture_says_its_numbers() -> None:
    """The description holds the respondents that the formula gives."""
    channel = Channel.best(2, Fraction(1264, 465))
    needed = math.ceil(Z**2 * 0.25 / (float(channel.p - channel.q) * 0.03) ** 2)
    text = trade_off(half_widths=(0.03,))
    assert f"within 3 percentage points: {needed:,} respondents at epsilon 1, 1,068" in text


def test_picture_of_the_docs() -> None:
    """The picture in the documentation is the one that the code draws."""
    picture = Path(__file__).resolve().parents[2] / "docs" / "planning.svg"
    assert picture.read_text(encoding="utf-8") == trade_off()


def test_options_of_a_subset_are_not_independent() -> None:
    """The enumeration is not blind: adding up the options' own variances is wrong."""
    channel = Channel(5, 2, Fraction(5, 2))
    shares, weights = [Fraction(1, 5)] * 5, [Fraction(j) for j in range(5)]
    one = [
        score_variance(channel, shares, [Fraction(int(i == j)) for i in range(5)]) for j in range(5)
    ]
    apart = sum((w * w * v for w, v in zip(weights, one, strict=True)), Fraction(0))
    assert spread(channel, shares, weights) != apart


def test_respondents_of_a_cross_table() -> None:
    """Of C(4, 2) pairs a device that sends 2 of 4 questions has one: a sixth of the respondents."""
    questions = [{"name": name, "kind": "yes-no", "text": "?"} for name in "wxyz"]
    base = {"name": "s", "title": "S", "questions": questions}
    for ask, says in (
        (2, "reported by 16.7 % of respondents: a cross-table will have about 500."),
        (1, "cannot be cross-tabulated"),
    ):
        privacy = {"epsilon": 2, "allocation": "sample", "ask": ask}
        found = plan_survey(Survey.load(base | {"privacy": privacy}), respondents=3000)
        assert says in (found.pairs_sentence() or "")
    whole = plan_survey(Survey.load(base | {"privacy": {"epsilon": 2}}), respondents=3000)
    assert whole.pairs_sentence() is None
