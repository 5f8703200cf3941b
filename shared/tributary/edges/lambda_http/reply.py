"""What an operation answers, before it is put into the shape that Lambda or ASGI wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel


@dataclass(frozen=True, kw_only=True)
class HttpReply:
    """A status, a body and the headers that are its own."""

    status: int
    body: str | bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def of_model(model: BaseModel, *, status: int = 200) -> HttpReply:
    """Returns the reply that carries `model` as JSON."""
    return HttpReply(status=status, body=model.model_dump_json())


def headers_of(reply: HttpReply, *, operation_id: str, path: str) -> dict[str, str]:
    """Returns the headers of `reply`, with those that every reply has."""
    headers = {
        **reply.headers,
        "Content-Type": reply.content_type,
        "X-Operation-Id": operation_id,
        "X-Content-Type-Options": "nosniff",
    }
    if path.startswith("/v1/"):
        headers["Cache-Control"] = "no-store"
    return headers
