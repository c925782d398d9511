"""Panels: permanent noise, what it costs, and what averaging can no longer do."""

from __future__ import annotations

import itertools
import math
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable_client import Device, respond
from deniable_client.panel import _keys
from deniable_protocol import BudgetError, Channel, Survey, SurveyError

USED = {"name": "used", "kind": "yes-no", "text": "Used?", "odds": "3:1"}


def panel(*questions: dict[str, Any], arms: int = 12, **change: Any) -> Survey:
    return Survey.load(
        {
            "name": "panel",
            "title": "Panel",
            "arms": [f"wave-{wave}" for wave in range(arms)],
            "privacy": {"waves": "memoize"},
            "questions": list(questions) or [USED],
        }
        | change
    )


def test_same_answer_same_report(tmp_path: Path) -> None:
    """Twelve waves with one answer send one subset, under twelve ids, at the odds of one."""
    device = Device(tmp_path / "d.db", max_epsilon=2.2)
    reports = [device.respond(panel(), {"used": True}, arm=arm) for arm in panel().arms]
    assert len({report.answers["used"] for report in reports}) == 1
    assert len({report.id for report in reports}) == 12
    assert {report.arm for report in reports} == set(panel().arms)
    assert device.spent == 3


def test_fresh_noise_would_be_caught(tmp_path: Path) -> None:
    """The same survey without memory shows in 40 devices how averaging would recover answers."""
    same = fresh = 0
    for place in range(40):
        device = Device(tmp_path / f"{place}.db", max_epsilon=100)
        reports = [
            device.respond(panel(), {"used": True}, arm=arm).answers["used"] for arm in panel().arms
        ]
        same += len(set(reports)) == 1
        plain = [panel(privacy={}, name=f"wave-{wave}") for wave in range(12)]
        again = [device.respond(s, {"used": True}, arm="wave-0").answers["used"] for s in plain]
        fresh += len(set(again)) > 1
    assert same == 40
    assert fresh > 30  # all twelve agree with chance .032; ten of forty do so less than 1e-7


DISH = {"name": "dish", "kind": "choice", "text": "Dish?", "odds": "1000000:1",
        "options": ["a", "b", "c"]}  # fmt: skip


def test_a_changed_answer_costs_once_more(tmp_path: Path) -> None:
    """Only a different report costs, and there is no more to spend once every one was sent."""
    device = Device(tmp_path / "d.db", max_epsilon=42)
    spent = []
    for wave, dish in enumerate("ababcabc"):  # the truth is all but certain to be sent
        device.respond(panel(DISH), {"dish": dish}, arm=f"wave-{wave}")
        spent.append(device.spent)
    assert spent == [10**6] + 3 * [10**12] + 4 * [10**18]


@pytest.mark.parametrize("last", ["a", "b", "c"])
def test_the_limit_does_not_tell_a_change(tmp_path: Path, last: str) -> None:
    """A wave that could pass the limit is refused for an old answer as for a new one."""
    device = Device(tmp_path / "d.db", max_epsilon=28)
    for wave, dish in enumerate("ab"):
        device.respond(panel(DISH), {"dish": dish}, arm=f"wave-{wave}")
    before = (tmp_path / "d.db").read_bytes()
    with pytest.raises(BudgetError, match="limit of 28"):
        device.respond(panel(DISH), {"dish": last}, arm="wave-4")
    assert (tmp_path / "d.db").read_bytes() == before


def test_panels_report_one_option() -> None:
    """A wide question of a panel has no subset, whose odds could not be counted; none is read."""
    options = [f"dish {place}" for place in range(20)]
    wide = {"name": "dish", "kind": "choice", "text": "Dish?", "odds": "2:1", "options": options}
    survey = panel(wide)
    assert survey["dish"].channel.subset == 1
    assert Survey.load({**survey.published}) == survey
    plain = panel(wide, privacy={})
    assert plain["dish"].channel.subset == 7
    with pytest.raises(SurveyError, match="d = 1"):
        Survey.load({**plain.published, "waves": "memoize"})


def test_odds_of_a_history_enumerated() -> None:
    """No history of reports is likelier by more than ``spent``, for histories alike in changes.

    Every table of a three-option item is one tuple of reports; a history of answers picks entries.
    """
    law = Channel(3, 1, Fraction(3)).law
    for first, second in itertools.product(
        itertools.permutations(range(3), 2), itertools.permutations(range(3), 2)
    ):
        for reports in itertools.product(range(3), repeat=2):
            here, there = (
                math.prod(law(a)[r,] for a, r in zip(answers, reports, strict=True))
                for answers in (first, second)
            )
            assert here <= there * 3 ** len(set(reports))


def test_a_changed_question_is_another(tmp_path: Path) -> None:
    """Reworded options or other odds do not reuse the table."""
    device = Device(tmp_path / "d.db", max_epsilon=20)
    device.respond(panel(), {"used": True}, arm="wave-0")
    device.respond(panel(USED | {"odds": "4:1"}), {"used": True}, arm="wave-1")
    assert device.spent == 12
    longer = panel(title="Another title, the same question")
    device.respond(longer, {"used": True}, arm="wave-1")
    assert device.spent == 12


def test_numbers_round_once(tmp_path: Path) -> None:
    """The same number is rounded to the same point in every wave."""
    age = {"name": "age", "kind": "number", "text": "Age?", "min": 0, "max": 100, "points": 3,
           "odds": "1000000:1"}  # fmt: skip
    for place in range(10):
        device = Device(tmp_path / f"{place}.db", max_epsilon=30)
        survey = panel(age)
        sent = {device.respond(survey, {"age": 25}, arm=a).answers["age"] for a in survey.arms}
        assert len(sent) == 1


def test_no_answer_is_kept(tmp_path: Path) -> None:
    """The file holds a report for every option and no mark at the true one."""
    device = Device(tmp_path / "d.db")
    device.respond(panel(), {"used": True}, arm="wave-0")
    with sqlite3.connect(tmp_path / "d.db") as db:
        ((reports, sent),) = db.execute("SELECT reports, sent FROM permanent")
    db.close()
    assert reports in ("[[0], [0]]", "[[0], [1]]", "[[1], [0]]", "[[1], [1]]")
    assert sent in ("[[0]]", "[[1]]")


def test_unknown_arm(tmp_path: Path) -> None:
    """An arm that the survey does not declare is refused before anything is drawn."""
    device = Device(tmp_path / "d.db")
    for arm in (None, "wave-99"):
        with pytest.raises(SurveyError, match="expects one of the arms wave-0"):
            device.respond(panel(), {"used": True}, arm=arm)
    assert device.spent == 1


def test_waves_need_a_device() -> None:
    """Without memory each wave would have fresh noise, against what the survey promises."""
    with pytest.raises(SurveyError, match="waves: use Device"):
        respond(panel(), {"used": True}, arm="wave-0")


def test_another_box_or_another_range_is_another_item(tmp_path: Path) -> None:
    """Boxes in another order do not share noise, and a draw of one range rounds no other."""
    boxes = {"name": "m", "kind": "multiple", "text": "Which?", "options": ["beer", "wine"]}
    turned = boxes | {"options": ["wine", "beer"]}
    number = {"name": "n", "kind": "number", "text": "How many?", "min": 0, "max": 10, "points": 3}
    budget = {"epsilon": 2, "waves": "memoize"}
    before = panel(boxes, number, privacy=budget)
    after = panel(turned, number | {"step": 5}, privacy=budget)
    spoken = panel(
        boxes | {"options": [{"en": "beer", "de": "Bier"}, "wine"]},
        number | {"unit": {"en": "days"}},
        privacy=budget,
    )
    first, second, third = (dict(_keys(each)) for each in (before, after, spoken))
    assert not set(first.values()) & set(second.values())
    shared = set(first.values()) & set(third.values())
    assert len(shared) == 2  # a translation asks the same; a unit does not
    device = Device(tmp_path / "d.db", max_epsilon=20)
    for _ in range(20):
        device.respond(before, {"m": ["beer"], "n": 3}, arm="wave-0")
        device.respond(after, {"m": ["beer"], "n": 10}, arm="wave-0")


def test_histories_that_change_alike_are_told_apart_by_no_more_than_is_spent() -> None:
    """All histories of three waves and all reports, with three options: the bound is attained."""
    channel, reports = Channel(3, 1, Fraction(3)), list(itertools.product(range(3), repeat=3))

    def chance(history: tuple[int, ...], seen: tuple[int, ...]) -> Fraction:
        table = dict(zip(history, seen, strict=True))
        if any(table[x] != y for x, y in zip(history, seen, strict=True)):
            return Fraction(0)
        return math.prod((channel.law(x)[(y,)] for x, y in table.items()), start=Fraction(1))

    def pattern(history: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(history.index(x) for x in history)

    alike, others = list[Fraction](), list[Fraction]()
    for seen, one, two in itertools.product(reports, repeat=3):
        low, high = chance(one, seen), chance(two, seen)
        if low:
            found = high / low / channel.odds ** len(set(seen))
            (alike if pattern(one) == pattern(two) else others).append(found)
    assert max(alike) == 1
    assert max(others) > 1  # that an answer changed shows more
