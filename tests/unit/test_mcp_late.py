"""A memory that is opened beside the conversation: waited for, tried again, lost, and closed while it was being opened."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest

from tests.unit.client_fakes import TOKEN, URL
from tributary.client import Memory, Unreachable
from tributary.edges.mcp.catalogue import TOOLS
from tributary.edges.mcp.late import Late, Starting
from tributary.edges.mcp.retries import Seen
from tributary.edges.mcp.session import Failed, Opened, Session


class Place:
    """Opens when it is let, and counts what was opened and closed."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.opened = 0
        self.closed = 0
        self.failures: list[Exception] = []

    def open(self, stack: ExitStack) -> Opened:
        stack.callback(self._close)
        assert self.let.wait(30)
        if self.failures:
            raise self.failures.pop()
        self.opened += 1
        return Opened(memory=Memory(URL, TOKEN, environment={}), agent="agt_1", role="curator", moves=True)

    def _close(self) -> None:
        self.closed += 1


@pytest.fixture
def place() -> Place:
    return Place()


def test_whoever_asks_waits_for_it_and_all_get_the_same(place: Place) -> None:
    late = Late(place.open)
    with pytest.raises(Starting, match="ask again"):
        late.get(0)
    place.let.set()
    assert late.get(30) is late.get(0)
    assert place.opened == 1
    late.close()
    assert place.closed == 1


def test_an_opening_that_failed_is_told_cleaned_up_and_tried_again_by_the_next(place: Place) -> None:
    place.failures = [Unreachable("no answer")]
    place.let.set()
    late = Late(place.open)
    with pytest.raises(Unreachable):
        late.get(30)
    assert place.closed == 1
    assert late.get(30).agent == "agt_1"


def test_one_that_was_lost_is_closed_and_opened_anew(place: Place) -> None:
    place.let.set()
    late = Late(place.open)
    first = late.get(30)
    late.lost(first)
    assert place.closed == 1
    second = late.get(30)
    assert second is not first
    late.lost(first)
    assert late.get(0) is second


def test_one_that_is_being_opened_while_the_session_ends_is_closed_as_well(place: Place) -> None:
    late = Late(place.open)
    late.start()
    closing = threading.Thread(target=late.close)
    closing.start()
    place.let.set()
    closing.join(30)
    assert (place.opened, place.closed) == (1, 1)
    with pytest.raises(Starting):
        late.get(0)


def test_until_it_is_there_the_expected_role_is_assumed_and_a_call_says_that_it_is_starting(place: Place) -> None:
    late = Late(place.open)
    session = Session(late.get, retries=Seen(), expected="reader", role_s=0, call_s=0)
    assert session.role() == "reader"
    outcome = session.call(TOOLS["tribal_stats"], {}).outcome
    assert isinstance(outcome, Failed)
    assert outcome.code == "starting"
    assert "do not conclude that nothing is known" in outcome.text
    place.let.set()
    late.get(30)
    assert session.role() == "curator"
    late.close()
