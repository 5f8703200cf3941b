"""Agents that are known by an AWS principal: whoever acts as that role or user acts as the agent."""

from __future__ import annotations

from uuid import UUID

from tributary.core.agent import Principal, Role
from tributary.core.aws_principal import PRINCIPAL_RULE, principal_of
from tributary.core.errors import InvalidRequest, Unauthenticated
from tributary.store import Reading, rows, statement


def check_principal(arn: str) -> str:
    """Returns the ARN that an agent is bound to when `arn` is given; raises InvalidRequest for what is no role and no user."""
    found = principal_of(arn)
    if found is None:
        raise InvalidRequest("principal", PRINCIPAL_RULE)
    return found


def authenticate_principal(database: Reading, user_arn: str) -> Principal:
    """Returns the agent that an AWS caller acts as; raises Unauthenticated when none is bound to it, or that is revoked.

    `user_arn` is what AWS itself says of the caller, once it has checked the signature. The database notes the use, to the
    minute, unless it is a read replica.
    """
    arn = principal_of(user_arn)
    if arn is None:
        raise Unauthenticated("AWS callers are let in as a role or as a user, never as the root user or a federated one")
    found = database.value(statement("access", "authenticate_principal"), {"principal": arn})
    if found is None:
        raise Unauthenticated(f"no agent is bound to '{arn}'; the operator can: tributary agent bind NAME --principal {arn}")
    row = rows.document(found)
    return Principal(tribe_id=UUID(row["tribe_id"]), agent_id=UUID(row["agent_id"]), name=row["name"], role=Role(row["role"]))
