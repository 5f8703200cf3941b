"""A crowd of writers and readers over one memory, under which faults happen, and what it has to complain of afterwards.

    with gathered(url) as crowd:
        with crowd.busy():
            crowd.goes_on()      # so that what follows happens under load
            ...                  # a fault, and its end
            crowd.goes_on()      # the same memory works again, without a restart
        crowd.settle()
        assert crowd.complaints() == []

Writers learn, contradict and repeat each other, confirm, retire, and carry out actions, each write under a key of its own.
Readers hold every answer to what was acknowledged before they asked. An outage may be an error, or coverage that is not
complete, and never an answer that is not true.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import psycopg

from tests.chaos.crowd_ledger import Astray, Ledger, Standing, Write
from tests.chaos.scene import DEADLINE_S
from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tributary.core.action import Begun
from tributary.core.agent import Principal, Role
from tributary.core.curation import RetireCause
from tributary.core.decision import Learned
from tributary.core.errors import Overloaded, TributaryError, Unavailable
from tributary.core.lesson import Draft, How, Source
from tributary.core.receipt import Coverage
from tributary.core.requests import Question, Recalled
from tributary.core.verification import Verdict
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.service.wiring import Adapters

ANCHORS = 4
"""Lessons that each tribe believes from the start, and that nobody in the crowd speaks about."""
SUBJECTS = 3
RECEIPTS = 40
PAUSE_S = 0.02
"""What whoever was not answered waits before it goes on, as a client would."""


@dataclass(frozen=True, kw_only=True)
class Tribe:
    """One tribe of the crowd."""

    tribe_id: UUID
    curators: Sequence[Principal]
    writers: Sequence[Principal]
    reader: Principal
    anchors: Sequence[UUID]

    @staticmethod
    def anchor_text(number: int) -> str:
        return f"anchor{number}word holds the quay of harbour{number}word"


@dataclass
class Tally:
    """How much was answered so far. Thread-safe."""

    writes: int = 0
    reads: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, *, writes: int = 0, reads: int = 0) -> None:
        with self._lock:
            self.writes += writes
            self.reads += reads


class Crowd:
    """`url` is a superuser's, to look behind the product's back; what the crowd uses is `memory` alone."""

    def __init__(self, *, url: str, memory: Memory, tribes: Sequence[Tribe], writers: int, readers: int, seed: int) -> None:
        self.url = url
        self.memory = memory
        self.tribes = tribes
        self.ledger = Ledger()
        self.tally = Tally()
        self.receipts: list[tuple[Principal, dict[str, object], str]] = []
        """Receipts that were handed out, with the question of each: what they say must stay true."""
        self._seed = seed
        self._workers: list[Callable[[random.Random, int, int], None]] = [
            *(partial(self._write, number) for number in range(writers)),
            *(partial(self._read, number) for number in range(readers)),
            *(partial(self._follow, tribe) for tribe in tribes),
        ]
        self._seen = {(tribe.tribe_id, number): 0 for tribe in tribes for number in range(readers)}
        self.fed: dict[UUID, list[tuple[int, str, UUID | None]]] = {tribe.tribe_id: [] for tribe in tribes}
        self._fed_to = {tribe.tribe_id: 0 for tribe in tribes}
        self._astray: list[str] = []
        self._stop = threading.Event()
        self._block = 0

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Keeps the crowd at work until the block ends, and returns when the last of it has been answered."""
        self._block += 1
        self._stop.clear()
        threads = [threading.Thread(target=self._work, args=(number,)) for number in range(len(self._workers))]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(2 * DEADLINE_S)
        assert not any(thread.is_alive() for thread in threads), "some of the crowd still wait for an answer"

    def goes_on(self, *, writes: int = 12, reads: int = 6) -> None:
        """Returns once so many more writes and reads were answered; fails when they never are."""
        until = time.monotonic() + DEADLINE_S
        wanted = self.tally.writes + writes, self.tally.reads + reads
        while self.tally.writes < wanted[0] or self.tally.reads < wanted[1]:
            assert time.monotonic() < until, f"the crowd is not answered any more: {self.tally}, {self._astray}"
            time.sleep(0.005)

    def reads_on(self, *, reads: int = 6) -> None:
        """As `goes_on`, where nothing can be written meanwhile."""
        self.goes_on(writes=0, reads=reads)

    def settle(self) -> None:
        """Sends each write again whose reply never came, under its key, until it is answered."""
        until = time.monotonic() + DEADLINE_S
        while unknown := self.ledger.all(Standing.UNKNOWN):
            assert time.monotonic() < until, f"{len(unknown)} writes are not answered"
            for write in unknown:
                self._noting_what_is_astray(write.ask)

    def complaints(self) -> list[str]:
        """Returns all that was answered and is not so: writes not held as acknowledged, or held twice; what readers were told."""
        with psycopg.connect(self.url) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            found = [*dict.fromkeys(self._astray), *self.ledger.complaints(connection), *self._misfed(connection)]
        return found + [complaint for one in self.receipts for complaint in self._against_receipt(*one)]

    def acknowledged(self) -> int:
        return len(self.ledger.all(Standing.ACKNOWLEDGED))

    # --- at work

    def _work(self, number: int) -> None:
        work, block, turn = self._workers[number], self._block, 0
        drawn = random.Random(f"{self._seed} {block} {number}")
        while not self._stop.is_set():
            turn += 1
            try:
                work(drawn, block, turn)
            except (Unavailable, Overloaded):
                self._stop.wait(PAUSE_S)
            except Astray as astray:
                self._astray.append(str(astray))
            except TributaryError as error:
                self._astray.append(f"a reader was answered '{error.code}' ({error})")
            except Exception as error:  # whatever else escapes is what is looked for
                self._astray.append(f"{type(error).__name__} escaped: {error}")

    def _noting_what_is_astray(self, call: Callable[[], object]) -> None:
        try:
            call()
        except Astray as astray:
            self._astray.append(str(astray))

    def _write(self, number: int, drawn: random.Random, block: int, turn: int) -> None:
        tribe = self.tribes[number % len(self.tribes)]
        name = f"w{self._seed}-{number}-{block}-{turn}"
        agent = drawn.choice([*tribe.writers, *tribe.curators])
        match drawn.choice(("fresh", "fresh", "fresh", "contrary", "contrary", "shared", "retired", "action")):
            case "action":
                self._carry_out(agent, name)
            case "fresh":
                learned = self._learn(agent, name, f"{name} is written here", about=name)
                if learned is not None:
                    self._is_found(agent, learned, f"{name} is written here")
            case "retired":
                learned = self._learn(agent, name, f"{name} is short-lived", about=name)
                if learned is not None and learned.lesson is not None:
                    self._end(agent, drawn.choice(tribe.writers), learned.lesson.lesson_id, name)
            case "contrary":
                subject = f"subject{drawn.randrange(SUBJECTS)}"
                self._learn(agent, name, f"{subject} takes the value {name}", about=subject)
            case _:  # what another may have said in the same words
                word = f"shared{drawn.randrange(40)}word"
                self._learn(agent, name, f"{word} is common knowledge", about=word)

    def _learn(self, agent: Principal, name: str, text: str, *, about: str) -> Learned | None:
        source = Source(how=How.OBSERVED, ref=f"crowd:{name}")
        draft = Draft(text=text, situation=f"working with {about}", source=source, subject=about)
        send = partial(self.memory.learn, agent, draft, idempotency_key=name)
        reply = self._sent(Write(agent=agent, key=name, send=send, ref=draft.source.ref, text=draft.text))
        return reply if isinstance(reply, Learned) else None

    def _carry_out(self, agent: Principal, name: str) -> None:
        """Has an effect once, as the holder of an action does: begun, and completed where that was granted."""
        actions, key = self.memory.actions, f"{name}-begin"
        begin = partial(actions.begin, agent, name, "an effect of the crowd", lease_s=3600, idempotency_key=key)
        begun = self._sent(Write(agent=agent, key=key, send=begin))
        if isinstance(begun, Begun) and begun.lease is not None:
            key = f"{name}-end"
            end = partial(actions.complete, agent, begun.action.action_id, begun.lease, {"done": name}, idempotency_key=key)
            self._sent(Write(agent=agent, key=key, send=end))

    def _end(self, author: Principal, other: Principal, lesson_id: UUID, name: str) -> None:
        """Has somebody confirm a lesson, and its author retire it."""
        confirm = partial(self.memory.reinforce, other, lesson_id, idempotency_key=f"{name}-confirm")
        self._sent(Write(agent=other, key=f"{name}-confirm", send=confirm))
        retire = partial(self.memory.curate.retire, author, lesson_id, RetireCause.OUTDATED, idempotency_key=f"{name}-retire")
        self._sent(Write(agent=author, key=f"{name}-retire", send=retire))

    def _sent(self, write: Write) -> object:
        reply = self.ledger.note(write).ask()
        if write.standing is Standing.ACKNOWLEDGED:
            self.tally.add(writes=1)
        else:
            self._stop.wait(PAUSE_S)
        return reply

    def _is_found(self, agent: Principal, learned: Learned, text: str) -> None:
        """Reads one's own write: what was acknowledged is found at its tick, by whoever asks for at least that."""
        found = self.memory.recall(agent, Question(query=text, at_least=learned.tick, limit=5))
        assert learned.lesson is not None
        self.holds(found, learned.lesson.lesson_id, at_least=learned.tick)
        self.tally.add(reads=1)

    def _read(self, number: int, drawn: random.Random, _block: int, _turn: int) -> None:
        tribe = drawn.choice(self.tribes)
        anchor = drawn.randrange(ANCHORS)
        query = tribe.anchor_text(anchor)
        seen = self._seen[tribe.tribe_id, number]
        at_least = seen if drawn.random() < 0.5 else None
        found = self.memory.recall(tribe.reader, Question(query=query, at_least=at_least, limit=3))
        self.holds(found, tribe.anchors[anchor], at_least=seen)
        self._seen[tribe.tribe_id, number] = found.receipt.searched[0].tick
        if len(self.receipts) < RECEIPTS and drawn.random() < 0.2:
            self.receipts.append((tribe.reader, {**found.receipt.document(), "signature": found.receipt.signature}, query))
        self.tally.add(reads=1)

    def holds(self, found: Recalled, lesson_id: UUID, *, at_least: int) -> None:
        """Raises Astray when a recall that calls itself complete lacks what it must have, or is older than what was seen."""
        if found.receipt.coverage is not Coverage.COMPLETE:
            return
        tick = found.receipt.searched[0].tick
        if tick < at_least:
            raise Astray(f"ticks went back: {at_least} was seen, and then {tick}")
        if not any(hit.lesson.lesson_id == lesson_id for hit in found.hits):
            raise Astray(f"at tick {tick} a recall that calls itself complete did not find the lesson {lesson_id}")

    def _follow(self, tribe: Tribe, _drawn: random.Random, _block: int, _turn: int) -> None:
        """Follows the feed of a tribe's changes, of which none may be missing at the end, and none come twice."""
        after = self._fed_to[tribe.tribe_id]
        found = self.memory.history.changes(tribe.reader, after=after, limit=50)
        if found.tick < after or found.clock < after:
            raise Astray(f"the feed went back: {after} was reached, and then {found.tick} of {found.clock}")
        self.fed[tribe.tribe_id] += [(one.occurrence.tick, one.occurrence.event.value, one.lesson_id) for one in found.changes]
        self._fed_to[tribe.tribe_id] = found.tick
        if not found.changes:
            self._stop.wait(PAUSE_S)

    # --- looked at afterwards

    def _misfed(self, connection: psycopg.Connection) -> list[str]:
        """Returns how the feed differed from what happened."""
        found = []
        for tribe_id, fed in self.fed.items():
            happened = connection.execute(
                """SELECT tick, event, lesson_id FROM tributary.lesson_event WHERE tribe_id = %(tribe)s AND tick <= %(to)s
                   UNION ALL
                   SELECT tick, event, NULL FROM tributary.tribe_event WHERE tribe_id = %(tribe)s AND tick <= %(to)s""",
                {"tribe": tribe_id, "to": self._fed_to[tribe_id]},
            ).fetchall()
            if sorted(map(str, happened)) != sorted(map(str, fed)):
                found.append(f"the feed of tribe {tribe_id} told {len(fed)} events, and {len(happened)} happened")
        return found

    def _against_receipt(self, agent: Principal, receipt: dict[str, object], query: str) -> list[str]:
        verification = self.memory.verify(agent, receipt, query)
        if verification.verdict is Verdict.DIVERGES:
            return [f"the receipt {receipt['id']} diverges: {verification.differences}"]
        return []


@contextmanager
def gathered(
    url: str,
    *,
    behind: str | None = None,
    tribes: int = 2,
    writers: int = 6,
    readers: int = 3,
    seed: int = 1,
    **settings: object,
) -> Iterator[Crowd]:
    """Makes tribes in the migrated database at `url`, and a crowd that is at home in them and uses one memory on it.

    `behind` is a superuser's URL of the same database where `url` is another login's, or leads through something that fails.
    """
    adapters = Adapters(embedder=HashedEmbedder(), judge=RuledJudge(within_a_subject), screen=WordScreen())
    fast = {"writes_per_minute": 1_000_000, "writes_per_day": 1_000_000}
    owner = {} if behind is None else {"owner_url": behind}
    chosen = Settings.model_validate({"TRIBUTARY_DATABASE_URL": url, "connections": 12, **owner, **fast, **settings})
    with open_operator(chosen, adapters=adapters) as operator, open_memory(chosen, adapters=adapters) as memory:
        found = []
        for number in range(tribes):
            name = f"crowd-{seed}-{number}"
            first = memory.authenticate(operator.create_tribe(name).token.secret)

            def agent(who: str, role: Role, name: str = name) -> Principal:
                return memory.authenticate(operator.create_agent(name, who, role).secret)

            anchors = [
                memory.learn(
                    first,
                    Draft(
                        text=Tribe.anchor_text(anchor),
                        situation=f"mooring at harbour{anchor}word",
                        source=Source(how=How.OBSERVED, ref=f"anchor:{anchor}"),
                        subject=f"anchor{anchor}word",
                    ),
                ).lesson
                for anchor in range(ANCHORS)
            ]
            found.append(
                Tribe(
                    tribe_id=first.tribe_id,
                    curators=[first, agent("second-curator", Role.CURATOR)],
                    writers=[agent(f"writer-{who}", Role.WRITER) for who in range(4)],
                    reader=agent("reader", Role.READER),
                    anchors=[one.lesson_id for one in anchors if one is not None],
                )
            )
        yield Crowd(url=behind or url, memory=memory, tribes=found, writers=writers, readers=readers, seed=seed)
