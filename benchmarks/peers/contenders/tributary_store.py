"""Tributary as a library in the process, with its defaults: local rules screen and judge, receipts are signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.corpus import Corpus
from benchmarks.ground import Ground, Tribe
from benchmarks.listening import Stock
from benchmarks.newcomers import draft_of
from benchmarks.peers.contenders.port import Place, Said
from tributary.core.agent import Principal
from tributary.core.lesson import Draft
from tributary.core.requests import Question
from tributary.learn.admit import embedded_text
from tributary.spaces import EXACT_LIMIT

CHALLENGED = "learned, with a challenge"
BELIEVED = "SELECT count(*) FROM tributary.lesson WHERE tribe_id = %s AND text = %s AND believed"


class Tributary:
    """A scope is a tribe, and each thread an agent of it."""

    def __init__(self, place: Place) -> None:
        self._given = place.given
        texts = [*place.given.texts, *(embedded_text(draft_of(text)) for text in place.given.texts)]
        stock = Stock(texts, np.concatenate([place.given.vectors] * 2))
        self._ground = Ground(place.url, embedder=stock)
        self._memory = self._ground.memory(stock, connections=place.threads)
        self._threads = place.threads
        self._tribes: dict[str, Tribe] = {}
        self._agents: dict[str, list[Principal]] = {}

    def begin(self, scope: str) -> None:
        """Makes the tribe and its agents, as its operator would."""
        if scope not in self._tribes:
            tribe = self._tribes[scope] = self._ground.create_tribe(scope)
            self._agents[scope] = [self._ground.create_writer(tribe, f"agent-{number}") for number in range(self._threads)]

    def fill(self, scope: str, lessons: Sequence[Said]) -> None:
        """Copies rows past the pipeline, and builds the tribe's own index where it outgrew exact search."""
        vectors = np.array([self._given.vector(said.whole) for said in lessons], dtype=np.float32)
        tribe = self._tribes[scope]
        self._ground.fill(tribe, Corpus(texts=[said.text for said in lessons], vectors=vectors), range(len(lessons)))
        if self._ground.vectors_of(tribe) > EXACT_LIMIT:
            self._ground.build_index(tribe)

    def add(self, number: int, scope: str, said: Said) -> str:
        learned = self._memory.learn(self._agents[scope][number], _draft(said))
        return CHALLENGED if learned.outcome.value == "learned" and learned.challenges else learned.outcome.value

    def search(self, number: int, scope: str, query: str, limit: int, tags: Mapping[str, str]) -> Sequence[str]:
        asked = Question(query=query, limit=limit, tags=tags)
        return [hit.lesson.text for hit in self._memory.recall(self._agents[scope][number], asked).hits]

    def count(self, scope: str, said: Said) -> int:
        row = self._ground.superuser.execute(BELIEVED, (self._tribes[scope].tribe_id, said.text)).fetchone()
        return int(row[0]) if row else 0

    def about(self) -> Mapping[str, Any]:
        used = self._memory.models_used()
        return {"judge": used.judge, "screen": used.screen, "exact up to": EXACT_LIMIT}

    def close(self) -> None:
        self._memory.close()
        self._ground.close()


def _draft(said: Said) -> Draft:
    draft = replace(draft_of(said.text), tags=said.tags)
    return replace(draft, situation=said.situation) if said.situation else draft
