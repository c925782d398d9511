"""The same in Firefox, where it is installed: Debian has it as ``firefox-esr``."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.browser.site import Site
from tests.browser.wire import Wire

from .pages import PAY, ROOT, Pages, only_report, surveys

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
DRIVER = ROOT / "node_modules/puppeteer-core"


pytestmark = pytest.mark.skipif(
    not (FIREFOX and DRIVER.exists()), reason="Firefox is not installed here"
)


def answer(address: str, tampered: str) -> dict[str, Any]:
    node = ROOT / ".venv/bin/node-for-deniable"
    done = subprocess.run(
        [str(node) if node.exists() else "node", ROOT / "tests/embedding/firefox.mjs",
         str(FIREFOX), address, tampered, PAY],
        capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_firefox_answers_once_and_takes_no_other_module(wire: Wire, site: Site,
                                                        pages: Any) -> None:  # fmt: skip
    """The element asks, randomizes and sends; the page's own form then finds it answered.

    What is loaded later is pinned in Firefox too: another module is not run, nothing is sent.
    """
    before = site.count("tickets")
    with Wire(site.port) as broken:
        broken.replace = {'"notSent"': '"notsent"'}
        elsewhere = Pages(broken.origin)
        found = answer(pages.address, elsewhere.address)
        elsewhere.close()
    assert found["closed"]
    assert found["element"] == ["deniable-ready", "deniable-sent"]
    assert found["open"] == 0
    only_report(wire, surveys()["tickets"])
    assert site.count("tickets") == before + 1
    sent = [request.raw.decode("latin-1") for request in wire.requests] + pages.requests
    assert PAY not in "".join(sent) + found["kept"]
    assert found["tampered"] == ["deniable-ready"]
    assert any("outcome.js" in request.path for request in broken.requests)
    assert not broken.reports
