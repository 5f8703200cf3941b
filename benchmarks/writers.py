"""How many lessons 1 to 64 writers learn at once: in one tribe, where the gate puts them in a row, over many, beside readers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.corpus import Material
from benchmarks.crowd import Slice, slice_of
from benchmarks.figures import Chart, Curve, Figure, Measured, Samples, Target
from benchmarks.ground import CONNECTIONS, Ground, Tribe
from benchmarks.listening import Waiting, noted_gate, on_database
from benchmarks.newcomers import FAMILIES, Work, stock_of, work_of
from benchmarks.progress import Progress
from benchmarks.readers import READERS, Readers
from benchmarks.recall import Town, overheard
from benchmarks.stage import Stage
from tributary.service import Memory

SLICE_S = 2.0
ROUNDS = 3
MANY = 16
TRIBES = 32
WRITERS = (1, 2, 4, 8, 16, 32, 64)
BESIDE_READERS = (0, 1, 4, 16, 64)
QUESTIONS = 60


@dataclass(frozen=True, kw_only=True)
class Setting:
    """So many writers, each a thread of one process with an agent of its own in each tribe that it writes to."""

    writers: int
    tribes: int = 1

    @property
    def name(self) -> str:
        writers = "1 writer" if self.writers == 1 else f"{self.writers} writers"
        return writers if self.tribes == 1 else f"{writers}, {self.tribes} tribes"


IN_ONE = tuple(Setting(writers=count) for count in WRITERS)
SPREAD = Setting(writers=MANY, tribes=TRIBES)
UNFLUSHED = (Setting(writers=1), Setting(writers=MANY), SPREAD)
"""What is measured without durability, too."""


@dataclass(kw_only=True)
class Counted:
    """The slices of one setting, and what the tribes' decisions say."""

    slices: list[Slice] = field(default_factory=list)
    decisions: int = 0
    replans: int = 0

    @property
    def best(self) -> Slice:
        """What else the machine does only ever slows one down."""
        return max(self.slices, key=lambda one: one.rate)

    @property
    def rates(self) -> list[float]:
        return [one.rate for one in self.slices]


def measure(stage: Stage) -> Measured:
    """Runs each setting in slices, in turn, on tribes made anew for each; then some without durability, some beside readers."""
    material, progress = stage.material, stage.progress
    with stage.ground(CONNECTIONS) as ground:
        durable = _rounds(ground, material, progress, (*IN_ONE, SPREAD), ROUNDS, "flushed to disk")
        ground.fsync(on=False)
        try:
            unflushed = _rounds(ground, material, progress, UNFLUSHED, 1, "fsync off")
        finally:
            ground.fsync(on=True)
        waits = _gate_waits(ground, material, progress)
        beside = _beside_readers(ground, material, progress)
    figures = (*_of_writers(durable, unflushed), *_of_replans(durable), _of_waits(waits), *_of_readers(beside, durable))
    return Measured(figures=figures, curves=tuple(_curves(durable, beside)))


def _of_writers(durable: Mapping[Setting, Counted], unflushed: Mapping[Setting, Counted]) -> Iterator[Figure]:
    alone = durable[Setting(writers=1)]
    for setting, counted in durable.items():
        reference, beside, target = alone, "1 writer", None
        if setting == SPREAD:
            reference, beside, target = durable[Setting(writers=MANY)], f"{MANY} writers in one", Target(bound=1.7, at_least=True)
        elif setting.writers == MANY:
            reference, beside, target = durable[Setting(writers=4)], "4 writers", Target(bound=1.0, at_least=True)
        off = f"; fsync off: {unflushed[setting].best.rate:.0f}" if setting in unflushed else ""
        yield Figure(
            name=f"contention: {setting.name}" + (" in one tribe" if setting.tribes == 1 else ""),
            value=counted.best.rate,
            unit="a second",
            reference=reference.best.rate,
            beside=beside,
            target=target,
            note=f"half of the learns took {counted.best.ms.median:.1f} ms, 95 of 100 under {counted.best.ms.p95:.1f}{off}",
            details={"slices": counted.rates, "of the reference": reference.rates, "ms": counted.best.ms.document()},
        )


def _of_replans(durable: Mapping[Setting, Counted]) -> Iterator[Figure]:
    for writers, target in ((MANY, Target(bound=0)), (max(WRITERS), Target(bound=0))):
        counted = durable[Setting(writers=writers)]
        yield Figure(
            name=f"contention: replans of {writers} writers",
            value=counted.replans,
            target=target,
            note=f"of {counted.decisions:,} unrelated lessons in one tribe",
        )


def _of_waits(waits: Samples) -> Figure:
    return Figure(
        name=f"contention: wait for the gate, {MANY} writers in one tribe",
        value=waits.median,
        p95=waits.p95,
        unit="ms",
        note=f"server's clock, {len(waits.values):,} commits, fsync on",
        details={**waits.document()},
    )


@dataclass(frozen=True, kw_only=True)
class _Beside:
    """What so many writers (None: nobody) and the readers reached at the same time."""

    writers: int
    learned: Slice | None
    answers: float
    answer_ms: Samples


def _of_readers(beside: Sequence[_Beside], durable: Mapping[Setting, Counted]) -> Iterator[Figure]:
    alone, *others = beside
    for one in others:
        assert one.learned is not None
        yield Figure(
            name=f"contention: {READERS} readers beside {Setting(writers=one.writers).name}",
            value=one.answers,
            unit="a second",
            reference=alone.answers,
            beside="the same readers alone",
            note=f"95 of 100 answers in {one.answer_ms.p95:.0f} ms, alone {alone.answer_ms.p95:.0f}; a process of their own",
        )
        yield Figure(
            name=f"contention: {Setting(writers=one.writers).name} beside {READERS} readers",
            value=one.learned.rate,
            unit="a second",
            reference=durable[Setting(writers=one.writers)].best.rate,
            beside="the same writers alone",
            note=f"95 of 100 learns in under {one.learned.ms.p95:.0f} ms",
        )


def _curves(durable: Mapping[Setting, Counted], beside: Sequence[_Beside]) -> Iterator[Curve]:
    across = "writers in one tribe"
    rates = Chart(title="Contention: what many reach at once", across=across, up="a second")
    spans = Chart(title="Contention: 95 of 100 calls take less than", across=across, up="milliseconds")
    with_readers = [one for one in beside if one.learned]
    in_one = [(setting.writers, durable[setting].best) for setting in IN_ONE]
    yield Curve(chart=rates, name="lessons", points=[(count, best.rate) for count, best in in_one])
    learned = [(one.writers, one.learned) for one in with_readers if one.learned]
    yield Curve(
        chart=rates, name=f"lessons beside {READERS} readers", points=[(count, one.rate) for count, one in learned], dashed=True
    )
    yield Curve(
        chart=rates,
        name=f"answers to {READERS} readers",
        points=[(one.writers, one.answers) for one in with_readers],
        dashed=True,
    )
    yield Curve(chart=spans, name="learn", points=[(count, best.ms.p95) for count, best in in_one])
    yield Curve(
        chart=spans, name=f"learn beside {READERS} readers", points=[(count, one.ms.p95) for count, one in learned], dashed=True
    )
    yield Curve(
        chart=spans,
        name=f"recall of {READERS} readers",
        points=[(one.writers, one.answer_ms.p95) for one in with_readers],
        dashed=True,
    )


def _rounds(
    ground: Ground, material: Material, progress: Progress, settings: Sequence[Setting], rounds: int, how: str
) -> dict[Setting, Counted]:
    counted = {setting: Counted() for setting in settings}
    for round_ in range(rounds):
        progress.step(f"counting learns of several writers, {how}, {round_ + 1} of {rounds}")
        for setting in settings if round_ % 2 == 0 else reversed(settings):
            _slice(ground, material, setting, counted[setting])
    return counted


def _slice(ground: Ground, material: Material, setting: Setting, counted: Counted) -> None:
    """Adds one slice of a setting, on tribes of its own."""
    tribes, work = _prepared(ground, material, setting)
    with _opened(ground, work, tribes) as memory:
        counted.slices.append(slice_of([one.learning(memory) for one in work], SLICE_S))
    for tribe in tribes:
        decisions, replans = ground.replans_of(tribe)
        counted.decisions += decisions
        counted.replans += replans


def _prepared(ground: Ground, material: Material, setting: Setting) -> tuple[list[Tribe], list[Work]]:
    """Makes the tribes of a setting, with what is known there, and what its writers have to say."""
    label = f"{setting.writers}-of-{setting.tribes}-{time.monotonic_ns()}"
    tribes = [ground.create_tribe(f"{label}-{number}") for number in range(setting.tribes)]
    known = material.families(FAMILIES)
    for tribe in tribes:
        ground.fill(tribe, known, range(len(known.texts)))
    work = []
    for number in range(setting.writers):
        writers = [ground.create_writer(tribe, f"writer-{number}") for tribe in tribes[number :: setting.writers] or tribes]
        work.append(work_of(material, writers, number=number, of=setting.writers, seconds=SLICE_S))
    return tribes, work


def _opened(ground: Ground, work: Sequence[Work], tribes: Sequence[Tribe]) -> Memory:
    """Opens the service with all that a process reads once about a tribe."""
    memory = ground.memory(stock_of([one.corpus for one in work]), connections=len(work))
    for tribe in tribes:
        memory.recaller.profiles.get(tribe.tribe_id)
    return memory


def _gate_waits(ground: Ground, material: Material, progress: Progress) -> Samples:
    """Returns how long commits wait for the gate when many write to one tribe, in a slice of its own."""
    progress.step("timing the wait for the gate")
    tribes, work = _prepared(ground, material, Setting(writers=MANY))
    with noted_gate(ground.superuser), _opened(ground, work, tribes) as memory:
        database = Waiting(ground.runtime_target, limit=MANY)
        clocked = replace(memory, learner=on_database(memory.learner, database))
        slice_of([one.learning(clocked) for one in work], SLICE_S)
        database.close()
    return Samples(values=database.waits_ms)


def _beside_readers(ground: Ground, material: Material, progress: Progress) -> list[_Beside]:
    """Counts, by number of writers, what they and readers reach at the same time, both in the same tribe."""
    found = []
    for writers in BESIDE_READERS:
        progress.step(f"counting {writers} writers beside {READERS} readers")
        (tribe,), work = _prepared(ground, material, Setting(writers=writers))
        town = Town(ground=ground, material=material, large=tribe, middle=tribe, small=())
        calls = overheard(town, tribe, range(QUESTIONS))
        with Readers(ground.runtime_target, calls, READERS) as readers:
            learned = None
            if work:
                with _opened(ground, work, [tribe]) as memory:
                    acts = [one.learning(memory) for one in work]
                    learned = slice_of(acts, SLICE_S, begin=lambda: readers.go(SLICE_S))
            else:
                readers.go(SLICE_S)
            answers = readers.result()
        found.append(_Beside(writers=writers, learned=learned, answers=answers.rate, answer_ms=answers.ms))
    return found
