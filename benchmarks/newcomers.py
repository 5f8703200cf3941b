"""Lessons to learn in a bench: unrelated to one another, with their vectors made beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.corpus import SITUATION, Corpus
from benchmarks.listening import Stock
from tributary.core.lesson import Draft, How, Source
from tributary.learn.admit import embedded_text

FAMILIES = 32
"""Families of near-equal lessons in a tribe that many write to; each writer keeps to families of its own."""

_SEEN = Source(how=How.OBSERVED, ref="run:bench")


def draft_of(text: str) -> Draft:
    return Draft(text=text, situation=SITUATION, source=_SEEN)


def stock_of(corpora: Sequence[Corpus]) -> Stock:
    """Returns what stands in for the embedder when lessons of these corpora are learned."""
    texts = [embedded_text(draft_of(text)) for corpus in corpora for text in corpus.texts]
    return Stock(texts, np.concatenate([corpus.vectors for corpus in corpora]))
