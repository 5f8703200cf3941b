"""What a learn costs without a model: its round trips, the work done under the gate, and how that grows with the tribe."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.corpus import Corpus, Material
from benchmarks.figures import Figure, Measured, Samples, Target
from benchmarks.ground import Ground, Tribe
from benchmarks.listening import Clocked, noted_gate, on_database, round_trips
from benchmarks.newcomers import FAMILIES, draft_of, stock_of
from benchmarks.progress import Progress
from tributary.core.decision import Outcome
from tributary.learn import Learner
from tributary.service import Memory

LESSONS = 160
"""Learned by each tribe, in turn with the others."""
WARM_UP = 20
"""The first of them, in which plans are made and connections opened; not counted."""
GATE_MS = 1.0
SMALL = 1_000


@dataclass(kw_only=True)
class Taken:
    """Milliseconds of the lessons that one tribe learned, one after another."""

    lessons: int
    learn: list[float] = field(default_factory=list)
    reading: list[float] = field(default_factory=list)
    commit: list[float] = field(default_factory=list)
    """As the caller waits for it."""
    work: list[float] = field(default_factory=list)
    """From the opening of the gate to the end of the commit's function, by the server's clock."""

    def of(self, name: str) -> Samples:
        return Samples(values=getattr(self, name))

    def spent(self) -> str:
        """Says where the median went."""
        reading, commit = self.of("reading").median, self.of("commit").median
        rest = self.of("learn").median - reading - commit
        return f"of it candidates {reading:.1f}, judge and rest of Python {rest:.1f}, commit {commit:.1f} with its flush"

    def details(self) -> dict[str, object]:
        return {name: self.of(name).document() for name in ("learn", "reading", "commit", "work")}


def measure(ground: Ground, material: Material, large: Tribe, progress: Progress) -> Measured:
    """`large` has the lessons and the index of a tribe that outgrew exact search."""
    progress.step("timing learns one by one")
    small = ground.create_tribe("thousand")
    ground.fill(small, material.corpus(SMALL, seed=11), range(SMALL))
    unlike = [material.newcomers(LESSONS, families=range(FAMILIES), seed=100 + number) for number in range(2)]
    in_small, in_large = learn_in_turn(ground, list(zip((small, large), unlike, strict=True)))
    figures = (
        Figure(
            name="learn: round trips",
            value=_round_trips(ground, material, small),
            target=Target(bound=3),
            note="with an idempotency key; heard on the wire",
        ),
        *(
            Figure(
                name=f"learn: work under the gate, {taken.lessons:,} lessons",
                value=taken.of("work").median,
                p95=taken.of("work").p95,
                unit="ms",
                target=Target(bound=GATE_MS),
                note=f"server's clock, nobody waiting, before the flush to disk; quickest {taken.of('work').least:.2f}",
                details=taken.details(),
            )
            for taken in (in_small, in_large)
        ),
        Figure(
            name=f"learn: in a tribe of {in_large.lessons:,}",
            value=in_large.of("learn").median,
            p95=in_large.of("learn").p95,
            unit="ms",
            reference=in_small.of("learn").median,
            beside=f"in one of {in_small.lessons:,}",
            target=Target(bound=1.5),
            note=in_large.spent(),
        ),
        Figure(
            name=f"learn: in a tribe of {in_small.lessons:,}",
            value=in_small.of("learn").median,
            p95=in_small.of("learn").p95,
            unit="ms",
            note=in_small.spent(),
        ),
    )
    drawn = {f"under the gate, {taken.lessons:,} lessons": taken.work for taken in (in_small, in_large)}
    return Measured(figures=figures, distributions=drawn)


def learn_in_turn(ground: Ground, tribes: Sequence[tuple[Tribe, Corpus]]) -> list[Taken]:
    """Has the tribes learn unlike lessons by turns, each those of its corpus, as curators do without an idempotency key."""
    taken = [Taken(lessons=ground.vectors_of(tribe)) for tribe, _ in tribes]
    with noted_gate(ground.superuser), ground.memory(stock_of([corpus for _, corpus in tribes]), connections=1) as memory:
        database = Clocked(ground.runtime_target)
        learner = on_database(memory.learner, database)
        for number in range(LESSONS):
            for (tribe, corpus), kept in zip(tribes, taken, strict=True):
                _learn_one(learner, database, tribe, corpus.texts[number], kept if number >= WARM_UP else Taken(lessons=0))
        database.close()
    return taken


def _learn_one(learner: Learner, database: Clocked, tribe: Tribe, text: str, kept: Taken) -> None:
    began = time.perf_counter()
    learned = learner.learn(tribe.curator, draft_of(text))
    kept.learn.append((time.perf_counter() - began) * 1000)
    if learned.outcome is not Outcome.LEARNED:
        raise RuntimeError(f"an unlike lesson was {learned.outcome}: {learned.reason}")
    kept.reading.append(database.reading_ms)
    kept.commit.append(database.commit_ms)
    kept.work.append(database.work_ms)


def _round_trips(ground: Ground, material: Material, tribe: Tribe) -> int:
    lessons = material.newcomers(2, families=range(FAMILIES), seed=99)
    texts = iter(lessons.texts)

    def learn_next(memory: Memory) -> object:
        text = next(texts)
        return memory.learn(tribe.curator, draft_of(text), idempotency_key=text[:40])

    return round_trips(ground, stock_of([lessons]), learn_next)
