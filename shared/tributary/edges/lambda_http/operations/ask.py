"""One request, ready to be read by its operation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypedDict, TypeVar
from uuid import UUID

from pydantic import BaseModel

from tributary.contract.routes import Route
from tributary.core import ids
from tributary.core.agent import Principal
from tributary.core.clock import Now
from tributary.core.errors import Unauthenticated
from tributary.edges.lambda_http.body import read_body
from tributary.edges.lambda_http.headers import idempotency_key
from tributary.edges.lambda_http.port import Door, Event, MemoryFace, OpenMemory
from tributary.edges.lambda_http.query import read_query, read_repeated
from tributary.edges.lambda_http.reply import HttpReply

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request whose caller was identified and may do this. `remaining_s` is what is left before the caller is cut off.

    `stopping` is set when the server is to end.
    """

    event: Event
    route: Route
    path: Mapping[str, str]
    identity: Principal | None
    open_memory: OpenMemory
    remaining_s: float | None
    now: Now
    stopping: threading.Event

    @property
    def principal(self) -> Principal:
        """The caller; raises Unauthenticated on a route that let nobody in."""
        if self.identity is None:
            raise Unauthenticated
        return self.identity

    @property
    def memory(self) -> MemoryFace:
        """The memory of the caller's tribe. Operations ask for it last, so that a malformed request never reaches it."""
        return self.door.of(self.principal)

    @property
    def door(self) -> Door:
        """What serves those who need not say who they are."""
        return self.open_memory()

    def id(self) -> UUID:
        """Returns the id in the path; raises InvalidRequest when it is none of what the route is about."""
        return ids.parse(ids.Prefix(self.route.id_of), self.path["id"], field="id")

    def body(self, model: type[Model]) -> Model:
        return read_body(self.event, model, most_bytes=self.route.body_bytes)

    def key(self) -> str | None:
        """Returns the idempotency key, and makes sure that no query came with a request that takes none."""
        self.query()
        return idempotency_key(self.event)

    def query(self) -> Mapping[str, str]:
        return read_query(self.event, self.route.query)

    def repeated(self, name: str) -> tuple[str, ...]:
        """Returns each value of a parameter that may be given more than once; `query` has looked at them before."""
        return read_repeated(self.event, name)

    def deadline_s(self, wanted_s: float | None) -> float | None:
        """Returns the sooner of what the caller asks for and what is left."""
        bounds = [bound for bound in (wanted_s, self.remaining_s) if bound is not None]
        return min(bounds) if bounds else None


Operation = Callable[[Ask], HttpReply]


class PageAsked(TypedDict):
    """Which page of a listing is asked for: how many items, and from which cursor on."""

    limit: int
    before: str | None


def page_of(given: Mapping[str, str]) -> PageAsked:
    """Returns the page that the query of a listing asks for."""
    return {"limit": int(given["limit"]), "before": given.get("before")}
