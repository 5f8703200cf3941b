"""What the local embedder costs: time to load, milliseconds a sentence on one thread, and memory over 1,000 sentences.

python benchmarks/embedding.py [--sentences 1000] [--threads 1] [--sentence-transformers MODEL]
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

from tributary.models.embedders import MiniLmEmbedder, SentenceTransformersEmbedder

psutil: Any = importlib.import_module("psutil")  # carries no types

WORDS = (
    "the a this that its deploy service database replica lock migration timeout certificate queue consumer partition "
    "cache ingress pod node region latency alarm backup snapshot fails restarts stalls grows leaks expires recovers "
    "waits because when after before until while under load traffic memory disk pressure failover rollback canary "
    "checkout payments billing orders search is was not never always only again twice slow stale full empty broken"
).split()


def sentences(count: int) -> list[str]:
    """Returns sentences of 5 to 40 words, the same at each run."""
    chance = random.Random(7)
    return [" ".join(chance.choices(WORDS, k=chance.randint(5, 40))).capitalize() + "." for _ in range(count)]


def resident_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def milliseconds(
    embedder: MiniLmEmbedder | SentenceTransformersEmbedder, calls: Sequence[Sequence[str]]
) -> list[float]:
    """Returns the milliseconds of each call, sorted."""
    taken: list[float] = []
    for texts in calls:
        began = time.perf_counter()
        embedder.embed(texts)
        taken.append((time.perf_counter() - began) * 1000)
    return sorted(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1, help="of the ONNX embedder")
    parser.add_argument("--sentence-transformers", metavar="MODEL", help="a model's id or folder, instead of MiniLM")
    options = parser.parse_args()
    embedder: MiniLmEmbedder | SentenceTransformersEmbedder = MiniLmEmbedder(threads=options.threads)
    if options.sentence_transformers:
        embedder = SentenceTransformersEmbedder(model=options.sentence_transformers, device="cpu")
    texts = sentences(options.sentences)

    bare = resident_mb()
    began = time.perf_counter()
    embedder.warm()
    loaded = time.perf_counter() - began
    embedder.embed(["One sentence of the longest window. " * 40])
    before = resident_mb()
    single = milliseconds(embedder, [[text] for text in texts])
    after_single = resident_mb()
    batch = milliseconds(embedder, [texts])[0]
    after_batch = resident_mb()
    long = milliseconds(embedder, [[" ".join(texts)[:20_000]]])[0]

    words = sum(len(text.split()) for text in texts) / len(texts)
    print(f"{embedder.space.name}, {len(texts)} sentences of {words:.1f} words in the mean")
    print(f"load                      {loaded * 1000:8.0f} ms")
    print(f"one by one, median        {single[len(single) // 2]:8.2f} ms a sentence")
    print(f"one by one, 95 of 100     {single[len(single) * 95 // 100]:8.2f} ms a sentence")
    print(f"in one call               {batch / len(texts):8.2f} ms a sentence")
    print(f"a text of 20,000 characters {long:6.0f} ms")
    print(f"resident before loading   {bare:8.0f} MB")
    print(f"resident when warm        {before:8.0f} MB")
    print(f"grown over one by one     {after_single - before:8.1f} MB")
    print(f"grown over one call       {after_batch - after_single:8.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
