"""The house's rules that a tool can check: exported names, sizes, who needs what."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["protocol", "client", "server", "analysis"]
SOURCES = sorted(
    path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".js")
)


@pytest.mark.parametrize("room", ROOMS)
def test_exported_names(room: str) -> None:
    """What a package exports is what is visible in it; classes and functions have a docstring."""
    module = importlib.import_module(f"deniable_{room}")
    visible = {n for n, v in vars(module).items() if n[0] != "_" and not inspect.ismodule(v)}
    assert visible == set(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert value.__doc__, f"{room}.{name} has no docstring"


def test_module_sizes() -> None:
    """No module is longer than 400 lines."""
    assert len(SOURCES) > 20
    long = {
        str(path.relative_to(ROOT)): lines
        for path in SOURCES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


def test_no_utils() -> None:
    """Every module is named for what it holds."""
    names = {path.stem.strip("_") for path in SOURCES}
    assert not names & {"utils", "util", "helpers", "common", "misc"}


def test_only_the_device_draws() -> None:
    """No Mersenne Twister in what ships: in the client randomness is the system's alone."""
    for path in SOURCES:
        if path.suffix != ".py" or "deniable_client" not in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            alias.name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else
                          node.names)
        }  # fmt: skip
        assert "random" not in imported, path
    scripts = list((ROOT / "client/deniable_client/browser").rglob("*.js"))
    assert len(scripts) > 20
    for script in scripts:
        assert "Math.random" not in script.read_text(encoding="utf-8"), script


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an environment that holds the wheel and click, and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT],
        check=True,
    )
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    (wheel,) = folder.glob("deniable-*.whl")
    subprocess.run([*pip, "--python", python, "install", wheel], check=True)
    return python


def run(python: Path, *words: str, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [python, "-W", "error", *words], input=typed, capture_output=True, text=True, timeout=60,
        env=clean | env, cwd=python.parent, check=False,
    )  # fmt: skip


def test_bare_wheel_answers(bare: Path, tmp_path: Path) -> None:
    """Without flask and numpy, the wheel answers a survey from Python and in the terminal."""
    script = (
        "import importlib.util as u, sys\n"
        "assert not any(u.find_spec(m) for m in ('flask', 'numpy', 'scipy', 'jinja2'))\n"
        "from deniable_client import respond\n"
        "from deniable_protocol import Survey\n"
        f"survey = Survey.load({str(ROOT / 'examples/affairs/survey.toml')!r})\n"
        "print(respond(survey, {'affair': True, 'marriage': 'Good', 'religious': 'Mildly'})"
        ".to_json().decode())"
    )
    found = run(bare, "-c", script)
    assert found.returncode == 0, found.stderr
    assert set(json.loads(found.stdout)) == {"survey", "id", "answers"}
    found = run(
        bare, "-m", "deniable_protocol", "answer", str(ROOT / "examples/affairs/survey.toml"),
        "--device", str(tmp_path / "device.db"), typed="1\nfive\n5\n2\n",
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "Please type a number from 1 to 5." in found.stdout
    assert "This is all that is sent:" in found.stdout
    assert "Nothing was sent" in found.stdout


@pytest.mark.parametrize(("verb", "extra"), [("serve", "server"), ("report", "analysis")])
def test_absent_extras(bare: Path, verb: str, extra: str) -> None:
    """A verb whose extra is not installed says what to install; help still lists it."""
    found = run(bare, "-m", "deniable_protocol", verb)
    assert found.returncode == 1
    assert f"pip install 'deniable[{extra}]'" in found.stderr
    assert "Traceback" not in found.stderr
    assert verb in run(bare, "-m", "deniable_protocol", "--help").stdout
