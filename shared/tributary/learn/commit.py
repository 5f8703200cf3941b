"""Step 6: the commit, one call under the gate; refused, with what changed, when something relevant was committed meanwhile."""

from __future__ import annotations

from datetime import datetime

from psycopg.types.json import Jsonb

from tributary.core.decision import Outcome
from tributary.core.ids import new_id
from tributary.core.outcome import Plan
from tributary.learn.judging import Bench
from tributary.learn.proposal import Proposal, Reading, Refused
from tributary.store import Database, rows, statement
from tributary.telemetry import Span, traces


def commit(
    database: Database, proposal: Proposal, reading: Reading, bench: Bench, plan: Plan
) -> tuple[rows.Document | Refused, float]:
    """Returns the document of the reply, or what changed since the reading, and how many ms the gate was waited for."""
    document = _document(proposal, reading, bench, plan)
    with traces.span(Span.COMMIT) as span:
        row = rows.document(database.value(statement("learn", "commit"), {"plan": Jsonb(document)}))
        waited_ms = float(row["gate_wait_ms"])
        span.note(committed=row["committed"], gate_wait_ms=waited_ms, changed=row.get("changed"), fresh=row.get("fresh"))
    if row["committed"]:
        return row, waited_ms
    return Refused(changed=row["changed"], fresh=row["fresh"]), waited_ms


def _document(proposal: Proposal, reading: Reading, bench: Bench, plan: Plan) -> dict[str, object]:
    candidates = reading.candidates.values()
    return {
        "tribe_id": str(proposal.principal.tribe_id),
        "agent_id": str(proposal.principal.agent_id),
        "actor_id": str(proposal.actor.agent_id),
        "needs": None if proposal.needs is None else proposal.needs.value,
        "key": proposal.key,
        "request_digest": proposal.request_digest.hex(),
        "read_tick": reading.tick,
        "role": reading.role.value,
        "policy_version": reading.policy.version,
        "space_id": proposal.space_id,
        "embedding": proposal.embedding,
        **ahead_of(proposal),
        "content_hash": proposal.content_hash.hex(),
        "subject_key": proposal.subject_key,
        "terms": list(proposal.terms),
        "rare": list(reading.rare),
        "farthest": reading.farthest,
        "judged": [str(one.lesson.lesson_id) for one in candidates],
        "opponents": [str(one) for one in frozenset(reading.opponents).union(*(one.opponents for one in candidates))],
        "contests": None if proposal.contests is None else str(proposal.contests),
        "stands": None if proposal.stored is None else proposal.stored.stands.value,
        "resolves": _resolves(proposal),
        "reviews": [*(() if proposal.stored is None else proposal.stored.reviews), *bench.overruled(candidates)],
        "lesson": _lesson(proposal, plan),
        "plan": _plan(plan),
        "decision_id": str(proposal.decision_id),
        "replans": proposal.replans,
        "candidates": [
            {
                "lesson_id": str(one.lesson.lesson_id),
                "status": one.lesson.status.value,
                "similarity": one.similarity,
            }
            for one in candidates
        ],
        "verdicts": bench.recorded(candidates),
        "screening": {"screen": proposal.screening.screen, "reasons": list(_reasons(proposal, plan))},
        "caught": proposal.screening.quarantined,
        "receipts": [one.document() for one in proposal.citations],
        **({} if proposal.completes is None else {"completes": proposal.completes.document()}),
    }


def ahead_of(proposal: Proposal) -> dict[str, object]:
    """Returns the lesson's vector in the space that the tribe builds, as the schema takes it."""
    if proposal.ahead is None:
        return {}
    return {"also_space_id": proposal.ahead.space_id, "also_embedding": proposal.ahead.embedding}


def _reasons(proposal: Proposal, plan: Plan) -> tuple[str, ...]:
    """Returns why it is held back: the screen's reasons, or the record of what a curator said of the same before."""
    by_record = plan.outcome is Outcome.QUARANTINED and not proposal.screening.quarantined
    return ("rejected_before",) if by_record else proposal.screening.reasons


def _resolves(proposal: Proposal) -> dict[str, object] | None:
    resolution = proposal.stored.resolution if proposal.stored else None
    return None if resolution is None else resolution.document()


def _lesson(proposal: Proposal, plan: Plan) -> dict[str, object]:
    draft = proposal.draft
    return {
        "lesson_id": str(proposal.lesson_id),
        "kind": draft.kind.value,
        "text_hash": proposal.text_hash.hex(),
        "text": draft.text,
        "situation": draft.situation,
        "subject": draft.subject,
        "tags": dict(draft.tags),
        "source_how": draft.source.how.value,
        "source_ref": draft.source.ref,
        "evidence": [{"type": one.type, "ref": one.ref, "note": one.note} for one in draft.evidence],
        "rationale": draft.rationale,
        "confidence": draft.confidence if plan.confidence_at_most is None else min(draft.confidence, plan.confidence_at_most),
        "valid_from": _moment(draft.valid_from),
        "valid_until": _moment(draft.valid_until),
        "keep_until": _moment(draft.keep_until),
    }


def _plan(plan: Plan) -> dict[str, object]:
    lists = {
        name: [str(one) for one in getattr(plan, name)]
        for name in ("supersede", "dispute", "challenge", "settle", "contend", "rivals", "lapse", "retire", "overturn")
    }
    return {
        "outcome": plan.outcome.value,
        "reason": plan.reason,
        "confirm": None if plan.confirm is None else str(plan.confirm),
        "precedent": None if plan.precedent is None else str(plan.precedent),
        "dispute_id": str(new_id()),
        "challenge_ids": [str(new_id()) for _ in plan.challenge],
        **lists,
    }


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()
