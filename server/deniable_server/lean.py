"""Scripts and style sheets without comments, and without spaces and signs that say nothing.

Names and the order of everything stay, and each function begins a line: what a browser shows as
source can be read beside the source. Tests parse both and compare them, statement by statement and
rule by rule.
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
_NEEDED: Final = re.compile(r"[\w$#.]{2}|\+\+|--|//|/\*")
# Around a space: without it, these two signs would become one.

_GOES_ON: Final = re.compile(r"^[;{,(\[=>?:&|]|[})\],?:.&|]$")
# Around the end of a line: after the first ones, and before the others, no statement ends there.


def lean_script(source: str) -> str:
    r"""Make a script lean.

    It must end its statements by semicolons, and no loop in it may be without a body.

    >>> lean_script('/** Why. */\nexport const f = (a) => {\n  return `${a / 2} !`; // half\n};\n')
    'export const f=(a)=>{return`${a / 2} !`};'
    """
    text = ""
    tokens = _tokens(source)
    for piece, following in zip(tokens, [*tokens[1:], ""], strict=True):
        around = text[-1:] + following[:1]
        if piece == "}":
            text = text.removesuffix(";")
        if not piece.isspace():
            text += piece
        elif "\n" in piece and text and not _GOES_ON.search(around):
            text += "\n"
        elif _NEEDED.fullmatch(around):
            text += " "
    return text


def lean_style(source: str) -> str:
    r"""Make a style sheet lean.

    >>> lean_style('/* Why. */\na :hover > b {\n  margin: 0.5rem;\n}\n')
    'a :hover>b{margin:.5rem}'
    """
    text = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", source, flags=re.S)).strip()
    parts = re.split(r'("[^"]*")', text)  # every other one is a string
    parts[::2] = [_lean_rules(part) for part in parts[::2]]
    return "".join(parts)


def _lean_rules(text: str) -> str:
    text = re.sub(r" ?([{};,>]) ?|(:) ", r"\1\2", text)
    return re.sub(r"\b0(?=\.\d)", "", text).replace(";}", "}")


def _tokens(source: str) -> list[str]:
    """Cut a script into strings, templates, patterns, words, signs and spaces."""
    found: list[str] = []
    place = 0
    while place < len(source):
        end, is_comment = _token_end(source, place)
        token = source[place:end]
        if token.isspace() and found and found[-1].isspace():
            found[-1] += token  # there was a comment between them
        elif not is_comment:
            found.append(token)
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
