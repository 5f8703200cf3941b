"""What the table of routes is made of.

Paths use whole-segment variables, as API Gateway's HTTP APIs need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from pydantic import BaseModel

from tributary.contract import limits

Role = Literal["reader", "writer", "curator"]
MOMENT = r"^([0-9]{1,18}|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2}))$"
"""What a query parameter that takes a tick or an RFC 3339 time looks like."""

IdPrefix = Literal["les", "dis", "dec", "rev", "agt", "tok", "act"]


@dataclass(frozen=True, kw_only=True)
class QueryParameter:
    name: str
    description: str
    schema: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Route:
    """One operation. `function` names the Lambda function that serves it; `role` is None on open routes."""

    operation: str
    method: Literal["GET", "POST", "PUT"]
    path: str
    function: str
    role: Role | None
    summary: str
    reply: type[BaseModel] | None
    request: type[BaseModel] | None = None
    query: tuple[QueryParameter, ...] = ()
    also: tuple[HTTPStatus, ...] = ()
    """Other statuses of success, with the same reply."""
    id_of: IdPrefix = "les"
    """What the `{id}` of the path is the id of."""
    keyed: bool = False
    """Takes an Idempotency-Key, and is refused when too much is written."""
    paced: bool = False
    """Is refused, without a key, when too much is written, or when the budget for models is spent."""
    body_bytes: int = limits.BODY_BYTES
    """The largest body that is read."""
    of_files: bool = False
    """Is about evidence files, and refused where nothing keeps them."""
    takes_bytes: bool = False
    """The body is the bytes of a file. The local gateway alone lets so many through; on AWS they go to S3 itself."""
    waits: str | None = None
    """The query parameter by which a caller asks to have the reply held back for some seconds."""
