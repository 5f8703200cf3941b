"""A tribe changes its embedding model while agents learn and recall all along."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.spaces import Projected, Steered, another_process, build, create, drop, switch, texts, vectors
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.lesson import Draft
from tributary.core.receipt import Coverage, Receipt
from tributary.core.requests import Question
from tributary.models.embedders import HashedEmbedder, MiniLmEmbedder
from tributary.service import Memory

WRITERS, READERS = 3, 3


@dataclass
class Traffic:
    """What agents learned and were told while the space was changed."""

    learned: list[str] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """What was learned before it was asked for, and did not come first."""

    def at_least(self, count: int) -> None:
        """Waits until so many more lessons were learned and questions answered."""
        learned, answered = len(self.learned) + count, len(self.receipts) + count
        while len(self.learned) < learned or len(self.receipts) < answered:
            threading.Event().wait(0.005)


@contextmanager
def going_on(tribal: Tribal) -> Iterator[Traffic]:
    """Lets writers learn and readers recall in two processes until the block ends; raises what any of them raised."""
    traffic = Traffic()
    stop = threading.Event()
    numbers = itertools.count()
    agents = [tribal.agent(f"agent{number}") for number in range(WRITERS)]
    reader = tribal.agent("reader", Role.READER)

    def writer(memory: Memory, number: int) -> None:
        while not stop.is_set():
            text = f"the widget{(n := next(numbers))} of the gadget{n} needs a sprocket{n}"
            outcome = memory.learn(agents[number], Draft(text=text, situation="operating the service", source=SEEN)).outcome
            assert outcome.value == "learned"
            traffic.learned.append(text)

    def reading(memory: Memory, number: int) -> None:
        choice = random.Random(number)
        while not stop.is_set():
            if not traffic.learned:
                continue
            text = choice.choice(traffic.learned)
            recalled = memory.recall(reader, Question(query=text))
            traffic.receipts.append(recalled.receipt)
            if texts(recalled)[:1] != [text]:
                traffic.missed.append(text)

    with another_process(tribal) as other, ThreadPoolExecutor(WRITERS + READERS) as pool:
        memories = itertools.cycle([tribal.memory, other])
        work: list[tuple[Callable[[Memory, int], None], int]] = [(writer, n) for n in range(WRITERS)]
        work += [(reading, n) for n in range(READERS)]
        running: list[Future[None]] = [pool.submit(task, next(memories), number) for task, number in work]
        with ExitStack() as ending:
            ending.callback(stop.set)
            yield traffic
        for one in running:
            one.result()


def as_of_each(tribal: Tribal, ticks: dict[str, int], space: str) -> None:
    for text, tick in ticks.items():
        then = tribal.recall(text, as_of=tick)
        assert (texts(then)[0], then.receipt.space, then.receipt.coverage) == (text, space, Coverage.COMPLETE)
        if tick > 1:
            assert text not in texts(tribal.recall(text, as_of=tick - 1))


@pytest.mark.parametrize("threshold", ["exact", "its own index"])
def test_nobody_notices_but_by_the_name_of_the_space(database_url: str, threshold: str) -> None:
    old, new = HashedEmbedder(), Projected()
    limit = 10_000 if threshold == "exact" else 20
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, embedder=old, next_embedder=new, judge=judge, exact_limit=limit) as tribal:
        with going_on(tribal) as traffic:
            traffic.at_least(40)
            create(tribal)
            traffic.at_least(20)
            made, left = build(tribal)
            assert (made > 0, left) == (True, 0)
            traffic.at_least(20)
            tick = switch(tribal)
            traffic.at_least(30)
            drop(tribal, old.space.name)
            traffic.at_least(30)
        assert traffic.missed == []
        for receipt in traffic.receipts:
            served = old.space.name if receipt.searched[0].tick < tick else new.space.name
            assert receipt.space == served, receipt.searched
            allowed = {Coverage.COMPLETE} if threshold == "exact" else {Coverage.COMPLETE, Coverage.APPROXIMATE}
            assert receipt.coverage in allowed, receipt.causes
        assert {one.space for one in traffic.receipts} == {old.space.name, new.space.name}
        assert vectors(tribal) == {new.space.name: len(traffic.learned)}
        assert build(tribal, new.space.name) == (0, 0)
        lessons = tribal.rows("SELECT text, learned_tick FROM tributary.lesson ORDER BY learned_tick")
        as_of_each(tribal, {str(row["text"]): int(str(row["learned_tick"])) for row in lessons[::10]}, new.space.name)
        every = tribal.rows("SELECT tick FROM tributary.lesson_event UNION ALL SELECT tick FROM tributary.tribe_event ORDER BY 1")
        assert [row["tick"] for row in every] == list(range(1, len(traffic.learned) + 2)), "the switch is one tick as others are"


def test_switching_back_and_forth_under_traffic_loses_nothing(database_url: str) -> None:
    old, new = HashedEmbedder(), Projected()
    with open_tribal(database_url, embedder=old, next_embedder=new, judge=RuledJudge(all_unrelated)) as tribal:
        switches = [(0, old.space.name)]
        with going_on(tribal) as traffic:
            traffic.at_least(10)
            create(tribal)
            for embedder in (new, old, new):
                build(tribal, embedder.space.name)
                traffic.at_least(10)
                build(tribal)
                switches.append((switch(tribal), embedder.space.name))
                traffic.at_least(10)
        assert traffic.missed == []
        for receipt in traffic.receipts:
            served = [space for since, space in switches if since <= receipt.searched[0].tick][-1]
            assert (receipt.space, receipt.coverage) == (served, Coverage.COMPLETE)


def test_a_build_whose_connection_is_lost_at_every_batch_goes_on(database_url: str) -> None:
    following = Steered(Projected())
    with open_tribal(database_url, next_embedder=following, judge=RuledJudge(all_unrelated)) as tribal:
        killed = 0

        def kill(given: Sequence[str]) -> None:
            nonlocal killed
            if len(given) > 1:
                killed += len(
                    tribal.rows(
                        """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                           WHERE datname = current_database() AND query LIKE '%%space_unembedded%%'
                             AND query NOT LIKE '%%terminate%%'"""
                    )
                )

        with going_on(tribal) as traffic:
            traffic.at_least(80)
            create(tribal)
            following.before = kill
            assert build(tribal)[1] == 0
            switch(tribal)
            traffic.at_least(10)
        assert killed > 1
        assert traffic.missed == []
        assert {one.coverage for one in traffic.receipts} == {Coverage.COMPLETE}


def test_from_minilm_of_384_dimensions_to_a_space_of_1024(database_url: str) -> None:
    """Similarities stay what they were, since the wider space is a projection that keeps them; so do the hits."""
    minilm = MiniLmEmbedder()
    wide = Projected(minilm, dimension=1024)
    known = [
        "The deploy API answers 429 until the header X-Batch: true is set",
        "Backups of the orders database run at two in the morning",
        "The payment workers must be drained before they are restarted",
        "The certificate of the load balancer expires every ninety days",
        "ORA-00942 in the reporting job means that its schema was renamed",
        "us-east-1 has no capacity for the large cache nodes on Mondays",
    ]
    questions = [
        "how do I deploy?",
        "when is the database saved?",
        "safe restart of payments",
        "TLS certificate ran out",
        "ORA-00942",
    ]
    with open_tribal(database_url, embedder=minilm, next_embedder=wide, judge=RuledJudge(all_unrelated)) as tribal:
        for text in known[:4]:
            tribal.learn(tribal.curator, text)
        create(tribal)
        for text in known[4:]:
            tribal.learn(tribal.curator, text)
        before = [tribal.recall(question) for question in questions]
        assert build(tribal) == (4, 0)
        switch(tribal)
        after = [tribal.recall(question) for question in questions]
        assert {one.receipt.space for one in before} == {minilm.space.name}
        assert {one.receipt.space for one in after} == {wide.space.name}
        assert {one.receipt.coverage for one in (*before, *after)} == {Coverage.COMPLETE}
        assert sum(bool(one.hits) for one in before) >= 4
        for one, other in zip(before, after, strict=True):
            assert texts(one) == texts(other)
            similar = [[float(hit.similarity or 0) for hit in each.receipt.hits] for each in (one, other)]
            assert np.allclose(similar[0], similar[1], atol=2e-3)
