"""Claude through the Claude Code executable: `claude -p`, for those who have a subscription and no API key."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tributary.core.clock import utc_now
from tributary.core.errors import BadSetting, ModelFailed, ModelMalformed, ModelRefused, ModelThrottled, ModelUnreachable
from tributary.core.ports import Prompt
from tributary.models.bounded import ATTEMPTS, MOST_REPLY_BYTES
from tributary.models.llms.answers import each_once, note_usage, object_given, object_in, part
from tributary.models.llms.asking import MAX_OUTPUT_TOKENS, TIMEOUT_S, Asking, Bounds, Form, Shape, named
from tributary.models.llms.running import Ran, run
from tributary.models.metering import Meter
from tributary.models.prices import Prices

_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_[A-Z]+|XDG_[A-Z_]+|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS"
    r"|(?:https?|no|all)_proxy|ANTHROPIC_[A-Z_]+|CLAUDE_CONFIG_DIR|CLAUDE_CODE_(?:OAUTH_TOKEN|USE_[A-Z]+|SKIP_[A-Z]+_AUTH)",
    re.IGNORECASE,
)
"""What the program may see of our environment: where things are, and the credentials that are its own. All else stays out."""
_OF_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": re.compile(r"AWS_[A-Z_]+"),
    "CLAUDE_CODE_USE_VERTEX": re.compile(r"CLOUD_ML_REGION|GOOGLE_APPLICATION_CREDENTIALS|VERTEX_[A-Z0-9_]+"),
}
"""And the credentials of a cloud, where it is set up to reach its models there."""
_ON = frozenset({"1", "true", "yes", "on"})

_MOST_TURNS = 4
"""The answer comes through a tool, whose reply is one more turn; the rest lets it correct a form that did not fit."""
_LOGIN = "run 'claude' and log in with /login, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN"

# The program says these in words only, inside `result` of an answer that is marked as an error.
_STATUS = re.compile(r"API Error:? (?:\(?(\d{3})\b)")
_NOT_LOGGED_IN = re.compile(r"/login|Invalid API key|OAuth token|authentication_error", re.IGNORECASE)
_LIMIT = re.compile(r"limit reached|hit your [\w ]*limit|rate_limit", re.IGNORECASE)
_RESETS_AT = re.compile(r"limit reached\|(\d{10})\b")
_POLICY = re.compile(r"Usage Policy", re.IGNORECASE)
_CUT_OFF = re.compile(r"exceeded the \d+ output token maximum", re.IGNORECASE)


class ClaudeModel:
    """Runs `claude -p` once a question. Safe to share between threads. Needs Claude Code 2.1 or later.

    The question goes through standard input, which ends there. The program sees an empty folder, no settings of the user or
    of a project, no tools, no MCP servers, no more of the environment than it needs to find its credentials, and keeps no
    session.
    """

    def __init__(
        self,
        *,
        model: str,
        command: Path | str = "claude",
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        timeout_s: float = TIMEOUT_S,
        attempts: int = ATTEMPTS,
        prices: Prices | None = None,
        environment: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises BadSetting. `command` is a name on PATH or a file; `environment` is this process's when left out."""
        self._version = named("claude", model)
        self._model = model
        self._command = command
        self._environment = environment
        self._bounds = Bounds(max_output_tokens=max_output_tokens, timeout_s=timeout_s, attempts=attempts)
        self._asking: Asking[Ran] = Asking(
            version=self._version,
            shape=Shape(form=Form.SCHEMA),
            prepare=lambda _: executable(self._command, self._known()),
            send=self._send,
            read=_read,
            bounds=self._bounds,
            prices=prices or Prices.shipped(),
            sleep=sleep,
        )

    @property
    def version(self) -> str:
        return self._version

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        return self._asking.answer(prompt, timeout_s=timeout_s)

    def _send(self, prompt: Prompt, shape: Shape, remaining_s: float) -> Ran:
        """Needs no thread: `run` bounds every step itself, and has ended the program when it returns."""
        known = self._known()
        command = [
            executable(self._command, known),
            "-p",
            *("--output-format", "json"),
            *("--model", self._model),
            *("--system-prompt", prompt.instructions),
            *("--json-schema", json.dumps(prompt.schema)),
            *("--setting-sources", ""),
            *("--tools", ""),
            *("--max-turns", str(_MOST_TURNS)),
            "--strict-mcp-config",
            "--disable-slash-commands",
            "--no-session-persistence",
        ]
        environment = {
            **passed_on(known),
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(self._bounds.max_output_tokens),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "MAX_THINKING_TOKENS": "0",  # they would count as output
        }
        with tempfile.TemporaryDirectory(prefix="tributary-claude-", ignore_cleanup_errors=True) as folder:
            return run(
                command,
                given=prompt.material.encode(errors="replace"),
                environment=environment,
                folder=Path(folder),
                timeout_s=remaining_s,
                most_bytes=MOST_REPLY_BYTES,
            )

    def _known(self) -> Mapping[str, str]:
        return os.environ if self._environment is None else self._environment


def executable(command: Path | str, environment: Mapping[str, str]) -> str:
    """Returns the program's whole path; raises BadSetting when there is none."""
    found = shutil.which(str(command), path=environment.get("PATH", os.defpath))
    if found is None:
        raise BadSetting(
            f"TRIBUTARY_CLAUDE_COMMAND: there is no such program (it is '{command}'); install Claude Code, or name its file"
        )
    return str(Path(found).absolute())  # it runs in another folder


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns what the program may see of the environment."""
    forms = [_PASSED_ON, *(form for switch, form in _OF_CLOUDS.items() if _is_on(environment.get(switch, "")))]
    return {name: value for name, value in environment.items() if any(form.fullmatch(name) for form in forms)}


def _is_on(switch: str) -> bool:
    """Tells whether the program takes this value of a switch for on."""
    return switch.strip().lower() in _ON


def _read(_prompt: Prompt, _shape: Shape, ran: Ran, meter: Meter) -> Mapping[str, object]:
    said = _result(ran)
    usage = part(said, "usage")
    inputs = [usage.get(name, 0) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    note_usage(
        meter,
        inputs=sum(one for one in inputs if type(one) is int) if usage else None,
        outputs=usage.get("output_tokens"),
        cost=said.get("total_cost_usd"),
    )
    stopped, kind = said.get("stop_reason"), said.get("subtype")
    if stopped == "refusal":
        raise ModelRefused("Claude declined to answer")
    if stopped == "max_tokens":
        raise ModelMalformed("Claude's answer was cut off (max_tokens); more output tokens may help")
    if isinstance(kind, str) and kind in ("error_max_turns", "error_max_structured_output_retries"):
        raise ModelMalformed(f"Claude gave no answer of the form that was asked for ({kind})")
    if said.get("is_error") or kind != "success":
        raise _failure(said)
    structured = said.get("structured_output")
    return object_in(said.get("result")) if structured is None else object_given(structured)


def _result(ran: Ran) -> Mapping[str, object]:
    try:
        # strictly, since the answer is among it
        document = json.loads(ran.output, object_pairs_hook=each_once)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, list):  # all messages, as the user's own configuration may ask for; the last one is the result
        document = document[-1] if document else None
    if isinstance(document, Mapping) and document.get("type") == "result":
        return document
    if ran.code:
        raise ModelFailed(
            f"Claude Code ended with exit code {ran.code} and no answer; it needs version 2.1 or later, and a login"
        )
    raise ModelMalformed("Claude Code's output is not the result that was asked for")


def _failure(said: Mapping[str, object]) -> ModelFailed:
    """Returns what an error means that the program tells of. Its words are looked at, and never shown."""
    words = str(said.get("result") or "")
    found = _STATUS.search(words)
    told = said.get("api_error_status")
    status = told if type(told) is int else int(found[1]) if found else 0
    if status == 429 or _LIMIT.search(words):
        resets = _RESETS_AT.search(words)
        wait = max(0.0, int(resets[1]) - utc_now().timestamp()) if resets else None
        return ModelThrottled("Claude takes no more requests for now", retry_after_s=wait)
    if status in (401, 403) or _NOT_LOGGED_IN.search(words):
        return ModelFailed(f"Claude Code is not logged in, or its login has expired: {_LOGIN}")
    if _POLICY.search(words):
        return ModelRefused("Claude declined the question")
    if _CUT_OFF.search(words):
        return ModelMalformed("Claude's answer was cut off; more output tokens may help")
    if status == 404:
        return ModelFailed("Claude does not know the model, or this login may not use it")
    if status >= 500 or "Connection error" in words:
        return ModelUnreachable("Claude cannot be reached, or is overloaded")
    return ModelFailed("Claude Code failed and gave no answer")
