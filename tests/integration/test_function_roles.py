"""Each function as its own database role: what it is for works, and what is not its own is refused by the database.

The server's log tells of every refusal, also of those that a function swallows: its books, its audit, what it probes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from fastapi.testclient import TestClient

from tests.charging import call
from tests.clusters import FUNCTION_ROLES, Cluster, cluster_of_its_own
from tests.contract.samples import Context, app_of
from tests.contract.stand_in_files import CONTENT, FILE
from tests.contract.test_events import EVENTS, EXPECTED, HTTP_EVENTS, load, named
from tests.doubles import RuledJudge, WordScreen, all_unrelated, within_a_subject
from tests.gardens import AwayJudge, backdate, learned, room_for
from tests.spaces import Projected, Steered, create
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.access import new_token
from tributary.core.agent import Principal, Role
from tributary.core.clock import utc_now
from tributary.core.curation import Mistake
from tributary.core.errors import Unauthenticated
from tributary.core.garden import Rule
from tributary.core.ids import Prefix, show
from tributary.core.lesson import Draft
from tributary.core.requests import Question
from tributary.core.spending import account
from tributary.core.status import Unseen
from tributary.edges.dashboard import container_app
from tributary.edges.lambda_http.authorizer import authorize
from tributary.edges.lambda_http.gardening import tended
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.principal import to_context
from tributary.responder import Responder, Turn
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.spaces.drift import SENTENCES
from tributary.store import Target, connect
from tributary.store.migrate import head, migrate

DATABASE = "test_functions"
OTHERWISE = {**EXPECTED, "learn/distill": 501, "responder/turn": 501}
"""Events that are not answered with 200: no model that distills, and none for the incident agent, is set up."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A server on which the functions log in as on Aurora, with the migrated database DATABASE."""
    with cluster_of_its_own() as opened:
        opened.stand_in_for_rds()
        migrate(Target(url=opened.new_database(DATABASE, owner="master")))
        yield opened


def as_role(cluster: Cluster, tribal: Tribal, function: str) -> Settings:
    """Returns settings by which a function logs in as its own role, and assumes none."""
    own = {"database_url": cluster.url(DATABASE, f"tributary_{function}"), "owner_url": cluster.url(DATABASE)}
    return tribal.settings.model_copy(update=own)


@contextmanager
def permitted(cluster: Cluster, tribal: Tribal, function: str) -> Iterator[Memory]:
    """Opens a function's memory; nothing that it does until it has closed may be denied by the database."""
    end = cluster.log_end()
    with open_memory(as_role(cluster, tribal, function), adapters=tribal.adapters) as memory:
        yield memory
    assert cluster.denied_since(end) == []


# -- what each is for


@pytest.fixture
def tribe(cluster: Cluster, tmp_path: Path) -> Iterator[Tribal]:
    """A tribe in which lessons of one subject conflict unless they say the same."""
    judge = RuledJudge(within_a_subject)
    with open_tribal(cluster.url(DATABASE), name=uuid4().hex, judge=judge, evidence_folder=tmp_path) as opened:
        yield opened


def filled(path: Path, tribal: Tribal) -> Event:
    """Returns a sample event with something that is there in place of each id."""
    writer, leaver = tribal.agent("agent-writer"), tribal.agent("leaver")
    agents = {"reader": tribal.agent("agent-reader", Role.READER), "writer": writer, "curator": tribal.curator}
    believed = learned(tribal, tribal.curator, "it is 80", subject="port")
    own = learned(tribal, writer, "it is quiet")
    held = learned(tribal, writer, "HIJACK it")
    contender = tribal.learn(writer, "it is 81", subject="port")
    assert contender.dispute_id is not None
    name = path.stem
    about = {"release": held, "retire": own}.get(name, believed).lesson_id
    token_id = tribal.rows("SELECT token_id FROM tributary.token WHERE agent_id = %s", leaver.agent_id)[0]["token_id"]
    ids: dict[Prefix, object] = {
        Prefix.LESSON: about,
        Prefix.DISPUTE: contender.dispute_id,
        Prefix.DECISION: contender.decision_id,
        Prefix.AGENT: leaver.agent_id,
        Prefix.TOKEN: token_id,
    }
    begun = tribal.memory.actions.begin(writer, "resize:db-7", "resize db-7")
    ids[Prefix.ACTION] = begun.action.action_id
    if name.startswith("evidence"):
        tribal.memory.files.announce(writer, FILE)
    if name == "evidence":
        tribal.memory.files.keep(writer, FILE.sha256, CONTENT)
    if name.startswith("review-"):
        ids[Prefix.REVIEW] = reported(tribal, contender.decision_id, believed.lesson_id)
    text = json.dumps(load(path))
    for prefix, found in ids.items():
        assert isinstance(found, UUID)
        text = text.replace(show(prefix, UUID("0199c0de5a1e7b2c8d3f4a5b6c7d8e9f")), show(prefix, found))
    assert begun.lease is not None
    text = text.replace("lease_" + "0" * 64, begun.lease)
    if name == "action-reconcile":
        tribal.memory.actions.fail(writer, begun.action.action_id, begun.lease, "the reply was lost", unsure=True)
    for instant, then in (('seen_tick\\": 418', 'seen_tick\\": 418000'), ("after=418", "after=0")):
        text = text.replace(instant, then)
    mark = uuid4().hex[:8]  # a principal is one agent's, in all tribes of the database
    for caller, agent in (("role/incident-agent", agents["reader"]), ("user/agents/scribe", writer)):
        bind(tribal, agent, f"arn:aws:iam::123456789012:{caller}-{mark}")
    text = text.replace("assumed-role/incident-agent", f"assumed-role/incident-agent-{mark}").replace(
        "/scribe", f"/scribe-{mark}"
    )
    event: Event = json.loads(text)
    role = (event["requestContext"].get("authorizer") or {}).get("lambda", {}).get("role")
    if role:
        event["requestContext"]["authorizer"]["lambda"] = to_context(agents[role])
    return event


def bind(tribal: Tribal, agent: Principal, principal: str) -> None:
    """Lets an IAM principal act as an agent."""
    with open_operator(tribal.settings) as operator:
        (name,) = (row["name"] for row in tribal.rows("SELECT name FROM tributary.tribe WHERE tribe_id = %s", tribal.tribe_id))
        operator.bind(str(name), agent.name, principal)


def reported(tribal: Tribal, decision_id: UUID, candidate: UUID) -> UUID:
    """Has a decision's verdict reported as wrong, and returns the case in the review queue."""
    tribal.memory.curate.report(tribal.curator, decision_id, Mistake.UNRELATED, candidate=candidate)
    return tribal.memory.desk.reviews(tribal.curator).items[0].review_id


@pytest.mark.parametrize("path", HTTP_EVENTS, ids=named)
def test_a_function_may_do_what_a_sample_event_asks_of_it(cluster: Cluster, tribe: Tribal, path: Path) -> None:
    event = filled(path, tribe)
    function = path.parent.name
    with permitted(cluster, tribe, function) as memory:
        response = app_of(function, memory)(event, Context())
    assert response["statusCode"] == OTHERWISE.get(named(path), 200), response["body"]


def test_the_authorizer_may_say_who_is_calling_and_write_down_when(cluster: Cluster, tribe: Tribal) -> None:
    event = load(EVENTS / "authorizer" / "known.json")
    event["headers"]["authorization"] = f"Bearer {tribe.token('caller')}"
    used = "SELECT count(last_used_at) AS used FROM tributary.token WHERE tribe_id = %s"
    before = tribe.rows(used, tribe.tribe_id)[0]["used"]
    with permitted(cluster, tribe, "authorizer") as memory:
        assert authorize(event, lambda: memory)["context"]["name"] == "caller"
        assert authorize(load(EVENTS / "authorizer" / "unknown.json"), lambda: memory)["context"] == {}
    assert tribe.rows(used, tribe.tribe_id)[0]["used"] == int(str(before)) + 1


@pytest.mark.parametrize("function", ["recall", "learn", "curate", "mcp", "dashboard"])
def test_a_function_looks_up_a_token_audits_refusals_and_keeps_its_books(cluster: Cluster, tribe: Tribal, function: str) -> None:
    with permitted(cluster, tribe, function) as memory:
        reader = memory.authenticate(tribe.token("reader", Role.READER))
        memory.audit_refusal(reader, action="learn", code="forbidden", detail="a reader")
        memory.usage.count(reader, "recall")
        memory.timekeeper.learned(tribe.tribe_id, 12.0)
        with memory.ledger.on(tribe.tribe_id):
            account().charge(call())
    assert tribe.rows("SELECT action FROM tributary.audit WHERE tribe_id = %s", tribe.tribe_id) == [{"action": "learn"}]
    assert tribe.rows("SELECT operation FROM tributary.usage WHERE tribe_id = %s", tribe.tribe_id) == [{"operation": "recall"}]
    assert tribe.rows("SELECT what FROM tributary.activity WHERE tribe_id = %s", tribe.tribe_id) == [{"what": "learn"}]
    assert tribe.rows("SELECT purpose FROM tributary.model_call WHERE tribe_id = %s", tribe.tribe_id) == [{"purpose": "judge"}]


def test_the_incident_agent_recalls_learns_counts_its_turns_and_carries_out_actions(cluster: Cluster, tribe: Tribal) -> None:
    script = Path(__file__).parents[2] / "docs" / "examples" / "responder.jsonl"
    scripted = tribe.settings.model_copy(update={"responder": "scripted", "responder_script": script})
    with permitted(cluster, replace(tribe, settings=scripted), "responder") as memory:
        writer = memory.authenticate(tribe.token("writer"))
        reply = Responder(memory=memory).turn(writer, Turn(message="remember that"))
        assert [one.outcome.value for one in reply.learned] == ["learned"]
        done, failed = (memory.actions.begin(writer, key, "reboot it") for key in ("a", "b"))
        memory.actions.complete(writer, done.action.action_id, str(done.lease), {"status": "rebooting"})
        memory.actions.fail(writer, failed.action.action_id, str(failed.lease), "it was refused")
    counted = "SELECT turns, usd FROM tributary.responder_day WHERE tribe_id = %s"
    assert [(row["turns"], row["usd"]) for row in tribe.rows(counted, tribe.tribe_id)] == [(1, 0)]


def test_learn_settles_what_was_kept_as_pending(cluster: Cluster, tribe: Tribal) -> None:
    draft = Draft(text="it is slow on Mondays", situation="operating", source=SEEN)
    with permitted(cluster, tribe, "learn") as memory:
        writer = tribe.agent("writer")
        memory.learn(writer, draft, wait=False)
        assert memory.learner.settle(tribe.tribe_id).done == 1
        assert tribe.tribe_id not in memory.learner.tribes_with_pending()


def test_the_gardener_tends_what_time_and_missing_models_left(cluster: Cluster) -> None:
    judge, screen = AwayJudge(all_unrelated), WordScreen()
    with open_tribal(cluster.url(DATABASE), name=uuid4().hex, judge=judge, screen=screen, next_embedder=Projected()) as tribal:
        for number in range(5):
            backdate(tribal, learned(tribal, tribal.curator, f"service-{number} is quiet").lesson_id, days=30)
        learned(tribal, tribal.curator, "service-9 is away", valid_until=utc_now() + timedelta(minutes=1))
        tribal.clock.advance(minutes=2)
        tribal.memory.learn(tribal.curator, Draft(text="service-1 is loud", situation="now", source=SEEN), wait=False)
        screen.fails = True
        learned(tribal, tribal.curator, "service-7 is held back")
        judge.away, screen.fails = False, False
        room_for(tribal, 3)
        create(tribal)
        tribal.rows("INSERT INTO tributary.tribe_day VALUES (%s, '2020-01-01', 1)", tribal.tribe_id)
        tribal.memory.actions.begin(tribal.curator, "k", "left behind")
        tribal.rows("UPDATE tributary.action SET begun_at = begun_at - interval '1 day', lease_until = begun_at")
        with permitted(cluster, tribal, "gardener") as memory:
            report = tended(memory.gardener, Context(left_ms=240_000))
        mine = next(one for one in report["tribes"] if one["tribe"] == tribal.name)
    assert not [rule for rule in mine["rules"] if rule["failed"]]
    assert {rule["rule"] for rule in mine["rules"] if rule["done"]} == set(Rule) - {Rule.INDEX}


def test_recall_leaves_it_to_others_to_begin_a_space(cluster: Cluster) -> None:
    embedder = Steered(Projected(seed=2))
    kept = "SELECT count(*) AS n FROM tributary.space_reference JOIN tributary.space USING (space_id) WHERE name = %s"
    with open_tribal(cluster.url(DATABASE), name=uuid4().hex, embedder=embedder) as tribal:
        with permitted(cluster, tribal, "recall") as memory:
            memory.recall(tribal.curator, Question(query="what is slow?"))
        assert embedder.texts == 1, "sentences that may not be kept are not embedded"
        assert tribal.rows(kept, embedder.space.name) == [{"n": 0}]
        with permitted(cluster, tribal, "learn") as memory:
            memory.learn(tribal.curator, Draft(text="it is slow", situation="on Mondays", source=SEEN))
        assert tribal.rows(kept, embedder.space.name) == [{"n": len(SENTENCES)}]


def test_recall_probes_all_that_there_is_to_see(cluster: Cluster, tribe: Tribal) -> None:
    tribe.learn(tribe.curator, "it is slow")
    with permitted(cluster, tribe, "recall") as memory:
        found = memory.status(tribe.curator)
    assert Unseen.NOT_PERMITTED not in {one.cause for one in found.observations}
    assert found.usable


# -- what is not its own


def functions_of(connection: psycopg.Connection, role: str, *, volatile: bool = False) -> set[str]:
    """Returns the functions of the schema that a role may run, or those that may write."""
    rows = connection.execute(
        """SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'tributary'::regnamespace
           AND has_function_privilege(%s, p.oid, 'EXECUTE') AND (NOT %s OR p.provolatile = 'v')""",
        (role, volatile),
    )
    return {name for (name,) in rows}


def tables_of(connection: psycopg.Connection, role: str) -> set[str]:
    rows = connection.execute(
        """SELECT c.relname || ' ' || a.kind
           FROM pg_class c, unnest(ARRAY['select', 'insert', 'update', 'delete', 'truncate']) a(kind)
           WHERE c.relnamespace = 'tributary'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p')
             AND has_table_privilege(%s, c.oid, a.kind)""",
        (role,),
    )
    return {name for (name,) in rows}


BOOKS = {"count_activity_v1", "count_usage_v1", "charge_calls_v1"}


def test_recall_writes_its_books_and_a_tokens_use_and_nothing_else(cluster: Cluster) -> None:
    """`status_plan_v1` is volatile for the sake of its EXPLAIN, which writes nothing."""
    with connect(Target(url=cluster.url(DATABASE)), autocommit=False) as connection:
        writing = BOOKS | {"authenticate_v1", "authenticate_principal_v1", "status_plan_v1"}
        assert functions_of(connection, "tributary_recall", volatile=True) == writing
        assert tables_of(connection, "tributary_recall") == {"audit insert", "signing_key select"}
        # the negative control: had it one right more, this would show it
        connection.execute("GRANT EXECUTE ON FUNCTION tributary.retire_v1 TO tributary_recall")
        connection.execute("GRANT UPDATE ON tributary.lesson TO tributary_recall")
        assert functions_of(connection, "tributary_recall", volatile=True) == writing | {"retire_v1"}
        assert "lesson update" in tables_of(connection, "tributary_recall")
        connection.rollback()


def test_mcp_may_do_what_recall_learn_and_curate_may_and_nothing_else(cluster: Cluster) -> None:
    its_own = ("tributary_recall", "tributary_learn", "tributary_curate")
    with connect(Target(url=cluster.url(DATABASE))) as connection:
        for rights in (functions_of, tables_of):
            assert rights(connection, "tributary_mcp") == set().union(*(rights(connection, role) for role in its_own))
        assert "garden_beliefs_v1" not in functions_of(connection, "tributary_mcp")


def test_the_authorizer_may_ask_who_a_token_is_and_nothing_else(cluster: Cluster) -> None:
    with connect(Target(url=cluster.url(DATABASE))) as connection:
        assert functions_of(connection, "tributary_authorizer") == {"authenticate_v1"}
        assert tables_of(connection, "tributary_authorizer") == set()


SESSIONS = {"begin_session_v1", "session_v1", "end_session_v1"}
DASHBOARDS_OWN = SESSIONS | {"evaluations_v1"}


def test_the_dashboard_may_do_what_recall_learn_and_curate_may_its_own_and_nothing_else(cluster: Cluster) -> None:
    others = ("tributary_recall", "tributary_learn", "tributary_curate")
    with connect(Target(url=cluster.url(DATABASE))) as connection:
        functions = functions_of(connection, "tributary_dashboard")
        assert functions == DASHBOARDS_OWN.union(*(functions_of(connection, role) for role in others))
        assert tables_of(connection, "tributary_dashboard") == set().union(*(tables_of(connection, role) for role in others))
    assert functions >= {"status_schema_v1", "recall_v1", "end_dispute_v1", "reconcile_action_v1", "create_agent_v1"}
    assert not functions & {"garden_beliefs_v1", "responder_begin_v1"}


def test_the_dashboard_releases_a_lesson_whose_text_is_judged_again(cluster: Cluster, tribe: Tribal) -> None:
    held = learned(tribe, tribe.agent("writer"), "HIJACK it")
    with permitted(cluster, tribe, "dashboard") as memory:
        assert memory.recall(tribe.curator, Question(query="hijack")).hits == ()
        memory.curate.release(tribe.curator, held.lesson_id)
        assert [hit.lesson.lesson_id for hit in memory.recall(tribe.curator, Question(query="hijack")).hits] == [held.lesson_id]


def test_nobody_but_the_dashboard_signs_people_in_or_takes_a_session(cluster: Cluster) -> None:
    with connect(Target(url=cluster.url(DATABASE))) as connection:
        may = {role for role in FUNCTION_ROLES if functions_of(connection, role) & SESSIONS}
    assert may == {"tributary_dashboard"}


def test_the_dashboard_signs_people_in_and_out_by_its_own_role(cluster: Cluster, tribe: Tribal) -> None:
    with permitted(cluster, tribe, "dashboard") as memory:
        session = memory.sign_in(tribe.curator_token, source="192.0.2.7")
        assert memory.session(session.secret) == tribe.curator
        with pytest.raises(Unauthenticated):
            memory.sign_in(new_token(), source="192.0.2.7")
        memory.sign_out(session.secret)
        with pytest.raises(Unauthenticated):
            memory.session(session.secret)
    said = tribe.rows("SELECT action FROM tributary.audit WHERE tribe_id = %s ORDER BY audit_id", tribe.tribe_id)
    assert [row["action"] for row in said] == ["dashboard.sign_in", "dashboard.sign_out"]


def test_a_verifier_reads_ids_ticks_and_hashes_and_calls_nothing(cluster: Cluster) -> None:
    with connect(Target(url=cluster.url(DATABASE))) as connection:
        assert functions_of(connection, "tributary_verifier") == set()
        views = {f"verification_{name} select" for name in ("tribe", "tick", "event", "lesson")}
        assert tables_of(connection, "tributary_verifier") == views


def test_the_dashboard_is_well_by_its_own_role(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    url = cluster.url(DATABASE, user="tributary_dashboard")
    monkeypatch.setenv("TRIBUTARY_DATABASE_URL", url)
    monkeypatch.setenv("TRIBUTARY_OWNER_URL", cluster.url(DATABASE))
    with TestClient(container_app()) as client:
        health = client.get("/health")
    assert (health.status_code, health.json()["serves"]) == (200, True)


def test_every_right_is_a_functions_and_the_runtime_has_them_all(cluster: Cluster) -> None:
    with connect(Target(url=cluster.url(DATABASE))) as connection:
        granted = connection.execute(
            """SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'everybody' ELSE pg_get_userbyid(a.grantee)::text END
               FROM (SELECT coalesce(proacl, acldefault('f', proowner)), proowner FROM pg_proc
                     WHERE pronamespace = 'tributary'::regnamespace
                     UNION ALL
                     SELECT relacl, relowner FROM pg_class WHERE relnamespace = 'tributary'::regnamespace) o(acl, owner),
                    aclexplode(o.acl) a
               WHERE a.grantee <> o.owner"""
        ).fetchall()
        assert {name for (name,) in granted} == {*FUNCTION_ROLES, "tributary_verifier"}
        for rights in (functions_of, tables_of):
            assert rights(connection, "tributary_runtime") == set().union(*(rights(connection, role) for role in FUNCTION_ROLES))


REFUSED = [
    ("recall", "SELECT tributary.learn_commit_v1('{}')"),
    ("recall", "SELECT tributary.retire_v1(ID, ID, ID, 'wrong', '{}', '[]', 'k', '')"),
    ("recall", "SELECT tributary.reinforce_v1(ID, ID, ID, '{}', 'k', '')"),
    ("recall", "SELECT tributary.create_agent_v1(ID, ID, ID, ID, 'x', 'curator', ID, '', now(), 1, 1, now())"),
    ("recall", "SELECT tributary.set_policy_v1(ID, ID, ID, '{}', 1)"),
    ("recall", "SELECT tributary.space_keep_references_v1('x', '{}', '{}')"),
    ("recall", "UPDATE tributary.agent SET role = 'curator'"),
    ("recall", "DELETE FROM tributary.audit"),
    ("recall", "SELECT text FROM tributary.lesson"),
    ("recall", "SELECT secret FROM tributary.tribe"),
    ("learn", "SELECT tributary.create_agent_v1(ID, ID, ID, ID, 'x', 'curator', ID, '', now(), 1, 1, now())"),
    ("learn", "SELECT tributary.erase_v1(ID, ID, ID, 'k', '')"),
    ("learn", "INSERT INTO tributary.agent DEFAULT VALUES"),
    ("curate", "SELECT * FROM tributary.garden_tribes_v1()"),
    ("curate", "UPDATE tributary.lesson SET confidence = 1"),
    ("dashboard", "SELECT * FROM tributary.garden_tribes_v1()"),
    ("dashboard", "UPDATE tributary.agent SET role = 'curator'"),
    ("dashboard", "SELECT text FROM tributary.lesson"),
    ("dashboard", "SELECT token_hash FROM tributary.token"),
    ("gardener", "SELECT tributary.erase_v1(ID, ID, ID, 'k', '')"),
    ("gardener", "SELECT tributary.authenticate_v1('')"),
    ("gardener", "SELECT secret FROM tributary.signing_key"),
    ("authorizer", "SELECT text FROM tributary.lesson"),
    ("authorizer", "SELECT tributary.show_lesson_v1(ID, ID, NULL, NULL, now())"),
    ("authorizer", "SELECT token_hash FROM tributary.token"),
    ("authorizer", "SELECT secret FROM tributary.signing_key"),
]


@pytest.mark.parametrize(("function", "statement"), REFUSED)
def test_what_is_not_a_functions_own_is_refused_by_the_database(cluster: Cluster, function: str, statement: str) -> None:
    login = Target(url=cluster.url(DATABASE, f"tributary_{function}"))
    with connect(login) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.replace("ID", "gen_random_uuid()").encode())


@pytest.mark.parametrize("role", ["recall", "learn", "gardener", "authorizer"])
def test_nobody_but_curators_functions_makes_agents_or_ends_lessons(cluster: Cluster, role: str) -> None:
    with connect(Target(url=cluster.url(DATABASE))) as connection:
        own = functions_of(connection, f"tributary_{role}")
        assert not own & {
            "create_agent_v1",
            "new_token_v1",
            "set_role_v1",
            "retire_v1",
            "erase_v1",
            "end_dispute_v1",
            "set_policy_v1",
        }


def test_control_a_right_that_is_missing_is_seen_in_the_log_though_nobody_is_told(cluster: Cluster, tribe: Tribal) -> None:
    books = "EXECUTE ON FUNCTION tributary.count_usage_v1"
    tribe.rows(f"REVOKE {books} FROM tributary_recall")
    try:
        with pytest.raises(AssertionError, match="permission denied for function count_usage_v1"):  # noqa: SIM117
            with permitted(cluster, tribe, "recall") as memory:
                memory.recall(tribe.curator, Question(query="what is slow?"))
    finally:
        tribe.rows(f"GRANT {books} TO tributary_recall")


def test_the_operators_login_makes_tribes_as_the_owner(cluster: Cluster, tribe: Tribal) -> None:
    settings = tribe.settings.model_copy(update={"owner_url": cluster.url(DATABASE, "tributary_operator")})
    with open_operator(settings, adapters=tribe.adapters) as operator:
        made = operator.create_tribe(uuid4().hex)
        assert operator.create_agent(made.tribe.name, "writer", Role.WRITER).secret
        assert operator.migrate() == head()
