"""`tributary learn`, `contest`, `recall`, `reinforce`, `retire` and `lessons`: the memory, over HTTP through the SDK."""

from __future__ import annotations

import sys
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.options import (
    AsJson,
    HowName,
    KindName,
    RequireName,
    StatusName,
    Tags,
    pairs,
    time,
    time_or_tick,
)
from tributary.edges.cli.paging import LARGEST_PAGE

if TYPE_CHECKING:
    from tributary.client import Lesson, Receipt


Ref = Annotated[str | None, typer.Option(metavar="REF", help="Where that can be looked up: a run, a URL, file#heading:line.")]
EvidenceItems = Annotated[
    list[str] | None,
    typer.Option(metavar="TYPE=REF", help="What supports it, such as log=s3://...; may be given more than once."),
]
Confidence = Annotated[float, typer.Option(metavar="NUMBER", help="How sure you are, from 0 to 1.")]
DeadlineS = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="After this it is kept as pending (if it was screened by then) and settled later."),
]


class CauseName(StrEnum):
    OUTDATED = "outdated"
    WRONG = "wrong"
    INJECTION = "injection"


def learn(  # noqa: PLR0913, PLR0917  (one parameter an option)
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The lesson; '-' reads it from standard input.")],
    situation: Annotated[str, typer.Option(metavar="TEXT", help="When it applies.")],
    source: Annotated[HowName, typer.Option(help="How you know.")],
    ref: Ref = None,
    kind: Annotated[KindName, typer.Option(help="What sort of lesson it is.")] = KindName.GOTCHA,
    subject: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is about.")] = None,
    tag: Tags = None,
    evidence: EvidenceItems = None,
    rationale: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it is so.")] = None,
    confidence: Confidence = 0.7,
    valid_from: Annotated[str | None, typer.Option(metavar="TIME", help="Since when it holds.")] = None,
    valid_until: Annotated[str | None, typer.Option(metavar="TIME", help="Until when it holds.")] = None,
    keep_until: Annotated[str | None, typer.Option(metavar="TIME", help="Never evict it before.")] = None,
    deadline: DeadlineS = None,
    replaces: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A believed lesson of yours whose place it takes, whatever a judge says; up to 8 times."),
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Keep it as pending at once, to be judged soon.")] = False,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Repeating the command with the same key learns it only once.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hand a lesson to the tribe and see what became of it.

    \b
    Example:
      tributary learn "The deploy API needs X-Batch: true" --situation "deploying a service" --source observed --ref run:88
    """
    from tributary.client import source_of
    from tributary.edges.cli.found import learned_lines

    doors, output = session(context, as_json=as_json)
    items = _evidence(evidence)
    with doors.open_client() as memory:
        reply = memory.learn(
            _text(text),
            situation=situation,
            source=source_of(source.value, ref),
            kind=kind.value,
            subject=subject,
            tags=dict(pairs(tag, "--tag")),
            evidence=items,
            rationale=rationale,
            confidence=confidence,
            valid_from=time(valid_from, "--valid-from"),
            valid_until=time(valid_until, "--valid-until"),
            keep_until=time(keep_until, "--keep-until"),
            deadline_s=deadline,
            wait=not no_wait,
            replaces=replaces or (),
            idempotency_key=key,
        )
    output.result(reply.model_dump(mode="json"), learned_lines(reply))


def contest(  # noqa: PLR0913, PLR0917
    context: typer.Context,
    lesson: Annotated[str, typer.Argument(metavar="ID", help="The id of the lesson that does not hold.")],
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What holds instead, or why it does not hold; '-' reads standard input.")
    ],
    source: Annotated[HowName, typer.Option(help="How you know.")],
    ref: Ref = None,
    situation: Annotated[
        str | None, typer.Option(metavar="TEXT", help="When it applies; that of the lesson when left out.")
    ] = None,
    evidence: EvidenceItems = None,
    rationale: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it is so.")] = None,
    confidence: Confidence = 0.7,
    deadline: DeadlineS = None,
    key: Annotated[str | None, typer.Option(metavar="KEY", help="An idempotency key of your own.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what speaks against a believed lesson, whatever a judge would say of the two.

    \b
    Example: tributary contest les_0199c0ffee0070008000000000000001 "The header is optional" --source observed --ref run:91
    """
    from tributary.client import source_of
    from tributary.edges.cli.found import learned_lines

    doors, output = session(context, as_json=as_json)
    items = _evidence(evidence)
    with doors.open_client() as memory:
        reply = memory.contest(
            lesson,
            _text(text),
            source=source_of(source.value, ref),
            situation=situation,
            evidence=items,
            rationale=rationale,
            confidence=confidence,
            deadline_s=deadline,
            idempotency_key=key,
        )
    output.result(reply.model_dump(mode="json"), learned_lines(reply))


def recall(  # noqa: PLR0913, PLR0917
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What you want to know about.")],
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="Show at most so many lessons, up to 100.")] = 5,
    kind: Annotated[list[KindName] | None, typer.Option(help="Only this kind; may be given more than once.")] = None,
    source: Annotated[
        list[HowName] | None, typer.Option(help="Only what was come to know so; may be given more than once.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Only what this agent taught.")] = None,
    subject: Annotated[str | None, typer.Option(metavar="TEXT", help="Only what is about this.")] = None,
    tag: Tags = None,
    min_confidence: Annotated[float, typer.Option(metavar="NUMBER", help="Only lessons at least so sure, from 0 to 1.")] = 0.0,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME|TICK", help="What was believed then, such as 2026-03-01T12:00:00Z.")
    ] = None,
    at_least: Annotated[
        int | None, typer.Option(metavar="TICK", help="See at least what was learned by this tick of an earlier reply.")
    ] = None,
    include_stale: Annotated[bool, typer.Option("--include-stale", help="Show lessons that have withered, too.")] = False,
    require: Annotated[RequireName, typer.Option(help="'vector' refuses an answer found by words alone.")] = RequireName.ANY,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Print text for a language model: fenced as data, cited by id.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what the tribe believes about something, and what the search covered. The best match comes first.

    \b
    Example: tributary recall "deploy payments" --limit 3
    """
    from tributary.edges.cli.found import hits_document, show_hits

    doors, output = session(context, as_json=as_json)
    if prompt and as_json:
        raise typer.BadParameter("cannot be used with --json", param_hint="--prompt")
    with doors.open_client() as memory:
        hits = memory.recall(
            query,
            limit=limit,
            kinds=[one.value for one in kind or ()],
            sources=[one.value for one in source or ()],
            agent=agent,
            subject=subject,
            tags=dict(pairs(tag, "--tag")),
            min_confidence=min_confidence,
            as_of=time_or_tick(as_of, "--as-of"),
            at_least=at_least,
            include_stale=include_stale,
            require=require.value,
        )
    if as_json:
        output.json(hits_document(hits))
    elif prompt:
        output.lines([hits.as_prompt().rstrip("\n")])
    else:
        show_hits(output, hits)


def reinforce(
    context: typer.Context,
    lesson: Annotated[str, typer.Argument(metavar="ID", help="The lesson's id, as recall shows it.")],
    key: Annotated[str | None, typer.Option(metavar="KEY", help="An idempotency key of your own.")] = None,
    as_json: AsJson = False,
) -> None:
    """Confirm that a lesson held. Each agent other than its author counts once.

    \b
    Example: tributary reinforce les_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.words import shown

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.reinforce(lesson, idempotency_key=key)
    lines = [
        f"{reply.outcome}: {shown(reply.lesson.id)}",
        f"  {shown(reply.reason)}",
        f"  confidence {reply.lesson.confidence:.2f}, other agents that confirm it: {reply.lesson.confirmations}",
        f"  tick {reply.tick}",
    ]
    output.result(reply.model_dump(mode="json"), lines)


def retire(
    context: typer.Context,
    lesson: Annotated[str, typer.Argument(metavar="ID", help="The lesson's id, as recall shows it.")],
    cause: Annotated[
        CauseName, typer.Option(help="What a curator calls wrong or an injection is not silently believed when it comes again.")
    ] = CauseName.OUTDATED,
    key: Annotated[str | None, typer.Option(metavar="KEY", help="An idempotency key of your own.")] = None,
    as_json: AsJson = False,
) -> None:
    """End a lesson of yours; curators end any.

    \b
    Example: tributary retire les_0199c0ffee0070008000000000000001 --cause wrong
    """
    from tributary.edges.cli.curation_found import retired_lines

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.retire(lesson, cause.value, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), retired_lines(reply))


def lessons(  # noqa: PLR0913, PLR0917  (options, by name)
    context: typer.Context,
    status: Annotated[StatusName, typer.Option(help="Only lessons that stand so.")] = StatusName.ACTIVE,
    ref: Annotated[str | None, typer.Option(metavar="REF", help="Only what comes from exactly there.")] = None,
    ref_prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only what comes from a place that begins so, such as runbook.md#.")
    ] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only what you taught, with what of it is held back.")] = False,
    kind: Annotated[KindName | None, typer.Option(help="Only this kind.")] = None,
    subject: Annotated[str | None, typer.Option(metavar="TEXT", help="Only lessons about this.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only with this tag; may be given more than once.")
    ] = None,
    author: Annotated[str | None, typer.Option(metavar="AGENT", help="Only what this agent taught: its name or its id.")] = None,
    limit: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Show at most so many.")] = 20,
    as_of: Annotated[str | None, typer.Option(metavar="TIME|TICK", help="As they stood then.")] = None,
    as_json: AsJson = False,
) -> None:
    """List lessons, newest first.

    \b
    Example: tributary lessons --status disputed
    """
    from tributary.edges.cli.found import show_lessons

    doors, output = session(context, as_json=as_json)
    when = time_or_tick(as_of, "--as-of")
    found: list[Lesson] = []
    receipts: list[Receipt] = []
    more = False
    with doors.open_client() as memory:
        for page in memory.pages(
            status=status.value,
            page_size=min(limit, LARGEST_PAGE),
            as_of=when,
            ref=ref,
            ref_prefix=ref_prefix,
            mine=mine,
            kind=None if kind is None else kind.value,
            subject=subject,
            tags=dict(pairs(tag, "--tag")),
            author=author,
        ):
            room = limit - len(found)
            found += islice(page.lessons, room)
            receipts.append(page.receipt)
            more = len(page.lessons) > room or page.next is not None
            if len(found) == limit:
                break
    if as_json:
        documents = [one.model_dump(mode="json") for one in found]
        output.json({"lessons": documents, "more": more, "receipts": [one.document() for one in receipts]})
        return
    show_lessons(output, found)
    if more:
        output.remark(f"There are more; --limit shows more than {limit}.")


def _text(given: str) -> str:
    return sys.stdin.read().rstrip("\n") if given == "-" else given


def _evidence(given: list[str] | None) -> list[dict[str, object]]:
    return [{"type": type_, "ref": where} for type_, where in pairs(given, "--evidence", "TYPE=REF")]
