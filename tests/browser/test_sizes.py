"""What an embed weighs: phones and slow networks are where many respondents are."""

from __future__ import annotations

import pytest

from deniable_server.browser_files import BrowserFiles

KIB = 1024
FILES = BrowserFiles()


def gzipped(*names: str) -> int:
    found = [FILES.find(f"embed/{name}") for name in names]
    return sum(len(file.compressed) for file in found if file)


@pytest.mark.parametrize("language", ["en", "bn", "zh-Hant"])
def test_all_scripts_until_a_form_is_answered_are_within_12_kib(language: str) -> None:
    assert gzipped("index.js", f"words.{language}.js") <= 12 * KIB


@pytest.mark.parametrize("language", ["en", "bn", "zh-Hant"])
def test_with_its_looks_and_what_is_shown_after_sending(language: str) -> None:
    start = gzipped("index.js", f"words.{language}.js", "deniable.css")
    assert start <= 13.25 * KIB
    assert start + gzipped("outcome.js", f"more.{language}.js", "more.css") <= 18 * KIB


def test_explanations_are_not_in_the_first_load() -> None:
    assert "function trial" not in FILES.index("embed").body.decode()
    assert gzipped("learn.js") <= 2 * KIB
