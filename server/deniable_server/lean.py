"""Scripts and style sheets without comments, and without spaces that say nothing.

Names, lines and the order of everything stay: what a browser shows as source can be read beside
the source. A test parses both and compares them, statement by statement.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<pattern>/(?=[^\s/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*)
    | (?P<space>\s+)
    | (?P<word>[\w$\#]+)
    | (?P<other>.)""",
    re.X | re.S,
)
# A division is written with spaces around it, so a slash before anything else starts a pattern.

_IN_TEMPLATE: Final = re.compile(r"\\.|\$\{|`", re.S)
_TIGHT: Final = "=<>*?:&|{}(),;!%[]"  # not + and -: "a - -b" must stay two signs


def lean_script(source: str) -> str:
    r"""Make a script lean.

    >>> lean_script('/** Why. */\nexport const f = (a) => {\n  return `${a / 2} !`; // half\n};\n')
    'export const f=(a)=>{\nreturn `${a / 2} !`;\n};\n'
    """
    return _join(_tokens(source), _TIGHT, _TIGHT)


def lean_style(source: str) -> str:
    r"""Make a style sheet lean.

    >>> lean_style('/* Why. */\na :hover > b {\n  color: red;\n}\n')
    'a :hover > b{\ncolor:red;\n}\n'
    """
    pieces = re.findall(r"/\*.*?\*/|\"[^\"\n]*\"|\s+|[{};:,]|[^\s{};:,\"/]+|.", source, re.S)
    return _join([piece for piece in pieces if not piece.startswith("/*")], "{};,", "{};:,")


def _tokens(source: str) -> list[str]:
    """Cut a script into strings, templates, patterns, words, signs and spaces."""
    found, place = [], 0
    while place < len(source):
        end, is_comment = _token_end(source, place)
        if not is_comment:
            found.append(source[place:end])
        place = end
    return found


def _token_end(source: str, place: int) -> tuple[int, bool]:
    if source[place] == "`":
        return _template_end(source, place + 1), False
    token = _TOKEN.match(source, place)
    return (token.end(), token.lastgroup == "comment") if token else (place + 1, False)


def _template_end(source: str, place: int) -> int:
    """Find where a template ends; the code in it may hold templates."""
    while found := _IN_TEMPLATE.search(source, place):
        if found[0] == "`":
            return found.end()
        place = _block_end(source, found.end()) if found[0] == "${" else found.end()
    return len(source)


def _block_end(source: str, place: int) -> int:
    depth = 1
    while depth and place < len(source):
        end, _ = _token_end(source, place)
        depth += {"{": 1, "}": -1}.get(source[place:end], 0)
        place = end
    return place


def _join(tokens: list[str], before: str, after: str) -> str:
    """Put tokens together; of spaces stay the ends of lines, and those between words."""
    text = ""
    for place, token in enumerate(tokens):
        if not token.isspace():
            text += token
        elif "\n" in token:
            text = text.rstrip(" \n") + "\n" if text else ""
        elif text[-1:] not in after and tokens[place + 1 : place + 2] not in [[c] for c in before]:
            text += " "
    return text
