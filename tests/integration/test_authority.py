"""The authority that a stored lesson is settled with: what its author had when it came in, or has now, whichever is less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tests.gardens import AwayJudge, garden, learned
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.decision import Outcome, VerdictKind
from tributary.core.garden import Rule
from tributary.core.lesson import Draft

Change = Callable[[Tribal, Principal], object]
Settle = Callable[[Tribal, UUID], object]


def _demoted(tribal: Tribal, author: Principal) -> None:
    tribal.memory.agents.set_role(tribal.curator, author.agent_id, Role.READER)


def _revoked(tribal: Tribal, author: Principal) -> None:
    tribal.memory.agents.revoke(tribal.curator, author.agent_id)


def _promoted(tribal: Tribal, author: Principal) -> None:
    tribal.memory.agents.set_role(tribal.curator, author.agent_id, Role.CURATOR)


CHANGES = pytest.mark.parametrize(
    ("came_in_as", "change", "stands"),
    [
        (Role.CURATOR, None, "active"),
        (Role.CURATOR, _demoted, "disputed"),
        (Role.CURATOR, _revoked, "disputed"),
        (Role.WRITER, _promoted, "disputed"),
        (Role.WRITER, _revoked, "disputed"),
    ],
)


@pytest.fixture
def judge() -> RuledJudge:
    return RuledJudge(within_a_subject)


@pytest.fixture
def screen() -> WordScreen:
    return WordScreen(word="80 now")


@pytest.fixture
def tribal(database_url: str, judge: RuledJudge, screen: WordScreen) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=judge, screen=screen) as opened:
        opened.learn(opened.curator, "it is 80", subject="port")
        yield opened


def _standing(tribal: Tribal, text: str) -> str:
    (row,) = tribal.rows("SELECT status FROM tributary.lesson WHERE text = %s", text)
    return str(row["status"])


def _agrees(tribal: Tribal, text: str, stands: str) -> None:
    """Asserts how the lesson stands, and that it replaced the older one only where it is believed."""
    older = "superseded" if stands == "active" else "active"
    assert (_standing(tribal, text), _standing(tribal, "it is 80")) == (stands, older)


@CHANGES
@pytest.mark.parametrize("by", ["queue", "worker", "gardener"])
def test_a_pending_lesson_is_settled_with_the_lower_of_its_authors_roles(
    tribal: Tribal, by: str, came_in_as: Role, change: Change | None, stands: str
) -> None:
    author = tribal.agent("author", came_in_as)
    draft = Draft(text="it is 81", situation="operating the service", source=SEEN, subject="port")
    assert tribal.memory.learn(author, draft, wait=False).outcome is Outcome.PENDING
    if change is not None:
        change(tribal, author)
    if by == "queue":
        assert tribal.memory.settle(tribal.tribe_id, deadline_s=60).done == 1
    elif by == "worker":
        assert tribal.memory.settle_pending() == 1
    else:
        assert garden(tribal).rule(Rule.SETTLE).done == 1
    _agrees(tribal, "it is 81", stands)


@pytest.mark.parametrize("change", [_demoted, _revoked])
def test_a_role_that_is_lost_while_the_judge_is_asked_counts_at_the_commit(
    tribal: Tribal, judge: RuledJudge, change: Change
) -> None:
    author = tribal.agent("author", Role.CURATOR)
    draft = Draft(text="it is 81", situation="operating the service", source=SEEN, subject="port")
    tribal.memory.learn(author, draft, wait=False)

    def lose() -> None:
        judge.before = None
        change(tribal, author)

    judge.before = lose
    assert tribal.memory.settle_pending() == 1
    _agrees(tribal, "it is 81", "disputed")


@CHANGES
def test_a_released_lesson_is_judged_with_the_lower_of_its_authors_roles(
    tribal: Tribal, came_in_as: Role, change: Change | None, stands: str
) -> None:
    author = tribal.agent("author", came_in_as)
    held = learned(tribal, author, "it is 80 now", subject="port")
    if change is not None:
        change(tribal, author)
    tribal.memory.curate.release(tribal.curator, held.lesson_id)
    _agrees(tribal, "it is 80 now", stands)


def test_a_release_counts_the_role_that_is_lost_while_the_judge_is_asked(tribal: Tribal, judge: RuledJudge) -> None:
    author = tribal.agent("author", Role.CURATOR)
    held = learned(tribal, author, "it is 80 now", subject="port")

    def lose() -> None:
        judge.before = None
        _revoked(tribal, author)

    judge.before = lose
    tribal.memory.curate.release(tribal.curator, held.lesson_id)
    _agrees(tribal, "it is 80 now", "disputed")


@CHANGES
def test_a_screen_that_came_back_lets_a_lesson_in_with_the_lower_of_its_authors_roles(
    tribal: Tribal, screen: WordScreen, came_in_as: Role, change: Change | None, stands: str
) -> None:
    author = tribal.agent("author", came_in_as)
    screen.fails = True
    learned(tribal, author, "it is 81", subject="port")
    screen.fails = False
    assert _standing(tribal, "it is 81") == "quarantined"
    if change is not None:
        change(tribal, author)
    assert garden(tribal).rule(Rule.RESCREEN).done == 1
    _agrees(tribal, "it is 81", stands)


@pytest.mark.parametrize(
    ("came_in_as", "change", "older"),
    [(Role.CURATOR, None, "retired"), (Role.CURATOR, _revoked, "active"), (Role.WRITER, _promoted, "active")],
)
def test_what_is_judged_again_replaces_with_the_lower_of_its_authors_roles(
    database_url: str, came_in_as: Role, change: Change | None, older: str
) -> None:
    judge = AwayJudge(lambda _new, _old: VerdictKind.CONFLICTS)
    with open_tribal(database_url, judge=judge) as tribal:
        author = tribal.agent("author", came_in_as)
        learned(tribal, tribal.agent("owner"), "it is 80", subject="port")
        learned(tribal, author, "it is 81", subject="port")
        assert tribal.status_counts() == {"active": 2}
        if change is not None:
            change(tribal, author)
        judge.away = False
        garden(tribal)
        assert _standing(tribal, "it is 80") == older
