"""What runs on a laptop is installed by the extra `local`: nothing that it imports comes with a developer's extra alone."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import tributary

EDGES = Path(tributary.__file__).parent / "edges"
NEEDS = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?")
ASKED_FOR_BY_NAME = {"boto3", "botocore"}
"""What is used only where the settings, or an option, ask for AWS."""


def installed_by(extra: str) -> set[str]:
    """Returns the distributions that come with the package and one of its extras, by their normalised names."""
    found: set[str] = set()
    todo = [("tributary-memory", frozenset({extra}))]
    seen = set(todo)
    while todo:
        name, extras = todo.pop()
        found.add(name)
        for needed in metadata.requires(name) or ():
            wanted, _, marker = needed.partition(";")
            if "extra ==" in marker and not any(f'extra == "{one}"' in marker for one in extras):
                continue
            match = NEEDS.match(wanted.strip())
            assert match is not None
            step = (
                re.sub(r"[-_.]+", "-", match[1]).lower(),
                frozenset(filter(None, (match[2] or "").replace(" ", "").split(","))),
            )
            if step not in seen and _is_there(step[0]):
                seen.add(step)
                todo.append(step)
    return found


def _is_there(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:  # for another platform
        return False
    return True


def imported(tree: ast.AST) -> Iterator[str]:
    """Yields the top-level modules that run when the file's code does, at whatever depth; not those that only types need."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module).partition(".")[0]
        yield from imported(node)


def test_whatever_the_edges_of_a_laptop_import_is_installed_by_its_extra() -> None:
    there = installed_by("local")
    assert {"fastapi", "jinja2", "typer", "mcp", "onnxruntime"} <= there
    assert not {"pytest", "boto3", "moto"} & there
    assert not {"fastapi", "typer"} & installed_by("server"), "the control: another extra has less"
    providers = metadata.packages_distributions()
    missing: dict[str, str] = {}
    for file in EDGES.rglob("*.py"):
        for module in imported(ast.parse(file.read_text(encoding="utf-8"))):
            if module in sys.stdlib_module_names or module in ASKED_FOR_BY_NAME | {"tributary"}:
                continue
            names = {re.sub(r"[-_.]+", "-", one).lower() for one in providers.get(module, [module])}
            if not names & there:
                missing[module] = str(file.relative_to(EDGES))
    assert missing == {}
