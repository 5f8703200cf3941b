"""What pages refer to: links with their anchors, and files of the repository."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from tests.docs_check.blocks import DOCS, ROOT, prose

LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)|!\[[^]]*\]\(([^)\s]+)\)")
LIBRARY = ROOT / "shared" / "tributary"
BASES = (ROOT, LIBRARY, LIBRARY / "edges", LIBRARY / "edges" / "dashboard", LIBRARY / "store" / "sql" / "migrations")
"""Folders from which a page may name a file: the checkout, the library, the schema, and the dashboard."""
FILE = re.compile(r"[\w.-]+(?:/[\w.*-]+)*(?:/|\.(?:py|sql|md|jsonl?|toml|sh|html|css|js|png|lock))")
MADE = ("build/", "live-report", "evals/data/.review-begun.json")
"""Beginnings of paths that a command of the same page makes."""


def anchors(text: str) -> set[str]:
    """Returns what a link to a heading of a page may say after `#`, as GitHub makes it of the heading."""
    counted: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"(?m)^#+ +(.+?)\s*$", prose(text)):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.add(f"{anchor}-{counted[anchor]}" if counted[anchor] else anchor)
        counted[anchor] += 1
    return found


def dead_links(page: str, text: str) -> list[str]:
    """Returns the links of a page that lead to no file, or to no heading of it, each with what to do."""
    found = []
    for number, line in enumerate(prose(text).splitlines(), start=1):
        for match in LINK.finditer(line):
            target, _, anchor = (match[1] or match[2]).partition("#")
            if "://" in target:
                continue
            path = (ROOT / page).parent / target if target else ROOT / page
            if not path.exists():
                found.append(f"{page}:{number}: {target} is not there. Mend the link, or add the page")
            elif anchor and anchor not in anchors(path.read_text(encoding="utf-8") if target else text):
                found.append(f"{page}:{number}: {target or 'the page'} has no heading that becomes #{anchor}")
    return found


def links(page: str, text: str) -> Iterator[str]:
    """Yields the pages of the repository that a page links, as paths from the root of the checkout."""
    for match in LINK.finditer(prose(text)):
        target = (match[1] or match[2]).partition("#")[0]
        if target and "://" not in target:
            path = ((ROOT / page).parent / target).resolve()
            if path.suffix == ".md" and path.is_relative_to(ROOT):
                yield str(path.relative_to(ROOT))
            elif path == DOCS / "decisions":
                yield from (str(one.relative_to(ROOT)) for one in sorted(path.glob("*.md")))


@cache
def file_names() -> set[str]:
    """Returns the names, without folders, of all files that the repository's folders hold."""
    folders = ("shared", "tests", "evals", "benchmarks", "infra", "layers", "functions", "events", "docs")
    inside = {path.name for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()}
    return inside | {path.name for path in ROOT.iterdir()}


def missing_files(page: str, text: str, examples: set[str]) -> list[str]:
    """Returns the files and folders of the repository that a page names in backticks and that are not there.

    A name with a folder counts when its first part is a folder of one of the `BASES`; a bare one when it ends in `.py` or `.sql`.
    `examples` are names that stand for a reader's own files.
    """
    found = []
    for number, line in enumerate(prose(text).splitlines(), start=1):
        for code in re.findall(r"`([^`]+)`", line):
            named = code.split("::")[0].rstrip(",")
            if not FILE.fullmatch(named) or named in examples or named.startswith(MADE):
                continue
            if not _is_there(page, named):
                found.append(
                    f"{page}:{number}: there is no {named}. Mend the name; an example's file goes into EXAMPLES of the test"
                )
    return found


def _is_there(page: str, named: str) -> bool:
    if "/" not in named.rstrip("/") and not named.endswith("/"):
        return not named.endswith((".py", ".sql")) or named in file_names()
    bases = [base for base in (*BASES, (ROOT / page).parent) if (base / named.split("/", 1)[0]).is_dir()]
    if not bases:
        return not named.endswith((".py", ".sql"))
    if "*" in named:
        return any(list(base.glob(named)) for base in bases)
    return any((base / named).exists() for base in bases)
