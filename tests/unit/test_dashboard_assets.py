"""The dashboard's files that are not ours to write, and those that are one in the end: no view takes another one's words."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from importlib.resources import files
from pathlib import Path

NOTICE = Path(__file__).parents[2] / "NOTICE"
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


def test_the_script_of_others_is_the_one_that_the_notice_names() -> None:
    script = files("tributary.edges.dashboard") / "assets" / "script" / "00-htmx.min.js"
    notice = NOTICE.read_text(encoding="utf-8")
    assert script.name in notice
    assert hashlib.sha256(script.read_bytes()).hexdigest() in notice
