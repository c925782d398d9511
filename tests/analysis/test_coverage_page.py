"""The page of coverage tables says what its script computes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("tables", ROOT / "scripts/coverage_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_script(script):
    """Every line for 50 reports and every design comes out again, to its last digit."""
    for design in script.DESIGNS.values():
        for row in script.binary_rows(design, 50):
            assert f"| {' | '.join(row)} |" in PAGE
    assert f"| {' | '.join(next(script.number_rows()))} |" in PAGE


def test_no_exact_interval_falls_short():
    """On the page, Feldman-Cousins and Clopper-Pearson are never below the level."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    exact = [row for row in rows if row[1] in ("feldman-cousins", "clopper-pearson")]
    assert len(exact) == 18
    assert all(float(cell) >= 0.95 for row in exact for cell in row[2:8])
