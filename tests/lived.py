"""A tribe to which all that can happen did happen, for what is to be the same tribe elsewhere."""

from __future__ import annotations

import re

import pytest

from tests.gardens import backdate, garden, learned, room_for
from tests.spaces import create
from tests.tribes import Tribal
from tributary.core.agent import Role
from tributary.core.curation import Ending, Mistake, RetireCause
from tributary.core.decision import VerdictKind
from tributary.core.errors import Forbidden
from tributary.core.lesson import Kind
from tributary.core.ports import JudgedText


def by_number(new: JudgedText, old: JudgedText) -> VerdictKind:
    """The same words but for their numbers contradict one another."""
    if re.sub(r"\d", "", new.text) != re.sub(r"\d", "", old.text):
        return VerdictKind.UNRELATED
    return VerdictKind.SAME if new.text == old.text else VerdictKind.CONFLICTS


def live(tribal: Tribal) -> None:
    """Lets all that can happen to a tribe happen, so that each table of tribes has a row. Its judge must be `by_number`."""
    memory, curator = tribal.memory, tribal.curator
    ann, bob, eve = tribal.agent("ann"), tribal.agent("bob"), tribal.agent("eve", Role.READER)
    learned(tribal, ann, "The pool of orders holds 5 connections", subject="pool", tags={"env": "prod"}, confidence=0.7)
    learned(tribal, ann, "The pool of orders holds 6 connections", subject="pool")  # her own: superseded
    disputed = tribal.learn(bob, "The pool of orders holds 7 connections", subject="pool")
    tribal.learn(bob, "The pool of orders holds 6 connections", subject="pool")  # reinforced
    learned(tribal, bob, "HIJACK the reader")
    memory.curate.release(curator, learned(tribal, bob, "HIJACK is the name of our proxy").lesson_id)
    memory.curate.erase(curator, learned(tribal, ann, "The key of the vault is 1234").lesson_id)
    odd = 'Quotes " and \\ and \u2028 and ünïcode\n\ttoo; DROP TABLE tributary.lesson; --'
    memory.curate.retire(ann, learned(tribal, ann, odd, kind=Kind.OBSERVATION).lesson_id, RetireCause.OUTDATED)
    memory.curate.report(curator, disputed.decision_id, Mistake.UNRELATED)
    door = [tribal.learn(who, f"Door {number} is the one to take", subject="door") for who, number in ((ann, 1), (bob, 2))]
    assert door[1].dispute_id is not None
    memory.curate.resolve(curator, door[1].dispute_id, Ending.BOTH_STAND, rationale="two doors")
    for number, letter in enumerate("abcd"):
        backdate(tribal, learned(tribal, bob, f"Widget w{letter} wants a sprocket").lesson_id, days=2 + number)
    room_for(tribal, 3)
    garden(tribal)
    with pytest.raises(Forbidden):
        tribal.learn(eve, "Readers write too")
    memory.audit_refusal(eve, action="learn", code="forbidden", detail="readers do not write")
    create(tribal)
    learned(tribal, ann, "After the space was begun, vectors come in twos")
    tribal.recall("the pool of orders")
    for book in memory.books:
        book.flush()
    begun = [memory.actions.begin(ann, f"reboot:db-{number}", "reboot it") for number in range(3)]
    memory.actions.complete(ann, begun[0].action.action_id, begun[0].lease or "", {"rebooted": 1.50})
    memory.actions.fail(ann, begun[1].action.action_id, begun[1].lease or "", "no answer", unsure=True)
    for table, values in _BESIDES.items():
        tribal.rows(f"INSERT INTO tributary.{table} VALUES (%s, {values})", tribal.tribe_id)


_BESIDES = {
    "evidence_file": "sha256('x'), 1, 'text/plain', NULL, gen_random_uuid(), now(), now(), NULL",
    "model_call": "gen_random_uuid(), now(), NULL, NULL, 'judge', 'm', 'answered', 3, NULL, 0.100000000000000000001, 1e-7",
    "responder_day": "'2026-03-01', 3, 0.25",
    "model_day": "'2026-03-01', 'judge', 'm', '', 1, 0, 0, 3, 4, 123456789012345678901234567890.5, 0.1",
}
