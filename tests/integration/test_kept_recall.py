"""`tributary verify` of a kept recall: the receipt, and the lessons that the file shows beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.tribes import Tribal
from tests.unit.cli_fakes import Surroundings
from tributary.client import Memory, observed
from tributary.edges.cli.app import app
from tributary.edges.gateway import running

Run = Callable[..., Result]
QUERY = "deploy payments"


@pytest.fixture
def run(tribal: Tribal) -> Iterator[Run]:
    with running(tribal.memory) as gateway:

        def opened() -> Memory:
            return Memory(gateway.url, tribal.curator_token, environment={})

        with opened() as memory:
            memory.learn("The deploy API needs X-Batch: true", situation="deploy payments", source=observed("run:88"))
            memory.learn("Deploys of payments take a lock", situation="deploy payments", source=observed("run:89"))
        doors = replace(Surroundings(environment={}).doors(), open_client=opened)
        yield lambda *words: CliRunner().invoke(app, list(words), obj=doors)


@pytest.fixture
def kept(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("recall", QUERY, "--json").stdout)
    assert len(found["hits"]) == 2
    return found


def verified(run: Run, kept: dict[str, Any], folder: Path) -> Result:
    file = folder / "found.json"
    file.write_text(json.dumps(kept))
    return run("verify", str(file), "--query", QUERY)


def test_a_recall_that_nobody_touched_agrees_with_its_lessons(run: Run, kept: dict[str, Any], tmp_path: Path) -> None:
    said = verified(run, kept, tmp_path)
    assert (said.exit_code, said.stdout.splitlines()) == (
        0,
        ["agrees", "  the lessons beside it, 2, are as the tribe shows them"],
    )


@pytest.mark.parametrize(
    ("field", "value"), [("text", "The deploy API needs NOTHING"), ("source", {"how": "told", "ref": None}), ("author", "ada")]
)
def test_a_lesson_that_was_altered_in_the_file_diverges(
    run: Run, kept: dict[str, Any], tmp_path: Path, field: str, value: object
) -> None:
    kept["hits"][0]["lesson"][field] = value
    said = verified(run, kept, tmp_path)
    assert said.exit_code == 9
    assert said.stdout.splitlines()[0] == "diverges"
    assert f"altered in the file: {kept['hits'][0]['lesson']['id']}: its {field} is another one" in said.stdout


def test_a_lesson_that_was_put_in_left_out_or_moved_diverges(run: Run, kept: dict[str, Any], tmp_path: Path) -> None:
    for hits in (kept["hits"][:1], kept["hits"][::-1], [*kept["hits"], kept["hits"][0]], [*kept["hits"], "no hit"]):
        said = verified(run, kept | {"hits": hits}, tmp_path)
        assert said.exit_code == 9
        assert "the lessons beside it are not its hits" in said.stdout


def test_a_lesson_without_an_id_that_can_be_one_diverges(run: Run, kept: dict[str, Any], tmp_path: Path) -> None:
    strange: list[object] = [["les_1"], {}, None, 7]
    for odd in strange:
        kept["hits"][0]["lesson"]["id"] = odd
        said = verified(run, kept, tmp_path)
        assert (said.exit_code, "the lessons beside it are not its hits" in said.stdout) == (9, True)


def test_an_erased_lesson_is_not_called_altered(run: Run, kept: dict[str, Any], tmp_path: Path) -> None:
    which = kept["hits"][0]["lesson"]["id"]
    assert run("curate", "erase", which, "--yes").exit_code == 0
    said = verified(run, kept, tmp_path)
    assert "altered" not in said.stdout
    assert f"erased since, so its words cannot be compared: {which}" in said.stdout


def test_a_receipt_alone_is_checked_as_before(run: Run, kept: dict[str, Any], tmp_path: Path) -> None:
    assert verified(run, kept["receipt"], tmp_path).stdout.splitlines() == ["agrees"]
