"""`tributary curate decisions`, `report`, `reviews`, `audit`, `policy` and the like: the record, and its rules."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.paging import Before, Limit, OfLesson, page_document, say_more, show_rows
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.client import Decision, Policy
    from tributary.contract.curation import VerdictReply as Verdict

policy_app = typer.Typer(rich_markup_mode=None)


class MistakeName(StrEnum):
    SAME = "same"
    CONFLICTS = "conflicts"
    UNRELATED = "unrelated"
    HARMFUL = "harmful"
    HARMLESS = "harmless"


class ReviewStateName(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    ANY = "any"


def decisions(
    context: typer.Context, lesson: OfLesson = None, limit: Limit = 20, before: Before = None, as_json: AsJson = False
) -> None:
    """List what was decided about each lesson that was handed in, newest first.

    \b
    Example: tributary curate decisions --lesson les_0199c0ffee0070008000000000000001
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        page = next(memory.curation.decisions(lesson, page_size=limit, before=before).pages())
    if as_json:
        output.json(page_document("decisions", page))
        return
    if not page.items:
        output.remark("There is no such decision.")
        return
    rows = [
        (shown(one.id), f"tick {one.tick}", one.outcome, _by(one), shown(one.lesson), shown(one.reason), _verdicts(one))
        for one in page.items
    ]
    show_rows(output, ("decision", "tick", "outcome", "by", "lesson", "reason", "verdicts"), rows, head=4)
    say_more(output, page)


def decision(
    context: typer.Context,
    decision: Annotated[str, typer.Argument(metavar="ID", help="The decision's id, as learn shows it: dec_...")],
    as_json: AsJson = False,
) -> None:
    """Show one decision: what was said, what it was compared with, and each verdict.

    \b
    Example: tributary curate decision dec_0199c0ffee0070008000000000000001
    """
    from tributary.edges.cli.decision_lines import decision_lines

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.curation.decision(decision)
    output.result(found.model_dump(mode="json"), decision_lines(found))


def report(
    context: typer.Context,
    decision: Annotated[str, typer.Argument(metavar="ID", help="The decision's id, as learn shows it: dec_...")],
    should_be: Annotated[
        MistakeName, typer.Option("--should-be", help="What the verdict, or the screen's finding (harmful, harmless), should be.")
    ],
    lesson: Annotated[
        str | None, typer.Option(metavar="ID", help="The other lesson of the verdict, where the decision compared with several.")
    ] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="What the reviewer should know.")] = None,
    key: Annotated[str | None, typer.Option(metavar="KEY", help="An idempotency key of your own.")] = None,
    as_json: AsJson = False,
) -> None:
    """Report that a decision was wrong: it is queued for review. It changes no belief. For writers, too.

    \b
    Example: tributary curate report dec_0199c0ffee0070008000000000000001 --should-be unrelated
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.curation.report(decision, should_be.value, lesson=lesson, note=note, idempotency_key=key)
    queued = "is in the review queue now" if reply.queued else "was in the review queue already"
    again = "; said before, nothing new was written" if reply.replayed else ""
    lines = [f"reported: {shown(reply.decision)}", f"  case {shown(reply.review)} {queued}", f"  tick {reply.tick}{again}"]
    output.result(reply.model_dump(mode="json"), lines)


def reviews(
    context: typer.Context,
    state: Annotated[ReviewStateName, typer.Option(help="Only cases that stand so.")] = ReviewStateName.OPEN,
    limit: Limit = 20,
    before: Before = None,
    as_json: AsJson = False,
) -> None:
    """List cases from which the judge and the screen might learn, newest first.

    \b
    Example: tributary curate reviews
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        page = next(memory.curation.reviews(state.value, page_size=limit, before=before).pages())
    if as_json:
        output.json(page_document("reviews", page))
        return
    if not page.items:
        output.remark("There is no such case.")
        return
    rows = [
        (
            *(shown(one.id), one.state, one.signal.replace("_", " "), shown(one.found), shown(one.expected)),
            *(shown(one.by), shown(one.decision), shown(one.note or "")),
        )
        for one in page.items
    ]
    show_rows(output, ("case", "state", "signal", "found", "should be", "by", "decision", "note"), rows, head=3)
    say_more(output, page)


def accept_review(
    context: typer.Context,
    review: Annotated[str, typer.Argument(metavar="ID", help="The case's id: rev_...")],
    golden: Annotated[str, typer.Option(metavar="ROW", help="The id of the row of a golden set as which it was written down.")],
    key: Annotated[str | None, typer.Option(metavar="KEY", help="An idempotency key of your own.")] = None,
    as_json: AsJson = False,
) -> None:
    """Take a case off the review queue that was written down as a row of a golden set.

    \b
    Example: tributary curate accept-review rev_0199c0ffee0070008000000000000001 --golden pair-0412
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.curation.accept_review(review, golden=golden, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), [f"{reply.state}: {shown(reply.review)}"])


def reject_review(
    context: typer.Context,
    review: Annotated[str, typer.Argument(metavar="ID", help="The case's id: rev_...")],
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it teaches nothing.")] = None,
    key: Annotated[str | None, typer.Option(metavar="KEY", help="An idempotency key of your own.")] = None,
    as_json: AsJson = False,
) -> None:
    """Take a case off the review queue: it teaches nothing.

    \b
    Example: tributary curate reject-review rev_0199c0ffee0070008000000000000001
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.curation.reject_review(review, reason=reason, idempotency_key=key)
    output.result(reply.model_dump(mode="json"), [f"{reply.state}: {shown(reply.review)}"])


def audit(context: typer.Context, limit: Limit = 20, before: Before = None, as_json: AsJson = False) -> None:
    """List refusals and administrative changes, newest first.

    \b
    Example: tributary curate audit --limit 50
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        page = next(memory.curation.audit(page_size=limit, before=before).pages())
    if as_json:
        output.json(page_document("entries", page))
        return
    if not page.items:
        output.remark("Nothing was refused or changed yet.")
        return
    columns = (("when", "left"), ("agent", "left"), ("action", "left"), ("result", "left"), ("detail", "left"))
    rows = [
        (moment(one.at), shown(one.agent or "(no agent)"), shown(one.action), shown(one.code), shown(one.detail))
        for one in page.items
    ]
    output.table(columns, rows)
    say_more(output, page)


@policy_app.callback(invoke_without_command=True)
def policy(context: typer.Context, as_json: AsJson = False) -> None:
    """Show which source outranks which, and how much the tribe keeps; 'policy set' changes it.

    \b
    Example: tributary curate policy --json > policy.json
    """
    if context.invoked_subcommand is not None:
        if as_json:
            raise typer.BadParameter(f"--json belongs behind '{context.invoked_subcommand}'")
        return
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.curation.policy()
    output.result(found.model_dump(mode="json"), _policy_lines(found))


@policy_app.command("set")
def set_policy(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The policy as 'policy --json' prints it; '-' is standard input.")],
    as_json: AsJson = False,
) -> None:
    """Put a policy in place of the version that it carries, as a whole.

    \b
    Example: tributary curate policy set policy.json
    """
    doors, output = session(context, as_json=as_json)
    document = _document(file)
    with doors.open_client() as memory:
        found = memory.curation.set_policy(document)
    output.result(found.model_dump(mode="json"), _policy_lines(found))


def _document(file: str) -> dict[str, object]:
    raw, name = (sys.stdin.buffer.read(), "standard input") if file == "-" else (Path(file).read_bytes(), file)
    try:
        document = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise CommandFailed("invalid_request", f"{name} holds no JSON: {error}") from None
    if not isinstance(document, dict):
        raise CommandFailed("invalid_request", f"{name} must hold one JSON object, as 'tributary curate policy --json' prints it")
    return document


def _policy_lines(policy: Policy) -> list[str]:
    lines = [f"policy, version {policy.version}"]
    for one in policy.precedence:
        evident = " with evidence" if one.with_evidence else ""
        lines.append(f"  {one.how}{evident} outranks {', '.join(one.over)}")
    if not policy.precedence:
        lines.append("  no source outranks another")
    equals = {
        "dispute": "between equals a conflict is disputed, for a curator to settle",
        "newest_observation": "between two observations the newer one replaces the older",
    }
    lines.append(f"  {equals[policy.equals]}")
    kept = "keeps all that is believed" if policy.capacity is None else f"keeps {policy.capacity} believed lessons at most"
    return [*lines, f"  the tribe {kept}"]


def _by(decision: Decision) -> str:
    for_whom = f" for {shown(decision.writer)}" if decision.actor != decision.writer else ""
    return shown(decision.actor) + for_whom


def _why(verdict: Verdict) -> str:
    """Returns why a verdict is no answer, and what the first judge had said where that was another thing."""
    notes = [shown(verdict.cause)] if verdict.cause else []
    if verdict.first is not None and verdict.first.verdict != verdict.verdict:
        notes.append(f"first {verdict.first.verdict}")
    return f" ({', '.join(notes)})" if notes else ""


def _verdicts(decision: Decision) -> str:
    # an unrelated one is worth a word where the first judge had said otherwise
    worth = [one for one in decision.verdicts if one.verdict != "unrelated" or (one.first and one.first.verdict != one.verdict)]
    telling = [f"{one.verdict} {shown(one.lesson)}{_why(one)}" for one in worth]
    unrelated = len(decision.verdicts) - len(telling)
    if unrelated:
        telling.append(f"{unrelated} unrelated")
    return ", ".join(telling) or "none"
