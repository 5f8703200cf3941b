"""A program that stands in for Claude Code: it tells a local server what it was given, and prints what that answers.

So a test scripts it and looks at it as it does with any other provider. It takes its behaviour from headers of the reply:
`x-exit` is its exit code, `x-child` makes it leave a child behind that holds its standard output open.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.providers.brain import INPUT_TOKENS, OUTPUT_TOKENS, Brain, Routes
from tests.providers.server import Asked, Reply
from tributary.core.ports import LanguageModel

MODEL = "claude-haiku-4-5"
COST = 0.0125

_PROGRAM = """#!{python} -IS
import http.client, json, os, subprocess, sys

given = "" if "--version" in sys.argv else sys.stdin.read()
asked = {{
    "arguments": sys.argv[1:],
    "given": given,
    "environment": dict(os.environ),
    "folder": os.getcwd(),
    "entries": os.listdir("."),
    "process": os.getpid(),
}}
connection = http.client.HTTPConnection("127.0.0.1", {port})
try:
    connection.request("POST", "/run", json.dumps(asked), {{"content-type": "application/json"}})
    reply = connection.getresponse()
    if reply.headers.get("x-child"):
        child = subprocess.Popen(["sleep", "60"])
        open(reply.headers["x-child"], "w").write(str(child.pid))
    while chunk := reply.read1(65536):
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
except (OSError, http.client.HTTPException):
    sys.stderr.write("connection lost: the secret is hush-hush\\n")
    sys.exit(1)
sys.exit(int(reply.headers.get("x-exit", "0")))
"""


def write_program(folder: Path, url: str) -> Path:
    """Writes the program into the folder and returns its file."""
    file = folder / "claude"
    file.write_text(_PROGRAM.format(python=sys.executable, port=url.rpartition(":")[2]), "utf-8")
    file.chmod(0o755)
    return file


def claude_routes(brain: Brain) -> Routes:
    def ran(asked: Asked) -> Reply:
        if "--version" in asked.body["arguments"]:
            return Reply(raw=b"2.1.44 (Claude Code)\n")
        return result(structured_output=brain(*read(asked.body)))

    return [("POST", r"/run", ran)]


def option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def read(body: Mapping[str, Any]) -> tuple[str, str, Mapping[str, object]]:
    """Returns instructions, material and schema of a run."""
    arguments = body["arguments"]
    return option(arguments, "--system-prompt"), body["given"], json.loads(option(arguments, "--json-schema"))


def result(*, exit_code: int = 0, **fields: object) -> Reply:
    """What the program prints at its end, `--output-format json`."""
    document = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 2345,
        "duration_api_ms": 2300,
        "num_turns": 2,
        "result": "",
        "stop_reason": "end_turn",
        "session_id": "0b3f8a5e-7f0e-4c65-9d5b-0f8c2f9d1e11",
        "total_cost_usd": COST,
        "usage": {
            "input_tokens": INPUT_TOKENS - 100,
            "cache_creation_input_tokens": 60,
            "cache_read_input_tokens": 40,
            "output_tokens": OUTPUT_TOKENS,
        },
    }
    return Reply(document={**document, **fields}, headers={"x-exit": str(exit_code)})


def failed(words: str, **fields: object) -> Reply:
    """How the program tells of an error of the API: in words, as an answer that is marked."""
    return result(exit_code=1, is_error=True, result=words, stop_reason="stop_sequence", total_cost_usd=0, **fields)


class ClaudeWire:
    """Claude Code in the conformance suite."""

    name = "claude"
    version = f"claude:{MODEL}"

    def routes(self, brain: Brain) -> Routes:
        return claude_routes(brain)

    def model(
        self,
        url: str,
        folder: Path,
        *,
        timeout_s: float = 20.0,
        attempts: int = 3,
        max_output_tokens: int = 2048,
        sleep: Callable[[float], None] = time.sleep,
    ) -> LanguageModel:
        from tributary.models.llms import ClaudeModel

        return ClaudeModel(
            model=MODEL,
            command=write_program(folder, url),
            timeout_s=timeout_s,
            attempts=attempts,
            max_output_tokens=max_output_tokens,
            sleep=sleep,
        )

    def answered(self, answer: object) -> Reply:
        return result(structured_output=answer)

    def said(self, text: str) -> Reply:
        return result(result=text)

    def declined(self) -> Reply:
        return result(result="I can't help with that.", stop_reason="refusal")

    def cut_off(self) -> Reply:
        return result(result='{"said": "ye"}', stop_reason="max_tokens")

    def throttled(self, reset_s: float | None) -> Reply:
        words = (
            "API Error: 429 rate_limit_error"
            if reset_s is None
            else f"Claude AI usage limit reached|{int(time.time() + reset_s)}"
        )
        return failed(words)

    def away(self) -> Reply:
        return failed('API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')

    def expired(self) -> Reply:
        return failed("OAuth token has expired. Please obtain a new token or refresh your existing token. · Please run /login")

    def asked(self, body: Any, headers: Mapping[str, str]) -> tuple[str, str, Mapping[str, object]]:
        return read(body)
