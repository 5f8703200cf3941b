"""The blocks of a page: what stands between fences, in which language, and whether it is to be run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

RUN = ("sh", "python", "sql")
"""Languages of blocks that are run, unless a reason stands above them."""
COMMANDS = (*RUN, "zsh", "fish")
SHOWN = ("text", "json", "jsonc", "ini")
"""Languages of blocks that are no command: output, pictures, documents, settings."""
REASONS = {
    "needs an AWS account": "nothing of AWS is reached from here",
    "needs a model provider": "a key, or a model that has to be fetched",
    "needs another program": "one that Tributary does not bring along, such as Claude Code, Docker or zsh",
    "takes long, and has a target of its own": "`make` or CI runs it",
    "needs root": "it changes the system",
}
REASON = re.compile(r"<!-- not run: (.*) -->")
FENCE = re.compile(r"(?P<indent> *)```(?P<language>\S*)\s*$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """One block of a page, without the indentation that it has in a list."""

    page: str
    """The path from the root of the checkout."""
    line: int
    """Of the fence that opens it."""
    language: str
    text: str
    reason: str | None
    """Why it is not run, in the words that stand above it."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        return self.language in RUN and self.reason is None


def pages() -> list[str]:
    """Returns README and every page of docs, as paths from the root of the checkout, in the order of their names."""
    return ["README.md", *sorted(str(path.relative_to(ROOT)) for path in DOCS.rglob("*.md"))]


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, text: str) -> Iterator[Block]:
    """Yields the blocks of a page in their order."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        fence = FENCE.match(lines[number])
        if not fence:
            number += 1
            continue
        indent = len(fence["indent"])
        end = next((at for at in range(number + 1, len(lines)) if lines[at].strip() == "```"), len(lines))
        above = REASON.match(lines[number - 1].strip()) if number else None
        yield Block(
            page=page,
            line=number + 1,
            language=fence["language"],
            text="\n".join(line[indent:] for line in lines[number + 1 : end]) + "\n",
            reason=above[1] if above else None,
        )
        number = end + 1


def faults(page: str, text: str) -> list[str]:
    """Returns what is wrong with the blocks of a page, each with its place and what to do about it; nothing when all is well."""
    found = []
    for block in blocks(page, text):
        if block.language not in (*COMMANDS, *SHOWN):
            found.append(
                f"{block.place}: the fence says {block.language!r}. Name one of {', '.join(RUN)} for what is run, "
                f"or one of {', '.join(SHOWN)} for what is only shown"
            )
        if block.reason is not None and block.reason not in REASONS:
            found.append(f"{block.place}: {block.reason!r} is no known reason. Choose one of: {'; '.join(REASONS)}")
        if block.reason is not None and block.language not in COMMANDS:
            found.append(f"{block.place}: a block of {block.language} is never run: take the comment above it away")
        if block.reason is None and block.language in COMMANDS and block.language not in RUN:
            found.append(
                f"{block.place}: {block.language} cannot be run here. Say why, above it: <!-- not run: needs another program -->"
            )
    found += [f"{page}:{line}: indented by four spaces. Put it between fences that name its language" for line in _indented(text)]
    return found


def prose(text: str) -> str:
    """Returns a page with the lines of its blocks empty, so that what is left keeps its line numbers."""
    lines = text.splitlines()
    inside = False
    for number, line in enumerate(lines):
        fence = line.strip().startswith("```")
        if fence or inside:
            lines[number] = ""
        inside ^= fence
    return "\n".join(lines)


def _indented(text: str) -> Iterator[int]:
    lines = prose(text).splitlines()
    for number, line in enumerate(lines[1:], start=1):
        if line.startswith("    ") and not lines[number - 1].strip() and not _in_list(lines, number):
            yield number + 1


def _in_list(lines: list[str], number: int) -> bool:
    """Tells whether a line belongs to an item of a list that stands above it."""
    for line in reversed(lines[:number]):
        if line.strip() and not line.startswith(" "):
            return bool(re.match(r"([-*]|\d+\.) ", line))
    return False
