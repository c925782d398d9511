"""A comparison in words: a table of plain text, and what follows from it."""

from __future__ import annotations

import math
from textwrap import fill

from deniable_analysis.estimate import format_level

from .compare_aims import SHARES
from .compare_rows import NAMES, Comparison, Row


def text(comparison: Comparison) -> str:
    """Write one question's comparison: what is compared, the table, what follows.

    >>> from deniable_analysis.central.compare import compare
    >>> print(text(compare(respondents=1000, epsilon=1.1)).splitlines()[0])
    one question: the most popular option, 52.5 %; 2 options, 1,000 respondents, epsilon 1.1
    """
    said = [fill(sentence, 82) for sentence in sentences(comparison)]
    return "\n".join([head(comparison), "", table(comparison), "", *said])


def head(comparison: Comparison) -> str:
    """Say what is compared."""
    options = f"{comparison.options:,} options, " if comparison.measure is SHARES else ""
    return (
        f"{comparison.question}: {comparison.option}, "
        f"{comparison.measure.value(comparison.value)}; "
        f"{options}{comparison.respondents:,} respondents, "
        f"epsilon {comparison.epsilon:.2g}"
    )


def table(comparison: Comparison) -> str:
    """Write the rows as a table."""
    measure = comparison.measure
    rows = [
        ("who adds noise", "epsilon", "error", "noise",
         f"{format_level(comparison.level)} interval", "to match")
    ]  # fmt: skip
    for row in comparison.rows:
        rows.append((
            NAMES[row.way] + (" *" if row.measured else ""), _epsilon(row),
            measure.number(row.standard_error), measure.number(row.noise),
            half_width(comparison, row), _needed(row),
        ))  # fmt: skip
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def legend(comparison: Comparison) -> str:
    """Say what the columns mean; the same for every question that was compared together."""
    measured = any(row.measured for row in comparison.rows)
    words = (
        "Error and noise are standard deviations, in percentage points or the question's unit; "
        "the error includes the draw of the respondents. To match: respondents with whom this way "
        f"is as close as the trusted curator is. Delta is {comparison.delta:.1g} for mixed reports "
        "and Gaussian noise."
    )
    star = "\n* from the reports; the rest is expected, for the same value." if measured else ""
    return fill(words, 82) + star


def sentences(comparison: Comparison) -> list[str]:
    """Say what the table means: the price in respondents, and who finds the leader."""
    n = comparison.respondents
    found = [
        f"To be as close as a trusted curator is with {n:,} respondents, noise on their own "
        f"devices takes {_price(comparison['local'], n)}, and with the reports mixed "
        f"{_price(comparison['mixed'], n)}."
    ]
    central, mixed, local = (comparison[way].finds_leader for way in ("laplace", "mixed", "local"))
    if central is not None and mixed is not None and local is not None:
        found.append(
            "The most common answer comes out first with a trusted curator, by the exponential "
            f"mechanism, {_percent(central)} of the time, on own devices {_percent(local)}, mixed "
            f"{_percent(mixed)}."
        )
    return found


def _price(row: Row, n: int) -> str:
    if row.needed is None:
        return "more than a billion"
    return f"{row.needed:,} ({row.needed / n:.1f} times as many)"


def _epsilon(row: Row) -> str:
    if row.epsilon == math.inf:
        return "none"
    if row.way == "mixed":
        return f"{row.device_epsilon:.2g} -> {row.epsilon:.2g}"
    return f"{row.epsilon:.2g}"


def half_width(comparison: Comparison, row: Row) -> str:
    """Write half an interval's length, with its unit."""
    return f"± {comparison.measure.spread(row.half_width)}"


def _needed(row: Row) -> str:
    return "over a billion" if row.needed is None else f"{row.needed:,}"


def _percent(chance: float) -> str:
    if chance > 0.999:
        return "over 99.9 %"
    return f"{100 * chance:.1f} %"
