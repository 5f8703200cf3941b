"""Serves one contender to the bench: reads requests as JSON lines, answers with JSON lines, until its input ends.

    python -m benchmarks.peers.contenders NAME URL FOLDER THREADS

What the libraries print goes to standard error. Times are taken here, around the library's own call.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.peers.contenders import quiet
from benchmarks.peers.contenders.port import Given, Place, Said, Store

ADAPTERS = {
    "sql": ("plain", "PlainSql"),
    "tributary": ("tributary_store", "Tributary"),
    "mem0": ("mem0_store", "Mem0"),
    "langgraph": ("langgraph_store", "LangGraph"),
}
READY_S = 60.0


class Desk:
    """Does for the bench what a request says."""

    def __init__(self, name: str, place: Place) -> None:
        module, adapter = ADAPTERS[name]
        self._store: Store = getattr(importlib.import_module(f"benchmarks.peers.contenders.{module}"), adapter)(place)

    def about(self) -> dict[str, Any]:
        return dict(self._store.about())

    def outward(self) -> list[str]:
        """Returns what was tried to reach outside the process, and refused."""
        return quiet.attempts

    def fill(self, scope: str, lessons: Sequence[dict[str, Any]]) -> float:
        """Returns the seconds that it took."""
        self._store.begin(scope)
        began = time.perf_counter()
        self._store.fill(scope, [Said(**one) for one in lessons])
        return time.perf_counter() - began

    def add(self, scope: str, writers: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
        """Has each writer, a thread, add its lessons; all begin at once. Returns what became of them, and the seconds."""
        self._store.begin(scope)
        told: list[list[str]] = [[] for _ in writers]

        def write(number: int) -> None:
            for one in writers[number]:
                told[number].append(self._store.add(number, scope, Said(**one)))

        seconds = _at_once(len(writers), write)
        return {"seconds": seconds, "outcomes": Counter(outcome for one in told for outcome in one), "in_order": told}

    def search(self, scope: str, queries: Sequence[str], limit: int, tags: dict[str, str]) -> dict[str, Any]:
        """Asks one after another; returns each one's milliseconds and answer."""
        taken: list[float] = []
        answers: list[list[str]] = []
        for query in queries:
            began = time.perf_counter()
            found = self._store.search(0, scope, query, limit, tags)
            taken.append((time.perf_counter() - began) * 1000)
            answers.append(list(found))
        return {"ms": taken, "answers": answers}

    def read(self, scope: str, queries: Sequence[str], limit: int, readers: int) -> float:
        """Has readers, threads, ask all the queries each; all begin at once. Returns the seconds."""

        def read_all(number: int) -> None:
            for place in range(len(queries)):
                self._store.search(number, scope, queries[(place + number * 7) % len(queries)], limit, {})

        return _at_once(readers, read_all)

    def count(self, scope: str, lessons: Sequence[dict[str, Any]]) -> list[int]:
        return [self._store.count(scope, Said(**one)) for one in lessons]

    def close(self) -> None:
        self._store.close()


def _at_once(threads: int, work: Callable[[int], None]) -> float:
    """Runs `work(number)` in so many threads from one moment on; returns the seconds until the last has ended, or its error."""
    ready = threading.Barrier(threads + 1, timeout=READY_S)

    def begin(number: int) -> None:
        ready.wait()
        work(number)

    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(begin, number) for number in range(threads)]
        ready.wait()
        began = time.perf_counter()
        for one in running:
            one.result()
        return time.perf_counter() - began


def main() -> int:
    name, url, folder, threads = sys.argv[1:]
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not look like an answer
    quiet.refuse_network()
    place = Place(url=url, folder=Path(folder), given=Given.read(Path(folder)), threads=int(threads))
    desk = Desk(name, place)
    print(json.dumps({"result": "ready"}), file=replies, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        result = getattr(desk, request["do"])(**request["with"])
        print(json.dumps({"result": result}), file=replies, flush=True)
    desk.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
