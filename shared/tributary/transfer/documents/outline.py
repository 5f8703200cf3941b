"""A Markdown document as its headings, each with the blocks below it. CommonMark, with tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

UNTITLED = "(untitled)"
TOP = "(top)"
_COMMENT_BLOCK = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CODE_OR_COMMENT = re.compile(r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Bullet:
    """An entry of a list that is not itself in one, with all that is nested in it. `line` counts from 1."""

    text: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Section:
    """What stands under one heading, up to the next. `path` are the headings above it, the widest first, and its own.

    `starts` are the lines of `text` at which a block begins. Without a heading, before the first one, the path is empty.
    """

    path: tuple[str, ...]
    level: int
    line: int
    text: str
    starts: tuple[int, ...]
    bullets: tuple[Bullet, ...]
    besides: str
    """The text without its bullets."""

    @property
    def heading(self) -> str:
        return self.path[-1] if self.path else TOP


def sections(lines: Sequence[str], *, first_line: int = 1) -> list[Section]:
    """Returns the sections of a document, in order, empty ones too. `first_line` is the number of its first line in the file."""
    parser = _parser()
    tokens = parser.parse("\n".join(lines))
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    heads = list(_headings(parser, tokens))
    starts = [0, *(end for _, end, _, _ in heads)]
    ends = [*(start for start, _, _, _ in heads), len(lines)]
    blocks = _Blocks.of(tokens)
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        level, line = 0, 0
        if number:
            line, _, level, heading = heads[number - 1]
            path = [*((above, name) for above, name in path if above < level), (level, heading)]
        body = _Body(lines, start, max(start, end), blocks)
        found.append(
            Section(
                path=tuple(name for _, name in path),
                level=level,
                line=first_line + (line if number else body.first),
                text=body.text(),
                starts=body.starts(),
                bullets=tuple(body.bullets(first_line)),
                besides=body.besides(),
            )
        )
    return found


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


def _headings(parser: MarkdownIt, tokens: Sequence[Token]) -> Iterator[tuple[int, int, int, str]]:
    """Yields (first line, line after it, level, text) of headings that are in no quotation and no list."""
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            yield token.map[0], token.map[1], int(token.tag[1:]), _plain(parser, tokens[place + 1].content) or UNTITLED


def _plain(parser: MarkdownIt, text: str) -> str:
    """Returns a heading as it is read: without marks, addresses of links and HTML."""
    if not re.search(r"[\[\\`*_<&!]", text):
        return " ".join(text.split())
    parser.enable("inline")
    children = parser.parseInline(text)[0].children or []
    parser.disable("inline")
    words = [" " if one.type in ("softbreak", "hardbreak") else one.content for one in children if one.type != "html_inline"]
    return " ".join("".join(words).split())


@dataclass(frozen=True, kw_only=True)
class _Blocks:
    """Line ranges of a document's blocks: outermost ones, entries of outermost lists, code, and comments."""

    outermost: tuple[tuple[int, int], ...]
    entries: tuple[tuple[int, int], ...]
    code: tuple[tuple[int, int], ...]
    comments: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> _Blocks:
        placed = [(one, (one.map[0], one.map[1])) for one in tokens if one.map]
        return cls(
            outermost=tuple(where for one, where in placed if one.level == 0 and one.type != "inline"),
            entries=tuple(where for one, where in placed if one.type == "list_item_open" and one.level == 1),
            code=tuple(where for one, where in placed if one.type in ("fence", "code_block")),
            comments=tuple(
                where for one, where in placed if one.type == "html_block" and one.content.lstrip().startswith("<!--")
            ),
        )


class _Body:
    """The lines [start, end) of a document, without comments and without blank lines at its ends."""

    def __init__(self, lines: Sequence[str], start: int, end: int, blocks: _Blocks) -> None:
        self._kept = _uncommented(lines, start, end, blocks)
        while self._kept and not self._kept[0][1].strip():
            del self._kept[0]
        while self._kept and not self._kept[-1][1].strip():
            del self._kept[-1]
        self._blocks = blocks
        self._range = (start, end)
        self.first = self._kept[0][0] if self._kept else start

    def text(self) -> str:
        return "\n".join(line for _, line in self._kept)

    def starts(self) -> tuple[int, ...]:
        begin = {first for first, _ in self._blocks.outermost}
        return tuple(place for place, (number, _) in enumerate(self._kept) if number in begin)

    def bullets(self, first_line: int) -> Iterator[Bullet]:
        for first, last in self._entries():
            lines = [line for number, line in self._kept if first <= number < last]
            text = _entry(lines)
            if text:
                yield Bullet(text=text, line=first_line + first)

    def besides(self) -> str:
        inside = {number for first, last in self._entries() for number in range(first, last)}
        return "\n".join(line for number, line in self._kept if number not in inside).strip("\n")

    def _entries(self) -> Iterator[tuple[int, int]]:
        start, end = self._range
        return ((first, last) for first, last in self._blocks.entries if start <= first < end)


def _uncommented(lines: Sequence[str], start: int, end: int, blocks: _Blocks) -> list[tuple[int, str]]:
    """Returns (number, line) of a range without what readers of the page do not see. Code is left as it is."""
    code = {number for first, last in blocks.code for number in range(max(first, start), min(last, end))}
    hidden = {number for first, last in blocks.comments for number in range(max(first, start), min(last, end))}
    kept: list[tuple[int, str]] = []
    number = start
    while number < end:
        if number in code:
            kept.append((number, lines[number]))
            number += 1
            continue
        last = number
        while last < end and last not in code and (last in hidden) == (number in hidden):
            last += 1
        kept += _stripped(lines[number:last], number, whole=number in hidden)
        number = last
    return kept


def _stripped(lines: Sequence[str], first: int, *, whole: bool) -> list[tuple[int, str]]:
    """Returns (number, line) without comments; a line of which nothing is left goes, too."""
    text = "\n".join(lines)
    if "<!--" not in text:
        return list(enumerate(lines, first))
    # what is taken out keeps its line breaks, so that the others keep their numbers
    if whole:
        stripped = _COMMENT_BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text)
    else:
        stripped = _CODE_OR_COMMENT.sub(lambda found: found[0] if found["code"] else "\n" * found[0].count("\n"), text)
    pairs = zip(lines, stripped.split("\n"), strict=True)
    return [(first + place, after) for place, (before, after) in enumerate(pairs) if after.strip() or not before.strip()]


def _entry(lines: Sequence[str]) -> str:
    """Returns a list's entry without its mark, and what is below it without the blanks that put it there."""
    if not lines:
        return ""
    marked = re.match(r"\s*(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)", lines[0])
    width = marked.end() if marked else 0
    rest = [line[min(width, len(line) - len(line.lstrip())) :] for line in lines[1:]]
    return "\n".join([lines[0][width:], *rest]).strip()
