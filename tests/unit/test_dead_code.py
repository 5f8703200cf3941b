"""Nothing of the library is there that the library itself does not use."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import tributary

LIBRARY = Path(tributary.__file__).parent
ROOT = LIBRARY.parents[1]

CALLED_BY_OTHERS = {
    "on_broken_pipe": "Rich's console calls it",
    "sync_auth_flow": "httpx calls it",
    "async_auth_flow": "httpx calls it",
    "down_revision": "Alembic reads it",
    "record_evaluation": "the evals keep their runs by it",
}
WRITTEN_BY_OTHERS = {
    "SourceType": "a parameter of Amazon RDS",
    "Duration": "a parameter of Amazon RDS",
    "ForceFailover": "a parameter of Amazon RDS",
    "TargetDBInstanceIdentifier": "a parameter of Amazon RDS",
}
SETTINGS = re.compile(r"(next_)?embedder_\w+|(strong_)?(judge|screen|distiller|responder|openai|jev)_\w+")
"""Read by their names, which are put together where a model is chosen."""


def names(source: str) -> Iterator[str]:
    """Yields what a file defines: functions that nothing registers, classes, fields and constants; not members of enums."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name
        enum = isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases)
        inner = node.body if isinstance(node, ast.ClassDef | ast.Module) and not enum else []
        for one in inner:
            targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def unused(sources: Mapping[str, str], others: str) -> set[str]:
    """Returns the names that stand in all the sources and in `others` just once: where they are defined."""
    words = Counter(re.findall(r"\w+", "\n".join([*sources.values(), others])))
    found = {name for source in sources.values() for name in names(source) if words[name] == 1}
    return {name for name in found if not re.fullmatch(r"__\w+__|model_config", name)}


def library() -> tuple[dict[str, str], str]:
    sources = {str(path): path.read_text(encoding="utf-8") for path in LIBRARY.rglob("*.py")}
    beside = [*LIBRARY.rglob("*.html"), *LIBRARY.rglob("*.sql"), *ROOT.glob("functions/**/*.py"), ROOT / "pyproject.toml"]
    return sources, "\n".join(path.read_text(encoding="utf-8") for path in beside)


def test_what_the_library_defines_it_uses() -> None:
    found = {name for name in unused(*library()) if not SETTINGS.fullmatch(name)}
    assert found == {*CALLED_BY_OTHERS, *WRITTEN_BY_OTHERS}


def test_what_nobody_uses_is_found() -> None:
    sources, others = library()
    planted = (
        "LEFT_OVER = 1\n\n\nclass Forgotten:\n    nobody_reads_this: int = 0\n\n    def nobody_calls_this(self) -> None: ...\n"
    )
    assert unused({**sources, "planted.py": planted}, others) - unused(sources, others) == {
        *("LEFT_OVER", "Forgotten", "nobody_reads_this", "nobody_calls_this")
    }
