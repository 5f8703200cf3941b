"""One tribe that grows step by step to a million lessons: at each step it has the index that its operator would have built."""

from __future__ import annotations

import time

from benchmarks.corpus import Material, embed_material
from benchmarks.ground import Ground
from benchmarks.progress import Progress
from benchmarks.recall import MIDDLE, Town
from tributary.spaces import EXACT_LIMIT, drop_index
from tributary.store import OWNER, Target, connect

COPIES = 25
"""Near copies of each sentence, as in a tribe of 100,000: it is the graph that grows, not the crowd around a sentence.

What is found depends on this above all: of 250 copies of each of 4,000 sentences, 0.90 (docs/decisions/0012).
"""
BATCH = 50_000
"""Lessons that are made and loaded at a time."""


def material_for(lessons: int, progress: Progress) -> Material:
    """Embeds as many sentences as `lessons` need, so that each has `COPIES`; never fewer than other benches have."""
    sentences = max(4000, lessons // COPIES)
    progress.step(f"embedding {sentences:,} sentences to make lessons of")
    return embed_material(sentences=sentences)


class Grown:
    """The tribe. A middle one beside it is just searched exactly."""

    def __init__(self, ground: Ground, material: Material) -> None:
        self.ground, self.material = ground, material
        self.lessons = 0
        """Loaded; what benches learned in it besides is some hundreds."""
        self.build_s: float | None = None
        """What building the index of the present size took; None for a size that is searched exactly."""
        self.large, self.middle = ground.create_tribe("large"), ground.create_tribe("middle")
        ground.fill(self.middle, material.corpus(MIDDLE), range(MIDDLE))

    @property
    def indexed(self) -> bool:
        return self.build_s is not None

    def town(self) -> Town:
        return Town(ground=self.ground, material=self.material, large=self.large, middle=self.middle, small=())

    def grow_to(self, lessons: int, progress: Progress) -> None:
        """Loads what is missing and builds the index anew where the tribe has outgrown exact search."""
        if lessons <= self.lessons:
            return
        progress.step(f"growing a tribe to {lessons:,} lessons")
        with connect(Target(url=self.ground.url, assume=OWNER)) as owner:
            drop_index(owner, self.large.tribe_id, self.ground.space_id)  # to extend it row by row takes far longer
        for corpus in self.material.stream(lessons, batch=BATCH, start=self.lessons):
            self.ground.fill(self.large, corpus, range(len(corpus.texts)))
        self.lessons = lessons
        self.ground.settle_statistics()
        self.build_s = None
        if self.ground.vectors_of(self.large) > EXACT_LIMIT:
            progress.step("building its index")
            began = time.monotonic()
            self.ground.build_index(self.large)
            self.build_s = time.monotonic() - began
