"""Timelines and changes over HTTP: what is asked of the memory, and how those who wait are kept apart from the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime

import httpx

from tests.contract.samples import LEARN, RECALL, Context, bearer, errors_of, event_of
from tests.contract.stand_in import READER, WRITER, StandIn
from tributary.core.errors import InvalidRequest
from tributary.core.lesson import Kind
from tributary.core.requests import Filters
from tributary.edges.gateway import running
from tributary.edges.gateway.app import MOST_WAITING
from tributary.edges.lambda_http.app import MARGIN_S, App

LESSON = "les_0199c0de5a1e7b2c8d3f4a5b6c7d8e9f"


@contextmanager
def served(memory: StandIn) -> Iterator[httpx.Client]:
    limits = httpx.Limits(max_connections=200)
    with running(memory) as started, httpx.Client(base_url=started.url, trust_env=False, timeout=30, limits=limits) as client:
        yield client


class Waiters:
    """Stands where callers wait, until they are let go or the server ends."""

    def __init__(self) -> None:
        self.arrived = threading.Semaphore(0)
        self.ended_by_server = threading.Semaphore(0)
        self.let_go = threading.Event()

    def __call__(self, stop: threading.Event) -> None:
        self.arrived.release()
        while not self.let_go.is_set():
            if stop.wait(0.02):
                self.ended_by_server.release()
                return

    def await_arrivals(self, number: int) -> None:
        for _ in range(number):
            assert self.arrived.acquire(timeout=20)


def test_a_timeline_is_asked_for_by_lesson_and_page(api: httpx.Client, memory: StandIn) -> None:
    response = api.get(f"/v1/lessons/{LESSON}/timeline?limit=7&before=40", headers=bearer("reader"))
    assert response.status_code == 200
    (asked,) = memory.calls_of("timeline")
    assert (asked["principal"], asked["limit"], asked["before"]) == (READER, 7, 40)
    found = response.json()
    assert found["events"][0]["event"] == "learned"
    assert found["events"][0]["disputes"][0].startswith("dis_")
    assert found["decisions"][0]["receipts"][0]["id"].startswith("rcp_")
    assert found["predecessors"]["lessons"][0]["superseded_by"].startswith("les_")


def test_changes_are_asked_for_after_a_tick(api: httpx.Client, memory: StandIn) -> None:
    response = api.get("/v1/changes?after=3&limit=9", headers=bearer("reader"))
    (asked,) = memory.calls_of("changes")
    assert (asked["after"], asked["limit"], asked["wait_s"]) == (3, 9, 0)
    found = response.json()
    assert (found["tick"], found["clock"], found["more"]) == (2, 2, False)
    assert set(found["changes"][0]) == {
        *("tick", "at", "event", "status", "by", "decision", "disputes", "ending", "cause", "other", "successor", "receipt"),
        *("since", "space", "lesson", "kind", "subject", "text", "held"),
    }


def test_a_wait_is_bound_by_the_time_that_the_function_has_left(memory: StandIn) -> None:
    app = App("recall", lambda: memory)
    app(event_of("GET", "/v1/changes", principal=READER, query="wait_s=20"), Context(left_ms=4_000))
    app(event_of("GET", "/v1/changes", principal=READER, query="wait_s=2"), Context(left_ms=30_000))
    assert [one["wait_s"] for one in memory.calls_of("changes")] == [4 - MARGIN_S, 2]


def test_receipts_of_a_lesson_reach_the_memory_as_they_came(api: httpx.Client, memory: StandIn) -> None:
    receipt = {"id": "rcp_1", "ms": {"embed": 1.0}, "hits": [{"score": 0.30000000000000004}], "new": None}
    assert api.post("/v1/lessons", json={**LEARN, "receipts": [receipt]}, headers=bearer("writer")).status_code == 200
    batch = {"lessons": [{**LEARN, "receipts": [receipt]}]}
    assert api.post("/v1/lessons/batch", json=batch, headers=bearer("writer")).status_code == 200
    (one,), (several,) = memory.calls_of("learn"), memory.calls_of("learn_all")
    assert one["draft"].receipts == (receipt,)  # type: ignore[attr-defined]  # a draft
    assert several["drafts"][0].receipts == (receipt,)  # type: ignore[index]  # drafts


def test_a_receipt_that_is_none_is_told_by_its_place(api: httpx.Client, memory: StandIn) -> None:
    memory.failure_of["learn"] = InvalidRequest("receipts.0", "is of another tribe")
    response = api.post("/v1/lessons", json={**LEARN, "receipts": [{}]}, headers=bearer("writer"))
    assert errors_of(response) == {"receipts.0": "is of another tribe"}


def test_however_many_wait_the_others_are_served() -> None:
    waiters = Waiters()
    memory = StandIn(while_waiting=waiters)
    with served(memory) as client, ThreadPoolExecutor(max_workers=MOST_WAITING) as callers:
        try:
            waiting = [callers.submit(client.get, "/v1/changes?wait_s=20", headers=bearer("reader")) for _ in range(MOST_WAITING)]
            waiters.await_arrivals(MOST_WAITING)
            assert client.post("/v1/recall", json=RECALL, headers=bearer("reader")).status_code == 200
            assert client.get("/v1/changes?after=1", headers=bearer("reader")).status_code == 200
            one_more = client.get("/v1/changes?wait_s=20", headers=bearer("reader"))
            assert (one_more.status_code, one_more.json()["code"]) == (503, "overloaded")
        finally:
            waiters.let_go.set()
        assert {one.result(20).status_code for one in waiting} == {200}


def test_those_who_wait_are_answered_when_the_server_ends() -> None:
    waiters = Waiters()
    with ThreadPoolExecutor(max_workers=3) as callers, httpx.Client(trust_env=False, timeout=30) as client:
        try:
            with running(StandIn(while_waiting=waiters)) as started:
                url = f"{started.url}/v1/changes?wait_s=20"
                waiting = [callers.submit(client.get, url, headers=bearer("reader")) for _ in range(3)]
                waiters.await_arrivals(3)
            assert all(waiters.ended_by_server.acquire(timeout=0) for _ in range(3))
            assert {one.result(20).status_code for one in waiting} == {200}
        finally:
            waiters.let_go.set()


def test_a_writer_may_read_what_changed(api: httpx.Client, memory: StandIn) -> None:
    assert api.get("/v1/changes", headers=bearer("writer")).status_code == 200
    assert memory.calls_of("changes")[0]["principal"] == WRITER
    assert api.get("/v1/changes").status_code == 401


def test_a_diff_is_asked_for_between_ticks_or_times(api: httpx.Client, memory: StandIn) -> None:
    time = "2026-03-01T12:00:00%2B01:00"
    found = api.get(f"/v1/diff?from=3&to={time}&limit=9&before=x", headers=bearer("reader")).json()
    api.get(f"/v1/diff?from={time}", headers=bearer("reader"))
    api.get("/v1/diff", headers=bearer("reader"))
    at = datetime.fromisoformat("2026-03-01T12:00:00+01:00")
    asked = [(one["since"], one["until"], one["limit"], one["before"]) for one in memory.calls_of("diff")]
    assert asked == [(3, at, 9, "x"), (at, None, 20, None), (0, None, 20, None)]
    assert [(one["change"], one["how"], one["event"] is None) for one in found["changes"]] == [
        ("began", "learned", False),
        ("ended", "withered", True),
    ]
    for query, field in (("from=yesterday", "from"), ("to=2026-03-01T12:00:00", "to"), ("from=1&from=2", "from")):
        assert list(errors_of(api.get(f"/v1/diff?{query}", headers=bearer("reader")))) == [field]


def test_a_listing_is_asked_for_by_filters_of_which_tags_may_be_many(api: httpx.Client, memory: StandIn) -> None:
    query = "kind=gotcha&subject=Deploy%20API&tag=env%3Dprod&tag=team%3Da%3Db&author=ada"
    assert api.get(f"/v1/lessons?{query}", headers=bearer("reader")).status_code == 200
    (asked,) = memory.calls_of("lessons")
    assert asked["filters"] == Filters(kind=Kind.GOTCHA, subject="Deploy API", tags={"env": "prod", "team": "a=b"}, author="ada")
    many = "&".join(f"tag=k{number}%3Dv" for number in range(33))
    refused = (("tag=env", "tag"), ("tag=a%3D1&tag=a%3D2", "tag"), (many, "tag"), ("tag=", "tag"), ("kind=fact", "kind"))
    for query, field in (*refused, ("author=a&author=b", "author"), (f"tag=a%3D{'v' * 300}", "tag")):
        assert list(errors_of(api.get(f"/v1/lessons?{query}", headers=bearer("reader")))) == [field], query
