"""The SDK's write side and curation against a transport that speaks the contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice, repeat
from typing import Any

import httpx
import pytest

import tributary.client as sdk
from tests.unit.action_fakes import ACTION, LEASE, acting
from tests.unit.client_fakes import ONE, TWO, Hands, Tribe, hit, learned, lesson, opened, problem, receipt
from tests.unit.curation_fakes import (
    DECISION,
    DISPUTE,
    REVIEW,
    audit_entry,
    curated,
    decision,
    dispute,
    held,
    page,
    policy,
    resolved,
    review,
)
from tributary.client import LessonDraft, Memory, observed, told


@pytest.fixture
def tribe() -> Tribe:
    tribe = curated(Tribe())
    acting(tribe)
    return tribe


@pytest.fixture
def memory(tribe: Tribe) -> Iterator[Memory]:
    with opened(tribe, Hands()) as memory:
        yield memory


def sent(tribe: Tribe) -> Any:
    return json.loads(tribe.requests[-1].content)


# learn, contest, reinforce, retire


def test_a_learn_that_nobody_waits_for_says_so(memory: Memory, tribe: Tribe) -> None:
    memory.learn("t", situation="s", source=told(), wait=False)
    assert sent(tribe)["wait"] is False


def test_contest_sends_what_was_said_and_leaves_the_rest_to_the_lesson(memory: Memory, tribe: Tribe) -> None:
    reply = memory.contest(
        ONE,
        "it is optional",
        source=observed("run:9"),
        evidence=[{"type": "log", "ref": "s3://x"}],
        rationale="it worked without",
        deadline_s=5,
    )
    assert (reply.outcome, reply.dispute) == ("disputed", DISPUTE)
    assert tribe.requests[0].url.path == f"/v1/lessons/{ONE}/contest"
    assert sent(tribe) == {
        "text": "it is optional",
        "source": {"how": "observed", "ref": "run:9"},
        "evidence": [{"type": "log", "ref": "s3://x"}],
        "rationale": "it worked without",
        "confidence": 0.7,
        "deadline_s": 5.0,
    }
    with pytest.raises(sdk.InvalidRequest, match="source"):
        memory.contest(ONE, "t", source="observed")  # type: ignore[arg-type]  # what a user may try


def test_reinforce_sends_the_receipt_exactly_as_it_was_signed(memory: Memory, tribe: Tribe) -> None:
    signed = receipt(1, of_a_later_version={"x": [1.10, None]}, floor=None)
    tribe.replies["recall"] = {"hits": [hit()], "receipt": signed}
    hits = memory.recall("q")
    memory.reinforce(hits[0], hits.receipt)
    assert sent(tribe) == {"receipt": signed}
    memory.reinforce(ONE)
    assert sent(tribe) == {}
    with pytest.raises(sdk.InvalidRequest, match="receipt"):
        memory.reinforce(ONE, signed)  # type: ignore[arg-type]  # what a user may try


def test_what_worked_is_confirmed_with_the_receipt_that_served_it(memory: Memory, tribe: Tribe) -> None:
    first = memory.recall("q")[0]
    tribe.replies["recall"]["receipt"] = receipt(1, id="rcp_" + "8" * 32)
    second = memory.recall("q")[0]
    for one, wanted in ((first, "rcp_" + "9" * 32), (second, "rcp_" + "8" * 32)):
        reply = memory.feedback(one)
        assert isinstance(reply, sdk.Reinforced)
        assert sent(tribe)["receipt"]["id"] == wanted
    assert first == second, "two hits are alike whatever recall served them"


def test_what_did_not_work_is_contested_with_the_note(memory: Memory, tribe: Tribe) -> None:
    found = memory.recall("q")[0]
    reply = memory.feedback(found, worked=False, note="the header is X-Bulk now")
    assert isinstance(reply, sdk.Learned)
    assert tribe.requests[-1].url.path == f"/v1/lessons/{ONE}/contest"
    assert sent(tribe)["text"] == "the header is X-Bulk now"
    assert sent(tribe)["source"] == {"how": "observed", "ref": "rcp_" + "9" * 32}
    memory.feedback(found, worked=False, note="n", source=told("mail"))
    assert sent(tribe)["source"] == {"how": "told", "ref": "mail"}


@pytest.mark.parametrize("given", [{"worked": False}, {"worked": False, "note": " "}, {"worked": True, "note": "fine"}])
def test_feedback_whose_note_is_missing_or_would_be_lost_is_refused(memory: Memory, tribe: Tribe, given: dict[str, Any]) -> None:
    found = memory.recall("q")[0]
    with pytest.raises(sdk.InvalidRequest, match="note"):
        memory.feedback(found, **given)
    with pytest.raises(sdk.InvalidRequest, match="hit"):
        memory.feedback(ONE)  # type: ignore[arg-type]  # what a user may try
    assert len(tribe.requests) == 1


def test_retire_says_why(memory: Memory, tribe: Tribe) -> None:
    assert memory.retire(ONE).lesson.status == "retired"
    assert sent(tribe) == {"cause": "outdated"}
    memory.retire(ONE, "wrong")
    assert sent(tribe) == {"cause": "wrong"}
    with pytest.raises(sdk.InvalidRequest, match="cause"):
        memory.retire(ONE, "boring")  # type: ignore[arg-type]  # what a user may try


# batches


def test_a_batch_tells_of_each_lesson_in_its_place(memory: Memory, tribe: Tribe) -> None:
    refused = {"type": "/docs#wrong_standing", "title": "t", "status": 409, "code": "wrong_standing", "detail": "was erased"}
    tribe.replies["learn_batch"] = {
        "items": [
            {"status": 200, "result": learned(), "problem": None},
            {"status": 409, "result": None, "problem": refused},
            {"status": 202, "result": learned(outcome="pending"), "problem": None},
        ]
    }
    until = datetime(2027, 1, 1, tzinfo=UTC)
    attempts = memory.learn_all(
        [
            LessonDraft(text="a", situation="s", source=observed("run:1"), evidence=({"type": "log", "ref": "x"},)),
            {"text": "", "situation": "s", "source": told()},
            {"text": "b", "situation": "s", "source": {"how": "told"}, "valid_until": until, "tags": None},
            "no lesson",  # type: ignore[list-item]  # what a user may try
            {"text": "c", "situation": "s", "source": told(), "sauce": 1},
            LessonDraft(text="d", situation="s", source=told()),
        ],
        deadline_s=9,
        wait=False,
        idempotency_key="mine",
    )
    results = [one.result.outcome if one.result else None for one in attempts]
    assert results == ["learned", None, None, None, None, "pending"]
    errors = [type(one.error) for one in attempts]
    nothing = type(None)
    assert errors == [
        *(nothing, sdk.InvalidRequest, sdk.WrongStanding),
        *(sdk.InvalidRequest, sdk.InvalidRequest, nothing),
    ]
    assert attempts[1].error is not None
    assert "text" in str(attempts[1].error)
    assert "sauce" in str(attempts[4].error)
    assert str(attempts[2].error) == "was erased"
    body = sent(tribe)
    assert [one["text"] for one in body["lessons"]] == ["a", "b", "d"]
    assert body["lessons"][0]["evidence"] == [{"type": "log", "ref": "x"}]
    assert body["lessons"][1]["valid_until"] == "2027-01-01T00:00:00Z"
    assert (body["deadline_s"], body["wait"]) == (9.0, False)
    assert tribe.requests[0].headers["idempotency-key"] == "mine"


def test_a_batch_of_nothing_good_sends_nothing_and_one_of_too_many_is_refused(memory: Memory, tribe: Tribe) -> None:
    assert memory.learn_all([]) == []
    (attempt,) = memory.learn_all([{"text": "a"}])
    assert isinstance(attempt.error, sdk.InvalidRequest)
    assert {one.field for one in attempt.error.errors} == {"situation", "source"}
    draft = LessonDraft(text="a", situation="s", source=told())
    endless = repeat(draft)
    with pytest.raises(sdk.InvalidRequest, match="at most 100 at once"):
        memory.learn_all(islice(endless, 1_000))
    with pytest.raises(sdk.InvalidRequest, match="at most 100 at once"):
        memory.learn_all(endless)
    assert not tribe.requests


@pytest.mark.parametrize("items", [[], [{"status": 200, "result": None, "problem": None}]])
def test_a_server_that_leaves_out_a_lesson_is_found_out(memory: Memory, tribe: Tribe, items: list[Any]) -> None:
    tribe.replies["learn_batch"] = {"items": items}
    with pytest.raises(sdk.BadReply):
        memory.learn_all([LessonDraft(text="a", situation="s", source=told())])


# disputes and the rest of the desk


def test_listings_are_fetched_page_by_page_and_only_as_needed(memory: Memory, tribe: Tribe) -> None:
    pages = {None: page("disputes", dispute(), after="7"), "7": page("disputes", dispute(id="dis_" + "6" * 32))}
    tribe.before = lambda request: httpx.Response(200, json=pages[request.url.params.get("before")])
    found = memory.curation.disputes("any", lesson=ONE, page_size=1)
    assert next(found).id == DISPUTE
    assert len(tribe.requests) == 1
    assert [one.id for one in found] == ["dis_" + "6" * 32]
    asked = [dict(request.url.params) for request in tribe.requests]
    assert asked == [
        {"state": "any", "lesson": ONE, "limit": "1"},
        {"state": "any", "lesson": ONE, "limit": "1", "before": "7"},
    ]
    assert [(one.tick, one.receipt.returned) for one in found.pages()] == [(7, 1), (7, 1)]
    assert [one.id for one in memory.curation.disputes(before="7")] == ["dis_" + "6" * 32]


def test_a_listing_that_repeats_a_page_forever_is_found_out(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["audit"] = page("entries", audit_entry(), after="7")
    with pytest.raises(sdk.BadReply):
        list(islice(memory.curation.audit(), 10))
    with pytest.raises(sdk.InvalidRequest, match="page_size"):
        next(memory.curation.audit(page_size=0))


def test_each_listing_gives_what_it_lists(memory: Memory, tribe: Tribe) -> None:
    desk = memory.curation
    assert [one.kind for one in desk.disputes()] == ["conflict"]
    assert [one.kind for one in desk.challenges()] == ["unsure"]
    assert [one.reasons for one in desk.quarantine()] == [["override"]]
    assert [one.outcome for one in desk.decisions(ONE)] == ["disputed"]
    assert [one.signal for one in desk.reviews("any")] == ["reported"]
    assert [one.action for one in desk.audit()] == ["erase"]
    asked = [(request.url.path, dict(request.url.params)) for request in tribe.requests]
    limit = {"limit": "50"}
    assert asked == [
        ("/v1/disputes", {"state": "open", **limit}),
        ("/v1/challenges", {"state": "open", **limit}),
        ("/v1/quarantine", limit),
        ("/v1/decisions", {"lesson": ONE, **limit}),
        ("/v1/reviews", {"state": "any", **limit}),
        ("/v1/audit", limit),
    ]


def test_a_dispute_ends_in_one_of_three_ways(memory: Memory, tribe: Tribe) -> None:
    desk = memory.curation
    found = next(desk.disputes())
    assert desk.accept(found, seen_tick=7).replaced == [ONE]
    assert sent(tribe) == {"seen_tick": 7}
    assert desk.reject(found.id, "80 was measured").retired == [TWO]
    assert sent(tribe) == {"rationale": "80 was measured"}
    assert desk.both_stand(desk.dispute(found), rationale="two services").ending == "both_stand"
    assert sent(tribe) == {"rationale": "two services"}
    paths = [request.url.path for request in tribe.requests if request.method == "POST"]
    assert paths == [f"/v1/disputes/{DISPUTE}/{verb}" for verb in ("accept", "reject", "both-stand")]


def test_quarantine_erasure_reports_and_reviews_are_a_call_each(memory: Memory, tribe: Tribe) -> None:
    desk = memory.curation
    caught = next(desk.quarantine())
    assert desk.release(caught).outcome == "learned"
    assert tribe.requests[-1].url.path == f"/v1/lessons/{TWO}/release"
    assert desk.erase(caught.lesson).erased == [ONE, TWO]
    reported = desk.report(next(desk.decisions()), "unrelated", lesson=ONE, note="two services")
    assert sent(tribe) == {"should_be": "unrelated", "lesson": ONE, "note": "two services"}
    assert desk.reject_review(reported).state == "rejected"
    assert tribe.requests[-1].url.path == f"/v1/reviews/{REVIEW}/reject"
    assert sent(tribe) == {}
    assert desk.reject_review(REVIEW, reason="names a customer").state == "rejected"
    assert sent(tribe) == {"reason": "names a customer"}
    assert desk.accept_review(REVIEW, golden="rev-abc").state == "accepted"
    assert tribe.requests[-1].url.path == f"/v1/reviews/{REVIEW}/accept"
    assert sent(tribe) == {"golden": "rev-abc"}


WRITES: dict[str, Callable[[Memory, str | None], object]] = {
    "learn_all": lambda m, key: m.learn_all([LessonDraft(text="a", situation="s", source=told())], idempotency_key=key),
    "contest": lambda m, key: m.contest(ONE, "t", source=told(), idempotency_key=key),
    "feedback": lambda m, key: m.feedback(m.recall("q")[0], idempotency_key=key),
    "complaint": lambda m, key: m.feedback(m.recall("q")[0], worked=False, note="n", idempotency_key=key),
    "retire": lambda m, key: m.retire(ONE, idempotency_key=key),
    "accept": lambda m, key: m.curation.accept(DISPUTE, idempotency_key=key),
    "reject": lambda m, key: m.curation.reject(DISPUTE, "no", idempotency_key=key),
    "both_stand": lambda m, key: m.curation.both_stand(DISPUTE, idempotency_key=key),
    "release": lambda m, key: m.curation.release(ONE, idempotency_key=key),
    "erase": lambda m, key: m.curation.erase(ONE, idempotency_key=key),
    "report": lambda m, key: m.curation.report(DECISION, "same", idempotency_key=key),
    "accept_review": lambda m, key: m.curation.accept_review(REVIEW, golden="rev-abc", idempotency_key=key),
    "reject_review": lambda m, key: m.curation.reject_review(REVIEW, idempotency_key=key),
    "begin": lambda m, key: m.actions.begin("k", idempotency_key=key),
    "complete": lambda m, key: m.actions.complete(ACTION, LEASE, {"a": None}, idempotency_key=key),
    "fail": lambda m, key: m.actions.fail(ACTION, LEASE, "no", idempotency_key=key),
    "renew": lambda m, key: m.actions.renew(ACTION, LEASE, idempotency_key=key),
    "reconcile": lambda m, key: m.actions.reconcile(ACTION, happened=False, rationale="no", idempotency_key=key),
}


@pytest.mark.parametrize("name", WRITES)
def test_each_write_has_a_key_of_its_own_or_the_callers_and_keeps_it_when_its_reply_is_lost(
    memory: Memory, tribe: Tribe, name: str
) -> None:
    def keys() -> list[str]:
        return [one.headers["idempotency-key"] for one in tribe.requests if "idempotency-key" in one.headers]

    if name not in ("feedback", "complaint"):  # the recall before them would be the one that is lost
        tribe.losing = 1
    WRITES[name](memory, None)
    WRITES[name](memory, None)
    assert len(set(keys())) == 2
    tribe.requests.clear()
    WRITES[name](memory, "mine")
    assert keys() == ["mine"]
    with pytest.raises(sdk.InvalidRequest, match="idempotency_key"):
        WRITES[name](memory, "two words")


# ids


def carriers(memory: Memory) -> dict[str, list[Any]]:
    return {
        "lesson": [
            ONE,
            memory.recall("q")[0],
            memory.lesson(ONE),
            memory.lesson(ONE).lesson,
            memory.learn("t", situation="s", source=told()),
            memory.reinforce(ONE),
            memory.retire(ONE),
            memory.curation.erase(ONE),
            sdk.Held.model_validate(held(lesson=lesson(ONE))),
        ],
        "dispute": [
            DISPUTE,
            sdk.Dispute.model_validate(dispute()),
            sdk.Challenge(id=DISPUTE, lesson=ONE, text="t"),
            memory.contest(ONE, "t", source=told()),
        ],
        "decision": [
            DECISION,
            sdk.Decision.model_validate(decision()),
            sdk.Learned.model_validate(learned(decision=DECISION)),
            sdk.Dispute.model_validate(dispute()),
            sdk.Held.model_validate(held()),
        ],
        "review": [REVIEW, sdk.Review.model_validate(review()), memory.curation.report(DECISION, "same")],
    }


ID_TAKERS: dict[str, list[Callable[[Memory, Any], object]]] = {
    "lesson": [
        lambda m, which: m.contest(which, "t", source=told()),
        lambda m, which: m.reinforce(which),
        lambda m, which: m.retire(which),
        lambda m, which: m.curation.release(which),
        lambda m, which: m.curation.erase(which),
        lambda m, which: next(m.curation.disputes(lesson=which)),
        lambda m, which: next(m.curation.challenges(lesson=which)),
        lambda m, which: next(m.curation.decisions(which)),
        lambda m, which: m.curation.report(DECISION, "same", lesson=which),
    ],
    "dispute": [
        lambda m, which: m.curation.dispute(which),
        lambda m, which: m.curation.accept(which),
        lambda m, which: m.curation.reject(which, "no"),
        lambda m, which: m.curation.both_stand(which),
    ],
    "decision": [lambda m, which: m.curation.report(which, "same")],
    "review": [lambda m, which: m.curation.reject_review(which)],
}
IDS = {"lesson": ONE, "dispute": DISPUTE, "decision": DECISION, "review": REVIEW}


@pytest.mark.parametrize("kind", ID_TAKERS)
def test_an_id_may_be_given_as_any_reply_that_carries_it(memory: Memory, tribe: Tribe, kind: str) -> None:
    for which in carriers(memory)[kind]:
        for take in ID_TAKERS[kind]:
            take(memory, which)
            request = tribe.requests[-1]
            assert IDS[kind] in str(request.url) + request.content.decode()


@pytest.mark.parametrize("kind", ID_TAKERS)
def test_no_path_or_query_is_made_of_what_is_no_id_of_its_kind(memory: Memory, tribe: Tribe, kind: str) -> None:
    others = [value for name, value in IDS.items() if name != kind]
    without = sdk.Learned.model_validate(learned(lesson=None, decision="no id"))
    for which in (*others, "", "../../health", IDS[kind] + "\n", IDS[kind] + "/../x", IDS[kind].upper(), 7, None, without):
        for take in ID_TAKERS[kind]:
            if which is None and take in ID_TAKERS["lesson"][-4:]:
                continue  # None is "of every lesson" there
            with pytest.raises(sdk.InvalidRequest, match=kind):
                take(memory, which)
    assert not tribe.requests


# policy


def test_a_policy_is_read_changed_and_put_in_place_as_a_whole(memory: Memory, tribe: Tribe) -> None:
    found = memory.curation.policy()
    assert found.precedence[0].over == ["imported", "told"]
    reply = memory.curation.set_policy(found.model_copy(update={"equals": "newest_observation", "capacity": 10}))
    assert reply.version == 2
    request = tribe.requests[-1]
    assert (request.method, request.url.path) == ("PUT", "/v1/policy")
    assert sent(tribe) == {**policy(), "equals": "newest_observation", "capacity": 10}
    memory.curation.set_policy(policy(precedence=[]))
    assert sent(tribe)["precedence"] == []
    for bad in (policy(version=0), policy(x=1), policy(equals="coin"), {}):
        with pytest.raises(sdk.InvalidRequest):
            memory.curation.set_policy(bad)


def test_a_policy_whose_reply_was_lost_is_found_in_force_and_not_taken_for_another_ones(memory: Memory, tribe: Tribe) -> None:
    wanted = policy(equals="newest_observation")
    in_force = policy(version=2, equals="newest_observation")
    in_force["precedence"][0]["over"] = ["told", "imported"]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=in_force)
        if sum(one.method == "PUT" for one in tribe.requests) == 1:
            raise httpx.ReadError("connection reset", request=request)
        return problem("wrong_standing", "the policy is at version 2")

    tribe.before = answer
    assert memory.curation.set_policy(wanted).version == 2
    assert [request.method for request in tribe.requests] == ["PUT", "PUT", "GET"]
    for other in (policy(), policy(equals="newest_observation", capacity=5), policy(version=3, equals="newest_observation")):
        with pytest.raises(sdk.WrongStanding, match="version 2"):
            memory.curation.set_policy(other)


def test_a_resolved_dispute_that_led_to_another_leads_there(memory: Memory, tribe: Tribe) -> None:
    other = "dis_" + "6" * 32
    tribe.replies["both_stand"] = resolved(ending="both_stand", outcome="disputed", dispute=other)
    led_to = memory.curation.both_stand(DISPUTE).dispute
    assert led_to == other
