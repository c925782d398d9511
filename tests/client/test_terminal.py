"""``deniable answer`` with every kind of question, as a person types."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable_client.cli import answer
from deniable_protocol import Report, Survey

SURVEY = """
name = "canteen"
title = "Canteen"
arms = ["north", "south"]
[privacy]
epsilon = 40
[[questions]]
name = "ate"
kind = "yes-no"
text = "Did you eat here?"
[[questions]]
name = "dish"
kind = "choice"
text = "Which dish?"
options = ["soup", "curry"]
show_if = { question = "ate", is = "Yes" }
optional = true
[[questions]]
name = "age"
kind = "number"
text = "How old are you?"
min = 0
max = 100
points = 101
optional = true
[[questions]]
name = "pains"
kind = "multiple"
text = "What hurts?"
options = ["head", "back", "knee"]
"""


def answered(tmp_path: Path, typed: str, *words: str) -> tuple[Survey, Report, str]:
    """Run the verb with hardly any noise, and give what it would send and what it said."""
    file = tmp_path / "survey.toml"
    file.write_text(SURVEY)
    survey = Survey.load(file)
    found = CliRunner().invoke(
        answer,
        [str(file), "--device", str(tmp_path / "d.db"), "--max-epsilon", "50", *words],
        input=typed,
    )
    assert found.exit_code == 0, found.output
    line = next(line for line in found.output.splitlines() if line.startswith('  {"answers"'))
    return survey, Report.parse(json.loads(line), survey), found.output


def test_every_kind(tmp_path: Path) -> None:
    """Wrong words are asked again, and what is sent is shown by name."""
    typed = "yes\n0\n1\n2\nold\n101\n33\n1;2\n1, 3\n"
    survey, report, said = answered(tmp_path, typed, "--arm", "north")
    assert report.arm == "north"
    assert set(report.answers) == {item.name for item in survey.items}
    assert said.count("Please type a number from 1 to 2.") == 2
    assert said.count("Please type a number from 0 to 100, or nothing") == 2
    assert said.count("Please type numbers from 1 to 3 with commas") == 1
    assert "Each box is sent as yes or no by itself." in said


def test_hidden_and_skipped(tmp_path: Path) -> None:
    """A hidden question is not asked but sent; nothing typed skips what may be skipped."""
    survey, report, said = answered(tmp_path, "2\n\n\n", "--arm", "south")
    assert "Which dish?" not in said
    assert set(report.answers) == {item.name for item in survey.items}


@pytest.mark.parametrize("words", [[], ["--arm", "east"]])
def test_arms(tmp_path: Path, words: list[str]) -> None:
    """An arm that the survey does not have is refused before anything is asked."""
    (tmp_path / "survey.toml").write_text(SURVEY)
    found = CliRunner().invoke(
        answer, [str(tmp_path / "survey.toml"), "--device", str(tmp_path / "d.db"), *words]
    )
    assert found.exit_code == 1
    assert "expects one of the arms north, south" in found.output
    assert "Did you eat" not in found.output


def test_what_is_sent_is_shown_as_it_was_read(tmp_path: Path) -> None:
    """Options are shown in the language of the questions, and a box by what it says."""
    file = tmp_path / "survey.toml"
    options = '[{ en = "yes", de = "ja" }, { en = "no", de = "nein" }]'
    questions = [f'name = "{kind[0]}"\nkind = "{kind}"\noptions = {options}\ntext = "?"\n'
                 for kind in ("choice", "multiple")]  # fmt: skip
    head = 'name = "s"\ntitle = "S"\n[privacy]\nepsilon = 30\n'
    file.write_text(head + "".join(f"[[questions]]\n{question}" for question in questions))
    words = [str(file), "--device", str(tmp_path / "d.db"), "--max-epsilon", "50"]
    found = CliRunner().invoke(answer, [*words, "--language", "de"], input="2\n1\n")
    assert found.exit_code == 0, found.output
    shown = [line.split(":")[0].strip() for line in found.output.splitlines()]
    assert {"m.1 (ja)", "m.2 (nein)"} <= set(shown)
    assert "  c: nein" in found.output or "  c: ja" in found.output
