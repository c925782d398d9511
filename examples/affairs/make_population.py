"""Count the answers of Fair's survey into ``population.json``. Needs statsmodels.

Only joint counts of the three questions are kept; the survey's rows are not part of deniable.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import statsmodels.api as sm

FILE = Path(__file__).with_name("population.json")
SOURCE = (
    "Ray C. Fair, A Theory of Extramarital Affairs, Journal of Political Economy 86 (1978), 45-61: "
    "the Redbook survey of 6,366 married women in 1974, as in statsmodels.datasets.fair (included "
    "there with permission of the author). Joint counts only; 'affair' is affairs > 0."
)


def count() -> dict[str, Any]:
    """Count the three answers jointly."""
    rows = sm.datasets.fair.load_pandas().data
    rows = rows.assign(
        affair=(rows["affairs"] == 0).astype(int),  # option 0 is Yes
        marriage=rows["rate_marriage"].astype(int) - 1,
        religious=rows["religious"].astype(int) - 1,
    )
    questions = ["affair", "marriage", "religious"]
    cells = rows.groupby(questions).size()
    counts = [[*map(int, index), int(size)] for index, size in cells.items()]
    return {"source": SOURCE, "questions": questions, "counts": counts}


def render(population: dict[str, Any]) -> str:
    """Write the counts one cell a line."""
    cells = ",\n  ".join(json.dumps(cell) for cell in population["counts"])
    head = json.dumps({key: population[key] for key in ("source", "questions")}, indent=1)
    return head.removesuffix("\n}") + f',\n "counts": [\n  {cells}\n ]\n}}\n'


if __name__ == "__main__":
    FILE.write_text(render(count()), encoding="utf-8")
