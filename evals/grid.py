"""`python -m evals.grid [--pairs N]`: how often the local judge calls lessons the same that differ in one part or more.

Lessons are made of four parts: a subject, an event, an occasion and a cure (the word lists of the benchmarks), in seven forms.
For each form and each choice of parts that differ, N pairs are judged. Two that differ are two lessons, so `same` loses one.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import CURES, EVENTS, OCCASIONS, SITUATION, SUBJECTS
from tributary.core.ids import new_id
from tributary.core.ports import JudgedText
from tributary.models.judges import LocalJudge

PARTS: Mapping[str, Sequence[str]] = {"subject": SUBJECTS, "event": EVENTS, "occasion": OCCASIONS, "cure": CURES}
FORMS = {
    "telegram": "{subject} {event} after {occasion}: {cure}",
    "dash": "{subject} {event} after {occasion} - {cure}",
    "after": "After {occasion}, {subject} {event}; {cure}.",
    "when": "When {subject} {event} after {occasion}, {cure}.",
    "cure first": "{cure} when {subject} {event} after {occasion}.",
    "two sentences": "{subject} {event} after {occasion}. {cure}.",
    "so": "{subject} {event} after {occasion}, so {cure}.",
}
PAIRS = 150
SEED = 5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.grid", description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"for each form and choice of parts ({PAIRS})")
    pairs = parser.parse_args().pairs
    table = Table("form", "pairs", "same", "conflicts", "unsure", "unrelated")
    whole: Counter[str] = Counter()
    for name, form in FORMS.items():
        found = judged(form, pairs, random.Random(SEED))
        whole += found
        table.add_row(name, *_cells(found))
    table.add_section()
    table.add_row("all", *_cells(whole))
    Console().print(table)
    return 0


def judged(form: str, pairs: int, rng: random.Random) -> Counter[str]:
    """Returns how many pairs of lessons in this form got which verdict; every choice of parts that differ has as many pairs."""
    judge = LocalJudge()
    found: Counter[str] = Counter()
    for differing in range(1, 2 ** len(PARTS)):
        for _ in range(pairs):
            one = {name: rng.choice(words) for name, words in PARTS.items()}
            other = dict(one)
            for place, (name, words) in enumerate(PARTS.items()):
                if differing >> place & 1:
                    other[name] = rng.choice([word for word in words if word != one[name]])
            (verdict,) = judge.judge(_text(form, other), [_text(form, one)], timeout_s=None)
            found[verdict.kind.value] += 1
    return found


def _text(form: str, parts: Mapping[str, str]) -> JudgedText:
    said = form.format(**parts)
    sentences = ". ".join(sentence[0].upper() + sentence[1:] for sentence in said.split(". "))
    return JudgedText(lesson_id=new_id(), text=sentences if said.endswith(".") else said, situation=SITUATION, subject=None)


def _cells(found: Counter[str]) -> list[str]:
    return [f"{found.total():,}", *(f"{found[kind]:,}" for kind in ("same", "conflicts", "unsure", "unrelated"))]


if __name__ == "__main__":
    sys.exit(main())
