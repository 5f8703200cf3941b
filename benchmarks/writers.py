"""How many lessons several writers learn at once: in one tribe, where the gate puts them in a row, and over many."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchmarks.corpus import Corpus, Material
from benchmarks.figures import Figure, Measured, Samples, Target
from benchmarks.ground import Ground, Tribe
from benchmarks.listening import Waiting, noted_gate, on_database
from benchmarks.newcomers import FAMILIES, draft_of, stock_of
from benchmarks.progress import Progress
from tributary.core.agent import Principal
from tributary.service import Memory

SLICE_S = 2.0
ROUNDS = 3
MOST_A_SECOND = 600
"""Lessons made ready for a second; more than that, and a writer would run out of something to say."""
MOST_WRITERS = 16
TRIBES = 32


@dataclass(frozen=True, kw_only=True)
class Setting:
    """So many writers, each a thread of one process with an agent of its own in each tribe that it writes to."""

    name: str
    writers: int
    tribes: int = 1


SETTINGS = (
    Setting(name="1 writer", writers=1),
    Setting(name="4 writers", writers=4),
    Setting(name=f"{MOST_WRITERS} writers", writers=MOST_WRITERS),
    Setting(name=f"{MOST_WRITERS} writers, {TRIBES} tribes", writers=MOST_WRITERS, tribes=TRIBES),
)


@dataclass(kw_only=True)
class Counted:
    """Lessons a second in each slice of time, and what the tribes' decisions say."""

    rates: list[float] = field(default_factory=list)
    decisions: int = 0
    replans: int = 0

    @property
    def rate(self) -> float:
        """The best slice's: what else the machine does only ever slows one down."""
        return max(self.rates)


def measure(ground: Ground, material: Material, progress: Progress) -> Measured:
    """Runs each setting in slices, in turn, on tribes made anew for each; then again without durability."""
    durable = _rounds(ground, material, progress, ROUNDS, "flushed to disk")
    ground.fsync(on=False)
    try:
        unflushed = _rounds(ground, material, progress, 1, "fsync off")
    finally:
        ground.fsync(on=True)
    waits = _gate_waits(ground, material, progress)
    alone, few, many, spread = (durable[setting.name] for setting in SETTINGS)
    note = f"fsync on; off: {{:.0f}}; threads of one process, {SLICE_S:g} s slices, best of {ROUNDS}"
    figures = (
        Figure(
            name=f"learn: {MOST_WRITERS} writers in one tribe",
            value=many.rate,
            unit="a second",
            reference=few.rate,
            beside="4 writers",
            target=Target(bound=1.0, at_least=True),
            note=note.format(unflushed[SETTINGS[2].name].rate),
            details={"slices": many.rates, "slices of 4 writers": few.rates},
        ),
        Figure(
            name=f"learn: replans of {MOST_WRITERS} writers",
            value=many.replans,
            target=Target(bound=0),
            note=f"of {many.decisions:,} unrelated lessons in one tribe",
        ),
        Figure(
            name=f"learn: {MOST_WRITERS} writers over {TRIBES} tribes",
            value=spread.rate,
            unit="a second",
            reference=many.rate,
            beside=f"{MOST_WRITERS} writers in one",
            target=Target(bound=1.7, at_least=True),
            note=note.format(unflushed[SETTINGS[3].name].rate),
            details={"slices": spread.rates},
        ),
        Figure(
            name=f"learn: wait for the gate, {MOST_WRITERS} writers in one tribe",
            value=waits.median,
            p95=waits.p95,
            unit="ms",
            note=f"server's clock, {len(waits.values):,} commits, fsync on",
            details={**waits.document()},
        ),
        Figure(
            name="learn: 1 writer",
            value=alone.rate,
            unit="a second",
            note=note.format(unflushed[SETTINGS[0].name].rate),
            details={"slices": alone.rates},
        ),
    )
    series = {
        "fsync on": [(setting.name, durable[setting.name].rate) for setting in SETTINGS],
        "fsync off": [(setting.name, unflushed[setting.name].rate) for setting in SETTINGS],
    }
    return Measured(figures=figures, series=series)


def _rounds(ground: Ground, material: Material, progress: Progress, rounds: int, how: str) -> dict[str, Counted]:
    counted = {setting.name: Counted() for setting in SETTINGS}
    for round_ in range(rounds):
        progress.step(f"counting learns of several writers, {how}, {round_ + 1} of {rounds}")
        for setting in SETTINGS if round_ % 2 == 0 else reversed(SETTINGS):
            _slice(ground, material, setting, counted[setting.name])
    return counted


def _slice(ground: Ground, material: Material, setting: Setting, counted: Counted) -> None:
    """Adds one slice of a setting, on tribes of its own."""
    label = f"{setting.writers}-of-{setting.tribes}-{time.monotonic_ns()}"
    tribes = [ground.create_tribe(f"{label}-{number}") for number in range(setting.tribes)]
    known = material.families(FAMILIES)
    for tribe in tribes:
        ground.fill(tribe, known, range(len(known.texts)))
    work = [_work_of(ground, material, setting, tribes, number) for number in range(setting.writers)]
    with ground.memory(stock_of([one.corpus for one in work]), connections=setting.writers) as memory:
        for tribe in tribes:
            memory.recaller.profiles.get(tribe.tribe_id)
        counted.rates.append(_run(memory, work))
    for tribe in tribes:
        decisions, replans = ground.replans_of(tribe)
        counted.decisions += decisions
        counted.replans += replans


def _gate_waits(ground: Ground, material: Material, progress: Progress) -> Samples:
    """Returns how long commits wait for the gate when many write to one tribe, in a slice of its own."""
    progress.step("timing the wait for the gate")
    tribe = ground.create_tribe(f"waiting-{time.monotonic_ns()}")
    known = material.families(FAMILIES)
    ground.fill(tribe, known, range(len(known.texts)))
    setting = Setting(name="waiting", writers=MOST_WRITERS)
    work = [_work_of(ground, material, setting, [tribe], number) for number in range(MOST_WRITERS)]
    with noted_gate(ground.superuser), ground.memory(stock_of([one.corpus for one in work]), connections=1) as memory:
        database = Waiting(ground.runtime_target, limit=MOST_WRITERS)
        _run(replace(memory, learner=on_database(memory.learner, database)), work)
        database.close()
    return Samples(values=database.waits_ms)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What one writer has to say, and as whom in the tribes that it writes to by turns."""

    writers: tuple[Principal, ...]
    corpus: Corpus


def _work_of(ground: Ground, material: Material, setting: Setting, tribes: Sequence[Tribe], number: int) -> _Work:
    mine = tribes[number :: setting.writers] or tribes
    families = range(number, FAMILIES, setting.writers)
    enough = int(MOST_A_SECOND * SLICE_S / setting.writers) + 50
    return _Work(
        writers=tuple(ground.create_writer(tribe, f"writer-{number}") for tribe in mine),
        corpus=material.newcomers(enough, families=families, seed=time.monotonic_ns() % 2**32),
    )


def _run(memory: Memory, work: Sequence[_Work]) -> float:
    """Has all writers learn for one slice and returns the lessons a second; an error of any of them is raised."""
    ready = threading.Barrier(len(work) + 1)
    ended = threading.Event()
    learned = [0] * len(work)
    failed: list[BaseException] = []

    def write(number: int, mine: _Work) -> None:
        try:
            texts = iter(mine.corpus.texts)
            writers = itertools.cycle(mine.writers)
            memory.learn(next(writers), draft_of(next(texts)))  # opens the connection
            ready.wait()
            while not ended.is_set():
                memory.learn(next(writers), draft_of(next(texts)))
                learned[number] += 1
        except BaseException as error:  # raised again below
            failed.append(error)
            ready.abort()

    threads = [threading.Thread(target=write, args=one) for one in enumerate(work)]
    for thread in threads:
        thread.start()
    with contextlib.suppress(threading.BrokenBarrierError):  # the error that broke it is raised below
        ready.wait()
    began = time.perf_counter()
    ended.wait(SLICE_S)
    so_far, took = sum(learned), time.perf_counter() - began
    ended.set()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return so_far / took
