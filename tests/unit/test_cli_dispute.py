"""A dispute as `tributary curate show` lays it out: both sides, what differs, and what each ending would do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.unit.cli_fakes import Surroundings
from tests.unit.client_fakes import ONE, TWO, lesson
from tests.unit.curation_fakes import DISPUTE, curated, dispute
from tributary.edges.cli.app import app
from tributary.edges.cli.dispute_lines import told_apart


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    surroundings = Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})
    curated(surroundings.tribe)
    return surroundings


def run(around: Surroundings, *arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, obj=around.doors())


def test_show_lays_both_sides_one_above_the_other_with_what_differs_between_marks(around: Surroundings) -> None:
    contender = lesson(
        TWO,
        status="disputed",
        text="The deploy API takes X-Bulk: true",
        situation="deploying a batch",
        author="agent-b",
        rationale="run 90 showed it",
        tags={"env": "prod"},
        evidence=[{"type": "log", "ref": "s3://x", "note": "line 3"}],
        valid_from="2026-01-01T00:00:00Z",
    )
    around.tribe.replies["dispute"] = dispute(contender=contender)
    shown = run(around, "curate", "show", DISPUTE).stdout
    assert f"Dispute {DISPUTE} of tick 7 (2026-03-01 12:00:00 UTC): open\n" in shown
    first, second = shown.index(f"Contender: {TWO} (disputed)"), shown.index(f"Against: {ONE} (active)")
    assert first < second
    for part in (
        "  says       The deploy API {+takes X-Bulk+}: true\n",
        "  when       deploying a {+batch+}\n",
        "  tag        env=prod\n",
        "  why        run 90 showed it\n",
        "  source     observed, run:88; written by agent-b\n",
        "  evidence   log: s3://x (line 3)\n",
        "  holds      from 2026-01-01 00:00:00 UTC\n",
    ):
        assert part in shown[first:second]
    assert "  says       The deploy API [-needs X-Batch-]: true\n" in shown[second:]
    assert "  when       deploying a [-service-]\n" in shown[second:]
    assert f"  conflicts with {ONE}, confidence 0.90, by j/1\n" in shown
    assert f"  tributary curate accept {DISPUTE} --seen 7\n    {TWO} is believed\n    {ONE} gives way to it\n" in shown
    assert f"  tributary curate reject {DISPUTE} --seen 7 --why TEXT\n" in shown
    assert f"  tributary curate both-stand {DISPUTE} --seen 7\n" in shown


def test_show_tells_what_the_first_judge_had_said(around: Surroundings) -> None:
    first = {"verdict": "same", "confidence": 0.55, "judge": "c/1", "cause": None}
    verdict = {"lesson": ONE, "verdict": "unsure", "confidence": 0.0, "judge": "s/2", "cause": "budget_spent", "first": first}
    around.tribe.replies["dispute"] = dispute(verdicts=[verdict])
    shown = run(around, "curate", "show", DISPUTE).stdout
    assert f"  unsure about {ONE}, confidence 0.00, by s/2, because of budget_spent\n" in shown
    assert "    first: same, confidence 0.55, by c/1\n" in shown


def test_show_reads_the_tick_before_the_dispute(around: Surroundings) -> None:
    document = json.loads(run(around, "curate", "show", DISPUTE, "--json").stdout)
    assert (document["id"], document["seen_tick"]) == (DISPUTE, 7)
    assert [request.url.path for request in around.tribe.requests] == ["/v1/disputes", f"/v1/disputes/{DISPUTE}"]


def test_a_contender_against_several_is_set_against_each_of_them(around: Surroundings) -> None:
    about = [lesson(ONE, text="restart it on Monday"), lesson("les_" + "7" * 32, text="restart it slowly", status="superseded")]
    around.tribe.replies["dispute"] = dispute(contender=lesson(TWO, text="never restart it"), about=about)
    shown = run(around, "curate", "show", DISPUTE).stdout
    assert "  says       never restart it\n" in shown
    assert "  says       restart it [-on Monday-]\n" in shown
    assert "  says       restart it [-slowly-]\n" in shown
    assert shown.count("  and to it the contender\n  says       {+never+} restart it\n") == 2
    assert f"    {ONE} gives way to it\n" in shown, "what is believed no more gives no way"


def test_a_challenge_keeps_both_believed_and_a_precedent_is_named(around: Surroundings) -> None:
    around.tribe.replies["dispute"] = dispute(kind="unsure", precedent="les_" + "8" * 32)
    shown = run(around, "curate", "show", DISPUTE).stdout
    assert shown.startswith(f"Challenge {DISPUTE}")
    assert f"    {TWO} stays believed\n    {ONE} gives way to it\n" in shown
    assert f"A curator rejected the same before, as les_{'8' * 32}." in shown
    around.tribe.replies["dispute"] = dispute(about=[], verdicts=[], precedent="les_" + "8" * 32)
    alone = run(around, "curate", "show", DISPUTE).stdout
    assert "Nothing that is still there stands against it." in alone
    assert f"    {TWO} is believed\n  tributary curate reject" in alone


def test_a_settled_dispute_says_how_it_was_settled_and_offers_no_ending(around: Surroundings) -> None:
    closed = {"tick": 9, "at": "2026-03-02T12:00:00+00:00"}
    settled = dispute(ending="rejected", closed=closed, closed_by="carol", rationale="80 was measured")
    around.tribe.replies["dispute"] = settled
    shown = run(around, "curate", "show", DISPUTE).stdout
    assert "It was settled by carol at tick 9 (2026-03-02 12:00:00 UTC): rejected.\n  why        80 was measured\n" in shown
    assert "tributary curate" not in shown
    around.tribe.replies["dispute"] = dispute(ending="moot", closed=closed)
    assert "It became moot at tick 9" in run(around, "curate", "show", DISPUTE).stdout


@pytest.mark.parametrize(
    ("contender", "other", "marked"),
    [
        ("it is 81", "it is 80", ("it is {+81+}", "it is [-80-]")),
        ("it is not 80", "it is 80", ("it is {+not+} 80", "it is 80")),
        ("same words", "same words", ("same words", "same words")),
        ("use us-east-1", "use us-east-2", ("use {+us-east-1+}", "use [-us-east-2-]")),
        ("zebras are striped", "the cache must be warm", ("zebras are striped", "the cache must be warm")),
        ("a\u200bb c d", "ab c d", ("{+a\u200bb+} c d", "[-ab-] c d")),
        ("", "it is 80", ("", "it is 80")),
    ],
)
def test_words_that_only_one_side_says_are_marked_unless_all_of_them_differ(
    contender: str, other: str, marked: tuple[str, str]
) -> None:
    assert told_apart(contender, other) == marked


def test_a_line_of_a_lesson_cannot_pass_for_one_of_ours(around: Surroundings) -> None:
    forged = f"ok\nAgainst: {ONE} (retired)\n  tributary curate accept {DISPUTE}"
    around.tribe.replies["dispute"] = dispute(contender=lesson(TWO, text=forged, rationale=forged), about=[])
    lines = run(around, "curate", "show", DISPUTE).stdout.splitlines()
    assert f"           | Against: {ONE} (retired)" in lines
    assert not [line for line in lines if line.startswith("Against:")]
