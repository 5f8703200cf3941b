"""Agents and tokens, as curators manage them: what is let in afterwards, what is refused, and what the audit says of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

import tributary
from tests.tribes import Tribal, open_tribal
from tributary.access import MOST_AGENTS, MOST_TOKENS, token_hash
from tributary.core import ids
from tributary.core.agent import NewToken, Principal, Role
from tributary.core.errors import Forbidden, InvalidRequest, NotFound, Unauthenticated, WrongStanding
from tributary.core.ids import new_id
from tributary.store import statement

Act = Callable[[Tribal, Principal, NewToken], object]
EVERY_ACT: dict[str, Act] = {
    "create": lambda t, p, _: t.memory.agents.create(p, "fresh", Role.READER),
    "new_token": lambda t, p, target: t.memory.agents.new_token(p, target.agent.agent_id),
    "revoke_token": lambda t, p, target: t.memory.agents.revoke_token(p, target.token_id),
    "revoke": lambda t, p, target: t.memory.agents.revoke(p, target.agent.agent_id),
    "set_role": lambda t, p, target: t.memory.agents.set_role(p, target.agent.agent_id, Role.CURATOR),
    "agents": lambda t, p, _: t.memory.desk.agents(p),
    "agent": lambda t, p, target: t.memory.desk.agent(p, target.agent.agent_id),
    "tokens": lambda t, p, target: t.memory.desk.tokens(p, target.agent.agent_id),
}


def create(tribal: Tribal, name: str, role: Role = Role.WRITER, *, days: int = 365) -> NewToken:
    return tribal.memory.agents.create(tribal.curator, name, role, days=days)


def let_in(tribal: Tribal, secret: str) -> bool:
    try:
        tribal.memory.authenticate(secret)
    except Unauthenticated:
        return False
    return True


def audited(tribal: Tribal) -> list[tuple[str, str | None, str]]:
    """Returns action, agent and detail of what was done, oldest first."""
    entries = tribal.memory.desk.audit(tribal.memory.authenticate(tribal.curator_token), limit=100).items
    return [(one.action, one.agent, one.detail) for one in sorted(entries, key=lambda one: one.at) if one.code == "done"]


def access_rows(tribal: Tribal) -> tuple[object, ...]:
    """Returns all that changes when agents are managed, but for when tokens were used."""
    return (
        tribal.rows("SELECT agent_id, role, revoked_at FROM tributary.agent ORDER BY 1"),
        tribal.rows("SELECT token_id, agent_id, revoked_at FROM tributary.token ORDER BY 1"),
        tribal.rows("SELECT audit_id FROM tributary.audit ORDER BY 1"),
    )


# making


@pytest.mark.parametrize("role", Role)
def test_a_new_agent_is_let_in_with_its_name_and_role_and_the_audit_names_it(tribal: Tribal, role: Role) -> None:
    made = create(tribal, "worker", role)
    principal = tribal.memory.authenticate(made.secret)
    assert (principal.agent_id, principal.name, principal.role) == (made.agent.agent_id, "worker", role)
    assert principal.tribe_id == tribal.tribe_id
    ((action, by, detail),) = audited(tribal)
    assert (action, by) == ("create_agent", "curator")
    for said in (
        "worker",
        role.value,
        ids.show(ids.Prefix.AGENT, made.agent.agent_id),
        ids.show(ids.Prefix.TOKEN, made.token_id),
    ):
        assert said in detail


def test_neither_audit_nor_listings_hold_a_secret_or_its_hash(tribal: Tribal) -> None:
    made = create(tribal, "worker")
    again = tribal.memory.agents.new_token(tribal.curator, made.agent.agent_id)
    shown = f"{audited(tribal)} {tribal.memory.desk.agents(tribal.curator)} "
    shown += str(tribal.memory.desk.tokens(tribal.curator, made.agent.agent_id))
    asked = {"tribe_id": tribal.tribe_id, "actor_id": tribal.curator.agent_id, "agent_id": made.agent.agent_id}
    page = {"limit": 10, "before_id": None, "now": tribal.clock()}
    shown += str(tribal.memory.database.value(statement("access", "page_of_tokens"), {**asked, **page}))
    assert ids.show(ids.Prefix.TOKEN, again.token_id) in shown
    for secret in (made.secret, again.secret):
        assert secret.removeprefix("trb_") not in shown
        assert token_hash(secret).hex() not in shown
        assert str(token_hash(secret)) not in shown


def test_a_name_is_given_once_even_after_its_agent_was_revoked(tribal: Tribal) -> None:
    made = create(tribal, "worker")
    before = access_rows(tribal)
    with pytest.raises(WrongStanding, match="named 'worker' already"):
        create(tribal, "worker", Role.READER)
    assert access_rows(tribal) == before
    tribal.memory.agents.revoke(tribal.curator, made.agent.agent_id)
    with pytest.raises(WrongStanding, match="names of revoked ones"):
        create(tribal, "worker")


@pytest.mark.parametrize(("field", "given"), [("days", 0), ("days", 3651), ("name", "a b"), ("name", "x" * 101), ("name", "")])
def test_what_breaks_a_rule_is_refused_by_its_field_and_makes_nothing(tribal: Tribal, field: str, given: object) -> None:
    before = access_rows(tribal)
    with pytest.raises(InvalidRequest) as caught:
        create(tribal, **{"name": "worker", field: given})  # type: ignore[arg-type]  # faults on purpose
    assert caught.value.field == field
    if field == "days":
        with pytest.raises(InvalidRequest, match="from 1 to 3650"):
            tribal.memory.agents.new_token(tribal.curator, tribal.curator.agent_id, days=given)  # type: ignore[arg-type]  # as above
    assert access_rows(tribal) == before


@pytest.mark.parametrize("days", [1, 3650])
def test_a_token_lasts_as_many_days_as_asked_and_is_refused_when_they_are_over(tribal: Tribal, days: int) -> None:
    tribal.clock.advance(days=-days, hours=1)
    fresh = create(tribal, "fresh", days=days)
    tribal.clock.advance(hours=-2)
    stale = create(tribal, "stale", days=days)
    assert (let_in(tribal, fresh.secret), let_in(tribal, stale.secret)) == (True, False)


# tokens


@pytest.mark.parametrize("revoke_others", [False, True])
def test_another_token_stands_beside_the_old_ones_or_in_their_place(tribal: Tribal, revoke_others: bool) -> None:
    old = create(tribal, "worker")
    other = create(tribal, "other")
    new = tribal.memory.agents.new_token(tribal.curator, old.agent.agent_id, days=7, revoke_others=revoke_others)
    assert (new.agent.name, let_in(tribal, new.secret), let_in(tribal, other.secret)) == ("worker", True, True)
    assert let_in(tribal, old.secret) is not revoke_others
    listed = {one.token_id: one for one in tribal.memory.desk.tokens(tribal.curator, old.agent.agent_id).items}
    assert set(listed) == {old.token_id, new.token_id}
    assert listed[new.token_id].expires_at == new.expires_at
    assert (listed[old.token_id].revoked_at is not None, listed[new.token_id].revoked_at) == (revoke_others, None)
    detail = audited(tribal)[-1][2]
    assert (ids.show(ids.Prefix.TOKEN, old.token_id) in detail) is revoke_others


def test_a_revoked_token_is_refused_while_the_agents_other_one_is_let_in(tribal: Tribal) -> None:
    old = create(tribal, "worker")
    new = tribal.memory.agents.new_token(tribal.curator, old.agent.agent_id)
    first = tribal.memory.agents.revoke_token(tribal.curator, old.token_id)
    assert (let_in(tribal, old.secret), let_in(tribal, new.secret)) == (False, True)
    assert tribal.memory.agents.revoke_token(tribal.curator, old.token_id).revoked_at == first.revoked_at is not None
    assert [action for action, _, _ in audited(tribal)].count("revoke_token") == 1


def test_an_agent_has_at_most_twenty_tokens_that_are_let_in(tribal: Tribal) -> None:
    tribal.clock.advance(days=-2)
    worker = create(tribal, "worker", days=1)  # expired by now, so it does not count
    tribal.clock.advance(days=2)
    made = [tribal.memory.agents.new_token(tribal.curator, worker.agent.agent_id) for _ in range(MOST_TOKENS)]
    with pytest.raises(WrongStanding, match="20 usable tokens"):
        tribal.memory.agents.new_token(tribal.curator, worker.agent.agent_id)
    tribal.memory.agents.revoke_token(tribal.curator, made[0].token_id)
    tribal.memory.agents.new_token(tribal.curator, worker.agent.agent_id)
    tribal.memory.agents.new_token(tribal.curator, worker.agent.agent_id, revoke_others=True)
    usable = tribal.rows("SELECT 1 FROM tributary.token WHERE agent_id = %s AND revoked_at IS NULL", worker.agent.agent_id)
    assert len(usable) == 2  # the new one, and the expired one


# agents


def test_a_revoked_agent_is_refused_with_all_its_tokens_and_its_lessons_stay(tribal: Tribal) -> None:
    worker = create(tribal, "worker")
    second = tribal.memory.agents.new_token(tribal.curator, worker.agent.agent_id)
    learned = tribal.learn(tribal.memory.authenticate(worker.secret), "The deploy API needs X-Batch.")
    ended = tribal.memory.agents.revoke(tribal.curator, worker.agent.agent_id)
    assert ended.revoked_at is not None
    assert not let_in(tribal, worker.secret)
    assert not let_in(tribal, second.secret)
    assert all(one.revoked_at for one in tribal.memory.desk.tokens(tribal.curator, worker.agent.agent_id).items)
    assert tribal.memory.agents.revoke(tribal.curator, worker.agent.agent_id).revoked_at == ended.revoked_at
    assert [action for action, _, _ in audited(tribal)].count("revoke_agent") == 1
    assert learned.lesson is not None
    assert tribal.recall("deploy API X-Batch").hits[0].lesson.lesson_id == learned.lesson.lesson_id
    for act in (
        lambda: tribal.memory.agents.new_token(tribal.curator, worker.agent.agent_id),
        lambda: tribal.memory.agents.set_role(tribal.curator, worker.agent.agent_id, Role.READER),
    ):
        with pytest.raises(WrongStanding, match="revoked"):
            act()


def test_a_role_holds_from_the_next_write_on_whatever_the_principal_at_hand_says(tribal: Tribal) -> None:
    stale = tribal.memory.authenticate(create(tribal, "worker").secret)
    tribal.learn(stale, "The deploy API needs X-Batch.")
    assert tribal.memory.agents.set_role(tribal.curator, stale.agent_id, Role.READER).role is Role.READER
    with pytest.raises(Forbidden, match="is reader"):
        tribal.learn(stale, "The cache must be warm.")
    tribal.memory.agents.set_role(tribal.curator, stale.agent_id, Role.WRITER)
    tribal.learn(stale, "The cache must be warm.")
    assert "from reader to writer" in audited(tribal)[-1][2]


def test_setting_the_role_that_an_agent_has_changes_and_audits_nothing(tribal: Tribal) -> None:
    worker = create(tribal, "worker")
    before = access_rows(tribal)
    assert tribal.memory.agents.set_role(tribal.curator, worker.agent.agent_id, Role.WRITER).role is Role.WRITER
    assert access_rows(tribal) == before


def test_a_tribe_has_at_most_a_thousand_agents_that_are_not_revoked(tribal: Tribal) -> None:
    tribal.rows(
        """INSERT INTO tributary.agent (tribe_id, agent_id, name, role)
           SELECT %s, gen_random_uuid(), 'agent-' || n, 'reader' FROM generate_series(1, %s) n""",
        tribal.tribe_id,
        MOST_AGENTS - 2,
    )
    last = create(tribal, "last")
    with pytest.raises(WrongStanding, match="1000 agents already"):
        create(tribal, "one-more")
    tribal.memory.agents.revoke(tribal.curator, last.agent.agent_id)
    assert let_in(tribal, create(tribal, "one-more").secret)


# listings


def test_agents_are_listed_newest_first_in_pages_with_receipts(tribal: Tribal) -> None:
    made = [create(tribal, f"worker-{number}").agent.agent_id for number in range(5)]
    newest_first = sorted([*made, tribal.curator.agent_id], reverse=True)  # ids rise with time, to the millisecond
    tribal.memory.agents.revoke(tribal.curator, made[0])
    first = tribal.memory.desk.agents(tribal.curator, limit=4)
    second = tribal.memory.desk.agents(tribal.curator, limit=4, before=first.next_before)
    shown = (*first.items, *second.items)
    assert [one.agent_id for one in shown] == newest_first
    assert [one.agent_id for one in shown if one.revoked_at] == [made[0]]
    assert second.next_before is None
    assert (first.receipt.coverage.value, [one.rule for one in first.receipt.excluded]) == ("complete", ["over_limit"])
    assert [hit.lesson_id for hit in first.receipt.hits] == [one.agent_id for one in first.items]
    assert first.receipt.signature


def test_tokens_are_listed_newest_first_in_pages_with_receipts(tribal: Tribal) -> None:
    made = [tribal.memory.agents.new_token(tribal.curator, tribal.curator.agent_id).token_id for _ in range(4)]
    first = tribal.memory.desk.tokens(tribal.curator, tribal.curator.agent_id, limit=3)
    second = tribal.memory.desk.tokens(tribal.curator, tribal.curator.agent_id, limit=3, before=first.next_before)
    assert [one.token_id for one in (*first.items, *second.items)][:4] == sorted(made, reverse=True)
    assert (len(second.items), second.next_before) == (2, None)
    assert [hit.lesson_id for hit in second.receipt.hits] == [one.token_id for one in second.items]


# who may


@pytest.mark.parametrize("act", EVERY_ACT)
@pytest.mark.parametrize("role", [Role.READER, Role.WRITER])
def test_only_a_curator_may(tribal: Tribal, act: str, role: Role) -> None:
    target = create(tribal, "target")
    agent = tribal.agent("nosy", role)
    before = access_rows(tribal)
    with pytest.raises(Forbidden, match="needs curator"):
        EVERY_ACT[act](tribal, agent, target)
    assert access_rows(tribal) == before


@pytest.mark.parametrize("act", EVERY_ACT)
@pytest.mark.parametrize("change", ["revoked_at = clock_timestamp()", "role = 'writer'"])
def test_the_role_and_revocation_that_count_are_those_stored_now(tribal: Tribal, act: str, change: str) -> None:
    target = create(tribal, "target")
    stale = tribal.agent("former", Role.CURATOR)
    tribal.rows(f"UPDATE tributary.agent SET {change} WHERE agent_id = %s", stale.agent_id)
    before = access_rows(tribal)
    with pytest.raises(Forbidden, match=r"by now|revoked"):
        EVERY_ACT[act](tribal, stale, target)
    assert access_rows(tribal) == before


@pytest.mark.parametrize("act", [one for one in EVERY_ACT if one not in ("create", "agents")])
def test_agents_and_tokens_of_another_tribe_are_not_found(tribal: Tribal, act: str) -> None:
    with open_tribal(tribal.url, name="other") as other:
        foreign = create(other, "worker")
        before = access_rows(tribal)
        with pytest.raises(NotFound):
            EVERY_ACT[act](tribal, tribal.curator, foreign)
        assert access_rows(tribal) == before
        assert let_in(other, foreign.secret)


def test_what_is_not_there_is_not_found(tribal: Tribal) -> None:
    agents = tribal.memory.agents
    calls: list[Callable[[UUID], object]] = [
        lambda one: agents.new_token(tribal.curator, one),
        lambda one: agents.revoke_token(tribal.curator, one),
        lambda one: agents.revoke(tribal.curator, one),
        lambda one: agents.set_role(tribal.curator, one, Role.READER),
        lambda one: tribal.memory.desk.tokens(tribal.curator, one),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call(new_id())


# the last curator

TAKING: dict[str, Callable[[Tribal], object]] = {
    "revoking it": lambda t: t.memory.agents.revoke(t.curator, t.curator.agent_id),
    "its role": lambda t: t.memory.agents.set_role(t.curator, t.curator.agent_id, Role.WRITER),
    "its last token": lambda t: t.memory.agents.revoke_token(t.curator, token_of(t, t.curator)),
}


def token_of(tribal: Tribal, agent: Principal) -> UUID:
    (token,) = tribal.memory.desk.tokens(tribal.curator, agent.agent_id).items
    return token.token_id


@pytest.mark.parametrize("taking", TAKING)
def test_the_last_curator_cannot_be_taken_from_a_tribe(tribal: Tribal, taking: str) -> None:
    create(tribal, "writer")
    before = access_rows(tribal)
    with pytest.raises(WrongStanding, match="without a curator who can act"):
        TAKING[taking](tribal)
    assert access_rows(tribal) == before
    assert tribal.memory.authenticate(tribal.curator_token).role is Role.CURATOR


@pytest.mark.parametrize("taking", TAKING)
@pytest.mark.parametrize("useless", ["revoked", "expired", "without a token"])
def test_a_curator_who_cannot_act_does_not_count(tribal: Tribal, taking: str, useless: str) -> None:
    second = create(tribal, "second", Role.CURATOR, days=1)
    if useless == "revoked":
        tribal.memory.agents.revoke(tribal.curator, second.agent.agent_id)
    elif useless == "without a token":
        tribal.memory.agents.revoke_token(tribal.curator, second.token_id)
    else:
        tribal.clock.advance(days=2)
    with pytest.raises(WrongStanding, match="without a curator who can act"):
        TAKING[taking](tribal)


@pytest.mark.parametrize("taking", TAKING)
def test_beside_another_curator_one_may_go(tribal: Tribal, taking: str) -> None:
    create(tribal, "second", Role.CURATOR)
    TAKING[taking](tribal)
    if taking == "its role":
        assert tribal.memory.authenticate(tribal.curator_token).role is Role.WRITER
    else:
        assert not let_in(tribal, tribal.curator_token)


def test_a_curator_may_replace_its_own_last_token(tribal: Tribal) -> None:
    new = tribal.memory.agents.new_token(tribal.curator, tribal.curator.agent_id, revoke_others=True)
    assert (let_in(tribal, tribal.curator_token), let_in(tribal, new.secret)) == (False, True)


def test_writers_may_go_though_no_curator_can_act_any_more(tribal: Tribal) -> None:
    """Within the authorizer's minute a curator may still be at work whose token has just expired."""
    worker = create(tribal, "worker")
    tribal.clock.advance(days=400)
    assert tribal.memory.agents.revoke(tribal.curator, worker.agent.agent_id).revoked_at is not None


# no secret is compared

IDENTIFYING = ("access", "service", "store", "recall", "edges/lambda_http", "edges/gateway")
SECRETIVE = ("secret", "token", "hash", "digest", "signature", "password")


def comparisons(source: str) -> list[str]:
    """Returns the comparisons by value that name something secret."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Compare)
        and any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops)
        and any(word in name.lower() for name in _names(node) for word in SECRETIVE)
    ]


def _names(node: ast.AST) -> set[str]:
    return {
        one.id if isinstance(one, ast.Name) else one.attr for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)
    }


def test_no_code_that_lets_callers_in_compares_a_secret_by_value() -> None:
    root = Path(tributary.__file__).parent
    paths = [path for folder in IDENTIFYING for path in (root / folder).rglob("*.py")]
    assert len(paths) > 30
    assert {
        str(path.relative_to(root)): found for path in paths if (found := comparisons(path.read_text(encoding="utf-8")))
    } == {}


def test_a_comparison_of_secrets_would_be_found() -> None:
    assert comparisons("if given == stored.token_hash: pass") == ["given == stored.token_hash"]
    assert comparisons("secret in known or token is None") == ["secret in known"]
