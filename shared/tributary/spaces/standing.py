"""What a space is to a tribe, as its operator changes it: begun, switched to, dropped.

`connection` acts as the owner, autocommits, and goes straight to the server. Each change is one call of one function; what
takes longer (building, removing) is done in batches that learn and recall do not wait for.
"""

from __future__ import annotations

from typing import cast
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from tributary.core.errors import NotFound, WrongStanding
from tributary.core.ports import SpaceDefinition
from tributary.core.space import SpaceDropped, SpaceState, SpaceSwitched, TribeSpace
from tributary.spaces.index import drop_index
from tributary.store import statement

BATCH = 1000


def definition(space: SpaceDefinition) -> dict[str, object]:
    """Returns a space's definition as the schema takes it."""
    return {
        "name": space.name,
        "model": space.model,
        "pooling": space.pooling,
        "windowing": space.windowing,
        "quantisation": space.quantisation,
        "dimension": space.dimension,
    }


def spaces_of(connection: psycopg.Connection, tribe_id: UUID) -> tuple[TribeSpace, ...]:
    """Returns the spaces of a tribe, in the order of their numbers."""
    cursor = connection.cursor(row_factory=dict_row).execute(statement("spaces", "list"), {"tribe_id": tribe_id})
    return tuple(
        TribeSpace(
            number=row["space_id"],
            name=row["name"],
            dimension=row["dimension"],
            state=SpaceState(row["state"]),
            vectors=row["vectors"],
            missing=row["missing"],
            indexed=row["indexed"],
        )
        for row in cursor.fetchall()
    )


def space_named(connection: psycopg.Connection, tribe_id: UUID, name: str | None) -> TribeSpace:
    """Returns a space of a tribe by its name or number, or when none is given the one that it builds; raises NotFound."""
    every = spaces_of(connection, tribe_id)
    if name is None:
        found = [one for one in every if one.state is SpaceState.BUILDING]
        missing = "this tribe builds no space; 'tributary space create' begins one, and --space names any other"
    else:
        found = [one for one in every if name in (one.name, str(one.number))]
        missing = f"this tribe has no space '{name}'; 'tributary space list' shows those that it has"
    if not found:
        raise NotFound(missing)
    return found[0]


def begin(connection: psycopg.Connection, tribe_id: UUID, space: SpaceDefinition) -> None:
    """Has a tribe build a space, or bring one that it served from up to date; one that it builds already stays as it is.

    Raises WrongStanding when it serves from this space or drops it, or builds another one.
    """
    row = connection.execute(statement("spaces", "begin"), {"tribe_id": tribe_id, **definition(space)}).fetchone()
    state = SpaceState(cast(tuple[str], row)[0])
    if state is SpaceState.SERVING:
        raise WrongStanding(f"the tribe serves from the space '{space.name}' already")
    if state is SpaceState.DROPPING:
        raise WrongStanding(f"the space '{space.name}' is being dropped; 'tributary space drop --space' ends that")


def switch(connection: psycopg.Connection, tribe_id: UUID, space: TribeSpace, *, exact_limit: int, exact: bool) -> SpaceSwitched:
    """Has a tribe serve from another of its spaces, in one tick. The one that it served from is kept, to switch back to.

    Raises WrongStanding while lessons lack a vector there, or an index is missing and `exact` search was not asked for.
    """
    parameters: dict[str, object] = {"tribe_id": tribe_id, "space_id": space.number}
    before = next((one.name for one in spaces_of(connection, tribe_id) if one.state is SpaceState.SERVING), "")
    missing = cast(tuple[int], connection.execute(statement("spaces", "check"), parameters).fetchone())[0]
    if missing and space.state in (SpaceState.BUILDING, SpaceState.RETIRED):  # told without shutting the gate for it
        raise WrongStanding(f"{missing} lesson(s) lack a vector in the space '{space.name}'; build it again")
    row = connection.execute(statement("spaces", "switch"), {**parameters, "exact_limit": exact_limit, "exact": exact}).fetchone()
    return SpaceSwitched(before=before, after=space.name, tick=cast(tuple[int], row)[0])


def drop(connection: psycopg.Connection, tribe_id: UUID, space: TribeSpace) -> SpaceDropped:
    """Removes a space from a tribe with its index and vectors there. Safe to repeat when it was interrupted.

    Raises WrongStanding for the one that it serves from.
    """
    parameters: dict[str, object] = {"tribe_id": tribe_id, "space_id": space.number}
    connection.execute(statement("spaces", "dropping"), parameters)
    drop_index(connection, tribe_id, space.number)
    vectors = 0
    batch = {**parameters, "limit": BATCH}
    while gone := cast(tuple[int], connection.execute(statement("spaces", "clear"), batch).fetchone())[0]:
        vectors += gone
    forgotten = connection.execute(statement("spaces", "end"), parameters).fetchone() == (True,)
    return SpaceDropped(space=space.name, vectors=vectors, forgotten=forgotten)
