"""A tribe whose judge is that of the children, and a child process for each test that asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.chaos.scene import Child
from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, open_tribal


@pytest.fixture
def tribal(database_url: str) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as opened:
        yield opened


@pytest.fixture(scope="session")
def next_child() -> Iterator[Callable[[], Child]]:
    """Gives a child that has loaded its modules while the test before it ran."""
    spare = [Child()]

    def take() -> Child:
        spare.append(Child())
        return spare.pop(0)

    yield take
    spare[0].close()


@pytest.fixture
def child(next_child: Callable[[], Child]) -> Iterator[Child]:
    child = next_child()
    yield child
    child.close()
