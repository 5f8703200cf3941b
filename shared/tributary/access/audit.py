"""Refusals are recorded, each in a transaction of its own, so that none can be rolled back with what it refused."""

from __future__ import annotations

from tributary.core.agent import Principal
from tributary.core.ids import new_id
from tributary.store import Database, statement


def audit_refusal(database: Database, principal: Principal, *, action: str, code: str, detail: str) -> None:
    """Records that `principal` was refused `action`; `detail` must hold no lesson text."""
    database.rows(
        statement("access", "audit"),
        {
            "tribe_id": principal.tribe_id,
            "audit_id": new_id(),
            "agent_id": principal.agent_id,
            "action": action,
            "code": code,
            "detail": detail,
        },
    )
