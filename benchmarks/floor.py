"""Where does noise begin? Measures the floor of an embedding space on a corpus of runbooks.

    python benchmarks/floor.py [FOLDER] [--sentence-transformers MODEL | --bedrock MODEL [--dimension N]]

Each section of a runbook is taken as a lesson. Three kinds of right pair are measured:

    told            the first sentence of "Meaning" as someone in trouble would tell it, and each other section of the
                    same runbook, with the runbook's title as the situation: as lessons are embedded
    headed          title and heading, and the section under it, with the title as the situation
    headed, bare    title and heading, and the section alone, in which the title's words need not occur

Noise is a pair with a section of another runbook (now and then a related one), and a pair with a question from outside
of operations (for certain). Of those, the best hit matters most: it is what a reader would be shown as an answer.
The floor proposed is the highest, in steps of 0.01, that keeps 97 % of the pairs told.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tributary.core.ports import Embedder
from tributary.models.embedders import BedrockEmbedder, MiniLmEmbedder, SentenceTransformersEmbedder

KEPT = 0.97
DEFAULT_FOLDER = Path(__file__).resolve().parents[1].parent / "shared" / "data"
QUANTILES = (0.01, 0.03, 0.1, 0.5, 0.9, 0.97, 0.99)
ELSEWHERE = (
    "How long should bread dough rise?",
    "best hiking boots for wide feet",
    "Who painted the ceiling of the Sistine Chapel?",
    "my cat keeps scratching the sofa",
    "What is the capital of Mongolia?",
    "recipe for lentil soup without onions",
    "how to prune roses in winter",
    "train from Vienna to Budapest, bicycles allowed",
    "meaning of the last scene in the film",
    "When does the school year begin?",
    "symptoms of a vitamin D deficiency",
    "chords for a simple blues in A",
    "What tax class applies after a marriage?",
    "how to remove red wine from a carpet",
    "The football team lost both matches of the weekend.",
    "Which planet has the most moons?",
    "a birthday present for a ten-year-old who likes dinosaurs",
    "rules of the Sicilian defence in chess",
    "how deep must a fence post stand in sandy soil",
    "Does the museum open on Mondays?",
)

NEEDED = (
    "it needs two files or more that begin with a title (# ...), one of them with a section '## Meaning' and another section"
    " beside it, each of five words or more"
)

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Section:
    """One second-level section of a runbook."""

    runbook: str
    title: str
    heading: str
    body: str

    @property
    def situated(self) -> str:
        """The section as a lesson: its situation, then its text."""
        return f"{self.title}\n{self.body}"


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Similarities of questions and lessons of one kind."""

    name: str
    right: Numbers
    foreign: Numbers
    """Pairs with lessons from another runbook."""


def sections(folder: Path) -> list[Section]:
    """Returns the sections of all runbooks under `folder`, in order of path; those of under five words are left out."""
    found: list[Section] = []
    for file in sorted(folder.rglob("*.md")):
        content = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        title = re.search(r"^# +(.+)$", content, flags=re.MULTILINE)
        if title is None:
            continue
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title[1].strip())
        for part in re.split(r"^## +", content, flags=re.MULTILINE)[1:]:
            heading, _, body = part.partition("\n")
            if len(body.split()) >= 5:
                found.append(Section(runbook=str(file), title=spaced, heading=heading.strip(), body=body.strip()))
    return found


def measurable(found: Sequence[Section]) -> bool:
    """Tells whether there are pairs of each kind: those told, and pairs with another runbook."""
    meant = {section.runbook for section in found if section.heading == "Meaning"}
    beside = {section.runbook for section in found if section.heading != "Meaning"}
    return bool(meant & beside) and len(meant | beside) > 1


def measured(embedder: Embedder, found: Sequence[Section]) -> list[Pairs]:
    """Returns the similarities of the three kinds, those told first."""
    runbooks = np.array([section.runbook for section in found])
    foreign = runbooks[:, None] != runbooks[None, :]
    meaning = np.array([section.heading == "Meaning" for section in found])
    told = _matrix(embedder, [_first_sentence(section.body) for section in found if section.heading == "Meaning"])
    headed = _matrix(embedder, [f"{section.title}: {section.heading}" for section in found])
    situated = _matrix(embedder, [section.situated for section in found])
    bare = _matrix(embedder, [section.body for section in found])
    told_pairs = (told @ situated.T)[:, ~meaning]
    told_foreign = foreign[meaning][:, ~meaning]
    return [
        Pairs(name="told", right=told_pairs[~told_foreign], foreign=told_pairs[told_foreign]),
        Pairs(name="headed", right=(headed @ situated.T).diagonal(), foreign=(headed @ situated.T)[foreign]),
        Pairs(name="headed, bare", right=(headed @ bare.T).diagonal(), foreign=(headed @ bare.T)[foreign]),
    ]


def report(name: str, values: Numbers, floors: Sequence[float]) -> str:
    """Returns one line: quantiles of `values`, and the share of them at or above each floor."""
    quantiles = " ".join(f"{value:6.3f}" for value in np.quantile(values, QUANTILES))
    shares = " ".join(f"{float((values >= floor).mean()):8.1%}" for floor in floors)
    return f"{name:<38} {values.size:>7} {quantiles}  {shares}"


def main() -> int:
    """Runs the measurement; returns 0 also when the corpus is absent, 2 when it cannot be measured on, after saying so."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER, help="folder of Markdown runbooks")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--sentence-transformers", metavar="MODEL", help="a model's id or folder, instead of MiniLM")
    chosen.add_argument("--bedrock", metavar="MODEL", help="a hosted model's id; asks it in AWS_REGION, at a price")
    parser.add_argument("--dimension", type=int, help="numbers of the hosted model's vectors")
    options = parser.parse_args()
    if next(options.folder.rglob("*.md"), None) is None:
        print(f"skipped: no runbooks under {options.folder}; name a folder of Markdown runbooks as the argument")
        return 0
    found = sections(options.folder)
    if not measurable(found):
        print(f"the Markdown under {options.folder} cannot be measured on: {NEEDED}", file=sys.stderr)
        return 2
    embedder = _embedder(options)
    kinds = measured(embedder, found)
    outside = _matrix(embedder, ELSEWHERE) @ _matrix(embedder, [section.situated for section in found]).T
    proposed = float(np.floor(np.quantile(kinds[0].right, 1 - KEPT, method="lower") * 100) / 100)
    floors = sorted({embedder.space.floor, proposed})

    print(f"space {embedder.space.name}")
    print(f"{len(found)} sections of {len({section.runbook for section in found})} runbooks under {options.folder}\n")
    columns = " ".join(f"{quantile:>6.0%}" for quantile in QUANTILES)
    print(f"{'similarity of':<38} {'pairs':>7} {columns}  " + " ".join(f">={floor:6.2f}" for floor in floors))
    for kind in kinds:
        print(report(f"{kind.name}: right", kind.right, floors))
        print(report(f"{kind.name}: another runbook's", kind.foreign, floors))
    print(report("question from elsewhere: any lesson", outside.ravel(), floors))
    print(report("question from elsewhere: best hit", outside.max(axis=1), floors))
    print(f"\nfloor of the space {embedder.space.floor:.2f}; proposed {proposed:.2f}, which keeps {KEPT:.0%} told")
    return 0


def _embedder(options: argparse.Namespace) -> Embedder:
    if options.bedrock:
        region, url = os.environ.get("AWS_REGION", "us-east-1"), os.environ.get("TRIBUTARY_BEDROCK_URL")
        return BedrockEmbedder(model=options.bedrock, dimension=options.dimension, region=region, url=url, attempts=10)
    if options.sentence_transformers:
        return SentenceTransformersEmbedder(model=options.sentence_transformers)
    return MiniLmEmbedder(threads=2)


def _matrix(embedder: Embedder, texts: Sequence[str]) -> Numbers:
    return np.array(embedder.embed(texts))


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n\n", text, maxsplit=1)[0]


if __name__ == "__main__":
    sys.exit(main())
