"""compare(): each row against its own source, the leader's chance, words and picture."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.integrate import quad
from scipy.stats import binom, norm

from deniable_analysis import describe, estimate, read_reports, simulate
from deniable_analysis.central import (
    Comparison,
    Shuffled,
    analytic_multiplier,
    compare,
    compare_reports,
    compare_survey,
)
from deniable_analysis.central.cli import compare as verb
from deniable_analysis.central.compare_aims import SHARES, Measure, ShareAim
from deniable_analysis.central.compare_picture import picture
from deniable_analysis.central.compare_rows import (
    chance_to_find_leader,
    laplace_half_width,
    mixed_channel,
)
from deniable_analysis.central.compare_words import legend, text
from deniable_analysis.design import Design
from deniable_analysis.planning import plan
from deniable_analysis.survey_plan import plan_survey
from deniable_analysis.targets import Share
from deniable_protocol import Channel, Survey
from deniable_protocol.errors import DeniableError

F = Fraction
WAYS = ("direct", "laplace", "gaussian", "mixed", "local")


@pytest.mark.parametrize("deviation", [0.0, 1e-12, 0.1, 1.0, 7.0, 300.0])
@pytest.mark.parametrize("level", [0.5, 0.95, 1 - 1e-9])
def test_interval_of_laplace_on_top_of_a_draw(deviation: float, level: float) -> None:
    """P(|N + L| ≤ w) is the level, by quadrature over the Laplace number."""
    w = laplace_half_width(deviation, 1.0, level)
    if deviation < 1e-9:
        assert w == pytest.approx(-math.log(1 - level))
        return

    def miss(x: float) -> float:
        tails = norm.sf((w - x) / deviation) + norm.sf((w + x) / deviation)
        return float(math.exp(-x) * tails)  # both signs of L, each with half its density

    reach = min(w + 40 * deviation, 700.0)
    near = sorted({0.0, min(w, reach), *(min(max(w + s * deviation, 0), reach) for s in (-8, 8))})
    parts = sum(quad(miss, a, b, epsabs=1e-18, limit=200)[0] for a, b in pairwise([*near, reach]))
    parts += math.exp(-reach)  # beyond, the first tail is 1
    assert parts == pytest.approx(1 - level, rel=1e-6)


@pytest.mark.parametrize(("n", "k", "epsilon"), [(1000, 2, 1.0), (300, 7, 0.5), (20_000, 40, 2.0)])
def test_rows_against_their_sources(n: int, k: int, epsilon: float) -> None:
    """Local is the planning's number, Laplace and Gaussian are textbook formulas."""
    share = 0.3
    found = compare(respondents=n, options=k, epsilon=epsilon, share=share, delta=1e-7)
    planned = plan(target=Share(share), respondents=n, epsilon=epsilon, options=k)
    assert found["local"].half_width == pytest.approx(planned.half_width, rel=1e-12)
    moved = 1 if k == 2 else 2
    draw = share * (1 - share) / n
    assert found["direct"].standard_error == pytest.approx(math.sqrt(draw))
    laplace = found["laplace"]
    assert laplace.noise == pytest.approx(math.sqrt(2) * moved / epsilon / n)
    assert laplace.standard_error == pytest.approx(math.hypot(laplace.noise, math.sqrt(draw)))
    sigma = analytic_multiplier(epsilon, 1e-7) * math.sqrt(moved)
    assert found["gaussian"].noise == pytest.approx(sigma / n, rel=1e-9)
    for row in found.rows:
        assert row.standard_error**2 == pytest.approx(row.noise**2 + draw)
        assert (row.low + row.high) / 2 == pytest.approx(share)
    assert found["direct"].half_width < found.curator.half_width < found["mixed"].half_width
    assert found["mixed"].half_width <= found["local"].half_width


def test_needed_respondents_are_the_fewest() -> None:
    """With that many the local interval is as short as the curator's, with one less it is not."""
    found = compare(respondents=1000, epsilon=1, options=3, share=0.4)
    needed = found["local"].needed
    assert needed is not None
    half = found.curator.half_width
    assert needed == plan(target=Share(0.4), options=3, epsilon=1, half_width=half).respondents
    for n, enough in ((needed, True), (needed - 1, False)):
        width = compare(respondents=n, epsilon=1, options=3, share=0.4)["local"].half_width
        assert (width <= found.curator.half_width) == enough
    assert found["laplace"].needed == 1000


@pytest.mark.parametrize(("n", "k", "epsilon"), [(100, 2, 0.5), (5000, 2, 1.0), (3000, 6, 0.3)])
def test_mixed_rows_are_certified_and_use_the_budget(n: int, k: int, epsilon: float) -> None:
    """The mixed reports are (ε, δ)-private, and those of a larger ε₀ are not."""
    channel = mixed_channel(ShareAim(0.4, k), n, epsilon, 1e-6)
    assert Shuffled.of(channel, n).meets(epsilon, 1e-6)
    more = Channel.best(k, channel.odds * F(102, 100))
    assert not Shuffled.of(more, n).meets(epsilon, 1e-6)
    assert compare(respondents=n, options=k, epsilon=epsilon, delta=1e-6)[
        "mixed"
    ].device_epsilon == pytest.approx(channel.epsilon)


@pytest.mark.parametrize(("k", "d"), [(2, 1), (3, 1), (3, 2), (5, 2), (6, 3)])
def test_variances_of_differences_are_exact(k: int, d: int) -> None:
    """V and B, by which options are compared, from the enumerated law: for every true answer."""
    channel = Channel(options=k, subset=d, odds=F(3))
    spread = []
    for answer in range(k):
        law = channel.law(answer)
        gain = {s: (0 in s) - (1 in s) for s in law}
        mean = sum((w * gain[s] for s, w in law.items()), F(0))
        spread.append(sum((w * gain[s] ** 2 for s, w in law.items()), F(0)) - mean**2)
    counts = np.arange(k, 0, -1) * 10.0
    exact = float(np.dot(counts, [float(v) for v in spread]))
    p = channel.p
    one = p * F(k - d, k - 1)
    own = float(one + one / channel.odds - (one - one / channel.odds) ** 2)
    other = own / 2
    if k > 2:
        other = float(p * F(d - 1, k - 1) * F(k - d, k - 2)
                      + (1 - p) * F(d, k - 1) * F(k - 1 - d, k - 2))  # fmt: skip
    stated = 2 * counts.sum() * other + (counts[0] + counts[1]) * (own - 2 * other)
    assert stated == pytest.approx(exact, rel=1e-12)


def test_chance_of_the_leader_against_exact_counts() -> None:
    """Yes-no: the exact law of the count; ties count half."""
    channel = Channel(options=2, subset=1, odds=F(3))
    for n, yes in ((200, 110), (1000, 540), (60, 33)):
        counts = np.convolve(binom.pmf(np.arange(yes + 1), yes, 0.75),
                             binom.pmf(np.arange(n - yes + 1), n - yes, 0.25))  # fmt: skip
        exact = counts[n // 2 + 1 :].sum() + counts[n // 2] / 2
        found = chance_to_find_leader(channel, [float(yes), float(n - yes)])
        assert found == pytest.approx(exact, abs=2e-3)


def test_chance_of_the_leader_against_simulated_reports() -> None:
    """Six options in subsets: 40,000 surveys of 400 simulated respondents (one seed)."""
    channel = Channel(options=6, subset=2, odds=F(4))
    truth = [120, 80, 60, 60, 50, 30]
    rng = np.random.default_rng(7)
    held = np.zeros((40_000, 6))
    for answer, many in enumerate(truth):
        law = channel.law(answer)
        drawn = rng.multinomial(many, [float(w) for w in law.values()], size=len(held))
        held += drawn @ np.array([[place in s for place in range(6)] for s in law], dtype=float)
    won = held[:, 0] - held[:, 1:].max(axis=1)
    rate = np.mean(won > 0) + np.mean(won == 0) / 2
    found = chance_to_find_leader(channel, [float(c) for c in truth])
    assert found == pytest.approx(rate, abs=0.01)
    other = Channel(options=6, subset=2, odds=F(5))
    assert abs(chance_to_find_leader(other, [float(c) for c in truth]) - rate) > 0.03


def test_no_leader_no_chance() -> None:
    """Where the option does not lead there is nothing to find."""
    found = compare(respondents=100, options=4, epsilon=1, share=0.25)
    assert {row.finds_leader for row in found.rows} == {None}
    assert "most common" not in text(found)
    assert "most common" in text(compare(respondents=100, options=4, epsilon=1))


def survey(**more: object) -> Survey:
    return Survey.load({
        "name": "fruit", "title": "Fruit", "privacy": {"epsilon": 3, **more},
        "questions": [
            {"name": "kind", "kind": "choice", "text": "Which?", "options": ["<pear>", "b", "c"]},
            {"name": "likes", "kind": "yes-no", "text": "Do you like it?"},
            {"name": "when", "kind": "multiple", "text": "When?", "options": ["a", "b"]},
        ],
    })  # fmt: skip


def test_a_survey_question_by_question() -> None:
    """The local row has the question's own channel; the others the same ε."""
    whole = survey()
    found = compare_survey(whole, respondents=4000, share=0.4)
    assert [one.question for one in found] == ["kind", "likes", "when"]
    for one, question in zip(found, whole.questions, strict=True):
        design = Design.of(question.channel)
        expected = math.sqrt(Share(0.4).variance(design) / 4000)
        assert one["local"].standard_error == pytest.approx(expected)
        assert one.epsilon == pytest.approx(question.channel.epsilon)
        assert one["laplace"].epsilon == one.epsilon


def test_a_survey_that_samples_questions() -> None:
    """Devices send one question of three; the curator spreads the same total over all."""
    sampled = survey(allocation="sample", ask=1)
    found = compare_survey(sampled, respondents=3000)
    total = sampled.epsilon
    for one in found:
        assert one.epsilon * 3 <= total * (1 + 1e-12) or one.question == "when"
    # The local row pays for having a third of the reports.
    kind = found[0]
    channel = sampled["kind"].channel
    variance = Share(kind.value).variance(Design.of(channel)) / 1000
    assert kind["local"].standard_error == pytest.approx(math.sqrt(variance))


def test_real_reports_fill_the_local_row() -> None:
    """The local row of a report file is the estimate itself, everything else is expected."""
    whole = survey()
    counts = {"kind": [700, 500, 300], "likes": [600, 900]}
    if whole["kind"].channel.subset != 1:
        counts["kind"] = [1200, 1000, 800]
    reports = read_reports(counts, whole)
    for one in compare_reports(reports):
        measured = estimate(reports, one.question)
        option = max(measured.options, key=lambda option: option.best)
        row = one["local"]
        assert (row.low, row.high) == (option.low, option.high)
        assert row.standard_error == option.se
        assert row.measured
        assert one.option == option.label
        assert one.value == pytest.approx(option.best)
        assert not any(one[way].measured for way in WAYS[:-1])
    assert {one.question for one in compare_reports(reports)} == {"kind", "likes"}


def numbers() -> Survey:
    return Survey.load({
        "name": "work", "title": "Work", "privacy": {"epsilon": 4},
        "questions": [
            {"name": "hours", "kind": "number", "text": "How long?", "min": 0, "max": 60,
             "step": 1, "unit": "h"},
            {"name": "age", "kind": "number", "text": "Age?", "min": 20, "max": 60, "step": 5,
             "optional": True},
        ],
    })  # fmt: skip


def test_numbers_are_compared_by_their_mean() -> None:
    """Local and direct are the planning's, the curator's noise that of a clipped mean."""
    survey_, n = numbers(), 2000
    plans = plan_survey(survey_, respondents=n).questions
    for one, planned in zip(compare_survey(survey_, respondents=n), plans, strict=True):
        grid = planned.question.grid
        assert grid is not None
        width = float(grid.high - grid.low)
        local, direct = one["local"], one["direct"]
        assert local.half_width * width == pytest.approx(planned.mean_half_width)
        assert (local.half_width / direct.half_width) ** 2 == pytest.approx(
            planned.reports / planned.direct_respondents, rel=1e-2
        )
        answering = 1 if not planned.question.optional else 2 / 3
        noise = math.sqrt(2) / one.epsilon / round(n * answering)
        assert one["laplace"].noise == pytest.approx(noise, rel=1e-6)
        # Answers spread evenly over M + 1 values: the discrete uniform's variance.
        spread = (grid.steps + 2) / (12 * grid.steps) / answering / n
        assert direct.standard_error == pytest.approx(math.sqrt(spread), rel=1e-6)
        assert direct.half_width < one.curator.half_width < one["mixed"].half_width
        assert one["mixed"].half_width < local.half_width
        assert one["local"].finds_leader is None
    found = compare_survey(survey_, respondents=n)[0]
    assert "hours: the mean, 30 h; 2,000 respondents" in text(found)
    assert " h</text>" in picture([found])


def test_real_reports_of_numbers() -> None:
    """The local row is the estimated mean, in parts of the range."""
    survey_ = numbers()
    rng = np.random.default_rng(5)
    answers = {"hours": rng.integers(10, 50, 3000), "age": rng.choice([20, 30, np.nan], 3000)}
    reports = simulate(survey_, answers, seed=2)
    for one, low, width in zip(compare_reports(reports), (0, 20), (60, 40), strict=True):
        mean = describe(reports, one.question).mean
        row = one["local"]
        assert row.measured
        assert low + width * row.low == pytest.approx(mean.low)
        assert low + width * row.high == pytest.approx(mean.high)
        assert width * row.standard_error == pytest.approx(mean.se)
        assert low + width * one.value == pytest.approx(mean.value)


def test_measures() -> None:
    """Shares in points of a per cent; numbers in their unit, with digits that fit the range."""
    assert SHARES.value(0.525) == "52.5 %"
    assert [SHARES.spread(x) for x in (0, 0.0310, 0.5, 1e-7)] == [
        "0.00 points", "3.10 points", "50.00 points", "1e-05 points",
    ]  # fmt: skip
    hours = Measure(0.0, 24.0, " h", " h")
    assert (hours.value(0.5), hours.spread(0.1), hours.tick(0.25)) == ("12 h", "2.40 h", "6 h")
    assert Measure(0.0, 50_000.0, "", "").spread(0.1) == "5,000"


BAD = [math.nan, math.inf, 0, -1, True, "1", 10**400]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: repr(bad)[:6])
def test_impossible_arguments(bad: object) -> None:
    """NaN, inf, zero, negative, huge: one of our errors, for every argument."""
    good = {"respondents": 100, "options": 3, "epsilon": 1.0}
    for name in ("respondents", "options", "epsilon", "share", "delta", "level"):
        with pytest.raises(DeniableError):
            compare(**{**good, name: bad})  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [1, 2, 10**9])
@pytest.mark.parametrize("epsilon", [0.001, 15])
@pytest.mark.parametrize("options", [2, 300])
def test_ends_of_the_range(n: int, epsilon: float, options: int) -> None:
    """At every corner all numbers are finite and in order, and can be written and drawn."""
    found = compare(respondents=n, options=options, epsilon=epsilon)
    for row in found.rows:
        assert math.isfinite(row.half_width)
        assert row.half_width >= found["direct"].half_width * (1 - 1e-9)
        assert row.finds_leader is not None or row.way == "gaussian"
    assert "nan" not in text(found) + picture([found])
    ElementTree.fromstring(picture([found]))


def shown() -> tuple[Comparison, ...]:
    reports = read_reports({"likes": [600, 900]}, survey())
    return (*compare_survey(survey(), respondents=500), *compare_reports(reports))


def test_words_fit_and_say_everything() -> None:
    """Lines fit a terminal; every row and its half-width are there."""
    for found in shown():
        said = text(found)
        assert max(len(line) for line in said.splitlines()) <= 100
        assert said.count("±") == len(found.rows)
        assert "takes" in said
    assert "\n* from the reports" in legend(shown()[-1])
    assert "*" not in legend(shown()[0])


def test_picture_stands_alone() -> None:
    """Well-formed, no script, no address, words for those who cannot see it, one panel each."""
    found = shown()
    svg = picture(found)
    root = ElementTree.fromstring(svg)
    tags = {element.tag.split("}")[1] for element in root.iter()}
    assert tags == {"svg", "style", "title", "desc", "text", "path", "line", "circle"}
    addresses = svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in addresses
    assert "url(" not in svg
    assert svg.count("<circle") == 5 * len(found)
    assert svg.count('class="dot real"') == 1
    described = root.find("{*}desc")
    assert described is not None
    for row in found[0].rows:
        assert f"± {100 * row.half_width:.2f} points" in str(described.text)
    # Names from the survey are text, never markup.
    label = dataclasses.replace(found[0], option="<pear> & co")
    assert "&lt;pear&gt; &amp; co" in picture([label])


def test_verb(tmp_path: Path) -> None:
    """Numbers, a survey file and the picture; wrong combinations are explained."""
    runner, target = CliRunner(), tmp_path / "a.svg"
    said = runner.invoke(
        verb, ["--respondents", "1000", "--epsilon", "1", "--picture", str(target)]
    )
    assert said.exit_code == 0
    assert "own device" in said.output
    ElementTree.fromstring(target.read_text(encoding="utf-8"))
    file = tmp_path / "fruit.json"
    file.write_bytes(survey().to_json())
    said = runner.invoke(verb, [str(file), "--respondents", "1000"])
    assert said.exit_code == 0
    assert "likes: " in said.output
    for wrong in (
        [], ["--respondents", "10"], [str(file)],
        [str(file), "--respondents", "9", "--epsilon", "1"],
        ["--respondents", "10", "--epsilon", "99"], ["--respondents", "10", "--epsilon", "nan"],
        ["--respondents", "10", "--epsilon", "1", "--picture", str(tmp_path / "no" / "a.svg")],
    ):  # fmt: skip
        said = runner.invoke(verb, wrong)
        assert said.exit_code in (1, 2), wrong
        assert "Error" in said.output
        assert "Traceback" not in said.output


def test_the_guide_shows_what_the_verb_prints() -> None:
    """Table and picture of docs/central.md are those of the command above them."""
    found = compare(respondents=1000, options=5, epsilon=1.0)
    docs = Path(__file__).parents[2] / "docs"
    assert (docs / "central.svg").read_text(encoding="utf-8") == picture([found])
    page = (docs / "central.md").read_text(encoding="utf-8")
    for line in "\n".join([text(found), legend(found)]).splitlines():
        assert line in page
