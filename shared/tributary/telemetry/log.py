"""Structured logs: one event a line, on standard error or in a file, as text or JSON.

The library only emits; it never configures logging. Entry points call `configure`. Lines made inside `operation` carry its
id, agent and tribe, and inside a span the ids of that and of its trace. Fields hold ids, counts, codes and milliseconds: never
the text of a lesson or query, a token or a key. Tracebacks have places and types only, since messages may quote any of these.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from uuid import UUID

from tributary.core.ids import new_id
from tributary.telemetry.events import Event
from tributary.telemetry.trace_ids import trace_ids

Field = str | int | float | bool | None | UUID

WARNING = logging.WARNING
ERROR = logging.ERROR

_logger = logging.getLogger("tributary")
_logger.addHandler(logging.NullHandler())
_context: ContextVar[Mapping[str, Field]] = ContextVar("tributary_operation", default={})  # noqa: B039  (never mutated)


@contextmanager
def operation(operation_id: str | None = None, **fields: Field) -> Iterator[str]:
    """Gives the block an operation id that every event in it carries; inside another operation, that one goes on."""
    current = _context.get()
    chosen = operation_id or str(current.get("operation") or new_id().hex)
    token = _context.set({**current, "operation": chosen, **fields})
    try:
        yield chosen
    finally:
        _context.reset(token)


def operation_id() -> str | None:
    """Returns the id of the operation that this code runs in."""
    found = _context.get().get("operation")
    return str(found) if found is not None else None


def event(name: Event, *, level: int = logging.INFO, error: BaseException | None = None, **fields: Field) -> None:
    """Logs one event of the catalogue. `error` adds the type of an exception and, at ERROR, the places that it came by."""
    if not _logger.isEnabledFor(level):
        return
    carried: dict[str, Field] = {**_context.get(), **trace_ids(), **fields}
    if error is not None:
        carried["error"] = type(error).__name__
    places = "".join(trace_places(error)) if error is not None and level >= logging.ERROR else None
    _logger.log(level, name.value, extra={"event": name.value, "fields": carried, "places": places})


def configure(
    *, form: Literal["text", "json"] = "text", level: str = "INFO", file: Path | None = None, stream_too: bool = True
) -> None:
    """Sends our events to standard error and, where given, to `file`; replaces what an earlier call set up."""
    formatter: logging.Formatter = _JsonFormatter() if form == "json" else _TextFormatter()
    handlers: list[logging.Handler] = []
    if stream_too:
        handlers.append(logging.StreamHandler(sys.stderr))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(file, encoding="utf-8", errors="backslashreplace"))
    for old in list(_logger.handlers):
        _logger.removeHandler(old)
        old.close()
    for handler in handlers or [logging.NullHandler()]:
        handler.setFormatter(formatter)
        _logger.addHandler(handler)
    _logger.setLevel(level)
    _logger.propagate = False


def configure_by(environment: Mapping[str, str]) -> None:
    """Sends our events to standard error as a function or a container does, as JSON unless the environment wants text.

    Not by the settings: what is wrong with them must be logged, too.
    """
    level = environment.get("TRIBUTARY_LOG_LEVEL", "INFO").upper()
    known = level if level in logging.getLevelNamesMapping() else "INFO"
    configure(form="text" if environment.get("TRIBUTARY_LOG_FORMAT") == "text" else "json", level=known)


def trace_places(error: BaseException) -> Iterator[str]:
    """Gives where an exception was raised and what it is, then the same of what it came from. No message, no value."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield from traceback.format_tb(current.__traceback__)
        yield f"{type(current).__module__}.{type(current).__qualname__}\n"
        current = current.__cause__ or current.__context__


def _fields_of(record: logging.LogRecord) -> dict[str, Field]:
    found = getattr(record, "fields", None)
    return {name: value for name, value in found.items() if value is not None} if isinstance(found, Mapping) else {}


def _instant(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": _instant(record),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", record.getMessage()),
            **_fields_of(record),
        }
        if places := getattr(record, "places", None):
            line["traceback"] = places
        return json.dumps(line, default=str, ensure_ascii=False)


class _TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={_plain(value)}" for name, value in _fields_of(record).items())
        line = (
            f"{_instant(record)} {record.levelname.lower():<7} {getattr(record, 'event', record.getMessage())} {fields}".rstrip()
        )
        if places := getattr(record, "places", None):
            line += "\n" + str(places).rstrip()
        return line


def _plain(value: Field) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if any(c.isspace() or not c.isprintable() for c in text) else text
