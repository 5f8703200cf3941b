"""`tributary verify --via`: what the API says beside what another road to the very database says, over the real wires of both."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from typer.testing import CliRunner, Result

from tests.conftest import database_at
from tests.doubles import RuledJudge, within_a_subject
from tests.npm import npm_install
from tests.providers.server import ProviderServer, Reply, unreachable
from tests.roads import CLUSTER, SECRET, data_api
from tests.tribes import Tribal, open_tribal
from tributary import client
from tributary.core import ids
from tributary.core.decision import Learned
from tributary.edges.cli.app import app
from tributary.edges.cli.doors import real_doors
from tributary.edges.cli.independent import Guarded
from tributary.edges.cli.independent.catalogue import CLOCK, COUNTS, LATEST, LESSON, Ask, rendered
from tributary.edges.cli.independent.guarding import AUDIT_FILE, audit_to
from tributary.edges.cli.independent.mcp_server import McpServer
from tributary.edges.cli.independent.roads import Cause, Road
from tributary.edges.gateway import running

ROOT = Path(__file__).parents[2]
SERVER = "@modelcontextprotocol/server-postgres@0.6.2"


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A running API, and a way to run commands as its curator with further variables."""

    tribal: Tribal
    verifier: str
    """The URL of a login that may read the views and nothing else."""
    environment: Mapping[str, str]
    home: Path

    def run(self, *arguments: str, **variables: str) -> Result:
        environment = {**self.environment, **variables}
        doors = replace(real_doors(), environment=environment, open_client=lambda: client.Memory(environment=self.environment))
        return CliRunner().invoke(app, ["verify", *arguments], obj=doors)

    def checked(self, code: int, *arguments: str, **variables: str) -> dict[tuple[str, str], dict[str, Any]]:
        """Returns every field by what it is of and its name."""
        result = self.run(*arguments, "--json", **variables)
        assert result.exit_code == code, result.output
        return {(one["of"], one["field"]): one for one in json.loads(result.stdout)["fields"]}

    def audit(self) -> list[dict[str, str]]:
        file = self.home / AUDIT_FILE
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def verifier(server_url: str, database_url: str) -> Iterator[str]:
    """A login that is a member of tributary_verifier, and its URL of the test's database."""
    name = f"verifier_{uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'x' IN ROLE tributary_verifier".encode())
    database = str(conninfo_to_dict(database_url)["dbname"])
    parts = conninfo_to_dict(server_url)
    found = database_at(server_url, database)
    yield found.replace(f"//{parts.get('user', 'postgres')}", f"//{name}", 1)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {name}".encode())


@pytest.fixture
def desk(database_url: str, verifier: str, tmp_path: Path) -> Iterator[Desk]:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal, running(tribal.memory) as started:
        environment = {"TRIBUTARY_URL": started.url, "TRIBUTARY_TOKEN": tribal.curator_token, "TRIBUTARY_HOME": str(tmp_path)}
        yield Desk(tribal=tribal, verifier=verifier, environment=environment, home=tmp_path)


@pytest.fixture
def lived(desk: Desk) -> dict[str, str]:
    """Lives through everything that changes a standing, and returns the lessons by what became of them."""
    tribal = desk.tribal
    writer = tribal.agent("writer")
    old = tribal.learn(tribal.curator, "it is 80", subject="port")
    new = tribal.learn(tribal.curator, "it is 81", subject="port")
    disputed = tribal.learn(writer, "it is 82", subject="port")
    held = tribal.learn(writer, "HIJACK it")
    retired = tribal.learn(tribal.curator, "the pump is blue")
    erased = tribal.learn(tribal.curator, "the secret is out")
    with client.Memory(environment=desk.environment) as memory:
        memory.retire(ids.show(ids.Prefix.LESSON, _id(retired)))
        memory.curation.erase(ids.show(ids.Prefix.LESSON, _id(erased)))
    found = {"superseded": old, "active": new, "disputed": disputed, "quarantined": held, "retired": retired, "erased": erased}
    return {status: ids.show(ids.Prefix.LESSON, _id(one)) for status, one in found.items()}


def _id(learned: Learned) -> UUID:
    assert learned.lesson is not None
    return learned.lesson.lesson_id


@pytest.fixture
def rds(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """The Data API, with everything that a command needs to find it."""
    known = {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(desk.home / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(desk.home / "credentials"),
    }
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    with data_api(desk.verifier) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_RDS_DATA", server.url)
        yield server


BY_DATA_API = {"TRIBUTARY_VERIFY_CLUSTER_ARN": CLUSTER, "TRIBUTARY_VERIFY_SECRET_ARN": SECRET}


def by_mcp(desk: Desk) -> dict[str, str]:
    program = [sys.executable, str(ROOT / "tests" / "mcp_postgres.py"), desk.verifier, str(desk.home / "calls")]
    return {"TRIBUTARY_VERIFY_MCP": json.dumps(program)}


def calls(desk: Desk) -> list[str]:
    file = desk.home / "calls"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def tampered(desk: Desk, change: str) -> None:
    """Changes the database as its owner can: with the triggers that keep the rules switched off."""
    with psycopg.connect(desk.tribal.url, autocommit=True) as connection:
        for table in ("lesson", "lesson_event"):
            connection.execute(f"ALTER TABLE tributary.{table} DISABLE TRIGGER USER".encode())
        connection.execute(change.encode())


def verdicts(fields: Mapping[tuple[str, str], Mapping[str, Any]]) -> set[str]:
    return {str(one["verdict"]) for one in fields.values()}


def test_all_that_the_api_says_of_a_whole_life_agrees_over_the_data_api(desk: Desk, lived: Mapping[str, str], rds: Any) -> None:
    fields = desk.checked(0, "--via", "data-api", **BY_DATA_API)
    assert verdicts(fields) == {"AGREES"}
    assert {field for of, field in fields if of == "tribe"} == {"clock", *(f"lessons.{status}" for status in lived)}
    for status, lesson in lived.items():
        assert fields[lesson, "status"]["database"] == status
    assert fields[lived["superseded"], "successor"]["database"] == str(ids.parse(ids.Prefix.LESSON, lived["active"], field="x"))
    assert fields[lived["erased"], "text_sha256"]["database"] is None
    assert [asked.path for asked in rds.asked] == ["/Execute"] * (2 + len(lived))
    said = desk.run("--via", "data-api", **BY_DATA_API)
    assert said.stdout.splitlines()[-1].startswith("AGREES: ")


def test_all_of_it_agrees_over_an_mcp_server(desk: Desk, lived: Mapping[str, str]) -> None:
    fields = desk.checked(0, "--via", "mcp", **by_mcp(desk))
    assert verdicts(fields) == {"AGREES"}
    assert len(calls(desk)) == 2 + len(lived)
    assert all(":" not in sql and sql.startswith("SELECT ") for sql in calls(desk))


TAMPERED = {
    "status": "UPDATE tributary.lesson_event SET status = 'retired' WHERE lesson_id = 'ID' AND status = 'active'",
    "learned": "UPDATE tributary.lesson SET learned_tick = learned_tick - 1 WHERE lesson_id = 'ID'",
    "activated": "UPDATE tributary.lesson SET activated_tick = activated_tick + 1 WHERE lesson_id = 'ID'",
    "lessons.active": "UPDATE tributary.tribe_count SET lessons = lessons + 1 WHERE status = 'active'",
    "clock": "UPDATE tributary.tribe SET clock = clock + 1",
}


@pytest.mark.parametrize("field", TAMPERED)
def test_what_was_changed_behind_the_apis_back_diverges(desk: Desk, rds: Any, field: str) -> None:
    learned = desk.tribal.learn(desk.tribal.curator, "it is 80")
    desk.tribal.learn(desk.tribal.curator, "the pump is blue")
    tampered(desk, TAMPERED[field].replace("ID", str(_id(learned))))
    fields = desk.checked(1, "--via", "data-api", **BY_DATA_API)
    assert field in {name for (_, name), one in fields.items() if one["verdict"] == "DIVERGES"}
    said = desk.run("--via", "data-api", **BY_DATA_API)
    assert said.stdout.splitlines()[-1].startswith("DIVERGES: ")


def test_a_recall_that_was_kept_tells_of_a_text_that_was_changed_since(desk: Desk, rds: Any) -> None:
    learned = desk.tribal.learn(desk.tribal.curator, "it is 80")
    with client.Memory(environment=desk.environment) as memory:
        hits = memory.recall("it is 80")
        document = {"hits": [{"lesson": hit.lesson.model_dump(mode="json")} for hit in hits], "receipt": hits.receipt.document()}
    kept = desk.home / "found.json"
    kept.write_text(json.dumps(document))
    fields = desk.checked(0, str(kept), "--via", "data-api", **BY_DATA_API)
    shown = ids.show(ids.Prefix.LESSON, _id(learned))
    assert fields[shown, "believed"]["verdict"] == "AGREES"
    # as of the receipt's tick, whatever happens afterwards
    with client.Memory(environment=desk.environment) as memory:
        memory.retire(shown)
    assert desk.checked(0, str(kept), "--via", "data-api", **BY_DATA_API)[shown, "believed"]["database"] == "yes"
    tampered(desk, "UPDATE tributary.lesson SET text = 'it is 81'")
    fields = desk.checked(1, str(kept), "--via", "data-api", **BY_DATA_API)
    assert {name for (_, name), one in fields.items() if one["verdict"] == "DIVERGES"} == {"text_sha256"}


def test_a_lesson_that_the_other_road_does_not_find_diverges_in_every_field(desk: Desk, rds: Any) -> None:
    desk.tribal.learn(desk.tribal.curator, "it is 80")
    with psycopg.connect(desk.tribal.url, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE VIEW tributary.verification_lesson AS "
            "SELECT tribe_id, lesson_id, superseded_by, NULL::text AS text_sha256 FROM tributary.lesson WHERE false"
        )
    fields = desk.checked(1, "--via", "data-api", **BY_DATA_API)
    assert {one["verdict"] for (of, _), one in fields.items() if of != "tribe"} == {"DIVERGES"}


def test_a_dead_road_is_unknown_with_its_cause_and_never_agrees(desk: Desk, rds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.tribal.learn(desk.tribal.curator, "it is 80")
    monkeypatch.setenv("AWS_ENDPOINT_URL_RDS_DATA", unreachable())
    fields = desk.checked(11, "--via", "data-api", **BY_DATA_API)
    assert {(one["verdict"], one["cause"]) for one in fields.values()} == {("UNKNOWN", "unreachable")}
    for program, cause in ((["/no/such/program"], "unreachable"), ([sys.executable, "-c", "pass"], "unreachable")):
        fields = desk.checked(11, "--via", "mcp", TRIBUTARY_VERIFY_MCP=json.dumps(program))
        assert {(one["verdict"], one["cause"]) for one in fields.values()} == {("UNKNOWN", cause)}, program


REFUSALS = {
    "AccessDeniedException": "not_permitted",
    "ExpiredTokenException": "not_permitted",
    "DatabaseResumingException": "timed_out",
    "ThrottlingException": "failed",
}


@pytest.mark.parametrize("code", REFUSALS)
def test_what_the_data_api_refuses_is_unknown(desk: Desk, rds: ProviderServer, code: str) -> None:
    rds.always(Reply(status=400, document={"message": "hunter2"}, headers={"x-amzn-ErrorType": code}))
    result = desk.run("--via", "data-api", **BY_DATA_API)
    assert (result.exit_code, REFUSALS[code] in result.stdout) == (11, True), result.output
    assert "hunter2" not in result.output


def test_a_login_without_the_right_and_an_answer_of_another_form_are_unknown(desk: Desk, rds: ProviderServer) -> None:
    desk.tribal.rows("REVOKE SELECT ON tributary.verification_tick FROM tributary_verifier")
    fields = desk.checked(11, "--via", "data-api", **BY_DATA_API)
    assert {(field, one["cause"]) for (_, field), one in fields.items() if one["cause"]} == {("clock", "not_permitted")}
    rds.always(Reply(document={"columnMetadata": [{"name": "clock"}], "records": [[{"longValue": 1}, {"longValue": 1}]]}))
    fields = desk.checked(11, "--via", "data-api", **BY_DATA_API)
    assert {one["cause"] for one in fields.values()} == {"bad_answer"}


# -- the allow list


class Noted:
    """A road that notes what it was asked, and answers nothing."""

    channel = "data-api"
    tool = "ExecuteStatement"

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    def answers(self, asked: Any) -> list[Any]:
        self.asked += asked
        return [[] for _ in asked]


TRIBE = UUID(int=1)
OUTSIDE = {
    "another statement": Ask(name="clock", sql="DELETE FROM tributary.lesson", parameters={"tribe": TRIBE, "tick": 1}),
    "a statement that is longer": Ask(
        name="clock", sql=CLOCK.sql + "; COMMIT; DROP TABLE x", parameters={"tribe": TRIBE, "tick": 1}
    ),
    "an unknown name": Ask(name="secrets", sql=CLOCK.sql, parameters={"tribe": TRIBE, "tick": 1}),
    "text for an id": Ask(name="clock", sql=CLOCK.sql, parameters={"tribe": "' OR true --", "tick": 1}),  # type: ignore[dict-item]  # that
    "text for a tick": Ask(name="clock", sql=CLOCK.sql, parameters={"tribe": TRIBE, "tick": "1; COMMIT"}),  # type: ignore[dict-item]  # too
    "a truth for a tick": Ask(name="clock", sql=CLOCK.sql, parameters={"tribe": TRIBE, "tick": True}),
    "a tick out of range": Ask(name="clock", sql=CLOCK.sql, parameters={"tribe": TRIBE, "tick": LATEST + 1}),
    "a parameter too many": Ask(name="counts", sql=COUNTS.sql, parameters={"tribe": TRIBE, "tick": 1, "lesson": TRIBE}),
    "a parameter too few": Ask(name="lesson", sql=LESSON.sql, parameters={"tribe": TRIBE, "tick": 1}),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_what_is_not_on_the_list_is_refused_before_it_is_sent_and_written_down(case: str, tmp_path: Path) -> None:
    road = Noted()
    inside = CLOCK.ask(tribe=TRIBE, tick=1)
    answers = Guarded(road, audit_to(tmp_path / "home")).answers([inside, OUTSIDE[case], inside])
    assert answers == [[], Cause.REFUSED, []]
    assert road.asked == [inside, inside]
    file = tmp_path / "home" / AUDIT_FILE
    (line,) = file.read_text().splitlines()
    assert {"at", "channel", "statement", "rule"} == set(json.loads(line))
    assert "DELETE" not in line
    assert file.stat().st_mode & 0o777 == 0o600


def test_over_the_real_wires_nothing_of_a_refused_statement_arrives(desk: Desk, rds: ProviderServer) -> None:
    from tributary.edges.cli.independent.data_api import DataApi

    sql = "SELECT secret FROM tributary.tribe"
    outside = Ask(name="secret", sql=sql, parameters={})
    over_aws = DataApi(cluster_arn=CLUSTER, secret_arn=SECRET, database="tributary", region=None)
    over_mcp = McpServer(json.loads(by_mcp(desk)["TRIBUTARY_VERIFY_MCP"]), tool="query")
    roads: tuple[Road, ...] = (over_aws, over_mcp)
    for road in roads:
        assert Guarded(road, audit_to(desk.home)).answers([outside]) == [Cause.REFUSED]
    assert (rds.asked, calls(desk)) == ([], [])
    assert [one["rule"] for one in desk.audit()] == ["statement_not_listed"] * 2
    # the control: without the list both carry it to the database, which has to refuse it itself
    assert [road.answers([outside]) for road in roads] == [[Cause.NOT_PERMITTED], [Cause.FAILED]]
    assert [asked.body["sql"] for asked in rds.asked] == [sql]
    assert calls(desk) == [sql]


def test_a_tool_that_is_not_named_is_refused_by_the_command_and_written_down(desk: Desk) -> None:
    desk.tribal.learn(desk.tribal.curator, "it is 80")
    fields = desk.checked(11, "--via", "mcp", "--tool", "drop_everything", **by_mcp(desk))
    assert {one["cause"] for one in fields.values()} == {"refused"}
    assert calls(desk) == []
    assert {(one["channel"], one["statement"], one["rule"]) for one in desk.audit()} == {
        ("mcp", name, "tool_not_listed") for name in ("clock", "counts", "lesson")
    }


def test_a_rendered_statement_holds_ids_and_ticks_and_nothing_else_that_was_given() -> None:
    sql = rendered(LESSON.ask(tribe=UUID(int=1), lesson=UUID(int=2), tick=418))
    assert "CAST('00000000-0000-0000-0000-000000000002' AS uuid)" in sql
    assert "CAST(418 AS bigint)" in sql
    assert ":" not in sql


MISUSED = (
    ("--lesson", "les_" + "1" * 32),
    ("--tool", "query"),
    (),
    ("--via", "mcp", "--query", "deploy"),
    ("--via", "data-api", "--tool", "query"),
)


@pytest.mark.parametrize("arguments", MISUSED)
def test_options_that_do_not_go_together_are_refused(desk: Desk, arguments: tuple[str, ...]) -> None:
    assert desk.run(*arguments).exit_code == 2


@pytest.mark.parametrize(("via", "variable"), [("mcp", "TRIBUTARY_VERIFY_MCP"), ("data-api", "TRIBUTARY_VERIFY_CLUSTER_ARN")])
def test_a_road_that_is_not_set_up_names_its_variable(desk: Desk, via: str, variable: str) -> None:
    result = desk.run("--via", via)
    assert result.exit_code == 7
    assert variable in result.stderr


# -- the server that people have


@pytest.fixture(scope="session")
def npm_server() -> Path:
    """The published server, installed under build/ once."""
    found = ROOT / "build" / "server-postgres"
    program = found / "node_modules" / ".bin" / "mcp-server-postgres"
    if not program.exists():
        making = found.with_name(f"server-postgres-{uuid4().hex}")
        making.mkdir(parents=True)
        npm_install(making, SERVER)
        try:
            making.rename(found)
        except OSError:  # another worker was faster
            shutil.rmtree(making)
    return program


@pytest.mark.system
def test_the_published_server_agrees_and_refuses_what_is_not_on_the_list_unasked(
    desk: Desk, lived: Mapping[str, str], npm_server: Path
) -> None:
    parts = conninfo_to_dict(desk.verifier)
    host, port = quote(str(parts["host"]), safe=""), parts.get("port", 5432)
    url = f"postgresql://{parts['user']}:x@{host}:{port}/{parts['dbname']}"
    program = {"TRIBUTARY_VERIFY_MCP": json.dumps(["node", str(npm_server.resolve()), url])}
    fields = desk.checked(0, "--via", "mcp", **program)
    assert verdicts(fields) == {"AGREES"}
    assert len(fields) == 1 + len(lived) + 6 * len(lived)
    tampered(desk, "UPDATE tributary.tribe SET clock = clock + 1")
    assert desk.checked(1, "--via", "mcp", **program)["tribe", "clock"]["verdict"] == "DIVERGES"
    desk.tribal.rows("REVOKE SELECT ON tributary.verification_event FROM tributary_verifier")
    fields = desk.checked(1, "--via", "mcp", "--lesson", lived["active"], **program)
    assert fields[lived["active"], "status"]["cause"] == "failed"
