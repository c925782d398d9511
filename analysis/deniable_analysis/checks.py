"""What was checked about the reports themselves, in sentences that anyone can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .diagnostics import ALARM, compare_batches, forgery, impossible_reports
from .results import Results

FORGED: Final = 0.01
"""The part of forged reports that the page gives an example for."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes:
        about: The question, or what else it is about.
        sentence: What was found.
        alarming: Whether it is more than chance makes.
    """

    about: str
    sentence: str
    alarming: bool


def checks_of(results: Results) -> tuple[Check, ...]:
    """Check reports against what their noise can make, arms against each other, and forgery.

    Alarms come first. What is as it should be is said in one sentence for all questions.
    """
    reports = results.reports
    if not reports.n:
        return ()
    found = [
        (tally.item.name, impossible_reports(tally))
        for tally in reports.tallies.values()
        if tally.n
    ]
    wrong = [
        Check(name, one.sentence(), alarming=True) for name, one in found if one.p_value <= ALARM
    ]
    checks = [*wrong, *_arms(results)]
    if not wrong:
        checks.append(
            Check("Possible reports", "Every question’s reports are such as its noise can make.",
                  alarming=False)
        )  # fmt: skip
    widest = min(reports.tallies.values(), key=lambda tally: abs(tally.design.slope))
    example = forgery(widest.design, FORGED, share=0.5)
    checks.append(Check("Forged reports", f"{example.sentence()} That is for the question with the "
                        f"most noise, “{widest.item.name}”.", alarming=False))  # fmt: skip
    return tuple(sorted(checks, key=lambda check: not check.alarming))


def _arms(results: Results) -> list[Check]:
    reports = results.reports
    if reports.arms is None or results.differences:  # the report compares arms by itself
        return []
    parts = [part for part in reports.by_arm().values() if part.n]
    checks = []
    for name in reports.tallies if len(parts) > 1 else ():
        batches = {str(place): part[name] for place, part in enumerate(parts) if part[name].n}
        if len(batches) < 2:
            continue
        compared = compare_batches(batches)
        # One test for each item: Bonferroni's inequality over them.
        if compared.p_value * len(reports.tallies) <= ALARM:
            # Groups may well differ: that is for the reader to judge, and no alarm.
            checks.append(Check(f"Arms: {name}", compared.sentence(), alarming=False))
    if not checks and len(parts) > 1:
        text = "No question’s reports differ between arms by more than chance makes them."
        checks.append(Check("Arms", text, alarming=False))
    return checks
