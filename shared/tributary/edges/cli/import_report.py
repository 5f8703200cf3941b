"""What an import says of each lesson, and at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tributary.edges.cli.words import counted, shown

if TYPE_CHECKING:
    from tributary.edges.cli.output import Output
    from tributary.transfer.documents import Refusal, Remark

REFUSED = "refused"
GONE = "gone"
RETIRED = "retired"
_OUTCOMES = ("learned", "reinforced", "unchanged", "superseded", "disputed", "quarantined", "pending")
_DRY = ("new", "same", "changed")
_ORDER = (*_OUTCOMES, *_DRY, RETIRED, GONE, REFUSED)
_USUAL = frozenset({"learned", "unchanged"})
"""What needs no line of its own, unless nothing is written at all."""


class Report:
    """Says what becomes of each lesson as it happens, and counts. With JSON it says all of it at the end, in one value."""

    def __init__(self, output: Output, *, dry_run: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.files = 0
        self.say = output.lines
        """How lines are said: beside a bar, by it."""
        self._output = output
        self._dry_run = dry_run
        self._rows: list[Mapping[str, object]] = []
        self._remarks: list[str] = []
        self._others: Counter[str] = Counter()

    def lesson(self, what: str, ref: str, *, lesson: str | None = None, note: str = "") -> None:
        """Says what became of one lesson, or would."""
        self.counts[what] += 1
        if what in _USUAL and not self._dry_run:
            return
        if self._output.as_json:
            self._rows.append({"outcome": what, "ref": ref, "lesson": lesson, "note": note or None})
        else:
            told = " ".join(one for one in (lesson or "", shown(note)) if one)
            self.say([f"{what:<11} {shown(ref)}" + (f"\t{told}" if told else "")])

    def refusal(self, refusal: Refusal) -> None:
        self.lesson(REFUSED, refusal.where, note=refusal.reason)

    def remark(self, remark: Remark) -> None:
        text = f"{shown(remark.file)}: {shown(remark.text)}"
        self._remarks.append(text)
        if not self._output.as_json:
            self._output.remark(text)

    def of_another(self, author: str) -> None:
        """Notes that a lesson of the file was taught by another agent."""
        self._others[author] += 1

    def end(self) -> None:
        """Says how much came to what."""
        counts = {name: self.counts[name] for name in _ORDER if self.counts[name]}
        if self._output.as_json:
            document = {"dry_run": self._dry_run, "files": self.files, "outcomes": counts}
            lists = {"lessons": self._rows, "remarks": self._remarks, "of_others": dict(sorted(self._others.items()))}
            self._output.json({**document, **lists})
            return
        said = ", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing to import"
        lines = [f"{counted(self.files, 'file')}: {said}."]
        if self._dry_run:
            lines.append("Nothing was written.")
        if counts.get(GONE):
            lines.append("What is gone is still believed; --retire-missing retires what of it is yours.")
        if self._others:
            names = ", ".join(f"{shown(name)} ({number})" for name, number in sorted(self._others.items()))
            lines.append(
                f"Lessons of these files that other agents imported: {names}. They stay theirs: what changed in one is disputed"
                " until a curator decides, unless you are a curator."
            )
        self._output.lines(lines)
