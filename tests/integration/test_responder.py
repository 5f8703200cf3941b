"""The incident agent over a real database: its receipts, its ceilings, and changes of RDS that happen once, whoever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs

import httpx
import pytest

from tests.providers.queues import CREDENTIALS, REGION, serving
from tests.tribes import Tribal
from tributary import client
from tributary.core.action import BeginOutcome, Begun
from tributary.core.agent import Principal, Role
from tributary.core.clock import utc_now
from tributary.core.errors import ModelFailed, RateLimited
from tributary.core.ids import new_id
from tributary.core.ports import Prompt
from tributary.core.spending import CallEnd, ModelCall, account
from tributary.edges.gateway import running
from tributary.responder import MemoryFace, Responder, Turn
from tributary.service import Memory, open_memory
from tributary.service.responding import live_systems

SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "responder.jsonl"
REBOOT = Turn(message="please reboot it", incident="INC-1")


@contextmanager
def responding(tribal: Tribal, **settings: object) -> Iterator[Memory]:
    """Opens the tribe's memory with the documented script in the place of a model."""
    given = {"responder": "scripted", "responder_script": SCRIPT, "responder_turns_per_minute": 1_000, **settings}
    with open_memory(tribal.settings.model_copy(update=given), adapters=tribal.adapters) as memory:
        yield memory


# -- receipts and the guard


def test_the_documented_script_is_followed_over_http_and_its_receipts_verify(tribal: Tribal) -> None:
    with (
        responding(tribal) as memory,
        running(memory) as gateway,
        client.Memory(gateway.url, tribal.token("w"), environment={}) as sdk,
    ):
        reply = sdk.respond("orders-db-7 refuses connections", incident="INC-12")
        assert (reply.text, reply.stopped, reply.incident) == ("Nothing is known about this yet.", None, "INC-12")
        (search,) = reply.receipts
        assert search.receipt.may_assert_absence
        assert sdk.verify(search.receipt, query=search.query).verdict == "agrees"
        learned = sdk.respond("remember that")
        assert [one.outcome for one in learned.learned] == ["learned"]
        again = sdk.respond("orders-db-7 refuses connections", conversation=[{"role": "user", "text": "hello"}])
        assert again.text.startswith("The team's memory has a lesson")
        assert [hit.id for hit in again.receipts[0].receipt.hits] == [learned.learned[0].lesson and learned.learned[0].lesson.id]


def test_a_lesson_without_a_vector_keeps_the_agent_from_saying_that_nothing_is_known(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "billing runs at night", "closing the books")
    tribal.rows("DELETE FROM tributary.lesson_vector WHERE tribe_id = %s", tribal.tribe_id)
    with responding(tribal) as memory:
        reply = Responder(memory=memory).turn(tribal.curator, Turn(message="replica lag on orders"))
    assert reply.searched[0].receipt.coverage.value == "partial"
    assert (reply.text, reply.rounds) == ("I looked at what the team knows; the lessons above are all that I can tell.", 2)


def test_readers_are_refused_over_http(tribal: Tribal) -> None:
    with responding(tribal) as memory, running(memory) as gateway:
        reader = tribal.token("r", Role.READER)
        with client.Memory(gateway.url, reader, environment={}) as sdk, pytest.raises(client.Forbidden):
            sdk.respond("down")


# -- ceilings


def turns_of(tribal: Tribal) -> list[dict[str, object]]:
    return tribal.rows("SELECT turns, usd::text FROM tributary.responder_day WHERE tribe_id = %s", tribal.tribe_id)


@pytest.mark.parametrize(
    ("ceiling", "agents"),
    [
        ({"responder_turns_per_minute": 5, "responder_turns_per_day": 100}, 1),
        ({"responder_turns_per_minute": 100, "responder_turns_per_day": 5}, 16),
        ({"responder_turns_per_day": 100, "responder_usd_per_turn": Decimal(1), "responder_usd_per_day": Decimal(5)}, 16),
    ],
    ids=["an agent's pace", "a tribe's day", "a tribe's spending"],
)
def test_of_sixteen_that_ask_at_once_no_more_get_in_than_may(tribal: Tribal, ceiling: dict[str, Any], agents: int) -> None:
    callers = [tribal.agent(f"w{number}") for number in range(agents)]
    given = {"responder_usd_per_day": Decimal(1_000), **ceiling}
    with responding(tribal, **given) as memory:
        gate = threading.Barrier(16)

        def begin(number: int) -> int:
            gate.wait()
            try:
                memory.responding.turns.begin(callers[number % agents], new_id())
            except RateLimited as error:
                return error.retry_after_s
            return 0

        with ThreadPoolExecutor(16) as pool:
            waits = list(pool.map(begin, range(16)))
        assert waits.count(0) == 5
        assert all(1 <= wait <= 86_400 for wait in waits if wait)
        assert turns_of(tribal)[0]["turns"] == 5, "what is refused is not counted"


def test_counting_by_reading_first_lets_more_in_which_is_what_the_lock_is_for(tribal: Tribal) -> None:
    """The negative control: the same count without the row's lock is passed."""
    tribal.rows("CREATE TABLE public.counted (n integer)")
    gate, admitted = threading.Barrier(16), []

    def begin(_: int) -> None:
        (row,) = tribal.rows("SELECT count(*) AS n FROM public.counted")
        gate.wait()
        if cast(int, row["n"]) < 5:
            tribal.rows("INSERT INTO public.counted VALUES (1)")
            admitted.append(1)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(begin, range(16)))
    assert len(admitted) == 16


@dataclass
class Paid:
    """A model each call of which costs a quarter of a dollar."""

    version: str = "made/1"
    fails: bool = False
    asked: int = 0

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        self.asked += 1
        call = ModelCall(
            purpose=prompt.purpose, model="made/1", at=utc_now(), ms=1.0, end=CallEnd.ANSWERED, cost_usd=Decimal("0.25")
        )
        account().charge(call)
        if self.fails:
            raise ModelFailed("away")
        return {"next": "answer", "answer": "It is up."}


def test_what_a_turn_did_not_need_is_given_back_and_what_it_cost_is_in_the_tribes_books(tribal: Tribal) -> None:
    adapters = replace(tribal.adapters, responder=Paid())
    settings = tribal.settings.model_copy(update={"responder_usd_per_turn": Decimal(1), "responder_usd_per_day": Decimal("1.5")})
    writer = tribal.agent("w")
    with open_memory(settings, adapters=adapters) as memory:
        for number in (1, 2, 3):
            Responder(memory=memory).turn(writer, Turn(message="down"))
            assert turns_of(tribal) == [{"turns": number, "usd": f"{number * 0.25:.12f}"}]
        with pytest.raises(RateLimited, match="US dollars a day"):
            Responder(memory=memory).turn(writer, Turn(message="down"))
    spent = tribal.rows(
        "SELECT purpose, calls, cost_usd::float AS usd FROM tributary.model_day WHERE tribe_id = %s", tribal.tribe_id
    )
    assert spent == [{"purpose": "responder", "calls": 3, "usd": 0.75}]


def test_a_turn_that_is_sent_twice_counts_once_and_one_that_was_killed_counts_in_full(tribal: Tribal) -> None:
    with responding(tribal, responder_usd_per_turn=Decimal(2)) as memory:
        turns, turn, killed = memory.responding.turns, new_id(), new_id()
        for _ in range(2):
            turns.begin(tribal.curator, turn)
        turns.begin(tribal.curator, killed)
        for _ in range(2):
            turns.end(tribal.curator, turn, usd=Decimal("0.5"))
        assert [(row["turns"], Decimal(str(row["usd"]))) for row in turns_of(tribal)] == [(2, Decimal("2.5"))]
        tribal.clock.advance(days=1)
        turns.begin(tribal.curator, new_id())
        left = "SELECT count(*) AS n FROM tributary.responder_turn WHERE turn_id = %s"
        assert tribal.rows(left, killed) == [{"n": 0}]


# -- Amazon RDS


@pytest.fixture
def moto(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with serving() as endpoint:
        httpx.post(f"{endpoint}/moto-api/reset", timeout=10)  # its state is the process's, not the server's
        yield endpoint


def rds_at(endpoint: str) -> Any:
    import boto3

    session = boto3.session.Session(aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION)
    return session.client("rds", endpoint_url=endpoint)


def test_the_tools_speak_to_rds_and_change_only_what_is_allowed(tribal: Tribal, moto: str) -> None:
    rds = rds_at(moto)
    instance = {"DBInstanceClass": "db.t3.medium", "Engine": "postgres", "AllocatedStorage": 20}
    for name in ("orders-db-7", "other"):
        rds.create_db_instance(DBInstanceIdentifier=name, MasterUsername="u", MasterUserPassword="password", **instance)
    rds.create_db_cluster(
        DBClusterIdentifier="orders", Engine="aurora-postgresql", MasterUsername="u", MasterUserPassword="password"
    )
    allow = ("reboot_db_instance:orders-*", "failover_db_cluster:orders", "modify_db_instance:orders-*")
    with responding(tribal, aws_region=REGION, responder_rds="on", responder_rds_url=moto, responder_allow=allow) as memory:
        writer = tribal.agent("w")
        reply = Responder(memory=memory).turn(writer, REBOOT)
        assert reply.text == "orders-db-7 was rebooted."
        (acted,) = reply.actions
        assert (acted.outcome.value, acted.key) == ("done", "responder:inc-1:reboot_db_instance:orders-db-7")
        assert memory.actions.action(writer, action_id(acted.action)).result["DBInstanceIdentifier"] == "orders-db-7"  # type: ignore[index]
        steps: list[dict[str, object]] = [
            uses("describe_db_instances", DBInstanceIdentifier="ORDERS-db-7"),
            uses("describe_db_clusters"),
            uses("describe_events", Duration=10),
            uses("reboot_db_instance", DBInstanceIdentifier="other"),
            uses("modify_db_instance", DBInstanceIdentifier="Orders-DB-7", AllocatedStorage=40),
            uses("failover_db_cluster", DBClusterIdentifier="missing"),
            uses("failover_db_cluster", DBClusterIdentifier="orders"),
            {"next": "answer", "answer": "It is up."},
        ]
        model = Told(steps)
        told = Responder(memory=with_model(memory, model)).turn(writer, replace(REBOOT, incident="INC-2"))
    results = [step["result"] for step in model.seen["steps"][1:]]
    assert results[0]["DBInstances"][0]["DBInstanceStatus"] == "available"
    assert "MasterUsername" not in results[0]["DBInstances"][0]
    assert [one["DBClusterIdentifier"] for one in results[1]["DBClusters"]] == ["orders"]
    assert results[3]["outcome"] == results[5]["outcome"] == "refused"
    assert (told.actions[0].target, told.actions[0].outcome.value) == ("orders-db-7", "done")
    assert told.actions[-1].target == "orders"
    assert rds.describe_db_instances(DBInstanceIdentifier="orders-db-7")["DBInstances"][0]["AllocatedStorage"] == 40


def changed(memory: Memory, writer: Principal, *steps: dict[str, object], incident: str = "INC-3") -> list[tuple[str, str]]:
    """Returns the outcomes and details of what a turn attempted."""
    model = Told([*steps, {"next": "answer", "answer": "So it is."}])
    reply = Responder(memory=with_model(memory, model)).turn(writer, replace(REBOOT, incident=incident))
    return [(one.outcome.value, one.detail or "") for one in reply.actions]


@contextmanager
def speaking_to(tribal: Tribal, url: str, **settings: object) -> Iterator[Memory]:
    allow = ("reboot_db_instance:*", "failover_db_cluster:*", "modify_db_instance:*")
    with responding(
        tribal, aws_region=REGION, responder_rds="on", responder_rds_url=url, responder_allow=allow, **settings
    ) as memory:
        yield memory


def test_storage_is_only_added_and_nothing_that_waits_is_applied_with_it(tribal: Tribal, counting: Rds) -> None:
    writer, url = tribal.agent("w"), f"http://127.0.0.1:{counting.server_port}"
    counting.standing = "<AllocatedStorage>100</AllocatedStorage><MaxAllocatedStorage>500</MaxAllocatedStorage>"
    with speaking_to(tribal, url) as memory:

        def modified(**arguments: object) -> tuple[str, str]:
            (found,) = changed(memory, writer, uses("modify_db_instance", DBInstanceIdentifier="orders-db-7", **arguments))
            return found

        assert modified(AllocatedStorage=100)[1].endswith("AllocatedStorage is 100 GiB now, and is only added to")
        assert modified(MaxAllocatedStorage=200)[1].endswith(
            "MaxAllocatedStorage is 500 now, of 100 GiB in use, and is only raised"
        )
        counting.standing += "<PendingModifiedValues><DBInstanceClass>db.r6g.large</DBInstanceClass></PendingModifiedValues>"
        assert modified(AllocatedStorage=200)[1].endswith("would be made with it: DBInstanceClass")
        assert modified(AllocatedStorage=200, ApplyImmediately=False)[0] == "done"


def test_what_another_change_of_the_same_verb_did_is_not_told_as_done(tribal: Tribal, counting: Rds) -> None:
    writer, url = tribal.agent("w"), f"http://127.0.0.1:{counting.server_port}"
    modify = {"tool": "modify_db_instance", "DBInstanceIdentifier": "orders-db-7"}
    with speaking_to(tribal, url) as memory:
        protected = uses(**modify, DeletionProtection=True)
        found = changed(memory, writer, protected, protected, uses(**modify, AllocatedStorage=200))
        assert [outcome for outcome, _ in found] == ["done", "done", "failed"]
        assert "this was done instead" in found[2][1]
        assert '"DeletionProtection": true' in found[2][1]
        ((outcome, detail),) = changed(memory, writer, protected, incident="inc-3")
        assert (outcome, "done before in this incident" in detail) == ("done", True), (
            "the case of letters names no other incident"
        )


@pytest.mark.parametrize("host", ["orders-db-7.abc", "cluster-1.cluster-abc", "cluster-1.proxy-abc", "cluster-1.cluster-ro-abc"])
def test_what_the_memory_itself_stands_on_is_not_changed_whatever_is_allowed(tribal: Tribal, counting: Rds, host: str) -> None:
    own = live_systems(
        tribal.settings.model_copy(
            update={
                "database_url": f"postgresql://u@{host}.eu-central-1.rds.amazonaws.com/tributary",
                "responder": "scripted",
                "responder_rds": "on",
                "aws_region": REGION,
            }
        )
    )
    assert own is not None
    counting.standing = "<DBClusterIdentifier>Cluster-1</DBClusterIdentifier>"
    with speaking_to(tribal, f"http://127.0.0.1:{counting.server_port}") as memory:
        assert memory.responding.live is not None
        live = replace(memory.responding.live, own=own.own)
        careful = replace(memory, responding=replace(memory.responding, live=live))
        ((outcome, detail),) = changed(careful, tribal.agent("w"), uses("reboot_db_instance", DBInstanceIdentifier="orders-db-7"))
        assert (outcome, counting.reboots) == ("failed", 0)
        assert detail.endswith("since the memory itself stands on orders-db-7")
        assert [
            one[0] for one in changed(memory, tribal.agent("x"), uses("reboot_db_instance", DBInstanceIdentifier="orders-db-7"))
        ] == ["done"]


def test_what_is_not_allowed_at_all_is_no_tool(tribal: Tribal, moto: str) -> None:
    with responding(tribal, aws_region=REGION, responder_rds="on", responder_rds_url=moto) as memory:
        model = Told([uses("reboot_db_instance", DBInstanceIdentifier="orders-db-7"), {"next": "answer", "answer": "No."}])
        reply = Responder(memory=with_model(memory, model)).turn(tribal.agent("w"), REBOOT)
    assert "there is no tool 'reboot_db_instance'" in model.seen["steps"][-1]["error"]
    assert reply.actions == ()


def uses(tool: str, **arguments: object) -> dict[str, object]:
    return {"next": "tool", "tool": tool, "arguments": json.dumps(arguments), "answer": None}


@dataclass
class Told:
    """Says one thing after another, and keeps what it was shown last."""

    steps: list[dict[str, object]]
    version: str = "made/1"
    asked: int = 0
    seen: dict[str, Any] = field(default_factory=dict)

    def answer(self, prompt: Prompt, *, timeout_s: float | None) -> Mapping[str, object]:
        self.seen = json.loads(prompt.material.removeprefix("<data>\n").removesuffix("\n</data>"))
        self.asked += 1
        return self.steps[self.asked - 1]


def with_model(memory: Memory, model: Told) -> Memory:
    return replace(memory, responding=replace(memory.responding, model=model))


def action_id(shown: str | None) -> Any:
    from tributary.core.ids import Prefix, parse

    return parse(Prefix.ACTION, shown or "", field="action")


# -- a process that dies between its intent and its word


class Rds(ThreadingHTTPServer):
    """Counts reboots, and as the first comes in kills whoever asked for it, before it can hear of it; `silent` on reboots."""

    reboots = 0
    victim: int | None = None
    silent = False
    standing = ""
    """What else is said of the instance."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast(Rds, self.server)
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if asked["Action"] == ["RebootDBInstance"]:
            server.reboots += 1
            if server.victim is not None:
                os.kill(server.victim, signal.SIGKILL)
                server.victim = None
            if server.silent:
                return
        name = asked["Action"][0]
        one = f"<DBInstance><DBInstanceIdentifier>orders-db-7</DBInstanceIdentifier>{server.standing}</DBInstance>"
        inner = one if name == "RebootDBInstance" else f"<DBInstances>{one}</DBInstances>"
        text = f'<{name}Response xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><{name}Result>{inner}</{name}Result></{name}Response>'
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            return

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rds]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    server = Rds(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


CHILD = """
import json, sys
from pathlib import Path
from tests.tribes import HashedEmbedder, WordScreen
from tributary.responder import Responder, Turn
from tributary.service import Settings, open_memory
from tributary.service.wiring import Adapters
given, token = json.loads(sys.argv[1]), sys.argv[2]
with open_memory(Settings.model_validate(given), adapters=Adapters(embedder=HashedEmbedder(), screen=WordScreen())) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    Responder(memory=memory).turn(memory.authenticate(token), Turn(message="please reboot it", incident="INC-1"))
"""


class Forgetful:
    """A ledger that keeps nothing: the control."""

    def begin(self, principal: Principal, key: str, description: str, *, lease_s: int = 60) -> Begun:
        from tests.contract.stand_in_actions import LEASE, action_of

        return Begun(outcome=BeginOutcome.GRANTED, action=action_of(), lease=LEASE)

    def complete(self, principal: Principal, action_id: Any, lease: str, result: object) -> Any: ...

    def fail(self, principal: Principal, action_id: Any, lease: str, failure: str, *, unsure: bool = False) -> Any: ...


@pytest.mark.parametrize("kept", [True, False], ids=["with the ledger", "without it, as a control"])
def test_the_successor_of_a_process_that_died_after_the_reboot_does_not_reboot_again(
    tribal: Tribal, counting: Rds, kept: bool
) -> None:
    given: dict[str, Any] = {
        "aws_region": REGION,
        "responder_rds": "on",
        "responder_rds_url": f"http://127.0.0.1:{counting.server_port}",
        "responder_allow": ("reboot_db_instance:orders-*",),
    }
    scripted = {"TRIBUTARY_DATABASE_URL": tribal.url, "responder": "scripted", "responder_script": str(SCRIPT), **given}
    token = tribal.token("w")
    command = [sys.executable, "-c", CHILD, json.dumps(scripted), token]
    root = Path(__file__).parents[2]
    environment = {**os.environ, **CREDENTIALS, "PYTHONPATH": f"{root}:{root / 'shared'}"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        counting.victim = child.pid
        child.communicate("go\n", timeout=60)
        assert child.returncode == -signal.SIGKILL
    assert counting.reboots == 1
    tribal.clock.advance(minutes=5)  # beyond the lease
    with responding(tribal, **given) as memory:
        ledger: Any = memory.actions if kept else Forgetful()
        reply = Responder(memory=Successor(memory, ledger)).turn(memory.authenticate(token), REBOOT)
    (acted,) = reply.actions
    if kept:
        assert (acted.outcome.value, counting.reboots) == ("in_doubt", 1)
        assert "in doubt" in reply.text
    else:
        assert (acted.outcome.value, counting.reboots) == ("done", 2)


class Successor:
    """A memory with another ledger of actions."""

    def __init__(self, memory: Memory, ledger: Any) -> None:
        self._memory = memory
        self.actions = ledger
        self.responding = memory.responding

    def recall(self, *args: Any) -> Any:
        return self._memory.recall(*args)

    def learn(self, *args: Any, **more: Any) -> Any:
        return self._memory.learn(*args, **more)


def test_a_change_that_rds_did_not_answer_is_in_doubt_at_once_and_one_that_it_refused_may_be_tried_again(
    tribal: Tribal, counting: Rds, moto: str
) -> None:
    writer = tribal.agent("w")
    allow = ("reboot_db_instance:orders-*",)
    with responding(tribal, aws_region=REGION, responder_rds="on", responder_rds_url=moto, responder_allow=allow) as memory:
        refused = Responder(memory=memory).turn(writer, REBOOT)  # there is no such instance
        assert [one.outcome.value for one in refused.actions] == ["failed"]
        assert "DBInstanceNotFound" in str(refused.actions[0].detail)
    counting.silent = True  # takes the request, and closes the connection without a word
    silent = f"http://127.0.0.1:{counting.server_port}"
    with responding(tribal, aws_region=REGION, responder_rds="on", responder_rds_url=silent, responder_allow=allow) as memory:
        model = Told([uses("reboot_db_instance", DBInstanceIdentifier="orders-db-7"), {"next": "answer", "answer": "In doubt."}])
        unsure = Responder(memory=with_model(memory, model)).turn(writer, REBOOT)
        assert [one.outcome.value for one in unsure.actions] == ["in_doubt"]
        assert model.seen["steps"][-1]["result"]["outcome"] == "in_doubt"
        assert tribal.rows("SELECT state FROM tributary.action WHERE key = %s", unsure.actions[0].key) == [{"state": "in_doubt"}]


_: type[MemoryFace] = Memory
