"""One Lambda function in a process of its own, as Lambda runs it: `python deployed.py <function>`.

Reads an event a line, writes the response a line, behind a mark: what the handler prints are lines of their own.
What the handler raises is answered as {"raised": <name of its class>}.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]
_MARK = "\x1e"


class Deployed:
    """A function that runs while the block does. `environment` holds its settings, and it gets no others of ours.

    `left_ms` is what it is told to have left of its time, whenever it asks; `printed` are the lines that it wrote to standard
    output besides its responses.
    """

    def __init__(self, function: str, environment: Mapping[str, str], *, left_ms: int = 29_000) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TRIBUTARY_", "PG", "AWS_"))}
        inherited.pop("DATABASE_URL", None)
        self.printed: list[str] = []
        path = os.pathsep.join([str(ROOT / "shared"), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, __file__, function, str(left_ms)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**inherited, "PYTHONPATH": path, "PYTHONUTF8": "1", **environment},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def __call__(self, event: Mapping[str, Any]) -> Any:
        """Returns the response to `event`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()
        while (line := self._process.stdout.readline()) and not line.startswith(_MARK):
            self.printed.append(line)
        return json.loads(line.removeprefix(_MARK))

    def end(self) -> str:
        """Ends the process and returns what it wrote to standard error."""
        _, errors = self._process.communicate(timeout=60)
        return errors

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process.poll() is None:
            self.end()


class _Context:
    def __init__(self, left_ms: int) -> None:
        self._left_ms = left_ms

    def get_remaining_time_in_millis(self) -> int:
        return self._left_ms


def _main(function: str, left_ms: int) -> None:
    path = ROOT / "functions" / function / "handler.py"
    spec = importlib.util.spec_from_file_location("handler", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for line in sys.stdin:
        try:
            response = module.handler(json.loads(line), _Context(left_ms))
        except Exception as error:
            response = {"raised": type(error).__name__}
        sys.stdout.write(f"{_MARK}{json.dumps(response)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
