"""Take the pictures of `docs/pictures`: `python -m tests.browser.pictures`.

They show what a respondent sees. Bengali and Chinese need fonts on the machine that takes them.
"""

from __future__ import annotations

import base64
import shutil
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from .site import Site
from .visitor import Visitor
from .wire import Wire

FOLDER = Path(__file__).parents[2] / "docs/pictures"
LANGUAGES = {"en": "English", "bn": "Bengali", "zh-Hant": "Traditional Chinese"}
SENDS = {"en": "Randomize and send", "bn": "দৈবভাবে বদলে পাঠান", "zh-Hant": "隨機更改並送出"}


@dataclass(frozen=True)
class Picture:
    """One picture: how it is named, what it shows, and how the page gets there."""

    stage: str
    language: str
    width: int
    scheme: str

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


STAGES: dict[str, Callable[[Visitor, Picture], None]] = {
    "form": form, "learn": learn, "error": error, "sent": sent,
}  # fmt: skip
SHOWN = {
    "form": "The form, answered and not yet sent",
    "learn": "How it works, opened, with a trial of twenty reports",
    "error": "Sending with questions still open",
    "sent": "What was sent",
}


def pictures() -> Iterator[Picture]:
    for language in LANGUAGES:
        for width in (320, 1280):
            for scheme in ("light", "dark"):
                yield Picture("form", language, width, scheme)
    yield Picture("learn", "en", 320, "light")
    yield Picture("learn", "bn", 1280, "dark")
    yield Picture("learn", "zh-Hant", 320, "dark")
    yield Picture("error", "en", 320, "light")
    yield Picture("sent", "en", 320, "light")
    yield Picture("sent", "bn", 320, "dark")
    yield Picture("sent", "zh-Hant", 1280, "light")


# Gives the pixels of a PNG picture; the browser can read it, and we need not.
PIXELS = """async (picture) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const reader = new FileReader();
  await new Promise((done) => { reader.onload = done; reader.readAsDataURL(new Blob([data])); });
  return [image.width, image.height, reader.result.split(",")[1]];
}"""


def small(page: Page, picture: bytes) -> bytes:
    """Write a picture again with a palette: a fourth of the bytes, and nothing that is seen."""
    page.goto("about:blank")
    source = "data:image/png;base64," + base64.b64encode(picture).decode()
    width, height, data = page.evaluate(PIXELS, source)
    pixels = np.frombuffer(base64.b64decode(data), np.uint8).reshape(-1, 4)[:, :3]
    for step in (1, 4, 8, 16, 32):
        rounded = (pixels // step * step + step // 2).astype(np.uint32)
        colours, places = np.unique(rounded @ [1 << 16, 1 << 8, 1], return_inverse=True)
        if len(colours) <= 256:
            break
    rows = np.zeros((height, width + 1), np.uint8)  # each row starts with its filter: none
    rows[:, 1:] = places.reshape(height, width)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = b"".join(int(colour).to_bytes(3, "big") for colour in colours)
    parts = [(b"IHDR", header), (b"PLTE", palette),
             (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]  # fmt: skip
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in parts
    )


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        Site(Path(folder)) as site,
        Wire(site.port) as wire,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium)
        for picture in pictures():
            context = browser.new_context(
                viewport={"width": picture.width, "height": 600}, color_scheme=picture.scheme,
                locale=picture.language, reduced_motion="reduce",
            )  # fmt: skip
            visitor = Visitor(context, wire.origin).open("leave")
            STAGES[picture.stage](visitor, picture)
            visitor.page.wait_for_timeout(200)
            taken = visitor.page.screenshot(full_page=True)
            (FOLDER / picture.name).write_bytes(small(context.new_page(), taken))
            context.close()
        browser.close()
    lines = [f"![{picture.shows}]({picture.name})\n" for picture in pictures()]
    text = (
        "# What a respondent sees\n\n"
        "Taken from the real form in Chromium by `python -m tests.browser.pictures`, in each "
        "language of the interface, on a phone of 320 px and a screen of 1280 px, light and dark.\n"
    )
    (FOLDER / "README.md").write_text(text + "\n" + "\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
