"""The style's files are one in the end: what one view calls a thing must not be another one's word, too."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib.resources import files

STYLE = files("tributary.edges.dashboard") / "assets" / "style"


def plain_rules() -> dict[str, set[str]]:
    """Returns the files by what they style alone: an element, a class, or an element with a class."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for file in STYLE.iterdir():
        text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}", "", text)  # which only change what was said outside of them
        for selectors in re.findall(r"([^{}]+)\{", text):
            for one in selectors.split(","):
                if re.fullmatch(r"[a-z]*(?:\.[\w-]+)?", one.strip()):
                    found[one.strip()].add(file.name)
    return found


def test_nothing_is_styled_by_two_files() -> None:
    rules = plain_rules()
    assert {".card", "table", "button.primary", ".lamp"} <= rules.keys()
    assert {name: names for name, names in rules.items() if len(names) > 1} == {}
