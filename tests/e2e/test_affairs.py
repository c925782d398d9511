"""The 6,366 real answers of Fair's survey, through the real client, HTTP, server and estimates."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from deniable_analysis import Reports, estimate, read_reports
from deniable_client import respond, submit
from deniable_protocol import Channel, Survey

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "affairs"
ALPHA = 1e-9


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


demo = load("demo")
PEOPLE = list(demo.population().elements())


def test_population_is_fairs() -> None:
    """The committed counts are those of the survey that statsmodels ships."""
    made = load("make_population")
    assert (EXAMPLE / "population.json").read_text() == made.render(made.count())
    assert len(PEOPLE) == 6366


def truth() -> dict[str, list[int]]:
    questions = json.loads((EXAMPLE / "population.json").read_text())["questions"]
    options = {"affair": 2, "marriage": 5, "religious": 4}
    counts = {name: Counter(person[at] for person in PEOPLE) for at, name in enumerate(questions)}
    return {name: [counts[name][j] for j in range(options[name])] for name in questions}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Let all 6,366 answer over HTTP, and read what the server stored."""
    database = tmp_path_factory.mktemp("affairs") / "affairs.db"
    survey = Survey.load(EXAMPLE / "survey.toml")
    labels = [[str(option) for option in question.options] for question in survey.questions]
    names = [question.name for question in survey.questions]

    def answer(person: tuple[int, ...]) -> bool:
        said = {n: options[i] for n, options, i in zip(names, labels, person, strict=True)}
        return submit(respond(survey, said), f"{origin}/s/affairs").new

    with demo.serve(database, 0) as (_, origin), ThreadPoolExecutor(24) as devices:
        assert all(devices.map(answer, PEOPLE))
    return read_reports(database, "affairs")


def chance_of(count: int, has: int, has_not: int, channel: Channel) -> float:
    """Give the exact two-sided p-value of a count: two binomials, those with the option and not."""
    with_it = stats.binom.pmf(np.arange(has + 1), has, float(channel.p))
    without = stats.binom.pmf(np.arange(has_not + 1), has_not, float(channel.q))
    law = np.convolve(with_it, without)
    return float(min(1, 2 * min(law[: count + 1].sum(), law[count:].sum())))


def counted(reports: Reports, name: str) -> list[int]:
    return [option.count for option in estimate(reports, name, method="wald").options]


@pytest.mark.statistical(alpha=1e-9, detects="doubled epsilon, or a swapped pair of options")
def test_counts_have_the_stated_law(reports: Reports) -> None:
    """What arrived in the database is a draw from the law that the survey states."""
    checks = [
        chance_of(count, has, len(PEOPLE) - has, reports.survey[name].channel)
        for name, held in truth().items()
        for has, count in zip(held, counted(reports, name), strict=True)
    ]
    assert min(checks) > ALPHA / len(checks), checks


def test_a_broken_chain_is_caught(reports: Reports) -> None:
    """The same check fails for a doubled epsilon, and where two options were swapped."""
    found = counted(reports, "marriage")
    channel = reports.survey["marriage"].channel
    swapped = zip(truth()["marriage"], [found[4], *found[1:4], found[0]], strict=True)
    assert min(chance_of(c, has, 6366 - has, channel) for has, c in swapped) < ALPHA / 11
    channel = reports.survey["affair"].channel
    doubled = Channel(2, 1, channel.odds**2)
    has = truth()["affair"][0]
    usual = round(has * doubled.p + (6366 - has) * doubled.q)
    assert chance_of(usual, has, 6366 - has, channel) < ALPHA / 11


@pytest.mark.statistical(alpha=1e-9, detects="an interval that misses the truth by its width")
def test_every_interval_holds_the_truth(reports: Reports) -> None:
    """At a level of 1 − 1e-9 shared among eleven, each published interval holds its true share.

    The respondents are fixed, so the counts vary less than the binomial that intervals allow for.
    """
    level = 1 - ALPHA / 11
    for name, held in truth().items():
        for method in ("feldman-cousins", "clopper-pearson", "likelihood-ratio"):
            found = estimate(reports, name, level=level, method=method)
            for has, option in zip(held, found.options, strict=True):
                assert option.low <= has / len(PEOPLE) <= option.high, (name, option)
