"""What an application is told: by whoever makes it, else by variables, else what is usual."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from deniable_protocol import SettingError

from .writer import DEFAULT_CAPACITY

PREFIX: Final = "DENIABLE"
MOST_PROXIES: Final = 9

_USUAL: Final[dict[str, Any]] = {
    "DATABASE": "deniable.db",
    "QUEUE": DEFAULT_CAPACITY,
    "ISSUER": None,
    "LIMIT": 0,
    "PROXIES": 0,
    "OPERATOR_TOKEN": None,
}
_NUMBERS: Final = {"QUEUE": (1, None), "LIMIT": (0, None), "PROXIES": (0, MOST_PROXIES)}
_DIGITS: Final = re.compile(r"[0-9]{1,9}")


def settled(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give every setting, and whatever else *config* holds for Flask.

    A variable is taken as it is written, and not as JSON, in which a token of digits is a number
    and "true" a yes. An empty one says nothing.

    Raises:
        SettingError: If a number is none, or too small or too large, or the issuer's file is not
            there.
    """
    variables = {name: f"{PREFIX}_{name}" for name in _USUAL}
    given = {n: os.environ[variable] for n, variable in variables.items() if os.getenv(variable)}
    found = _USUAL | given | dict(config)
    told = variables | {name: name for name in config}
    for name, (least, most) in _NUMBERS.items():
        found[name] = _number(told[name], found[name], least, most)
    issuer = found["ISSUER"]
    if issuer and not Path(issuer).is_file():  # a new one would know no code
        raise SettingError(
            f'{told["ISSUER"]}: expected the file that "deniable invite" made, got {str(issuer)!r}'
        )
    return found


def _number(name: str, found: object, least: int, most: int | None) -> int:
    number = found if type(found) is int else None
    if isinstance(found, str) and _DIGITS.fullmatch(found):
        number = int(found)
    if number is None or number < least or (most is not None and number > most):
        upper = "or more" if most is None else f"to {most}"
        raise SettingError(f"{name}: expected a whole number, {least} {upper}, got {found!r}")
    return number
