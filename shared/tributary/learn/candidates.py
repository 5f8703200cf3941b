"""Step 4: the lessons that a new one might repeat or contradict, as they stood at one tick."""

from __future__ import annotations

from tributary.core.agent import Role
from tributary.core.lesson import Status
from tributary.core.policy import Policy
from tributary.core.terms import COMMON_FROM, RARE_TERMS
from tributary.learn.proposal import Proposal, Reading
from tributary.store import Database, rows, statement

NEAREST = 8
SAME_SUBJECT = 100
BY_TERMS = 8


def read_candidates(database: Database, proposal: Proposal, *, exact_limit: int) -> Reading | None:
    """Reads candidates from three sides in one query: nearest by vector, same subject, shared rare terms.

    Returns None when the tribe serves from another space than the proposal's by now.
    """
    row = rows.document(
        database.value(
            statement("learn", "read"),
            {
                "tribe_id": proposal.principal.tribe_id,
                "agent_id": proposal.principal.agent_id,
                "space_id": proposal.space_id,
                "embedding": proposal.embedding,
                "terms": list(proposal.terms),
                "subject_key": proposal.subject_key,
                "content_hash": proposal.content_hash,
                "near": NEAREST,
                "subject_limit": SAME_SUBJECT,
                "by_terms": BY_TERMS,
                "rare": RARE_TERMS,
                "cap": COMMON_FROM,
                "exact_limit": exact_limit,
                "also": [*([proposal.lesson_id] if proposal.stored else []), *proposal.against],
            },
        )
    )
    if not row["serving"]:
        return None
    every = [rows.candidate(one) for one in row["candidates"]]
    itself = next((one for one in every if one.lesson.lesson_id == proposal.lesson_id), None)  # when it is stored
    found = [one for one in every if one is not itself]
    return Reading(
        tick=row["tick"],
        at=rows.moment(row["at"]),
        role=_role(proposal, row),
        policy=Policy.from_document(row["policy_version"], row["policy"]),
        rare=tuple(row["rare"]),
        farthest=row["farthest"],
        candidates={one.lesson.lesson_id: one for one in found},
        building=row["building"],
        opponents=itself.opponents if itself else frozenset(),
    )


def _role(proposal: Proposal, row: rows.Document) -> Role:
    """Returns the role that the outcome is derived for: of what a curator accepts out of a dispute, the curator's."""
    if proposal.stored is None:
        return rows.role(row["role"])
    return proposal.principal.role if proposal.stored.stands is Status.DISPUTED else rows.role(row["authority"])
