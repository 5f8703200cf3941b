"""The asynchronous text of a blocking module: the same lines with `async`, `await` and the other names put into them."""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from pathlib import Path

from tests.async_client.reading import (
    DUNDERS,
    FOLDER,
    MARK,
    METHODS,
    PACKAGE,
    Client,
    Function,
    Kind,
    Module,
    Scope,
    Untranslatable,
    own,
)

NAMES = {"httpx.Client": "httpx.AsyncClient", "httpx.BaseTransport": "httpx.AsyncBaseTransport", "time.sleep": "asyncio.sleep"}
"""What other libraries call the same thing."""
WORDS = {"Threads may share": "Tasks of one event loop may share", "<Memory at ": "<AsyncMemory at "}
"""Words of docstrings and texts that would not be true."""
_ADDED = {"AsyncIterator": "from collections.abc import AsyncIterator", "asyncio": "import asyncio"}
_SET_APART = ast.Attribute | ast.Subscript


def made(folder: Path) -> dict[str, str]:
    """Returns the text of each asynchronous module by its name; raises Untranslatable naming the line that has none."""
    client = Client(folder)
    found = {}
    for module in client.modules.values():
        kept = [node for node in module.tree.body if client.waits(module, node)]
        if kept and module.by_hand is None:
            found[module.name] = formatted(_text(client, module, kept), folder / FOLDER / f"{module.name}.py")
    return found


def formatted(text: str, path: Path) -> str:
    """Returns a module's text as ruff has it by the project's rules, its imports in order."""
    for command in (["check", "--select", "I", "--fix-only", "--quiet"], ["format", "--quiet"]):
        run = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        text = subprocess.run(run, input=text, capture_output=True, text=True, check=True).stdout
    return text


def _text(client: Client, module: Module, kept: list[ast.stmt]) -> str:
    body = _Edited(client, module).text(kept)
    for words, others in WORDS.items():
        body = body.replace(words, others)
    head = f'{MARK}{module.name}.py by `make async-client`: change that one."""\n\nfrom __future__ import annotations\n\n'
    return head + _imports(client, module, kept, body) + "\n\n" + body


def _imports(client: Client, module: Module, kept: list[ast.stmt], body: str) -> str:
    here = {node.name for node in kept if isinstance(node, ast.ClassDef | Function)}
    here |= {f"Async{name}" for name in here}
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    top = {name for node in module.tree.body for name in _defined(node)}
    lines: list[str] = []
    typing: list[str] = []
    for name in sorted(used - here):
        blocking = name.removeprefix("Async")
        if name in _ADDED:
            lines.append(_ADDED[name])
        elif name != blocking and blocking in client.classes and client.classes[blocking].waits:
            line = f"from {PACKAGE}.{FOLDER}.{client.home[blocking]} import {name}"
            (typing if blocking in module.typing_only else lines).append(line)
        elif name in module.imports:
            (typing if name in module.typing_only else lines).append(_as_imported(client, name, *module.imports[name]))
        elif name in top:
            lines.append(f"from {PACKAGE}.{module.name} import {name}")
        elif name not in _bound(body) and not hasattr(builtins, name):
            raise Untranslatable(f"{module.name}.py: '{name}' is neither imported nor defined")
    if typing:
        lines.append("from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    " + "\n    ".join(typing))
    return "\n".join(lines)


def _as_imported(client: Client, local: str, module: str, name: str | None) -> str:
    if name is None:
        return f"import {module}" + (f" as {local}" if local != module else "")
    source = module.removeprefix(f"{PACKAGE}.")
    function = client.functions.get(f"{source}.{name}")
    if function is not None and client.kind_of_function(function) is not Kind.PLAIN:
        module = f"{PACKAGE}.{FOLDER}.{source}"
    return f"from {module} import {name}" + (f" as {local}" if local != name else "")


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | Function):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {one.id for one in targets if isinstance(one, ast.Name)}


def _bound(body: str) -> set[str]:
    """Returns the names that a text gives a meaning itself."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(body)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.ExceptHandler | Function):
            found |= {node.name} if node.name else set()
    return found


class _Edited:
    """Edits of one module's text, kept by where they go."""

    def __init__(self, client: Client, module: Module) -> None:
        self._client = client
        self._module = module
        self._lines = module.text.encode().splitlines(keepends=True)
        self._edits: list[tuple[int, int, str]] = []
        self._parents = {child: node for node in ast.walk(module.tree) for child in ast.iter_child_nodes(node)}

    def text(self, kept: list[ast.stmt]) -> str:
        """Returns the asynchronous text of what is kept."""
        for node in kept:
            if isinstance(node, ast.ClassDef):
                self._class(node)
            elif isinstance(node, Function):
                self._function(None, node)
        content = b"".join(self._lines)
        edits = sorted(self._edits, key=lambda one: one[:2])  # what goes to one place stays in order: the outer call first
        parts = []
        for node in kept:
            assert isinstance(node, ast.ClassDef | Function)
            start = self._at(min([node.lineno, *(one.lineno for one in node.decorator_list)]), 0)
            end = self._at(node.end_lineno or 0, node.end_col_offset or 0)
            piece, at = b"", start
            for left, right, put in (one for one in edits if start <= one[0] < end or start < one[1] <= end):
                piece += content[at:left] + put.encode()
                at = right
            parts.append((piece + content[at:end]).decode())
        return "\n\n\n".join(parts) + "\n"

    def _class(self, node: ast.ClassDef) -> None:
        name_at = self._at(node.lineno, node.col_offset) + len("class ")
        self._put(name_at, name_at, "Async")
        one = self._client.classes[node.name]
        nexts = one.methods.get("__next__")
        iterates = nexts is not None and self._client.kind_of_function(nexts) is Kind.AWAIT
        for base in node.bases:
            self._names(base, iterates=iterates)
        for child in node.body:
            if isinstance(child, Function):
                self._function(node.name, child)
            elif isinstance(child, ast.AnnAssign):
                self._names(child, iterates=False)

    def _function(self, owner: str | None, node: Function) -> None:
        kind = self._client.kind_of_function(node)
        yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own(node))
        start = self._start(node)
        if kind is Kind.AWAIT or (kind is Kind.ITERATE and yields):
            self._put(start, start, "async ")
        waiting = owner is not None and self._client.classes[owner].waits
        if waiting and node.name in DUNDERS:
            name_at = start + len("def ")
            self._put(name_at, name_at + len(node.name), DUNDERS[node.name])
        for part in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            if part.annotation:
                self._names(part.annotation, iterates=False)
        for default in [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]:
            self._names(default, iterates=False)
        if node.returns:
            self._names(node.returns, iterates=kind is Kind.ITERATE or (waiting and node.name == "__iter__"))
        scope = self._client.scope(self._module, owner, node)
        for statement in node.body:
            self._names(statement, iterates=False)
        self._body(scope, node)

    def _body(self, scope: Scope, node: Function) -> None:
        kind = self._client.kind_of_function(node)
        for inner in own(node):
            if isinstance(inner, Function):
                if self._client.kind_of_function(inner) is not Kind.PLAIN:
                    self._put(self._start(inner), self._start(inner), "async ")
                self._body(scope.inside(inner), inner)
            elif isinstance(inner, ast.Lambda):
                self._refuse_waits_in(scope, inner)
            else:
                self._inside(scope, inner, waits=kind is not Kind.PLAIN)

    def _inside(self, scope: Scope, node: ast.AST, *, waits: bool) -> None:
        match node:
            case ast.Call():
                self._call(scope, node)
            case ast.For() if scope.is_iterated(node.iter):
                self._put(self._start(node), self._start(node), "async ")
            case ast.With() if any(scope.is_entered(one.context_expr) for one in node.items):
                self._put(self._start(node), self._start(node), "async ")
            case ast.comprehension() if scope.is_iterated(node.iter):
                content = b"".join(self._lines)
                at = content.rindex(b"for ", 0, self._start(node.target))
                self._put(at, at, "async ")
            case ast.YieldFrom() if waits:
                self._yield_from(scope, node)

    def _call(self, scope: Scope, node: ast.Call) -> None:
        kind = scope.kind_of_call(node)
        if isinstance(node.func, ast.Attribute):
            known = METHODS.get((scope.type_of(node.func.value) or "", node.func.attr))
            if known is not None:
                end = self._end(node.func)
                self._put(end - len(node.func.attr), end, known[1])
        if kind is not Kind.AWAIT:
            return
        parent = self._parents[node]
        apart = isinstance(parent, _SET_APART) and parent.value is node
        word = "await a" if isinstance(node.func, ast.Name) and node.func.id == "next" else "await "
        self._put(self._start(node), self._start(node), f"({word}" if apart else word)
        if apart:
            self._put(self._end(node), self._end(node), ")")

    def _yield_from(self, scope: Scope, node: ast.YieldFrom) -> None:
        statement = self._parents[node]
        if not isinstance(statement, ast.Expr):
            raise Untranslatable(f"{self._module.name}.py:{node.lineno}: what 'yield from' comes to cannot be had asynchronously")
        word = "async for" if scope.is_iterated(node.value) else "for"
        self._put(self._start(node), self._start(node.value), f"{word} each in ")
        self._put(self._end(node.value), self._end(node), f":\n{' ' * (statement.col_offset + 4)}yield each")

    def _names(self, tree: ast.AST, *, iterates: bool) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                one = self._client.classes.get(node.id)
                if (one is not None and one.waits) or (iterates and node.id == "Iterator"):
                    self._put(self._start(node), self._start(node), "Async")
            elif isinstance(node, ast.Attribute) and (other := NAMES.get(ast.unparse(node))):
                self._put(self._start(node), self._end(node), other)

    def _refuse_waits_in(self, scope: Scope, node: ast.Lambda) -> None:
        for inner in ast.walk(node):
            if scope.waits(inner):
                rule = "a lambda cannot wait; make it a function with a name"
                raise Untranslatable(f"{self._module.name}.py:{node.lineno}: {rule}")

    def _put(self, start: int, end: int, text: str) -> None:
        self._edits.append((start, end, text))

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        return sum(map(len, self._lines[: line - 1])) + column
