"""What is committed between the queries of one recall: the search is one snapshot, what is looked up after it a later one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, LiteralString
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, all_unrelated, within_a_subject
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.curation import Ending
from tributary.core.decision import Outcome
from tributary.core.lesson import Draft
from tributary.core.requests import Question, Recalled
from tributary.store import Side
from tributary.store.database import Database, Parameters


class Interrupted:
    """A database to which something happens once, right after it was searched."""

    is_writer = True

    def __init__(self, database: Database, happening: Callable[[], object]) -> None:
        self._database = database
        self._happening: Callable[[], object] | None = happening

    def sides(self) -> Sequence[Side]:
        return (self,)

    def records(self, query: LiteralString, parameters: Parameters) -> list[dict[str, Any]]:
        found = self._database.records(query, parameters)
        happening, self._happening = self._happening, None
        if happening is not None:
            happening()
        return found

    def rows(self, query: LiteralString, parameters: Parameters) -> list[tuple[Any, ...]]:
        return self._database.rows(query, parameters)

    def value(self, query: LiteralString, parameters: Parameters) -> object:
        return self._database.value(query, parameters)


def recall_while(tribal: Tribal, happening: Callable[[], object], question: Question) -> Recalled:
    recaller = tribal.memory.recaller
    return replace(recaller, database=Interrupted(tribal.memory.database, happening)).recall(tribal.curator, question)


def ids(found: Recalled) -> list[UUID]:
    return [hit.lesson.lesson_id for hit in found.hits]


def test_a_lesson_that_is_erased_before_its_words_are_fetched_is_no_hit(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as tribal:
        query = "alpha beta gamma delta"
        wanted = tribal.learn(tribal.curator, f"{query} and quite some other words beside", situation="elsewhere", confidence=0.9)
        for word in ("alpha beta", "beta gamma", "gamma delta", "delta alpha"):
            # nearer, and left out for its confidence: the lesson that is wanted does not come with all that it says at once
            tribal.learn(tribal.curator, f"{query} {word}", situation=query, confidence=0.2)
        assert wanted.lesson is not None
        question = Question(query=query, limit=1, min_confidence=0.5)
        assert ids(tribal.memory.recall(tribal.curator, question)) == [wanted.lesson.lesson_id]
        erased = wanted.lesson.lesson_id
        found = recall_while(tribal, lambda: tribal.memory.curate.erase(tribal.curator, erased), question)
        assert found.hits == ()
        assert found.receipt.searched[0].tick == 6, "the tick of the search that it was answered from"


@pytest.mark.parametrize("ending", [Ending.ACCEPTED, Ending.REJECTED])
def test_what_was_undecided_at_the_search_is_counted_though_it_was_decided_since(database_url: str, ending: Ending) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        tribal.learn(tribal.curator, "listens at eighty", subject="p", situation="gateway")
        contender = tribal.learn(tribal.agent("w"), "quorum zeta kappa", subject="p", situation="quorum zeta kappa")
        dispute = contender.dispute_id
        assert dispute is not None
        found = recall_while(
            tribal,
            lambda: tribal.memory.curate.resolve(tribal.curator, dispute, ending, rationale="looked at"),
            Question(query="quorum zeta kappa"),
        )
        assert found.hits == ()
        assert [(one.rule, one.count) for one in found.receipt.excluded if one.rule == "undecided"] == [("undecided", 1)]
        assert not found.receipt.may_assert_absence


def test_what_is_settled_since_the_search_is_counted_as_the_pending_lesson_that_it_was(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated)) as tribal:
        draft = Draft(text="quorum zeta kappa", situation="quorum zeta kappa", source=SEEN)
        assert tribal.memory.learn(tribal.curator, draft, wait=False).outcome is Outcome.PENDING
        found = recall_while(tribal, tribal.memory.settle_pending, Question(query="quorum zeta kappa"))
        assert (found.hits, found.receipt.may_assert_absence) == ((), False)
        assert tribal.recall("quorum zeta kappa").hits
