"""Tokens on the operator's side: listed, rotated and revoked, and the last curator, which the operator may take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tribes import Tribal
from tributary.access import MOST_AGENTS, MOST_TOKENS
from tributary.core.agent import Role
from tributary.core.errors import InvalidRequest, NotFound, Unauthenticated, WrongStanding
from tributary.core.ids import new_id
from tributary.service import open_operator
from tributary.service.operator import Operator


@pytest.fixture
def operator(tribal: Tribal) -> Iterator[Operator]:
    with open_operator(tribal.settings, adapters=tribal.adapters) as opened:
        yield opened


def let_in(tribal: Tribal, *secrets: str) -> list[bool]:
    found = []
    for secret in secrets:
        try:
            found.append(tribal.memory.authenticate(secret).tribe_id == tribal.tribe_id)
        except Unauthenticated:
            found.append(False)
    return found


@pytest.mark.parametrize("keep_others", [False, True])
def test_a_rotated_token_stands_in_place_of_the_old_ones_or_beside_them(
    tribal: Tribal, operator: Operator, keep_others: bool
) -> None:
    old = operator.create_agent(tribal.name, "worker", Role.WRITER)
    other = operator.create_agent(tribal.name, "other", Role.WRITER)
    new = operator.rotate(tribal.name, "worker", days=7, keep_others=keep_others)
    assert new.agent.agent_id == old.agent.agent_id
    assert let_in(tribal, old.secret, other.secret, new.secret) == [keep_others, True, True]
    listed = {one.token_id: one for one in operator.tokens_of(tribal.name, "worker")}
    assert set(listed) == {old.token_id, new.token_id}
    assert listed[new.token_id].expires_at == new.expires_at
    assert listed[new.token_id].last_used_at is not None
    assert (listed[old.token_id].revoked_at is None) is keep_others


def test_an_agents_last_use_is_listed(tribal: Tribal, operator: Operator) -> None:
    worker = operator.create_agent(tribal.name, "worker", Role.WRITER)
    assert {one.name: one.last_used_at is not None for one in operator.agents(tribal.name)} == {"curator": True, "worker": False}
    tribal.memory.authenticate(worker.secret)
    assert all(one.last_used_at for one in operator.agents(tribal.name))


def test_a_revoked_token_is_refused_and_the_first_time_is_kept(tribal: Tribal, operator: Operator) -> None:
    old = operator.create_agent(tribal.name, "worker", Role.WRITER)
    new = operator.rotate(tribal.name, "worker", keep_others=True)
    first = operator.revoke_token(tribal.name, old.token_id)
    assert first.revoked_at is not None
    assert let_in(tribal, old.secret, new.secret) == [False, True]
    assert operator.revoke_token(tribal.name, old.token_id) == first


def test_the_operator_may_take_the_last_curator_and_is_able_to_tell(tribal: Tribal, operator: Operator) -> None:
    assert operator.has_curator(tribal.name)
    (token,) = operator.tokens_of(tribal.name, "curator")
    operator.revoke_token(tribal.name, token.token_id)
    assert not operator.has_curator(tribal.name)
    second = operator.create_agent(tribal.name, "second", Role.CURATOR)
    assert operator.has_curator(tribal.name)
    assert operator.revoke_agent(tribal.name, "second").revoked_at is not None
    assert not operator.has_curator(tribal.name)
    assert let_in(tribal, tribal.curator_token, second.secret) == [False, False]
    operator.rotate(tribal.name, "curator", days=1)
    assert operator.has_curator(tribal.name)
    tribal.clock.advance(days=2)
    assert not operator.has_curator(tribal.name)


def test_the_operator_is_held_to_the_same_limits_as_curators(tribal: Tribal, operator: Operator) -> None:
    for _ in range(MOST_TOKENS - 1):
        operator.rotate(tribal.name, "curator", keep_others=True)
    with pytest.raises(WrongStanding, match="20 usable tokens"):
        operator.rotate(tribal.name, "curator", keep_others=True)
    operator.rotate(tribal.name, "curator")
    tribal.rows(
        """INSERT INTO tributary.agent (tribe_id, agent_id, name, role)
           SELECT %s, gen_random_uuid(), 'agent-' || n, 'reader' FROM generate_series(1, %s) n""",
        tribal.tribe_id,
        MOST_AGENTS - 1,
    )
    with pytest.raises(WrongStanding, match="1000 agents already"):
        operator.create_agent(tribal.name, "one-more", Role.READER)


def test_a_revoked_agent_gets_no_token_and_its_old_ones_stay_ended(tribal: Tribal, operator: Operator) -> None:
    worker = operator.create_agent(tribal.name, "worker", Role.WRITER)
    operator.revoke_agent(tribal.name, "worker")
    with pytest.raises(WrongStanding, match="revoked"):
        operator.rotate(tribal.name, "worker")
    assert let_in(tribal, worker.secret) == [False]
    assert [one.revoked_at is not None for one in operator.tokens_of(tribal.name, "worker")] == [True]


def test_a_rotation_that_is_refused_leaves_the_old_token_good(tribal: Tribal, operator: Operator) -> None:
    with pytest.raises(InvalidRequest, match="from 1 to 3650"):
        operator.rotate(tribal.name, "curator", days=0)
    assert let_in(tribal, tribal.curator_token) == [True]


def test_what_is_not_there_is_said_to_be_missing(tribal: Tribal, operator: Operator) -> None:
    for call in (
        lambda: operator.rotate("nobody", "a"),
        lambda: operator.tokens_of("nobody", "a"),
        lambda: operator.revoke_token("nobody", new_id()),
        lambda: operator.has_curator("nobody"),
    ):
        with pytest.raises(NotFound, match="no tribe named 'nobody'"):
            call()
    for call in (lambda: operator.rotate(tribal.name, "a"), lambda: operator.tokens_of(tribal.name, "a")):
        with pytest.raises(NotFound, match="no agent named 'a'"):
            call()
    with pytest.raises(NotFound, match="no such token"):
        operator.revoke_token(tribal.name, new_id())


def test_a_token_is_revoked_in_its_own_tribe_only(tribal: Tribal, operator: Operator) -> None:
    elsewhere = operator.create_tribe("elsewhere").token
    with pytest.raises(NotFound):
        operator.revoke_token(tribal.name, elsewhere.token_id)
    assert tribal.memory.authenticate(elsewhere.secret).role is Role.CURATOR
