"""From the documents of the schema's history functions to the words of core."""

from __future__ import annotations

from uuid import UUID

from tributary.core.decision import Outcome
from tributary.core.history import Chain, Change, Happening, Link, Occurrence, Ruling
from tributary.core.lesson import Instant, Kind, Status
from tributary.store import rows


def occurrence(row: rows.Document) -> Occurrence:
    details = row["details"]
    return Occurrence(
        tick=row["tick"],
        at=rows.moment(row["at"]),
        event=Happening(row["event"]),
        status=None if row["status"] is None else Status(row["status"]),
        by=row["by"],
        decision_id=rows.uuid_or_none(row["decision_id"]),
        disputes=tuple(map(UUID, row["disputes"])),
        ending=details.get("ending"),
        cause=details.get("cause"),
        other=rows.uuid_or_none(details.get("lesson")),
        successor=rows.uuid_or_none(details.get("successor")),
        receipt=details.get("receipt"),
        since=rows.moment_or_none(details.get("since")),
        space=details.get("to"),
    )


def change(row: rows.Document) -> Change:
    return Change(
        occurrence=occurrence(row),
        lesson_id=rows.uuid_or_none(row["lesson_id"]),
        kind=None if row["kind"] is None else Kind(row["kind"]),
        subject=row["subject"],
        text=row["text"],
        held=bool(row["held"]),
    )


def chain(found: list[rows.Document], *, more: bool) -> Chain:
    return Chain(links=tuple(map(_link, found)), more=more)


def ruling(row: rows.Document) -> Ruling:
    return Ruling(
        decision_id=UUID(row["decision_id"]),
        tick=row["tick"],
        outcome=Outcome(row["outcome"]),
        reason=row["reason"],
        receipts=tuple(map(rows.citation, row["receipts"])),
    )


def _link(row: rows.Document) -> Link:
    return Link(
        lesson_id=UUID(row["lesson_id"]),
        status=Status(row["status"]),
        text=row["text"],
        learned=Instant(tick=row["learned_tick"], at=rows.moment(row["learned_at"])),
        activated=rows.instant_or_none(row["activated_tick"], row["activated_at"]),
        deactivated=rows.instant_or_none(row["deactivated_tick"], row["deactivated_at"]),
        superseded_by=rows.uuid_or_none(row["superseded_by"]),
        held=row["held"],
    )
