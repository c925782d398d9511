"""The simulated tables of the page can be made again, and say what the page says about them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "regression.md").read_text(encoding="utf-8")


def table(name: str, page: str = PAGE) -> list[list[str]]:
    """Read the rows of one table, without its head."""
    found = re.search(f"<!-- {name} -->\n(.*?)<!-- end of {name} -->", page, flags=re.DOTALL)
    assert found
    rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in found[1].splitlines()]
    return rows[2:]


def test_script_fills_the_page() -> None:
    """A few samples fill every table, in the same shape."""
    spec = importlib.util.spec_from_file_location("made", DOCS / "regression_tables.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.filled(PAGE, 4)
    for name in module.TABLES:
        assert [row[0] for row in table(name, page)] == [row[0] for row in table(name)]
        assert {len(row) for row in table(name, page)} == {len(row) for row in table(name)}


def test_small_samples_diverge_and_jeffreys_does_not() -> None:
    """At n = 100 about 15 % of maxima are not finite; the penalised fit is always there."""
    rows = table("logits")
    assert 10 < float(rows[0][1].rstrip(" %")) < 20
    assert all(row[5].startswith("0 of 2,000") for row in rows)
    assert all(float(row[8]) > 0.93 for row in rows)
    assert all(float(row[7]) < float(row[3]) for row in rows)


def test_coverage_and_size() -> None:
    """Intervals hold, and tests of independence reject a true null in about 5 %."""
    assert all(0.93 < float(row[4]) < 0.985 for row in table("predictors"))
    assert all(0.93 < float(row[3]) < 0.97 for row in table("weights"))
    for row in table("independence"):
        assert 0.03 < float(row[1]) < 0.07
        assert 0.03 < float(row[2]) < 0.07
