"""What changed between two moments as a page shows it: what took another lesson's place stands beside it, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tributary.client.difference import BeliefChange
from tributary.core.wording import Piece, compare

COMPARED = 8
"""So many lessons that one replaced are compared with it word by word; further ones are shown as they are."""


@dataclass(frozen=True, kw_only=True)
class Replaced:
    """A lesson that ended in another one, and how their words differ: `old` is what it said, `new` what the other one says."""

    change: BeliefChange
    old: Sequence[Piece]
    new: Sequence[Piece]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A lesson that began, with those that it replaced; or, with no `began`, one that ended in none of this page."""

    began: BeliefChange | None = None
    ended: BeliefChange | None = None
    replaced: Sequence[Replaced] = ()

    @property
    def new(self) -> Sequence[Piece]:
        """What the lesson that began says; marked where it replaced but one, since marks against several would mean nothing."""
        if len(self.replaced) == 1:
            return self.replaced[0].new
        return [Piece(text=self.began.lesson.text, apart=False)] if self.began else []


def turns_of(changes: Sequence[BeliefChange]) -> Sequence[Turn]:
    """Returns the changes in their order, each lesson once: one that was superseded comes with its successor, if that is here."""
    began = {one.lesson.id: one for one in changes if one.change == "began"}
    ended: dict[str, list[BeliefChange]] = {}
    for one in changes:
        if one.change == "ended" and one.how == "superseded" and one.lesson.superseded_by in began:
            ended.setdefault(one.lesson.superseded_by, []).append(one)
    turns: list[Turn] = []
    told: set[str] = set()
    for one in changes:
        successor = one.lesson.id if one.change == "began" else one.lesson.superseded_by if one.how == "superseded" else None
        if successor in began:
            if successor not in told:
                told.add(successor)
                turns.append(_turn(began[successor], ended.get(successor, [])))
        else:
            turns.append(Turn(ended=one))
    return turns


def _turn(began: BeliefChange, ended: Sequence[BeliefChange]) -> Turn:
    return Turn(began=began, replaced=[_replaced(one, began, compared=place < COMPARED) for place, one in enumerate(ended)])


def _replaced(ended: BeliefChange, began: BeliefChange, *, compared: bool) -> Replaced:
    old, new = ended.lesson.text, began.lesson.text
    whole = (Piece(text=old, apart=False),), (Piece(text=new, apart=False),)
    ours, theirs = compare(old, new) if compared else whole
    return Replaced(change=ended, old=ours, new=theirs)
