"""A database that was restored is a step back in time, and says so once the operator told it: agents, receipts and actions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.chaos.books import complaints
from tests.conftest import database_at, new_database
from tests.spaces import operating
from tests.tribes import Tribal, open_tribal
from tributary.core.action import ActionState, Doubt
from tributary.core.errors import InvalidRequest, NotFound
from tributary.core.verification import Doubt as Unknown
from tributary.core.verification import Verdict
from tributary.service import open_operator

TICKS = 1000


def signed(receipt: Any) -> dict[str, Any]:
    return {**receipt.document(), "signature": receipt.signature}


def begun(tribal: Tribal, key: str) -> Any:
    return tribal.memory.actions.begin(tribal.curator, key, "pay the bill")


def test_ticks_of_the_lost_future_are_told_from_those_that_come_after_the_restore(tribal: Tribal) -> None:
    kept = tribal.learn(tribal.curator, "The bridge opens at noon")
    before = signed(tribal.recall("when does the bridge open").receipt)
    with _stepped_back(tribal) as (back, receipts):
        with operating(back) as operator:
            done = operator.after_restore(back.name, ticks=TICKS)
        assert (done.before, done.tick) == (kept.tick, kept.tick + TICKS + 2)
        again = back.learn(back.curator, "The tunnel is for lorries")
        assert again.tick == done.tick + 1
        assert complaints(back) == set()

        lost = kept.tick + 2  # reached before the restore, and learned at by an agent who remembers it
        for ask in (
            lambda: back.recall("tunnel", at_least=lost),
            lambda: back.recall("tunnel", as_of=lost),
            lambda: back.memory.history.changes(back.curator, after=lost),
        ):
            with pytest.raises(
                InvalidRequest, match=f"tick {lost} was lost: .* backup of tick {kept.tick}, .* from tick {done.tick}"
            ):
                ask()
        assert back.recall("tunnel", at_least=again.tick).hits
        assert back.recall("bridge", as_of=kept.tick).hits
        with pytest.raises(InvalidRequest, match="was lost"):
            back.memory.history.changes(back.curator, after=kept.tick + TICKS)
        (last,) = back.memory.history.changes(back.curator, after=done.tick - 1, limit=1).changes
        assert (last.occurrence.tick, last.occurrence.event.value) == (done.tick, "restored")
        feed = back.memory.history.changes(back.curator, after=kept.tick)
        assert [(one.occurrence.tick, one.occurrence.event.value) for one in feed.changes] == [
            (done.tick, "restored"),
            (again.tick, "learned"),
        ]

        assert back.memory.verify(back.curator, before, "when does the bridge open").verdict is Verdict.AGREES
        for receipt in receipts:
            found = back.memory.verify(back.curator, receipt, "which way do lorries go")
            assert (found.verdict, found.causes) == (Verdict.UNKNOWN, (Unknown.TICK_LOST,))


def test_receipt_of_a_tick_ahead_of_the_clock_is_unknown_before_the_operator_says_anything(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "The bridge opens at noon")
    with _stepped_back(tribal) as (back, receipts):
        try:
            found = back.memory.verify(back.curator, receipts[-1], "which way do lorries go")
        except InvalidRequest as refused:
            raise AssertionError("a genuine receipt is told about, not refused") from refused
        assert (found.verdict, found.causes) == (Verdict.UNKNOWN, (Unknown.TICK_LOST,))


def test_without_the_command_a_tick_of_the_lost_future_is_given_out_again(tribal: Tribal) -> None:
    """The control: what the command is for. An agent that asks for its own write is answered without it, and not told."""
    kept = tribal.learn(tribal.curator, "The bridge opens at noon")
    with _stepped_back(tribal) as (back, _):
        for number in range(3):
            back.learn(back.curator, f"Rule {number} of another present")
        found = back.recall("which way do lorries go", at_least=kept.tick + 1)
        assert not [hit for hit in found.hits if "Lorries" in hit.lesson.text]


def test_an_action_under_way_is_in_doubt_and_not_begun_again_but_its_holder_may_still_end_it(tribal: Tribal) -> None:
    open_, other, done = begun(tribal, "pay:1"), begun(tribal, "pay:2"), begun(tribal, "pay:3")
    tribal.memory.actions.complete(tribal.curator, done.action.action_id, done.lease or "", {"paid": 3})
    with operating(tribal) as operator:
        assert operator.after_restore(tribal.name, ticks=TICKS).in_doubt == 2
    actions = tribal.memory.actions
    assert begun(tribal, "pay:1").outcome.value == "in_doubt"
    found = actions.action(tribal.curator, open_.action.action_id)
    assert (found.state, found.doubt) == (ActionState.IN_DOUBT, Doubt.RESTORED)
    assert begun(tribal, "pay:3").outcome.value == "done"
    ended = actions.complete(tribal.curator, other.action.action_id, other.lease or "", {"paid": 2})
    assert ended.action.state is ActionState.DONE
    told = actions.reconcile(
        tribal.curator, open_.action.action_id, happened=True, rationale="the bank shows it", result={"paid": 1}
    )
    assert told.state is ActionState.DONE


def test_a_tribe_that_stepped_back_twice_is_exported_and_restored_like_any_other(tribal: Tribal, empty_database_url: str) -> None:
    tribal.learn(tribal.curator, "The bridge opens at noon")
    lines: list[bytes] = []
    with operating(tribal) as operator:
        for _ in range(2):
            operator.after_restore(tribal.name, ticks=TICKS)
        tribal.learn(tribal.curator, "The tunnel is for lorries")
        operator.export(tribal.name, lines.append)
    assert complaints(tribal) == set()
    page = tribal.memory.history.changes(tribal.curator, after=0, limit=1)
    assert page.changes[0].occurrence.event.value == "learned"
    settings = tribal.settings.model_copy(update={"database_url": empty_database_url})
    again: list[bytes] = []
    with open_operator(settings, adapters=tribal.adapters) as operator:
        operator.migrate()
        operator.restore(lines)
        operator.export(tribal.name, again.append)
    assert again == lines


@pytest.mark.parametrize("lost", ["{(,)}", "{[2,)}", "{[0,2)}", "{[1,3)}", "{[2,1004)}", "{[2,3),[4,1004)}"])
def test_an_export_whose_lost_ticks_are_not_those_without_events_is_refused(
    tribal: Tribal, empty_database_url: str, lost: str
) -> None:
    tribal.learn(tribal.curator, "The bridge opens at noon")
    lines: list[bytes] = []
    with operating(tribal) as operator:
        operator.after_restore(tribal.name, ticks=TICKS)
        operator.export(tribal.name, lines.append)
    told = b'"lost":"{[2,1003)}"'
    assert told in lines[1]
    changed = [one.replace(told, f'"lost":"{lost}"'.encode()) for one in lines]
    settings = tribal.settings.model_copy(update={"database_url": empty_database_url})
    with open_operator(settings, adapters=tribal.adapters) as operator:
        operator.migrate()
        with pytest.raises(InvalidRequest):
            operator.restore(_ended_anew(changed))
        operator.restore(lines)


def _ended_anew(lines: list[bytes]) -> list[bytes]:
    """Gives the last line the hash of those before it."""
    end = json.loads(lines[-1])
    end["end"]["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    return [*lines[:-1], json.dumps(end).encode() + b"\n"]


def test_number_of_ticks_and_tribe_are_checked(tribal: Tribal) -> None:
    with operating(tribal) as operator:
        for ticks in (0, -1, 10**13):
            with pytest.raises(InvalidRequest, match="ticks"):
                operator.after_restore(tribal.name, ticks=ticks)
        with pytest.raises(NotFound):
            operator.after_restore("nobody")


@contextmanager
def _stepped_back(tribal: Tribal) -> Iterator[tuple[Tribal, list[dict[str, Any]]]]:
    """Copies the database, lets three ticks pass in the first, and gives the copy with receipts of those ticks."""
    tribal.memory.close()
    with new_database(database_at(tribal.url, "postgres"), str(conninfo_to_dict(tribal.url)["dbname"])) as url:
        receipts = []
        with _again(tribal, tribal.url) as future:
            for number in range(3):
                future.learn(future.curator, f"Lorries go by way {number}")
                receipts.append(signed(future.recall("which way do lorries go").receipt))
        with _again(tribal, url) as back:
            yield back, receipts


def _again(tribal: Tribal, url: str) -> AbstractContextManager[Tribal]:
    return open_tribal(url, name=tribal.name, curator_token=tribal.curator_token, clock=tribal.clock)
