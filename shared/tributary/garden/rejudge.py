"""Rule 3: pairs of believed lessons about which there was no judge to answer, or no budget for one, are judged."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.types.json import Jsonb

from tributary.core.agent import Principal
from tributary.core.confidence import lapsed
from tributary.core.decision import NoAnswer
from tributary.core.ids import new_id
from tributary.core.lesson import Lesson
from tributary.core.outcome import Candidate, Judged
from tributary.core.policy import Policy
from tributary.core.spending import account
from tributary.garden.second_answer import SecondAnswer, second_answer
from tributary.garden.tries import Place, takes_turn, too_often
from tributary.garden.visit import Tally, Visit
from tributary.learn import Bench, Deadline, draft_of
from tributary.spaces import MISSES
from tributary.store import rows, statement

CHANGED = "changed_meanwhile"
PUT_OFF = "asked again: it waits for the strong judge until there is budget"


@dataclass(frozen=True, kw_only=True)
class _Open:
    """A decision that was left open, and the pairs to ask about; `pairs` counts those too that wait for the next day's budget.

    `causes` tell why there is no answer yet; `challenges` are open between its lesson and the others.
    """

    decision_id: UUID
    tick: int
    lesson: Lesson
    writer: Principal
    policy: Policy
    candidates: tuple[Candidate, ...]
    pairs: int
    causes: dict[str, str | None]
    challenges: dict[str, str | None]


def rejudge(visit: Visit, tally: Tally) -> None:
    """Asks about the open pairs of one decision after the other, those first that were asked about longest ago.

    A judge that is away changes nothing, however often it is. One that gives nothing of use, or nothing in time, is not asked for
    ever. While the budget of the day is spent, the pairs that wait for it are not even read.
    """
    place = Place()
    waiting = visit.survey.unjudged
    missed = 0
    while waiting > 0:
        if visit.budget.spent or missed >= MISSES:
            tally.leave(waiting, NoAnswer.UNAVAILABLE if missed >= MISSES else None)
            return
        spend = account().may_spend()
        row = visit.tools.database.value(statement("garden", "unjudged"), {**place.parameters(visit), "spend": spend})
        if row is None:
            if not spend:
                tally.leave(waiting, NoAnswer.BUDGET_SPENT)
            return
        place = Place.of(rows.document(row))
        left_open = _read(visit, rows.document(row))
        missed = missed + 1 if _asked(visit, tally, left_open) is False else 0
        account().decided(None)  # what led to no decision is none of the next one's
        waiting -= 1


def _read(visit: Visit, row: rows.Document) -> _Open:
    lesson = rows.lesson(row["lesson"])
    return _Open(
        decision_id=UUID(row["decision_id"]),
        tick=row["tick"],
        lesson=lesson,
        writer=Principal(tribe_id=visit.tribe_id, agent_id=lesson.agent_id, name=lesson.agent_name, role=rows.role(row["role"])),
        policy=Policy.from_document(row["policy_version"], row["policy"]),
        candidates=tuple(rows.candidate(one) for one in row["candidates"]),
        pairs=row["pairs"],
        causes=dict(row["causes"]),
        challenges=dict(row["challenges"]),
    )


def _asked(visit: Visit, tally: Tally, left_open: _Open) -> bool | None:
    """Asks about one decision's pairs and applies what is answered; tells whether it replied, None when not asked."""
    if lapsed(left_open.lesson, at=visit.now):
        return None  # time ends it, in this very run
    asked = {one.lesson.lesson_id: one for one in left_open.candidates if not lapsed(one.lesson, at=visit.now)}
    if asked and not takes_turn(visit, left_open.decision_id):
        return None
    bench = visit.tools.learner.decider.bench(
        visit.tribe_id,
        draft_of(left_open.lesson),
        lesson_id=left_open.lesson.lesson_id,
        content_hash=left_open.lesson.content_hash,
    )
    judged = _judged(visit, bench, asked)
    answered = [one for one in judged if one.verdict.answered]
    put_off = [one for one in judged if one.verdict.no_answer is NoAnswer.BUDGET_SPENT]
    news = [one for one in put_off if left_open.causes.get(str(one.candidate.lesson.lesson_id)) != NoAnswer.BUDGET_SPENT]
    if asked and not answered and not news:
        return _unanswered(visit, tally, left_open, judged)
    complete = len(answered) == left_open.pairs
    if not complete:
        tally.leave(1, _why_not(asked, judged))
    open_with = frozenset(UUID(other) for other, dispute in left_open.challenges.items() if dispute is not None)
    answer = second_answer(
        draft_of(left_open.lesson), left_open.writer, left_open.policy, answered, open_with=open_with, at=visit.now
    )
    to_apply = (answered or news or complete) and not visit.dry_run
    if to_apply and not _applied(
        visit, left_open, _Said(answered=answered, put_off=news, bench=bench), answer, complete=complete
    ):
        tally.leave(1, CHANGED)
    elif answered:
        for kind, count in answer.kinds(len(answered)).items():
            tally.did(kind, count)
    elif complete:
        tally.did("closed")
    return True if answered else None


def _judged(visit: Visit, bench: Bench, asked: Mapping[UUID, Candidate]) -> list[Judged]:
    """Returns what the judge says of the pairs, in their order; of none when the run's time was over before it had said all.

    It is asked in any order: pairs that it is never there for must not keep the others of their lesson from being asked about.
    """
    in_turn = dict(random.sample(list(asked.items()), len(asked)))
    judged = bench.judge_all(in_turn, Deadline.after(visit.budget.remaining_s())) or ()
    places = {key: place for place, key in enumerate(asked)}
    return sorted(judged, key=lambda one: places[one.candidate.lesson.lesson_id])


def _unanswered(visit: Visit, tally: Tally, left_open: _Open, judged: Sequence[Judged]) -> bool | None:
    """Leaves the decision open, or to the curators after too many tries in vain; tells what `_asked` does."""
    causes = [cause for one in judged if (cause := one.verdict.no_answer)]
    if NoAnswer.BUDGET_SPENT in causes:  # what waits for a budget is not given up for what another pair's judge replied
        tally.leave(1, NoAnswer.BUDGET_SPENT)
        return None
    replied = any(cause.replied for cause in causes)
    in_vain = replied or NoAnswer.TIMED_OUT in causes
    # nor are pairs given up that were not even asked about, for want of budget
    every = left_open.pairs == len(left_open.candidates)
    if in_vain and too_often(visit, left_open.decision_id, late=not replied, close=every) and every:
        tally.did("given_up")
    else:
        tally.leave(1, min(causes, default=NoAnswer.UNAVAILABLE))
    return replied


def _why_not(asked: Mapping[UUID, Candidate], judged: Sequence[Judged]) -> str | None:
    """Returns why not every pair was answered; None when only pairs are left that time ends in this very run."""
    if asked and not judged:
        return NoAnswer.UNAVAILABLE
    return next((cause for one in judged if (cause := one.verdict.no_answer)), None)


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What came of asking: pairs with an answer, and those that wait for the next day's budget from now on."""

    answered: Sequence[Judged]
    put_off: Sequence[Judged]
    bench: Bench


def _applied(visit: Visit, left_open: _Open, said: _Said, answer: SecondAnswer, *, complete: bool) -> bool:
    answered = [one.candidate for one in said.answered]
    candidates = [*answered, *(one.candidate for one in said.put_off)]
    again = new_id()
    document = {
        "tribe_id": str(visit.tribe_id),
        "decision_id": str(left_open.decision_id),
        "judged_again": str(again),
        "read_tick": left_open.tick,
        "role": left_open.writer.role.value,
        "policy_version": left_open.policy.version,
        "challenges": left_open.challenges,
        "answered": _texts([one.lesson.lesson_id for one in answered]),
        "complete": complete,
        "same": None if answer.same is None else str(answer.same),
        "replace": _texts(answer.replace),
        "clear": _texts(answer.clear),
        "challenge": _texts(answer.challenge),
        "challenge_ids": _texts([new_id() for _ in answer.challenge]),
        "candidates": [
            {"lesson_id": str(one.lesson.lesson_id), "status": one.lesson.status.value, "similarity": one.similarity}
            for one in candidates
        ],
        "verdicts": said.bench.recorded(candidates),
        "reviews": said.bench.overruled(answered),
        "outcome": answer.outcome.value,
        "reason": answer.reason if said.answered else PUT_OFF,
    }
    if not visit.tools.database.value(statement("garden", "rejudge"), {"answers": Jsonb(document)}):
        return False
    account().decided(again)
    return True


def _texts(ids: Sequence[UUID]) -> list[str]:
    return [str(one) for one in ids]
