"""Batches, lessons that nobody waits for, receipts that come back, and curation over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import httpx
import pytest

from tests.doubles import RuledJudge, SwitchedEmbedder, within_a_subject
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.contract.routes import ROUTES
from tributary.core import ids
from tributary.core.agent import Role
from tributary.core.decision import Learned, Outcome
from tributary.core.errors import Forbidden, IdempotencyConflict, InvalidRequest, ModelFailed, TributaryError, Unavailable
from tributary.core.lesson import Draft, Lesson, Status
from tributary.edges.gateway import running
from tributary.models.embedders import HashedEmbedder

LESSON: dict[str, object] = {
    "text": "it is 80",
    "situation": "connecting",
    "subject": "port",
    "source": {"how": "observed", "ref": "run:1"},
}


@pytest.fixture
def ruled(database_url: str) -> Iterator[Tribal]:
    """A tribe whose lessons of one subject conflict unless they say the same."""
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as opened:
        yield opened


def drafts(*texts: str, subject: str | None = None) -> list[Draft]:
    return [Draft(text=text, situation="operating", source=SEEN, subject=subject) for text in texts]


def outcomes(attempts: list[Learned | TributaryError]) -> list[str]:
    return [one.outcome.value if isinstance(one, Learned) else one.code for one in attempts]


def lesson_of(learned: Learned) -> Lesson:
    assert learned.lesson is not None
    return learned.lesson


# -- batches


def test_lessons_of_a_batch_are_learned_in_their_order_each_for_itself(ruled: Tribal) -> None:
    writer = ruled.agent("w")
    batch = [*drafts("it is 80", "it is 80", "HIJACK", "it is 81", subject="port"), *drafts("", "the cache is warm")]
    attempts = ruled.memory.learn_all(writer, batch)
    assert outcomes(attempts) == ["learned", "unchanged", "quarantined", "superseded", "invalid_request", "learned"]


def test_repeated_batch_gives_each_lesson_its_first_reply(tribal: Tribal) -> None:
    batch = drafts("alpha", "", "beta")
    first = tribal.memory.learn_all(tribal.curator, batch, idempotency_key="b")
    again = tribal.memory.learn_all(tribal.curator, batch, idempotency_key="b")
    for one, other in zip(first, again, strict=True):
        if isinstance(one, Learned):
            assert isinstance(other, Learned)
            assert other.replayed
            assert (one.decision_id, one.tick) == (other.decision_id, other.tick)
        else:
            assert isinstance(other, InvalidRequest)
    other_body = tribal.memory.learn_all(tribal.curator, drafts("gamma", "", "beta"), idempotency_key="b")
    assert isinstance(other_body[0], IdempotencyConflict)
    assert tribal.status_counts() == {"active": 2}


def test_batch_that_runs_out_of_time_keeps_the_rest_as_pending(database_url: str) -> None:
    judge = RuledJudge(within_a_subject, delay_s=0.3)
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, "it is 79", subject="port")
        attempts = tribal.memory.learn_all(
            tribal.curator, drafts("it is 80", "it is 81", "it is 82", subject="port"), deadline_s=0.5
        )
        assert outcomes(attempts)[0] == "superseded"
        assert outcomes(attempts)[-1] == "pending"
        judge.delay_s = 0
        while tribal.memory.settle_pending():
            pass
        assert tribal.status_counts() == {"active": 1, "superseded": 3}


def test_batch_is_embedded_in_one_call_and_fails_lesson_by_lesson_when_it_cannot_be(database_url: str) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with open_tribal(database_url, embedder=embedder) as tribal:
        embedder.fails = True
        attempts = tribal.memory.learn_all(tribal.curator, drafts("a", "b"))
        assert [type(one) for one in attempts] == [ModelFailed, ModelFailed]
        assert tribal.status_counts() == {}


@pytest.mark.parametrize("count", [0, 101])
def test_batch_of_none_or_too_many_is_refused_as_a_whole(tribal: Tribal, count: int) -> None:
    with pytest.raises(InvalidRequest, match="1 to 100"):
        tribal.memory.learn_all(tribal.curator, drafts(*[f"t{n}" for n in range(count)]))


def test_reader_learns_no_batch(tribal: Tribal) -> None:
    with pytest.raises(Forbidden):
        tribal.memory.learn_all(tribal.agent("r", Role.READER), drafts("a"))


def test_batch_without_a_database_is_refused_as_a_whole(tribal: Tribal) -> None:
    tribal.memory.database.close()
    with pytest.raises(Unavailable):
        tribal.memory.learn_all(tribal.curator, drafts("a", "b"))


# -- not waiting


def test_lesson_that_nobody_waits_for_is_pending_until_a_worker_settles_it(ruled: Tribal) -> None:
    ruled.learn(ruled.curator, "it is 80", subject="port")
    writer = ruled.agent("w")
    kept = ruled.memory.learn(writer, drafts("it is 81", subject="port")[0], wait=False)
    assert (kept.outcome, lesson_of(kept).status) == (Outcome.PENDING, Status.PENDING)
    assert ruled.memory.settle_pending() == 1
    assert ruled.memory.lesson(ruled.curator, lesson_of(kept).lesson_id).lesson.status is Status.DISPUTED


def test_lesson_that_nobody_waits_for_asks_no_judge_and_is_screened_all_the_same(database_url: str) -> None:
    judge = RuledJudge(within_a_subject)
    with open_tribal(database_url, judge=judge) as tribal:
        tribal.learn(tribal.curator, "it is 80", subject="port")
        judge.asked.clear()
        held = tribal.memory.learn(tribal.curator, drafts("HIJACK", subject="port")[0], wait=False)
        assert held.outcome is Outcome.QUARANTINED
        tribal.memory.learn(tribal.curator, drafts("it is 81", subject="port")[0], wait=False)
        assert judge.asked == []


# -- receipts that come back


def test_confirmation_names_the_receipt_that_served_the_lesson(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache must be warm", situation="deploying")
    recalled = tribal.recall("deploying: the cache must be warm")
    document = {**recalled.receipt.document(), "signature": recalled.receipt.signature}
    writer = tribal.agent("w")
    tribal.memory.reinforce(writer, recalled.hits[0].lesson.lesson_id, receipt=document)
    (event,) = tribal.rows("SELECT details FROM tributary.lesson_event WHERE event = 'reinforced'")
    assert event["details"] == {"receipt": ids.show(ids.Prefix.RECEIPT, recalled.receipt.receipt_id)}


def test_receipt_that_was_changed_or_served_something_else_is_refused(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache must be warm", situation="deploying")
    other = lesson_of(tribal.learn(tribal.curator, "zebras are striped", situation="on safari"))
    recalled = tribal.recall("deploying: the cache must be warm")
    document = {**recalled.receipt.document(), "signature": recalled.receipt.signature}
    writer, lesson_id = tribal.agent("w"), recalled.hits[0].lesson.lesson_id
    for changed in (
        {**document, "considered": 99},
        {**document, "key": "k9"},
        {**document, "signature": "00"},
        {**document, "signature": "é"},
        {name: value for name, value in document.items() if name != "signature"},
        {"x": float("nan"), "key": "k1", "signature": "00"},
        {},
    ):
        with pytest.raises(InvalidRequest, match="as it was signed"):
            tribal.memory.reinforce(writer, lesson_id, receipt=changed)
    with pytest.raises(InvalidRequest, match="did not serve"):
        tribal.memory.reinforce(writer, other.lesson_id, receipt=document)
    with open_tribal(tribal.url, name="strangers") as strangers:
        known = lesson_of(strangers.learn(strangers.curator, "a"))
        with pytest.raises(InvalidRequest, match="another tribe"):
            strangers.memory.reinforce(strangers.agent("w"), known.lesson_id, receipt=document)
    assert tribal.rows("SELECT * FROM tributary.confirmation") == []


# -- over HTTP


@pytest.fixture
def api(ruled: Tribal) -> Iterator[httpx.Client]:
    with running(ruled.memory) as started, httpx.Client(base_url=started.url, trust_env=False, timeout=30) as client:
        client.headers["Authorization"] = f"Bearer {ruled.curator_token}"
        yield client


def test_malformed_lesson_of_a_batch_is_told_in_its_place(api: httpx.Client) -> None:
    reply = api.post("/v1/lessons/batch", json={"lessons": [LESSON, {"text": "no source"}, {**LESSON, "text": "it is 81"}]})
    assert reply.status_code == 200
    first, second, third = reply.json()["items"]
    assert (first["status"], first["result"]["outcome"], first["problem"]) == (200, "learned", None)
    assert (second["status"], second["result"], second["problem"]["code"]) == (400, None, "invalid_request")
    assert {one["field"] for one in second["problem"]["errors"]} == {"situation", "source"}
    assert third["result"]["outcome"] == "superseded"


def test_batch_with_pending_lessons_is_202(api: httpx.Client) -> None:
    reply = api.post("/v1/lessons/batch", json={"lessons": [LESSON], "wait": False})
    assert (reply.status_code, reply.json()["items"][0]["status"]) == (202, 202)
    assert api.post("/v1/lessons", json={**LESSON, "text": "x", "wait": False}).status_code == 202


def test_receipt_survives_its_way_through_json_and_back(api: httpx.Client, ruled: Tribal) -> None:
    api.post("/v1/lessons", json=LESSON)
    recalled = api.post("/v1/recall", json={"query": "connecting: it is 80"}).json()
    hit = recalled["hits"][0]["lesson"]["id"]
    writer = {"Authorization": f"Bearer {ruled.token('w')}"}
    as_javascript_writes_it = _whole_numbers(recalled["receipt"])
    reply = api.post(f"/v1/lessons/{hit}/reinforce", json={"receipt": as_javascript_writes_it}, headers=writer)
    assert (reply.status_code, reply.json()["outcome"]) == (200, "reinforced")


def _whole_numbers(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_numbers(inner) for key, inner in value.items()}
    return [_whole_numbers(inner) for inner in value] if isinstance(value, list) else value


def test_dispute_is_found_accepted_and_gone_over_http(api: httpx.Client, ruled: Tribal) -> None:
    api.post("/v1/lessons", json=LESSON)
    writer = {"Authorization": f"Bearer {ruled.token('w')}"}
    disputed = api.post("/v1/lessons", json={**LESSON, "text": "it is 81"}, headers=writer).json()
    assert disputed["outcome"] == "disputed"
    page = api.get("/v1/disputes").json()
    assert [one["id"] for one in page["disputes"]] == [disputed["dispute"]]
    assert page["receipt"]["returned"] == 1
    assert api.get(f"/v1/disputes/{disputed['dispute']}").json()["contender"]["text"] == "it is 81"
    seen = page["receipt"]["searched"][0]["tick"]
    path = f"/v1/disputes/{disputed['dispute']}/accept"
    assert api.post(path, json={"seen_tick": seen}, headers=writer).status_code == 403
    accepted = api.post(path, json={"seen_tick": seen}, headers={"Idempotency-Key": "k"})
    assert (accepted.status_code, accepted.json()["ending"], len(accepted.json()["replaced"])) == (200, "accepted", 1)
    assert api.post(path, json={"seen_tick": seen}, headers={"Idempotency-Key": "k"}).json()["replayed"]
    assert api.post(path, json={}).status_code == 409
    assert api.get("/v1/disputes").json()["disputes"] == []
    audit = api.get("/v1/audit").json()["entries"]
    assert [(one["action"], one["code"]) for one in audit] == [("accepted", "done"), ("accept_dispute", "forbidden")]


def test_every_curation_route_refuses_ids_of_another_kind(api: httpx.Client) -> None:
    lesson = ids.show(ids.Prefix.LESSON, UUID(int=7))
    for path, body in (
        (f"/v1/disputes/{lesson}/accept", {}),
        (f"/v1/decisions/{lesson}/report", {"should_be": "same"}),
        (f"/v1/reviews/{lesson}/reject", {}),
    ):
        assert api.post(path, json=body).status_code == 400
    assert api.post(f"/v1/lessons/{lesson}/erase", json={}).status_code == 404


def test_policy_is_read_and_set_over_http(api: httpx.Client) -> None:
    policy = api.get("/v1/policy").json()
    assert policy["version"] == 1
    changed = api.put("/v1/policy", json={**policy, "equals": "newest_observation", "capacity": 1000})
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert api.put("/v1/policy", json={**policy, "equals": "newest_observation"}).status_code == 409
    assert api.get("/v1/policy").json() == changed.json()


BODIES: dict[str, dict[str, object]] = {
    "learn": LESSON,
    "learn_batch": {"lessons": [LESSON]},
    "contest": {"text": "it is not", "source": {"how": "told"}},
    "reject_dispute": {"rationale": "it was measured"},
    "report": {"should_be": "unrelated"},
    "set_policy": {"version": 1, "precedence": []},
    "create_agent": {"name": "x", "role": "reader"},
    "set_role": {"role": "curator"},
}


def test_reader_changes_nothing_by_any_route(api: httpx.Client, ruled: Tribal) -> None:
    """With the ids of things that are there, so that nothing but the role stands in the way."""
    learned = api.post("/v1/lessons", json=LESSON).json()
    disputed = api.post(
        "/v1/lessons", json={**LESSON, "text": "it is 81"}, headers={"Authorization": f"Bearer {ruled.token('w')}"}
    ).json()
    agent = ruled.agent("victim")
    reader = {"Authorization": f"Bearer {ruled.token('r', Role.READER)}"}
    here = {
        "les": learned["lesson"]["id"],
        "dis": disputed["dispute"],
        "dec": disputed["decision"],
        "agt": ids.show(ids.Prefix.AGENT, agent.agent_id),
    }
    before = _state(ruled)
    writing = [route for route in ROUTES if route.role in ("writer", "curator")]
    assert {route.method for route in writing} == {"GET", "POST", "PUT"}
    for route in writing:
        path = route.path.replace("{id}", here.get(route.id_of, f"{route.id_of}_{UUID(int=7).hex}"))
        reply = api.request(route.method, path, json=BODIES.get(route.operation), headers=reader)
        assert (route.operation, reply.status_code) == (route.operation, 403)
    assert _state(ruled) == before


def _state(tribal: Tribal) -> list[object]:
    """Returns what the tribe believes and who is in it; refusals are audited, and uses of a token noted."""
    tables = ("tribe", "lesson", "lesson_event", "dispute", "decision", "confirmation", "review", "agent", "idempotency")
    return [tribal.rows(f"SELECT * FROM tributary.{table} x ORDER BY x::text") for table in tables]
