"""Looks at everything that a recall needs, and tries one. Reads alone, as the runtime role, of a replica as of a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import LiteralString
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.errors import BadSetting, ModelFailed, NotMigrated, Overloaded, TributaryError, Unavailable
from tributary.core.ports import Embedder
from tributary.core.receipt import SearchPath
from tributary.core.requests import Question
from tributary.core.status import About, Observation, Status, Unseen, usable_paths
from tributary.recall import observing
from tributary.recall.pipeline import Recaller
from tributary.recall.search import SMALLEST_POOL
from tributary.store import Database, Reading, failures, statement

QUERY = "what is known about this"
_NOT_PERMITTED = "42501"

Observations = Iterator[Observation]


@dataclass(frozen=True, kw_only=True)
class Prober:
    """Observes the databases, a tribe in them, and what this process brings along.

    Where one check fails each is asked for apart, so that it hides no other. Once a database cannot be reached, the rest of what
    would be asked of it counts as unreachable and is not waited for.
    """

    writer: Database
    replica: Database | None
    reading: Reading
    recaller: Recaller
    embedder: Embedder
    exact_limit: int
    gardened_every: timedelta
    """How often the gardener is due."""

    def status(self, principal: Principal) -> Status:
        """Returns what can be seen of all that a recall of the principal's tribe needs; raises Forbidden only."""
        principal.require(Role.READER)
        return self.tribe(principal.tribe_id, self.databases())

    def databases(self) -> tuple[Observation, ...]:
        """Returns what can be seen of the writer and, where there is one, of its replica."""
        writer = _Asked(self.writer, About.WRITER)
        seen = list(self._database(writer, replica=False))
        if self.replica is not None:
            position = writer.value(statement("recall", "status_position"), {})
            behind = {"position": None if isinstance(position, Unseen) else position}
            reader = _Asked(self.replica, About.READER)
            seen += self._database(reader, replica=True)
            seen += observing.replay(reader.row(statement("recall", "status_replay"), behind))
        return tuple(seen)

    def tribe(self, tribe_id: UUID, databases: tuple[Observation, ...] = ()) -> Status:
        """Returns what can be seen of a tribe, after `databases`."""
        asked = _Asked(self.reading, About.TRIBE)
        tribe, spaces, index, plan = self._stored(tribe_id, asked)
        ran, recalled = self._recall(tribe_id, asked)
        gardening = observing.last_gardening(tribe)
        observations = (
            *databases,
            *observing.tribe(tribe),
            *observing.spaces(spaces, self.embedder.space),
            *observing.vectors(tribe, index),
            *observing.index(index, self.exact_limit),
            *observing.plan(index, plan),
            *observing.gardening(tribe, gardening, self.gardened_every),
            self._embedding(),
            recalled,
        )
        paths = usable_paths(ran, index_chosen=observing.index_chosen(index, plan))
        return Status(usable_paths=paths, observations=observations, gardening=gardening)

    def _stored(self, tribe_id: UUID, asked: _Asked) -> tuple[object, object, object, object]:
        """Returns what the database says of a tribe: in one round trip when all of it can be told, else each by itself."""
        which = {"tribe_id": tribe_id, "exact_limit": self.exact_limit, "pool": SMALLEST_POOL}
        whole = asked.row(statement("recall", "status_whole"), which)
        if isinstance(whole, Mapping):
            return whole["tribe"], whole["spaces"], whole["index"], whole["plan"]
        return (
            asked.value(statement("recall", "status_tribe"), which),
            asked.value(statement("recall", "status_spaces"), which),
            asked.value(statement("recall", "status_index"), which),
            asked.value(statement("recall", "status_plan"), which),
        )

    def _database(self, asked: _Asked, *, replica: bool) -> Observations:
        yield from observing.server(asked.about, asked.row(statement("recall", "status_server"), {}), replica=replica)
        yield from observing.schema(asked.about, asked.value(statement("recall", "status_schema"), {}))

    def _embedding(self) -> Observation:
        rule = f"turns a text into {self.embedder.space.dimension} numbers"
        try:
            (vector,) = self.embedder.embed([QUERY])
        except (ModelFailed, BadSetting) as error:
            return Observation.of(About.PROCESS, "embedder", error.code, ok=False, rule=rule)
        except Unavailable:  # before its first use it is compared with the references of its space
            return Observation.unknown(About.PROCESS, "embedder", Unseen.UNREACHABLE, rule)
        return Observation.of(About.PROCESS, "embedder", len(vector), ok=len(vector) == self.embedder.space.dimension, rule=rule)

    def _recall(self, tribe_id: UUID, asked: _Asked) -> tuple[tuple[SearchPath, ...], Observation]:
        """Tries one recall, as nobody: what it needs of its agent is the tribe."""
        rule = "a recall is answered, by vector too"
        if asked.unreachable:
            return (), Observation.unknown(About.PROCESS, "recall", Unseen.UNREACHABLE, rule)
        nobody = Principal(tribe_id=tribe_id, agent_id=UUID(int=0), name="probe", role=Role.READER)
        try:
            paths = self.recaller.recall(nobody, Question(query=QUERY, limit=1), confirm=False).receipt.paths
        except TributaryError as error:
            return (), Observation.of(About.PROCESS, "recall", error.code, ok=False, rule=rule)
        by_vector = any(path in (SearchPath.VECTOR_EXACT, SearchPath.VECTOR_HNSW) for path in paths)
        return paths, Observation.of(About.PROCESS, "recall", tuple(path.value for path in paths), ok=by_vector, rule=rule)


class _Asked:
    """Asks one database, or a pair, check by check."""

    def __init__(self, database: Reading, about: About) -> None:
        self._database = database
        self.about = about
        self.unreachable = False

    def value(self, query: LiteralString, parameters: Mapping[str, object]) -> object:
        """Returns the value that a statement gives, or why that cannot be told."""
        return self._ask(lambda: self._database.value(query, parameters))

    def row(self, query: LiteralString, parameters: Mapping[str, object]) -> object:
        """Returns the row that a statement gives, by column name, or why that cannot be told."""
        return self._ask(lambda: self._database.records(query, parameters)[0])

    def _ask(self, read: Callable[[], object]) -> object:
        if self.unreachable:
            return Unseen.UNREACHABLE
        try:
            return read()
        except TributaryError as error:
            cause = unseen(error)
            self.unreachable = cause is Unseen.UNREACHABLE
            return cause


def unseen(error: TributaryError) -> Unseen:
    """Returns why something cannot be told when asking for it raised `error`."""
    if failures.sqlstate_of(error) == _NOT_PERMITTED:
        return Unseen.NOT_PERMITTED
    match error:
        case Unavailable():
            return Unseen.UNREACHABLE
        case Overloaded():
            return Unseen.TIMED_OUT
        case NotMigrated():
            return Unseen.NOT_MIGRATED
    return Unseen.FAILED
