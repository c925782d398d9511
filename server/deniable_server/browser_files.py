"""The browser module as it is served, joined into one file that pins the rest.

There is no build step. The modules are read as they lie beside the client and are given out without
comments. For each entry its modules are joined into one ``index.js``, so that a page needs one
request and one hash; so is each module that is loaded later with those that only it imports. What
is loaded later is pinned.

Privacy:
    Joining adds no code. A test compares what is served with the sources, token by token.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from deniable_protocol import StoreError
from deniable_protocol.canonical import digest

from .lean import lean_script, lean_style

ENTRIES: Final = ("embed", "plain", "surveyjs")
"""Modules that a page of one's own starts with."""

TYPES: Final = {".js": "text/javascript", ".css": "text/css"}
# Written out: what the system's own table says of .js differs, and browsers insist.

_IMPORT: Final = re.compile(
    r'^(?:import|export) (?:(?:\{ (.*) \}|\*) from )?"\./([\w.-]+)";\n', re.M
)
_LOADED: Final = re.compile(
    r"""["`]([\w.${}-]+\.(?:js|css))["`]"""
)  # a name, or a pattern of names
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.S)
_PINS: Final = "export const PINS = {};"
_FURTHER: Final = "pins.later.js"
_AT_ONCE: Final = re.compile(r"deniable\.css|words\..*\.js|pins\.later\.js")
# What a form begins with is pinned where it begins. All else is pinned in a file of its own, which
# the first one pins: hashes do not shrink, and would be a twentieth of what everyone waits for.


@dataclass(frozen=True)
class BrowserFile:
    """One file as browsers get it."""

    name: str
    body: bytes

    @property
    def type(self) -> str:
        """Its media type."""
        return TYPES[Path(self.name).suffix]

    @cached_property
    def integrity(self) -> str:
        """Its hash, as the attribute ``integrity`` takes it."""
        return digest(self.body)

    @cached_property
    def compressed(self) -> bytes:
        """The same for browsers that take gzip, which is all of them; as small as zlib has it."""
        return min((_gzip(self.body, memory) for memory in range(4, 10)), key=len)


class BrowserFiles:
    """Give the files of a folder as they are served.

    Args:
        folder: Where the modules are; None for those that come with the client.

    Raises:
        StoreError: If the client is not installed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or _installed()
        self._known: dict[str, BrowserFile] = {}

    def find(self, path: str) -> BrowserFile | None:
        """Give a file by its name, or by an entry and a name: ``form.js``, ``embed/index.js``."""
        found = self._known.get(path)
        if found is None and (found := self._make(path)):  # what is not there is not remembered
            self._known[path] = found
        return found

    def index(self, entry: str) -> BrowserFile:
        """Give the file that a page with this entry starts with."""
        found = self.find(f"{entry}/index.js")
        if found is None:
            raise StoreError(f"the browser module has no entry {entry!r}")
        return found

    def later(self, entry: str) -> list[str]:
        """Name what an entry may load once it runs, in order."""
        seen = {*self.modules(entry)}
        waiting, found = [*seen], set[str]()
        while waiting:
            text = _COMMENT.sub("", self.read(waiting.pop()))
            named = [
                re.sub(r"\\\$\\\{.*?\\\}", "[^/]+", re.escape(n)) for n in _LOADED.findall(text)
            ]
            loaded = {n for n in self._names() if any(re.fullmatch(known, n) for known in named)}
            found |= loaded
            new = loaded.union(imports(text)) - seen
            waiting += sorted(new)
            seen |= new
        return sorted(found - {*self.modules(entry)})

    def _names(self) -> list[str]:
        return [path.name for path in self._folder.iterdir() if path.suffix in TYPES]

    def _make(self, path: str) -> BrowserFile | None:
        entry, _, name = path.rpartition("/")
        if entry and entry not in ENTRIES:
            return None
        if entry and name == "index.js":
            return BrowserFile(name, self._index(entry).encode())
        if name not in self._names():
            return None
        text = self._joined_later(entry, name) if entry else self.read(name)
        if entry and name == _FURTHER:
            text = text.replace(_PINS, self._pins(entry, at_once=False))
        return BrowserFile(name, lean(name, text).encode())

    def _index(self, entry: str) -> str:
        """Join an entry and all that it imports, and pin what it loads later."""
        parts = [_IMPORT.sub("", self.read(name)) for name in self.modules(entry)]
        return lean_script("".join(parts).replace(_PINS, self._pins(entry, at_once=True)))

    def _pins(self, entry: str, *, at_once: bool) -> str:
        """Write the hashes of what an entry loads at once, or of what it loads later."""
        names = [name for name in self.later(entry) if bool(_AT_ONCE.fullmatch(name)) == at_once]
        files = [(name, self.find(f"{entry}/{name}")) for name in names]
        pins = {name: file.integrity for name, file in files if file}
        return f"export const PINS = {json.dumps(pins)};"

    def modules(self, entry: str, later: str | None = None) -> tuple[str, ...]:
        """Name the modules of a file, each after those that it imports.

        Args:
            entry: The entry that the file is of.
            later: A file that it loads later; None for the one that it starts with.
        """
        apart = () if later is None else (*self.modules(entry), *self.later(entry))
        found: dict[str, None] = {}

        def visit(name: str, above: tuple[str, ...]) -> None:
            for needed in imports(self.read(name)):
                if needed not in found and needed not in above and needed not in apart:
                    visit(needed, (*above, name))
            found.setdefault(name)

        visit(later or f"{entry}.js", ())
        return tuple(found)

    def _joined_later(self, entry: str, name: str) -> str:
        """Join a later file and what only it imports; nothing that is loaded before comes twice."""
        parts = [self.read(part) for part in self.modules(entry, name)]
        taken: dict[str, dict[str, None]] = {}
        for names, where in (found for part in parts for found in _IMPORT.findall(part)):
            source = "index.js" if where in self.modules(entry) else where
            if names and where not in self.modules(entry, name):
                taken.setdefault(source, {}).update(dict.fromkeys(names.split(", ")))
        lines = [
            f'import {{ {", ".join(names)} }} from "./{where}";\n' for where, names in taken.items()
        ]
        return "".join([*lines, *(_IMPORT.sub("", part) for part in parts)])

    def read(self, name: str) -> str:
        """Give the source of a module or style sheet."""
        return (self._folder / name).read_text(encoding="utf-8")


def imports(source: str) -> list[str]:
    """Name what a module imports from beside itself."""
    return [where for _, where in _IMPORT.findall(source)]


def lean(name: str, source: str) -> str:
    """Leave out what browsers do not need."""
    return lean_style(source) if name.endswith(".css") else lean_script(source)


def _gzip(body: bytes, memory: int) -> bytes:
    """Compress; less memory makes shorter blocks, each with a code for what is in it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16, memory)
    return packer.compress(body) + packer.flush()


def in_use(files: BrowserFiles, entry: str) -> Iterator[BrowserFile]:
    """Go through everything that a page gets which starts with an entry."""
    found = (files.find(f"{entry}/{name}") for name in ("index.js", *files.later(entry)))
    yield from (file for file in found if file)


def _installed() -> Path:
    """Find the files without importing the client: server code stays away from the randomizer."""
    spec = find_spec("deniable_client")
    if spec is None or not spec.submodule_search_locations:
        raise StoreError("the client is not installed here, so its browser module cannot be served")
    return Path(spec.submodule_search_locations[0]) / "browser"
