"""Fixtures of the contract tests: a memory that only listens, and the real gateway in front of it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.contract.stand_in import StandIn
from tributary.edges.gateway import running


@pytest.fixture
def memory() -> StandIn:
    return StandIn()


@pytest.fixture
def api(memory: StandIn) -> Iterator[httpx.Client]:
    """A client of a gateway that serves `memory` on a free port; it sends no token of its own."""
    with running(memory) as started, httpx.Client(base_url=started.url, trust_env=False, timeout=30) as client:
        yield client


LEARN = {"text": "The deploy API needs X-Batch: true", "situation": "deploying", "source": {"how": "observed"}}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
