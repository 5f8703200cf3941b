"""Giving lessons the vectors that they lack in a space: page by page, without the gate, while learn and recall go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from tributary.core.errors import ModelFailed
from tributary.core.ports import Embedder, Vector
from tributary.spaces.vectors import as_text, embedded_text
from tributary.store import Database, rows, statement

PAGE = 32
MISSES = 3
"""After so many failures in a row a model counts as away, and the rest waits for another run."""
PASSES = 8
"""A build goes over the lessons again as long as others learn without this space, but not for ever."""


@dataclass(frozen=True, kw_only=True)
class Unembedded:
    """A lesson without a vector in a space, as what is embedded of it."""

    lesson_id: UUID
    text: str


Progress = Callable[[int, int], None]
"""Told how many vectors were made and how many are left."""


def pages(database: Database, tribe_id: UUID, space_id: int) -> Iterator[list[Unembedded]]:
    """Yields the lessons that need a vector in a space, by id, up to PAGE at a time; none of them twice."""
    after: str | None = None
    while True:
        parameters = {"tribe_id": tribe_id, "space_id": space_id, "after": after, "limit": PAGE}
        found = rows.document(database.value(statement("spaces", "unembedded"), parameters))
        if found["lessons"]:
            yield [
                Unembedded(lesson_id=UUID(one["lesson_id"]), text=embedded_text(situation=one["situation"], text=one["text"]))
                for one in found["lessons"]
            ]
        after = found["after"]
        if after is None:
            return


def vectors_of(
    embedder: Embedder, lessons: Sequence[Unembedded], *, failed: Callable[[UUID, ModelFailed], None]
) -> dict[UUID, Vector]:
    """Embeds a page at once, or, when that fails, one by one until it is plain that the embedder is away."""
    try:
        vectors = embedder.embed([one.text for one in lessons])
        return {one.lesson_id: vector for one, vector in zip(lessons, vectors, strict=True)}
    except ModelFailed:
        found: dict[UUID, Vector] = {}
    missed = 0
    for one in lessons:
        try:
            found[one.lesson_id] = embedder.embed([one.text])[0]
            missed = 0
        except ModelFailed as error:
            failed(one.lesson_id, error)
            missed += 1
            if missed >= MISSES:
                break
    return found


def put(database: Database, tribe_id: UUID, space_id: int, vectors: Mapping[UUID, Vector]) -> int:
    """Stores vectors and returns how many were new; a lesson that a commit is just changing is passed over."""
    if not vectors:
        return 0
    made = database.value(
        statement("spaces", "embed"),
        {
            "tribe_id": tribe_id,
            "space_id": space_id,
            "lessons": list(vectors),
            "vectors": [as_text(vector) for vector in vectors.values()],
        },
    )
    return cast(int, made)


def missing_in(database: Database, tribe_id: UUID, space_id: int) -> int:
    """Returns how many lessons need a vector in a space still, and has the database remember when there are none."""
    return cast(int, database.value(statement("spaces", "check"), {"tribe_id": tribe_id, "space_id": space_id}))


def fill(
    database: Database,
    embedder: Embedder,
    tribe_id: UUID,
    space_id: int,
    *,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """Embeds whatever needs a vector in the space; returns how many were made, and how many are left.

    May be killed at any moment and run again, and several may run at once; `stop`, asked after each page, ends it in good order.
    Raises ModelFailed when the embedder is away.
    """
    made = 0
    left = missing_in(database, tribe_id, space_id)
    for _ in range(PASSES):
        before = made
        for page in pages(database, tribe_id, space_id) if left else ():
            errors: dict[UUID, ModelFailed] = {}
            found = vectors_of(embedder, page, failed=errors.__setitem__)
            if errors and not found:
                raise next(iter(errors.values()))
            made += put(database, tribe_id, space_id, found)
            progress(made, max(0, left - (made - before)))
            if stop():
                break
        left = missing_in(database, tribe_id, space_id)
        if not left or made == before or stop():
            break
    progress(made, left)
    return made, left
