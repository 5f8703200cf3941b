"""What each side of the search gives alone, as well as it can: all lessons in order of cosine, of shared rarity, of BM25."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import numpy as np

from evals.retrieval.measures import DEPTH
from evals.runbooks import Section
from tributary.core.ports import Embedder
from tributary.core.terms import terms_of

K1, B = 0.9, 0.4
"""Parameters of BM25 that are usual for short passages; the textbook's 1.2 and 0.75 did worse on the split `tune`."""


class VectorOnly:
    """Cosine similarity over every lesson, embedded as the product embeds it."""

    name = "vector only"

    def __init__(self, sections: Sequence[Section], ids: Sequence[UUID], embedder: Embedder) -> None:
        self._ids = ids
        self._embedder = embedder
        self._vectors = np.array(embedder.embed([_text(one) for one in sections]))

    def found(self, question: str) -> list[UUID]:
        return _best(self._ids, (self._vectors @ np.array(self._embedder.embed([question])[0])).tolist())


class _Terms:
    """Common to both orders by terms: how often each lesson holds which term of the product's own tokenizer."""

    def __init__(self, sections: Sequence[Section], ids: Sequence[UUID]) -> None:
        self._ids = ids
        self._held = [Counter(term for word in _text(one).split() for term in terms_of(word)) for one in sections]
        self._holders = Counter(term for held in self._held for term in held)


class RarityOnly(_Terms):
    """The sum of the weights of shared terms, weighed as the schema's `term_holders_v1` does, but of common ones, too."""

    name = "terms only, by rarity"

    def found(self, question: str) -> list[UUID]:
        count = len(self._ids)
        weights = {term: math.log(1 + (1 + count) / (1 + self._holders[term])) for term in terms_of(question)}
        return _best(self._ids, [sum(weights[term] for term in weights if term in held) for held in self._held])


class Bm25Only(_Terms):
    """BM25 over the product's terms."""

    name = "terms only, BM25"

    def found(self, question: str) -> list[UUID]:
        count = len(self._ids)
        mean = sum(held.total() for held in self._held) / count
        weights = {
            term: math.log(1 + (count - self._holders[term] + 0.5) / (self._holders[term] + 0.5)) for term in terms_of(question)
        }
        scores = []
        for held in self._held:
            long = K1 * (1 - B + B * held.total() / mean)
            scores.append(sum(weight * held[term] * (K1 + 1) / (held[term] + long) for term, weight in weights.items()))
        return _best(self._ids, scores)


def _text(section: Section) -> str:
    """Returns what the product finds a lesson by: its situation, then its text."""
    return f"{section.situation}\n{section.text}"


def _best(ids: Sequence[UUID], scores: Sequence[float]) -> list[UUID]:
    """Returns the best DEPTH with a score above nothing; of equals the newer first, as the product has it."""
    order = sorted(range(len(ids)), key=lambda number: (scores[number], ids[number]), reverse=True)
    return [ids[number] for number in order[:DEPTH] if scores[number] > 0]
