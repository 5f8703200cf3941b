"""What pages about lessons are made of: receipts in words, a score in its parts, and the picture of a chain."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from tributary.client import Receipt
from tributary.client.history import Timeline
from tributary.contract.history import ChainReply, LinkReply
from tributary.contract.models import CoverageValue, ExclusionReply, InstantReply, LessonReply, SearchedReply, SourceReply, Status
from tributary.core import ranking
from tributary.core.receipt import Cause, SearchPath
from tributary.edges.dashboard.telling.explaining import explain
from tributary.edges.dashboard.telling.lineage import DRAWN, STEP, draw, lines_of
from tributary.edges.dashboard.telling.score import break_down

AT = datetime(2026, 3, 1, tzinfo=UTC)
LEFT_OUT = (
    *("pending", "disputed", "quarantined", "superseded", "retired", "evicted", "erased"),
    *(
        "expired",
        "withered",
        "not_yet_valid",
        "below_confidence",
        "weak_match",
        "below_floor",
        "over_limit",
        "outranked",
        "undecided",
    ),
)


def receipt(coverage: CoverageValue, *, causes: tuple[str, ...] = (), returned: int = 0, absent: bool = False) -> Receipt:
    return Receipt(
        id="rcp_1",
        searched=[SearchedReply(tribe="t", tick=3, at=AT, settled=True)],
        query_digest=None,
        filters={"limit": 5, "tags": {"env": "prod"}, "kinds": [], "as_of": None, "include_stale": True},
        paths=[path.value for path in SearchPath],
        space=None,
        floor=None,
        considered=7,
        returned=returned,
        excluded=[ExclusionReply(rule=rule, count=1) for rule in LEFT_OUT],
        hits=[],
        coverage=coverage,
        causes=list(causes),
        may_assert_absence=absent,
        ranking="v2",
        ms={"embed": 1.0},
        key="k1",
        signature="00",
    )


def test_each_way_rule_and_cause_of_a_receipt_has_words() -> None:
    told = explain(receipt("partial", causes=tuple(cause.value for cause in Cause)))
    assert all(means for _, means in told.paths)
    assert all(one.means and one.to_do for one in told.causes)
    assert all(one.why for one in (*told.compared, *told.not_believed))
    assert [one.rule for one in (*told.not_believed, *told.compared)] == list(LEFT_OUT)
    assert told.narrowed == [("tags", "env=prod"), ("include_stale", "True")]


@pytest.mark.parametrize("returned", [0, 2])
@pytest.mark.parametrize("coverage", ["complete", "approximate", "partial", "unknown"])
def test_nothing_but_a_complete_search_allows_to_conclude_that_there_is_nothing(coverage: CoverageValue, returned: int) -> None:
    told = explain(receipt(coverage, returned=returned))
    assert not told.absent
    assert ("Do not conclude" in told.concluded) is not (coverage == "complete" and returned > 0)
    absent = explain(receipt("complete", absent=True))
    assert absent.absent
    assert absent.concluded == "You may conclude that there is nothing in scope."


def test_parts_of_a_score_come_to_the_score() -> None:
    terms = {"similarity": 0.8, "terms": 0.5, "freshness": 0.9, "confirmations": 0.75, "contradictions": 0.5}
    score = (0.6 * 0.8 + 0.4 * 0.5) * (0.6 + 0.3 * 0.9 + 0.1 * 0.75 - 0.3 * 0.5)
    parts = break_down(terms, version=ranking.VERSION, score=score)
    assert parts is not None
    assert parts.relevance.total * parts.standing.total == pytest.approx(score)
    taken = parts.standing.shares[-1]
    assert (taken.start + taken.width, taken.start) == pytest.approx((0.6 + 0.27 + 0.075, parts.standing.total))
    assert break_down(terms, version="v9", score=score) is None, "another formula has other parts"
    assert break_down({"similarity": 1.0}, version=ranking.VERSION, score=score) is None


def test_chain_is_drawn_oldest_first_and_lines_that_overlap_have_lanes_of_their_own() -> None:
    before = [link("a", 1, "c"), link("b", 2, "d"), link("c", 3, "d")]
    picture = draw(timeline("d", before, [link("e", 5, None)]), held=False)
    assert picture is not None
    assert [node.id for node in picture.nodes] == ["a", "b", "c", "d", "e"]
    assert [node.current for node in picture.nodes] == [False, False, False, True, False]
    lanes = {re.findall(r"Q(\d+)", arrow)[0] for arrow in picture.arrows if "Q" in arrow}
    assert len(lanes) == 2, "from a to c, and from b to d"
    assert len(picture.arrows) == 4
    assert picture.height > 4 * STEP
    assert draw(timeline("d", [], []), held=False) is None


def test_long_chain_is_drawn_around_the_lesson_that_is_looked_at() -> None:
    before = [link(f"b{one}", one, f"b{one + 1}" if one < 30 else "x") for one in range(31)]
    picture = draw(timeline("x", before, []), held=True)
    assert picture is not None
    assert [node.id for node in picture.nodes] == [*(f"b{one}" for one in range(31 - DRAWN, 31)), "x"]
    assert picture.nodes[-1].words == (), "what is held back is not shown in a picture either"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short", ("short",)),
        ("Backups of the orders database are kept for 35 days.", ("Backups of the orders database are kept", "for 35 days.")),
        ("w" * 200, ("w" * 42, "w" * 41 + "…")),
        ("漢" * 60, ("漢" * 21, "漢" * 20 + "…")),
        ("a\u202eb\n c", ("a\\u202eb c",)),
        ("", ()),
    ],
    ids=["short", "two-lines", "long-word", "wide", "unseen", "empty"],
)
def test_text_in_a_box_is_cut_to_two_lines(text: str, lines: tuple[str, ...]) -> None:
    assert lines_of(text) == lines


def link(name: str, tick: int, successor: str | None) -> LinkReply:
    status: Status = "superseded" if successor else "active"
    at = InstantReply(tick=tick, at=AT)
    return LinkReply(
        id=name, status=status, text=name, learned=at, activated=at, deactivated=None, superseded_by=successor, held=False
    )


def timeline(name: str, before: list[LinkReply], after: list[LinkReply]) -> Timeline:
    at = InstantReply(tick=4, at=AT)
    lesson = LessonReply(
        id=name,
        text="It is so.",
        situation="always",
        subject=None,
        kind="gotcha",
        status="superseded" if after else "active",
        tags={},
        source=SourceReply(how="observed", ref=None),
        evidence=[],
        rationale=None,
        author="ana",
        confidence=0.7,
        stated_confidence=0.7,
        confirmations=0,
        contradictions=0,
        **{"valid_from": None, "valid_until": None, "keep_until": None},
        learned=at,
        activated=at,
        deactivated=None,
        superseded_by=after[0].id if after else None,
    )
    return Timeline(
        lesson=lesson,
        events=(),
        decisions=(),
        predecessors=ChainReply(lessons=before, more=False),
        successors=ChainReply(lessons=after, more=False),
        next=None,
        receipt=receipt("complete"),
    )
