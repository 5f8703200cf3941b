"""Fixtures of the fuzz that need no database."""

from __future__ import annotations

import pytest

from tests.contract.stand_in import StandIn


@pytest.fixture
def memory() -> StandIn:
    """A memory that only listens."""
    return StandIn()
