"""Rule 6: lessons without a vector get one, where the tribe serves from and in the space that it builds."""

from __future__ import annotations

from uuid import UUID

from tributary.core.errors import ModelFailed
from tributary.core.ids import Prefix, show
from tributary.core.ports import Embedder
from tributary.garden.visit import Building, Tally, Visit
from tributary.spaces import MISSES, missing_in, pages, put, vectors_of
from tributary.telemetry import Event, log

MODEL_FAILED = "model_failed"
NO_EMBEDDER = "no_embedder"


def embed(visit: Visit, tally: Tally) -> None:
    """Embeds page by page. Raises BadSetting when no embedder set up here gives the space that the tribe serves from."""
    profiles = visit.tools.learner.decider.profiles
    if visit.survey.unembedded > 0:
        profiles.forget(visit.tribe_id)  # the tribe may serve from elsewhere since this process last looked
        profile = profiles.get(visit.tribe_id)
        _fill(visit, tally, profile.embedder, profile.space_id, visit.survey.unembedded, "embedded")
    if visit.survey.building is not None:
        _build(visit, tally, visit.survey.building)


def _build(visit: Visit, tally: Tally, building: Building) -> None:
    """Fills the space that is being built, where this process can; else the operator's build does."""
    if building.missing:
        embedder = visit.tools.learner.decider.profiles.embedder_of(building.name)
        if embedder is None:
            tally.leave(building.missing, NO_EMBEDDER)
            return
        _fill(visit, tally, embedder, building.space_id, building.missing, "built")
    if not visit.dry_run:
        missing_in(visit.tools.database, visit.tribe_id, building.space_id)  # so that the next count begins from here


def _fill(visit: Visit, tally: Tally, embedder: Embedder, space_id: int, waiting: int, kind: str) -> None:
    missed = 0
    for page in pages(visit.tools.database, visit.tribe_id, space_id):
        if visit.budget.spent or missed >= MISSES:
            tally.leave(waiting, MODEL_FAILED if missed >= MISSES else None)
            return
        waiting -= len(page)
        found = {} if visit.dry_run else vectors_of(embedder, page, failed=_log)
        made = len(page) if visit.dry_run else put(visit.tools.database, visit.tribe_id, space_id, found)
        missed = 0 if found or visit.dry_run else missed + 1
        tally.did(kind, made)
        tally.leave(len(found) - made if found else 0)  # being changed just now, or done by another gardener
        tally.leave(0 if visit.dry_run else len(page) - len(found), MODEL_FAILED)


def _log(lesson_id: UUID, error: ModelFailed) -> None:
    lesson = show(Prefix.LESSON, lesson_id)
    log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, rule="embed", code=error.code, lesson=lesson)
