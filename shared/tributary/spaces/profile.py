"""What a process keeps of a tribe between requests."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from uuid import UUID

from tributary.core.errors import TributaryError
from tributary.core.ports import Embedder
from tributary.spaces.registry import Embedders
from tributary.spaces.vectors import Placed, as_text
from tributary.store import Reading, check_level, rows, statement
from tributary.telemetry import Event, log


@dataclass(frozen=True, kw_only=True)
class Building:
    """The space that a tribe builds beside the one that it serves from."""

    space_id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class TribeProfile:
    """The key of the tribe's content hashes, the space that it serves from with its embedder, and the space that it builds."""

    secret: bytes
    space_id: int
    embedder: Embedder
    building: Building | None = None

    def placed(self, texts: list[str], *, timeout_s: float | None = None) -> list[Placed]:
        """Returns the texts' embeddings where the tribe serves from, in order; raises ModelFailed."""
        vectors = self.embedder.embed(texts, timeout_s=timeout_s)
        return [Placed(space_id=self.space_id, embedding=as_text(one)) for one in vectors]


class Profiles:
    """Profiles by tribe, read once and again when found to be out of date; refuses a tribe whose space no embedder here gives."""

    def __init__(self, database: Reading, embedders: Embedders) -> None:
        self._database = database
        self._embedders = embedders
        self._known: dict[UUID, TribeProfile] = {}
        self._lock = threading.Lock()

    def get(self, tribe_id: UUID) -> TribeProfile:
        """Returns the tribe's profile; raises NotFound, CodeTooOld, or BadSetting when its vectors are of another space."""
        with self._lock:
            known = self._known.get(tribe_id)
        if known is not None:
            return known
        row = rows.document(self._database.value(statement("spaces", "profile"), {"tribe_id": tribe_id}))
        check_level(row["oldest_code"])
        embedder = self._embedders.serving(row["space"])
        building = None if row["building"] is None else Building(space_id=row["building_id"], name=row["building"])
        profile = TribeProfile(
            secret=bytes.fromhex(row["secret"]), space_id=row["space_id"], embedder=embedder, building=building
        )
        with self._lock:
            self._known[tribe_id] = profile
        return profile

    def forget(self, tribe_id: UUID) -> None:
        """Makes the next `get` read again, after the tribe was found to serve from elsewhere."""
        with self._lock:
            self._known.pop(tribe_id, None)

    def unaware_of(self, tribe_id: UUID, building: int | None) -> bool:
        """Tells whether it was not known that the tribe builds this space (or none); then the next `get` reads again."""
        with self._lock:
            known = self._known.get(tribe_id)
            unaware = known is None or (known.building and known.building.space_id) != building
            if unaware:
                self._known.pop(tribe_id, None)
        return unaware

    def ahead(self, profile: TribeProfile, text: str, *, timeout_s: float | None = None) -> Placed | None:
        """Returns a text's embedding in the space that the tribe builds, None when there is none or this process cannot make it.

        Never raises: what is missing there is filled in by the build, and no learn is to fail for it.
        """
        if profile.building is None:
            return None
        try:
            embedder = self._embedders.giving(profile.building.name)
            if embedder is None:
                return None
            return Placed(space_id=profile.building.space_id, embedding=as_text(embedder.embed([text], timeout_s=timeout_s)[0]))
        except Exception as error:
            level, code = (log.WARNING, error.code) if isinstance(error, TributaryError) else (log.ERROR, "internal")
            log.event(Event.SPACE_PASSED_OVER, level=level, error=error, code=code, space=profile.building.name)
            return None

    def embedder_of(self, space: str) -> Embedder | None:
        """Returns the embedder of the space of this name, None when this process has none for it."""
        return self._embedders.giving(space)
