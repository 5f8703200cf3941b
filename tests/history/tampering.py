"""One small falsification of a sound history for each rule of the checker, which that very rule must notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from tests.doubles import RuledJudge
from tests.history.history import History
from tests.history.replay import UNOPPOSED
from tests.history.tables import Row
from tests.history.violations import Rule
from tributary.core.decision import Learned
from tributary.core.requests import Recalled

Tampering = Callable[[History], None]


def a_tick_is_lost(history: History) -> None:
    lost = history.tables.tribe["clock"] // 2
    history.tables.lesson_event = [row for row in history.tables.lesson_event if row["tick"] != lost]


def two_ticks_change_places_in_time(history: History) -> None:
    earlier, later = _events(history, "learned")[:2]
    for row in history.tables.lesson_event:
        if row["tick"] == later["tick"]:
            row["at"] = earlier["at"]


def an_event_is_another(history: History) -> None:
    _events(history, "superseded")[0]["event"] = "cleared"


def a_retired_lesson_is_challenged(history: History) -> None:
    retired = _events(history, "retired")[0]
    _events(history, "challenged", after=retired["tick"])[0]["lesson_id"] = retired["lesson_id"]


def a_belief_ends_later(history: History) -> None:
    next(row for row in history.tables.lesson if row["status"] == "superseded")["deactivated_tick"] += 1


def a_confirmation_is_lost(history: History) -> None:
    history.tables.confirmation.pop()


def a_rivalry_is_lost(history: History) -> None:
    history.tables.rival.pop()


def a_dispute_is_open_again(history: History) -> None:
    next(row for row in history.tables.dispute if row["ending"] == "moot").update(closed_tick=None, ending=None, state="open")


def a_dispute_is_about_one_less(history: History) -> None:
    history.tables.dispute_about.pop()


def a_rejection_is_forgotten(history: History) -> None:
    next(row for row in history.tables.lesson if row["rejected_as"])["rejected_as"] = None


def the_past_is_shown_otherwise(history: History) -> None:
    rows = history.tables.as_of[max(history.tables.as_of)]
    rows[0]["confirmations"] += 1


def an_outcome_is_another(history: History) -> None:
    _decision(history, "learned")["outcome"] = "reinforced"


def a_contradiction_was_not_seen(history: History) -> None:
    ended = {(row["decision_id"], row["lesson_id"]) for row in _events(history, "superseded")}
    for decision in history.tables.decision:
        for name in ("candidates", "verdicts"):
            decision[name] = [one for one in decision[name] if (decision["decision_id"], one["lesson_id"]) not in ended]


def a_candidate_stood_otherwise(history: History) -> None:
    decision = next(row for row in history.tables.decision if row["outcome"] == "superseded")
    decision["candidates"][0]["status"] = "pending"


def a_verdict_is_another(history: History) -> None:
    verdicts = [one for row in history.tables.decision for one in row["verdicts"] if one["judge"] == RuledJudge.version]
    next(one for one in verdicts if one["verdict"] == "conflicts")["verdict"] = "same"


def a_superseded_lesson_stays_believed(history: History) -> None:
    history.tables.lesson_event.remove(_events(history, "superseded")[0])


def two_believed_lessons_are_equal(history: History) -> None:
    one, other, *_ = (row for row in history.tables.lesson if row["status"] == "active")
    one["content_hash"] = other["content_hash"]


def a_reply_names_another_tick(history: History) -> None:
    _answer(history, Learned, lambda reply: replace(reply, tick=reply.tick + 1))


def a_reply_names_nothing_replaced(history: History) -> None:
    _answer(history, Learned, lambda reply: replace(reply, replaced=()), when=lambda reply: bool(reply.replaced))


def a_key_is_answered_anew(history: History) -> None:
    _answer(history, Learned, lambda reply: replace(reply, decision_id=uuid4()), when=lambda reply: reply.replayed)


def a_hit_was_confirmed_once_more(history: History) -> None:
    def once_more(reply: Recalled) -> Recalled:
        first, *rest = reply.hits
        lesson = replace(first.lesson, confirmations=first.lesson.confirmations + 1)
        return replace(reply, hits=(replace(first, lesson=lesson), *rest))

    _answer(history, Recalled, once_more, when=lambda reply: bool(reply.hits))


def a_believed_lesson_is_not_recalled(history: History) -> None:
    def without_one(reply: Recalled) -> Recalled:
        return replace(reply, hits=reply.hits[1:], receipt=replace(reply.receipt, hits=reply.receipt.hits[1:]))

    def was_now_and_by_subject(reply: Recalled) -> bool:
        filters = reply.receipt.filters
        return bool(reply.hits) and filters["subject"] is not None and filters["as_of"] is None

    _answer(history, Recalled, without_one, when=was_now_and_by_subject)


def a_hit_is_a_stranger(history: History) -> None:
    def stranger(reply: Recalled) -> Recalled:
        first, *rest = reply.hits
        return replace(reply, hits=(replace(first, lesson=replace(first.lesson, lesson_id=uuid4())), *rest))

    _answer(history, Recalled, stranger, when=lambda reply: bool(reply.hits))


def the_past_changes_when_asked_again(history: History) -> None:
    # what is erased or called an injection by now may be missing
    sound = {
        row["lesson_id"]
        for row in history.tables.lesson
        if row["text"] is not None and row["rejected_as"] is None and not row["held"]
    }
    for number, (early, late) in enumerate(history.again):
        if early.operation != "listing" or not (kept := [one for one in late.reply.lessons if one.lesson_id in sound]):
            continue
        rest = tuple(one for one in late.reply.lessons if one is not kept[0])
        history.again[number] = (early, replace(late, reply=replace(late.reply, lessons=rest)))
        return
    raise AssertionError("nothing was listed twice")


def a_status_is_miscounted(history: History) -> None:
    history.tables.counts["active"] += 1


def a_vector_is_miscounted(history: History) -> None:
    history.tables.vectors -= 1


def erased_words_are_kept(history: History) -> None:
    erased = next(one for one in reversed(history.calls) if one.operation == "erase" and one.reply is not None)
    lesson_id: UUID = erased.request.given["lesson_id"]
    said = next(one.lesson.text for one in _learned(history) if one.lesson and one.lesson.lesson_id == lesson_id)
    history.tables.dump.append(("decision", f"(draft: {said})"))


def a_lesson_is_let_go_of_for_nothing(history: History) -> None:
    # one that already says so would stay as it is
    kept = next(row for row in _events(history, "pended") if row["details"].get("cause") != UNOPPOSED)
    kept["details"] = {"cause": UNOPPOSED}


def a_confidence_is_higher(history: History) -> None:
    history.tables.lesson[0]["confidence"] += 0.1


def a_released_lesson_is_held_back(history: History) -> None:
    next(row for row in history.tables.lesson if row["status"] == "active")["held"] = True


def a_call_fails(history: History) -> None:
    history.calls[0] = replace(history.calls[0], broke="corrupt: the database refused a write")


def a_pending_lesson_is_left(history: History) -> None:
    pended = _events(history, "pended")[-1]
    history.tables.lesson_event = [
        row for row in history.tables.lesson_event if row["lesson_id"] != pended["lesson_id"] or row["tick"] <= pended["tick"]
    ]


TAMPERINGS: Mapping[Tampering, Rule] = {
    a_tick_is_lost: Rule.TICKS,
    two_ticks_change_places_in_time: Rule.TICKS,
    an_event_is_another: Rule.EVENTS,
    a_retired_lesson_is_challenged: Rule.EVENTS,
    a_belief_ends_later: Rule.STATE,
    a_confirmation_is_lost: Rule.STATE,
    a_rivalry_is_lost: Rule.STATE,
    a_dispute_is_open_again: Rule.STATE,
    a_dispute_is_about_one_less: Rule.STATE,
    a_rejection_is_forgotten: Rule.STATE,
    a_confidence_is_higher: Rule.STATE,
    a_released_lesson_is_held_back: Rule.STATE,
    the_past_is_shown_otherwise: Rule.AS_OF,
    an_outcome_is_another: Rule.DERIVED,
    a_lesson_is_let_go_of_for_nothing: Rule.DERIVED,
    a_contradiction_was_not_seen: Rule.CANDIDATES,
    a_candidate_stood_otherwise: Rule.CANDIDATES,
    a_verdict_is_another: Rule.VERDICTS,
    a_superseded_lesson_stays_believed: Rule.RIVALS,
    two_believed_lessons_are_equal: Rule.CONTENT,
    a_reply_names_another_tick: Rule.REPLIES,
    a_reply_names_nothing_replaced: Rule.REPLIES,
    a_key_is_answered_anew: Rule.KEYS,
    a_hit_was_confirmed_once_more: Rule.RECALLS,
    a_believed_lesson_is_not_recalled: Rule.RECALLS,
    a_hit_is_a_stranger: Rule.APART,
    the_past_changes_when_asked_again: Rule.AGAIN,
    a_status_is_miscounted: Rule.COUNTERS,
    a_vector_is_miscounted: Rule.COUNTERS,
    erased_words_are_kept: Rule.ERASED,
    a_call_fails: Rule.REFUSED,
    a_pending_lesson_is_left: Rule.LEFT,
}


def _events(history: History, event: str, *, after: int = 0) -> list[Row]:
    return [row for row in history.tables.lesson_event if row["event"] == event and row["tick"] > after]


def _decision(history: History, outcome: str) -> Row:
    """Returns a decision about a lesson of its own, made as it was said."""
    return next(row for row in history.tables.decision if row["outcome"] == outcome and row["draft"] is None and row["verdicts"])


def _learned(history: History) -> Iterator[Learned]:
    for call in history.calls:
        for reply in call.reply if isinstance(call.reply, list) else [call.reply]:
            if isinstance(reply, Learned):
                yield reply


def _answer(history: History, kind: type, change: Callable[[Any], object], *, when: Callable[[Any], bool] | None = None) -> None:
    """Changes the first reply of a kind that the condition holds for."""
    for number, call in enumerate(history.calls):
        if isinstance(call.reply, kind) and (when is None or when(call.reply)):
            history.calls[number] = replace(call, reply=change(call.reply))
            return
    raise AssertionError(f"no {kind.__name__} to tamper with")
