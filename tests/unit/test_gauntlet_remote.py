"""The agents' memory says to the SDK what the policy means, and an agent process reports what it did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.gauntlet.processes import clean_environment
from evals.gauntlet.remote import RemoteTribe
from evals.gauntlet.results import AgentReport
from evals.gauntlet.tribe import Finding, Hit, Learned
from tributary.client import Memory

ROOT = Path(__file__).parents[2]
LESSON_ID = f"les_{7:032x}"
INSTANT = {"tick": 3, "at": "2026-01-02T03:04:05+00:00"}
LESSON: dict[str, Any] = {
    "id": LESSON_ID,
    "text": "run `a b` before `c d`",
    "situation": "Build the service x",
    "subject": "x build",
    "kind": "gotcha",
    "status": "active",
    "tags": {},
    "source": {"how": "observed", "ref": "run:r"},
    "evidence": [],
    "rationale": None,
    "author": f"agt_{1:032x}",
    "confidence": 0.8,
    "stated_confidence": 0.7,
    "confirmations": 1,
    "contradictions": 0,
    "valid_from": None,
    "valid_until": None,
    "keep_until": None,
    "learned": INSTANT,
    "activated": INSTANT,
    "deactivated": None,
    "superseded_by": None,
}
RECEIPT: dict[str, Any] = {
    "id": f"rcp_{1:032x}",
    "searched": [],
    "query_digest": None,
    "filters": {},
    "paths": [],
    "space": None,
    "floor": None,
    "considered": 1,
    "returned": 1,
    "excluded": [],
    "hits": [],
    "coverage": "complete",
    "causes": [],
    "may_assert_absence": False,
    "ranking": "v2",
    "ms": {},
    "key": "k1",
    "signature": "s",
}
FINDING = Finding(
    text="run `a b` before `c d`",
    situation="Build the service x",
    subject="x build",
    rationale="tried it",
    run="r",
    step=5,
    log="error: linker exited 137",
)


class Server:
    """Answers as the API does, and keeps what it was asked."""

    def __init__(self, **learn: Any) -> None:
        self.asked: list[tuple[str, Any]] = []
        self._learn = {
            "outcome": "learned",
            "lesson": LESSON,
            "replaced": [],
            "dispute": None,
            "challenges": [],
            "reason": "new",
            "decision": f"dec_{1:032x}",
            "tick": 3,
            "replayed": False,
            **learn,
        }

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.url.path, json.loads(request.content)))
        if request.url.path == "/v1/recall":
            hit = {"lesson": LESSON, "score": 0.9, "terms": {}, "confidence": 0.75, "label": None, "challenges": []}
            return httpx.Response(200, json={"hits": [hit], "receipt": RECEIPT})
        if request.url.path == "/v1/lessons":
            return httpx.Response(200, json=self._learn)
        reply = {"outcome": "reinforced", "lesson": LESSON, "reason": "held", "tick": 4, "replayed": False}
        return httpx.Response(200, json=reply)

    def tribe(self) -> RemoteTribe:
        return RemoteTribe(
            Memory("http://127.0.0.1:1", "token", transport=httpx.MockTransport(self), environment={"TRIBUTARY_HOME": os.devnull})
        )


def test_recall_asks_in_words_and_hands_on_id_text_and_confidence() -> None:
    server = Server()
    hits = server.tribe().recall("Build the service x")
    assert list(hits) == [Hit(lesson=LESSON_ID, text="run `a b` before `c d`", confidence=0.75)]
    ((path, asked),) = server.asked
    assert (path, asked["query"]) == ("/v1/recall", "Build the service x")


def test_a_finding_is_learned_with_its_source_and_evidence() -> None:
    server = Server()
    assert server.tribe().learn(FINDING) == Learned(lesson=LESSON_ID, outcome="learned")
    ((_, asked),) = server.asked
    assert asked["source"] == {"how": "observed", "ref": "run:r"}
    assert asked["evidence"] == [{"type": "log", "ref": "run:r#step-5", "note": "error: linker exited 137"}]
    told = {name: asked[name] for name in ("text", "situation", "subject", "rationale")}
    assert told == {
        "text": FINDING.text,
        "situation": FINDING.situation,
        "subject": FINDING.subject,
        "rationale": FINDING.rationale,
    }


def test_a_finding_that_was_not_believed_keeps_its_outcome() -> None:
    assert Server(outcome="quarantined", lesson=None).tribe().learn(FINDING) == Learned(lesson=None, outcome="quarantined")


def test_reinforcing_names_the_lesson_and_returns_the_confidence_from_then_on() -> None:
    server = Server()
    assert server.tribe().reinforce(LESSON_ID) == 0.8
    assert server.asked[0][0] == f"/v1/lessons/{LESSON_ID}/reinforce"


def agent(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evals.gauntlet.agent", "--seed", "5", "--name", "a", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**clean_environment(os.environ, home), **environment}, capture_output=True, text=True, check=False
    )


def test_an_agent_without_memory_reports_on_standard_output_and_nothing_else_goes_there(tmp_path: Path) -> None:
    done = agent("--no-recall", home=tmp_path)
    assert done.returncode == 0
    report = AgentReport.model_validate_json(done.stdout)
    assert (report.agent, report.done, len(report.traps_hit), report.recalled) == ("a", True, 4, [])
    assert report.memory_calls == 0
    assert "working it out" in done.stderr


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "no token"),
        ({"TRIBUTARY_URL": "http://127.0.0.1:9", "TRIBUTARY_TOKEN": "t"}, "no answer from http://127.0.0.1:9"),
    ],
)
def test_an_agent_that_cannot_reach_its_memory_says_so_without_a_traceback(
    tmp_path: Path, environment: dict[str, str], message: str
) -> None:
    done = agent(home=tmp_path, **environment)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
