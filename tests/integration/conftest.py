"""Tribes that several of these tests begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.spaces import Projected, Steered
from tests.tribes import Tribal, open_tribal


@pytest.fixture
def unrelated(database_url: str) -> Iterator[Tribal]:
    """A tribe whose judge finds that lessons have nothing to do with each other."""
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as opened:
        yield opened


@pytest.fixture
def changing(database_url: str) -> Iterator[Tribal]:
    """A tribe whose processes have two embedders, of 256 and 1024 dimensions."""
    with open_tribal(database_url, next_embedder=Steered(Projected()), judge=RuledJudge(all_unrelated)) as tribal:
        yield tribal
