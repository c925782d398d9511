"""What the pages say is true: commands, snippets, tables, links."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from math import ceil
from pathlib import Path

import click
import pytest
from scipy.stats import norm

from deniable_protocol import Channel, Survey
from deniable_protocol.cautions import percent_up, surest
from deniable_protocol.channel import parse_odds
from deniable_protocol.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not {".venv", "node_modules", ".git"} & set(path.relative_to(ROOT).parts)
)
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_two_commands_come_first() -> None:
    """The first screen shows the two commands and what comes out."""
    screen = README.splitlines()[:25]
    assert "    make demo    # a whole survey: 2,000 respondents, server, report" in screen
    assert any(line.startswith("    make test") for line in screen)
    assert any("95% interval" in line for line in screen)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    """Every link to a file of the project leads to one."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_surveys_load() -> None:
    """Each survey that the README shows is one."""
    blocks = re.findall(r"```toml\n(.*?)```", README, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        assert Survey.load(tomllib.loads(block, parse_float=Decimal)).questions


def test_table_of_odds() -> None:
    """The table for choosing odds holds what the formulas give."""
    rows = re.findall(r"\| \d times in \d+ \| (\S+) \| (\S+) \| (\d+) %.*?\| ([\d,]+) \|", README)
    assert len(rows) == 5
    for odds, epsilon, belief, respondents in rows:
        channel = Channel(2, 1, parse_odds(odds))
        assert f"{channel.epsilon:.2f}" == epsilon
        assert percent_up(surest(channel.odds)) == f"{belief} %"
        reported = float(channel.q + (channel.p - channel.q) / 5)
        width = 0.03 * float(channel.p - channel.q)
        needed = ceil((norm.isf(0.025) / width) ** 2 * reported * (1 - reported))
        assert needed == int(respondents.replace(",", ""))
    assert ceil((norm.isf(0.025) / 0.03) ** 2 * 0.2 * 0.8) == 683


def test_every_verb_has_help() -> None:
    """Each verb and each of its options says what it is for."""
    context = click.Context(main)
    verbs = main.list_commands(context)
    assert {"answer", "serve", "report"} <= set(verbs)
    for verb in verbs:
        command = main.get_command(context, verb)
        assert command is not None
        assert command.help, verb
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{verb} {parameter.name}"
