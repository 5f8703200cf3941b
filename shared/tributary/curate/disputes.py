"""One dispute as it is stored, for those who look at it and for those who settle it."""

from __future__ import annotations

from uuid import UUID

from tributary.core.agent import Principal
from tributary.core.curation import Dispute
from tributary.core.errors import NotFound
from tributary.curate import documents
from tributary.store import Database, rows, statement


def find_dispute(database: Database, principal: Principal, dispute_id: UUID) -> Dispute:
    """Returns the dispute as `principal` may see it; raises NotFound when the tribe has none such."""
    found = database.value(
        statement("curate", "dispute"),
        {"tribe_id": principal.tribe_id, "dispute_id": dispute_id, "agent_id": principal.agent_id},
    )
    if found is None:
        raise NotFound("there is no such dispute in this tribe")
    return documents.dispute(rows.document(found))
