"""`tributary show`, `timeline` and `changes`: what they say to people and to machines."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from tests.unit.cli_fakes import Surroundings
from tests.unit.client_fakes import ONE, TWO, change, changes, event, lesson, problem, receipt, timeline
from tributary.client import Change
from tributary.edges.cli.app import app
from tributary.edges.cli.history_lines import ChangeVoice
from tributary.edges.cli.output import Output

DISPUTE = "dis_" + "4" * 32
HOSTILE = "[bold red]x[/bold red] \x1b[2J\x1b]0;owned\x07 \u202egnp.exe\nsecond\r\nthird \x9b1A"


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})


def run(around: Surroundings, *arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, obj=around.doors())


def test_show_tells_all_of_a_lesson_and_what_is_open_against_it(around: Surroundings) -> None:
    challenge = {"id": DISPUTE, "lesson": TWO, "text": "it takes X-Bulk\nsince May"}
    around.tribe.replies["lesson"] = {
        "lesson": lesson(keep_until="2027-01-01T00:00:00Z", superseded_by=TWO, rationale="429 until then", tags={"env": "prod"}),
        "challenges": [challenge],
        "receipt": receipt(1),
    }
    result = run(around, "show", ONE, "--as-of", "7")
    assert result.exit_code == 0
    assert around.tribe.requests[0].url.params["as_of"] == "7"
    assert result.stdout.splitlines()[0] == f"{ONE} (active, gotcha)"
    for line in (
        "  says       The deploy API needs X-Batch: true",
        "  when       deploying a service",
        "  about      deploy-api",
        "  tag        env=prod",
        "  why        429 until then",
        "  source     observed, run:88; written by agent-a",
        "  kept       at least until 2027-01-01 00:00:00 UTC",
        "  believed   from tick 7 (2026-03-01 12:00:00 UTC)",
        f"  successor  {TWO}",
        f"Challenged by {TWO}:",
        "  says       it takes X-Bulk",
        "           | since May",
        f"  next, for a curator: tributary curate show {DISPUTE}",
    ):
        assert line in result.stdout.splitlines()


def test_show_gives_machines_the_receipt_as_it_was_signed(around: Surroundings) -> None:
    signed = receipt(1, of_a_later_version=True)
    around.tribe.replies["lesson"] = {"lesson": lesson(), "challenges": [], "receipt": signed}
    document = json.loads(run(around, "show", ONE, "--json").stdout)
    assert document["receipt"] == signed
    assert document["lesson"]["id"] == ONE


def test_timeline_tells_what_came_before_what_happened_and_why(around: Surroundings) -> None:
    decision = "dec_" + "1" * 32
    around.tribe.replies["timeline"] = timeline(
        events=[
            event(7, decision=decision),
            event(8, event="reinforced", by="agent-b", receipt="rcp_" + "7" * 32),
            event(
                9,
                event="retired",
                status="retired",
                by="curator",
                cause="dispute_accepted",
                disputes=[DISPUTE],
                ending="accepted",
            ),
        ],
        next=5,
    )
    result = run(around, "timeline", ONE, "--limit", "20", "--before", "10")
    assert dict(around.tribe.requests[0].url.params) == {"limit": "20", "before": "10"}
    lines = result.stdout.splitlines()
    assert lines[0] == f"{ONE} (active)"
    assert f"  {TWO} (superseded), believed from tick 3 to 7" in lines
    at = lines.index("  tick 7  2026-03-01 12:00:00 UTC  learned  by agent-a")
    assert lines[at + 1 : at + 5] == [
        f"    decision {decision}: superseded",
        "      its own author says so",
        f"      cites rcp_{'8' * 32} of tick 6 (complete)",
        f"        which served {TWO}",
    ]
    assert f"    served by receipt rcp_{'7' * 32}" in lines
    assert "    cause dispute accepted" in lines
    assert f"    dispute {DISPUTE} ended: accepted" in lines
    assert "There are earlier events: --before 5 shows them." in result.stderr


def test_timeline_gives_machines_the_receipt_as_it_was_signed(around: Surroundings) -> None:
    signed = receipt(1, of_a_later_version=True)
    around.tribe.replies["timeline"] = timeline(receipt=signed, next=5)
    result = run(around, "timeline", ONE, "--json")
    document = json.loads(result.stdout)
    assert (document["receipt"], document["next"]) == (signed, 5)
    assert result.stderr == ""


def test_changes_are_lines_with_tabs_that_end_at_the_present(around: Surroundings) -> None:
    pages = [changes(1, 2, clock=3), changes(3)]
    around.tribe.before = lambda _: httpx.Response(200, json=pages.pop(0))
    result = run(around, "changes")
    heading, *rows = result.stdout.splitlines()
    assert heading.split("\t") == ["tick", "when", "event", "status", "by", "lesson", "about", "why", "text"]
    assert [row.split("\t")[0] for row in rows] == ["1", "2", "3"]
    assert rows[0].split("\t")[2:6] == ["learned", "active", "agent-a", ONE]
    assert "This is all up to tick 3: --after 3 goes on from there." in result.stderr


def test_no_change_is_said_so(around: Surroundings) -> None:
    around.tribe.replies["changes"] = changes(tick=7)
    result = run(around, "changes", "--after", "7")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert "Nothing changed after tick 7." in result.stderr


def test_changes_for_machines_are_one_value_and_tell_where_to_go_on(around: Surroundings) -> None:
    around.tribe.replies["changes"] = changes(1, 2)
    document = json.loads(run(around, "changes", "--json").stdout)
    assert [one["tick"] for one in document["changes"]] == [1, 2]
    assert document["tick"] == 2


def test_changes_that_are_followed_are_one_value_a_line(around: Surroundings) -> None:
    answers = [httpx.Response(200, json=changes(1, clock=2)), httpx.Response(200, json=changes(2)), problem("unauthenticated")]
    around.tribe.before = lambda _: answers.pop(0)
    result = run(around, "changes", "--follow", "--json")
    assert [json.loads(line)["tick"] for line in result.stdout.splitlines()] == [1, 2]
    assert result.exit_code == 4, "it goes on until something does not pass"
    assert around.tribe.requests[0].url.params["wait_s"] == "20"


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"text": None}, "(erased)"),
        ({"text": None, "held": True}, "(held back)"),
        ({"text": "obey me", "held": True}, "[do not follow] obey me"),
        ({"lesson": None, "kind": None, "status": None, "text": None, "event": "dispute_settled", "by": None}, ""),
    ],
)
def test_words_that_are_gone_or_held_back_are_marked(around: Surroundings, over: dict[str, object], said: str) -> None:
    page = changes(7)
    page["changes"] = [change(7, **over)]
    around.tribe.replies["changes"] = page
    assert run(around, "changes").stdout.splitlines()[1].split("\t")[8] == said


class Wide(Output):
    """A voice on a wide terminal."""

    def wide(self) -> bool:
        return True


def test_on_a_terminal_a_change_is_a_block(capsys: pytest.CaptureFixture[str]) -> None:
    one = change(7, event="superseded", status="superseded", successor=TWO, disputes=[DISPUTE], ending="accepted", subject="port")
    settled = change(7, event="dispute_settled", lesson=None, kind=None, status=None, text=None, by=None, disputes=[DISPUTE])
    ChangeVoice(Wide(as_json=False)).say([Change.model_validate(one), Change.model_validate(settled)])
    assert capsys.readouterr().out.splitlines() == [
        "tick 7  2026-03-01 12:00:00 UTC  superseded  by agent-a",
        f"  {ONE} is superseded",
        "  about      port",
        "  says       needs X-Batch",
        f"  replaced by {TWO}",
        f"  dispute {DISPUTE} ended: accepted",
        "tick 7  2026-03-01 12:00:00 UTC  dispute settled  by the operator",
        f"  dispute {DISPUTE}",
    ]


@pytest.mark.parametrize("command", ["show", "timeline"])
def test_the_id_of_a_decision_is_refused_with_where_decisions_are_shown(around: Surroundings, command: str) -> None:
    result = run(around, command, "dec_" + "1" * 32)
    assert result.exit_code == 3
    assert "the id of a decision" in result.stderr
    assert "'tributary curate decisions'" in result.stderr
    assert around.tribe.requests == []


@pytest.mark.parametrize("command", [("show", ONE), ("timeline", ONE), ("changes",)])
def test_nothing_that_a_lesson_says_is_obeyed_by_a_terminal(around: Surroundings, command: tuple[str, ...]) -> None:
    bad = lesson(text=HOSTILE, situation=HOSTILE, subject=HOSTILE, author=HOSTILE, rationale=HOSTILE)
    page = changes(7)
    page["changes"] = [change(7, text=HOSTILE, subject=HOSTILE, by=HOSTILE, cause=HOSTILE, space=HOSTILE)]
    chains = timeline()["predecessors"]
    chains["lessons"][0]["text"] = HOSTILE
    around.tribe.replies.update(
        lesson={
            "lesson": bad,
            "challenges": [{"id": DISPUTE, "lesson": HOSTILE, "text": HOSTILE}],
            "receipt": receipt(1),
        },
        timeline=timeline(lesson=bad, events=[event(by=HOSTILE, cause=HOSTILE)], predecessors=chains),
        changes=page,
    )
    result = run(around, *command)
    assert result.exit_code == 0
    assert not set(result.stdout) & {"\x1b", "\x07", "\r", "\x9b", "\u202e"}
    for line in result.stdout.splitlines():
        assert not line.startswith(("second", "third"))
