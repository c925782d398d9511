"""Answering: what is accepted, what is refused, and that nothing true is ever repeated."""

from __future__ import annotations

import logging
import traceback
from fractions import Fraction
from typing import Any

import pytest

from deniable_client import respond
from deniable_client.answers import encode
from deniable_client.respond import respond_with
from deniable_protocol import AnswerError, BudgetError, EntropyError, Report, Survey

CANARY = "my-true-answer-8f2c"


@pytest.fixture
def survey() -> Survey:
    return Survey.load(
        {
            "name": "demo",
            "title": "Demo",
            "privacy": {"epsilon": 2},
            "questions": [
                {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"},
                {
                    "name": "age",
                    "kind": "choice",
                    "text": {"en": "Age?", "bn": "বয়স?"},
                    "options": [{"en": "young", "bn": "তরুণ"}, "old"],
                    "optional": True,
                },
            ],
        }
    )


def test_a_label_that_is_another_option_in_another_language() -> None:
    """The language that was read decides: a German who says Gift says poison."""
    options = [{"en": "Gift", "de": "Geschenk"}, {"en": "Poison", "de": "Gift"}]
    what = {"name": "what", "kind": "choice", "text": "What?", "options": options, "odds": "3:1"}
    asked = Survey.load({"name": "a", "title": "A", "questions": [what]})
    found = [encode(asked, {"what": "Gift"}, {}, language) for language in ("en", "de", None)]
    assert found == [{"what": 0}, {"what": 1}, {"what": 0}]
    assert encode(asked, {"what": "Poison"}, {}, "de") == {"what": 1}  # the survey's own, after it


@pytest.mark.parametrize(
    "answers",
    [
        {"smokes": True, "age": "young"},
        {"smokes": "No", "age": None},
        {"smokes": False},
    ],
)
def test_accepted(survey: Survey, answers: dict[str, Any]) -> None:
    """Labels, True and False, and None or nothing for a question that may be skipped."""
    report = respond(survey, answers)
    assert Report.parse(report.to_json(), survey) == report
    assert set(report.answers) == {"smokes", "age"}


def test_language(survey: Survey) -> None:
    """A label in another language of the survey is the same answer."""
    zeros = bytes(64)
    reports = [
        respond_with(
            lambda size: zeros[:size], survey, {"smokes": True, "age": label}, language=tag
        )
        for label, tag in (("young", None), ("তরুণ", "bn"))
    ]
    assert reports[0] == reports[1]


@pytest.mark.parametrize("wrong", [CANARY, 0, 1, 2, 1.0, b"x", [CANARY], {CANARY: 1}, ("Yes",)])
def test_refused(survey: Survey, wrong: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Anything but a stated answer is refused, numbers too: is 1 the first option or the second?"""
    caplog.set_level(logging.DEBUG)
    for answers in ({"smokes": wrong}, {"smokes": True, "age": wrong}):
        with pytest.raises(AnswerError) as caught:
            respond(survey, answers)
        told = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
        assert CANARY not in told.replace(repr(answers), "")
        assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_refused_shapes(survey: Survey) -> None:
    """A missing answer, an unknown question, a bool for a choice, None for a must: all refused."""
    for answers in ({}, {"age": "old"}, {"smokes": None}, {"smokes": True, "age": True}, None):
        with pytest.raises(AnswerError):
            respond(survey, answers)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(AnswerError) as caught:
        respond(survey, {"smokes": True, CANARY: "x"})
    assert CANARY not in str(caught.value)


def test_limit(survey: Survey) -> None:
    """A survey above the limit is refused before the randomness is touched."""
    with pytest.raises(BudgetError, match="limit of 1; nothing was drawn"):
        respond(survey, {"smokes": True}, max_epsilon=1)
    with pytest.raises(BudgetError):
        respond(survey, {"smokes": True}, max_epsilon=float("nan"))


def test_noise_comes_before_the_answer(survey: Survey) -> None:
    """A wrong answer is found only after all noise is drawn, so timing tells nothing of it."""
    sizes = []

    def read(size: int) -> bytes:
        sizes.append(size)
        return bytes(size)

    with pytest.raises(AnswerError):
        respond_with(read, survey, {"smokes": CANARY})
    draws = sum(1 + question.channel.subset for question in survey.questions)
    assert sizes == [8] + [4] * draws


def test_no_randomness(survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without randomness is an error, not a weak report."""

    def fails(size: int) -> bytes:
        raise NotImplementedError

    monkeypatch.setattr("os.urandom", fails)
    with pytest.raises(EntropyError):
        respond(survey, {"smokes": True})


def test_forked_processes_differ(survey: Survey) -> None:
    """Processes forked from one parent draw different reports: no seed is shared."""
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(4) as pool:
        ids = pool.map(_one_id, [survey.to_json()] * 8, chunksize=2)
    assert len(set(ids)) == 8


def _one_id(published: bytes) -> str:
    return respond(Survey.from_json(published), {"smokes": True}).id


@pytest.mark.statistical(alpha=1e-9, detects="truth kept with a chance off by 0.013")
def test_system_randomness_is_wired() -> None:
    """10^5 real reports of one answer keep it as often as stated."""
    from scipy.stats import binomtest

    survey = Survey.load(
        {"name": "coin", "title": "Coin", "questions": [
            {"name": "used", "kind": "yes-no", "text": "Used?", "odds": "3:1"}]}
    )  # fmt: skip
    assert survey["used"].channel.p == Fraction(3, 4)
    n = 100_000
    kept = sum(respond(survey, {"used": True}).answers["used"] == (0,) for _ in range(n))
    assert binomtest(kept, n, 0.75).pvalue > 1e-9, f"{kept} of {n}"
