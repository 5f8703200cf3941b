"""The random workload: agents of every role of two tribes, in threads, over the public face of the memory."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

import psycopg

from tests.history.calls import Call, Request, recorded
from tests.history.world import HELD_BACK, POLICIES, World, spellings
from tests.tribes import Tribal
from tributary.core.agent import Principal, Role
from tributary.core.curation import DisputeKind, Ending, Mistake, RetireCause
from tributary.core.decision import Learned
from tributary.core.lesson import Draft, Lesson, Status
from tributary.core.requests import Question
from tributary.learn import Attempt

SOON_S = 0.002
"""A deadline that a judge seldom meets, so that the lesson is kept as pending."""
WEIGHTS: Mapping[str, int] = {
    "learn": 34,
    "learn_all": 3,
    "contest": 7,
    "reinforce": 9,
    "retire": 5,
    "release": 5,
    "erase": 2,
    "resolve": 11,
    "report": 2,
    "set_policy": 1,
    "recall": 7,
    "recall_as_of": 5,
    "listing": 4,
    "again": 5,
    "stray": 1,
}


@dataclass
class Scene:
    """One tribe of a history: its agents, and what they have come across so far."""

    tribal: Tribal
    agents: tuple[Principal, ...]
    lessons: list[Lesson] = field(default_factory=list)
    decisions: list[Learned] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @classmethod
    def of(cls, tribal: Tribal, *, curators: int, writers: int) -> Scene:
        more = [tribal.agent(f"curator-{number}", Role.CURATOR) for number in range(1, curators)]
        wrote = [tribal.agent(f"writer-{number}") for number in range(writers)]
        return cls(tribal=tribal, agents=(tribal.curator, *more, *wrote, tribal.agent("reader", Role.READER)))

    def curator(self, chance: random.Random) -> Principal:
        return chance.choice([one for one in self.agents if one.role is Role.CURATOR])

    def keep(self, call: Call) -> None:
        if call.operation != "settle" or call.broke is not None:
            self.calls.append(call)
        replies = call.reply if isinstance(call.reply, list) else [call.reply]
        for reply in replies:
            lesson = getattr(reply, "lesson", None)
            if isinstance(lesson, Lesson):
                self.lessons.append(lesson)
            if isinstance(reply, Learned):
                self.decisions.append(reply)


class Workload:
    """Asks random things of the memories until `operations` were asked for. The same seed gives the same requests to a thread
    that comes upon the same state; how threads interleave is the machine's.
    """

    def __init__(self, scenes: tuple[Scene, ...], world: World, *, operations: int, threads: int, seed: int) -> None:
        self._scenes = scenes
        self._world = world
        self._operations = operations
        self._threads = threads
        self._seed = seed
        self._numbers = itertools.count()
        self._finished = threading.Event()

    def run(self) -> None:
        """Runs all threads, with one that settles beside them; returns when nothing is left to settle."""
        with ThreadPoolExecutor(self._threads + 1) as pool:
            settling = pool.submit(self._settle)
            try:
                for asking in [pool.submit(self._ask, thread) for thread in range(self._threads)]:
                    asking.result()
            finally:
                self._finished.set()
            settling.result()

    def _ask(self, thread: int) -> None:
        chance = random.Random(f"{self._seed}/{thread}")
        with clocks(self._scenes[0].tribal.url) as clock:
            while next(self._numbers) < self._operations:
                scene = chance.choices(self._scenes, weights=[3, *[1] * (len(self._scenes) - 1)])[0]
                request = self._next(scene, chance)
                if request is None:
                    continue
                scene.requests.append(request)
                scene.keep(recorded(scene.tribal.memory, request, partial(clock, scene.tribal.tribe_id)))

    def _settle(self) -> None:
        """Works beside the threads, and once more when they are done."""
        with clocks(self._scenes[0].tribal.url) as clock:
            while True:
                last = self._finished.is_set()
                for scene in self._scenes:
                    request = Request(agent=scene.tribal.curator, operation="settle")
                    scene.keep(recorded(scene.tribal.memory, request, partial(clock, scene.tribal.tribe_id)))
                if last:
                    return
                time.sleep(0.02)

    def _next(self, scene: Scene, chance: random.Random) -> Request | None:
        operation = chance.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
        make: Callable[[Scene, random.Random], Request | None] = getattr(self, f"_{operation}")
        request = make(scene, chance)
        if request is None or request.operation not in _KEYED or request.key is not None or chance.random() < 0.5:
            return request
        return replace(request, given={**request.given, "idempotency_key": f"key-{chance.getrandbits(64):x}"})

    # -- what may be asked

    def _learn(self, scene: Scene, chance: random.Random) -> Request:
        """Sometimes in the place of another lesson, mostly by its author."""
        draft, agent = self._world.draft(chance), chance.choice(scene.agents)
        known = _recent(scene.lessons, chance) if chance.random() < 0.15 else None
        if known is not None:
            draft = replace(draft, replaces=(known.lesson_id,))
            agent = chance.choice([agent, *(one for one in scene.agents if one.agent_id == known.agent_id)])
        given: dict[str, Any] = {"draft": draft}
        hurry = chance.random()
        if hurry < 0.04:
            given["wait"] = False
        elif hurry < 0.1:
            given["deadline_s"] = SOON_S
        return Request(agent=agent, operation="learn", given=given)

    def _learn_all(self, scene: Scene, chance: random.Random) -> Request:
        drafts = [self._world.draft(chance) for _ in range(chance.randint(2, 4))]
        return Request(agent=chance.choice(scene.agents), operation="learn_all", given={"drafts": drafts})

    def _contest(self, scene: Scene, chance: random.Random) -> Request | None:
        """Sometimes what another agent contested before, in the same words."""
        before = [one for one in scene.requests[-300:] if one.operation == "contest"]
        if before and chance.random() < 0.3:
            given = {name: value for name, value in chance.choice(before).given.items() if name != "idempotency_key"}
            return Request(agent=chance.choice(scene.agents), operation="contest", given=given)
        known = _recent(scene.lessons, chance)
        if known is None:
            return None
        claim = self._world.counter_claim(chance, known.text)
        return Request(
            agent=chance.choice(scene.agents), operation="contest", given={"lesson_id": known.lesson_id, "claim": claim}
        )

    def _reinforce(self, scene: Scene, chance: random.Random) -> Request | None:
        return _about(scene, chance, chance.choice(scene.agents), "reinforce")

    def _retire(self, scene: Scene, chance: random.Random) -> Request | None:
        """A curator or an author, more often than somebody who may not."""
        known = _recent(scene.lessons, chance)
        if known is None:
            return None
        authors = [one for one in scene.agents if one.agent_id == known.agent_id]
        agent = chance.choice((scene.curator(chance), *authors, chance.choice(scene.agents)))
        given = {"lesson_id": known.lesson_id, "cause": chance.choice(tuple(RetireCause))}
        return Request(agent=agent, operation="retire", given=given)

    def _release(self, scene: Scene, chance: random.Random) -> Request | None:
        held = [one for one in scene.lessons[-200:] if one.status is Status.QUARANTINED]
        if not held:
            return None
        given: dict[str, Any] = {"lesson_id": chance.choice(held).lesson_id}
        if chance.random() < 0.2:
            given["deadline_s"] = SOON_S
        return Request(agent=scene.curator(chance), operation="release", given=given)

    def _erase(self, scene: Scene, chance: random.Random) -> Request | None:
        return _about(scene, chance, scene.curator(chance), "erase")

    def _resolve(self, scene: Scene, chance: random.Random) -> Request | None:
        curator = scene.curator(chance)
        page = scene.tribal.memory.desk.disputes(curator, kind=chance.choice((*DisputeKind, None)), limit=50)
        if not page.items:
            return None
        dispute = chance.choice(page.items)
        ending = chance.choice((Ending.ACCEPTED, Ending.ACCEPTED, Ending.REJECTED, Ending.BOTH_STAND))
        given = {
            "dispute_id": dispute.dispute_id,
            "ending": ending,
            "rationale": _quoting(dispute.contender) if ending is Ending.REJECTED or chance.random() < 0.5 else None,
            "seen_tick": page.receipt.searched[0].tick if chance.random() < 0.5 else None,
        }
        return Request(agent=curator, operation="resolve", given=given)

    def _report(self, scene: Scene, chance: random.Random) -> Request | None:
        decision = _recent(scene.decisions, chance)
        if decision is None or decision.lesson is None:
            return None
        held = decision.lesson.status is Status.QUARANTINED
        mistake = Mistake.HARMLESS if held else Mistake.HARMFUL
        given = {"decision_id": decision.decision_id, "mistake": mistake, "note": None if held else _quoting(decision.lesson)}
        return Request(agent=chance.choice(scene.agents), operation="report", given=given)

    def _set_policy(self, scene: Scene, chance: random.Random) -> Request:
        curator = scene.curator(chance)
        version = scene.tribal.memory.curate.policy(curator).version
        policy = replace(chance.choice(POLICIES), version=version)
        return Request(agent=curator, operation="set_policy", given={"policy": policy})

    def _recall(self, scene: Scene, chance: random.Random) -> Request:
        return Request(agent=chance.choice(scene.agents), operation="recall", given={"question": self._question(chance)})

    def _recall_as_of(self, scene: Scene, chance: random.Random) -> Request:
        question = replace(self._question(chance), as_of=_past(scene, chance))
        return Request(agent=chance.choice(scene.agents), operation="recall", given={"question": question})

    def _listing(self, scene: Scene, chance: random.Random) -> Request:
        whole = chance.random() < 0.5
        agent = scene.curator(chance) if whole else chance.choice(scene.agents)
        given = {"status": None if whole else Status.ACTIVE, "as_of": _past(scene, chance)}
        return Request(agent=agent, operation="listing", given=given)

    def _again(self, scene: Scene, chance: random.Random) -> Request | None:
        """A request that was made before, or is being made, with the same key; sometimes with the key alone."""
        keyed = [one for one in scene.requests[-300:] if one.key is not None]
        if not keyed:
            return None
        known = chance.choice(keyed)
        if known.operation == "learn" and chance.random() < 0.2:
            return replace(known, given={**known.given, "draft": self._world.draft(chance)})
        return known

    def _stray(self, scene: Scene, chance: random.Random) -> Request | None:
        """An agent of another tribe that has learned of a lesson's id."""
        strangers = [agent for other in self._scenes if other is not scene for agent in other.agents]
        if not strangers:
            return None
        return _about(scene, chance, chance.choice(strangers), chance.choice(("reinforce", "retire")))

    def _question(self, chance: random.Random) -> Question:
        claim = self._world.claim(chance)
        if (
            chance.random() < 0.7
        ):  # all that is believed about a subject: none is under the floor where the query is its very name
            named, asked = chance.choice(spellings(claim.matter)), chance.choice(spellings(claim.matter))
            return Question(query=asked, subject=named, limit=100, include_stale=True)
        return Question(query=str(claim), limit=chance.randint(1, 10))


_KEYED = frozenset({"learn", "learn_all", "contest", "reinforce", "retire", "release", "erase", "resolve", "report"})


def _about(scene: Scene, chance: random.Random, agent: Principal, operation: str, **given: Any) -> Request | None:
    known = _recent(scene.lessons, chance)
    if known is None:
        return None
    if operation == "retire":
        given.setdefault("cause", RetireCause.OUTDATED)
    return Request(agent=agent, operation=operation, given={"lesson_id": known.lesson_id, **given})


def _recent(found: list[Any], chance: random.Random) -> Any:
    return chance.choice(found[-80:]) if found else None


def _past(scene: Scene, chance: random.Random) -> int:
    newest = max((call.after for call in scene.calls[-20:]), default=0)
    return chance.randint(max(0, newest - 200), newest)


def _quoting(lesson: Lesson) -> str:
    """Returns words that repeat a lesson's text, so that erasing it must find them; not what the screen would hold back."""
    return "it was looked at" if HELD_BACK in lesson.text else f"it was looked at: {lesson.text}"


@contextmanager
def clocks(url: str) -> Iterator[Callable[[UUID], int]]:
    """Gives what reads a tribe's clock behind the product's back."""
    with psycopg.connect(url, autocommit=True) as connection:

        def clock(tribe_id: UUID) -> int:
            row = connection.execute("SELECT clock FROM tributary.tribe WHERE tribe_id = %s", (tribe_id,)).fetchone()
            assert row is not None
            return int(row[0])

        yield clock


def drafts_of(call: Call) -> Iterator[tuple[Draft, Attempt]]:
    """Gives what a learn or a batch said, each with what came of it."""
    given = call.request.given
    if call.operation == "learn" and isinstance(call.reply, Learned):
        yield given["draft"], call.reply
    elif call.operation == "learn_all" and isinstance(call.reply, list):
        yield from zip(given["drafts"], call.reply, strict=True)
