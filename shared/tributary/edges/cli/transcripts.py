"""Reads transcripts as agents leave them: sessions of Claude Code, messages of chat APIs, JSON turns, plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import typer

from tributary.core.limits import TRANSCRIPT_BYTES, TRANSCRIPT_TURNS
from tributary.core.transcript import Turn, TurnRole, turns_of
from tributary.edges.cli.failures import CommandFailed

FILE_BYTES = 64 * 1024 * 1024
MOST_PARTS = 10
"""A longer transcript is read from so many parts before its end."""
_TURN_CHARACTERS = 12_000
"""A longer turn, mostly a tool's output, is shortened in the middle."""
_STEM_CHARACTERS = 200
"""Of the transcript's reference, so much stands before the number of each turn."""
_ROLES = {
    "user": TurnRole.USER,
    "human": TurnRole.USER,
    "assistant": TurnRole.ASSISTANT,
    "agent": TurnRole.ASSISTANT,
    "tool": TurnRole.TOOL,
    "function": TurnRole.TOOL,
    "system": TurnRole.SYSTEM,
    "developer": TurnRole.SYSTEM,
    "text": TurnRole.TEXT,
}


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a file holds. `session` is the id that the transcript itself gives; `passed` counts lines that are no turns."""

    turns: tuple[Turn, ...]
    session: str | None = None
    passed: int = 0


@dataclass
class _Reading:
    turns: list[Turn] = field(default_factory=list)
    session: str | None = None
    passed: int = 0

    def take(self, given: object) -> None:
        before = len(self.turns)
        if isinstance(given, dict):
            session = given.get("sessionId")
            if self.session is None and isinstance(session, str):
                self.session = session
            self.turns.extend(_turns_in(given))
        self.passed += len(self.turns) == before


def read_transcript(raw: bytes) -> Found:
    """Returns the turns of a transcript, oldest first.

    Raises CommandFailed for one that is too long or says nothing, BadParameter for one that is no text, or JSON in part only.
    """
    if len(raw) > FILE_BYTES:
        raise CommandFailed("too_large", f"the transcript has {len(raw)} bytes; at most {FILE_BYTES} are read")
    text = _text(raw)
    reading = _Reading()
    for one in _documents(text):
        reading.take(one)
    if not reading.turns and not _looks_like_json(text):
        reading = _Reading(turns=list(turns_of(text)))
    turns = tuple(_shortened(turn) for turn in reading.turns if turn.text.strip())
    if not turns:
        raise CommandFailed("invalid_request", "the transcript has no turn that says anything")
    return Found(turns=turns, session=reading.session, passed=reading.passed)


def parts_of(turns: Sequence[Turn], ref: str) -> list[tuple[Turn, ...]]:
    """Returns the turns, each with its place in the whole, in parts that one request takes; the last MOST_PARTS of them."""
    parts: list[tuple[Turn, ...]] = []
    current: list[Turn] = []
    size = 0
    stem = ref[:_STEM_CHARACTERS]
    for number, turn in enumerate(turns, 1):
        placed = turn if turn.ref else replace(turn, ref=f"{stem}#turn-{number}")
        weight = len(placed.text.encode())
        if current and (size + weight > TRANSCRIPT_BYTES or len(current) == TRANSCRIPT_TURNS):
            parts.append(tuple(current))
            current, size = [], 0
        current.append(placed)
        size += weight
    parts.append(tuple(current))
    return parts[-MOST_PARTS:]


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_transcript(f"is no text: byte {error.start + 1} is not UTF-8") from None
    if "\x00" in text:
        raise _no_transcript("is no text: it holds NUL bytes")
    return text


def _no_transcript(why: str) -> typer.BadParameter:
    return typer.BadParameter(f"the transcript {why}", param_hint="FILE")


def _documents(text: str) -> Iterator[object]:
    """Yields what is written as JSON: the entries of one list (or of its `transcript` or `messages`), or one a line.

    Raises BadParameter where something that begins as JSON is none: a part of a transcript would be taken for the whole.
    """
    broken: Exception | None = None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        whole, broken = None, error
    if isinstance(whole, dict):
        inner = next((whole[name] for name in ("transcript", "messages", "turns") if isinstance(whole.get(name), list)), None)
        whole = [whole] if inner is None else inner
    if isinstance(whole, list):
        yield from whole
        return
    if broken is None or not _looks_like_json(text):
        return
    if _is_one_document(text):
        at = f", at line {broken.lineno}" if isinstance(broken, json.JSONDecodeError) else ""
        raise _no_transcript(f"begins as JSON and is none, or is cut off{at}")
    for number, line in enumerate(text.split("\n"), 1):  # no other line break: JSON has those of Unicode within its texts
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise _no_transcript(f"has JSON lines, but line {number} is not JSON") from None


def _looks_like_json(text: str) -> bool:
    return re.match(r'\s*(\{\s*["}]|\[\s*[{\]])', text) is not None


def _is_one_document(text: str) -> bool:
    """Tells a list, or an object that is laid out over several lines, from objects of a line each."""
    first = text.lstrip().partition("\n")[0].rstrip()
    return first.startswith("[") or first == "{"


def _turns_in(given: Mapping[str, Any]) -> Iterator[Turn]:
    """Yields the turns of one entry: ours, a message of a chat API, or a line of a Claude Code session."""
    if given.get("isMeta") is True:
        return
    message = given.get("message")
    inner = message if isinstance(message, dict) else given
    role = _ROLES.get(str(inner.get("role") or given.get("type")).lower())
    if role is None:
        return
    content = inner.get("content", inner.get("text"))
    if isinstance(content, str):
        yield Turn(role=role, text=_storable(content))
    elif isinstance(content, list):
        for block in content:
            yield from _block(block, role)
    for call in inner.get("tool_calls") or ():
        if isinstance(call, dict) and isinstance(call.get("function"), dict):
            yield Turn(role=role, text=_called(call["function"].get("name"), call["function"].get("arguments")))


def _block(block: object, role: TurnRole) -> Iterator[Turn]:
    if isinstance(block, str):
        yield Turn(role=role, text=_storable(block))
    elif not isinstance(block, dict):
        return
    elif block.get("type") == "tool_use":
        yield Turn(role=role, text=_called(block.get("name"), block.get("input")))
    elif block.get("type") == "tool_result":
        yield Turn(role=TurnRole.TOOL, text=_result(block.get("content")))
    elif isinstance(block.get("text"), str):
        yield Turn(role=role, text=_storable(block["text"]))


def _result(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(_storable(str(one["text"])) for one in content if isinstance(one, dict) and "text" in one)
    return _storable(content) if isinstance(content, str) else ""


def _called(name: object, arguments: object) -> str:
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return _storable(f"[calls {name}] {shown}")


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _shortened(turn: Turn) -> Turn:
    left_out = len(turn.text) - _TURN_CHARACTERS
    if left_out <= 0:
        return turn
    half = _TURN_CHARACTERS // 2
    return replace(turn, text=f"{turn.text[:half]}\n[{left_out} characters left out]\n{turn.text[-half:]}")
