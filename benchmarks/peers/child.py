"""The bench's side of a contender: a process of the interpreter that has its library, asked over pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, cast

from benchmarks.peers.contenders.port import Said

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / ".venv-peers" / "bin" / "python"
"""Made by `make bench-peers` and `make test-peers`, from benchmarks/peers/constraints.txt."""
INTERPRETERS = {"sql": Path(sys.executable), "tributary": Path(sys.executable), "mem0": PEERS, "langgraph": PEERS}
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is a closed port."""


class PeersMissing(SystemExit):
    """There is no .venv-peers."""


def require_peers(interpreter: Path = PEERS) -> None:
    """Raises PeersMissing, which says what to do, unless the peers' interpreter is there."""
    if not interpreter.exists():
        raise PeersMissing(
            f"the peers are not installed: {interpreter} is missing. `make bench-peers` installs them and measures"
        )


class Contender:
    """One contender in its process. Each call waits for the answer; what it prints goes to our standard error."""

    def __init__(self, name: str, *, url: str, folder: Path, threads: int) -> None:
        self.name = name
        arguments = [str(INTERPRETERS[name]), "-m", "benchmarks.peers.contenders", name, url, str(folder), str(threads)]
        self._process = subprocess.Popen(
            arguments, cwd=ROOT, env=_environment(name, folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def about(self) -> dict[str, Any]:
        return cast(dict[str, Any], self._ask("about"))

    def outward(self) -> list[str]:
        return cast(list[str], self._ask("outward"))

    def fill(self, scope: str, lessons: Sequence[Said]) -> float:
        return cast(float, self._ask("fill", scope=scope, lessons=_plain(lessons)))

    def add(self, scope: str, writers: Sequence[Sequence[Said]]) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], self._ask("add", scope=scope, writers=[_plain(one) for one in writers]))

    def search(self, scope: str, queries: Sequence[str], *, limit: int, tags: Mapping[str, str]) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], self._ask("search", scope=scope, queries=list(queries), limit=limit, tags=dict(tags)))

    def read(self, scope: str, queries: Sequence[str], *, limit: int, readers: int) -> float:
        return cast(float, self._ask("read", scope=scope, queries=list(queries), limit=limit, readers=readers))

    def count(self, scope: str, lessons: Sequence[Said]) -> list[int]:
        return cast(list[int], self._ask("count", scope=scope, lessons=_plain(lessons)))

    def end(self) -> None:
        """Ends the process, however it stands."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def _ask(self, what: str, **named: Any) -> object:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": what, "with": named}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> object:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with code {self._process.wait()}; what it said is above")
        return json.loads(line)["result"]


def _plain(lessons: Sequence[Said]) -> list[dict[str, Any]]:
    return [{"text": said.text, "situation": said.situation, "tags": dict(said.tags)} for said in lessons]


def _environment(name: str, folder: Path) -> dict[str, str]:
    """Returns as little as will do: no key of a model, no proxy that leads anywhere, no telemetry, homes in a scratch folder."""
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "TMPDIR")}
    away = {
        "HOME": str(folder),
        "MEM0_DIR": str(folder / f"mem0-{name}"),
        "MEM0_TELEMETRY": "False",
        "LANGCHAIN_TRACING_V2": "false",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "ALL_PROXY": NOWHERE,
    }
    return {**kept, **away, "PYTHONPATH": os.pathsep.join((str(ROOT / "shared"), str(ROOT)))}
