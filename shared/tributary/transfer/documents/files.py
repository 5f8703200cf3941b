"""Which files are read, under which name, and as what."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tributary.transfer.documents.item import NAME_CHARACTERS, Format, Refusal

_AGENTS = re.compile(r"(agents|claude|gemini)(\.(local|override))?\.md", re.IGNORECASE)
_MARKDOWN = (".md", ".markdown", ".mdown")
_ENDINGS = {
    Format.MARKDOWN: _MARKDOWN,
    Format.SKILL: _MARKDOWN,
    Format.AGENTS: _MARKDOWN,
    Format.BASIC_MEMORY: _MARKDOWN,
    Format.JSONL: (".jsonl", ".ndjson"),
    Format.MEM0: (".json", ".jsonl"),
}
_PASSED_OVER = ("node_modules", "__pycache__", "venv")
_KEPT = (".claude", ".agents", ".github")
"""Hidden folders in which skills and instructions are kept. Others are passed over."""
_PERMALINK = re.compile(rb"^permalink:", re.MULTILINE)
_HEAD_BYTES = 4096


@dataclass(frozen=True, kw_only=True)
class Found:
    """A file to read. `name` is what the refs of its lessons begin with, whatever computer it is read on."""

    path: Path
    name: str
    form: Format
    bytes: int


def find(paths: Sequence[Path], *, root: Path, form: Format = Format.AUTO) -> Iterator[Found | Refusal]:
    """Yields the files at `paths` and in the folders among them, in order of name, each once, or why one is not read.

    Two files of one name would be taken for one another, each as what the other has become: the second is not read.
    A file is named from `root` where it is in it, else from the folder above what was given. In a folder, what has no format
    that is known is passed over, links to folders are not followed, and hidden folders are left alone.
    """
    read: set[tuple[int, int]] = set()
    named: dict[str, Path] = {}
    for given in paths:
        base = _base(given, root)
        for path in _walked(given, form):
            one = _found(path, base, form, asked=path == given)
            if isinstance(one, Found):
                known = path.stat()
                if (known.st_dev, known.st_ino) in read:
                    continue
                read.add((known.st_dev, known.st_ino))
                if (other := named.setdefault(one.name, one.path)) != one.path:
                    rule = f"would be named '{one.name}', as {_shown(other)} is; name them from a --root above both"
                    yield Refusal(file=_shown(path), reason=rule)
                    continue
            yield one


def _base(given: Path, root: Path) -> Path:
    whole, top = _named(given), _named(root)
    return top if whole.is_relative_to(top) else whole.parent


def _named(path: Path) -> Path:
    """Returns an absolute path without '..', by the names that it was given by: a link's own, not its target's."""
    return Path(os.path.abspath(path))  # noqa: PTH100  (resolve() would follow links)


def _walked(given: Path, form: Format) -> Iterator[Path]:
    if not given.is_dir():
        yield given
        return
    for folder, folders, names in os.walk(given):
        folders[:] = sorted(one for one in folders if one not in _PASSED_OVER and (not one.startswith(".") or one in _KEPT))
        yield from (Path(folder, one) for one in sorted(names) if _wanted(one, form))


def _wanted(name: str, form: Format) -> bool:
    endings = _ENDINGS[form] if form is not Format.AUTO else (*_MARKDOWN, *_ENDINGS[Format.JSONL], *_ENDINGS[Format.MEM0])
    return name.lower().endswith(endings)


def _found(path: Path, base: Path, form: Format, *, asked: bool) -> Found | Refusal:
    shown = _shown(path)
    try:
        known = path.stat()
        name = _named(path).relative_to(base).as_posix()
        if not stat.S_ISREG(known.st_mode):
            return Refusal(file=shown, reason="is no file that can be read")
        if any("\ud800" <= one <= "\udfff" for one in name):
            return Refusal(file=shown, reason="its name is not UTF-8, so no source could tell it")
        if len(name) > NAME_CHARACTERS:
            return Refusal(file=shown, reason=f"its name has {len(name)} characters; at most {NAME_CHARACTERS} are kept")
        chosen = _form(path) if form is Format.AUTO else form
    except OSError as error:
        return Refusal(file=shown, reason=f"cannot be read: {error.strerror}")
    if chosen is None:
        rule = "its name says no format that is known; --format names one" if asked else "has no format that is known"
        return Refusal(file=shown, reason=rule)
    return Found(path=path, name=name, form=chosen, bytes=known.st_size)


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _form(path: Path) -> Format | None:
    """Returns the format by the name of a file; of a note of Basic Memory by its head."""
    name = path.name.lower()
    if name == "skill.md":
        return Format.SKILL
    if _AGENTS.fullmatch(name):
        return Format.AGENTS
    if name.endswith(_MARKDOWN):
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        front = head.partition(b"\n---")[0] if head.removeprefix(b"\xef\xbb\xbf").startswith(b"---") else b""
        return Format.BASIC_MEMORY if _PERMALINK.search(front) else Format.MARKDOWN
    if name.endswith(_ENDINGS[Format.JSONL]):
        return Format.JSONL
    return Format.MEM0 if name.endswith(".json") else None
