"""Rule 6: lessons without a vector where the tribe serves from get one, so that they are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from uuid import UUID

from tributary.core.errors import ModelFailed
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Lesson
from tributary.core.ports import Vector
from tributary.garden.visit import MISSES, Tally, Visit
from tributary.learn import draft_of
from tributary.spaces import as_text
from tributary.store import rows, statement
from tributary.telemetry import Event, log

PAGE = 32
NO_EMBEDDER = "model_failed"


def embed(visit: Visit, tally: Tally) -> None:
    """Embeds page by page. Raises BadSetting when the embedder set up here is not the one that the tribe serves from."""
    waiting = visit.survey.unembedded
    if waiting <= 0:
        return
    space_id = _space(visit)
    after: UUID | None = None
    missed = 0
    while page := _page(visit, space_id, after):
        if visit.budget.spent or missed >= MISSES:
            tally.leave(waiting, NO_EMBEDDER if missed >= MISSES else None)
            return
        after = page[-1].lesson_id
        waiting -= len(page)
        found = {} if visit.dry_run else _vectors(visit, page)
        made = len(page) if visit.dry_run else _write(visit, space_id, found)
        missed = 0 if found or visit.dry_run else missed + 1
        tally.did("embedded", made)
        tally.leave(len(found) - made if found else 0)  # being changed just now, or done by another gardener
        tally.leave(0 if visit.dry_run else len(page) - len(found), NO_EMBEDDER)


def _space(visit: Visit) -> int:
    profiles = visit.tools.learner.decider.profiles
    if profiles.get(visit.tribe_id).space_id != visit.survey.space_id:
        profiles.forget(visit.tribe_id)
    return profiles.get(visit.tribe_id).space_id


def _page(visit: Visit, space_id: int, after: UUID | None) -> list[Lesson]:
    parameters = {"tribe_id": visit.tribe_id, "space_id": space_id, "after": after, "limit": PAGE}
    found = cast(list[rows.Document], visit.tools.database.value(statement("garden", "unembedded"), parameters))
    return [rows.lesson(one) for one in found]


def _vectors(visit: Visit, lessons: Sequence[Lesson]) -> dict[UUID, Vector]:
    """Embeds a page at once, or, when that fails, one by one until it is plain that the embedder is away."""
    decider = visit.tools.learner.decider
    try:
        vectors = decider.embed([draft_of(one) for one in lessons])
        return {one.lesson_id: vector for one, vector in zip(lessons, vectors, strict=True)}
    except ModelFailed:
        found: dict[UUID, Vector] = {}
    missed = 0
    for one in lessons:
        try:
            found[one.lesson_id] = decider.embed([draft_of(one)])[0]
            missed = 0
        except ModelFailed as error:
            lesson = show(Prefix.LESSON, one.lesson_id)
            log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, rule="embed", code=error.code, lesson=lesson)
            missed += 1
            if missed >= MISSES:
                break
    return found


def _write(visit: Visit, space_id: int, vectors: dict[UUID, Vector]) -> int:
    if not vectors:
        return 0
    made = visit.tools.database.value(
        statement("garden", "embed"),
        {
            "tribe_id": visit.tribe_id,
            "space_id": space_id,
            "lessons": list(vectors),
            "vectors": [as_text(vector) for vector in vectors.values()],
        },
    )
    return cast(int, made)
