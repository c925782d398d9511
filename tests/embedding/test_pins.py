"""One hash pins everything; and all of it is small."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from deniable_server import ReportStore
from deniable_server.browser_files import ENTRIES, in_use
from deniable_server.embed_cli import embed, snippet
from deniable_server.lean import lean_style
from tests.browser.site import Site
from tests.browser.surveys import SURVEYS
from tests.browser.wire import Wire

from .pages import FILES, ROOT, Reader, surveys

Visit = Callable[..., Reader]
KIB = 1024


def test_another_script_is_not_run(visit: Visit, wire: Wire) -> None:
    """A server that gives another script than the page pins gets nothing to run."""
    wire.replace = {"crypto.getRandomValues": "console.log"}
    reader = visit()
    for way in ("element", "plain"):
        reader.page.goto(f"{reader.origin}/{way}.html")
        reader.wait(lambda: any("integrity" in said for said in reader.console))
        assert reader.heard == []
        reader.console.clear()
    assert reader.page.locator("form > fieldset:disabled").count() == 1
    assert not wire.reports


@pytest.mark.parametrize("text", ["Sent. Thank you.", '"notSent"', 'PINS={"invite.js"'])
def test_what_is_loaded_later_is_pinned_too(visit: Visit, wire: Wire, text: str) -> None:
    """Another text, code or list of hashes of what is later: it is not taken, nothing is sent."""
    wire.replace = {text: text.replace("S", "s")}
    reader = visit().read("element")
    reader.answer()
    reader.send()
    reader.wait(lambda: reader.says("could not be loaded"))
    assert any("integrity" in said for said in reader.console)
    assert not wire.reports


def test_what_is_not_pinned_is_not_run(visit: Visit, wire: Wire, pages: Any) -> None:
    """A page in a language that the form does not speak: a server cannot make it speak that."""
    form = pages.places("plain.html")["snippet"].replace('lang="en"', 'lang="fr"')
    assert 'lang="fr"' in form
    pages.extra["lang.html"] = f'<script src="listen.js"></script><p id="heard"></p>{form}'
    reader = visit()
    words = "export default {}; window.spoken = true;"
    headers = {"Access-Control-Allow-Origin": "*"}
    reader.page.route("**/words.fr.js", lambda route: route.fulfill(
        body=words, content_type="text/javascript", headers=headers))  # fmt: skip
    reader.page.goto(f"{reader.origin}/lang.html")
    reader.hear("deniable-ready")
    assert reader.page.evaluate("window.spoken") is None
    reader.answer_plain()
    reader.page.get_by_role("button").click()
    reader.hear("deniable-sent")
    assert "Sent. Thank you." in (reader.page.locator("output").text_content() or "")


def test_another_style_sheet_is_not_applied(visit: Visit, wire: Wire) -> None:
    """A style sheet could tell what is ticked by what it loads, so it is pinned as well."""
    wire.replace = {"--paper": "--other"}
    reader = visit().read("element")
    reader.wait(lambda: any("integrity" in said for said in reader.console))


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_file_is_served_as_it_is_pinned(site: Site, entry: str) -> None:
    """What the verb prints is the hash of what the server gives, compressed or not."""
    for file in in_use(FILES, entry):
        address = f"http://127.0.0.1:{site.port}/client/{entry}/{file.name}"
        plain = urlopen(address)
        zipped = urlopen(Request(address, headers={"Accept-Encoding": "gzip"}))
        assert plain.headers["Access-Control-Allow-Origin"] == "*"
        body = plain.read()
        assert gzip.decompress(zipped.read()) == body == file.body
        assert zipped.headers["ETag"] != plain.headers["ETag"]
        plain.close()
        zipped.close()


def test_the_verb_prints_what_to_paste(tmp_path: Path) -> None:
    """The snippet holds the hash of the script and the digest of the survey."""
    path = str(ROOT / "examples/embedding/survey.toml")
    server = ["--server", "https://survey.example.org"]
    found = CliRunner().invoke(embed, [path, *server])
    assert found.exit_code == 0
    assert FILES.index("embed").integrity in found.stdout
    assert surveys()["tickets"].digest in found.stdout
    assert "form-action 'none'" in found.stderr
    with closing(ReportStore(tmp_path / "s.db")) as store:
        store.publish(surveys()["tickets"])
    named = CliRunner().invoke(embed, ["tickets", "--database", str(tmp_path / "s.db"), *server])
    assert named.stdout == found.stdout
    assert CliRunner().invoke(embed, ["tickets@1", *server]).exit_code == 2
    form = CliRunner().invoke(embed, [path, *server, "--form"])
    assert FILES.index("plain").integrity in form.stdout
    assert " name=" not in form.stdout
    assert "<fieldset disabled>" in form.stdout
    for wrong in (["--server", "survey.example.org"], [*server, "--arm", "north"]):
        assert CliRunner().invoke(embed, [path, *wrong]).exit_code == 2


def test_a_plain_form_is_in_the_language_that_was_asked_for() -> None:
    """Labels and values are the survey's in that language; the client takes values in any."""
    lines = list(
        snippet(SURVEYS["leave"], FILES, "https://survey.example.org", form=True, lang="bn")
    )
    assert any('lang="bn"' in line for line in lines)
    assert any('value="হ্যাঁ"> হ্যাঁ' in line for line in lines)
    assert any("<legend>আপনি কি কখনো" in line for line in lines)
    assert not any("Never" in line for line in lines)


def sizes(site: Site, entry: str, *names: str) -> int:
    """Add up what goes over the wire."""
    total = 0
    for name in names:
        address = f"http://127.0.0.1:{site.port}/client/{entry}/{name}"
        with urlopen(Request(address, headers={"Accept-Encoding": "gzip"})) as found:
            total += len(found.read())
    return total


def test_sizes(site: Site) -> None:
    """What an embed needs to ask, in one language, and all that it loads until it has sent."""
    scripts = ("index.js", "words.en.js")
    assert sizes(site, "embed", *scripts, "deniable.css") <= 12 * KIB
    later = ("pins.later.js", "outcome.js", "more.en.js", "more.css")
    assert sizes(site, "embed", *scripts, "deniable.css", *later) <= 17 * KIB
    assert sizes(site, "plain", *scripts, "pins.later.js", "more.en.js") <= 12 * KIB


def test_lean_style_sheets_say_the_same(visit: Visit) -> None:
    """Chromium reads the same rules in a style sheet as it is written and as it is served."""
    page = visit().page
    rules = """(text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      return [...sheet.cssRules].map((rule) => rule.cssText.replace(/, +/g, ","));
    }"""
    for name in ("deniable.css", "more.css"):
        written = (ROOT / "client/deniable_client/browser" / name).read_text()
        found = page.evaluate(rules, lean_style(written))
        assert found == page.evaluate(rules, written)
        assert len(found) > 5
