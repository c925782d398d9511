"""Results as plain text, for the terminal."""

from __future__ import annotations

from . import wording
from .checks import checks_of
from .estimate import AMONG, table
from .relations import Relation
from .results import Block, Results


def summary(results: Results) -> str:
    """Write all results as plain text."""
    reports = results.reports
    survey = reports.survey
    head = [
        str(survey.title),
        f"{reports.n:,} reports, ε = {survey.epsilon:.2f} for each person, {survey.digest}",
        *([reports.note] if reports.note else []),
    ]
    parts = ["\n".join(head)]
    for section in results.sections:
        for place, block in enumerate(section.blocks):
            text = [str(section.question.text)] if place == 0 else []
            parts.append("\n".join([*text, *_block(block, results)]))
    parts += [_relation(relation, results) for relation in results.relations]
    for difference in results.differences:
        parts.append("\n".join([f"Arms: {difference.title}", *difference.sentences()]))
    checks = [f"{check.about}: {check.sentence}" for check in checks_of(results)]
    return "\n\n".join([*parts, "\n".join(checks)] if checks else parts)


def _relation(relation: Relation, results: Results) -> str:
    first, second = relation.titles
    parts = {
        f"of those with “{state}”:": [(found.label, found) for found in shares]
        for state, shares in relation.conditional
    }
    cells = [(found.label, found) for found in relation.cells]
    lines = [f"{first} / {second}", relation.sentence()]
    return "\n".join([*lines, table(cells, parts, results.level, results.limit)])


def _block(block: Block, results: Results) -> list[str]:
    lines = [f"[{block.group}]"] if block.group else []
    if block.number is not None:
        lines.append(wording.average(block.number))
        if not block.coarse:
            lines.append(wording.middle(block.number))
    rows, among, population = (
        [(row.label, row.found) for row in part]
        for part in (block.rows, block.among, block.population)
    )
    parts = {AMONG: among, "weighted to the population:": population}
    once = ", all at once" if results.simultaneous else ""
    return [
        *lines,
        table(rows, parts, results.level, results.limit),
        f"({block.n:,} reports, {block.method}{once})",
        *([wording.weighting(block)] if block.weighted else []),
    ]
