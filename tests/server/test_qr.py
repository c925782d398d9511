"""QR codes: what is drawn in the terminal is read back by an independent decoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zxingcpp
from click.testing import CliRunner

from deniable_server.qr_cli import qr

URL = "https://example.org/s/canteen"


def read(lines: list[str]) -> list[str]:
    """Decode half blocks as a camera would see them."""
    light = np.array([
        [letter in halves for letter in line] for line in lines for halves in ("█▀", "█▄")
    ])  # fmt: skip
    picture = np.kron(light, np.ones((6, 6))).astype(np.uint8) * 255
    return [found.text for found in zxingcpp.read_barcodes(picture)]


def test_the_terminal() -> None:
    """The code leads to the address below it; one that is broken does not."""
    found = CliRunner().invoke(qr, [URL])
    *drawn, below = found.output.splitlines()
    assert below == URL
    assert read(drawn) == [URL]
    assert read([line[::-1].replace("▀", "█") for line in drawn]) != [URL]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_files(tmp_path: Path, ending: str) -> None:
    """A file is written by its ending, with nothing in it but the picture."""
    file = tmp_path / f"code.{ending}"
    found = CliRunner().invoke(qr, [URL, "--output", str(file)])
    assert found.exit_code == 0
    assert file.read_bytes()[:4] == {"svg": b"<?xm", "png": b"\x89PNG"}[ending]


@pytest.mark.parametrize("words", [["example.org/s/canteen"], [URL, "--output", "code.gif"]])
def test_refused(words: list[str]) -> None:
    """What is no address or no picture is refused in words."""
    found = CliRunner().invoke(qr, words)
    assert found.exit_code == 2
    assert "must" in found.output
