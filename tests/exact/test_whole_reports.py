"""The law of whole reports, enumerated: rounding, sampling, hidden questions, and total odds."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest

from deniable_client import randomizer
from deniable_client.answers import Answer
from deniable_client.respond import respond_with
from deniable_protocol import Channel, Survey
from deniable_protocol.budget import best_points
from deniable_protocol.channel import odds_at_most
from deniable_protocol.question import Grid
from tests.support import Draw, law

YES_NO = {"name": "used", "kind": "yes-no", "text": "Used?", "odds": "2:1"}
BOXES = {"name": "kinds", "kind": "multiple", "text": "Which?", "options": ["a", "b", "c"]}


def survey(*questions: dict[str, Any], **privacy: object) -> Survey:
    source = {"name": "x", "title": "X", "questions": list(questions)}
    return Survey.load(source | ({"privacy": privacy} if privacy else {}))


def report_law(found: Survey, answers: Mapping[str, Answer]) -> dict[Any, Fraction]:
    """Enumerate every draw of one report; the id is left out."""

    def run(draw: Draw) -> object:
        with patch.object(randomizer, "below", lambda bound, read: draw(bound)):
            report = respond_with(bytes, found, answers)
        return tuple(sorted(report.answers.items()))

    return law(run)


def worst_ratio(laws: list[dict[Any, Fraction]]) -> Fraction:
    """Find the largest ratio of a report's probabilities between any two sets of answers."""
    reports = set().union(*laws)
    assert all(set(found) == reports for found in laws), "a report that only some answers can give"
    return max(one[r] / other[r] for one, other in product(laws, repeat=2) for r in reports)


def test_hidden_questions_are_covered() -> None:
    """With ``show_if``, the law of the whole report attains exactly the stated total odds."""
    found = survey(
        YES_NO,
        {"name": "often", "kind": "yes-no", "text": "Often?", "odds": "3:2",
         "show_if": {"question": "used", "is": "Yes"}},
        {"name": "sorry", "kind": "yes-no", "text": "Sorry?", "odds": "3:2", "optional": True},
    )  # fmt: skip
    assert [q.channel.options for q in found.questions] == [2, 3, 3]
    laws = [
        report_law(found, {"used": used, "often": often, "sorry": sorry})
        for used, often, sorry in product((True, False), (True, False), (True, False, None))
    ]
    assert found.odds == Fraction(2) * Fraction(3, 2) ** 2
    assert worst_ratio(laws) == found.odds
    shapes = {tuple(name for name, _ in report) for one in laws for report in one}
    assert shapes == {("often", "sorry", "used")}, "the shape of a report says nothing"


def test_a_skipped_hidden_question_would_be_caught() -> None:
    """A report that leaves a hidden question out fails the same check."""
    found = survey(YES_NO, YES_NO | {"name": "often"})
    full = report_law(found, {"used": True, "often": True})
    broken = report_law(found, {"used": False, "often": True})
    short = {tuple(pair for pair in report if pair[0] != "often"): Fraction(1) for report in broken}
    with pytest.raises(AssertionError, match="only some answers"):
        worst_ratio([full, short])


def test_boxes_share_the_budget() -> None:
    """Three tick boxes: the odds of a whole report are those of the question."""
    found = survey(BOXES | {"epsilon": 1.5})
    assert [item.name for item in found.items] == ["kinds.1", "kinds.2", "kinds.3"]
    assert found.epsilon <= 1.5
    small = _with_odds(found, Fraction(2))  # small odds keep the enumeration short
    ticked = [[label for label, on in zip("abc", marks, strict=True) if on]
              for marks in product((True, False), repeat=3)]  # fmt: skip
    laws = [report_law(small, {"kinds": labels}) for labels in ticked]
    assert worst_ratio(laws) == small.odds == 8


def test_sampled_boxes() -> None:
    """With ``ask = 1`` one box is sent, each equally often, and one box's odds are the total."""
    found = _with_odds(survey(BOXES | {"epsilon": 1, "ask": 1}), Fraction(3))
    laws = [report_law(found, {"kinds": labels}) for labels in ([], ["a"], ["a", "b", "c"])]
    assert worst_ratio(laws) == found.odds == 3
    for one in laws:
        for box in ("kinds.1", "kinds.2", "kinds.3"):
            sent = sum(chance for report, chance in one.items() if report[0][0] == box)
            assert sent == Fraction(1, 3)


def test_sampled_questions() -> None:
    """With ``allocation = "sample"`` each pair of three questions is equally likely."""
    plain = {"name": "a", "kind": "yes-no", "text": "?"}
    found = survey(plain, plain | {"name": "b"}, plain | {"name": "c"}, epsilon=2,
                   allocation="sample", ask=2)  # fmt: skip
    assert found.epsilon <= 2
    assert found["a"].channel.odds == odds_at_most(1)
    small = _with_odds(found, Fraction(2))
    laws = [report_law(small, dict(zip("abc", marks, strict=True)))
            for marks in product((True, False), repeat=3)]  # fmt: skip
    assert worst_ratio(laws) == small.odds == 4
    for one in laws:
        for pair in (("a", "b"), ("a", "c"), ("b", "c")):
            sent = sum(c for report, c in one.items() if tuple(n for n, _ in report) == pair)
            assert sent == Fraction(1, 3)


@pytest.mark.parametrize("points", [2, 3, 4])
def test_rounding_is_unbiased(points: int) -> None:
    """The de-biased mean of a number is exactly the number, for every allowed one."""
    found = survey({"name": "age", "kind": "number", "text": "Age?", "min": 10, "max": 16,
                    "step": 1.5, "points": points, "odds": "2:1"})  # fmt: skip
    question = found["age"]
    grid, channel = question.grid, question.channel
    assert grid is not None
    laws = []
    for step in range(grid.steps + 1):
        number = grid.low + step * grid.step
        laws.append(report_law(found, {"age": float(number)}))
        mean = Fraction(0)
        for ((_, (reported,)),), chance in laws[-1].items():
            z = [(int(j == reported) - channel.q) / (channel.p - channel.q) for j in range(points)]
            mean += chance * sum(a * v for a, v in zip(z, grid.points(points), strict=True))
        assert mean == number
    assert worst_ratio(laws) == channel.odds


@pytest.mark.parametrize(
    ("epsilon", "points", "variance"),
    [(0.5, 2, "16.67"), (1, 2, "4.683"), (2, 3, "1.000"), (3, 4, "0.388"), (4, 5, "0.177"),
     (6, 9, "0.043"), (8, 17, "0.011")],
)  # fmt: skip
def test_best_points(epsilon: float, points: int, variance: str) -> None:
    """The chosen grids and their worst-case variances are those of the measured comparison."""
    from deniable_protocol.budget import _worst_variance

    channel = best_points(odds_at_most(epsilon), 1000, 0)
    assert channel.options == points
    digits = len(variance.partition(".")[2])
    assert abs(float(_worst_variance(channel, points)) - float(variance)) <= 0.6 * 10**-digits


def test_worst_variance_is_the_worst() -> None:
    """The closed form is the greatest exact variance over a fine grid of answers."""
    from deniable_protocol.budget import _worst_variance

    for points, extras in ((2, 0), (3, 0), (3, 1), (5, 2)):
        channel = Channel(points + extras, 1, Fraction(6))
        grid = Grid(Fraction(-1), Fraction(1), Fraction(1, 120), None)
        values = [*grid.points(points), *[Fraction(0)] * extras]
        gap, found = channel.p - channel.q, []
        for i in range(grid.steps + 1):
            x = grid.low + i * grid.step
            low = math.floor((x + 1) * (points - 1) / 2)
            up = (x + 1) * (points - 1) / 2 - low
            chances = {low: 1 - up, low + 1: up}
            square = sum(
                chance * (channel.p if j == point else channel.q) * values[j] ** 2
                for point, chance in chances.items()
                if chance
                for j in range(points)
            )
            found.append(square / gap**2 - x * x)
        worst = _worst_variance(channel, points)
        assert max(found) <= worst <= max(found) + Fraction(1, 1000)


def _with_odds(found: Survey, odds: Fraction) -> Survey:
    """Give the same survey with small odds, so that enumerating it stays short."""
    published = copy.deepcopy(found.published)
    for question in published["questions"]:
        question["channel"] |= {"a": odds.numerator, "b": odds.denominator}
    sent = found.ask or len(found.questions[0].items if found.questions[0].ask is None else [0])
    total = odds**sent
    return Survey.from_published(
        published | {"odds": [str(total.numerator), str(total.denominator)]}
    )
