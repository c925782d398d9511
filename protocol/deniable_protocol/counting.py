"""The one statement that counts a survey's reports, for whatever engine holds them.

Shares and intervals need no more than how many reports hold each option. So a table of any size
can be counted where it is, and only the counts travel.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from .errors import SurveyError
from .question import Item
from .survey import Survey

Dialect = Literal["sqlite", "postgresql", "duckdb", "spark"]
DIALECTS: Final[tuple[str, ...]] = get_args(Dialect)
_MOST_TERMS: Final = 400
"""SQLite takes no more than 500 terms in one union."""
COLUMNS: Final = ("item", "option_index", "reports")
"""The columns of the result: one row for each item and option that some report holds."""


def counting_query(
    survey: Survey, table: str, dialect: Dialect = "sqlite", arm: str | None = None
) -> str:
    """Write the statement that counts, for every item, the reports that hold each option.

    Args:
        survey: The survey; its names are taken into the statement.
        table: What to count from, as the engine calls it: a table such as ``layout`` names, or
            ``read_parquet('reports.parquet')``.
        dialect: The engine.
        arm: Count the reports of one collection arm only.

    Raises:
        SurveyError: If the survey has no such arm.

    >>> survey = Survey.load({"name": "demo", "title": "Demo", "privacy": {"epsilon": 1},
    ...     "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}]})
    >>> print(counting_query(survey, "reports_demo_1"))
    SELECT 'smokes' AS item, "smokes" AS option_index, COUNT(*) AS reports
    FROM reports_demo_1 WHERE "smokes" IS NOT NULL GROUP BY "smokes"
    ORDER BY item, option_index
    """
    if arm is not None and arm not in survey.arms:
        raise SurveyError([f"survey '{survey.name}' has no arm {arm!r}"])
    only = "" if arm is None else f" AND {_quoted('arm', dialect)} = '{arm}'"
    parts = [_one(item, table, dialect, only) for item in survey.items]
    return _union(parts, "\nUNION ALL\n") + "\nORDER BY item, option_index"


def _one(item: Item, table: str, dialect: Dialect, only: str) -> str:
    # Names of items and arms have been matched against patterns: they hold no quotation mark.
    column = _quoted(item.name, dialect)
    if item.channel.subset == 1:
        return (
            f"SELECT '{item.name}' AS item, {column} AS option_index, COUNT(*) AS reports\n"
            f"FROM {table} WHERE {column} IS NOT NULL{only} GROUP BY {column}"
        )
    digits = f"upper(encode({column}, 'hex'))" if dialect == "postgresql" else f"hex({column})"
    pair = f"substr({digits}, 2 * b.place + 1, 2)"
    # Bytes are counted first: there are far fewer different ones than reports with their options.
    return (
        f"SELECT '{item.name}' AS item, o.option_index, CAST(SUM(d.reports) AS BIGINT) AS reports\n"
        f"FROM (\nSELECT b.place, {pair} AS pair, COUNT(*) AS reports\n"
        f"FROM {table} CROSS JOIN (\n{_places(item)}\n) b\n"
        f"WHERE {column} IS NOT NULL{only} GROUP BY b.place, {pair}\n"
        f") d JOIN (\n{_options(item)}\n) o ON o.place = d.place"
        " AND o.digits LIKE '%' || substr(d.pair, o.half, 1) || '%'\n"
        "GROUP BY o.option_index"
    )


def _places(item: Item) -> str:
    """List the bytes of an item's bitmap."""
    others = range(1, (item.channel.options + 7) // 8)
    return "\nUNION ALL ".join(["SELECT 0 AS place", *(f"SELECT {place}" for place in others)])


def _options(item: Item) -> str:
    """List an item's options: where the bit of each is in the bitmap's hexadecimal digits.

    Bit j of byte ⌊j/8⌋ is in the second digit of that byte for its lower half, in the first for its
    upper half; ``digits`` are those in which the bit is one.
    """
    rows = []
    for option in range(item.channel.options):
        place, bit = divmod(option, 8)
        half = 2 if bit < 4 else 1
        digits = "".join(f"{digit:X}" for digit in range(16) if digit >> bit % 4 & 1)
        named = "{} AS option_index, {} AS place, {} AS half, '{}' AS digits"
        first = option % _MOST_TERMS == 0  # a union has the names of its first row
        rows.append("SELECT " + (named if first else "{}, {}, {}, '{}'").format(
            option, place, half, digits))  # fmt: skip
    return _union(rows, "\nUNION ALL ")


def _union(parts: list[str], between: str) -> str:
    """Put statements one after the other, several to a nested one where there are many."""
    if len(parts) <= _MOST_TERMS:
        return between.join(parts)
    groups = [parts[place : place + _MOST_TERMS] for place in range(0, len(parts), _MOST_TERMS)]
    return between.join(
        f"SELECT * FROM (\n{between.join(group)}\n) g{place}"  # noqa: S608  # of our own statements
        for place, group in enumerate(groups)
    )


def _quoted(name: str, dialect: Dialect) -> str:
    return f"`{name}`" if dialect == "spark" else f'"{name}"'
