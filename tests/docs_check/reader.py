"""Somebody new, who reads README and pages and does what they say."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.docs_check import commands
from tests.docs_check.blocks import Block, blocks
from tests.docs_check.machine import Machine
from tests.docs_check.scenes import SCENES, Scene
from tests.docs_check.talking import Show, Talking, end_group

README = "README.md"
HERE = Path(__file__).parent
WITHIN_S = 600.0
SERVING = re.compile(r"(?m)^((?:\w+=\S+ +)*)((?:make|tributary) serve\b)")
FUNCTIONS = """
set -E -o pipefail
trap 'ended=$?; failed=1; echo "^ its line $LINENO ended with $ended"' ERR
serve() {
    setsid "$@" > "$MACHINE/serving.log" 2>&1 < /dev/null &
    echo $! > "$MACHINE/serving.pid"
    for _ in {1..900}; do
        if grep -q http:// "$MACHINE/serving.log" || ! kill -0 $! 2> /dev/null; then break; fi
        sleep 0.2
    done
    cat "$MACHINE/serving.log"
    grep -q http:// "$MACHINE/serving.log"
}
"""
"""`serve` starts a server and waits until it says where. A command that fails is told, and the block goes on."""


class Reader:
    """Reads pages on a machine; keeps what became of each block."""

    def __init__(self, on: Machine, texts: Mapping[str, str]) -> None:
        self._machine = on
        self._server = on.folder / "serving.pid"
        self._texts = texts
        self.ended: dict[str, Counter[str]] = {}
        """By page, how many blocks were `ok`, `failed`, `not run` and `shown`."""
        self.reasons: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.failures: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end_server()

    def read(self, page: str) -> bool:
        """Runs the blocks of a page in their order, README's in Python once its server is there; tells whether none failed."""
        found = list(blocks(page, self._texts[page]))
        if page == README:
            found.sort(key=lambda block: block.language == "python")
        scene = SCENES.get(page, Scene())
        given = list(scene.before)
        counted = self.ended.setdefault(page, Counter())
        began = time.monotonic()
        with Place(self._machine, self._show, is_new=page == README) as place:
            for block in found:
                for one in [one for one in given if block.is_run and one.words in block.text]:
                    given.remove(one)
                    why = place.run(one.language, one.text, page=page, line=block.line)
                    if why:
                        self._failed(block, f"what the page takes for granted could not be made: {why}", counted)
                if block.is_run:
                    self._run(place, block, scene, counted)
                elif block.reason is not None:
                    self._skip(block, counted)
                else:
                    counted["shown"] += 1
        self.seconds[page] = time.monotonic() - began
        return not counted["failed"]

    def _run(self, place: Place, block: Block, scene: Scene, counted: Counter[str]) -> None:
        text = block.text
        for words, others in {**self._stands_for, **scene.instead}.items():
            text = text.replace(words, others)
        if block.language == "sh" and SERVING.search(text):
            self._end_server()
        elif block.page != README and not self._server.exists():
            place.run("sh", "tributary serve\n", page=block.page, line=0)
        print(f"\n{block.place} {block.language}", flush=True)
        began = time.monotonic()
        why = place.run(block.language, text, page=block.page, line=block.line)
        if why:
            self._failed(block, why, counted)
        else:
            counted["ok"] += 1
            print(f"{block.place} ok ({time.monotonic() - began:.1f} s)", flush=True)

    def _skip(self, block: Block, counted: Counter[str]) -> None:
        """Says why a block is not run; its commands are parsed all the same."""
        counted["not run"] += 1
        self.reasons[str(block.reason)] += 1
        print(f"\n{block.place} {block.language} not run: {block.reason}", flush=True)
        if block.language != "python":
            for line, words in commands.said(block.text):
                for fault in commands.faults(words, whole=True):
                    self._failed(block, f"line {block.line + line}: {fault}", counted)

    def _failed(self, block: Block, why: str, counted: Counter[str]) -> None:
        counted["failed"] += 1
        self.failures.append(f"{block.place}: {why}")
        print(f"{block.place} FAILED: {why}", flush=True)

    def _end_server(self) -> None:
        if self._server.exists():
            end_group(int(self._server.read_text()), patience_s=30.0)
            self._server.unlink()

    @property
    def _stands_for(self) -> dict[str, str]:
        return {"<this repository>": str(self._machine.repository), "<this folder>": str(self._machine.clone)}

    def _show(self, line: str) -> None:
        print(f"    {self._machine.hide(line)}", flush=True)


class Place:
    """Where a page is read: one shell for it, and one Python, which is there from the first example on."""

    def __init__(self, on: Machine, show: Show, *, is_new: bool) -> None:
        self._machine = on
        self._show = show
        self._environment = {**on.environment, "MACHINE": str(on.folder)}
        self._folder = on.home if is_new else on.clone
        if not is_new:  # README has said so: . .venv/bin/activate
            self._environment["PATH"] = f"{on.clone / '.venv' / 'bin'}:{self._environment['PATH']}"
        self._shell: Talking | None = None
        self._python: Talking | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for talking in (self._shell, self._python):
            if talking is not None:
                talking.end()

    def run(self, language: str, text: str, *, page: str, line: int, within_s: float = WITHIN_S) -> str | None:
        """Runs a block, shows what it prints, and returns why it failed, or None."""
        file = self._machine.folder / f"block.{language}"
        if language == "python":
            file.write_text(text, encoding="utf-8")
            return self._in_python(file, page=page, line=line, within_s=within_s)
        if language == "sql":
            file.write_text(text, encoding="utf-8")
            text = shlex.join([str(self._machine.clone / ".venv/bin/python"), str(HERE / "in_database.py"), str(file)])
        script = self._machine.folder / "block.bash"
        script.write_text(SERVING.sub(r"\1serve \2", text), encoding="utf-8")
        return self._in_shell(script, within_s=within_s)

    def _in_shell(self, script: Path, *, within_s: float) -> str | None:
        if self._shell is None or self._shell.has_ended:
            if self._shell is not None:
                self._shell.end()
            self._shell = self._talk("/bin/bash", "--noprofile", "--norc")
            functions = self._machine.folder / "functions.bash"
            functions.write_text(FUNCTIONS, encoding="utf-8")
            self._shell.ask(f". {functions}; printf '\\n%s 0\\n' {self._shell.mark}", within_s=WITHIN_S)
        return self._shell.ask(
            f"failed=0; . {script} < /dev/null; printf '\\n%s %s\\n' {self._shell.mark} \"$failed\"", within_s=within_s
        )

    def _in_python(self, file: Path, *, page: str, line: int, within_s: float) -> str | None:
        if self._python is None or self._python.has_ended:
            if self._python is not None:
                self._python.end()
            self._python = self._talk(str(self._machine.clone / ".venv/bin/python"), "-u", str(HERE / "worker.py"))
        asked = {"file": str(file), "page": page, "line": line, "mark": self._python.mark}
        return self._python.ask(json.dumps(asked), within_s=within_s)

    def _talk(self, *command: str) -> Talking:
        folder = self._folder if self._folder.exists() else self._machine.home
        return Talking(command, environment=self._environment, folder=folder, show=self._show)
