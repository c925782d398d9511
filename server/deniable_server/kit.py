"""The offline kit: a survey and the browser client in one HTML file that cannot send anything.

The client's modules are put one after the other, as lean as they are served: each becomes a
function that gives its exports, so that what runs can still be read. No build tool takes part.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from deniable_protocol import Survey, SurveyError
from deniable_protocol.canonical import digest

from .browser_files import BrowserFiles
from .lean import lean_script, lean_style

_INTERFACE: Final = ("en", "bn", "zh-Hant")
_INSTEAD: Final = {  # of what sends, and of what a kit has no use for
    "fetch.js": "kit/device.js",
    "keeper.js": "kit/device.js",
    "outcome.js": "kit/outcome.js",
    "learn.js": "kit/outcome.js",
    **{f"more.{tag}.js": f"kit/words.{tag}.js" for tag in _INTERFACE},
}
_BY_NAME: Final = ("outcome.js", "learn.js")  # loaded later, so no module imports them
_MAIN: Final = "kit/main.js"
_PAGE_STYLE: Final = (
    ":root{background:light-dark(#faf9f6,#14181a)}body{margin:0}"
    "main,footer{max-width:38rem;margin:auto;padding:1rem}"
)
_START: Final = """const MODULES = {};
const sheet = (text) => URL.createObjectURL(new Blob([text], { type: "text/css" }));
const SHEETS = { "deniable.css": sheet(%s), "more.css": sheet("") };
const linkTo = (name) => ({ href: SHEETS[name] });
MODULES["pins.js"] = { linkTo, load: async (name) => MODULES[name] };
"""
_IMPORT: Final = re.compile(r'^import (\{.*?\}) from "(\..*?)";\n', re.M)
_ALL: Final = re.compile(r'^export \* from "(\..*?)";\n', re.M)
_NAMED: Final = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.M)
_DEFAULT: Final = "export default "


def make_kit(survey: Survey) -> str:
    """Write the offline kit of a survey, one HTML page.

    Privacy:
        The page's policy names its one script by hash and allows no connection at all.

    Raises:
        SurveyError: If the survey is by invitation, or in waves: both need a device of one's own.
    """
    if survey.invite_key or survey.memoize:
        raise SurveyError([f"survey '{survey.name}' needs a device for each person: no kit of it"])
    script = _Kit(BrowserFiles()).script(survey)
    environment = Environment(
        loader=PackageLoader("deniable_server"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("kit.html").render(
        survey=survey,
        # In a script element only "<" could end it; in JSON it may be written like this.
        published=survey.to_json().decode().replace("<", "\\u003c"),
        script=script,
        style=_PAGE_STYLE,
        sources=" ".join(f"'{digest(text.encode())}'" for text in (script, _PAGE_STYLE)),
    )


class _Kit:
    def __init__(self, files: BrowserFiles) -> None:
        self._files = files
        self._done = {"pins.js"}

    def script(self, survey: Survey) -> str:
        style = json.dumps(lean_style(self._files.read("deniable.css")))
        spoken = dict.fromkeys(["en", *(tag for tag in _INTERFACE if tag in survey.languages)])
        words = [f"{kind}.{tag}.js" for tag in spoken for kind in ("words", "more")]
        parts = [part for name in (*words, *_BY_NAME, _MAIN) for part in self._with_imports(name)]
        script = lean_script("".join([_START % style, *parts]))
        if "</script" in script or "<!--" in script:
            raise SurveyError(["the client's code cannot stand in a page"])
        return script

    def _with_imports(self, name: str) -> list[str]:
        """Give a module after those that it imports, each once."""
        if name in self._done:
            return []
        self._done.add(name)
        file = _INSTEAD.get(name, name)
        if file != name:  # under both names, so that everyone finds it
            return [*self._with_imports(file), f"MODULES[{name!r}] = MODULES[{file!r}];\n"]
        source = self._files.read(file)
        needed = [path for _, path in _IMPORT.findall(source)] + _ALL.findall(source)
        before = [part for path in needed for part in self._with_imports(_beside(file, path))]
        return [*before, _as_function(file, source)]


def _as_function(file: str, source: str) -> str:
    exports = [name for _, name in _NAMED.findall(source)]
    exports += [f"...MODULES[{_beside(file, path)!r}]" for path in _ALL.findall(source)]
    body = _IMPORT.sub(
        lambda found: f"const {found[1]} = MODULES[{_beside(file, found[2])!r}];\n", source
    )
    body = _NAMED.sub(r"\1 \2", _ALL.sub("", body))
    if _DEFAULT in body:
        body, exports = body.replace(_DEFAULT, "const found = ", 1), ["default: found"]
    start = "await (async " if file == _MAIN else "("
    return (
        f"MODULES[{file!r}] = {start}() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"
    )


def _beside(file: str, path: str) -> str:
    """Find a module that another one names relative to itself."""
    parts: list[str] = []
    for part in (PurePosixPath(file).parent / path).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
