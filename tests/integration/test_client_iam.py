"""An API that asks for AWS signatures, end to end: SDK and commands sign, what is in front checks, the memory knows who."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.iam_gateway import Caller, IamGateway, iam_gateway
from tests.tribes import Tribal
from tributary.client import AsyncMemory, Aws, BadReply, Forbidden, Memory, Unauthenticated, observed
from tributary.core.agent import Role
from tributary.edges.cli.app import app
from tributary.service import open_operator

ROLE = "arn:aws:iam::123456789012:role/incident-agent"
WRITER = Caller(
    key_id="ASIAWRITER",
    secret="s/e+c=ret",
    session="to/k+e=n",
    arn="arn:aws:sts::123456789012:assumed-role/incident-agent/s",
)
CURATOR = Caller(key_id="AKIACURATOR", secret="another", arn="arn:aws:iam::123456789012:user/people/ada")
STRANGER = Caller(key_id="AKIASTRANGER", secret="third", arn="arn:aws:iam::123456789012:user/eve")


@pytest.fixture
def api(tribal: Tribal) -> Iterator[IamGateway]:
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        operator.create_agent(tribal.name, "scribe", Role.WRITER)
        operator.bind(tribal.name, "scribe", ROLE)
        operator.bind(tribal.name, "curator", CURATOR.arn)
    with iam_gateway(tribal.memory, lambda: [WRITER, CURATOR, STRANGER]) as gateway:
        yield gateway


@pytest.fixture(autouse=True)
def _only_what_a_test_sets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("TRIBUTARY_HOME", str(tmp_path))


def acting_as(monkeypatch: pytest.MonkeyPatch, caller: Caller) -> None:
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    for name, value in caller.environment.items():
        monkeypatch.setenv(name, value)


def test_a_signed_caller_is_the_agent_that_is_bound_to_it(api: IamGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    acting_as(monkeypatch, WRITER)
    with Memory(api.url, aws=Aws()) as memory:
        learned = memory.learn("Drain connections first", situation="rebooting a database", source=observed("run:88"))
        assert learned.lesson is not None
        assert learned.lesson.author == "scribe"
        memory.learn("Flush DNS twice", situation="moving a host", source=observed("run:89"))
        assert [one.text for one in memory.lessons(page_size=1)] == ["Flush DNS twice", "Drain connections first"]
        assert memory.lesson(learned.lesson.id, as_of=learned.lesson.learned.at).lesson.status == "active"
        with pytest.raises(Forbidden, match="curator"):
            next(memory.curation.quarantine())
    assert api.faults == []
    assert any("as_of=" in one and "%2B00%3A00" in one for one in api.targets)
    assert any("before=" in one for one in api.targets)


def test_the_asynchronous_client_signs_too(api: IamGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    acting_as(monkeypatch, WRITER)

    async def ask() -> list[str]:
        async with AsyncMemory(api.url, aws=Aws()) as memory:
            await memory.learn("Drain connections first", situation="rebooting a database", source=observed("run:88"))
            found = await asyncio.gather(*(memory.recall("rebooting a database") for _ in range(8)))
            return [one.text for hits in found for one in hits]

    assert asyncio.run(ask()) == ["Drain connections first"] * 8
    assert api.faults == []


def test_a_try_after_a_failure_is_signed_again_and_learned_once(
    api: IamGateway, tribal: Tribal, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting_as(monkeypatch, WRITER)
    api.fails = 2
    with Memory(api.url, aws=Aws(), sleep=lambda _: None) as memory:
        memory.learn("Drain connections first", situation="rebooting a database", source=observed("run:88"))
    assert (len(api.targets), api.faults) == (3, [])
    assert tribal.status_counts() == {"active": 1}


@pytest.mark.parametrize(
    "caller",
    [
        Caller(key_id=WRITER.key_id, secret="not it", session=WRITER.session, arn=""),
        Caller(key_id=WRITER.key_id, secret=WRITER.secret, session="another", arn=""),
        Caller(key_id="AKIANOBODY", secret=WRITER.secret, arn=""),
    ],
    ids=["secret", "session", "key"],
)
def test_whose_signature_does_not_hold_gets_no_further(api: IamGateway, monkeypatch: pytest.MonkeyPatch, caller: Caller) -> None:
    acting_as(monkeypatch, caller)
    with Memory(api.url, aws=Aws()) as memory, pytest.raises(Forbidden, match="execute-api:Invoke"):
        memory.recall("q")
    assert (len(api.faults), api.targets) == (1, [])


def test_a_region_that_is_not_the_apis_does_not_hold(api: IamGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    acting_as(monkeypatch, WRITER)
    with Memory(api.url, aws=Aws(region="us-east-1")) as memory, pytest.raises(Forbidden, match="region"):
        memory.recall("q")
    assert api.faults[0].endswith("/us-east-1/execute-api/aws4_request")


def test_a_caller_who_is_bound_to_nobody_is_told_so_by_the_memory(api: IamGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    acting_as(monkeypatch, STRANGER)
    with Memory(api.url, aws=Aws()) as memory, pytest.raises(Unauthenticated, match="user/eve"):
        memory.recall("q")


def test_a_signature_is_carried_to_no_other_address(api: IamGateway, tribal: Tribal, monkeypatch: pytest.MonkeyPatch) -> None:
    acting_as(monkeypatch, WRITER)
    with iam_gateway(tribal.memory, lambda: [WRITER]) as other:
        api.redirects_to = f"{other.url}/v1/recall"
        with Memory(api.url, aws=Aws()) as memory, pytest.raises(BadReply):
            memory.recall("q")
        assert other.authorizations == []


# the commands


def ran(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def signing(api: IamGateway, monkeypatch: pytest.MonkeyPatch) -> IamGateway:
    acting_as(monkeypatch, CURATOR)
    monkeypatch.setenv("TRIBUTARY_URL", api.url)
    monkeypatch.setenv("TRIBUTARY_AUTH", "iam")
    return api


def test_commands_sign_where_the_environment_says_so(signing: IamGateway) -> None:
    learned = ran("learn", "Drain connections first", "--situation", "rebooting a database", "--source", "observed", "--json")
    assert learned.exit_code == 0, learned.output
    assert json.loads(learned.stdout)["lesson"]["author"] == "curator"
    assert ran("curate", "quarantine", "--json").exit_code == 0
    assert signing.faults == []


def test_a_command_with_a_token_besides_is_refused_by_name(signing: IamGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_TOKEN", "trb_x")
    refused = ran("stats")
    assert (refused.exit_code != 0, "TRIBUTARY_TOKEN and TRIBUTARY_AUTH=iam" in refused.stderr) == (True, True)
    assert signing.authorizations == []


def test_verify_live_signs_and_says_what_takes_more_than_one_caller(signing: IamGateway, tribal: Tribal) -> None:
    done = ran("verify-live", signing.url, "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["held"], report["left"], report["tribe"]) == (0, True, [], None), done.output
    states = {one["step"]: one["state"] for one in report["steps"]}
    assert {name for name, state in states.items() if state == "failed"} == set()
    for name in ("health", "openapi", "admitted", "create-agents", "agents", "set-role", "new-token", "tokens", "invalid-field"):
        assert states[name] == "ok", name
    reasons = {one["reason"] for one in report["steps"] if one["state"] == "skipped"}
    assert any("AWS knows one caller" in str(reason) for reason in reasons)
    assert signing.faults == []
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        acting = {one.name for one in operator.agents(tribal.name) if one.revoked_at is None}
    assert acting == {"curator", "scribe"}
