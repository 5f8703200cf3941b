"""`tributary respond`: turns of the incident agent, one by one or as a conversation, over HTTP through the SDK."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import counted, shown, shown_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tributary.client import Memory, Responded
    from tributary.edges.cli.output import Output

_REMEMBERED = 20
"""Words of a conversation that go along with the next one."""
_REMEMBERED_BYTES = 32 * 1024
_PROMPT = "> "


def respond(
    context: typer.Context,
    once: Annotated[
        str | None, typer.Option("--once", metavar="TEXT", help="Take one turn and end; '-' reads it from standard input.")
    ] = None,
    incident: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The incident, such as INC-12: a change that was made once in it is not made again."),
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.1, max=60.0, help="Seconds that one turn may take.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Talk to the incident agent.

    It recalls what the team knows, looks at live systems, changes what its operator allows, and learns. Without --once each
    line of standard input is a turn, until its end; what was said before goes along.

    \b
    Example: tributary respond --incident INC-12 --once "orders-db-7 refuses connections"
    """
    doors, output = session(context, as_json=as_json)
    said: list[dict[str, object]] = []
    with doors.open_client() as memory:
        for message in _messages(once):
            reply = _turn(memory, message, said, incident, deadline, output)
            said += [{"role": "user", "text": message}, {"role": "agent", "text": reply.text}]


def _turn(
    memory: Memory,
    message: str,
    said: list[dict[str, object]],
    incident: str | None,
    deadline: float | None,
    output: Output,
) -> Responded:
    reply = memory.respond(message, conversation=_newest(said), incident=incident, deadline_s=deadline)
    output.result(reply.model_dump(mode="json"), _lines(reply))
    if not output.as_json:
        output.remark(_summary(reply))
    return reply


def _messages(once: str | None) -> Iterator[str]:
    """Yields what is said, turn by turn; blank lines are nothing."""
    if once is not None:
        text = sys.stdin.read() if once == "-" else once
        if not text.strip():
            raise typer.BadParameter("must not be blank", param_hint="--once")
        yield text
        return
    asks = sys.stdin.isatty()
    while True:
        if asks:
            sys.stderr.write(_PROMPT)
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip()


def _newest(said: list[dict[str, object]]) -> list[dict[str, object]]:
    """Returns as much of what was said last as one turn takes."""
    kept: list[dict[str, object]] = []
    room = _REMEMBERED_BYTES
    for one in reversed(said[-_REMEMBERED:]):
        room -= len(str(one["text"]).encode())
        if room < 0:
            break
        kept.insert(0, one)
    return kept


def _lines(reply: Responded) -> list[str]:
    lines = shown_block(reply.text).splitlines() or [""]
    for one in reply.actions:
        detail = f": {shown(one.detail)}" if one.detail else ""
        lines.append(f"  {shown(one.verb)} of {shown(one.target)}: {one.outcome} ({shown(one.action or 'no action')}){detail}")
    for learned in reply.learned:
        became = f" ({shown(learned.lesson.id)})" if learned.lesson else ""
        lines.append(f"  {learned.outcome}{became}: {shown(learned.reason)}")
    return lines


def _summary(reply: Responded) -> str:
    coverage = sorted({one.receipt.coverage for one in reply.receipts})
    said = [
        f"{counted(len(reply.receipts), 'recall')}" + (f" ({', '.join(coverage)})" if coverage else ""),
        counted(reply.rounds, "round"),
        counted(reply.tool_calls, "tool call"),
    ]
    if reply.unsearched:
        said.append(f"{counted(len(reply.unsearched), 'recall')} failed ({', '.join(map(shown, sorted(set(reply.unsearched))))})")
    if reply.withheld:
        said.append("an answer was withheld")
    if reply.stopped:
        said.append(f"stopped by {reply.stopped}")
    return f"[{shown(reply.incident)}] {'; '.join(said)}."
