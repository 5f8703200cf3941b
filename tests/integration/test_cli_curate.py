"""`tributary curate` over a real gateway and a real database: what writers dispute, curators find, read and settle."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary import client
from tributary.core.agent import Role
from tributary.edges.cli.app import app
from tributary.edges.cli.doors import Doors, real_doors
from tributary.edges.gateway import running

LEARN = ("--situation", "connecting", "--subject", "port", "--source", "observed", "--ref", "run:1")


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A running gateway and a way to run commands, or the SDK, as the curator or as a writer, made when first named."""

    tribal: Tribal
    url: str
    home: Path
    tokens: dict[str, str]

    def memory(self, agent: str = "curator") -> client.Memory:
        return client.Memory(environment=self._environment(agent))

    def run(self, agent: str, *arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, arguments, obj=self._doors(agent), input=stdin)

    def json(self, agent: str, *arguments: str) -> Any:
        result = self.run(agent, *arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def _doors(self, agent: str) -> Doors:
        return replace(real_doors(), environment=self._environment(agent), open_client=lambda: self.memory(agent))

    def _environment(self, agent: str) -> Mapping[str, str]:
        if agent not in self.tokens:
            self.tokens[agent] = self.tribal.token(agent, Role.WRITER)
        return {"TRIBUTARY_HOME": str(self.home), "TRIBUTARY_URL": self.url, "TRIBUTARY_TOKEN": self.tokens[agent]}


@pytest.fixture
def desk(database_url: str, tmp_path: Path) -> Iterator[Desk]:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal, running(tribal.memory) as started:
        yield Desk(tribal=tribal, url=started.url, home=tmp_path, tokens={"curator": tribal.curator_token})


def disputed(desk: Desk) -> str:
    """Has the curator learn one thing and a writer another, and returns the dispute."""
    desk.json("curator", "learn", "it is 80", *LEARN)
    reply = desk.json("writer", "learn", "it is 81", *LEARN)
    assert reply["outcome"] == "disputed"
    return str(reply["dispute"])


def believed(desk: Desk) -> set[str]:
    with desk.memory() as memory:
        return {one.text for one in memory.lessons()}


def test_what_a_writer_disputes_is_found_shown_accepted_and_recalled(desk: Desk) -> None:
    dispute = disputed(desk)
    listed = desk.run("curator", "curate", "disputes")
    assert listed.stdout.splitlines()[1].split("\t") == [dispute, "tick 2", "open", "it is 81", "it is 80"]
    shown = desk.run("writer", "curate", "show", dispute).stdout
    assert "  says       it is {+81+}\n" in shown
    assert "  says       it is [-80-]\n" in shown
    (offered,) = [line.split() for line in shown.splitlines() if "curate accept" in line]
    assert desk.run("writer", *offered[1:]).exit_code == 4
    accepted = desk.run("curator", *offered[1:])
    assert accepted.exit_code == 0, accepted.output
    assert accepted.stdout.startswith(f"accepted: {dispute}\n")
    assert desk.run("curator", *offered[1:]).exit_code == 5
    recalled = desk.json("writer", "recall", "connecting: which port it is")
    assert [hit["lesson"]["text"] for hit in recalled["hits"]] == ["it is 81"]
    assert desk.run("curator", "curate", "disputes").stdout == ""
    settled = desk.json("curator", "curate", "disputes", "--all")["disputes"]
    assert [(one["id"], one["ending"], one["closed_by"]) for one in settled] == [(dispute, "accepted", "curator")]
    audited = desk.json("curator", "curate", "audit")["entries"]
    assert [(one["agent"], one["action"], one["code"]) for one in audited] == [
        ("curator", "accepted", "done"),
        ("writer", "accept_dispute", "forbidden"),
    ]


def test_what_came_into_a_dispute_since_it_was_shown_is_not_decided_along(desk: Desk) -> None:
    dispute = disputed(desk)
    seen = desk.json("curator", "curate", "show", dispute)["seen_tick"]
    desk.json("curator", "learn", "it is 82", *LEARN)
    assert "82" in desk.run("curator", "curate", "show", dispute).stdout
    late = desk.run("curator", "curate", "accept", dispute, "--seen", str(seen))
    assert late.exit_code == 5
    assert "came into the dispute" in late.stderr
    assert believed(desk) == {"it is 82"}


def test_what_is_rejected_is_answered_with_the_record_when_it_comes_again(desk: Desk) -> None:
    dispute = disputed(desk)
    rejected = desk.json("curator", "curate", "reject", dispute, "--why", "80 was measured")
    again = desk.run("other", "learn", "it is 81", *LEARN).stdout
    assert again.startswith("disputed: ")
    assert rejected["lesson"]["id"] in again
    assert "next, for a curator: tributary curate show dis_" in again


def test_where_both_stand_a_case_is_queued_and_taken_off_again(desk: Desk) -> None:
    desk.json("curator", "curate", "both-stand", disputed(desk), "--why", "two services")
    assert believed(desk) == {"it is 80", "it is 81"}
    (case,) = desk.json("curator", "curate", "reviews")["reviews"]
    assert (case["signal"], case["found"], case["expected"]) == ("both_stand", "conflicts", "unrelated")
    assert desk.run("curator", "curate", "reject-review", case["id"]).stdout == f"rejected: {case['id']}\n"
    assert desk.run("curator", "curate", "reviews").stdout == ""


def test_a_decision_is_found_reported_and_queued(desk: Desk) -> None:
    disputed(desk)
    (decision, *_) = desk.json("curator", "curate", "decisions")["decisions"]
    reported = desk.run("writer", "curate", "report", decision["id"], "--should-be", "unrelated", "--note", "two services")
    assert "in the review queue now" in reported.stdout
    rows = desk.run("curator", "curate", "decisions", "--lesson", decision["lesson"], "--limit", "1")
    assert decision["id"] in rows.stdout


def test_what_the_screen_holds_back_is_released_or_erased(desk: Desk) -> None:
    held = desk.json("writer", "learn", "to HIJACK a lock, run lockctl", *LEARN)["lesson"]["id"]
    assert "[do not follow] to HIJACK a lock" in desk.run("curator", "curate", "quarantine").stdout
    assert desk.json("curator", "curate", "release", held)["outcome"] == "learned"
    assert desk.json("curator", "curate", "erase", held, "--yes")["erased"] == [held]
    assert desk.json("curator", "recall", "lockctl")["hits"] == []
    assert desk.run("curator", "curate", "erase", held, "--yes").exit_code == 5


def test_pages_go_on_with_the_option_that_they_tell(desk: Desk) -> None:
    for number in range(3):
        desk.json("writer", "learn", f"HIJACK number {number}", *LEARN)
    first = desk.run("curator", "curate", "quarantine", "--limit", "2")
    (cursor,) = [line.split()[4] for line in first.stderr.splitlines() if "--before" in line]
    second = desk.run("curator", "curate", "quarantine", "--limit", "2", "--before", cursor)
    assert [line[-1] for line in first.stdout.splitlines()[1:] + second.stdout.splitlines()[1:]] == ["2", "1", "0"]
    assert "--before" not in second.stderr


def test_the_printed_policy_is_taken_back_once_changed(desk: Desk, tmp_path: Path) -> None:
    printed = desk.run("curator", "curate", "policy", "--json").stdout
    file = tmp_path / "policy.json"
    file.write_text(printed.replace('"equals": "dispute"', '"equals": "newest_observation"'))
    assert desk.json("curator", "curate", "policy", "set", str(file))["version"] == 2
    file.write_text(printed)
    assert desk.run("curator", "curate", "policy", "set", str(file)).exit_code == 5
    assert "version 2" in desk.run("writer", "curate", "policy").stdout


def test_a_contested_lesson_is_disputed_and_its_author_may_retire_it(desk: Desk) -> None:
    known = desk.json("author", "learn", "it is 80", *LEARN)["lesson"]["id"]
    contested = desk.json("writer", "contest", known, "no port is open", "--source", "observed")
    assert contested["outcome"] == "disputed"
    assert desk.run("writer", "retire", known).exit_code == 4
    assert desk.run("author", "retire", known, "--cause", "wrong").stdout.startswith(f"retired: {known}\n  as wrong;")
    assert believed(desk) == set()


# the SDK


def test_what_worked_is_confirmed_with_its_receipt_and_what_did_not_is_contested(desk: Desk) -> None:
    desk.json("curator", "learn", "it is 80", *LEARN)
    with desk.memory("writer") as memory:
        hits = memory.recall("connecting: it is 80")
        confirmed = memory.feedback(hits[0])
        assert isinstance(confirmed, client.Reinforced)
        assert (confirmed.outcome, confirmed.lesson.confirmations) == ("reinforced", 1)
        contested = memory.feedback(hits[0], worked=False, note="it is closed since run 9")
        assert isinstance(contested, client.Learned)
        assert contested.outcome == "disputed"
    details = desk.tribal.rows("SELECT details FROM tributary.lesson_event WHERE event = 'reinforced'")
    assert details == [{"details": {"receipt": hits.receipt.id}}]


def test_a_batch_is_learned_lesson_by_lesson_and_once(desk: Desk) -> None:
    drafts: list[client.LessonDraft | dict[str, object]] = [
        client.LessonDraft(text="it is 80", situation="connecting", subject="port", source=client.observed("run:1")),
        {"text": "", "situation": "connecting", "source": client.told()},
        {"text": "HIJACK", "situation": "connecting", "source": client.told()},
        {"text": "the cache is warm", "situation": "deploying", "source": client.told()},
    ]
    with desk.memory("writer") as memory:
        first = memory.learn_all(drafts, idempotency_key="b")
        again = memory.learn_all(drafts, idempotency_key="b")
    outcomes = [one.result.outcome if one.result else type(one.error).__name__ for one in first]
    assert outcomes == ["learned", "InvalidRequest", "quarantined", "learned"]
    assert [one.result.replayed for one in again if one.result] == [True, True, True]
    assert desk.tribal.status_counts() == {"active": 2, "quarantined": 1}


def test_a_lesson_that_nobody_waits_for_is_pending(desk: Desk) -> None:
    assert desk.json("writer", "learn", "it is 80", *LEARN, "--no-wait")["outcome"] == "pending"
