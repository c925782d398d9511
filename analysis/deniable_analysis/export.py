"""Results for other programs: JSON and CSV. And the noisy reports themselves as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from deniable_protocol import Report, Survey

from .estimate import AmongEstimate, Estimate, OptionEstimate
from .relations import Differences, Relation
from .results import Block, Results
from .weights_estimate import WeightedShare

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
_COLUMNS: Final = ("count", "share", "se", "mle", "low", "high", "at_boundary", "outside")

_Shares = OptionEstimate | AmongEstimate | WeightedShare


def to_json(results: Results) -> str:
    """Write results as JSON, with everything needed to know what they are results of.

    Shares are numbers such as 0.1 for 10 %; what is not known is null.
    """
    survey = results.reports.survey
    found = {
        "survey": {"name": survey.name, "digest": survey.digest, "odds": str(survey.odds)},
        "n": results.reports.n,
        "note": results.reports.note,
        "questions": [
            _question(estimate, block) for block in results.blocks for estimate in block.estimates
        ],
        "crosstabs": [_relation(relation) for relation in results.relations],
        "arms_compared": [_differences(found) for found in results.differences],
    }
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_csv(results: Results) -> str:
    """Write shares as CSV, one line for each option; what is not known is empty.

    A text that a spreadsheet would run as a formula gets an apostrophe in front. Numbers are
    written in full, as they are.
    """
    rows: list[Iterable[object]] = [
        ("question", "option", "arm", "among", "n", *_COLUMNS, "level", "simultaneous", "method")
    ]
    for block in results.blocks:
        for found in block.estimates:
            for among, option in _listed(found, block):
                texts = (found.item.name, option.label, block.group or "", among)
                numbers = [_known(getattr(option, column, None)) for column in _COLUMNS]
                cells = ["" if number is None else number for number in numbers]
                how = (found.level, found.simultaneous, found.method)
                rows.append((*map(guarded, texts), found.n, *cells, *how))
    for relation in results.relations:
        for cell in relation.cells:
            texts = (" and ".join(relation.table.names), cell.label, "", "everybody")
            numbers = [_known(getattr(cell, column, None)) for column in _COLUMNS]
            cells = ["" if number is None else number for number in numbers]
            n = relation.table.n
            rows.append((*map(guarded, texts), n, *cells, relation.table.level, False, "crosstab"))
    return _csv(rows)


def _listed(found: Estimate, block: Block) -> Iterator[tuple[str, _Shares]]:
    """Give every share of an item with what it is a share of."""
    yield from (("everybody", option) for option in found.options)
    yield from (("those who answered", option) for option in found.among)
    if block.weighted:
        weighted = block.weighted[block.estimates.index(found)]
        yield from (("the population", option) for option in weighted.options)


def reports_to_csv(survey: Survey, reports: Iterable[Report]) -> str:
    """Write noisy reports as CSV, which ``read_reports`` reads back.

    One line for each report: its id, its arm where the survey has arms, and for each item the drawn
    option indices, separated by spaces; empty where the item was not sent.
    """
    names = [item.name for item in survey.items]
    arm = ("arm",) if survey.arms else ()
    rows: list[Iterable[object]] = [("id", *arm, *names)]
    for report in reports:
        sent = (" ".join(map(str, report.answers.get(name, ()))) for name in names)
        rows.append((report.id, *((report.arm,) if arm else ()), *sent))
    return _csv(rows)


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> guarded("=1+1"), guarded("Yes")
    ("'=1+1", 'Yes')
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _question(found: Estimate, block: Block) -> dict[str, Any]:
    channel = found.item.channel
    described: dict[str, Any] = {
        "name": found.item.name,
        "text": str(found.question.text),
        "channel": {"k": channel.options, "d": channel.subset, "a": channel.a, "b": channel.b},
        "n": found.n,
        "level": found.level,
        "simultaneous": found.simultaneous,
        "method": found.method,
        "kkt": _known(found.kkt),
        "options": [_plain(option) for option in found.options],
    }
    if found.box is not None:
        described["box"] = found.box
    if block.group is not None:
        described["arm"] = block.group
    if found.among:
        described["among"] = [_plain(option) for option in found.among]
    if block.weighted:
        described["weighted"] = _plain(block.weighted[block.estimates.index(found)])
    if block.number is not None:
        described["number"] = _plain(block.number, leave=("question", "n", "level"))
    return described


def _relation(relation: Relation) -> dict[str, Any]:
    table = relation.table
    return {
        "names": list(table.names),
        "n": table.n,
        "level": table.level,
        "cells": [_plain(cell) for cell in relation.cells],
        "conditional": {first: _plain(found) for first, found in relation.conditional},
        "independence": _plain(table.independence),
    }


def _differences(differences: Differences) -> dict[str, Any]:
    found = differences.found
    return {
        "about": differences.title,
        "statistic": _known(found.statistic),
        "df": found.df,
        "pvalue": _known(found.pvalue),
        "correction": found.correction,
        "differences": _plain(found.differences),
    }


def _plain(found: Any, leave: tuple[str, ...] = ()) -> Any:
    """Turn results into what JSON holds: NaN becomes null."""
    if isinstance(found, tuple):
        return [_plain(part) for part in found]
    if is_dataclass(found):
        names = [field.name for field in fields(found) if field.name not in leave]
        return {name: _plain(getattr(found, name)) for name in names}
    return _known(found)


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _csv(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
