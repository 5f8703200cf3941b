"""The SDK's view of what happened: timelines, the feed of changes and how it is followed, and receipts that a lesson cites."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

import httpx
import pytest

from tests.unit.client_fakes import ONE, TWO, Hands, Tribe, changes, opened, problem, timeline
from tests.unit.client_fakes import receipt as known_receipt
from tributary.client import (
    BadReply,
    Forbidden,
    InvalidRequest,
    LessonDraft,
    Memory,
    Overloaded,
    Unauthenticated,
    Unreachable,
    observed,
    told,
)


@pytest.fixture
def tribe() -> Tribe:
    return Tribe()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def memory(tribe: Tribe, hands: Hands) -> Iterator[Memory]:
    with opened(tribe, hands) as memory:
        yield memory


Step = dict[str, object] | httpx.Response | Exception


class Script:
    """Answers one after another; beyond the last it fails the test."""

    def __init__(self, tribe: Tribe, *steps: Step) -> None:
        self.steps = list(steps)
        tribe.before = self

    def __call__(self, request: httpx.Request) -> httpx.Response | None:
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, httpx.Response) else httpx.Response(200, json=step)


def asked(tribe: Tribe) -> list[tuple[str, str | None]]:
    return [(one.url.params["after"], one.url.params.get("wait_s")) for one in tribe.requests]


def test_a_timeline_comes_with_its_chain_and_the_receipts_that_were_cited(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["timeline"] = timeline(next=5)
    found = memory.timeline(ONE, page_size=20, before=9)
    assert dict(tribe.requests[0].url.params) == {"limit": "20", "before": "9"}
    assert (found.lesson.id, found.events[0].event, found.next) == (ONE, "learned", 5)
    assert found.predecessors.lessons[0].id == TWO
    assert found.decisions[0].receipts[0].hits == [TWO]
    assert found.receipt.coverage == "complete"


@pytest.mark.parametrize("before", [0, -1, "7", True])
def test_a_cursor_that_is_none_is_refused_before_it_is_sent(memory: Memory, tribe: Tribe, before: object) -> None:
    with pytest.raises(InvalidRequest, match="before"):
        memory.timeline(ONE, before=before)  # type: ignore[arg-type]  # what a caller might hand in
    assert tribe.requests == []


def test_changes_up_to_the_present_come_page_by_page_and_end(memory: Memory, tribe: Tribe) -> None:
    Script(tribe, changes(1, 1, 2, clock=4), changes(3, 4))
    assert [one.tick for one in memory.changes(follow=False, page_size=3)] == [1, 1, 2, 3, 4]
    assert asked(tribe) == [("0", None), ("2", None)]


def test_who_follows_is_held_by_the_server_and_goes_on_from_the_page_before(memory: Memory, tribe: Tribe) -> None:
    Script(tribe, changes(5, clock=6), changes(6), changes(tick=6), changes(7))
    assert [one.tick for one in islice(memory.changes(4), 3)] == [5, 6, 7]
    assert asked(tribe) == [("4", "20"), ("5", "20"), ("6", "20"), ("6", "20")]


def test_who_follows_pauses_where_the_server_lets_nobody_wait(memory: Memory, tribe: Tribe, hands: Hands) -> None:
    Script(tribe, changes(tick=6), changes(tick=6), changes(7))
    assert next(memory.changes(6)).tick == 7
    assert hands.waits == [1.0, 1.0]


def test_who_follows_outlives_a_server_that_is_away(memory: Memory, tribe: Tribe, hands: Hands) -> None:
    away: list[Step] = [httpx.ConnectError("refused")] * 10
    Script(tribe, *away, problem("overloaded"), changes(7))
    assert next(memory.changes(6)).tick == 7
    assert {after for after, _ in asked(tribe)} == {"6"}
    assert 1.0 in hands.waits
    assert 2.0 in hands.waits


def test_what_does_not_pass_ends_the_feed(memory: Memory, tribe: Tribe) -> None:
    Script(tribe, problem("unauthenticated"))
    with pytest.raises(Unauthenticated):
        next(memory.changes(6))
    Script(tribe, problem("forbidden"))
    with pytest.raises(Forbidden):
        next(memory.changes(6))


def test_who_does_not_follow_is_told_of_an_outage(memory: Memory, tribe: Tribe) -> None:
    away: list[Step] = [httpx.ConnectError("refused")] * 5
    Script(tribe, *away)
    with pytest.raises(Unreachable):
        list(memory.changes(6, follow=False))
    Script(tribe, *[problem("overloaded")] * 5)
    with pytest.raises(Overloaded):
        list(memory.changes(6, follow=False))


def test_pages_tell_where_to_go_on(memory: Memory, tribe: Tribe) -> None:
    Script(tribe, changes(1, 1, clock=2), changes(2))
    assert [(len(one.changes), one.tick) for one in memory.change_pages(follow=False)] == [(2, 1), (1, 2)]


def test_one_page_is_asked_for_by_its_end_and_waits_within_the_time_of_a_call(memory: Memory, tribe: Tribe) -> None:
    Script(tribe, changes(8, 9, after=7), changes(tick=9, after=9))
    page = memory.change_page(newest=True, page_size=2)
    assert (page.after, page.tick, [one.tick for one in page.changes]) == (7, 9, [8, 9])
    assert memory.change_page(page.tick, wait_s=12.7).changes == []
    sent = [dict(one.url.params) for one in tribe.requests]
    assert sent == [{"after": "0", "limit": "2", "newest": "true"}, {"after": "9", "limit": "100", "wait_s": "12"}]
    for wrong in (-1.0, 21.0):
        with pytest.raises(InvalidRequest):
            memory.change_page(wait_s=wrong)


def test_a_page_that_leads_nowhere_is_no_reply_of_this_api(memory: Memory, tribe: Tribe) -> None:
    for page in (changes(tick=3, clock=3), changes(tick=5, clock=9)):
        Script(tribe, page)
        with pytest.raises(BadReply, match="after tick 5"):
            next(memory.changes(5))


def test_a_wait_fits_into_the_time_that_a_call_may_take(tribe: Tribe, hands: Hands) -> None:
    with opened(tribe, hands, timeout_s=5) as memory:
        next(memory.changes(6))
    assert asked(tribe) == [("6", "2")]


@pytest.mark.parametrize(("name", "value"), [("after", -1), ("after", 1.5), ("after", "7"), ("page_size", 0), ("page_size", 501)])
def test_what_breaks_a_rule_is_not_sent(memory: Memory, tribe: Tribe, name: str, value: object) -> None:
    with pytest.raises(InvalidRequest, match=name):
        next(memory.changes(**{name: value}))  # type: ignore[arg-type]  # what a caller might hand in
    assert tribe.requests == []


# -- citing


def test_a_lesson_cites_receipts_as_they_were_signed(memory: Memory, tribe: Tribe) -> None:
    tribe.replies["recall"] = {"hits": [], "receipt": known_receipt(0, space=None, ms={"embed": 13.0}, new={"in": None})}
    receipt = memory.recall("deploy").receipt
    memory.learn("t", situation="s", source=observed(), receipts=[receipt])
    draft = LessonDraft(text="t", situation="s", source=told(), receipts=[receipt])
    tribe.replies["learn_batch"] = {"items": [{"status": 200, "result": tribe.replies["learn"], "problem": None}] * 2}
    memory.learn_all([draft, {"text": "t", "situation": "s", "source": told(), "receipts": (receipt,)}])
    one, batch = (json.loads(request.content) for request in tribe.requests[1:])
    assert [one["receipts"], *(lesson["receipts"] for lesson in batch["lessons"])] == [[receipt.document()]] * 3


def test_a_lesson_without_receipts_says_nothing_of_them(memory: Memory, tribe: Tribe) -> None:
    memory.learn("t", situation="s", source=observed())
    assert "receipts" not in json.loads(tribe.requests[0].content)


@pytest.mark.parametrize("receipts", [["rcp_" + "1" * 32], [None], [{"id": "rcp_1"}]])
def test_what_is_no_receipt_is_refused_by_its_place(memory: Memory, tribe: Tribe, receipts: list[object]) -> None:
    with pytest.raises(InvalidRequest, match=r"receipts\.0: must be the receipt of a recall"):
        memory.learn("t", situation="s", source=observed(), receipts=receipts)  # type: ignore[arg-type]  # as a caller might
    attempts = memory.learn_all([{"text": "t", "situation": "s", "source": told(), "receipts": receipts}])
    assert isinstance(attempts[0].error, InvalidRequest)


def test_one_receipt_by_itself_is_refused_with_what_to_write_instead(memory: Memory) -> None:
    receipt = memory.recall("deploy").receipt
    with pytest.raises(InvalidRequest, match=r"as in \[hits\.receipt\]"):
        memory.learn("t", situation="s", source=observed(), receipts=receipt)  # type: ignore[arg-type]  # as a caller might
