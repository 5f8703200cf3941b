"""Foreign material: the sections of 117 runbooks about Prometheus and Kubernetes that nobody here wrote.

They are not part of the project. Who has them lays them beside it, see FOLDER.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parents[2] / "shared" / "data"
FOLDER = DATA / "prometheus-runbooks" / "content" / "runbooks"
ABSENT = f"the Prometheus runbooks are not in {DATA.name} beside the project"


@dataclass(frozen=True, kw_only=True)
class Section:
    """What stands under one heading."""

    situation: str
    text: str
    ref: str
    """file#heading:line, as the source of an imported lesson says it."""

    @property
    def name(self) -> str:
        """file#heading: a label that outlives an edit further up in the file."""
        return self.ref.rpartition(":")[0]


def present() -> bool:
    return FOLDER.is_dir()


def sections(folder: Path = FOLDER) -> Iterator[Section]:
    """Yields the sections of all runbooks, in order of path; those without a text of their own are left out."""
    for path in sorted(folder.rglob("*.md")):
        title, heading, place, body, fenced = path.stem, "", 0, list[str](), False
        for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), "# end"], 1):
            fenced ^= line.lstrip().startswith("```")
            if line.startswith("title: ") and not heading:
                title = line.removeprefix("title: ").strip()
            elif not fenced and re.match(r"#+ ", line):
                if heading and (text := "\n".join(body).strip()):
                    yield Section(situation=f"{title}: {heading}", text=text, ref=f"{path.relative_to(folder)}#{heading}:{place}")
                heading, place, body = line.lstrip("# ").strip(), number, []
            else:
                body.append(line)
