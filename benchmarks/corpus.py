"""Operations lessons to measure with: real sentences with real MiniLM vectors, multiplied by jitter to any number."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tributary.models.embedders import MiniLmEmbedder

Matrix = npt.NDArray[np.float32]

SITUATION = "operating the platform"

SUBJECTS = (
    "payments billing search ledger checkout catalog identity gateway mailer reports inventory shipping kafka redis postgres "
    "nginx etcd consul vault prometheus grafana jenkins terraform ansible kubernetes istio envoy rabbitmq elastic minio"
).split()
EVENTS = (
    "drops connections|answers 429|runs out of memory|loses its leader|refuses writes|fails its health check|logs nothing|"
    "serves stale data|leaks file handles|ignores the config key|hangs at start|doubles its latency|rejects the certificate|"
    "skips the migration|reports a false alarm|fills the disk|restarts in a loop|returns empty pages|deadlocks on the index|"
    "forgets its session|times out in silence|splits the cluster|misses its deadline|rolls back by itself"
).split("|")
OCCASIONS = (
    "a deploy|the nightly backup|a certificate renewal|a region failover|the monthly rotation of keys|a schema change|"
    "heavy rain of webhooks|a node drain|a cold start|the daylight saving switch|a rollback|an upgrade of the kernel|"
    "the quarterly load test|a DNS change|the garbage collection of images|a full table scan|a burst of logins|a pod eviction"
).split("|")
CURES = (
    "send the header X-Batch|clear the linker cache|raise the connection limit|drain it first|pin the older driver|"
    "rotate the token twice|wait for the replica|set the new key instead|run the job by hand|add a readiness delay|"
    "purge the queue|shrink the batch|turn off compression|warm the cache before|use the internal host name|"
    "lower the keepalive|rebuild the index offline|ask the network team|delete the stale lock|export the metrics first"
).split("|")
SYLLABLES = "ba be bi bo bu da de di do du fa fe fi fo fu ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu".split()

NEAR = 0.3
"""Noise by which members of a family differ: they are about 0.92 similar."""
UNLIKE = 0.6
"""Similarity under which the sentences of two families stay: no member of one comes between the members of another."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Lessons: `texts[i]` has the unit vector `vectors[i]`, (n, 384) float32."""

    texts: list[str]
    vectors: Matrix


@dataclass(frozen=True, kw_only=True)
class Material:
    """Real sentences and questions in other wordings, each with its real vector: (n, 384) float32, unit norm."""

    sentences: list[str]
    vectors: Matrix
    queries: list[str]
    query_vectors: Matrix

    def corpus(self, count: int, *, jitter: float = 0.6, seed: int = 7) -> Corpus:
        """Returns `count` lessons: sentences drawn at random, their vectors moved by Gaussian noise of norm `jitter`."""
        picks = np.random.default_rng(seed).integers(0, len(self.sentences), count)
        return self._copies(picks, jitter=jitter, seed=seed)

    def stream(self, count: int, *, batch: int, start: int = 0, jitter: float = 0.6, seed: int = 7) -> Iterator[Corpus]:
        """Yields lessons `start` to `count`, up to `batch` at a time, made as `corpus` does: for more than memory should hold."""
        for first in range(start, count, batch):
            picks = np.random.default_rng((seed, first)).integers(0, len(self.sentences), min(batch, count - first))
            yield self._copies(picks, jitter=jitter, seed=seed + first, first=first)

    def families(self, families: int, *, copies: int = 10, seed: int = 7) -> Corpus:
        """Returns `copies` near-equal lessons of each of some sentences that are unlike one another, a family after the other."""
        chosen = self._unlike(families)
        return self._copies(np.repeat(chosen, copies), jitter=NEAR, seed=seed)

    def newcomers(self, count: int, *, families: Sequence[int], seed: int) -> Corpus:
        """Returns lessons that say something new, in words of their own, one beside each of these families in turn.

        Its family fills the place of a newcomer's candidates, so that two newcomers beside unlike families do not matter to
        each other: no commit of one makes another plan again.
        """
        picks = np.resize(self._unlike(max(families) + 1)[list(families)], count)
        moved = self._copies(picks, jitter=NEAR, seed=seed)
        words = random.Random(seed)
        texts = [" ".join("".join(words.choices(SYLLABLES, k=5)) for _ in range(9)) + "." for _ in range(count)]
        return Corpus(texts=texts, vectors=moved.vectors)

    def _copies(self, picks: npt.NDArray[np.int64], *, jitter: float, seed: int, first: int = 0) -> Corpus:
        noise = np.random.default_rng(seed + 1).standard_normal((len(picks), self.vectors.shape[1]), dtype=np.float32)
        noise *= jitter / np.linalg.norm(noise, axis=1, keepdims=True)
        noise += self.vectors[picks]
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        texts = [f"{self.sentences[pick]} (case {index})" for index, pick in enumerate(picks, first)]
        return Corpus(texts=texts, vectors=noise)

    def _unlike(self, count: int) -> npt.NDArray[np.int64]:
        """Returns rows of sentences of which no two are more than `UNLIKE` similar."""
        chosen: list[int] = []
        for row in range(len(self.sentences)):
            if not chosen or float((self.vectors[chosen] @ self.vectors[row]).max()) < UNLIKE:
                chosen.append(row)
                if len(chosen) == count:
                    return np.array(chosen)
        raise ValueError(f"there are only {len(chosen)} sentences that are unlike one another")


def embed_material(*, sentences: int = 4000, queries: int = 240, seed: int = 7) -> Material:
    """Embeds some of the sentences that the word lists make, and questions about them.

    They are many and unlike on purpose: some hundred near-equal vectors trap an HNSW scan, whoever's index it is.
    """
    rng = random.Random(seed)
    every = [
        f"{subject} {event} after {occasion}: {cure}"
        for subject, event, occasion, cure in itertools.product(SUBJECTS, EVENTS, OCCASIONS, CURES)
    ]
    texts = rng.sample(every, sentences)
    asked = [
        f"what to do when {rng.choice(SUBJECTS)} {rng.choice(EVENTS)} during {rng.choice(OCCASIONS)}" for _ in range(queries)
    ]
    embedder = MiniLmEmbedder(threads=2)
    return Material(
        sentences=texts,
        vectors=np.asarray(embedder.embed(texts), dtype=np.float32),
        queries=asked,
        query_vectors=np.asarray(embedder.embed(asked), dtype=np.float32),
    )
