"""Lessons to learn in a bench: unrelated to one another, with their vectors made beforehand, and who is to learn them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.corpus import SITUATION, Corpus, Material
from benchmarks.listening import Stock
from tributary.core.agent import Principal
from tributary.core.lesson import Draft, How, Source
from tributary.learn.admit import embedded_text
from tributary.service import Memory

FAMILIES = 64
"""Families of near-equal lessons in a tribe that many write to; each of as many writers keeps to families of its own."""
MOST_A_SECOND = 1500
"""Lessons made ready for a second; more than that, and a writer would run out of something to say."""

_SEEN = Source(how=How.OBSERVED, ref="run:bench")


def draft_of(text: str) -> Draft:
    return Draft(text=text, situation=SITUATION, source=_SEEN)


def stock_of(corpora: Sequence[Corpus]) -> Stock:
    """Returns what stands in for the embedder when lessons of these corpora are learned."""
    texts = [embedded_text(draft_of(text)) for corpus in corpora for text in corpus.texts]
    return Stock(texts, np.concatenate([corpus.vectors for corpus in corpora]))


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one writer has to say, and as whom in the tribes that it writes to by turns."""

    writers: tuple[Principal, ...]
    corpus: Corpus

    def learning(self, memory: Memory) -> Callable[[], object]:
        """Returns what learns the next lesson each time that it is called, as the next of `writers`."""
        texts, writers = iter(self.corpus.texts), itertools.cycle(self.writers)
        return lambda: memory.learn(next(writers), draft_of(next(texts)))


def work_of(material: Material, writers: Sequence[Principal], *, number: int, of: int, seconds: float) -> Work:
    """Returns work for `seconds` of writer `number` of so many, beside families that it shares with none of up to `FAMILIES`."""
    families = range(number % FAMILIES, FAMILIES, of)
    enough = int(MOST_A_SECOND * seconds / of) + 50
    corpus = material.newcomers(enough, families=families, seed=time.monotonic_ns() % 2**32)
    return Work(writers=tuple(writers), corpus=corpus)
