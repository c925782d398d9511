"""Studies whose results others have published or computed; the files are read where they are."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deniable_analysis import Design

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "reference" / "survey"
FORCED = Design(slope=Fraction(2, 3), offset=Fraction(1, 6))
WARNER = Design(slope=Fraction(1, 2), offset=Fraction(1, 4))

# Blair, Imai and Zhou's survey in Nigeria, 2,423 complete interviews: female, married, civic,
# reported contact, in the order of the counts.
NIGERIA_CELLS = np.array(list(product([0, 1], repeat=4)))
NIGERIA_COUNTS = np.array(
    [209, 137, 216, 150, 210, 84, 178, 123, 215, 108, 103, 38, 174, 55, 292, 131]
)


def reference(name: str) -> dict[str, object]:
    path = FOLDER / name
    if not path.exists():
        pytest.skip("the reference files are not here")
    return json.loads(path.read_text(encoding="utf-8"))


def columns(name: str) -> dict[str, np.ndarray]:
    """Read a file of numbers, without the rows in which something is missing."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip("the reference files are not here")
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if "NA" not in row.values()]
    words = {"TRUE": 1.0, "FALSE": 0.0}
    return {
        key.replace(".", "_"): np.array([words.get(row[key]) or float(row[key] not in words
                                         and row[key]) for row in rows])
        for key in rows[0]
    }  # fmt: skip


def nigeria() -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Give the reports, the columns of "Table 3", and civic."""
    found = columns("nigeria.csv")
    age = found["cov_age"] / 10
    predictors = {
        "asset": found["cov_asset_index"],
        "married": found["cov_married"],
        "age": age,
        "age2": age**2,
        "education": found["cov_education"],
        "female": found["cov_female"],
    }
    return found["rr_q1"], predictors, found["civic"]
