"""The principal on its way from the authorizer to the function, through API Gateway's authorizer context."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.cells import is_cell_name
from tributary.core.errors import Corrupt
from tributary.edges.lambda_http.port import Event

UNDECIDED = "error"
"""Key of the context when the function is to look the token up itself; its value is the code of the error that is why."""


def to_context(principal: Principal) -> dict[str, str]:
    """Returns the authorizer context that carries `principal`."""
    return {
        "tribe_id": str(principal.tribe_id),
        "agent_id": str(principal.agent_id),
        "name": principal.name,
        "role": principal.role.value,
        **({} if principal.cell is None else {"cell": principal.cell}),
    }


def from_context(context: Mapping[str, object]) -> Principal | None:
    """Returns the principal in an authorizer context, None when it holds none; raises Corrupt when it is damaged."""
    if "agent_id" not in context:
        return None
    cell = context.get("cell")
    if cell is not None and not (isinstance(cell, str) and is_cell_name(cell)):
        raise Corrupt("the authorizer's context names what cannot be a cell")
    try:
        return Principal(
            tribe_id=UUID(str(context["tribe_id"])),
            agent_id=UUID(str(context["agent_id"])),
            name=str(context["name"]),
            role=Role(str(context["role"])),
            cell=cell,
        )
    except (KeyError, ValueError) as error:
        raise Corrupt("the authorizer's context does not describe an agent") from error


def context_of(event: Event) -> Mapping[str, object]:
    """Returns the authorizer context of an API Gateway event; empty on routes without an authorizer."""
    authorizer = event["requestContext"].get("authorizer") or {}
    context = authorizer.get("lambda") or {}
    return context if isinstance(context, dict) else {}


def iam_caller(event: Event) -> str | None:
    """Returns the ARN of the caller whose AWS signature API Gateway has checked; None where it asked our authorizer, or nobody.

    API Gateway alone writes a request's context: nothing that a client sends comes to stand there.
    """
    authorizer = event["requestContext"].get("authorizer") or {}
    signed = authorizer.get("iam")
    if "lambda" in authorizer or not isinstance(signed, dict):
        return None
    return str(signed.get("userArn") or "")


def bearer_token(event: Event) -> str | None:
    """Returns the token of 'Authorization: Bearer <token>', None without one. Header names are matched in any case."""
    for name, value in (event.get("headers") or {}).items():
        if name.lower() == "authorization":
            scheme, _, token = str(value).strip().partition(" ")
            return (token.strip() or None) if scheme.lower() == "bearer" else None
    return None
