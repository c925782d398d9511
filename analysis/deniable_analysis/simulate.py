"""Simulated reports, for planning and for teaching. They protect nobody.

The draws come from numpy's generator, which starts from a seed that can be guessed: whoever knows
it can take the noise off again. What respondents send is drawn by the client, from the operating
system's randomness, and never here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable_protocol import Channel, EstimateError, Item, Question, Survey
from deniable_protocol.question import Grid

from .bits import Bits, pack
from .reports import Reports
from .tally import Tally, pack_indices

Integers = NDArray[np.int64]

_CHUNK: Final = 65_536
_NOTE: Final = "These reports were simulated: no person sent them, and their noise protects nobody."


def simulate(survey: Survey, answers: Mapping[str, ArrayLike], *, seed: int) -> Reports:
    """Draw what devices would send if these were the true answers. Not private.

    For planning a survey, for lectures, and for checking an analysis before real reports exist. A
    hundred thousand respondents take well under a second.

    Privacy:
        None. The noise comes from a seeded generator. Never use this for answers of real people:
        ``deniable_client.respond`` is for those.

    Args:
        survey: The survey; its questions say what a true answer is.
        answers: For each item (a question, or ``question.1`` … for the boxes of a ``multiple``) one
            true answer for each respondent, as the option's index. For a ``number``, the number
            itself, rounded to points as a device does it; NaN for "no answer". Every item of the
            survey must be there. Where a question is shown to some only, what is given for others
            is replaced by "not asked", as on a device.
        seed: Where the generator starts.

    Returns:
        Reports, with a note that they were simulated. Where the survey lets devices draw which
        questions to send, that is simulated too.

    Raises:
        EstimateError: If an item is missing, or an answer is not one that it allows.

    >>> survey = Survey.load({"name": "demo", "title": "Demo", "privacy": {"epsilon": 1},
    ...     "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}]})
    >>> simulate(survey, {"smokes": [0] * 300 + [1] * 700}, seed=1)
    <Reports of 'demo': 1,000 respondents>
    """
    rng = np.random.default_rng(seed)
    missing = sorted({item.name for item in survey.items} - set(answers))
    unknown = sorted(set(answers) - {item.name for item in survey.items})
    if missing or unknown:
        wrong = f"{', '.join(missing)} missing" if missing else f"{', '.join(unknown)} unknown"
        raise EstimateError(f"expected true answers to every item of the survey; {wrong}")
    given = {name: np.asarray(found) for name, found in answers.items()}
    if len({len(found) for found in given.values()}) != 1:
        raise EstimateError("every item needs a true answer of each respondent, in the same order")
    n = len(next(iter(given.values())))
    sent = _sent(survey, n, rng)
    tallies: dict[str, Tally] = {}
    true: dict[str, Integers] = {}
    for question in survey.questions:
        shown = _shown(survey, question, true)
        for item in question.items:
            found = _indices(question, item, given[item.name], rng)
            if shown is not None:
                found = np.where(shown, found, item.channel.options - 1)
            bits = draw_bits(item.channel, found, rng)
            bits[~sent[item.name]] = 0
            true[item.name] = found
            tallies[item.name] = Tally.of_bits(question, bits, item)
    return Reports(survey, MappingProxyType(tallies), _arms(survey, n, rng), _NOTE)


def draw_bits(channel: Channel, answers: Integers, rng: np.random.Generator) -> Bits:
    """Draw a report for each true answer, as packed bits. Not private: see ``simulate``.

    Args:
        channel: The channel.
        answers: Indices of the true options.
        rng: Where the draws come from.
    """
    k, d = channel.options, channel.subset
    kept = rng.random(len(answers)) < float(channel.p)
    if d == 1:
        other = (answers + rng.integers(1, k, len(answers))) % k
        return pack_indices(channel, np.where(kept, answers, other)[:, None])
    parts = []
    for start in range(0, len(answers), _CHUNK):
        rows = slice(start, start + _CHUNK)
        true, here = answers[rows], kept[rows]
        keys = rng.random((len(true), k))
        # The true option comes first or last, so it is in the subset or not as was drawn.
        keys[np.arange(len(true)), true] = np.where(here, -1.0, 2.0)
        chosen = np.argpartition(keys, d - 1, axis=1)[:, :d]
        held = np.zeros((len(true), k), dtype=np.bool_)
        np.put_along_axis(held, chosen, True, axis=1)
        parts.append(pack(held))
    return np.concatenate(parts) if parts else np.zeros((0, (k + 7) // 8), dtype=np.uint8)


def _indices(
    question: Question, item: Item, answers: NDArray[np.generic], rng: np.random.Generator
) -> Integers:
    if question.grid is not None:
        return _rounded(question, question.grid, answers.astype(np.float64), rng)
    options = item.channel.options
    if answers.dtype.kind not in "iu" or (answers.size and not _within(answers, options)):
        raise EstimateError(
            f"true answers to {item.name!r} must be option indices from 0 to {options - 1}"
        )
    return answers.astype(np.int64)


def _shown(
    survey: Survey, question: Question, true: Mapping[str, Integers]
) -> NDArray[np.bool_] | None:
    """Say to whom a question is shown; None for everybody."""
    condition = question.show_if
    if condition is None:
        return None
    asked = survey[condition.question]
    if asked.kind != "multiple":
        return np.isin(true[asked.name], condition.options)
    ticked = [true[asked.items[box].name] == 0 for box in condition.options]
    return np.asarray(np.any(ticked, axis=0), dtype=np.bool_)


def _within(answers: NDArray[np.generic], options: int) -> bool:
    found = answers.astype(np.int64)
    return bool(found.min() >= 0 and found.max() < options)


def _rounded(
    question: Question, grid: Grid, answers: NDArray[np.float64], rng: np.random.Generator
) -> Integers:
    """Round each number to a point without bias; NaN is "no answer"."""
    skipped = np.isnan(answers)
    if skipped.any() and not question.optional:
        raise EstimateError(f"question {question.name!r} may not be skipped, so NaN is no answer")
    steps = np.where(skipped, 0.0, (answers - float(grid.low)) / float(grid.step))
    if steps.size and (steps.min() < 0 or steps.max() > grid.steps):
        raise EstimateError(
            f"true answers to {question.name!r} must be from {grid.low} to {grid.high}"
        )
    whole = np.rint(steps).astype(np.int64)
    if np.abs(whole - steps).max(initial=0) > 1e-6:
        raise EstimateError(f"true answers to {question.name!r} must be in steps of {grid.step}")
    drawn = rng.integers(0, grid.steps, len(whole))
    index = (whole * (question.points - 1) + drawn) // grid.steps
    return np.where(skipped, question.points, index).astype(np.int64)


def _sent(survey: Survey, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.bool_]]:
    """Draw which items each device sends."""
    found = {}
    questions = _chosen(len(survey.questions), survey.ask, n, rng)
    for place, question in enumerate(survey.questions):
        boxes = _chosen(len(question.items), question.ask, n, rng)
        for box, item in enumerate(question.items):
            found[item.name] = questions[:, place] & boxes[:, box]
    return found


def _chosen(size: int, ask: int | None, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    if ask is None:
        return np.ones((n, size), dtype=np.bool_)
    return np.asarray(rng.random((n, size)).argsort(axis=1).argsort(axis=1) < ask, dtype=np.bool_)


def _arms(survey: Survey, n: int, rng: np.random.Generator) -> Integers | None:
    return rng.integers(0, len(survey.arms), n) if survey.arms else None
