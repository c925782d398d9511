"""Read single fields of an author's file. A mistake becomes a sentence, and reading goes on."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeGuard

from .errors import SurveyError
from .question import LANGUAGE, decimal

LONGEST: Final = {"title": 200, "intro": 5000, "text": 2000, "option": 300, "unit": 40}
_TAG: Final = re.compile(
    r"[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*", re.I
)
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ufeff]|[\ud800-\udfff]")


@dataclass
class Problems:
    """Collects mistakes, each with the place where it was made."""

    where: str
    found: list[str] = field(default_factory=list)

    def at(self, place: str) -> Problems:
        """Give the same collection for a narrower place."""
        return Problems(f"{self.where}{place}", self.found)

    def key(self, name: str) -> Problems:
        """Give the same collection for one key of this place."""
        return self.at(f", key '{name}'")

    def add(self, sentence: str) -> None:
        """Note a mistake."""
        self.found.append(f"{self.where}{sentence}")

    def unknown(self, given: Iterable[str], known: tuple[str, ...]) -> None:
        """Note every key that nobody would read, with the one that was probably meant."""
        for key in given:
            if key not in known:
                close = difflib.get_close_matches(str(key), known, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
                self.add(f": unknown key '{key}'; {hint}")

    def repeats(self, texts: Sequence[str | None], what: str) -> None:
        """Note every text that a person could not tell from an earlier one."""
        seen: dict[str, int] = {}
        for place, text in enumerate(texts, 1):
            if not text:
                continue
            first = seen.setdefault(unicodedata.normalize("NFKC", text).casefold(), place)
            sentence = f'{what} {place} repeats {what} {first} ("{text}")'
            where = ", " if what == "option" else ": "
            if first != place and not any(sentence in found for found in self.found):
                self.add(f"{where}{sentence}")


def read_name(
    source: Mapping[str, Any], pattern: re.Pattern[str], hint: str, problems: Problems
) -> str:
    """Read the key ``name``."""
    name = source.get("name")
    if not isinstance(name, str) or not pattern.fullmatch(name):
        problems.key("name").add(f": expected up to 40 characters: {hint}; got {name!r}")
        return ""
    return name


def read_flag(source: Mapping[str, Any], key: str, problems: Problems) -> bool:
    """Read true or false; a missing key is false."""
    value = source.get(key, False)
    if not isinstance(value, bool):
        problems.key(key).add(f": expected true or false, got {value!r}")
    return value is True


def read_whole(
    source: Mapping[str, Any], key: str, low: int, high: int, problems: Problems
) -> int | None:
    """Read a whole number in a range, or None if the key is missing."""
    value = source.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        problems.key(key).add(f": expected a whole number from {low} to {high}, got {value!r}")
        return None
    return value


def read_decimal(
    source: Mapping[str, Any], key: str, default: int | None, problems: Problems
) -> Fraction | None:
    """Read a number exactly."""
    value = source.get(key, default)
    if not is_number(value):
        problems.key(key).add(f": expected a number, got {value!r}")
        return None
    exact = Fraction(str(value))
    try:
        decimal(exact)
    except SurveyError as error:
        problems.key(key).add(f": {error}")
        return None
    return exact


def is_language(tag: object) -> TypeGuard[str]:
    """Tell whether browsers know a code's form (RFC 5646): language, script, region, variants."""
    return isinstance(tag, str) and bool(LANGUAGE.fullmatch(tag) and _TAG.fullmatch(tag))


def is_number(value: object) -> TypeGuard[int | float | Decimal]:
    """Tell whether a value is a number that surveys may hold: finite, and at most a billion."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    exact = Decimal(str(value))
    return exact.is_finite() and abs(exact) <= 10**9


def read_text(
    source: Mapping[str, Any], key: str, language: str, problems: Problems
) -> dict[str, str]:
    """Read a text under a key, as a table by language."""
    return read_one_text(source.get(key), LONGEST[key], language, problems.key(key))


def read_one_text(given: object, longest: int, language: str, problems: Problems) -> dict[str, str]:
    """Read a text that is given as itself or as a table by language."""
    table = {language: given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not table:
        problems.add(": expected a text, or a table of texts by language")
        return {}
    if language not in table:
        problems.add(f": expected a text in the survey's language '{language}'")
    for tag, text in table.items():
        if not is_language(tag):
            problems.add(f': expected a language code such as "en", got {tag!r}')
        if not isinstance(text, str) or not text.strip():
            problems.add(": expected a text that is not empty")
        elif len(text) > longest:
            problems.add(f": expected at most {longest} characters, got {len(text)}")
        elif _UNPRINTABLE.search(text):
            problems.add(": holds a character that cannot be shown")
    return {tag: text.strip() for tag, text in table.items() if isinstance(text, str)}
