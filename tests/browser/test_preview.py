"""`deniable preview` in a real Chromium: the whole form, and nothing that could be sent."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from .test_access import axe
from .visitor import Visitor

SURVEY = """
name = "draft"
title = "A draft"
arms = ["north", "south"]
[privacy]
epsilon = 6
[[questions]]
name = "smokes"
kind = "yes-no"
text = "Do you smoke?"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "survey.toml"
    found.write_text(SURVEY)
    return found


@pytest.fixture
def address(file: Path, tmp_path: Path) -> Iterator[str]:
    output = tmp_path / "output.txt"
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "deniable_protocol", "preview", str(file), "--port", "0"],
            stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    for _ in range(400):
        if found := re.findall(r"http://127\.0\.0\.1:\d+/", output.read_text()):
            break
        time.sleep(0.025)
    yield found[0]
    process.terminate()
    process.wait(20)


def test_a_draft(chromium: Browser, address: str, file: Path) -> None:
    """It is answered as it will be; nothing leaves the page; a reload begins anew."""
    context = chromium.new_context(locale="en-GB")
    visitor = Visitor(context, address)
    sent: list[str] = []
    visitor.page.on("request", lambda request: sent.append(request.method))
    for _ in range(2):
        visitor.page.goto(f"{address}?arm=south")
        visitor.wait(lambda: bool(visitor.all("radio")))
        assert visitor.says("Nothing can be sent")
        visitor.tab_to("radio").press("Space").send()
        visitor.wait(lambda: visitor.says("Not sent yet"))
        assert visitor.says("The survey is not open.")
        assert visitor.says('"arm":"south"')
    assert set(sent) == {"GET"}
    assert not visitor.violations()
    status = visitor.page.evaluate(
        "fetch('/v1/surveys/draft/reports', {method: 'POST', body: '{}'}).then((r) => r.status)"
    )
    assert status in (404, 405)
    opened = Visitor(context, address, opened=True)
    opened.page.goto(address)
    opened.wait(lambda: bool(opened.all("radio")))
    assert axe(opened) == []
    file.write_text(SURVEY.replace("yes-no", "yesno"))
    visitor.page.goto(address)
    assert visitor.says("The survey is not ready")
    assert visitor.says("question 'smokes'")
    assert axe(visitor) == []
    context.close()
