"""Operations lessons to measure with: real sentences with real MiniLM vectors, multiplied by jitter to any number."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tributary.models.embedders import MiniLmEmbedder

Matrix = npt.NDArray[np.float32]

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


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """`texts[i]` has the unit vector `vectors[i]`, (n, 384) float32; `queries` likewise, drawn from other wordings."""

    texts: list[str]
    vectors: Matrix
    queries: list[str]
    query_vectors: Matrix


def make_corpus(count: int, *, sentences: int = 4000, queries: int = 60, jitter: float = 0.6, seed: int = 7) -> Corpus:
    """Returns `count` lessons: `sentences` real ones, then copies whose vectors were moved by Gaussian noise of norm `jitter`.

    Sentences are many and unlike on purpose: some hundred near-equal vectors trap an HNSW scan, whoever's index it is.
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
    real = np.asarray(embedder.embed(texts), dtype=np.float32)
    query_vectors = np.asarray(embedder.embed(asked), dtype=np.float32)
    generator = np.random.default_rng(seed)
    picks = generator.integers(0, len(texts), count)
    noise = generator.standard_normal((count, real.shape[1]), dtype=np.float32)
    noise *= jitter / np.linalg.norm(noise, axis=1, keepdims=True)
    vectors = real[picks] + noise
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    copies = [f"{texts[pick]} (case {index})" for index, pick in enumerate(picks)]
    return Corpus(texts=copies, vectors=vectors, queries=asked, query_vectors=query_vectors)
