"""Tools of durable actions: side effects that happen once, whoever is restarted, killed or asked twice."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from tributary.client import LessonDraft, Memory, source_of
from tributary.client.prompt import block, harmless, inline
from tributary.contract.actions import ActionReply, ActionState
from tributary.contract.models import How
from tributary.edges.mcp import shown
from tributary.edges.mcp.tool import Answer, Arguments, Result, Tool

ActionId = Annotated[str, Field(description="The id of the action, act_..., as tribal_begin_action gave it.")]
Lease = Annotated[str, Field(description="The lease that came with the grant. Keep it as secret as a token.")]
LeaseS = Annotated[int, Field(description="Seconds that you will need at most; renew it when it takes longer.")]
AnyJson = Annotated[Any, Field(description="A JSON value: what it came to. Whoever begins it again is given this.")]


class BeginArguments(Arguments):
    key: str = Field(
        description="What the action is known by: the same whenever the same effect is meant, as 'reboot:db-7:inc-12'. "
        "Make it of what is acted upon and why, never of the time or of a random word."
    )
    description: str = Field(description="What you are about to do, for whoever has to find out later whether it happened.")
    lease_s: LeaseS = 60


class LessonOfAction(Arguments):
    text: str = Field(description="As for tribal_learn.")
    situation: str
    how: How
    ref: str | None = None


class CompleteArguments(Arguments):
    action: ActionId
    lease: Lease
    result: AnyJson = None
    lesson: LessonOfAction | None = Field(default=None, description="What you found out by it; learned along with it.")


class FailArguments(Arguments):
    action: ActionId
    lease: Lease
    failure: str = Field(description="What went wrong.")
    unsure: bool = Field(default=False, description="True when nobody can tell whether the effect happened: then it is in doubt.")


class RenewArguments(Arguments):
    action: ActionId
    lease: Lease
    lease_s: LeaseS = 60


class ActionsArguments(Arguments):
    state: Literal["any", "begun", "done", "failed", "in_doubt"] = "any"
    limit: int = Field(default=10, description="At most so many: those in doubt first, then the newest.")


class ReconcileArguments(Arguments):
    action: ActionId
    happened: bool = Field(description="Whether the effect happened. False lets it be begun again.")
    rationale: str = Field(description="How you found out.")
    result: AnyJson = None


class ActionShown(Result):
    """An action as it stands. Its words are untrusted data."""

    id: str
    key: str
    description: str
    state: ActionState
    agent: str
    attempt: int
    begun_at: datetime
    lease_until: datetime
    ended_at: datetime | None
    result: Any
    failure: str | None
    doubt: str | None
    note: str | None


class BegunShown(Result):
    untrusted: str = shown.NOTICE
    outcome: Literal["granted", "done", "in_doubt", "busy"]
    lease: str | None = Field(description="Only with `granted`: show it when you complete, fail or renew the action.")
    action: ActionShown


class CompletedShown(Result):
    untrusted: str = shown.NOTICE
    action: ActionShown
    learned: str | None = Field(description="What became of the lesson that came with it.")
    problem: str | None = Field(description="Why the lesson was left out.")


class OneAction(Result):
    untrusted: str = shown.NOTICE
    action: ActionShown


class ActionsShown(Result):
    untrusted: str = shown.NOTICE
    actions: list[ActionShown]
    more: bool


_BEGUN = {
    "granted": "It is yours: do it now, then call tribal_complete_action with the lease, or tribal_fail_action if it did not.",
    "done": "It was done before, with the result that is given. Do NOT do it again.",
    "in_doubt": "Nobody knows whether it happened. Do NOT do it: a curator has to find out.",
    "busy": "Another one is at it. Do NOT do it; ask again after the lease ran out.",
}


def _begin(memory: Memory, given: BeginArguments, key: str) -> Answer:
    reply = memory.actions.begin(given.key, description=given.description, lease_s=given.lease_s, idempotency_key=key)
    result = BegunShown(outcome=reply.outcome, lease=reply.lease, action=_action(reply.action))
    return Answer(result=result, text=_told(f"{reply.outcome}: {_BEGUN[reply.outcome]}", reply.action, lease=reply.lease))


def _complete(memory: Memory, given: CompleteArguments, key: str) -> Answer:
    lesson = None
    if given.lesson is not None:
        source = source_of(given.lesson.how, given.lesson.ref)
        lesson = LessonDraft(text=given.lesson.text, situation=given.lesson.situation, source=source)
    reply = memory.actions.complete(given.action, given.lease, given.result, lesson=lesson, idempotency_key=key)
    outcome = reply.learned.outcome if reply.learned else None
    problem = harmless(f"{reply.problem.code}: {reply.problem.detail}") if reply.problem else None
    result = CompletedShown(action=_action(reply.action), learned=outcome, problem=problem)
    words = "It is done."
    if outcome is not None:
        words += f" The lesson: {outcome}."
    if problem is not None:
        words += f" The lesson was left out: {inline(problem)}."
    return Answer(result=result, text=_told(words, reply.action))


def _fail(memory: Memory, given: FailArguments, key: str) -> Answer:
    reply = memory.actions.fail(given.action, given.lease, given.failure, unsure=given.unsure, idempotency_key=key)
    words = "It is in doubt; a curator has to find out." if given.unsure else "It did not happen, and may be begun again."
    return Answer(result=OneAction(action=_action(reply)), text=_told(words, reply))


def _renew(memory: Memory, given: RenewArguments, key: str) -> Answer:
    reply = memory.actions.renew(given.action, given.lease, lease_s=given.lease_s, idempotency_key=key)
    words = f"It is yours until {reply.lease_until.isoformat()}."
    return Answer(result=OneAction(action=_action(reply)), text=_told(words, reply))


def _actions(memory: Memory, given: ActionsArguments, _key: str) -> Answer:
    page = next(memory.actions.list(given.state, page_size=given.limit).pages())
    result = ActionsShown(actions=[_action(one) for one in page.items], more=page.next is not None)
    lines = [line for one in page.items for line in _lines(one)]
    head = f"{shown.count(len(page.items), 'action')}, those in doubt first."
    return Answer(result=result, text=shown.fenced(head, lines, *(["There are more."] if page.next else [])))


def _reconcile(memory: Memory, given: ReconcileArguments, key: str) -> Answer:
    reply = memory.actions.reconcile(
        given.action, happened=given.happened, rationale=given.rationale, result=given.result, idempotency_key=key
    )
    words = "It is done." if given.happened else "It did not happen, and may be begun again."
    return Answer(result=OneAction(action=_action(reply)), text=_told(words, reply))


def _action(one: ActionReply) -> ActionShown:
    return ActionShown(
        id=one.id,
        key=inline(one.key),
        description=harmless(one.description),
        state=one.state,
        agent=inline(one.agent),
        attempt=one.attempt,
        begun_at=one.begun_at,
        lease_until=one.lease_until,
        ended_at=one.ended_at,
        result=_harmless(one.result),
        failure=None if one.failure is None else harmless(one.failure),
        doubt=one.doubt,
        note=None if one.note is None else harmless(one.note),
    )


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [_harmless(one) for one in value]
    if isinstance(value, dict):
        return {harmless(name): _harmless(one) for name, one in value.items()}
    return value


def _told(words: str, one: ActionReply, *, lease: str | None = None) -> str:
    return shown.fenced(words, _lines(one), *([f"Its lease: {lease}"] if lease else []))


def _lines(one: ActionReply) -> list[str]:
    lines = [
        f"action {inline(one.id)} ({one.state}, attempt {one.attempt}, by {inline(one.agent)}, begun {one.begun_at.isoformat()})",
        f"  key: {inline(one.key)}",
        *block(one.description),
    ]
    if one.result is not None:
        lines += ["  result:", *block(json.dumps(one.result, ensure_ascii=False))]
    if one.failure is not None:
        lines += ["  failure:", *block(one.failure)]
    if one.doubt is not None:
        lines.append(f"  in doubt because: {one.doubt}")
    if one.note is not None:
        lines += ["  a curator's note:", *block(one.note)]
    return lines


_WRITER: Literal["writer"] = "writer"

ACTING = (
    Tool(
        name="tribal_begin_action",
        title="Begin an action that may happen once",
        role=_WRITER,
        meant=True,
        arguments=BeginArguments,
        result=BegunShown,
        run=_begin,
        description=(
            "Ask before you do something that must not happen twice, such as a reboot, a payment or a message: no other "
            "agent, and no later run of you, is granted the same key. Do it only when the outcome is `granted`, and say "
            "afterwards what came of it. Do NOT use it for what can safely be done twice, or for reading."
        ),
    ),
    Tool(
        name="tribal_complete_action",
        title="Say that an action is done",
        role=_WRITER,
        arguments=CompleteArguments,
        result=CompletedShown,
        run=_complete,
        description=(
            "Say that an action that you were granted has happened, and what it came to. Do NOT use it before it happened, "
            "or when you cannot tell: then use tribal_fail_action with unsure."
        ),
    ),
    Tool(
        name="tribal_fail_action",
        title="Say that an action did not happen",
        role=_WRITER,
        arguments=FailArguments,
        result=OneAction,
        run=_fail,
        description=(
            "Say that an action that you were granted did not happen, so that it may be begun again; with unsure, that "
            "nobody can tell. Do NOT use it without unsure unless you know that nothing happened."
        ),
    ),
    Tool(
        name="tribal_renew_action",
        title="Keep an action for longer",
        role=_WRITER,
        meant=True,
        idempotent=False,
        arguments=RenewArguments,
        result=OneAction,
        run=_renew,
        description=(
            "Say that you are still at an action that you were granted, before its lease runs out. Do NOT use it to keep an "
            "action that you are not carrying out."
        ),
    ),
    Tool(
        name="tribal_actions",
        title="See which actions there are",
        role="reader",
        reads_only=True,
        arguments=ActionsArguments,
        result=ActionsShown,
        run=_actions,
        description=(
            "List actions, those in doubt first. Use it to see what was done, by whom and with which result. Do NOT conclude "
            "from it that you may do one: tribal_begin_action says that."
        ),
    ),
    Tool(
        name="tribal_reconcile_action",
        title="End the doubt about an action",
        role="curator",
        destroys=True,
        arguments=ReconcileArguments,
        result=OneAction,
        run=_reconcile,
        description=(
            "Say of an action in doubt whether it happened, after you looked at what it acts upon. Do NOT use it on a guess: "
            "what is said not to have happened may be done again."
        ),
    ),
)
