"""`tributary distill`: the lessons that a transcript holds, shown or learned, over HTTP through the SDK."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tributary.edges.cli.doors import session
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.options import AsJson
from tributary.edges.cli.words import counted, shown

if TYPE_CHECKING:
    from tributary.client import Distilled, Memory, ProposedLesson
    from tributary.client.calls import Attempt
    from tributary.core.transcript import Turn

_MOST = 5


def distill(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The transcript; '-' reads it from standard input.")],
    learn: Annotated[bool, typer.Option("--learn", help="Learn what is proposed, instead of only showing it.")] = False,
    ref: Annotated[
        str | None, typer.Option(metavar="REF", help="What the transcript is of, such as run:88; else its session or file name.")
    ] = None,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, max=_MOST, help="At most so many lessons a part.")] = _MOST,
    as_json: AsJson = False,
) -> None:
    """Find the lessons in the transcript of an agent's work.

    Reads sessions of Claude Code, messages of chat APIs, JSON turns ("role" and "text"), a line each or as one list, and plain
    text, with or without speakers. A long transcript is sent in parts of 200 KB.

    \b
    Example: tributary distill session.jsonl --ref run:88 --learn
    """
    from tributary.client import TributaryError
    from tributary.edges.cli.transcripts import parts_of, read_transcript

    doors, output = session(context, as_json=as_json)
    found = read_transcript(_raw(file))
    name = ref or (f"session:{found.session}" if found.session else f"file:{Path(file).name}" if file != "-" else "transcript")
    if not name.strip():
        raise typer.BadParameter("must not be blank", param_hint="--ref")
    parts = parts_of(found.turns, name)
    replies: list[Distilled] = []
    failure: TributaryError | None = None
    with doors.open_client() as memory:
        try:
            replies.extend(_distilled(memory, parts, name, most))
        except TributaryError as error:
            if not replies:
                raise
            failure = error
        lessons = [lesson for reply in replies for lesson in reply.lessons]
        attempts = memory.learn_all(lessons) if learn and lessons else []
    document = {
        "lessons": [lesson.model_dump(mode="json") for lesson in lessons],
        "dropped": [{"why": why, "count": count} for why, count in sorted(_dropped(replies).items())],
        "unread": [one.model_dump() for reply in replies for one in reply.unread],
        "model": replies[0].model,
        "learned": [_attempt_document(one) for one in attempts] if learn else None,
    }
    output.result(document, [line for index, one in enumerate(lessons) for line in _lines(one, attempts[index : index + 1])])
    if not as_json:
        output.remark(_summary(len(found.turns), parts[: len(replies)], lessons, replies, attempts, learned=learn))
    if failure is not None:
        raise CommandFailed(failure.code, f"only {len(replies)} of {counted(len(parts), 'part')} could be read: {failure.detail}")
    failed = [one.error for one in attempts if one.error is not None]
    if failed:
        raise CommandFailed(
            failed[0].code, f"{len(failed)} of {counted(len(attempts), 'lesson')} could not be learned: {failed[0].detail}"
        )


def _raw(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    path = Path(file)
    if not path.exists() or path.is_dir():
        raise typer.BadParameter("there is no such file", param_hint="FILE")
    return path.read_bytes()


def _distilled(memory: Memory, parts: Sequence[Sequence[Turn]], ref: str, most: int) -> Iterator[Distilled]:
    shows = sys.stderr.isatty() and len(parts) > 1
    for number, part in enumerate(parts, 1):
        if shows:
            sys.stderr.write(f"\rpart {number} of {len(parts)}")
            sys.stderr.flush()
        turns = [{"role": turn.role.value, "text": turn.text, "ref": turn.ref} for turn in part]
        yield memory.distill(turns, ref=ref, most=most)
    if shows:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _lines(lesson: ProposedLesson, attempt: Sequence[Attempt]) -> list[str]:
    about = f" about {shown(lesson.subject)}" if lesson.subject else ""
    lines = [
        f"{lesson.kind}{about}: {shown(lesson.text)}",
        f"  when {shown(lesson.situation)}",
        f"  {lesson.source.how}, {shown(lesson.source.ref or '')}, confidence {lesson.confidence:.2f}",
    ]
    lines += [f"  {shown(one.ref)}: {shown(one.note or '')}" for one in lesson.evidence]
    for one in attempt:
        if one.result is not None:
            became = f" ({shown(one.result.lesson.id)})" if one.result.lesson else ""
            lines.append(f"  {one.result.outcome}{became}: {shown(one.result.reason)}")
        elif one.error is not None:
            lines.append(f"  not learned: {shown(one.error.detail)}")
    return lines


def _attempt_document(attempt: Attempt) -> dict[str, object]:
    if attempt.result is not None:
        return {"result": attempt.result.model_dump(mode="json"), "error": None}
    error = attempt.error
    return {"result": None, "error": error and {"code": error.code, "detail": error.detail}}


def _dropped(replies: Sequence[Distilled]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for reply in replies:
        counts.update({one.why: one.count for one in reply.dropped})
    return counts


def _summary(
    turns: int,
    parts: Sequence[Sequence[Turn]],
    lessons: Sequence[ProposedLesson],
    replies: Sequence[Distilled],
    attempts: Sequence[Attempt],
    *,
    learned: bool,
) -> str:
    sent = sum(len(part) for part in parts)
    said = [
        f"{counted(len(lessons), 'lesson')} from {counted(sent, 'turn')}" + (f" (the last of {turns})" if sent < turns else "")
    ]
    dropped = _dropped(replies)
    if dropped:
        said.append("dropped " + ", ".join(f"{count} {why}" for why, count in sorted(dropped.items())))
    unread = sum(len(reply.unread) for reply in replies)
    if unread:
        said.append("1 stretch of turns was not read" if unread == 1 else f"{unread} stretches of turns were not read")
    if learned:
        outcomes = Counter(one.result.outcome if one.result else "failed" for one in attempts)
        said.append(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or "nothing to learn")
    elif lessons:
        said.append("nothing was learned; --learn does")
    return "; ".join(said) + "."
