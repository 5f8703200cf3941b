"""Whether the lessons that `recall --json` printed beside a receipt are those of the receipt, in the tribe's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tributary.client import Memory

_KEPT = ("text", "situation", "subject", "kind", "tags", "source", "evidence", "rationale", "author", "stated_confidence")
"""What never changes of a lesson. Its confidence does with time, and is the recall's own reckoning."""


@dataclass(frozen=True, kw_only=True)
class Altered:
    """What a kept recall shows otherwise than it was: `field` of `lesson`, or which lessons there are, with lesson None."""

    lesson: str | None
    field: str


@dataclass(frozen=True, kw_only=True)
class Kept:
    """How many lessons were compared, what was altered of them, and which are erased since, so that nothing can be said."""

    compared: int
    altered: tuple[Altered, ...]
    erased: tuple[str, ...]

    def document(self) -> dict[str, object]:
        altered = [{"lesson": one.lesson, "field": one.field} for one in self.altered]
        return {"compared": self.compared, "altered": altered, "erased": list(self.erased)}


def compare_kept(memory: Memory, document: Mapping[str, Any]) -> Kept | None:
    """Compares the lessons of a kept recall with what the tribe shows as of the receipt's tick; None when it holds none.

    The receipt itself, with ids and scores, is for `memory.verify` to check.
    """
    receipt, hits = document.get("receipt"), document.get("hits")
    if not isinstance(receipt, dict) or not isinstance(hits, list):
        return None
    claimed = [(one.get("id"), one.get("score")) for one in _objects(receipt.get("hits"))]
    shown = [(one["lesson"], one.get("score")) for one in _objects(hits) if isinstance(one.get("lesson"), dict)]
    altered: list[Altered] = []
    if [(lesson.get("id"), score) for lesson, score in shown] != claimed or len(shown) != len(hits):
        altered.append(Altered(lesson=None, field="hits"))
    known = {one for one, _ in claimed if isinstance(one, str)}
    erased: list[str] = []
    tick = receipt["searched"][0]["tick"]
    for lesson, _ in shown:
        which = lesson.get("id")
        if not isinstance(which, str) or which not in known:
            continue
        found = memory.lesson(which, as_of=tick).lesson
        if not found.text:
            erased.append(which)
            continue
        true = found.model_dump(mode="json")
        altered += [Altered(lesson=which, field=field) for field in _KEPT if lesson.get(field) != true[field]]
    return Kept(compared=len(shown), altered=tuple(altered), erased=tuple(erased))


def kept_lines(kept: Kept) -> Iterator[str]:
    """Yields what people are told of it."""
    from tributary.edges.cli.words import shown

    if kept.compared and not kept.altered:
        yield f"  the lessons beside it, {kept.compared}, are as the tribe shows them"
    for one in kept.altered:
        about = f"{shown(one.lesson)}: its {one.field} is another one" if one.lesson else "the lessons beside it are not its hits"
        yield f"  altered in the file: {about}"
    for lesson in kept.erased:
        yield f"  erased since, so its words cannot be compared: {shown(lesson)}"


def _objects(found: object) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
