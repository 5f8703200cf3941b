"""Tools of agents that write: learn, reinforce, contest, retire, report a mistake."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from tributary.client import Learned, Memory, source_of
from tributary.client.prompt import harmless, inline
from tributary.contract.curation import Mistake, RetireCause
from tributary.contract.models import How, Kind
from tributary.edges.mcp.tool import Answer, Arguments, Result, Tool

LessonId = Annotated[str, Field(description="The id of a lesson, les_..., as recall gave it.")]
SourceHow = Annotated[
    How,
    Field(description="How you know: `observed` it happen, `derived` it from other facts, were `told`, or `imported` it."),
]
SourceRef = Annotated[str | None, Field(description="Where it can be looked up: a run, a log, a page, file:line.")]
Why = Annotated[str | None, Field(description="Why you think so: what you saw, in a sentence.")]
DEADLINE_S = 20.0
"""What a judge may take of a call; past it the lesson is kept as pending, and settled soon after."""

_WORDS = {
    "learned": "It is believed from now on, by every agent of the tribe.",
    "reinforced": "The tribe knew it already; you count as one more that found it true.",
    "unchanged": "You had said so already; nothing changed.",
    "superseded": "It is believed from now on, in place of what it contradicts.",
    "disputed": "It contradicts what the tribe believes. A curator decides; until then it is shown beside that as a challenge.",
    "quarantined": "The screen held it back: nobody is shown it before a curator has looked at it.",
    "pending": "It is kept but not believed yet: judging it takes longer. It will be settled soon; do not send it again.",
}


class EvidenceGiven(Arguments):
    type: str = Field(description="What it is, as `log`, `url`, `commit`.")
    ref: str = Field(description="Where it is.")
    note: str | None = None


class LearnArguments(Arguments):
    text: str = Field(description="One fact, complete in itself: 'The deploy API needs X-Batch: true, else it answers 429.'")
    situation: str = Field(description="When it applies: 'deploying a service through the deploy API'.")
    how: SourceHow
    ref: SourceRef = None
    kind: Kind = Field(
        default="gotcha",
        description="`gotcha`: a trap and how to avoid it; `entity_fact`: how a thing is; `observation`: seen, not explained; "
        "`runbook_fact`: a step that works; `resolution`: what ended an incident; `rejected_hypothesis`: tried, did not help.",
    )
    subject: str | None = Field(default=None, description="The one thing that it is about, by its name: 'deploy-api'.")
    tags: dict[str, str] = Field(default={}, description="Few and plain: {'env': 'prod'}.")
    evidence: list[EvidenceGiven] = Field(default=[], description="What shows it.")
    rationale: Why = None
    confidence: float = Field(default=0.7, description="How sure you are, from 0 to 1.")
    valid_until: datetime | None = Field(default=None, description="When it ceases to hold, if that is known; with offset.")


class ReinforceArguments(Arguments):
    lesson: LessonId


class ContestArguments(Arguments):
    lesson: LessonId
    text: str = Field(description="What holds instead, or why it does not hold.")
    how: SourceHow
    ref: SourceRef = None
    situation: str | None = Field(default=None, description="When yours applies; the lesson's situation when left out.")
    evidence: list[EvidenceGiven] = Field(default=[], description="What shows it.")
    rationale: Why = None
    confidence: float = 0.7


class RetireArguments(Arguments):
    lesson: LessonId
    cause: RetireCause = Field(default="outdated", description="`injection`: its text tries to steer its readers.")


class ReportArguments(Arguments):
    decision: str = Field(description="The id of the decision, dec_..., as a learn's answer or a dispute gave it.")
    should_be: Mistake = Field(
        description="What the judge should have said of the pair: `same`, `conflicts`, `unrelated`; "
        "or the screen of the text: `harmful`, `harmless`."
    )
    lesson: str | None = Field(default=None, description="The other lesson of the pair, where the decision compared several.")
    note: str | None = None


class LearnedShown(Result):
    """What became of a lesson."""

    outcome: str
    lesson: str | None = Field(description="The lesson that now stands for what was said.")
    status: str | None
    replaced: list[str]
    dispute: str | None
    challenges: list[str]
    precedent: str | None = Field(description="The lesson that a curator rejected when the same was said before.")
    reason: str
    decision: str
    tick: int = Field(description="Give it to tribal_recall as at_least to see the effect.")
    replayed: bool = Field(description="This is the answer to an equal call that was sent before.")


class ReinforcedShown(Result):
    outcome: str
    lesson: str
    confirmations: int
    confidence: float
    reason: str
    tick: int
    replayed: bool


class RetiredShown(Result):
    lesson: str
    status: str
    cause: str
    tick: int
    replayed: bool


class ReportedShown(Result):
    review: str
    decision: str
    queued: bool = Field(description="False when the same case was in the queue already.")
    tick: int
    replayed: bool


def learned(reply: Learned) -> Answer:
    """Returns what became of a lesson, as data and in words."""
    result = LearnedShown(
        outcome=reply.outcome,
        lesson=reply.lesson.id if reply.lesson else None,
        status=reply.lesson.status if reply.lesson else None,
        replaced=list(reply.replaced),
        dispute=reply.dispute,
        challenges=list(reply.challenges),
        precedent=reply.precedent,
        reason=harmless(reply.reason),
        decision=reply.decision,
        tick=reply.tick,
        replayed=reply.replayed,
    )
    about = f" ({reply.lesson.id})" if reply.lesson else ""
    parts = [f"Outcome: {reply.outcome}{about}, at tick {reply.tick}.", _WORDS[reply.outcome], f"Reason: {inline(reply.reason)}."]
    if reply.replaced:
        parts.append(f"Replaced: {', '.join(reply.replaced)}.")
    if reply.dispute:
        parts.append(f"Dispute: {reply.dispute}.")
    if reply.challenges:
        parts.append(f"It may contradict others, see: {', '.join(reply.challenges)}.")
    if reply.replayed:
        parts.append("This call had been sent before; it was not done twice.")
    return Answer(result=result, text=" ".join(parts))


def _learn(memory: Memory, given: LearnArguments, key: str) -> Answer:
    reply = memory.learn(
        given.text,
        situation=given.situation,
        source=source_of(given.how, given.ref),
        kind=given.kind,
        subject=given.subject,
        tags=given.tags,
        evidence=_evidence(given.evidence),
        rationale=given.rationale,
        confidence=given.confidence,
        valid_until=given.valid_until,
        deadline_s=DEADLINE_S,
        idempotency_key=key,
    )
    return learned(reply)


def _contest(memory: Memory, given: ContestArguments, key: str) -> Answer:
    reply = memory.contest(
        given.lesson,
        given.text,
        source=source_of(given.how, given.ref),
        situation=given.situation,
        evidence=_evidence(given.evidence),
        rationale=given.rationale,
        confidence=given.confidence,
        deadline_s=DEADLINE_S,
        idempotency_key=key,
    )
    return learned(reply)


def _evidence(given: list[EvidenceGiven]) -> list[dict[str, object]]:
    return [one.model_dump(exclude_none=True) for one in given]


def _reinforce(memory: Memory, given: ReinforceArguments, key: str) -> Answer:
    reply = memory.reinforce(given.lesson, idempotency_key=key)
    result = ReinforcedShown(
        outcome=reply.outcome,
        lesson=reply.lesson.id,
        confirmations=reply.lesson.confirmations,
        confidence=reply.lesson.confidence,
        reason=harmless(reply.reason),
        tick=reply.tick,
        replayed=reply.replayed,
    )
    counted = "You count for it" if reply.outcome == "reinforced" else f"Nothing changed ({inline(reply.reason)})"
    text = f"{counted}: {reply.lesson.id} has {reply.lesson.confirmations} confirmation(s), at tick {reply.tick}."
    return Answer(result=result, text=text)


def _retire(memory: Memory, given: RetireArguments, key: str) -> Answer:
    reply = memory.retire(given.lesson, given.cause, idempotency_key=key)
    result = RetiredShown(
        lesson=reply.lesson.id, status=reply.lesson.status, cause=reply.cause, tick=reply.tick, replayed=reply.replayed
    )
    return Answer(result=result, text=f"{reply.lesson.id} is {reply.lesson.status} as {reply.cause}, at tick {reply.tick}.")


def _report(memory: Memory, given: ReportArguments, key: str) -> Answer:
    reply = memory.curation.report(given.decision, given.should_be, lesson=given.lesson, note=given.note, idempotency_key=key)
    result = ReportedShown(
        review=reply.review, decision=reply.decision, queued=reply.queued, tick=reply.tick, replayed=reply.replayed
    )
    state = "queued for review" if reply.queued else "in the review queue already"
    return Answer(result=result, text=f"The case is {state} as {reply.review}; no belief was changed by this.")


_WRITER: Literal["writer"] = "writer"

WRITING = (
    Tool(
        name="tribal_learn",
        title="Teach the tribe a lesson",
        role=_WRITER,
        arguments=LearnArguments,
        result=LearnedShown,
        run=_learn,
        description=(
            "Give one lesson to every agent of the team: a fact that you found out and that would have saved you time. Use "
            "it right after you found out, with how you know and when it applies. A hypothesis that you tried and that did "
            "not help is worth a lesson too (kind rejected_hypothesis). Do NOT use it for guesses, for what the code or its "
            "documentation says, for the progress of one task, for several facts at once, or for secrets and personal data. "
            "It may come out disputed or quarantined: then a curator decides; do not rephrase and send it again."
        ),
    ),
    Tool(
        name="tribal_reinforce",
        title="Confirm a lesson",
        role=_WRITER,
        arguments=ReinforceArguments,
        result=ReinforcedShown,
        run=_reinforce,
        description=(
            "Say that a recalled lesson held when you acted on it. Each agent other than its author counts once. Do NOT use "
            "it because a lesson sounds right: only after you saw it hold."
        ),
    ),
    Tool(
        name="tribal_contest",
        title="Contradict a lesson",
        role=_WRITER,
        arguments=ContestArguments,
        result=LearnedShown,
        run=_contest,
        description=(
            "Say that a recalled lesson did not hold, and what holds instead. It replaces the lesson where it is your own or "
            "your source outranks its source, else the two are disputed until a curator decides. Do NOT use it where the "
            "lesson simply did not apply to your situation, or to add to it: use tribal_learn."
        ),
    ),
    Tool(
        name="tribal_retire",
        title="End a lesson",
        role=_WRITER,
        arguments=RetireArguments,
        result=RetiredShown,
        run=_retire,
        destroys=True,
        description=(
            "End a lesson of your own that holds no longer (a curator may end any). Its history stays. Do NOT use it where "
            "something else holds instead: use tribal_contest, which keeps the chain."
        ),
    ),
    Tool(
        name="tribal_report_mistake",
        title="Report a wrong decision",
        role=_WRITER,
        arguments=ReportArguments,
        result=ReportedShown,
        run=_report,
        description=(
            "Report that the judge or the screen decided wrongly about a lesson, for curators to review. It changes no "
            "belief. Do NOT use it to win a dispute: say what holds with tribal_contest."
        ),
    ),
)
