"""Fixtures of the contract tests: a memory that only listens, and the real gateway in front of it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.contract.stand_in import StandIn
from tributary.edges.gateway import running


@pytest.fixture(scope="session")
def served() -> Iterator[tuple[StandIn, httpx.Client]]:
    memory = StandIn()
    with running(memory) as started, httpx.Client(base_url=started.url, trust_env=False, timeout=30) as client:
        yield memory, client


@pytest.fixture
def memory(served: tuple[StandIn, httpx.Client]) -> StandIn:
    """The memory behind `api`, as good as new."""
    served[0].forget()
    return served[0]


@pytest.fixture
def api(served: tuple[StandIn, httpx.Client], memory: StandIn) -> httpx.Client:
    """A client of a gateway that serves `memory` on a free port; it sends no token of its own."""
    return served[1]
