"""The SDK against a transport that speaks the contract: what is sent, and what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

import httpx
import pytest

import tributary.client as sdk
from tests.unit.client_fakes import AT, ONE, TOKEN, TWO, Hands, Tribe, hit, learned, lesson, opened, problem, receipt
from tributary.client import Evidence, LessonDraft, Memory, derived, imported, observed, told


@pytest.fixture
def tribe() -> Tribe:
    return Tribe()


@pytest.fixture
def memory(tribe: Tribe) -> Iterator[Memory]:
    with opened(tribe, Hands()) as memory:
        yield memory


def test_learn_sends_what_was_said_and_returns_what_became_of_it(memory: Memory, tribe: Tribe) -> None:
    reply = memory.learn(
        "Ünïcode 🚀 text",
        situation="deploying",
        source=observed("run:88"),
        kind="resolution",
        subject="deploy-api",
        tags={"env": "prod"},
        evidence=[Evidence(type="log", ref="s3://x"), {"type": "run", "ref": "88", "note": "n"}],
        rationale="429 until then",
        confidence=0.9,
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        valid_until=datetime(2027, 1, 1, tzinfo=UTC),
        keep_until=datetime(2028, 1, 1, tzinfo=UTC),
        deadline_s=10,
        idempotency_key="mine",
    )
    assert (reply.outcome, reply.tick, reply.lesson and reply.lesson.id) == ("learned", 7, ONE)
    (request,) = tribe.requests
    assert json.loads(request.content) == {
        "text": "Ünïcode 🚀 text",
        "situation": "deploying",
        "source": {"how": "observed", "ref": "run:88"},
        "kind": "resolution",
        "subject": "deploy-api",
        "tags": {"env": "prod"},
        "evidence": [{"type": "log", "ref": "s3://x"}, {"type": "run", "ref": "88", "note": "n"}],
        "rationale": "429 until then",
        "confidence": 0.9,
        "valid_from": "2026-01-01T00:00:00Z",
        "valid_until": "2027-01-01T00:00:00Z",
        "keep_until": "2028-01-01T00:00:00Z",
        "deadline_s": 10.0,
        "wait": True,
    }
    assert request.headers["idempotency-key"] == "mine"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


def test_a_pending_learn_is_a_reply_and_no_error(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["learn"] = learned(outcome="pending", lesson=lesson(status="pending"))
    assert memory.learn("t", situation="s", source=told()).outcome == "pending"


def test_each_learn_gets_a_key_of_its_own(memory: Memory, tribe: Tribe) -> None:
    for _ in range(2):
        memory.learn("t", situation="s", source=told())
    first, second = (request.headers["idempotency-key"] for request in tribe.requests)
    assert first != second


@pytest.mark.parametrize(
    ("source", "how"), [(observed, "observed"), (derived, "derived"), (told, "told"), (imported, "imported")]
)
def test_each_source_says_how_its_writer_knows(source: Callable[[str | None], sdk.Source], how: str) -> None:
    assert source("r") == sdk.Source(how=how, ref="r")  # type: ignore[arg-type]  # the parameter is a str here
    assert source(None).ref is None


def test_recall_returns_a_sequence_of_hits_with_a_receipt(memory: Memory, tribe: Tribe) -> None:
    challenge = {"id": "dis_1", "lesson": ONE, "text": "not so"}
    tribe.replies["recall"] = {
        "hits": [hit(label="tried, did not help", challenges=[challenge]), hit(TWO)],
        "receipt": receipt(2),
    }
    hits = memory.recall(
        "deploy",
        limit=3,
        kinds=["gotcha"],
        sources=["observed"],
        agent="agent-a",
        subject="x",
        tags={"a": "b"},
        min_confidence=0.2,
        at_least=5,
    )
    assert [one.id for one in hits] == [ONE, TWO]
    first = hits[0]
    assert (first.text, first.situation, first.subject) == (
        "The deploy API needs X-Batch: true",
        "deploying a service",
        "deploy-api",
    )
    assert (first.score, first.confidence, first.label, first.challenges[0].id) == (0.81, 0.74, "tried, did not help", "dis_1")
    assert first.terms == {"similarity": 0.88}
    assert hits
    assert hits[1:] == (hits[1],)
    assert hits.receipt.considered == 57
    sent = json.loads(tribe.requests[0].content)
    assert (sent["kinds"], sent["sources"], sent["agent"]) == (["gotcha"], ["observed"], "agent-a")
    assert (sent["at_least"], sent["min_confidence"], sent["limit"]) == (5, 0.2, 3)


def test_a_receipt_is_handed_back_for_verification_as_it_was_signed(memory: Memory, tribe: Tribe) -> None:
    signed = receipt(1, of_a_later_version=None)
    tribe.replies["recall"] = {"hits": [hit()], "receipt": signed}
    hits = memory.recall("deploy")
    assert memory.verify(hits.receipt, query="deploy").verdict == "agrees"
    assert memory.verify(hits.receipt.document(), query="deploy").verdict == "agrees"
    for sent in tribe.requests[1:]:
        assert json.loads(sent.content) == {"receipt": signed, "query": "deploy"}


def test_no_hits_are_false_and_absence_may_be_asserted_when_the_search_was_complete(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["recall"] = {"hits": [], "receipt": receipt(0)}
    hits = memory.recall("nothing")
    assert not hits
    assert hits.receipt.may_assert_absence
    hits.receipt.assert_absence()


@pytest.mark.parametrize("coverage", ["approximate", "partial", "unknown"])
def test_absence_cannot_be_asserted_on_a_search_that_was_not_complete(memory: Memory, tribe: Tribe, coverage: str) -> None:
    lame = receipt(0, coverage=coverage, causes=["embedder_failed"], may_assert_absence=False)
    tribe.replies["recall"] = {"hits": [], "receipt": lame}
    with pytest.raises(sdk.NotComplete, match="embedder_failed") as caught:
        memory.recall("nothing").receipt.assert_absence()
    assert caught.value.code == "not_complete"


def test_absence_cannot_be_asserted_beside_a_hit(memory: Memory) -> None:
    with pytest.raises(sdk.NotComplete, match="found 1"):
        memory.recall("something").receipt.assert_absence()


def test_absence_cannot_be_asserted_when_the_server_says_so_though_nothing_was_found(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["recall"] = {"hits": [], "receipt": receipt(0, may_assert_absence=False)}
    with pytest.raises(sdk.NotComplete):
        memory.recall("nothing").receipt.assert_absence()


@pytest.mark.parametrize(
    "reply",
    [
        {"hits": [], "receipt": receipt(0, coverage="unknown", may_assert_absence=True)},
        {"hits": [hit()], "receipt": receipt(1, may_assert_absence=True)},
        {"hits": [hit()], "receipt": receipt(0)},
    ],
)
def test_a_receipt_that_contradicts_itself_or_its_hits_is_a_bad_reply(
    memory: Memory, tribe: Tribe, reply: dict[str, Any]
) -> None:
    tribe.replies["recall"] = reply
    with pytest.raises(sdk.BadReply):
        memory.recall("q")


def test_a_receipt_is_handed_back_exactly_as_it_was_signed(memory: Memory, tribe: Tribe) -> None:
    signed = receipt(1, of_a_later_version={"x": [1.10, None]})
    tribe.replies["recall"] = {"hits": [hit(of_a_later_version=1)], "receipt": signed}
    found = memory.recall("q").receipt
    assert found.document() == signed
    found.document()["id"] = "changed"
    assert found.document() == signed


def test_a_view_asks_everything_as_of_its_moment(memory: Memory, tribe: Tribe) -> None:
    when = datetime(2026, 3, 1, 12, tzinfo=UTC)
    then = memory.as_of(when)
    then.recall("q")
    list(then.lessons())
    then.lesson(ONE)
    recalled, listed, shown = tribe.requests
    assert json.loads(recalled.content)["as_of"] == "2026-03-01T12:00:00Z"
    assert listed.url.params["as_of"] == shown.url.params["as_of"] == "2026-03-01T12:00:00+00:00"
    memory.as_of(41).recall("q")
    assert json.loads(tribe.requests[-1].content)["as_of"] == 41


@pytest.mark.parametrize("when", [datetime(2026, 3, 1), -1, True, "2026"])  # noqa: DTZ001
def test_a_moment_without_offset_or_order_is_refused_before_anything_is_sent(memory: Memory, tribe: Tribe, when: Any) -> None:
    for ask in (lambda: memory.as_of(when), lambda: memory.recall("q", as_of=when), lambda: memory.lesson(ONE, as_of=when)):
        with pytest.raises(sdk.InvalidRequest, match="as_of"):
            ask()
    assert not tribe.requests


def test_lessons_are_fetched_page_by_page_and_only_as_needed(memory: Memory, tribe: Tribe) -> None:
    pages = {
        None: {"lessons": [lesson(ONE)], "next": "7", "receipt": receipt(1)},
        "7": {"lessons": [lesson(TWO)], "next": None, "receipt": receipt(1)},
    }
    tribe.before = lambda request: httpx.Response(200, json=pages[request.url.params.get("before")])
    found = memory.lessons(status="any", page_size=1)
    assert next(found).id == ONE
    assert len(tribe.requests) == 1
    assert [one.id for one in found] == [TWO]
    assert [request.url.params["status"] for request in tribe.requests] == ["any", "any"]


def test_a_listing_is_narrowed_to_a_source_and_to_ones_own(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["lessons"] = {"lessons": [lesson()], "next": None, "receipt": receipt(1)}
    list(memory.lessons(ref="a.md#One:1"))
    list(memory.lessons(ref_prefix="a&b.md#", mine=True))
    asked = [dict(request.url.params) for request in tribe.requests]
    assert asked == [{"limit": "50", "ref": "a.md#One:1"}, {"limit": "50", "ref_prefix": "a&b.md#", "mine": "true"}]


def test_what_a_lesson_replaces_is_sent_as_ids_and_not_at_all_where_there_is_none(memory: Memory, tribe: Tribe) -> None:
    known = memory.recall("q")[0]
    tribe.requests.clear()
    item = {"status": 200, "result": learned(), "problem": None}
    tribe.replies["learn_batch"] = {"items": [item, item]}
    fields: dict[str, Any] = {"situation": "s", "source": observed()}
    memory.learn("t", **fields)
    memory.learn("t", **fields, replaces=[known, TWO])
    memory.learn_all([LessonDraft(text="t", **fields, replaces=[TWO]), {"text": "t", **fields}])
    bodies = [json.loads(request.content) for request in tribe.requests]
    assert [one.get("replaces") for one in bodies[:2]] == [None, [ONE, TWO]]
    assert [one.get("replaces") for one in bodies[2]["lessons"]] == [[TWO], None]
    with pytest.raises(sdk.InvalidRequest, match="lesson"):
        memory.learn("t", **fields, replaces=["les_1"])
    with pytest.raises(sdk.InvalidRequest, match="list"):
        memory.learn("t", **fields, replaces=ONE)


def test_a_server_that_repeats_a_page_forever_is_found_out(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["lessons"] = {"lessons": [lesson()], "next": "7", "receipt": receipt(1)}
    with pytest.raises(sdk.BadReply):
        list(islice(memory.lessons(), 10))


def test_reinforce_and_lesson_take_an_id_a_lesson_or_a_hit(memory: Memory, tribe: Tribe) -> None:
    found = memory.recall("q")[0]
    for which in (ONE, found, found.lesson):
        assert memory.reinforce(which).outcome == "reinforced"
        assert memory.lesson(which).lesson.id == ONE
    assert {request.url.path for request in tribe.requests[1:]} == {f"/v1/lessons/{ONE}/reinforce", f"/v1/lessons/{ONE}"}


@pytest.mark.parametrize("which", ["", "les_1", "../../health", "les_" + "g" * 32, ONE + "\n", 7, None])
def test_no_path_is_made_of_what_is_no_lesson_id(memory: Memory, tribe: Tribe, which: Any) -> None:
    for ask in (memory.reinforce, memory.lesson):
        with pytest.raises(sdk.InvalidRequest, match="lesson"):
            ask(which)
    assert not tribe.requests


def test_health_asks_once_and_tells_the_version(memory: Memory, tribe: Tribe) -> None:
    assert memory.health().version == "0.1.0"
    tribe.before = lambda _: problem("unavailable")
    with pytest.raises(sdk.Unavailable):
        memory.health()
    assert len(tribe.requests) == 2


def test_costs_come_as_the_server_tells_them(memory: Memory, tribe: Tribe) -> None:
    figures = {"calls": 3, "failed": 1, "unpriced": 1, "input_tokens": 9, "output_tokens": 2, "cost_usd": 0.25}
    budget = {"calls_per_day": None, "usd_per_day": 1.0, "calls_today": 3, "usd_today": 0.25, "spent": False}
    tribe.replies["costs"] = {
        "since": "2026-02-01",
        "until": "2026-03-01",
        "by": "model",
        "rows": [{"key": "m", "name": None, **figures}],
        "total": {"key": "total", "name": None, **figures},
        "unpriced_models": ["m"],
        "budget": budget,
    }
    found = memory.costs(since=date(2026, 2, 1), until=date(2026, 3, 1), by="model")
    assert (found.until, found.rows[0].cost_usd, found.total.failed, found.budget.spent) == (date(2026, 3, 1), 0.25, 1, False)
    memory.costs()
    asked = [dict(request.url.params) for request in tribe.requests]
    assert asked == [{"from": "2026-02-01", "to": "2026-03-01", "by": "model"}, {"by": "day"}]


def test_stats_and_status_come_as_the_server_tells_them(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["stats"] = {
        "tick": 7,
        "at": AT,
        "lessons": {"active": 3},
        "open_disputes": 1,
        "open_challenges": 0,
        "spaces": [{"space": "s", "state": "serving", "vectors": 3}],
        "agents": {"writer": 2},
        "calls": {"today": {"recall": 1}, "last_7_days": {"recall": 4}},
        "by_agent": None,
    }
    unknown = {"about": "tribe", "check": "last_gardening", "state": "unknown", "value": None, "rule": None}
    tribe.replies["status"] = {
        "usable": True,
        "paths": [{"path": "terms", "usable": True}],
        "observations": [{**unknown, "cause": "not_recorded"}, {**unknown, "state": "ok", "value": ["a"], "cause": None}],
        "gardening": {
            "began_at": AT,
            "ended_at": AT,
            "failed": None,
            "rules": [{"rule": "evict", "done": 1, "left": 2, "refused": {"in_grace": 2}, "failed": None}],
        },
    }
    stats, status = memory.stats(), memory.status()
    assert (stats.tick, stats.calls.last_7_days, stats.by_agent) == (7, {"recall": 4}, None)
    assert (status.usable, [one.value for one in status.observations]) == (True, [None, ["a"]])
    assert status.gardening is not None
    assert [(one.rule, one.done, one.refused) for one in status.gardening.rules] == [("evict", 1, {"in_grace": 2})]
    assert [request.url.path for request in tribe.requests] == ["/v1/stats", "/v1/status"]
