"""A survey that shows its results is refused where they cannot be drawn, before anyone visits."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deniable_server.opening import is_postgres

from .running import Server
from .samples import OTHER, SHOWN, body
from .verbs import Run, fill, published_file, stored


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Let the interpreter find a package as little as where it is not installed."""
    monkeypatch.setitem(sys.modules, request.param, None)
    return str(request.param)


@pytest.mark.parametrize("without", ["numpy", "scipy"], indirect=True)
def test_publishing(deniable: Run, database: str, tmp_path: Path, without: str) -> None:
    """Refused where the server is on the same machine, a note where it may be on another."""
    files = [*published_file(tmp_path, OTHER), *published_file(tmp_path, SHOWN)]
    elsewhere = is_postgres(database)
    found = deniable("publish", *files, status=0 if elsewhere else 1)
    assert f"needs {without}: pip install 'deniable[analysis]'" in found.stderr
    assert set(stored(database)) == ({"other@1", "shown@1"} if elsewhere else set())
    if not elsewhere:
        assert "published" in deniable("publish", files[0]).output


@pytest.mark.parametrize("without", ["scipy"], indirect=True)
def test_serving_files(deniable: Run, tmp_path: Path, without: str) -> None:
    """The same goes for a file that is given to the server itself."""
    found = deniable("serve", *published_file(tmp_path, SHOWN), "--port", 0, status=1)
    assert f"needs {without}: pip install 'deniable[analysis]'" in found.output


def test_serving_what_is_there(tmp_path: Path) -> None:
    """Beside others, a survey that another machine published is a note: it still takes reports."""
    fill(str(tmp_path / "survey.db"), SHOWN, [])
    (tmp_path / "serve.py").write_text(
        "import sys\n"
        "sys.modules['scipy'] = None\n"
        "sys.argv[1:1] = ['serve', '--port', '0']\n"
        "from deniable_protocol.cli import main\n"
        "main()\n"
    )
    with Server(tmp_path, published=OTHER, script=tmp_path / "serve.py") as server:
        assert server.post(body(SHOWN), f"/v1/surveys/{SHOWN.name}/reports")[0] == 201
        assert "needs scipy: pip install 'deniable[analysis]'" in server.complaints()
