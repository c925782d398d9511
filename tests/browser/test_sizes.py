"""What an embed weighs: phones and slow networks are where many respondents are.

Sizes are those of the files as they are served to browsers that take gzip.
"""

from __future__ import annotations

import pytest

from deniable_server.browser_files import BrowserFiles

KIB = 1024
FILES = BrowserFiles()
LANGUAGES = ("en", "bn", "zh-Hant")

SENDING = ("pins.later.js", "outcome.js", "more.{}.js", "more.css")
"""Loaded as soon as the form is there, while someone reads it; the button waits for them."""
WHEN_ASKED = {"learn.js": 2, "panel.js": 1, "invite.js": 1, "token.js": 1.5}
"""Loaded by those who ask how it works, and where a survey has waves or is by invitation."""


def gzipped(*names: str, entry: str = "embed") -> int:
    found = [FILES.find(f"{entry}/{name}") for name in names]
    assert None not in found, names
    return sum(len(file.compressed) for file in found if file)


def form(language: str) -> int:
    return gzipped("index.js", f"words.{language}.js", "deniable.css")


def sending(language: str) -> int:
    return gzipped(*(name.format(language) for name in SENDING))


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_embed_is_within_12_kib(language: str) -> None:
    """Script, texts and style sheet: the whole form, up to the click that sends it."""
    assert form(language) <= 12 * KIB


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_until_it_is_sent_is_within_18_kib(language: str) -> None:
    """With what randomizes, sends and shows exactly what was sent, in as many words."""
    assert sending(language) <= 6 * KIB
    assert form(language) + sending(language) <= 18 * KIB


@pytest.mark.parametrize(("name", "limit"), WHEN_ASKED.items())
def test_what_only_some_load_is_small_too(name: str, limit: float) -> None:
    assert gzipped(name) <= limit * KIB


def test_no_file_is_left_out_of_these_sums() -> None:
    counted = {"deniable.css", *WHEN_ASKED}
    for language in LANGUAGES:
        counted |= {f"words.{language}.js", *(name.format(language) for name in SENDING)}
    assert set(FILES.later("embed")) == counted


def test_the_randomizer_is_in_the_first_file_and_explanations_are_not() -> None:
    """Who audits what draws finds it behind the one hash that a page states."""
    first = FILES.index("embed").body.decode()
    assert "function drawNoise" in first
    assert "function trial" not in first


def test_a_form_of_ones_own_is_within_12_kib() -> None:
    words = [name for name in FILES.later("plain") if name.endswith(".en.js")]
    assert gzipped("index.js", "pins.later.js", *words, entry="plain") <= 12 * KIB
