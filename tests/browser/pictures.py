"""Take the pictures of `docs/pictures`: `python -m tests.browser.pictures [STAGE …]`.

They show what a respondent sees, on each kind of page. Bengali and Chinese need fonts on the
machine that takes them.
"""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Literal

from playwright.sync_api import sync_playwright
from werkzeug.serving import make_server

from deniable_protocol import Survey
from deniable_server.embed_cli import snippet
from deniable_server.kit import make_kit
from deniable_server.preview import create_preview

from .palette import small
from .site import Site
from .surveys import LEAVE, SURVEYS
from .visitor import Visitor
from .wire import Wire

FOLDER = Path(__file__).parents[2] / "docs/pictures"
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
LANGUAGES = {"en": "English", "bn": "Bengali", "zh-Hant": "Traditional Chinese"}
SENDS = {"en": "Randomize and send", "bn": "দৈবভাবে বদলে পাঠান", "zh-Hant": "隨機更改並送出"}

# Shorter: of these pictures the page around the questions matters.
BRIEF = Survey.load(
    {key: LEAVE[key] for key in ("title", "intro", "privacy")}
    | {"name": "brief", "questions": [LEAVE["questions"][0], LEAVE["questions"][2]],
       "intro": {"en": "Two questions about your work.", "bn": "আপনার কাজ নিয়ে দুটি প্রশ্ন।",
                 "zh-Hant": "關於您工作的兩個問題。"}}
)  # fmt: skip
GROUPED = Survey.load(BRIEF.published | {"arms": ["north", "south"]})

# A page of another site, in its own colours and letters; nothing of it is part of the survey.
PAPER = {
    "en": ("The Harbour Post", "Calling in sick", "We ask our readers. Nobody here, nor anyone "
           "else, can see what you answer."),
    "bn": ("বন্দর বার্তা", "অসুস্থতার ছুটি", "আমরা পাঠকদের জিজ্ঞাসা করছি। "
           "আপনার উত্তর এখানে বা অন্য কোথাও কেউ দেখতে পায় না।"),
    "zh-Hant": ("港灣日報", "請病假", "我們向讀者提問。本報或任何人都看不到您的答案。"),
}  # fmt: skip
PAPER_STYLE = """
html { color-scheme: light dark; background: light-dark(#fffdf5, #10151c); }
body { max-width: 46rem; margin: auto; padding: 1rem; font: 1.1rem/1.5 serif; }
body { color: light-dark(#222, #ddd); }
header { border-bottom: 3px double; font-size: 1.6rem; }
deniable-survey { display: block; border-left: 4px solid light-dark(#8a1c3b, #ff9db4);
  padding-left: 1rem; --deniable-accent: light-dark(#8a1c3b, #ff9db4); --deniable-font: serif;
  --deniable-tint: light-dark(#f8ecea, #2b1c24); --deniable-on-accent: light-dark(#fff, #30000f); }
deniable-survey::part(button) { border-radius: 0; }
"""


@dataclass(frozen=True)
class Picture:
    """One picture: how it is named, what it shows, and how the page gets there."""

    stage: str
    language: str
    width: int
    scheme: Scheme

    @property
    def name(self) -> str:
        return f"{self.stage}-{self.language}-{self.width}-{self.scheme}.png"

    @property
    def shows(self) -> str:
        return f"{SHOWN[self.stage]}: {LANGUAGES[self.language]}, {self.width} px, {self.scheme}"


def form(visitor: Visitor, picture: Picture) -> None:
    """Mark an answer of each question."""
    radios = [node.name for node in visitor.all("radio")]
    visitor.tab_to("radio", radios[0]).press("Space")
    if visitor.all("spinbutton"):
        visitor.tab_to("spinbutton").page.keyboard.type("12")
    visitor.tab_to("radio").press("Space", "ArrowRight", "ArrowRight")
    visitor.page.evaluate("scrollTo(0, 0)")


def learn(visitor: Visitor, picture: Picture) -> None:
    visitor.tab_to("DisclosureTriangle").press("Enter")
    visitor.wait(lambda: bool(visitor.all("image")))
    visitor.tab_to("combobox").tab_to("button").press("Enter")
    visitor.wait(lambda: len(visitor.all("image")) == 2)


def error(visitor: Visitor, picture: Picture) -> None:
    visitor.tab_to("button", SENDS[picture.language]).press("Enter")


def sent(visitor: Visitor, picture: Picture) -> None:
    form(visitor, picture)
    error(visitor, picture)
    visitor.wait(lambda: not visitor.all("radio") and len(visitor.all("heading")) == 2)
    visitor.wait(lambda: "sha256" in visitor.text())


def next_person(visitor: Visitor, picture: Picture) -> None:
    """Answer on a kit, up to where the tablet goes to the next person."""
    form(visitor, picture)
    send = next(node.name for node in visitor.all("button"))
    visitor.tab_to("button", send).press("Enter")
    visitor.wait(lambda: not visitor.all("radio"))
    visitor.page.evaluate("scrollTo(0, 0)")


STAGES: dict[str, Callable[[Visitor, Picture], None]] = {
    "form": form, "learn": learn, "error": error, "sent": sent,
    "embed": form, "preview": form, "kit": form, "kit-next": next_person,
}  # fmt: skip
SHOWN = {
    "form": "The form, answered and not yet sent",
    "learn": "How it works, opened, with a trial of twenty reports",
    "error": "Sending with questions still open",
    "sent": "What was sent",
    "embed": "In a page of another site, in that page's colours and letters",
    "preview": "The author's preview, where nothing can be sent",
    "kit": "The offline kit, one file that many people answer on one tablet",
    "kit-next": "The kit between two people",
}


def pictures() -> Iterator[Picture]:
    for stage in ("form", "embed", "preview", "kit"):
        for language in LANGUAGES:
            for width in (320, 1280):
                for scheme in SCHEMES:
                    yield Picture(stage, language, width, scheme)
    yield Picture("learn", "en", 320, "light")
    yield Picture("learn", "bn", 1280, "dark")
    yield Picture("learn", "zh-Hant", 320, "dark")
    yield Picture("error", "en", 320, "light")
    yield Picture("sent", "en", 320, "light")
    yield Picture("sent", "bn", 320, "dark")
    yield Picture("sent", "zh-Hant", 1280, "light")
    yield Picture("kit-next", "en", 320, "light")
    yield Picture("kit-next", "bn", 1280, "dark")


@contextmanager
def previewed(folder: Path) -> Iterator[str]:
    """Show a draft as `deniable preview` does."""
    file = folder / "leave.json"
    file.write_bytes(GROUPED.to_json())
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, create_preview(file), threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.port}/"
    server.shutdown()


def newspaper(pages: Any, language: str, files: Any) -> str:
    """Put the survey into a page of another site, as `deniable embed` prints it."""
    name, title, text = PAPER[language]
    lines = "\n".join(snippet(BRIEF, files, pages.origin))
    pages.extra["paper.css"] = PAPER_STYLE
    pages.extra[f"paper-{language}.html"] = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="paper.css">'
        f"<header>{name}</header><h1>{title}</h1><p>{text}</p>{lines}</html>"
    )
    return f"{pages.address}/paper-{language}.html"


@contextmanager
def addresses() -> Iterator[Callable[[Picture], str]]:
    """Serve everything, and say where a picture is taken."""
    from tests.embedding.pages import FILES, Pages

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "site").mkdir()
        surveys = {"leave": SURVEYS["leave"], "brief": BRIEF}
        site = stack.enter_context(Site(folder / "site", surveys))
        wire = stack.enter_context(Wire(site.port))
        preview = stack.enter_context(previewed(folder))
        pages = Pages(wire.origin)
        stack.callback(pages.close)
        kit = folder / "kit.html"
        kit.write_text(make_kit(GROUPED), encoding="utf-8")

        def address(picture: Picture) -> str:
            if picture.stage == "embed":
                return newspaper(pages, picture.language, FILES)
            if picture.stage == "preview":
                return preview
            return kit.as_uri() if "kit" in picture.stage else f"{wire.origin}/s/leave"

        yield address


def main(stages: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with addresses() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for picture in pictures():
            if stages and picture.stage not in stages:
                continue
            context = browser.new_context(
                viewport={"width": picture.width, "height": 600}, color_scheme=picture.scheme,
                locale=picture.language, reduced_motion="reduce",
            )  # fmt: skip
            visitor = Visitor(context, "")
            visitor.page.goto(address(picture))
            visitor.wait(lambda: bool(visitor.all("radio")))  # noqa: B023
            STAGES[picture.stage](visitor, picture)
            visitor.page.wait_for_timeout(200)
            taken = visitor.page.screenshot(full_page=True)
            (FOLDER / picture.name).write_bytes(small(context.new_page(), taken))
            context.close()
        browser.close()
    lines = [f"![{picture.shows}]({picture.name})\n" for picture in pictures()]
    text = (
        "# What a respondent sees\n\n"
        "Taken from the real pages in Chromium by `python -m tests.browser.pictures`, in each "
        "language of the interface, on a phone of 320 px and a screen of 1280 px, light and dark: "
        "the hosted form, the same in a page of another site, the author's preview, and the "
        "offline kit.\n"
    )
    (FOLDER / "README.md").write_text(text + "\n" + "\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
