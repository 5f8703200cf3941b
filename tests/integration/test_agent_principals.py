"""AWS principals bound to agents, in the database: who is whom, whose word ends it, and what the code's own role may not do."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.tribes import Tribal
from tributary.core.agent import Role
from tributary.core.errors import InvalidRequest, NotFound, Unauthenticated, WrongStanding
from tributary.service import open_operator
from tributary.service.operator import Operator

ROLE = "arn:aws:iam::123456789012:role/incident-agent"
SESSION = "arn:aws:sts::123456789012:assumed-role/incident-agent/i-0abc"
USER = "arn:aws:iam::123456789012:user/agents/scribe"


@pytest.fixture
def operator(tribal: Tribal) -> Iterator[Operator]:
    with open_operator(tribal.settings, adapters=tribal.adapters) as opened:
        opened.create_agent(tribal.name, "worker", Role.WRITER)
        yield opened


def refused(tribal: Tribal, arn: str) -> bool:
    try:
        tribal.memory.authenticate_principal(arn)
    except Unauthenticated:
        return True
    return False


def test_each_session_of_a_bound_role_is_the_agent_with_its_stored_role(tribal: Tribal, operator: Operator) -> None:
    assert refused(tribal, SESSION)
    bound = operator.bind(tribal.name, "worker", "arn:aws:iam::123456789012:role/team/incident-agent")
    assert bound.principals == (ROLE,), "without the path, which no session's ARN has"
    for arn in (SESSION, SESSION.replace("i-0abc", "another"), ROLE):
        found = tribal.memory.authenticate_principal(arn)
        assert (found.agent_id, found.tribe_id, found.name, found.role) == (
            bound.agent_id,
            tribal.tribe_id,
            "worker",
            Role.WRITER,
        )
    assert refused(tribal, SESSION.replace("aws:sts", "aws-cn:sts"))
    assert refused(tribal, SESSION.replace("123456789012", "210987654321"))
    assert tribal.learn(found, "The deploy API needs X-Batch.").outcome == "learned"


@pytest.mark.parametrize(
    "arn", ["arn:aws:iam::123456789012:root", "arn:aws:sts::123456789012:federated-user/jo", "", "' OR true --"]
)
def test_neither_root_nor_federated_users_are_bound_or_let_in(tribal: Tribal, operator: Operator, arn: str) -> None:
    with pytest.raises(InvalidRequest, match="must be the ARN of an IAM role or user"):
        operator.bind(tribal.name, "worker", arn)
    assert refused(tribal, arn)


def test_a_principal_is_one_agent_of_one_tribe(tribal: Tribal, operator: Operator) -> None:
    operator.bind(tribal.name, "worker", ROLE)
    assert operator.bind(tribal.name, "worker", SESSION).principals == (ROLE,), "binding it again changes nothing"
    operator.create_tribe("another")
    for tribe, name in ((tribal.name, "curator"), ("another", "curator")):
        with pytest.raises(WrongStanding, match="bound to agent 'worker' of tribe 'tribe'"):
            operator.bind(tribe, name, ROLE)
    assert tribal.memory.authenticate_principal(SESSION).name == "worker"
    operator.unbind(tribal.name, "worker", ROLE)
    operator.bind("another", "curator", ROLE)
    assert tribal.memory.authenticate_principal(SESSION).tribe_id != tribal.tribe_id


def test_an_agent_may_have_several_and_each_ends_by_itself(tribal: Tribal, operator: Operator) -> None:
    operator.bind(tribal.name, "worker", USER)
    assert operator.bind(tribal.name, "worker", ROLE).principals == (ROLE, USER)
    assert {one.name: one.principals for one in operator.agents(tribal.name)} == {"curator": (), "worker": (ROLE, USER)}
    assert operator.unbind(tribal.name, "worker", ROLE).principals == (USER,)
    assert (refused(tribal, SESSION), refused(tribal, USER)) == (True, False)
    with pytest.raises(NotFound, match="not bound to the agent 'worker'"):
        operator.unbind(tribal.name, "worker", ROLE)
    with pytest.raises(NotFound, match="not bound to the agent 'curator'"):
        operator.unbind(tribal.name, "curator", USER)
    with pytest.raises(NotFound, match="no agent named"):
        operator.bind(tribal.name, "nobody", ROLE)


def test_revoking_the_agent_ends_it_and_nothing_new_is_bound_to_it(tribal: Tribal, operator: Operator) -> None:
    operator.bind(tribal.name, "worker", ROLE)
    operator.revoke_agent(tribal.name, "worker")
    assert refused(tribal, SESSION)
    with pytest.raises(WrongStanding, match="revoked"):
        operator.bind(tribal.name, "worker", USER)
    operator.unbind(tribal.name, "worker", ROLE)
    assert operator.bind(tribal.name, "curator", ROLE).principals == (ROLE,), "free for another agent then"


def test_its_last_use_is_noted_to_the_minute_and_shown_of_its_agent(tribal: Tribal, operator: Operator) -> None:
    operator.bind(tribal.name, "worker", ROLE)
    tribal.memory.authenticate_principal(SESSION)
    noted = "SELECT last_used_at, xmin::text AS version FROM tributary.agent_principal"
    (first,) = tribal.rows(noted)
    tribal.memory.authenticate_principal(SESSION)
    assert tribal.rows(noted) == [first], "not written twice a minute"
    (by_operator,) = [one for one in operator.agents(tribal.name) if one.name == "worker"]
    (by_curator,) = [one for one in tribal.memory.desk.agents(tribal.curator).items if one.name == "worker"]
    assert by_operator.last_used_at == by_curator.last_used_at == first["last_used_at"]
    assert by_curator.principals == (), "the operator's to know"
    tribal.rows("UPDATE tributary.agent_principal SET last_used_at = clock_timestamp() - interval '61 seconds'")
    (before,) = tribal.rows(noted)
    tribal.memory.authenticate_principal(SESSION)
    assert tribal.rows(noted) != [before]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM tributary.agent_principal",
        "INSERT INTO tributary.agent_principal SELECT tribe_id, agent_id, 'arn:aws:iam::1:role/x' FROM tributary.agent_principal",
        "DELETE FROM tributary.agent_principal",
        "SELECT tributary.bind_principal_v1(gen_random_uuid(), gen_random_uuid(), 'arn:aws:iam::123456789012:role/x')",
    ],
)
def test_the_running_codes_role_can_neither_list_nor_bind(tribal: Tribal, statement: str) -> None:
    with psycopg.connect(tribal.url, autocommit=True, options="-c role=tributary_runtime") as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())
        assert connection.execute("SELECT tributary.authenticate_principal_v1('x')").fetchone() == (None,)


def test_the_database_itself_keeps_a_principal_from_being_two_agents(tribal: Tribal, operator: Operator) -> None:
    operator.bind(tribal.name, "worker", ROLE)
    with pytest.raises(psycopg.errors.UniqueViolation):
        tribal.rows(
            "INSERT INTO tributary.agent_principal SELECT tribe_id, agent_id, %s FROM tributary.agent WHERE name = 'curator'",
            ROLE,
        )
