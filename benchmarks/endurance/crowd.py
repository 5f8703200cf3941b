"""The agents of some tribes, as a process of its own: `python -m benchmarks.endurance.crowd`.

It reads a plan, says that it is ready, begins when it is told to, and writes a line a call.

Each agent is a thread with an SDK, and so a connection, of its own. It thinks, calls, and thinks again: what it may expect of the
reply it checks at once, and the rest the caller of this process does, in the database, when all is over.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.endurance.nuisances import Nuisances
from benchmarks.endurance.texts import disputed_lesson, new_lesson, question, shared_lesson
from tributary.client import Memory, TributaryError, WrongStanding, observed

WAIT_S = 2.0
"""For which a caller waits for changes, if there are none."""
SHORT_S = 0.5
"""A learn with no more time than this is kept as pending where the judge is slow."""
READS = {"recall": 85, "lessons": 2, "changes": 2, "feedback": 1}
LEARNS = {"learn": 6, "learn the same": 1, "learn the opposite": 1, "learn again": 1, "learn later": 1}
"""Of a hundred calls. `again` sends it once more under the same key; `later` does not wait, or has no time."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    url: str
    seed: int
    seconds: float
    pause_s: float
    """How long an agent thinks between two calls, on average."""
    agents: list[dict[str, str]]
    """Each with `tribe`, `name` and `token`."""
    nuisances: int
    """Connections of callers who are slow, or hang up."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """One call: when it began, in seconds since the start, how long it took, and what was wrong with it, if anything."""

    operation: str
    at_s: float
    ms: float
    wrong: str | None = None
    refused: bool = False
    """Whether it was refused as it may be, since somebody else had changed the lesson meanwhile."""
    acknowledged: dict[str, str] | None = None
    """What a learn was told: tribe, outcome, lesson and decision, and the ref of its source."""


@dataclass(frozen=True, kw_only=True)
class Wrong(Exception):
    """A reply that is not what it must be."""

    what: str


class Counting(httpx.BaseTransport):
    """A real transport that notes what the SDK would try again: lost connections, and replies of 500 and above."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = self._inner.handle_request(request)
        except httpx.TransportError as error:
            self.noted.append(f"{request.method} {request.url.path}: {type(error).__name__}: {error}")
            raise
        if response.status_code >= 500:
            self.noted.append(f"{request.method} {request.url.path}: status {response.status_code}")
        return response

    def close(self) -> None:
        self._inner.close()


@dataclass(kw_only=True)
class Agent:
    """One agent: it knows what it learned and recalled last."""

    plan: Plan
    tribe: str
    name: str
    token: str
    tell: Callable[[Made], None]
    tick: int = 0
    made: int = 0
    transport: Counting = field(default_factory=Counting)

    def __post_init__(self) -> None:
        self.rng = random.Random(f"{self.plan.seed} {self.tribe} {self.name}")
        self.calls: Mapping[str, Callable[[], dict[str, str] | None]] = {
            "recall": self._recall,
            "lessons": self._lessons,
            "changes": self._changes,
            "feedback": self._feedback,
            "learn": lambda: self._learn(new_lesson(self.rng)),
            "learn the same": lambda: self._learn(shared_lesson(self.rng)),
            "learn the opposite": self._learn_the_opposite,
            "learn again": lambda: self._learn(new_lesson(self.rng), times=2),
            "learn later": self._learn_later,
        }
        self.shares = READS | LEARNS

    def run(self, began: float) -> None:
        ends = began + self.plan.seconds
        with Memory(self.plan.url, self.token, transport=self.transport, environment={}) as memory:
            self.memory = memory
            while (now := time.monotonic() + self.rng.expovariate(1 / self.plan.pause_s)) < ends:
                time.sleep(max(0.0, now - time.monotonic()))
                (operation,) = self.rng.choices(list(self.shares), weights=list(self.shares.values()))
                self.tell(self._call(operation, began))

    def _call(self, operation: str, began: float) -> Made:
        acknowledged, wrong, refused = None, None, False
        self.transport.noted.clear()
        started = time.monotonic()
        try:
            acknowledged = self.calls[operation]()
        except WrongStanding as error:
            refused = operation == "feedback"
            wrong = None if refused else f"{error.code}: {error}"
        except TributaryError as error:
            wrong = f"{error.code}: {error}"
        except Wrong as error:
            wrong = error.what
        except Exception as error:  # whatever the SDK raises that it must not
            wrong = f"{type(error).__name__}: {error}"
        ended = time.monotonic()
        wrong = wrong or (f"tried again after {self.transport.noted[0]}" if self.transport.noted else None)
        return Made(
            operation=operation,
            at_s=started - began,
            ms=(ended - started) * 1000,
            wrong=wrong,
            refused=refused,
            acknowledged=acknowledged,
        )

    def _recall(self) -> None:
        hits = self.memory.recall(question(self.rng), at_least=self.tick if self.rng.random() < 0.2 else None)
        if hits.receipt.coverage != "complete":
            raise Wrong(what=f"coverage of a recall is {hits.receipt.coverage}, {', '.join(hits.receipt.causes)}")

    def _lessons(self) -> None:
        next(self.memory.pages(page_size=20))

    def _changes(self) -> None:
        page = self.memory.change_page(self.tick, wait_s=WAIT_S)
        if page.tick < self.tick:
            raise Wrong(what=f"changes after tick {self.tick} go up to {page.tick}")
        self.tick = page.tick

    def _feedback(self) -> None:
        hits = self.memory.recall(shared_lesson(self.rng))
        if hits:
            self.memory.feedback(hits[0], worked=True)

    def _learn_the_opposite(self) -> dict[str, str]:
        subject, text = disputed_lesson(self.rng)
        return self._learn(text, subject=subject)

    def _learn_later(self) -> dict[str, str]:
        more: dict[str, Any] = {"wait": False} if self.rng.random() < 0.5 else {"deadline_s": SHORT_S}
        return self._learn(new_lesson(self.rng), **more)

    def _learn(self, text: str, *, times: int = 1, **more: Any) -> dict[str, str]:
        self.made += 1
        ref = f"load:{self.name}:{self.made}"
        replies = [
            self.memory.learn(text, situation="operating the platform", source=observed(ref), idempotency_key=ref, **more)
            for _ in range(times)
        ]
        first, last = replies[0], replies[-1]
        if (first.decision, first.outcome) != (last.decision, last.outcome):
            raise Wrong(what=f"one key, two replies: {first.decision} {first.outcome}, then {last.decision} {last.outcome}")
        self.tick = max(self.tick, last.tick)
        lesson = first.lesson.id if first.lesson else ""
        return {"tribe": self.tribe, "outcome": first.outcome, "lesson": lesson, "decision": first.decision, "ref": ref}


def main() -> None:
    plan = Plan(**json.loads(sys.stdin.readline()))
    lock = threading.Lock()

    def tell(made: Made) -> None:
        with lock:
            sys.stdout.write(json.dumps(asdict(made)) + "\n")
            sys.stdout.flush()

    agents = [Agent(plan=plan, tribe=who["tribe"], name=who["name"], token=who["token"], tell=tell) for who in plan.agents]
    print(READY, flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    threads = [threading.Thread(target=agent.run, args=(began,), name=agent.name) for agent in agents]
    with Nuisances(plan.url, plan.agents[0]["token"], plan.nuisances, seed=plan.seed):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def line_of(text: str) -> Made:
    """Reads a line of such a process."""
    return Made(**json.loads(text))


READY, GO = "ready", "go"
MODULE, ROOT = "benchmarks.endurance.crowd", Path(__file__).parents[2]

if __name__ == "__main__":
    main()
