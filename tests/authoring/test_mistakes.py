"""Mistakes in a survey file: found all at once, each in a sentence that a person can act on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .test_check import run


def test_mistakes_all_at_once(tmp_path: Path) -> None:
    """Two equal options and a missing language come together, for people and for programs."""
    path = tmp_path / "survey.toml"
    path.write_text(
        'name = "s"\ntitle = { bn = "x" }\n[privacy]\nepsilon = 2\n[[questions]]\nname = "a"\n'
        'kind = "choice"\ntext = "?"\noptions = ["Yes", "yes "]\n'
    )
    found = run("check", path)
    assert found.exit_code == 1
    assert found.output.startswith(
        "Error: 2 mistakes:\n  survey.toml, key 'title': expected a text"
    )
    assert "question 'a', option 2 repeats option 1" in found.output
    data = json.loads(run("check", "--json", path).output)
    assert data["valid"] is False
    assert len(data["problems"]) == 2


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "800", "inf"])
def test_epsilon_that_is_none(tmp_path: Path, epsilon: str) -> None:
    """Zero, negative, NaN and absurd budgets are refused, never accepted in silence."""
    path = tmp_path / "survey.toml"
    path.write_text(
        f'name = "s"\ntitle = "S"\n[[questions]]\nname = "a"\nkind = "yes-no"\ntext = "?"\n'
        f"epsilon = {epsilon}\n"
    )
    found = run("check", path)
    assert found.exit_code == 1
    assert "epsilon must be from 0.001 to 15" in found.output


@pytest.mark.parametrize(("keys", "says"), [
    ('kind = "number"\nmin = nan\nmax = 5', "key 'min': expected a number"),
    ('kind = "number"\nmin = 0\nmax = inf', "key 'max': expected a number"),
    ('kind = "scale"\noptions = ["a", "b"]\nscores = [1, nan]', "score 2: expected a number"),
    ('kind = "yes-no"\nshare = nan', "share must be a number"),
    ('kind = "multiple"\noptions = ["a"]\nask = 1', "expected a list of 2 to 100 options"),
])  # fmt: skip
def test_no_number_crashes_or_confuses(tmp_path: Path, keys: str, says: str) -> None:
    """TOML can write NaN and infinity: each is a mistake like others, in one sentence."""
    path = tmp_path / "survey.toml"
    path.write_text(
        'name = "s"\ntitle = "S"\n[privacy]\nepsilon = 1\n'
        f'[[questions]]\nname = "a"\ntext = "?"\n{keys}\n'
    )
    found = run("check", path)
    assert found.exit_code == 1, found.exception
    assert says in found.output
    assert found.output.startswith("Error: one mistake:")


@pytest.mark.parametrize("tag", ["en-1a", "zh-12", "en-US-US", "en-abcd-efgh", "de-a1"])
def test_a_language_that_no_browser_knows(tmp_path: Path, tag: str) -> None:
    """A form in such a language could not name it; others are as before."""
    path = tmp_path / "survey.toml"
    for language in (tag, "zh-Hant-TW", "sr-Latn", "es-419", "de-CH-1996"):
        path.write_text(
            f'name = "s"\ntitle = "S"\nlanguage = "{language}"\n[privacy]\nepsilon = 1\n'
            '[[questions]]\nname = "a"\ntext = "?"\nkind = "choice"\noptions = ["a", "b"]\n'
        )
        refused = f'expected a language code such as "en", got {language!r}'
        assert (refused in run("check", path).output) == (language == tag)


@pytest.mark.parametrize(("privacy", "says"), [
    ("epsilon = 75", "got 75 for one question or box, once it is divided"),
    ("epsilon = 0.002", "got 0.0005 for one question or box, once it is divided"),
    ('epsilon = 1\nallocation = "sample"\nask = 1', "of one question none can be left out"),
])  # fmt: skip
def test_a_budget_that_cannot_be_divided(tmp_path: Path, privacy: str, says: str) -> None:
    """The sentence has a number that a person can read, and says where it comes from."""
    path = tmp_path / "survey.toml"
    boxes = '["a", "b", "c", "d"]' if "0.002" in privacy else None
    kind = f'"multiple"\noptions = {boxes}' if boxes else '"yes-no"'
    path.write_text(
        f'name = "s"\ntitle = "S"\n[privacy]\n{privacy}\n'
        f'[[questions]]\nname = "a"\ntext = "?"\nkind = {kind}\n'
    )
    assert says in run("check", path).output
