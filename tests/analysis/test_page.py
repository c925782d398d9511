"""The page, the table and the files: complete, self-contained, and safe to open."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable_analysis import Reports, report
from deniable_analysis.cli import report as report_verb
from deniable_analysis.export import guarded, to_csv, to_json
from deniable_analysis.page import render, style_source
from deniable_analysis.results import analyse
from deniable_analysis.text import summary
from deniable_protocol import Survey
from deniable_protocol.canonical import digest

from .samples import EVERY_KIND, SURVEY, gathered, some_reports
from .test_reading import kept

AXE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"
VOID = {"meta", "line", "circle", "path", "br"}


class Reader(HTMLParser):
    """Read a page strictly: every tag is closed, in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def results():
    return analyse(gathered(400, survey=EVERY_KIND))


@pytest.fixture(scope="module")
def page(results):
    return render(results)


def test_it_needs_nothing_else(page):
    """No script, no address, no image, no frame: nothing is fetched and nothing runs."""
    reader = Reader(page)
    allowed = {"html", "head", "meta", "title", "style", "body", "main", "header", "p", "h1", "h2",
               "h3", "dl", "div", "dt", "dd", "svg", "circle", "path", "line", "section", "table",
               "caption", "thead", "tbody", "tr", "th", "td", "span", "details", "summary", "ul",
               "li", "footer", "code", "strong"}  # fmt: skip
    assert {tag for tag, _ in reader.tags} <= allowed
    names = {name for _, attrs in reader.tags for name in attrs}
    assert not names & {"src", "href", "srcset", "action", "style", "background"}
    assert not any(name.startswith("on") for name in names)
    assert not re.search(r"https?:|url\(|@import", page)
    assert "prefers-color-scheme: dark" in page
    assert [a.get("content") for t, a in reader.tags if a.get("name") == "color-scheme"] == [
        "light dark"
    ]


def test_a_policy_can_allow_just_its_style(page):
    """The style that a Content-Security-Policy names is the page's only one."""
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert [f"'{digest(style.encode())}'" for style in styles] == [style_source()]


def test_every_option_has_a_dot_an_interval_and_its_numbers(results, page):
    """One drawing for each row, with the numbers beside it, placed where they say."""
    sections = re.findall(r'<section aria-labelledby="q-.*?</section>', page, re.DOTALL)
    assert len(sections) == len(EVERY_KIND.questions)
    for block, section in zip(results.blocks, sections, strict=True):
        rows = [*block.rows, *block.among]
        steps = block.number.cumulative[:-1] if block.number and not block.coarse else ()
        drawn = re.findall(r'<td role="cell" class="chart">(.*?)</td>', section, re.DOTALL)
        assert len(drawn) == len(rows) + len(steps)
        for row in rows:
            ends = f'x1="{100 * row.found.low:.3f}%" x2="{100 * row.found.high:.3f}%"'
            assert ends in section
            assert f'cx="{100 * row.found.best:.3f}%"' in section
            assert f"{100 * row.found.best:.1f}" in section


def test_what_must_be_on_it(page):
    """Number of reports, privacy, odds, method, level and digest are said."""
    text = Reader(page).text
    for needed in ["400 people answered", "ε = 8", "95 % interval", EVERY_KIND.digest,
                   "Feldman–Cousins", "Digest of the survey", " : 1", "Unbiased ± SE",
                   "On average", "Of those who answered", "Not asked", "No answer"]:  # fmt: skip
        assert needed in text, needed


def test_texts_are_escaped(page):
    """Whatever an author wrote is shown as text."""
    assert "Every &lt;kind&gt; &amp; more" in page
    hostile = Survey.load(
        {
            "name": "hostile",
            "title": "<script>alert(1)</script>",
            "privacy": {"epsilon": 1},
            "questions": [{"name": "q", "kind": "yes-no", "text": "</h2><img src=x>"}],
        }
    )
    found = report(Reports.of_counts(hostile, {"q": [3, 4]}))
    Reader(found)
    assert "<script" not in found
    assert "<img" not in found


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_reports(n):
    """With no report, or one, the page and the table still say what is known."""
    for survey in (SURVEY, EVERY_KIND):
        results = analyse(gathered(n, survey=survey))
        text = Reader(render(results)).text
        assert ("No report has come in yet" in text) == (n == 0)
        assert "nan" not in text.lower().split()
        assert "nan" not in summary(results).lower().split()
        json.loads(to_json(results), parse_constant=pytest.fail)


def test_at_the_boundary_and_too_few():
    """A best fit at the end is said in words; a wide interval gives no single number."""
    reports = Reports.of_counts(SURVEY, {"stolen": [40, 160]})
    text = Reader(report(reports)).text
    assert "perhaps nobody" in text
    assert "at the boundary" in text
    assert "a best fit at the very end" in text
    results = analyse(Reports.of_counts(SURVEY, {"stolen": [60, 140]}), limit=0.1)
    text = Reader(render(results)).text
    assert text.count("too few to say") == 2
    assert "Too few to say where the interval is longer than 10 percentage points" in text
    assert "10.0 % ± 6.5 %" in text  # for pooling, the unbiased estimate stays
    assert summary(results).count("?") >= 4
    missed = report(Reports.of_counts(SURVEY, {"stolen": [30, 170]}), method="wilson")
    assert "has no interval for this case" in Reader(missed).text


def test_json_and_csv_hold_the_same_numbers(results):
    """Both files have every option with all digits, and spreadsheets run nothing."""
    found = json.loads(to_json(results))
    assert found["survey"]["digest"] == EVERY_KIND.digest
    lines = list(csv.DictReader(io.StringIO(to_csv(results))))
    options = [o for q in found["questions"] for o in (*q["options"], *q.get("among", []))]
    assert len(options) == len(lines)
    for option, line in zip(options, lines, strict=True):
        assert float(line["share"]) == option["share"]
        assert float(line["high"]) == option["high"]
        assert line["option"] == guarded(option["label"])
    assert "'=once()" in {line["option"] for line in lines}
    assert found["questions"][-1]["number"]["mean"]["value"] > 0


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_formulas_are_guarded(text):
    """Every character that starts a formula somewhere gets an apostrophe."""
    assert guarded(text) == f"'{text}"
    assert guarded(f"a{text}") == f"a{text}"


def test_arms_side_by_side():
    """Each arm has its own table, with its own number of reports."""
    reports = gathered(200, survey=EVERY_KIND)
    results = analyse(reports, by_arm=True, simultaneous=True)
    text = Reader(render(results)).text
    sizes = [part.n for part in reports.by_arm().values()]
    assert all(f"{size} reports." in text for size in sizes)
    assert "all options of a question at once" in text
    assert "all intervals of a question hold" in text
    lines = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert {line["arm"] for line in lines} == {"north", "south"}


def run(*arguments: str):
    return CliRunner().invoke(report_verb, [str(a) for a in arguments])


def test_the_verb(tmp_path, monkeypatch):
    """The verb prints the table, writes the page, and writes files where asked."""
    monkeypatch.chdir(tmp_path)
    kept(tmp_path / "all.db", EVERY_KIND, some_reports(60, survey=EVERY_KIND))
    done = run("all.db", "--csv", "all.csv", "--level", "0.9", "--limit", "20")
    assert done.exit_code == 0, done.output
    assert "90 % interval" in done.output
    assert "?: too few reports to say" in done.output
    assert Path("every-kind.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert Path("all.csv").read_text(encoding="utf-8").startswith("question,option,arm")
    only = run("all.db", "--json", "-", "--arm", "north")
    assert json.loads(only.output)["n"] < 60
    both = run("all.db", "--by-arm", "--output", "arms.html")
    assert "[north]" in both.output
    for wrong, words in [
        (("none.db",), "No such file"),
        (("all.db", "--survey", "x"), "no survey 'x'"),
        (("all.db", "--arm", "east"), "expected an arm among"),
        (("all.db", "--output", "no/where.html"), "cannot write no/where.html"),
    ]:
        failed = run(*wrong)
        assert failed.exit_code == 1
        assert words in failed.output


@pytest.mark.browser
def test_it_fits_every_width(results, page, tmp_path):
    """In a browser: no overflow at 320 and 1280 px, two schemes, nothing fetched, axe clean."""
    from playwright.sync_api import sync_playwright

    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        papers = set()
        for width in (320, 1280):
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": 800},
                    color_scheme=scheme,
                )
                tab = context.new_page()
                asked: list[str] = []
                tab.on("request", lambda request, asked=asked: asked.append(request.url))
                tab.goto((tmp_path / "page.html").as_uri())
                assert tab.evaluate("document.documentElement.scrollWidth") == width
                papers.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
                assert len(asked) == 1
                tab.evaluate(AXE.read_text(encoding="utf-8"))
                assert tab.evaluate("axe.run().then(found => found.violations)") == []
                context.close()
        assert len(papers) == 2
        browser.close()
