"""The little that is understood of XLSForm's expressions: ranges of numbers, simple conditions."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

_NUMBER: Final = r"-?\d{1,10}(?:\.\d{1,6})?"
_BOUND: Final = re.compile(rf"\.\s*(<=|>=|<|>)\s*({_NUMBER})")
_PARAMETER: Final = re.compile(rf"(start|end|step)\s*=\s*({_NUMBER})")
_NAME: Final = r"\$\{\s*([A-Za-z_][\w.-]*)\s*\}"
_VALUE: Final = r"(?:'([^']*)'|\"([^\"]*)\")"
_EQUALS: Final = re.compile(rf"{_NAME}\s*=\s*{_VALUE}")
_SELECTED: Final = re.compile(rf"selected\s*\(\s*{_NAME}\s*,\s*{_VALUE}\s*\)")


class RangeError(ValueError):
    """A range that cannot be read; the text is a sentence for people."""


def read_range(kind: str, text: str) -> dict[str, Any]:
    """Read the range of an ``integer`` (its constraint) or a ``range`` (its parameters).

    Raises:
        RangeError: If it has no two ends, or is anything else.

    >>> read_range("integer", ". >= 0 and . < 100"), read_range("range", "start=0 end=5 step=0.5")
    ({'min': 0, 'max': 99}, {'min': 0, 'max': 5, 'step': Decimal('0.5')})
    """
    return _constraint(text) if kind == "integer" else _parameters(text)


def _constraint(text: str) -> dict[str, Any]:
    wanted = 'expected both ends of the range, such as ". >= 0 and . <= 120"'
    ends: dict[str, int] = {}
    for part in re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE):
        found = _BOUND.fullmatch(part.strip())
        if found is None or Fraction(found[2]).denominator != 1:
            raise RangeError(wanted)
        sign, value = found[1], int(Fraction(found[2]))
        key = "min" if sign[0] == ">" else "max"
        if key in ends:
            raise RangeError(wanted)
        ends[key] = value + {">": 1, "<": -1}.get(sign, 0)
    if set(ends) != {"min", "max"} or ends["min"] >= ends["max"]:
        raise RangeError(wanted)
    return {"min": ends["min"], "max": ends["max"]}


def _parameters(text: str) -> dict[str, Any]:
    wanted = 'expected the ends of the range, such as "start=0 end=10 step=1"'
    parts = re.split(r"[\s,;]+(?=start|end|step)", text.strip())
    values: dict[str, Any] = {}
    for part in parts:
        found = _PARAMETER.fullmatch(part.strip())
        if found is None or found[1] in values:
            raise RangeError(wanted)
        values[found[1]] = _plain(Decimal(found[2]))
    if not {"start", "end"} <= set(values) or not values["start"] < values["end"]:
        raise RangeError(wanted)
    found_step = {"step": values["step"]} if values.get("step", 1) != 1 else {}
    return {"min": values["start"], "max": values["end"], **found_step}


def _plain(value: Decimal) -> int | Decimal:
    return int(value) if value == value.to_integral_value() else value


def read_relevant(text: str) -> tuple[str, list[str]] | None:
    """Read a condition on one earlier question; None if it is anything more.

    >>> read_relevant("${used} = 'yes' or ${used} = 'often'")
    ('used', ['yes', 'often'])
    >>> read_relevant("${age} > 18") is None
    True
    """
    names, values = set(), []
    for part in re.split(r"\s+or\s+", text.strip()):
        inner = part.strip()
        while inner.startswith("(") and inner.endswith(")"):
            inner = inner[1:-1].strip()
        found = _EQUALS.fullmatch(inner) or _SELECTED.fullmatch(inner)
        if found is None:
            return None
        names.add(found[1])
        values.append(found[2] if found[2] is not None else found[3])
    return (names.pop(), values) if len(names) == 1 else None
