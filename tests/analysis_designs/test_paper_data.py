"""Reading paper-and-dice data: files, columns, gaps, several designs, and what is refused."""

from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deniable_analysis.paper import direct_question, forced_response, warner
from deniable_analysis.paper_data import read_paper
from deniable_analysis.paper_matrix import MatrixDesign
from deniable_protocol import EstimateError

ROWS = "id,way,said,age\n1,card,yes,30\n2,card,no,41\n3,asked,no,28\n4,asked,NA,60\n5,card,Yes,33\n"
WAYS = {"card": warner("3/4"), "asked": direct_question()}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "study.csv"
    path.write_text(ROWS, encoding="utf-8-sig")
    return path


def test_csv(table: Path) -> None:
    """Reports, designs and the other columns come out in the order of the respondents."""
    found = read_paper(table, "said", WAYS, by="way")
    assert repr(found) == "<PaperAnswers: 4 reports, designs: 2>"
    assert [c.tolist() for c in found.counts] == [[1, 2], [1, 0]]
    assert found.codes.tolist() == [1, 0, 0, -1, 1]
    assert found.columns["age"].tolist() == ["30", "41", "28", "60", "33"]
    assert found.estimate()["yes"].label == "yes"


def test_every_source_alike(table: Path, tmp_path: Path) -> None:
    """A file, a Parquet file, a data frame and plain lists give the same."""
    frame = pd.read_csv(table)
    path = tmp_path / "study.parquet"
    frame.to_parquet(path)
    lists = {name: frame[name].tolist() for name in frame}
    expected = read_paper(table, "said", WAYS, by="way")
    for source in (path, frame, lists):
        found = read_paper(source, "said", WAYS, by="way")
        assert found.codes.tolist() == expected.codes.tolist()
        assert found.places.tolist() == expected.places.tolist()


def test_as_a_variable_of_models(table: Path) -> None:
    """The same data go into tables and regression with each respondent's own design."""
    reported = read_paper(table, "said", WAYS, by="way").reported
    likelihoods = reported.likelihoods[reported.codes]
    assert likelihoods.tolist() == [[0.25, 0.75], [0.75, 0.25], [1, 0], [1, 1], [0.25, 0.75]]
    assert reported.sent.tolist() == [True, True, True, False, True]


def test_matrix_reports_by_name() -> None:
    """Reports of a matrix are known by their names."""
    design = MatrixDesign.forced(["0.1"] * 3, states=["never", "once", "often"])
    found = read_paper({"said": ["once", "never", "often", "once"]}, "said", design)
    assert [c.tolist() for c in found.counts] == [[1, 2, 1]]
    assert found.estimate()["once"].count == 2


def test_counts_and_rows_agree() -> None:
    """A thousand rows and their counts give the same numbers."""
    rng = np.random.default_rng(5)
    said = rng.integers(0, 2, 1000)
    found = read_paper({"said": said}, "said", forced_response("1/6", "1/6"))
    assert found.counts[0].tolist() == np.bincount(said).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1\n", "line 2: expected 2 cells, got 1"),
        ("said,way\nyes,card\n", "expected a column among 'said', 'way', got 'x'"),
        ("x,way\nyes,dice\n", "column 'way', respondent 1: expected one of the designs"),
        ("x,way\nsecret-word,card\n", "column 'x', respondent 1: expected one of 0, no"),
    ],
)
def test_refused_files(tmp_path: Path, text: str, message: str) -> None:
    """A file that cannot be read says where, and never repeats a cell."""
    path = tmp_path / "study.csv"
    path.write_text(text)
    with pytest.raises(EstimateError, match=message) as caught:
        read_paper(path, "x", WAYS, by="way")
    assert "secret-word" not in str(caught.value)


def test_other_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing files, bytes that are no text, designs without names, and an extra that is absent."""
    with pytest.raises(EstimateError, match="No such file"):
        read_paper(tmp_path / "none.csv", "x", warner("3/4"))
    path = tmp_path / "study.csv"
    path.write_bytes(b"x\n\xff\n")
    with pytest.raises(EstimateError, match="UTF-8"):
        read_paper(path, "x", warner("3/4"))
    with pytest.raises(EstimateError, match="together with by=column"):
        read_paper({"x": [1]}, "x", WAYS)
    with pytest.raises(EstimateError, match="codes must be whole numbers from 0 to 1"):
        read_paper({"x": [1]}, "x", warner("3/4"), codes={"1": 2})
    with pytest.raises(EstimateError, match="a cell for each respondent"):
        read_paper({"y": [1, 2], "x": [1]}, "x", warner("3/4"))
    with pytest.raises(EstimateError, match="columns by name"):
        read_paper([1, 2], "x", warner("3/4"))  # type: ignore[arg-type]
    parquet = tmp_path / "study.parquet"
    parquet.write_bytes(b"no")
    with pytest.raises(EstimateError, match="not a Parquet file"):
        read_paper(parquet, "x", warner("3/4"))
    real = builtins.__import__

    def without(name: str, *rest: object, **more: object) -> object:
        if name == "pyarrow":
            raise ModuleNotFoundError(name="pyarrow")
        return real(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EstimateError, match=r"pip install 'deniable\[parquet\]'"):
        read_paper(parquet, "x", warner("3/4"))
