"""What a gate is: a guard of the product, how it is taken out, and which test must go red then."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASELINE = "shared/tributary/store/sql/migrations/0001_baseline"
LIBRARY = "shared/tributary"


class RottenError(Exception):
    """The table of gates says something of the tree that is not so."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Takes a guard out: `old`, which its file holds exactly once, becomes `new`."""

    path: str
    old: str
    new: str

    def text(self, root: Path = ROOT) -> str:
        """Returns the file that is cut; raises RottenError unless it holds the text to replace once."""
        file = root / self.path
        if not file.is_file():
            raise RottenError(f"there is no {self.path}")
        text = file.read_text()
        if (times := text.count(self.old)) != 1:
            raise RottenError(f"{self.path} holds {times} times: {self.old!r}")
        return text

    def make(self, root: Path) -> None:
        """Makes the cut in a copy of the tree."""
        if root.resolve() == ROOT:
            raise RottenError("a gate is taken out of a copy of the tree, never of the tree")
        (root / self.path).write_text(self.text(root).replace(self.old, self.new))

    def place(self, root: Path = ROOT) -> Place:
        """Returns the definition around the text that is replaced."""
        text = self.text(root)
        at = text.index(self.old)
        if self.path.endswith(".py"):
            return _python_place(text, text.count("\n", 0, at) + 1, self.old)
        return _sql_place(text, at, self.old) if self.path.endswith(".sql") else Place(name="", text=self.old)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A definition in a file: its name, empty at the top level, and its text."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A guard of the product.

    name     a few words with hyphens, the same for good
    guards   the promise that does not hold without it, in the words of README and DESIGN
    without  what the cuts take out, as the end of "without ..."
    cuts     more than one where the guard stands at several places
    tests    node ids; each goes red by an assertion once the cuts are made
    """

    name: str
    guards: str
    without: str
    cuts: tuple[Cut, ...]
    tests: tuple[str, ...]

    def fingerprint(self, root: Path = ROOT) -> str:
        """Returns what changes with the guard, with how it is taken out and with the tests that show it."""
        parts = [[cut.path, cut.old, cut.new, cut.place(root).text] for cut in self.cuts]
        shown = [[test, source_of(test, root)] for test in self.tests]
        return hashlib.sha256(json.dumps([parts, shown]).encode()).hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Gates against one kind of failure."""

    title: str
    gates: tuple[Gate, ...]


def named(groups: Iterable[Group], names: Iterable[str] = ()) -> list[Gate]:
    """Returns the gates of these names, or all; raises RottenError for a name that no gate has."""
    gates = {gate.name: gate for group in groups for gate in group.gates}
    wanted = list(names) or list(gates)
    if unknown := [name for name in wanted if name not in gates]:
        raise RottenError(f"no gate is called {', '.join(unknown)}")
    return [gates[name] for name in wanted]


def source_of(test: str, root: Path = ROOT) -> str:
    """Returns the text of a test, with its decorators; raises RottenError when there is none such."""
    path, *names = test.split("::")
    if not (root / path).is_file():
        raise RottenError(f"there is no {path}")
    text = (root / path).read_text()
    found: ast.Module | ast.FunctionDef | ast.ClassDef = _parsed(text)
    for name in names:
        inner = [one for one in found.body if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == name]
        if not inner:
            raise RottenError(f"there is no test {test}")
        found = inner[0]
    if not isinstance(found, ast.FunctionDef):
        raise RottenError(f"{test} is no test")
    return "\n".join(text.split("\n")[_first_line(found) - 1 : found.end_lineno])


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _python_place(text: str, line: int, old: str) -> Place:
    """Returns the innermost function or class, or the statement at the top level, that a line stands in."""
    names: list[str] = []
    found: ast.stmt | None = None
    body = _parsed(text).body
    while inner := next((node for node in body if _first_line(node) <= line <= (node.end_lineno or 0)), None):
        if found is not None and not isinstance(inner, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            break
        found = inner
        if not isinstance(inner, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            break
        names.append(inner.name)
        body = inner.body
    if found is None:
        return Place(name="", text=old)
    return Place(name=".".join(names), text="\n".join(text.split("\n")[_first_line(found) - 1 : found.end_lineno]))


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(one.lineno for one in decorators)])


_CREATED = re.compile(
    r"^CREATE (?:OR REPLACE )?(?:CONSTRAINT |UNIQUE )?\w+ (?:IF NOT EXISTS )?(?:tributary\.)?(\w+)", re.MULTILINE
)


def _sql_place(text: str, at: int, old: str) -> Place:
    """Returns the last statement that creates something and begins no later than the end of what is replaced."""
    begun = [match for match in _CREATED.finditer(text) if match.start() <= at]
    if not begun:
        return Place(name="", text=old)
    start = begun[-1].start()
    ends = [end for end in (text.find("$$;", start), text.find(";\n", start)) if end >= 0]
    end = ends[0] if "$$" in text[start : ends[0]] else min(ends)
    if end < at:  # something behind that statement: a grant, say
        return Place(name="", text=old)
    return Place(name=begun[-1].group(1), text=text[start:end])
