"""Whether what agents were told is what was done, and what they were shown is what a tick held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

from tests.history.calls import Call, Shown
from tests.history.history import History
from tests.history.model import ACTIVE, ERASED
from tests.history.operations import drafts_of
from tests.history.replay import UNOPPOSED, Replay
from tests.history.violations import Rule, Violation
from tributary.core.agent import Role
from tributary.core.curation import Erased, Reported, Resolved, Retired
from tributary.core.decision import Learned, Reinforced
from tributary.core.errors import TributaryError
from tributary.core.lesson import Lesson, Status
from tributary.core.normal import subject_key
from tributary.core.requests import Recalled

Found = Iterator[Violation]


def replies(history: History, replay: Replay) -> Found:
    checker = _Replies(history, replay)
    for call in history.calls:
        yield from checker.call(call)
    yield from checker.keys()
    for early, late in history.again:
        yield from checker.again(early, late)


class _Replies:
    def __init__(self, history: History, replay: Replay) -> None:
        self._history = history
        self._model = model = replay.model
        self._subjects = replay.subjects
        self._decisions = {row["decision_id"]: row for row in history.tables.decision}
        self._disputes = {row["dispute_id"]: row for row in history.tables.dispute}
        self._events: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
        for row in history.tables.lesson_event:
            self._events[row["tick"]].append(row)
        self._erased = {one.lesson_id: one.past[-1][0] for one in model.lessons.values() if one.status == ERASED}
        # what a curator calls an injection leaves the past that readers are shown, and comes back when that is taken back
        self._hidden = {
            one.lesson_id: one.rejections[-1][0]
            for one in model.lessons.values()
            if any(cause == "injection" for _, cause in one.rejections)
        }

    def call(self, call: Call) -> Found:
        if call.broke is not None:
            yield self._violation(Rule.REFUSED, call.after, f"{call.operation}: {call.broke}")
        if call.request.agent.tribe_id != self._history.tribe_id:
            if call.refused not in ("not_found", "forbidden"):
                yield self._violation(Rule.APART, call.after, f"{call.operation} by an agent of another tribe")
            return
        made = [attempt for _, attempt in drafts_of(call)] if call.operation == "learn_all" else [call.reply]
        for reply in made:
            yield from self._reply(call, reply)

    def _reply(self, call: Call, reply: Any) -> Found:
        if isinstance(reply, Recalled):
            yield from self._recalled(call, reply)
        elif isinstance(reply, Shown):
            yield from self._shown(call, reply)
        elif isinstance(reply, Learned | Reinforced | Retired | Erased | Resolved | Reported):
            if not reply.replayed and not call.before <= reply.tick <= call.after:
                yield self._violation(Rule.REPLIES, reply.tick, f"{call.operation} between {call.before} and {call.after}")
            wrong = _WRITES[type(reply)](self, call, reply)
            if wrong is not None:
                yield self._violation(Rule.REPLIES, reply.tick, f"{call.operation} was answered with {wrong}")
            if not isinstance(reply, Reported) and not reply.replayed and reply.lesson is not None:
                yield from self._as_of(Rule.REPLIES, reply.lesson, reply.tick)

    # -- writes: what is wrong with a reply, None when nothing is

    def _learned(self, call: Call, reply: Learned | Resolved) -> str | None:
        row = self._decisions.get(reply.decision_id) if reply.decision_id else None
        if row is None:
            return f"decision {reply.decision_id}, which is not there"
        if (row["tick"], row["outcome"], row["reason"]) != (reply.tick, reply.outcome, reply.reason):
            return f"{reply.outcome} at {reply.tick} ({reply.reason}), not {row['outcome']} at {row['tick']} ({row['reason']})"
        if not reply.replayed and (reply.lesson is None or reply.lesson.lesson_id != row["lesson_id"]):
            return f"lesson {reply.lesson and reply.lesson.lesson_id}, not {row['lesson_id']}"
        ended = {e["lesson_id"] for e in self._events[reply.tick] if e["event"] == "superseded"} if self._ticked(reply) else set()
        if set(reply.replaced) != ended:
            return f"{len(reply.replaced)} replaced, not {len(ended)}"
        opened = {key: one for key, one in self._disputes.items() if one["decision_id"] == reply.decision_id}
        if set(reply.challenges) != {key for key, one in opened.items() if one["kind"] == "unsure"}:
            return f"challenges {reply.challenges}"
        conflicts = {key for key, one in opened.items() if one["kind"] == "conflict"}
        if conflicts and {reply.dispute_id} != conflicts:
            return f"dispute {reply.dispute_id}, not {conflicts}"
        named = reply.dispute_id and self._disputes.get(reply.dispute_id)
        if reply.dispute_id is not None and (not named or named["lesson_id"] != row["lesson_id"]):
            return f"dispute {reply.dispute_id}, which is another lesson's or none"
        return None

    def _ticked(self, reply: Learned | Resolved) -> bool:
        return any(one["decision_id"] == reply.decision_id for one in self._events[reply.tick])

    def _resolved(self, call: Call, reply: Resolved) -> str | None:
        one = self._model.quarrels.get(reply.resolved)
        if one is None or (one.closed, one.ending) != (reply.tick, reply.ending):
            return f"{reply.ending} of {reply.resolved} at {reply.tick}"
        return None if reply.decision_id is None else self._learned(call, reply)

    def _reinforced(self, call: Call, reply: Reinforced) -> str | None:
        known = self._model.lessons.get(reply.lesson.lesson_id)
        if known is None:
            return "a lesson that is not there"
        since = known.confirmed.get(call.request.agent.agent_id)
        counted = since == reply.tick and any(e["event"] == "reinforced" for e in self._events[reply.tick])
        if reply.outcome == "reinforced":
            return None if counted else "a confirmation that is not there"
        return (
            None
            if known.agent_id == call.request.agent.agent_id or (since is not None and since <= reply.tick)
            else "unchanged, though it did not count before"
        )

    def _retired(self, call: Call, reply: Retired) -> str | None:
        done = {(e["event"], e["lesson_id"], e["details"].get("cause")) for e in self._done(reply.tick)}
        return (
            None if done == {("retired", reply.lesson.lesson_id, reply.cause)} else f"{reply.cause} of {reply.lesson.lesson_id}"
        )

    def _erasure(self, call: Call, reply: Erased) -> str | None:
        done = {(e["event"], e["lesson_id"]) for e in self._done(reply.tick)}
        return None if done == {("erased", one) for one in reply.erased} else f"{len(reply.erased)} erased"

    def _done(self, tick: int) -> list[Mapping[str, Any]]:
        """Returns the events of a tick without what came of them: lessons that were let go of."""
        return [one for one in self._events[tick] if one["details"].get("cause") != UNOPPOSED]

    def _reported(self, call: Call, reply: Reported) -> str | None:
        return None if reply.decision_id in self._decisions else "a decision that is not there"

    def keys(self) -> Found:
        """The same key has the same reply, and only one of the calls did anything."""
        by_key: dict[tuple[UUID, str, str], list[tuple[bool, object, int]]] = defaultdict(list)
        for call in self._history.calls:
            if call.request.key is None or call.reply is None:
                continue
            made = [attempt for _, attempt in drafts_of(call)] if call.operation == "learn_all" else [call.reply]
            for number, reply in enumerate(made):
                if not isinstance(reply, TributaryError) and hasattr(reply, "replayed"):
                    key = (call.request.agent.agent_id, call.request.key, f"{number}")
                    by_key[key].append((reply.replayed, _core(reply), reply.tick))
        for key, found in by_key.items():
            if len({repr(core) for _, core, _ in found}) > 1 or sum(not replayed for replayed, _, _ in found) != 1:
                yield self._violation(Rule.KEYS, found[0][2], f"{key[1]}: {[(one[0], one[1]) for one in found]}")

    # -- reads

    def _recalled(self, call: Call, reply: Recalled) -> Found:
        searched = reply.receipt.searched
        question = call.request.given["question"]
        if [one.tribe for one in searched] != [self._history.tribe_id]:
            yield self._violation(Rule.APART, call.after, "a receipt names another tribe")
            return
        tick = searched[0].tick
        if question.as_of not in (None, tick) or (question.as_of is None and not call.before <= tick <= call.after):
            yield self._violation(Rule.RECALLS, tick, f"asked for {question.as_of} between {call.before} and {call.after}")
        shown = {hit.lesson.lesson_id for hit in reply.hits}
        if [one.lesson_id for one in reply.receipt.hits] != [hit.lesson.lesson_id for hit in reply.hits]:
            yield self._violation(Rule.RECALLS, tick, "the receipt names other hits")
        for hit in reply.hits:
            if hit.lesson.status is not Status.ACTIVE:
                yield self._violation(Rule.RECALLS, tick, f"{hit.lesson.lesson_id} is shown as {hit.lesson.status}")
            yield from self._as_of(Rule.RECALLS, hit.lesson, tick)
            challenges = {(one.dispute_id, one.lesson_id) for one in hit.challenges}
            if hit.lesson.lesson_id in self._model.lessons:
                wanted = self._model.challenges_at(hit.lesson.lesson_id, tick)
                if challenges != wanted:
                    yield self._violation(Rule.RECALLS, tick, f"{hit.lesson.lesson_id} with {challenges}, not {wanted}")
        if question.subject is not None:
            key = subject_key(question.subject)
            whole = {one for one in self._active(tick) if self._subjects.get(one) == key}
            missing = {one for one in whole - shown if self._erased.get(one, call.after + 1) > call.after}
            missing -= self._hidden_sometime(call)
            if missing or shown - whole:
                left_out = {one.rule: one.count for one in reply.receipt.excluded}
                detail = f"{question.subject}: without {missing}, with {shown - whole}, left out {left_out}"
                yield self._violation(Rule.RECALLS, tick, detail)
        if hijacks := shown & self._hidden_throughout(call):
            yield self._violation(Rule.RECALLS, tick, f"injections are shown: {hijacks}")

    def _shown(self, call: Call, reply: Shown) -> Found:
        given = call.request.given
        if reply.tick != given["as_of"]:
            yield self._violation(Rule.RECALLS, reply.tick, f"a listing for tick {given['as_of']}")
        for lesson in reply.lessons:
            yield from self._as_of(Rule.RECALLS, lesson, reply.tick)
        wanted = self._active(reply.tick)
        if given["status"] is None:
            wanted = {one.lesson_id for one in self._model.lessons.values() if one.learned <= reply.tick}
        shown = [one.lesson_id for one in reply.lessons]
        hidden, perhaps = frozenset[UUID](), frozenset[UUID]()
        if call.request.agent.role is not Role.CURATOR:
            hidden, perhaps = self._hidden_throughout(call), self._hidden_sometime(call)
        if not wanted - perhaps <= set(shown) <= wanted - hidden or len(shown) != len(set(shown)):
            yield self._violation(Rule.RECALLS, reply.tick, f"a listing of {len(shown)} lessons, not {len(wanted - hidden)}")

    def _hidden_sometime(self, call: Call) -> frozenset[UUID]:
        """Returns the lessons that a curator called injections at any moment of a call."""
        moments = range(call.before, call.after + 1)
        return frozenset(one for one in self._hidden if any(self._model.lessons[one].hijacks_at(tick) for tick in moments))

    def _hidden_throughout(self, call: Call) -> frozenset[UUID]:
        moments = range(call.before, call.after + 1)
        return frozenset(one for one in self._hidden if all(self._model.lessons[one].hijacks_at(tick) for tick in moments))

    def _active(self, tick: int) -> set[UUID]:
        return {one.lesson_id for one in self._model.lessons.values() if one.status_at(tick) == ACTIVE}

    def _as_of(self, rule: Rule, lesson: Lesson, tick: int) -> Found:
        known = self._model.lessons.get(lesson.lesson_id)
        if known is None:
            yield self._violation(Rule.APART, tick, f"lesson {lesson.lesson_id} is none of this tribe's")
            return
        ours = (known.status_at(tick), known.confirmations_at(tick), self._model.contradictions_at(lesson.lesson_id, tick))
        theirs = (lesson.status, lesson.confirmations, lesson.contradictions)
        if ours != theirs:
            yield self._violation(rule, tick, f"lesson {lesson.lesson_id} as {theirs}, not {ours}")

    def again(self, early: Call, late: Call) -> Found:
        ranked = early.operation == "recall" and early.request.given["question"].subject is None
        if ranked and any(gone > early.before for gone in (*self._erased.values(), *self._hidden.values())):
            return  # what is erased, or an injection, leaves its place under the limit to others
        first, second = self._answer(early), self._answer(late)
        if first != second:
            yield self._violation(Rule.AGAIN, early.after, f"{early.request.operation}: {first ^ second}")

    def _answer(self, call: Call) -> set[object]:
        """Returns what was shown of lessons that are not erased or called injections by now."""
        reply = call.reply
        if reply is None:
            return {call.refused, call.broke}
        lessons = reply.lessons if isinstance(reply, Shown) else [hit.lesson for hit in reply.hits]
        return {
            (one.lesson_id, one.status, one.confirmations, one.contradictions, one.activated, one.deactivated, one.text)
            for one in lessons
            if one.lesson_id not in self._erased and one.lesson_id not in self._hidden
        }

    def _violation(self, rule: Rule, tick: int, detail: str) -> Violation:
        return Violation(rule=rule, tick=tick, detail=detail)


def _core(reply: Any) -> object:
    """Returns what must be equal in every reply to one key: all but the lesson as it stands now."""
    names = ("outcome", "replaced", "dispute_id", "challenges", "reason", "decision_id", "tick", "precedent", "cause", "erased")
    lesson = getattr(reply, "lesson", None)
    return (type(reply).__name__, lesson and lesson.lesson_id, [getattr(reply, name, None) for name in names])


_WRITES: Mapping[type, Callable[[_Replies, Call, Any], str | None]] = {
    Learned: _Replies._learned,
    Resolved: _Replies._resolved,
    Reinforced: _Replies._reinforced,
    Retired: _Replies._retired,
    Erased: _Replies._erasure,
    Reported: _Replies._reported,
}
