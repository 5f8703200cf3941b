"""The contenders of benchmarks/peers do what the bench says of them: one suite over all four, each in a process of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.corpus import Corpus
from benchmarks.peers.bench import PAIRS, UPDATES, contradictions, nearest, share_found, tags_of
from benchmarks.peers.child import PEERS, ROOT, Contender, PeersMissing, require_peers
from benchmarks.peers.contenders.port import Given, Said
from tests.conftest import new_database

TEXTS = (
    "The deploy API answers 429 unless the header X-Batch is sent.",
    "Warm the cache before the nightly backup of the ledger.",
    "Rotate the token of the mailer twice after a failover.",
    "The import worker needs 2 GB of memory.",
)
QUERY = "what does the deploy API answer"
UPDATE = "The import worker needs 512 MB of memory."
UNKEPT = "Nobody says this."
SPEAKER = """
import socket, sys
from benchmarks.peers.contenders import quiet
if sys.argv[1] == "quiet":
    quiet.refuse_network()
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=5)
except quiet.CalledOut:
    pass
print(len(quiet.attempts))
"""
TELEMETRY = """
from benchmarks.peers.contenders import quiet
quiet.refuse_network()
from mem0.memory.telemetry import AnonymousTelemetry
told = AnonymousTelemetry()
told.capture_event("mem0.init")
told.close()
print(len(quiet.attempts))
"""


CONTENDERS = [
    "sql",
    "tributary",
    pytest.param("mem0", marks=pytest.mark.peers),
    pytest.param("langgraph", marks=pytest.mark.peers),
]


@pytest.fixture(scope="module", params=CONTENDERS)
def contender(request: pytest.FixtureRequest, server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contender]:
    """Knows texts that are unlike one another, an update of the last, and a query that is nearer to earlier texts."""
    vectors = np.eye(384, dtype=np.float32)[: len(TEXTS) + 3]
    vectors[-2, len(TEXTS) - 1] = 2.0
    vectors[-1, : len(TEXTS)] = [8.0, 6.0, 5.0, 4.0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    folder = tmp_path_factory.mktemp("peers")
    Given([*TEXTS, UNKEPT, UPDATE, QUERY], vectors).write(folder)
    with new_database(server_url, "template1") as url, Contender(request.param, url=url, folder=folder, threads=2) as opened:
        yield opened


def said(place: int, **tags: str) -> Said:
    return Said(text=TEXTS[place], tags=tags)


def found(contender: Contender, scope: str, **tags: str) -> list[str]:
    answers: list[list[str]] = contender.search(scope, [QUERY], limit=2, tags=tags)["answers"]
    return answers[0]


def test_what_was_added_is_counted_and_found_nearest_first(contender: Contender) -> None:
    outcomes = contender.add("added", [[said(2), said(3)], [said(1), said(0)]])["outcomes"]
    assert sum(outcomes.values()) == 4
    assert contender.count("added", [said(0), Said(text=UNKEPT, tags={})]) == [1, 0]
    assert found(contender, "added") == [TEXTS[0], TEXTS[1]]


def test_a_filter_lets_only_lessons_with_its_tags_through(contender: Contender) -> None:
    contender.fill("filtered", [said(row, **tags_of(row)) for row in range(len(TEXTS))])
    assert found(contender, "filtered", half="1") == [TEXTS[1], TEXTS[3]]
    assert found(contender, "filtered", half="2") == []


def test_a_scope_knows_nothing_of_another_one(contender: Contender) -> None:
    contender.fill("here", [said(0), said(1)])
    contender.add("there", [[said(2)]])
    assert contender.count("there", [said(0), said(2)]) == [0, 1]
    assert found(contender, "there") == [TEXTS[2]]


def test_readers_at_once_are_answered(contender: Contender) -> None:
    contender.fill("read", [said(0), said(1)])
    assert contender.read("read", [QUERY] * 3, limit=2, readers=2) > 0


def test_equal_adds_at_once_leave_one_row_where_somebody_judges_and_all_elsewhere(contender: Contender) -> None:
    contender.add("equal", [[said(0)], [said(0)]])
    assert contender.count("equal", [said(0)]) == [1 if contender.name == "tributary" else 2]


def test_an_update_ends_the_old_side_where_somebody_judges_and_both_stay_elsewhere(contender: Contender) -> None:
    older, newer = said(3), Said(text=UPDATE, tags={})
    contender.add("updated", [[older]])
    contender.add("updated", [[newer]])
    assert contender.count("updated", [older, newer]) == ([0, 1] if contender.name == "tributary" else [1, 1])


def test_a_contender_reaches_nothing_but_its_database(contender: Contender) -> None:
    assert contender.about()
    assert contender.outward() == []


@pytest.mark.peers
def test_the_telemetry_of_a_peer_would_be_noticed(tmp_path: Path) -> None:
    """Control of the test above: with `MEM0_TELEMETRY` left as the library has it, attempts are refused and counted."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    assert int(_printed([str(PEERS), "-c", TELEMETRY], environment)) > 0


@pytest.mark.parametrize(("how", "counted", "reached"), [("quiet", 1, False), ("open", 0, True)])
def test_a_connection_outward_is_refused_and_counted(how: str, counted: int, reached: bool) -> None:
    """The second case is the control: without the refusal the same connection is made."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2 if not reached else 10)
        command = [sys.executable, "-c", SPEAKER, how, str(server.getsockname()[1])]
        assert int(_printed(command, {**os.environ, "PYTHONPATH": str(ROOT)})) == counted
        if reached:
            server.accept()[0].close()
        else:
            with pytest.raises(TimeoutError):
                server.accept()


def test_without_the_peers_it_is_said_how_to_install_them(tmp_path: Path) -> None:
    with pytest.raises(PeersMissing, match="make bench-peers"):
        require_peers(tmp_path / "python")


def test_the_truth_is_what_comparing_everything_finds() -> None:
    vectors = np.eye(384, dtype=np.float32)[:4]
    query = np.array([[0.1, 0.7, 0.2, 0.6, *[0.0] * 380]], dtype=np.float32)
    truth = nearest(Corpus(texts=list(TEXTS), vectors=vectors), query, {"half": "1"})
    assert {text: round(similarity, 3) for text, similarity in truth[0].items()} == {TEXTS[1]: 0.7, TEXTS[3]: 0.6}
    assert share_found(truth, [[TEXTS[3], TEXTS[0]]]) == 0.5
    assert share_found(truth, [[TEXTS[1]]], floor=0.65) == 1.0


def test_the_updates_are_conflicts_that_no_rule_was_made_on() -> None:
    pairs = contradictions()
    golden = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    labelled = {(pair["old"]["text"], pair["new"]["text"]): (pair["label"], pair["split"]) for pair in golden}
    assert {labelled[old.text, new.text] for old, new in pairs} == {("conflicts", "test")}
    assert len({side.text for pair in pairs for side in pair}) == 2 * UPDATES


def _printed(command: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
