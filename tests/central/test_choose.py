"""choose(): every path of the tree, code that can be run and proved, and each usual mistake."""

from __future__ import annotations

import math
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

from deniable_analysis import central
from deniable_analysis.central import (
    Choice,
    Neighbours,
    Sensitivity,
    choose,
    clipped_mean,
    clipped_vector_sum,
    count,
    histogram,
    verify,
)
from deniable_analysis.central.cli import choose as verb
from deniable_analysis.central.profiles import GaussianProfile
from deniable_protocol.errors import MechanismError

MEAN = clipped_mean(0, 100, records=1000)
PATHS = [
    ({"output": "number", "trusted": False}, "randomized response"),
    ({"output": "choice", "trusted": False}, "randomized response"),
    ({"output": "vector", "trusted": False, "delta": 1e-9}, "randomized response"),
    ({"output": "choice", "trusted": True}, "permute-and-flip"),
    ({"output": "choice", "trusted": True, "delta": 1e-9}, "permute-and-flip"),
    ({"output": "number", "trusted": True}, "Laplace noise"),
    ({"output": "number", "trusted": True, "delta": 1e-6}, "Laplace noise"),
    ({"output": "number", "trusted": True, "integers": True}, "discrete Laplace noise"),
    ({"output": "number", "trusted": True, "delta": 1e-6, "releases": 100}, "Gaussian noise"),
    ({"output": "vector", "trusted": True, "norm": "l1", "coordinates": 9}, "Laplace noise"),
    ({"output": "vector", "trusted": True, "norm": "l1", "coordinates": 10**6, "delta": 1e-6},
     "Laplace noise"),
    ({"output": "vector", "trusted": True, "norm": "l2", "coordinates": 10**6}, "Laplace noise"),
    ({"output": "vector", "trusted": True, "norm": "l2", "coordinates": 10**6, "delta": 1e-6},
     "Gaussian noise"),
    ({"output": "vector", "trusted": True, "norm": "l2", "coordinates": 100, "delta": 1e-6,
      "integers": True}, "discrete Gaussian noise"),
    ({"output": "vector", "trusted": True, "sensitivity": histogram(9), "delta": 1e-6},
     "Laplace noise"),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "mechanism"), PATHS, ids=lambda v: str(v)[:60])
def test_every_path(request_: dict, mechanism: str) -> None:
    """Each kind of question ends at its mechanism, with reasons."""
    found = choose(**request_)
    assert found.mechanism == mechanism
    assert len(found.reasons) >= 2
    assert found.mechanism in str(found)


def made(found: Choice, sensitivity: Sensitivity) -> object:
    """Run the Python that was recommended."""
    return eval(found.start, {**vars(central), "sensitivity": sensitivity})


@pytest.mark.parametrize(
    ("sensitivity", "more"),
    [
        (count(), {"integers": True}),
        (MEAN, {}),
        (MEAN, {"delta": 1e-5}),
        (histogram(40), {"delta": 1e-5, "integers": True}),
        (clipped_vector_sum(1, 1000, Neighbours.REPLACE_ONE), {"delta": 1e-5}),
    ],
)
def test_the_recommended_code_runs_and_is_proved(sensitivity: Sensitivity, more: dict) -> None:
    """What is printed is Python that makes a mechanism whose promise verify() proves."""
    output = "vector" if sensitivity.coordinates > 1 else "number"
    found = choose(output, trusted=True, sensitivity=sensitivity, **more)
    mechanism = made(found, sensitivity)
    assert verify(mechanism)  # type: ignore[arg-type]
    epsilon = getattr(mechanism, "promise").epsilon  # noqa: B009
    assert epsilon == 1


@pytest.mark.parametrize("releases", [2, 100, 10_000])
def test_many_gaussian_releases_keep_the_shared_total(releases: int) -> None:
    """The mu that is recommended for each of k releases composes to the promised total."""
    found = choose("vector", trusted=True, sensitivity=clipped_vector_sum(1, 1000),
                   epsilon=0.1, delta=1e-9, releases=releases)  # fmt: skip
    mu = float(found.start.split("GaussianDP(")[1].split(")")[0])
    spent = GaussianProfile(mu * math.sqrt(releases)).delta(0.1 * releases)
    assert 0 < float(spent) <= 1e-9 * releases
    more = GaussianProfile(mu * 1.02 * math.sqrt(releases)).delta(0.1 * releases)
    assert float(more) > 1e-9 * releases


@pytest.mark.parametrize("coordinates", [2, 4, 6, 8, 20, 1000])
def test_laplace_or_gaussian_is_the_smaller(coordinates: int) -> None:
    """Where one person's change has length 1, Gaussian wins as soon as √(2k) > σ."""
    found = choose("vector", trusted=True, norm="l2", coordinates=coordinates, delta=1e-5)
    sigma = 3.7306316348  # for epsilon = 1
    assert found.mechanism == (
        "Gaussian noise" if math.sqrt(2 * coordinates) > sigma else "Laplace noise"
    )


NUMBER = {"output": "number", "trusted": True}
MISTAKES = [
    ({"delta": 1e-3, "records": 1000}, "delta", "publishing one person's record"),
    ({"delta": 1e-5, "records": 1000, "releases": 100}, "delta", "in 100 releases"),
    ({"delta": 1e-3}, "delta-unchecked", "1/n"),
    ({"clipped": False}, "unclipped", "Clip every record"),
    ({"releases": 100}, "many-releases", "add up to 100"),
    ({"releases": 2}, "unaccounted", "ledger"),
    ({"epsilon": 1.5, "delta": 0.2, "records": 2}, "classic-gaussian", "analytic"),
]


@pytest.mark.parametrize(("more", "mistake", "words"), MISTAKES)
def test_every_usual_mistake_is_pointed_out(more: dict, mistake: str, words: str) -> None:
    """Each mistake has its warning, in words that say what to do."""
    found = choose(**NUMBER, **more)
    if mistake == "classic-gaussian":
        found = choose("vector", trusted=True, norm="l2", coordinates=99, epsilon=1.5, delta=1e-9,
                       records=10)  # fmt: skip
    said = {warned.mistake: warned.text for warned in found.warnings}
    assert words in said[mistake]
    assert words in " ".join(str(found).split())


def test_no_warning_without_a_mistake() -> None:
    """A clean request has none, and each correction silences its warning."""
    assert choose(**NUMBER).warnings == ()
    assert choose(**NUMBER, delta=1e-8, records=1000).warnings == ()
    assert choose(**NUMBER, releases=3, accounted=True).warnings == ()
    assert choose(**NUMBER, epsilon=0.01, releases=100, accounted=True).warnings == ()
    assert choose("vector", trusted=True, norm="l2", coordinates=99, epsilon=0.9, delta=1e-9,
                  records=10).warnings == ()  # fmt: skip
    # On devices nothing has to be clipped: a question has its own range.
    assert choose("number", trusted=False, clipped=False, delta=0.5, records=3).warnings == ()


def test_total_of_many_releases_is_the_optimal_composition() -> None:
    """ε = 1 at k = 100 is said to be 83.5 at best (Kairouz, Oh & Viswanath), not just 100."""
    (warned, _) = choose(**NUMBER, releases=100).warnings
    assert "83.53" in warned.text
    # With kε = 10 but 4.8 in truth there is no such warning.
    found = choose(**NUMBER, epsilon=0.1, releases=100, delta=1e-6, accounted=True, records=10)
    assert found.warnings == ()


BAD = [math.nan, math.inf, -math.inf, -1, True, "1", None]


@pytest.mark.parametrize("bad", [*BAD, 0], ids=repr)
def test_impossible_requests(bad: object) -> None:
    """NaN, inf, zero, negative, not a number: an error that names the argument."""
    with pytest.raises(MechanismError, match="epsilon"):
        choose(**NUMBER, epsilon=bad)
    with pytest.raises(MechanismError, match="releases"):
        choose(**NUMBER, releases=bad)
    if bad is not None:
        with pytest.raises(MechanismError, match="records"):
            choose(**NUMBER, records=bad)
    if bad != 0:
        with pytest.raises(MechanismError, match="delta"):
            choose(**NUMBER, delta=bad)


def test_requests_that_lack_something() -> None:
    """A vector needs a bound; names are checked."""
    with pytest.raises(MechanismError, match="norm"):
        choose("vector", trusted=True)
    with pytest.raises(MechanismError, match="coordinates"):
        choose("vector", trusted=True, norm="l2", coordinates=0)
    with pytest.raises(MechanismError, match="output"):
        choose("picture", trusted=True)  # type: ignore[arg-type]
    with pytest.raises(MechanismError, match="l1 or l2"):
        choose("vector", trusted=True, norm="l3", coordinates=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1e-300, 1e300])
def test_huge_and_tiny(epsilon: float) -> None:
    """At the ends of the float range there is an answer."""
    assert choose(**NUMBER, epsilon=epsilon, releases=1000, accounted=True).mechanism
    assert choose(**NUMBER, releases=10**12, delta=1e-300, records=1).warnings


def test_the_verb_without_a_terminal() -> None:
    """All options given: the answer. One missing: an error that names it, and no question."""
    runner = CliRunner()
    full = ["--trusted", "--output", "vector", "--norm", "l2", "--coordinates", "9"]
    found = runner.invoke(verb, full)
    assert found.exit_code == 0
    assert found.output.startswith("Use Laplace noise:\n    Laplace.calibrate(PureDP(1), ")
    for missing, named in ((["--trusted"], "--trusted"), (full[1:3], "--output"),
                           (full[3:5], "--norm"), (full[5:], "--coordinates")):  # fmt: skip
        rest = [word for word in full if word not in missing]
        found = runner.invoke(verb, rest)
        assert found.exit_code == 2
        assert named in found.output
    assert runner.invoke(verb, [*full, "--delta", "nan"]).exit_code == 1


def test_the_verb_asks_in_a_terminal() -> None:
    """In a real terminal what is missing is asked for."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "deniable_protocol", "choose", "--delta", "1e-6"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, text=True) as process:
        os.write(ours, b"y\nvector\n1000000\nl2\n1000\n")
        said, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 0
    assert "Gaussian noise:" in said
    for question in ("trusted curator", "released", "How many numbers", "bounded", "people"):
        assert question in said
