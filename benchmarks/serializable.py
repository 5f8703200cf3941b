"""Learn under the gate beside the first generation's way: one SERIALIZABLE transaction with an ANN read inside.

Both learn the same lessons in tribes with the same rows and an HNSW index, on the same server, from threads of one process, in
turn. The judge answers at once that nothing is related, and nothing is screened, so that what is compared is the database's
part; once more with a judge that takes its time, as a model over a wire does. The first generation's way keeps less: no terms,
no decision, no event, no key.

Then what each lets through: some writers learn opposite facts at the same instant, judged by the local judge, and the pairs
are counted that are both believed afterwards.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

import numpy as np
import psycopg

from benchmarks.corpus import SUBJECTS, Corpus, Material
from benchmarks.crowd import Slice, slice_of
from benchmarks.figures import Chart, Curve, Figure, Measured, Samples, Target
from benchmarks.first_generation import (
    PREDICATE_LOCKS,
    READ_COMMITTED,
    SERIALIZABLE,
    FirstGeneration,
    fill,
    first_generation,
    halves,
    make_tables,
)
from benchmarks.ground import CONNECTIONS, Ground, Tribe
from benchmarks.newcomers import FAMILIES, Work, draft_of, stock_of, work_of
from benchmarks.progress import Progress
from benchmarks.stage import Stage
from tributary.core.agent import Principal, Role
from tributary.core.decision import ScreenFinding, Verdict, VerdictKind
from tributary.core.ports import Judge, JudgedText
from tributary.learn.admit import embedded_text
from tributary.models.embedders import MiniLmEmbedder
from tributary.models.judges import LocalJudge

WRITERS = (1, 4, 16, 64)
TRIBES = 32
OVER_TRIBES = (16, 64)
"""Writers over as many unrelated tribes."""
LESSONS = 20_000
SLICE_S = 2.0
ROUNDS = 2
SLOW_S = 0.05
"""What a quick model over a wire takes to judge; many take ten times as long."""
SLOWLY = f"a judge of {SLOW_S * 1000:.0f} ms"
CONTRADICTING = 8
"""Curators who learn opposite facts at the same instant."""
TRIALS = 10
GIVEN_UP_AFTER = 3
"""Tries after which the first generation wrote a lesson without a look."""
GATE, SSI = "the gate", "SERIALIZABLE with an ANN read"
SETTINGS = {**PREDICATE_LOCKS, **CONNECTIONS}


class Unrelating:
    """Judges that nothing is related, after `takes_s`."""

    version = "bench/unrelated"

    def __init__(self, takes_s: float = 0.0) -> None:
        self._takes_s = takes_s

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        time.sleep(self._takes_s)
        return [
            Verdict(lesson_id=one.lesson_id, kind=VerdictKind.UNRELATED, confidence=1.0, judge=self.version, reason="")
            for one in candidates
        ]


class Slowed:
    """Judges as another judge does, but takes `takes_s` longer."""

    def __init__(self, judge: Judge, takes_s: float) -> None:
        self._judge, self._takes_s = judge, takes_s

    @property
    def version(self) -> str:
        return self._judge.version

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        time.sleep(self._takes_s)
        return self._judge.judge(new, candidates, timeout_s=timeout_s)


class Unscreening:
    """Lets everything pass."""

    version = "bench/none"

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        return ScreenFinding(screen=self.version)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """So many writers, each with an agent of its own, over tribes that have nothing to do with one another."""

    name: str
    writers: int
    tribes: Sequence[Tribe]
    judge_s: float = 0.0


@dataclass(kw_only=True)
class Counted:
    """The slices of one way in one setting, and how often it had to begin anew: refused by the database, or planned again."""

    slices: list[Slice] = field(default_factory=list)
    again: int = 0

    @property
    def rate(self) -> float:
        """The best slice's: what else the machine does only ever slows one down."""
        return max(one.rate for one in self.slices)

    @property
    def ms(self) -> Samples:
        return Samples(values=[value for one in self.slices for value in one.ms.values])

    @property
    def again_each(self) -> float:
        return self.again / len(self.ms.values)


class Way(Protocol):
    def slice(self, setting: Setting, counted: Counted, seconds: float) -> None:
        """Adds one slice to what was counted."""
        ...


class Gate:
    """Learns as the product does."""

    def __init__(self, ground: Ground, material: Material) -> None:
        self._ground, self._material = ground, material
        self._agents: dict[tuple[UUID, int], Principal] = {}

    def slice(self, setting: Setting, counted: Counted, seconds: float) -> None:
        work = [self._work(setting, number, seconds) for number in range(setting.writers)]
        before = self._replans(setting)
        judge, stock = Unrelating(setting.judge_s), stock_of([one.corpus for one in work])
        with self._ground.memory(stock, connections=setting.writers, judge=judge, screen=Unscreening()) as memory:
            counted.slices.append(slice_of([one.learning(memory) for one in work], seconds))
        counted.again += self._replans(setting) - before

    def _work(self, setting: Setting, number: int, seconds: float) -> Work:
        writers = [self._agent(tribe, number) for tribe in tribes_of(setting, number)]
        return work_of(self._material, writers, number=number, of=setting.writers, seconds=seconds)

    def _agent(self, tribe: Tribe, number: int) -> Principal:
        key = (tribe.tribe_id, number)
        if key not in self._agents:
            self._agents[key] = self._ground.create_writer(tribe, f"writer-{number}")
        return self._agents[key]

    def _replans(self, setting: Setting) -> int:
        return sum(self._ground.replans_of(tribe)[1] for tribe in setting.tribes)


class WithoutGate:
    """Learns as the first generation did, tried until it commits."""

    def __init__(self, ground: Ground, material: Material) -> None:
        self._ground, self._material = ground, material

    def slice(self, setting: Setting, counted: Counted, seconds: float) -> None:
        refused: list[int] = []
        with first_generation(self._ground.url, judge=Unrelating(setting.judge_s)) as way:
            acts = [self._learning(way, setting, number, seconds, refused) for number in range(setting.writers)]
            counted.slices.append(slice_of(acts, seconds))
        counted.again += sum(refused)

    def _learning(
        self, way: FirstGeneration, setting: Setting, number: int, seconds: float, refused: list[int]
    ) -> Callable[[], object]:
        corpus = work_of(self._material, (), number=number, of=setting.writers, seconds=seconds).corpus
        lessons = zip(corpus.texts, halves(corpus.vectors), strict=True)
        tribes = itertools.cycle(tribes_of(setting, number))
        return lambda: refused.append(way.learn(next(tribes).tribe_id, *next(lessons)).refused)


def tribes_of(setting: Setting, number: int) -> Sequence[Tribe]:
    """Returns the tribes that a writer writes to by turns; where there are more writers than tribes, some share one."""
    return setting.tribes[number % len(setting.tribes) :: setting.writers]


def measure(stage: Stage) -> Measured:
    material = stage.material
    with stage.ground(SETTINGS) as ground:
        stage.progress.step(f"filling a tribe of {LESSONS:,} for both ways, and {TRIBES} small ones")
        large, spread = _tribes(ground, material)
        locks = _locks(ground, material, large)
        settings = [
            *(Setting(name=_writers(count), writers=count, tribes=[large]) for count in WRITERS),
            *(Setting(name=f"{_writers(n)}, {TRIBES} tribes", writers=n, tribes=spread) for n in OVER_TRIBES),
            *(Setting(name=f"{_writers(n)}, {SLOWLY}", writers=n, tribes=[large], judge_s=SLOW_S) for n in WRITERS),
        ]
        counted = count(Gate(ground, material), WithoutGate(ground, material), settings, stage.progress)
        stage.progress.step("learning opposite facts at the same instant")
        figures = [one for setting in settings for one in _figures(setting, *counted[setting.name], locks)]
        figures += contradictions(ground, large)
    at_once = [(setting.writers, *counted[setting.name]) for setting in settings[: len(WRITERS)]]
    slowly = [(setting.writers, *counted[setting.name]) for setting in settings[-len(WRITERS) :]]
    curves = (*_curves("a judge that answers at once", at_once), *_curves(SLOWLY, slowly))
    return Measured(figures=tuple(figures), curves=curves)


def _writers(count: int) -> str:
    return "1 writer" if count == 1 else f"{count} writers"


def count(
    gate: Way, without: Way, settings: Sequence[Setting], progress: Progress, *, rounds: int = ROUNDS, seconds: float = SLICE_S
) -> dict[str, tuple[Counted, Counted]]:
    """Runs both ways in each setting, in turn."""
    found = {setting.name: (Counted(), Counted()) for setting in settings}
    for round_ in range(rounds):
        progress.step(f"learning under the gate and in SERIALIZABLE transactions, {round_ + 1} of {rounds}")
        for setting in settings:
            ways = list(zip((gate, without), found[setting.name], strict=True))
            for way, counted in ways[:: 1 if round_ % 2 else -1]:
                way.slice(setting, counted, seconds)
    return found


def _tribes(ground: Ground, material: Material) -> tuple[Tribe, list[Tribe]]:
    """Makes one large tribe and small ones, filled alike for both ways, each with its index where it needs one."""
    known = material.families(FAMILIES)
    crowd = material.corpus(LESSONS - len(known.texts))
    many = Corpus(texts=[*known.texts, *crowd.texts], vectors=np.concatenate([known.vectors, crowd.vectors]))
    large, spread = ground.create_tribe("large"), [ground.create_tribe(f"unrelated-{n}") for n in range(TRIBES)]
    ground.fill(large, many, range(LESSONS))
    for tribe in spread:
        ground.fill(tribe, known, range(len(known.texts)))
    ground.settle_statistics()
    ground.build_index(large)
    make_tables(ground.superuser)
    fill(ground.superuser, [large.tribe_id], many)
    fill(ground.superuser, [tribe.tribe_id for tribe in spread], known)
    return large, spread


def _locks(ground: Ground, material: Material, tribe: Tribe) -> str:
    """Says what a SERIALIZABLE learn locks, as PostgreSQL tells it, having seen that the index answers its read."""
    corpus = material.newcomers(1, families=range(1), seed=1)
    vector = halves(corpus.vectors)[0]
    with first_generation(ground.url, judge=Unrelating()) as way:
        way.require_index(tribe.tribe_id, vector)
        return ", ".join(
            f"{one.count} {one.kind} of {one.relation}" for one in way.locks(tribe.tribe_id, corpus.texts[0], vector)
        )


def _figures(setting: Setting, gate: Counted, without: Counted, locks: str) -> Iterator[Figure]:
    yield Figure(
        name=f"gate or SERIALIZABLE: {setting.name}",
        value=gate.rate,
        unit="a second",
        reference=without.rate,
        beside=SSI,
        note=f"begun anew, a lesson: {gate.again_each:.2f} under the gate, {without.again_each:.2f} without",
        details={"slices": [one.rate for one in gate.slices], "without": [one.rate for one in without.slices], "locks": locks},
    )
    yield Figure(
        name=f"gate or SERIALIZABLE: {setting.name}, 95 of 100 learns under",
        value=gate.ms.p95,
        unit="ms",
        reference=without.ms.p95,
        beside=SSI,
        note=f"the usual one: {gate.ms.median:.1f} under the gate, {without.ms.median:.1f} without",
        details={"gate": gate.ms.document(), "without": without.ms.document()},
    )


def _curves(judge: str, counted: Sequence[tuple[int, Counted, Counted]]) -> Iterator[Curve]:
    across = "writers in one tribe"
    rates = Chart(title=f"With a gate and without, {judge}", across=across, up="lessons a second")
    spans = Chart(title=f"The slowest 5 of 100 learns, {judge}", across=across, up="milliseconds")
    gates, others = [(one, gate) for one, gate, _ in counted], [(one, without) for one, _, without in counted]
    for name, ways, dashed in ((GATE, gates, False), (SSI, others, True)):
        yield Curve(chart=rates, name=name, points=[(writers, way.rate) for writers, way in ways], dashed=dashed)
        yield Curve(chart=spans, name=name, points=[(writers, way.ms.p95) for writers, way in ways], dashed=dashed)


Learn = Callable[[int, str], object]
"""Has a curator of that number learn that text."""
Believed = Callable[[Sequence[str]], int]
"""Counts how many of those texts are believed."""
_Opened = AbstractContextManager[tuple[Learn, Believed]]


def contradictions(ground: Ground, tribe: Tribe, *, trials: int = TRIALS) -> list[Figure]:
    """Has curators learn opposite facts at the same instant, in each way, and counts the pairs that stay believed."""
    facts = [_opposite(trial) for trial in range(trials)]
    judge = Slowed(LocalJudge(), SLOW_S)
    ways = {
        GATE: _gate(ground, tribe, facts, judge),
        "SERIALIZABLE, tried until it commits": _first(ground, tribe, facts, judge),
        f"SERIALIZABLE, forced in after {GIVEN_UP_AFTER} tries": _first(ground, tribe, facts, judge, attempts=GIVEN_UP_AFTER),
        "READ COMMITTED": _first(ground, tribe, facts, judge, isolation=READ_COMMITTED),
    }
    return [_left(name, opened, facts) for name, opened in ways.items()]


def _opposite(trial: int) -> list[str]:
    return [f"The {SUBJECTS[trial % len(SUBJECTS)]} API listens on port {5000 + number}." for number in range(CONTRADICTING)]


@contextmanager
def _gate(ground: Ground, tribe: Tribe, facts: Sequence[Sequence[str]], judge: Judge) -> Iterator[tuple[Learn, Believed]]:
    curators = [ground.create_writer(tribe, f"curator-{number}", Role.CURATOR) for number in range(CONTRADICTING)]
    with ground.memory(stock_of([_embedded(facts)]), connections=CONTRADICTING, judge=judge, screen=Unscreening()) as memory:
        yield (
            lambda number, text: memory.learn(curators[number], draft_of(text)),
            lambda texts: _counted(ground.superuser, "tributary.lesson", tribe, texts),
        )


@contextmanager
def _first(
    ground: Ground,
    tribe: Tribe,
    facts: Sequence[Sequence[str]],
    judge: Judge,
    *,
    attempts: int | None = None,
    isolation: str = SERIALIZABLE,
) -> Iterator[tuple[Learn, Believed]]:
    """Begins without what another of its ways has left."""
    corpus = _embedded(facts)
    vectors = dict(zip(corpus.texts, halves(corpus.vectors), strict=True))
    ground.superuser.execute("DELETE FROM first.lesson WHERE text = ANY (%s)", (corpus.texts,))
    with first_generation(ground.url, judge=judge, attempts=attempts, isolation=isolation) as way:
        yield (
            lambda _, text: way.learn(tribe.tribe_id, text, vectors[text]),
            lambda texts: _counted(ground.superuser, "first.lesson", tribe, texts),
        )


def _embedded(facts: Sequence[Sequence[str]]) -> Corpus:
    texts = [text for trial in facts for text in trial]
    vectors = MiniLmEmbedder().embed([embedded_text(draft_of(text)) for text in texts])
    return Corpus(texts=texts, vectors=np.asarray(vectors, dtype=np.float32))


def _left(name: str, opened: _Opened, facts: Sequence[Sequence[str]]) -> Figure:
    left, trials = 0, 0
    with opened as (learn, believed), ThreadPoolExecutor(CONTRADICTING) as threads:
        for texts in facts:
            together = threading.Barrier(len(texts))

            def at_once(number: int, text: str, together: threading.Barrier = together) -> None:
                together.wait(60)
                learn(number, text)

            list(threads.map(at_once, range(len(texts)), texts))
            stand = believed(texts)
            if stand < 1:
                raise RuntimeError(f"{name}: none of {len(texts)} opposite facts is believed")
            left += stand * (stand - 1) // 2
            trials += stand > 1
    return Figure(
        name=f"contradictions left believed: {name}",
        value=left,
        unit="pairs",
        target=Target(bound=0) if name == GATE else None,
        note=f"in {trials} of {len(facts)} trials of {CONTRADICTING} curators with opposite facts; {SLOWLY}",
    )


def _counted(superuser: psycopg.Connection, table: str, tribe: Tribe, texts: Sequence[str]) -> int:
    query = f"SELECT count(*) FROM {table} WHERE tribe_id = %s AND believed AND text = ANY (%s)"
    row = superuser.execute(query.encode(), (tribe.tribe_id, list(texts))).fetchone()
    return int(row[0]) if row else 0
