"""What of the blocking client waits: found by what it calls, down to the calls of httpx and the protocols that are known to.

Types are followed as far as the client writes them down: through parameters, attributes, constructors and return annotations.
Where that does not suffice, `await` is missing from what is made, and mypy says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

PACKAGE = "tributary.client"
FOLDER = "asynchronous"
MARK = '"""Made from '
"""How a made module begins. One without it is written by hand, in place of a blocking one that cannot be translated."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Kind(Enum):
    """How a call of something is to be treated."""

    PLAIN = "as it is"
    AWAIT = "awaited"
    ITERATE = "iterated asynchronously"
    ENTER = "entered asynchronously"


PROTOCOLS = frozenset({"Run", "Sleep"})
"""Protocols whose call waits: they have no body to tell it."""
METHODS = {
    ("httpx.Client", "close"): (Kind.AWAIT, "aclose"),
    ("httpx.Client", "stream"): (Kind.ENTER, "stream"),
    ("httpx.Response", "iter_bytes"): (Kind.ITERATE, "aiter_bytes"),
}
"""What waits in httpx, and its name there."""
ITERATOR = "<asynchronous iterator>"
"""The type of a generator expression over something asynchronous."""


class Untranslatable(Exception):
    """A line of the blocking client has no asynchronous form that could be made."""


@dataclass(kw_only=True)
class Class:
    node: ast.ClassDef
    methods: dict[str, Function]
    attributes: dict[str, str] = field(default_factory=dict)
    """Their types, by name, where these matter."""
    waits: bool = False


@dataclass(kw_only=True)
class Module:
    name: str
    text: str
    tree: ast.Module
    imports: dict[str, tuple[str, str | None]]
    """Local name -> module and name there; None for the module itself."""
    typing_only: frozenset[str]
    by_hand: ast.Module | None
    """Its asynchronous counterpart, where that is written by hand."""


class Client:
    """The blocking client, read whole, and which of it waits."""

    def __init__(self, folder: Path) -> None:
        self.modules = {path.stem: _module(path) for path in sorted(folder.glob("*.py")) if path.stem != "__init__"}
        self.classes: dict[str, Class] = {}
        self.functions: dict[str, Function] = {}
        self.home: dict[str, str] = {}
        """The module in which a class or function that matters is."""
        self._kinds: dict[int, Kind] = {}
        for module in self.modules.values():
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    methods = {one.name: one for one in node.body if isinstance(one, Function)}
                    self.classes[node.name] = Class(node=node, methods=methods)
                    self.home[node.name] = module.name
                elif isinstance(node, ast.FunctionDef):
                    self.functions[f"{module.name}.{node.name}"] = node
        self._take_what_is_written_by_hand()
        while self._look():
            pass

    def kind_of_function(self, node: Function) -> Kind:
        return self._kinds.get(id(node), Kind.PLAIN)

    def waits(self, module: Module, node: ast.stmt) -> bool:
        """Tells whether a class or function at the top of a module has an asynchronous form of its own."""
        if isinstance(node, ast.ClassDef):
            return self.classes[node.name].waits
        return isinstance(node, Function) and self.kind_of_function(node) is not Kind.PLAIN

    def scope(self, module: Module, owner: str | None, function: Function) -> Scope:
        return Scope(self, module, owner, function)

    def _take_what_is_written_by_hand(self) -> None:
        for module in self.modules.values():
            if module.by_hand is None:
                continue
            written = {node.name: node for node in module.by_hand.body if isinstance(node, ast.ClassDef | Function)}
            for node in module.tree.body:
                if isinstance(node, Function) and isinstance(found := written.get(node.name), Function):
                    self._kinds[id(node)] = _kind_as_written(found)
                elif isinstance(node, ast.ClassDef) and isinstance(found := written.get(f"Async{node.name}"), ast.ClassDef):
                    self.classes[node.name].waits = True
                    methods = {one.name: one for one in found.body if isinstance(one, Function)}
                    for name, method in self.classes[node.name].methods.items():
                        if twin := methods.get(DUNDERS.get(name, name)):
                            self._kinds[id(method)] = _kind_as_written(twin)

    def _look(self) -> bool:
        """Looks through everything once more; returns whether something new was found to wait."""
        before = (dict(self._kinds), [(one.waits, dict(one.attributes)) for one in self.classes.values()])
        for module in self.modules.values():
            for node in module.tree.body:
                if module.by_hand is not None:
                    continue
                if isinstance(node, Function):
                    self._kinds[id(node)] = self._judged(self.scope(module, None, node), node)
                elif isinstance(node, ast.ClassDef):
                    self._look_at(module, self.classes[node.name])
        return before != (self._kinds, [(one.waits, one.attributes) for one in self.classes.values()])

    def _look_at(self, module: Module, one: Class) -> None:
        name = one.node.name
        for method in one.methods.values():
            scope = self.scope(module, name, method)
            for target, value in (pair for node in ast.walk(method) for pair in _bound(node)):
                if ast.unparse(target).startswith("self.") and isinstance(target, ast.Attribute):
                    found = scope.type_of(value)
                    one.attributes |= {target.attr: found} if found else {}
            self._kinds[id(method)] = self._judged(scope, method)
        if name in PROTOCOLS:
            self._kinds[id(one.methods["__call__"])] = Kind.AWAIT
        own = any(self.kind_of_function(method) is not Kind.PLAIN for method in one.methods.values())
        mentioned = {node.id for node in ast.walk(one.node) if isinstance(node, ast.Name)}
        one.waits = own or any(self.classes[other].waits for other in mentioned & self.classes.keys() - {name})
        if one.waits:
            for dunder in ("__enter__", "__exit__"):
                if dunder in one.methods:
                    self._kinds[id(one.methods[dunder])] = Kind.AWAIT

    def _judged(self, scope: Scope, function: Function) -> Kind:
        inside = list(own(function))
        for inner in inside:
            if isinstance(inner, Function):
                self._kinds[id(inner)] = self._judged(scope.inside(inner), inner)
        waits = any(scope.waits(node) for node in inside)
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside):
            return Kind.ITERATE if waits else Kind.PLAIN
        if waits:
            return Kind.AWAIT
        returned = [node.value for node in inside if isinstance(node, ast.Return) and node.value is not None]
        passes_on = any(isinstance(one, ast.Call) and scope.kind_of_call(one) is Kind.ITERATE for one in returned)
        return Kind.ITERATE if passes_on else Kind.PLAIN


class Scope:
    """What names mean inside one function."""

    def __init__(self, client: Client, module: Module, owner: str | None, function: Function, outer: Scope | None = None) -> None:
        self._client = client
        self._module = module
        self._owner = owner
        self._names: dict[str, str] = dict(outer._names) if outer else {}
        self._inner: dict[str, Function] = dict(outer._inner) if outer else {}
        self._inner |= {node.name: node for node in own(function) if isinstance(node, Function)}
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for argument in arguments:
            if argument.annotation is not None and (found := self._named(argument.annotation)):
                self._names[argument.arg] = found
        for node in own(function):
            for target, value in _bound(node):
                if isinstance(target, ast.Name) and (found := self.type_of(value)):
                    self._names[target.id] = found

    def inside(self, function: Function) -> Scope:
        """Returns what names mean in a function inside this one."""
        return Scope(self._client, self._module, self._owner, function, self)

    def type_of(self, node: ast.expr) -> str | None:
        """Returns the class that an expression is of, where it is one that matters."""
        match node:
            case ast.Name(id="self"):
                return self._owner
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.Attribute(value=value, attr=name):
                owner = self._client.classes.get(self.type_of(value) or "")
                return owner.attributes.get(name) if owner else None
            case ast.Call(func=function):
                if made := self._named(function):
                    return made
                found = self._function(function)
                return self._named(found.returns) if found is not None and found.returns is not None else None
            case ast.GeneratorExp() if any(self.is_iterated(one.iter) for one in node.generators):
                return ITERATOR
        return None

    def kind_of_call(self, call: ast.Call) -> Kind:
        function = call.func
        if isinstance(function, ast.Name) and function.id == "next" and call.args and self.is_iterated(call.args[0]):
            return Kind.AWAIT
        if isinstance(function, ast.Attribute):
            known = METHODS.get((self.type_of(function.value) or "", function.attr))
            if known is not None:
                return known[0]
        found = self._function(function)
        if found is None:
            owner = self._client.classes.get(self.type_of(function) or "")
            found = owner.methods.get("__call__") if owner else None
        return self._client.kind_of_function(found) if found is not None else Kind.PLAIN

    def is_iterated(self, node: ast.expr) -> bool:
        """Tells whether going through something waits."""
        if isinstance(node, ast.Call) and self.kind_of_call(node) is Kind.ITERATE:
            return True
        found = self.type_of(node)
        return found == ITERATOR or self._has(found, "__next__")

    def is_entered(self, node: ast.expr) -> bool:
        """Tells whether entering something waits."""
        called = isinstance(node, ast.Call) and self.kind_of_call(node) is Kind.ENTER
        return called or self._has(self.type_of(node), "__enter__")

    def waits(self, node: ast.AST) -> bool:
        """Tells whether a node by itself, without what is inside it, makes its function wait."""
        match node:
            case ast.Call():
                return self.kind_of_call(node) is Kind.AWAIT
            case ast.For(iter=through):
                return self.is_iterated(through)
            case ast.YieldFrom(value=through):
                return self.is_iterated(through)
            case ast.With(items=items):
                return any(self.is_entered(one.context_expr) for one in items)
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                return any(self.is_iterated(one.iter) for one in node.generators)
        return False

    def _has(self, name: str | None, method: str) -> bool:
        found = self._client.classes.get(name or "")
        return (
            found is not None and method in found.methods and self._client.kind_of_function(found.methods[method]) is Kind.AWAIT
        )

    def _function(self, node: ast.expr) -> Function | None:
        if isinstance(node, ast.Attribute):
            owner = self._client.classes.get(self.type_of(node.value) or "")
            if owner is not None:
                return owner.methods.get(node.attr)
            module, name = self._module.imports.get(node.value.id, ("", "")) if isinstance(node.value, ast.Name) else ("", "")
            path = module if name is None else f"{module}.{name}"
            return self._client.functions.get(f"{path.removeprefix(PACKAGE + '.')}.{node.attr}")
        if isinstance(node, ast.Name):
            if node.id in self._inner:
                return self._inner[node.id]
            module, name = self._module.imports.get(node.id, (f"{PACKAGE}.{self._module.name}", node.id))
            return self._client.functions.get(f"{module.removeprefix(PACKAGE + '.')}.{name}")
        return None

    def _named(self, node: ast.expr) -> str | None:
        """Returns the class that a name, a union or a subscript of it is about, where it is one that matters."""
        whole = node.value if isinstance(node, ast.Subscript) else node
        for one in ast.walk(whole) if isinstance(whole, ast.BinOp) else [whole]:
            if isinstance(one, ast.Name) and one.id in self._client.classes:
                return one.id
            if isinstance(one, ast.Attribute) and ast.unparse(one) in {owner for owner, _ in METHODS}:
                return ast.unparse(one)
        return None


DUNDERS = {"__enter__": "__aenter__", "__exit__": "__aexit__", "__iter__": "__aiter__", "__next__": "__anext__"}


def own(function: Function) -> Iterator[ast.AST]:
    """Yields what is inside a function, but not inside functions and lambdas in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting[:0] = ast.iter_child_nodes(node)


def _bound(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields what a statement gives a value to, and the value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.withitem(optional_vars=ast.expr() as target, context_expr=value):
            yield target, value


def _kind_as_written(node: Function) -> Kind:
    yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own(node))
    if isinstance(node, ast.AsyncFunctionDef):
        return Kind.ITERATE if yields else Kind.AWAIT
    returns = ast.unparse(node.returns) if node.returns else ""
    return Kind.ITERATE if returns.startswith("AsyncIterator") else Kind.PLAIN


def _module(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    imports: dict[str, tuple[str, str | None]] = {}
    typing_only: set[str] = set()
    for node in tree.body:
        checked = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for one in node.body if isinstance(node, ast.If) and checked else [node]:
            found = dict(_imported(one))
            imports |= found
            typing_only |= found.keys() if checked else set()
    written = path.parent / FOLDER / path.name
    counterpart = written.read_text(encoding="utf-8") if written.exists() else MARK
    by_hand = None if counterpart.startswith(MARK) else ast.parse(counterpart)
    return Module(name=path.stem, text=text, tree=tree, imports=imports, typing_only=frozenset(typing_only), by_hand=by_hand)


def _imported(node: ast.stmt) -> Iterator[tuple[str, tuple[str, str | None]]]:
    if isinstance(node, ast.Import):
        for one in node.names:
            yield one.asname or one.name, (one.name, None)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for one in node.names:
            yield one.asname or one.name, (node.module, one.name)
