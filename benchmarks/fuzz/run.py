"""Fuzz a real server by its own contract: ``python benchmarks/fuzz/run.py [--examples 2000]``.

First with requests that know which surveys there are, then with all that schemathesis' own command
tries. Any answer that is a server error, or that the contract does not describe, ends the run. At
the end the database must hold what was acknowledged, and the server must have said nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # for the tests' own server

from tests.server.fuzzing import REPORTS, SURVEYS, fuzz, load
from tests.server.running import Server

from deniable_server import ReportStore
from deniable_server.issuer import Issuer

REFUSALS = """
[checks.negative_data_rejection]
expected-statuses = [403, 404, 405, 409, 410, 413, 422, 429]
"""
"""What counts as a refusal: schemathesis' own list lacks 410 and 413."""


def main() -> None:
    """Print how often each operation answered with each status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--examples", type=int, default=2000, help="in the first part")
    parser.add_argument("--more", type=int, default=100, help="for each operation, in the second")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Issuer(folder / "issuer.db").invite("invited", 1)
        with closing(ReportStore(folder / "survey.db")) as store:
            for survey in SURVEYS:
                store.publish(survey)
        start = time.perf_counter()
        with Server(folder, options=["--issuer", str(folder / "issuer.db")]) as server:
            url = f"http://{server.host}:{server.port}"
            # Three operations of the intake, of which each is sent what is allowed and what is not.
            seen = fuzz(
                load(url), examples=-(-given.examples // 6), few=given.examples // 100, anew=True
            )
            for (label, status), count in sorted(seen.items()):
                print(f"{label:40} {status} {count:7,}")
            print(f"{seen.total():,} requests in {time.perf_counter() - start:.0f} s", flush=True)
            with closing(ReportStore(folder / "survey.db")) as store:
                held = sum(store.count(each) for each in store.surveys())
            taken = seen[f"POST {REPORTS}", 201]
            print(f"{held:,} reports stored; {taken:,} were acknowledged alone, others in arrays")
            assert held >= taken
            (folder / "schemathesis.toml").write_text(REFUSALS)
            program = [Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json"]
            options = ["--max-examples", str(given.more), "--warnings", "off", "--workers", "2"]
            subprocess.run([*program, *options], check=True, cwd=folder)
            assert server.stop() == 0
            assert server.complaints() == ""


if __name__ == "__main__":
    main()
