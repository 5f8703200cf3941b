"""The chain of lessons in which each replaced others, laid out as a picture that is legible on a telephone.

Time goes downwards, a box a lesson. What replaced the box right above it is joined by a short arrow; other lines run down the
margin on the left, a lane for each lesson that they lead to.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from tributary.client import Lesson, Timeline
from tributary.client.visible import visible
from tributary.contract.history import LinkReply

DRAWN = 6
"""So many lessons are drawn on each side of the one that is looked at, those nearest to it; the list names more."""
WIDTH, BOX_HEIGHT, STEP = 336, 62, 82
LINES = 2
_LANE, _MOST_LANES, _SHOWN = 10, 4, 42


@dataclass(frozen=True, kw_only=True)
class Node:
    """A box. `words` are the lines of its text; none where that is erased, or is not to be followed."""

    id: str
    words: Sequence[str]
    status: str
    since: int | None
    until: int | None
    current: bool
    x: int
    y: int


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Boxes from the oldest to the newest, and the paths of the arrows between them (SVG's `d`)."""

    nodes: Sequence[Node]
    arrows: Sequence[str]
    height: int
    margin: int

    @property
    def width(self) -> int:
        return WIDTH

    @property
    def box_width(self) -> int:
        return WIDTH - self.margin - 2


@dataclass(frozen=True, kw_only=True)
class _Box:
    """A lesson before it has its place."""

    id: str
    words: Sequence[str]
    status: str
    since: int | None
    until: int | None
    successor: str | None


def draw(timeline: Timeline, *, held: bool) -> Picture | None:
    """Returns the picture of a lesson's chain; None when it replaced nothing and nothing replaced it."""
    before, after = timeline.predecessors.lessons, timeline.successors.lessons
    if not before and not after:
        return None
    boxes = [*map(_of_link, before[-DRAWN:]), _of_lesson(timeline.lesson, held=held), *map(_of_link, after[:DRAWN])]
    rows = {box.id: row for row, box in enumerate(boxes)}
    joins = [(row, rows[box.successor]) for row, box in enumerate(boxes) if box.successor in rows]
    lanes = _lanes(joins)
    margin = 2 + _LANE * (max(lanes.values()) + 2 if lanes else 0)
    nodes = [
        Node(
            id=box.id,
            words=box.words,
            status=box.status,
            since=box.since,
            until=box.until,
            current=box.id == timeline.lesson.id,
            x=margin,
            y=2 + row * STEP,
        )
        for row, box in enumerate(boxes)
    ]
    return Picture(
        nodes=nodes,
        arrows=[_arrow(start, end, lanes, margin) for start, end in joins],
        height=4 + BOX_HEIGHT + STEP * (len(boxes) - 1),
        margin=margin,
    )


def _lanes(joins: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Returns the lane of each row that arrows lead to from farther away: of lanes that overlap none is taken twice."""
    first: dict[int, int] = {}
    for start, end in joins:
        if end - start > 1:
            first[end] = min(start, first.get(end, start))
    lanes: dict[int, int] = {}
    for end, start in sorted(first.items(), key=lambda one: one[0] - one[1]):
        taken = {lane for other, lane in lanes.items() if first[other] < end and start < other}
        lanes[end] = min(next(lane for lane in range(len(first) + 1) if lane not in taken), _MOST_LANES)
    return lanes


def _arrow(start: int, end: int, lanes: dict[int, int], margin: int) -> str:
    if end - start == 1:
        x = margin + 20
        return f"M{x} {2 + start * STEP + BOX_HEIGHT}V{end * STEP}"
    x = margin - _LANE * (lanes[end] + 2) + 2
    top, bottom = (2 + row * STEP + BOX_HEIGHT // 2 for row in (start, end))
    return f"M{margin} {top}H{x + 6}Q{x} {top} {x} {top + 6}V{bottom - 6}Q{x} {bottom} {x + 6} {bottom}H{margin - 2}"


def _of_link(link: LinkReply) -> _Box:
    return _Box(
        id=link.id,
        words=() if link.held or not link.text else lines_of(link.text),
        status=link.status,
        since=link.activated.tick if link.activated else None,
        until=link.deactivated.tick if link.deactivated else None,
        successor=link.superseded_by,
    )


def _of_lesson(lesson: Lesson, *, held: bool) -> _Box:
    return _Box(
        id=lesson.id,
        words=() if held or not lesson.text else lines_of(lesson.text),
        status=lesson.status,
        since=lesson.activated.tick if lesson.activated else None,
        until=lesson.deactivated.tick if lesson.deactivated else None,
        successor=lesson.superseded_by,
    )


def lines_of(text: str) -> tuple[str, ...]:
    """Returns as much of a text as a box holds, in lines of at most so many columns."""
    left = visible(" ".join(text.split()), joiners=True)
    lines: list[str] = []
    while left and len(lines) < LINES:
        end = _fitting(left)
        blank = left.rfind(" ", 0, end + 1)
        if end < len(left) and blank > end // 2:
            end = blank
        lines.append(left[:end].rstrip())
        left = left[end:].lstrip()
    if left:
        lines[-1] = lines[-1][: _fitting(lines[-1]) - 1].rstrip() + "…"
    return tuple(lines)


def _fitting(text: str) -> int:
    """Returns how many characters fit into a line; wide ones take two columns."""
    room = _SHOWN
    for place, character in enumerate(text):
        room -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if room < 0:
            return place
    return len(text)
