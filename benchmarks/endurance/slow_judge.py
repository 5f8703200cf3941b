"""A judge behind OpenAI's wire that takes its time, hangs now and then, and now and then fails."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from benchmarks.endurance.scenes import JUDGE_MODEL, MODEL_TIMEOUT_S
from tests.providers.mind import answering
from tests.providers.openai import chat_routes, error, models_routes
from tests.providers.server import Asked, ProviderServer, Reply

QUICKEST_S, SLOWEST_S = 0.5, 3.0
FAILS, HANGS = 0.03, 0.02


@contextmanager
def slow_judge(seed: int) -> Iterator[ProviderServer]:
    """Serves it while the block runs; what it answers is what the local judge says."""
    rng = random.Random(seed)
    ((method, pattern, complete),) = chat_routes(answering)

    def slowly(asked: Asked) -> Reply:
        chance = rng.random()
        if chance < FAILS:
            return replace(error(503, "The engine is currently overloaded", kind="service_unavailable_error"), delay_s=QUICKEST_S)
        hanging = chance < FAILS + HANGS
        return replace(complete(asked), delay_s=10 * MODEL_TIMEOUT_S if hanging else rng.uniform(QUICKEST_S, SLOWEST_S))

    with ProviderServer([(method, pattern, slowly), *models_routes(JUDGE_MODEL)]) as provider:
        yield provider
