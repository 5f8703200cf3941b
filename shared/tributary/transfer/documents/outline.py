"""A Markdown document as its headings, each with the blocks below it. CommonMark, with tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

UNTITLED = "(untitled)"
TOP = "(top)"
_COMMENT_BLOCK = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TICKS_OR_COMMENT = re.compile(r"`+|<!--")
_HEADING_CHARACTERS = 1000
"""How much of a heading is read for marks: far more than is kept of it, and what takes no time whatever it holds."""


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
    text = text[:_HEADING_CHARACTERS]
    if not re.search(r"[\[\\`*_<&!]", text):
        return " ".join(text.split())
    parser.enable("inline")
    children = parser.parseInline(text)[0].children or []
    parser.disable("inline")
    words = [" " if one.type in ("softbreak", "hardbreak") else one.content for one in children if one.type != "html_inline"]
    return " ".join("".join(words).split())


@dataclass(frozen=True, kw_only=True)
class _Blocks:
    """A document's blocks by their lines. Looked into for each section, so that nothing here is gone through anew for each."""

    starts: frozenset[int]
    """Lines at which an outermost block begins."""
    entries: tuple[tuple[int, int], ...]
    """Line ranges of the entries of outermost lists, in order."""
    code: frozenset[int]
    comments: frozenset[int]

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> _Blocks:
        placed = [(one, (one.map[0], one.map[1])) for one in tokens if one.map]
        return cls(
            starts=frozenset(first for one, (first, _) in placed if one.level == 0 and one.type != "inline"),
            entries=tuple(sorted(where for one, where in placed if one.type == "list_item_open" and one.level == 1)),
            code=_lines_of(where for one, where in placed if one.type in ("fence", "code_block")),
            comments=_lines_of(
                where for one, where in placed if one.type == "html_block" and one.content.lstrip().startswith("<!--")
            ),
        )

    def entries_in(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Returns the entries that begin at the lines [start, end)."""
        return self.entries[bisect_left(self.entries, (start, 0)) : bisect_left(self.entries, (end, 0))]


def _lines_of(ranges: Iterator[tuple[int, int]]) -> frozenset[int]:
    return frozenset(number for first, last in ranges for number in range(first, last))


class _Body:
    """The lines [start, end) of a document, without comments and without blank lines at its ends."""

    def __init__(self, lines: Sequence[str], start: int, end: int, blocks: _Blocks) -> None:
        kept = _uncommented(lines, start, end, blocks)
        said = [place for place, (_, line) in enumerate(kept) if line.strip()]
        self._kept = kept[said[0] : said[-1] + 1] if said else []
        self._numbers = [number for number, _ in self._kept]
        self._starts = blocks.starts
        self._entries = blocks.entries_in(start, end)
        self.first = self._numbers[0] if self._numbers else start

    def text(self) -> str:
        return "\n".join(line for _, line in self._kept)

    def starts(self) -> tuple[int, ...]:
        return tuple(place for place, number in enumerate(self._numbers) if number in self._starts)

    def bullets(self, first_line: int) -> Iterator[Bullet]:
        for first, last in self._entries:
            kept = self._kept[bisect_left(self._numbers, first) : bisect_left(self._numbers, last)]
            text = _entry([line for _, line in kept])
            if text:
                yield Bullet(text=text, line=first_line + first)

    def besides(self) -> str:
        inside = {number for first, last in self._entries for number in range(first, last)}
        return "\n".join(line for number, line in self._kept if number not in inside).strip("\n")


def _uncommented(lines: Sequence[str], start: int, end: int, blocks: _Blocks) -> list[tuple[int, str]]:
    """Returns (number, line) of a range without what readers of the page do not see. Code is left as it is."""
    code, hidden = blocks.code, blocks.comments
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
    stripped = _COMMENT_BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text) if whole else _without_comments(text)
    pairs = zip(lines, stripped.split("\n"), strict=True)
    return [(first + place, after) for place, (before, after) in enumerate(pairs) if after.strip() or not before.strip()]


def _without_comments(text: str) -> str:
    """Returns text without the comments in it, but for those in code: between two equally long runs of backticks.

    Each mark is looked at once. A run that none closes, and a comment without an end, are text.
    """
    marks = [(found.start(), found.end()) for found in _TICKS_OR_COMMENT.finditer(text)]
    closing = _closing(text, marks)
    parts: list[str] = []
    at = 0  # up to where the text is told
    past = 0  # up to where marks are inside of what was found
    ends = True
    for number, (start, end) in enumerate(marks):
        if start < past:
            continue
        if text[start] == "`":
            past = closing.get(number, end)
        elif ends:
            stop = text.find("-->", end)
            ends = stop >= 0  # none here, none further on
            if ends:
                past = stop + len("-->")
                parts += [text[at:start], "\n" * text.count("\n", start, past)]
                at = past
    return "".join([*parts, text[at:]])


def _closing(text: str, marks: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Returns where the code ends that a run of backticks begins, by the run's number: at the next one as long as it."""
    found: dict[int, int] = {}
    ahead: dict[int, int] = {}
    for number in range(len(marks) - 1, -1, -1):
        start, end = marks[number]
        if text[start] == "`":
            if (until := ahead.get(end - start)) is not None:
                found[number] = until
            ahead[end - start] = end
    return found


def _entry(lines: Sequence[str]) -> str:
    """Returns a list's entry without its mark, and what is below it without the blanks that put it there."""
    if not lines:
        return ""
    marked = re.match(r"\s*(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)", lines[0])
    width = marked.end() if marked else 0
    rest = [line[min(width, len(line) - len(line.lstrip())) :] for line in lines[1:]]
    return "\n".join([lines[0][width:], *rest]).strip()
