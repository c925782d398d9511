"""What a report says beside its numbers: checks, methods, weights, and R that redoes it."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from deniable_analysis import (
    Reports,
    SampleDesign,
    crosstab,
    estimate_weighted,
    read_reports,
    simulate,
)
from deniable_analysis.checks import checks_of
from deniable_analysis.export import to_csv, to_json
from deniable_analysis.export_r import to_r
from deniable_analysis.methods_text import CITATIONS, methods_paragraph
from deniable_analysis.page import render
from deniable_analysis.results import analyse
from deniable_analysis.sample_reading import read_sample
from deniable_analysis.text import summary
from deniable_protocol import EstimateError

from .samples import EVERY_KIND, SAMPLED, SURVEY, gathered, some_reports
from .test_page import Reader, run
from .test_reading import kept


def test_impossible_reports_are_said_first():
    """Counts that no true shares give are an alarm, in bold on the page and in the table."""
    results = analyse(Reports.of_counts(SURVEY, {"stolen": [100, 900]}))
    first = checks_of(results)[0]
    assert first.alarming
    assert "fewer than the 250 that noise alone makes" in first.sentence
    assert f"<strong>{first.sentence}" in render(results).replace("&#34;", '"')
    assert first.sentence in summary(results)
    calm = analyse(Reports.of_counts(SURVEY, {"stolen": [300, 700]}))
    assert not any(check.alarming for check in checks_of(calm))
    assert "such as its noise can make" in Reader(render(calm)).text


def test_arms_are_compared():
    """Arms with the same answers pass; arms with other answers are told apart."""
    same = analyse(gathered(400, survey=EVERY_KIND))
    assert any("differ between arms by more than chance" in c.sentence for c in checks_of(same))
    rows = np.repeat([0, 1], 400)
    arms = ["north"] * 400 + ["south"] * 400
    apart = Reports.of_subsets(EVERY_KIND, {"drank": rows}, arms=arms)
    found = [check for check in checks_of(analyse(apart)) if check.about == "Arms: drank"]
    assert "differ more than chance makes them" in found[0].sentence


@pytest.mark.parametrize("survey", [SURVEY, EVERY_KIND, SAMPLED], ids=lambda s: s.name)
def test_methods_fit_what_was_done(survey):
    """The paragraph says what applies and nothing else, and cites all that it names."""
    results = analyse(gathered(50, survey=survey), limit=0.25)
    text, *references = methods_paragraph(results).strip().split("\n\n")
    assert survey.digest in text
    assert f"{survey.epsilon:.2f}-local differential privacy" in text
    assert ("subset mechanism" in text) == any(q.channel.subset > 1 for q in survey.questions)
    assert ("rounded at random" in text) == (survey is EVERY_KIND)
    assert ("drew 2 of the 3 questions" in text) == (survey is SAMPLED)
    assert ("Fieller" in text) == any(q.extras for q in survey.questions)
    assert "longer than 25 percentage points" in text
    assert references == sorted(references, key=str.casefold)
    assert set(references) <= set(CITATIONS.values())
    for reference in references:
        assert reference.split(",")[0] in text
    many = methods_paragraph(analyse(gathered(50, survey=survey), simultaneous=True))
    assert "Goodman" in many
    assert "Wilson" in many
    assert text in Reader(render(results)).text


def test_methods_name_what_was_added():
    """Weights, cross-tables and arms are in the paragraph when they were used."""
    reports = gathered(80, survey=EVERY_KIND)
    plain = methods_paragraph(analyse(reports))
    assert not any(word in plain for word in ("Hájek", "Holm", "independence"))
    text = methods_paragraph(
        analyse(reports, sample=SampleDesign.of(80), crosstabs=[("drank", "mood")], by_arm=True)
    )
    for word in ("Hájek, J. (1971)", "Holm, S. (1979)", "independence of the true answers"):
        assert word in text


def rscript(script, file):
    file.write_text(script, encoding="ascii")
    return subprocess.run(
        ["Rscript", "--vanilla", file], check=False, capture_output=True, text=True
    )


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("n", [3, 120])
@pytest.mark.parametrize("survey", [SURVEY, EVERY_KIND], ids=lambda s: s.name)
def test_r_agrees(survey, n, tmp_path):
    """The script runs and finds the same shares and errors; with one count changed it stops.

    Three reports make shares outside 0 to 1 and options that nobody reported.
    """
    script = to_r(analyse(gathered(n, survey=survey), by_arm=bool(survey.arms)))
    done = rscript(script, tmp_path / "good.R")
    assert done.returncode == 0, done.stderr
    assert "All shares and standard errors agree." in done.stdout
    count = script.index("counts <- c(") + len("counts <- c(")
    assert rscript(script[:count] + "1" + script[count:], tmp_path / "bad.R").returncode != 0


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("package", ["RRreg", "rr"])
def test_packages_of_r_agree(package, tmp_path):
    """RRreg and rr find the same shares; with other parameters of the design the script stops."""
    asked = f'quit(status = !requireNamespace("{package}", quietly = TRUE))'
    if rscript(asked, tmp_path / "asked.R").returncode:
        pytest.skip(f"R's package {package} is not installed")
    script = to_r(analyse(gathered(400, survey=EVERY_KIND)))
    done = rscript(script, tmp_path / "good.R")
    assert done.returncode == 0, done.stderr
    assert {"RRreg": "Estimate of pi", "rr": "(Intercept)"}[package] in done.stdout
    call = script.index(f"{package}::")
    start = script.index("p = (", call) + len("p = (")
    broken = rscript(script[:start] + "0.9 * " + script[start:], tmp_path / "bad.R")
    assert broken.returncode != 0


def test_r_without_r():
    """The script is plain ASCII with one call for each item, also where texts are hostile."""
    script = to_r(analyse(gathered(30, survey=EVERY_KIND)))
    assert script.isascii()
    assert script.count("found <- shares(") == len(EVERY_KIND.items)
    assert script.count('model = "Warner"') == 4
    assert script.count('model = "custom"') == 3
    wide = to_r(analyse(gathered(30)))
    assert "Each report holds 3 options" in wide


def test_two_questions_at_once(tmp_path):
    """A cross-table is in the page, the table and both files, with the numbers of ``crosstab``."""
    reports = gathered(300, survey=EVERY_KIND)
    results = analyse(reports, crosstabs=[("drugs.1", "mood"), ("drank", "drugs.2")])
    first = results.relations[0]
    table = crosstab(reports, "drugs.1", "mood")
    assert first.titles == ("Which? Cannabis", "Mood?")
    assert [cell.share for cell in first.cells] == pytest.approx(table.shares.ravel().tolist())
    given = dict(first.conditional)["Yes"][2]
    assert given.share == pytest.approx(table.conditional("Yes", "high").value)
    text = Reader(render(results)).text
    assert "Which? Cannabis / Mood?" in text
    assert first.sentence() in text
    assert first.sentence() in summary(results)
    stated = json.loads(to_json(results))["crosstabs"]
    assert [one["names"] for one in stated] == [["drugs.1", "mood"], ["drank", "drugs.2"]]
    lines = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert sum(line["question"] == "drugs.1 and mood" for line in lines) == 6
    database = kept(tmp_path / "all.db", EVERY_KIND, some_reports(60, survey=EVERY_KIND))
    page = ("--output", str(tmp_path / "page.html"))
    done = run(str(database), "--crosstab", "drank,mood", *page)
    assert "Did you drink? / Mood?" in done.output
    for wrong, words in [("drank", "two questions such as"), ("drank,moo", "got 'moo'")]:
        failed = run(str(database), "--crosstab", wrong, *page)
        assert failed.exit_code == 1
        assert words in failed.output


def test_a_relation_is_said_and_so_is_none():
    """Answers that go together are said to; unrelated ones are not called unrelated."""
    n = 4_000
    rng = np.random.default_rng(3)
    drank = rng.integers(0, 2, n)
    answers = {item.name: np.zeros(n, dtype=int) for item in EVERY_KIND.items}
    answers |= {"drank": drank, "mood": 2 * drank, "sleep": np.full(n, 6.0),
                "drugs.1": rng.integers(0, 2, n)}  # fmt: skip
    reports = simulate(EVERY_KIND, answers, seed=1)
    related, not_shown = analyse(
        reports, crosstabs=[("drank", "mood"), ("drank", "drugs.1")]
    ).relations
    assert related.sentence().startswith("The two answers go together")
    assert "do not show that" in not_shown.sentence()
    assert "does not show that they are unrelated" in not_shown.sentence()


def test_arms_that_differ_are_named():
    """By arm, a difference is said in points, with every comparison in mind."""
    rows = np.repeat([0, 1, 0, 1], [350, 50, 50, 350])
    arms = ["north"] * 400 + ["south"] * 400
    apart = Reports.of_subsets(EVERY_KIND, {"drank": rows, "mood": np.arange(800) % 3}, arms=arms)
    results = analyse(apart, by_arm=True)
    drank, mood = results.differences
    assert "north is" in drank.sentences()[0]
    assert "percentage points above south" in drank.sentences()[0]
    assert mood.sentences() == (
        "No difference between the arms is larger than noise and chance make it.",
    )
    assert drank.sentences()[0] in Reader(render(results)).text
    assert json.loads(to_json(results))["arms_compared"][0]["pvalue"] < 1e-9
    one = Reports.of_subsets(EVERY_KIND, {"drank": rows}, arms=["north"] * 800)
    assert analyse(one, by_arm=True).differences == ()


def weights_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_weights_by_id(tmp_path):
    """Weights find their reports by id, in whatever order the file has them."""
    reports = some_reports(60)
    database = kept(tmp_path / "reports.db", SURVEY, reports)
    rng = np.random.default_rng(2)
    weights = {report.id: round(rng.uniform(0.5, 3), 3) for report in reports}
    lines = [f"{key},{weight},s{int(key, 16) % 2}" for key, weight in sorted(weights.items())[::-1]]
    file = weights_file(
        tmp_path / "w.csv", "\n".join(["id,weight,stratum", *lines, "0" * 16 + ",9,s0"])
    )
    found = read_reports(database)
    sample = read_sample(file, found)
    assert sample.weights.tolist() == [weights[f"{key:016x}"] for key in found.ids.tolist()]
    results = analyse(found, sample=sample)
    expected = estimate_weighted(found["stolen"], sample)
    shown = {row.label: row.found.share for row in results.sections[0].blocks[0].population}
    assert shown == {label: expected[label].share for label in ("Yes", "No")}
    assert "Weighted to the population" in Reader(render(results)).text
    assert "weighted to the population:" in summary(results)
    lines = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert sum(line["among"] == "the population" for line in lines) == 2 + 10
    stated = json.loads(to_json(results))["questions"][0]["weighted"]
    assert stated["kish"] == pytest.approx(sample.kish)
    done = run(str(database), "--weights", str(file), "--output", str(tmp_path / "page.html"))
    assert done.exit_code == 0
    assert "Kish’s design effect" in done.output


def test_weights_by_arm(tmp_path):
    """Arms stand for their people, and the weighted share mixes the arms' in that ratio."""
    reports = gathered(200, survey=EVERY_KIND)
    sample = read_sample(
        weights_file(tmp_path / "a.csv", "arm,people\nnorth,900\nsouth,100\n"), reports
    )
    found = analyse(reports, sample=sample).sections[0].blocks[0].population[0].found
    parts = [np.nanmean(part["drank"].scores[:, 0]) for part in reports.by_arm().values()]
    assert found.share == pytest.approx(0.9 * parts[0] + 0.1 * parts[1])
    by_arm = analyse(reports, sample=sample, by_arm=True).sections[0].blocks
    assert [b.population[0].found.share for b in by_arm] == pytest.approx(parts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,weight\n", "no weight for 20 of 20 reports"),
        ("id,gewicht\n", "needs the columns id and weight"),
        ("arm,people\nnorth,1\nsouth,x\n", "every people must be a number above 0"),
        ("arm,people\nnorth,1\nsouth,-1\n", "every people must be a number above 0"),
        ("id,weight\n1,1\n1,2\n", "has an id twice"),
        ("", "it has none"),
    ],
)
def test_weights_that_do_not_fit(text, words, tmp_path):
    """What is wrong with a file of weights is said, with its name."""
    reports = gathered(20, survey=EVERY_KIND)
    with pytest.raises(EstimateError, match=words):
        read_sample(weights_file(tmp_path / "w.csv", text), reports)
    with pytest.raises(EstimateError, match="only counts"):
        read_sample(
            weights_file(tmp_path / "v.csv", "id,weight\n1,1\n"),
            Reports.of_counts(SURVEY, {"stolen": [1, 2]}),
        )
    with pytest.raises(EstimateError, match="No such file"):
        read_sample(tmp_path / "none.csv", reports)


def test_a_sample_of_ones_changes_nothing():
    """With weights of 1 the population's shares are the unbiased shares."""
    reports = gathered(80)
    results = analyse(reports, sample=SampleDesign.of(80))
    block = results.sections[1].blocks[0]
    for row, weighted in zip(block.rows, block.population, strict=True):
        assert weighted.found.share == pytest.approx(row.found.share, abs=1e-12)
        assert weighted.found.se == pytest.approx(row.found.se, rel=1e-9)
