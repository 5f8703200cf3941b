"""`tributary action`: side effects that happen once, step by step, over HTTP through the SDK."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.paging import Before, Limit, page_document, say_more, show_rows
from tributary.edges.cli.words import moment, shown

if TYPE_CHECKING:
    from tributary.client import Action

app = typer.Typer(
    help="Carry out side effects once: begin, then complete or fail. Curators reconcile those in doubt.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class ActionStateName(StrEnum):
    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    ANY = "any"


ActionId = Annotated[str, typer.Argument(metavar="ID", help="The action's id: act_...")]
Lease = Annotated[
    str,
    typer.Option(
        "--lease", metavar="LEASE", help="The secret that 'begin' gave; '-' reads it from standard input, where no list shows it."
    ),
]
Seconds = Annotated[
    int, typer.Option("--seconds", metavar="NUMBER", min=1, max=3600, help="For how long the lease runs, from now on.")
]
ResultJson = Annotated[str, typer.Option("--result", metavar="JSON", help="What it came to, as JSON.")]
Key = Annotated[str | None, typer.Option("--key", metavar="KEY", help="An idempotency key of your own.")]


@app.command("list")
def list_actions(
    context: typer.Context,
    state: Annotated[ActionStateName, typer.Option(help="Only actions that stand so.")] = ActionStateName.ANY,
    limit: Limit = 20,
    before: Before = None,
    as_json: AsJson = False,
) -> None:
    """List actions, those in doubt first, then newest first.

    \b
    Example: tributary action list --state in_doubt
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        page = next(memory.actions.list(state.value, page_size=limit, before=before).pages())
    if as_json:
        output.json(page_document("actions", page))
        return
    if not page.items:
        output.remark("There is no such action.")
        return
    rows = [
        (
            *(shown(one.id), one.state, shown(one.key), shown(one.agent), f"began {moment(one.begun_at)}"),
            *(shown(one.description), _outcome(one)),
        )
        for one in page.items
    ]
    show_rows(output, ("action", "state", "key", "by", "when", "what", "outcome"), rows, head=3)
    say_more(output, page)


@app.command("show")
def show(context: typer.Context, action: ActionId, as_json: AsJson = False) -> None:
    """Show one action as it stands.

    \b
    Example: tributary action show act_0199c0ffee0070008000000000000001
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.actions.get(action)
    output.result(found.model_dump(mode="json"), _lines(found))


@app.command("begin")
def begin(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What is to happen once; whoever means the same says the same.")],
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is, for people; else its name.")] = None,
    seconds: Seconds = 60,
    as_json: AsJson = False,
) -> None:
    """Ask to carry out an action: it is granted, with a lease, or was done before, with its result.

    It ends with 5 when the action is in doubt, and with 6 when another one is at it. There is no idempotency key to choose: a
    script that was killed and runs again must not be granted what it may have done.

    \b
    Example: tributary action begin reboot:db-7:inc-12 --json
    """
    from tributary.client import Busy, InDoubt

    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        reply = memory.actions.begin(name, description=description, lease_s=seconds)
    if reply.outcome == "in_doubt":
        raise InDoubt(reply.action)
    if reply.outcome == "busy":
        raise Busy(reply.action)
    lines = _lines(reply.action)
    if reply.lease is not None:
        lines = [*lines, f"  granted until {moment(reply.action.lease_until)}, under the lease", f"  {shown(reply.lease)}"]
    output.result(reply.model_dump(mode="json"), lines)


@app.command("complete")
def complete(
    context: typer.Context,
    action: ActionId,
    lease: Lease,
    result: ResultJson = "null",
    lesson: Annotated[
        str | None,
        typer.Option("--lesson", metavar="FILE", help="A lesson to learn with it, as one JSON object."),
    ] = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Say that the effect happened, and what came of it. It may be said after the lease ran out, too.

    \b
    Example: tributary action complete act_0199c0ffee0070008000000000000001 --lease lease_... --result '{"rebooted": true}'
    """
    from tributary.edges.cli.found import learned_lines

    doors, output = session(context, as_json=as_json)
    said, taught = _json(result, "--result"), None if lesson is None else _lesson(lesson)
    with doors.open_client() as memory:
        reply = memory.actions.complete(action, _lease(lease), said, lesson=taught, idempotency_key=key)
    lines = _lines(reply.action)
    if reply.learned is not None:
        lines += [f"  {line}" for line in learned_lines(reply.learned)]
    if reply.problem is not None:
        lines.append(f"  the lesson was refused: {shown(reply.problem.detail)}")
    output.result(reply.model_dump(mode="json"), lines)


@app.command("fail")
def fail(
    context: typer.Context,
    action: ActionId,
    lease: Lease,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Why.")],
    unsure: Annotated[bool, typer.Option("--unsure", help="Nobody can tell whether it happened: it is in doubt.")] = False,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Say that the effect did not happen: it may be begun again. With --unsure: that nobody can tell.

    \b
    Example: tributary action fail act_0199c0ffee0070008000000000000001 --lease lease_... --why "the API answered 403"
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.actions.fail(action, _lease(lease), why, unsure=unsure, idempotency_key=key)
    output.result(found.model_dump(mode="json"), _lines(found))


@app.command("renew")
def renew(
    context: typer.Context, action: ActionId, lease: Lease, seconds: Seconds = 60, key: Key = None, as_json: AsJson = False
) -> None:
    """Go on: have the lease run anew from now on.

    \b
    Example: tributary action renew act_0199c0ffee0070008000000000000001 --lease lease_... --seconds 300
    """
    doors, output = session(context, as_json=as_json)
    with doors.open_client() as memory:
        found = memory.actions.renew(action, _lease(lease), lease_s=seconds, idempotency_key=key)
    output.result(found.model_dump(mode="json"), _lines(found))


@app.command("reconcile")
def reconcile(
    context: typer.Context,
    action: ActionId,
    happened: Annotated[
        bool, typer.Option("--happened/--did-not-happen", help="What was found out at the system that the action is about.")
    ],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="How that is known, for the record.")],
    result: ResultJson = "null",
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """End a doubt, as a curator who has looked: it happened, or it may be begun again.

    \b
    Example: tributary action reconcile act_0199c0ffee0070008000000000000001 --happened --why "the console shows the reboot"
    """
    doors, output = session(context, as_json=as_json)
    said = _json(result, "--result")
    with doors.open_client() as memory:
        found = memory.actions.reconcile(action, happened=happened, rationale=why, result=said, idempotency_key=key)
    output.result(found.model_dump(mode="json"), _lines(found))


def _lines(action: Action) -> list[str]:
    lines = [
        f"{action.state}: {shown(action.id)}",
        f"  {shown(action.key)}: {shown(action.description)}",
        f"  attempt {action.attempt}, by {shown(action.agent)}, began {moment(action.begun_at)}",
    ]
    outcome = _outcome(action)
    return [*lines, f"  {outcome}"] if outcome else lines


_DOUBTS = {
    "lease_ran_out": "its lease ran out",
    "holder_unsure": "its holder could not tell",
    "restored": "the memory was restored from a backup while it was under way",
}


def _outcome(action: Action) -> str:
    """Returns on one line what came of an action, and who says so; what agents wrote is shown as data."""
    said = []
    if action.state == "begun":
        said.append(f"its lease runs until {moment(action.lease_until)}")
    if action.doubt is not None:
        said.append(_DOUBTS[action.doubt])
    if action.failure is not None:
        said.append(shown(action.failure))
    if action.state == "done":
        said.append(f"result {shown(json.dumps(action.result, ensure_ascii=False))}")
    if action.reconciled_by is not None:
        said.append(f"reconciled by {shown(action.reconciled_by)}: {shown(action.note or '')}")
    return "; ".join(said)


def _lease(given: str) -> str:
    return sys.stdin.readline().strip() if given == "-" else given


def _json(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"must be JSON: {error}", param_hint=option) from None


def _lesson(file: str) -> dict[str, object]:
    try:
        found = json.loads(Path(file).read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise CommandFailed("invalid_request", f"{file} holds no JSON: {error}") from None
    if not isinstance(found, dict):
        raise CommandFailed("invalid_request", f"{file} must hold one JSON object: a lesson")
    return found
