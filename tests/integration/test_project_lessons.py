"""What a session that begins is told of its project: the lessons that name it, whatever else is near."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.doubles import SwitchedEmbedder
from tests.tribes import Tribal, open_tribal
from tributary.client import Memory, observed
from tributary.edges.cli.project_lessons import lessons_about, search_words
from tributary.edges.gateway import running
from tributary.models.embedders import HashedEmbedder


@pytest.fixture
def memory(tribal: Tribal) -> Iterator[Memory]:
    with running(tribal.memory) as gateway, Memory(gateway.url, tribal.curator_token, environment={}) as memory:
        yield memory


def taught(memory: Memory) -> None:
    memory.learn("It wants X-Batch: true", situation="deploying", subject="deploy-api", source=observed("run:1"))
    for number in range(8):
        memory.learn(
            f"Service pay-{number} of the payments team listens on port 90{number}0",
            situation="finding a port",
            source=observed(f"run:{number}"),
        )


def test_the_lesson_about_the_repository_comes_first_though_the_folder_has_another_name(memory: Memory) -> None:
    taught(memory)
    told = lessons_about(memory, ["acme/deploy-api", "payments"], limit=3)
    lines = [line for line in told.splitlines() if line.startswith("  | ")]
    assert "X-Batch: true" in lines[1]  # after its situation


def test_lessons_that_are_about_other_things_are_left_out_and_nothing_is_concluded_from_that(memory: Memory) -> None:
    taught(memory)
    told = lessons_about(memory, ["acme/orchids"], limit=3)
    assert told.startswith("No lesson in the shared memory names this project.")
    assert "port" not in told


def test_a_memory_that_could_not_be_searched_is_not_said_to_know_nothing(database_url: str) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with open_tribal(database_url, embedder=embedder) as tribal, running(tribal.memory) as gateway:
        embedder.fails = True
        with Memory(gateway.url, tribal.curator_token, environment={}) as memory:
            told = lessons_about(memory, ["acme/orchids"], limit=3)
    assert "do not conclude that nothing is known" in told


def test_each_name_is_searched_for_once_and_without_its_owner() -> None:
    assert search_words(["acme/deploy-api", "deploy-api", "payments"]) == ["deploy-api", "payments"]
