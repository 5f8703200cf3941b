"""`tributary doctor` against real things, well and broken: each check can say ok, and each can say what is wrong."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner, Result

from tributary import __version__, client
from tributary.contract.home import CONNECTION_FILE, Connection, write_connection
from tributary.edges.cli.app import app
from tributary.edges.cli.doctor import Finding, Ground, State, examine
from tributary.edges.cli.doctor.examining import Check
from tributary.edges.cli.doctor.operating import pooler_of
from tributary.edges.cli.doors import Doors, real_doors
from tributary.edges.gateway import running
from tributary.service import Settings, open_memory, open_operator

UNWELL = 12


@dataclass(frozen=True, kw_only=True)
class Patient:
    """A computer with a server, and the variables of its user."""

    monkeypatch: pytest.MonkeyPatch
    environment: dict[str, str]
    database_url: str

    def doors(self) -> Doors:
        environment = dict(self.environment)
        return replace(
            real_doors(), environment=environment, open_client=lambda: client.Memory(environment=environment, timeout_s=20)
        )

    def run(self, *arguments: str, **variables: str) -> Result:
        self.environment.update(variables)
        for name, value in self.environment.items():
            self.monkeypatch.setenv(name, value)
        return CliRunner().invoke(app, ["doctor", *arguments], obj=self.doors())

    def found(self, *arguments: str, **variables: str) -> dict[str, tuple[str, str]]:
        """Returns the state and what was found, by check; what is bad or unknown has advice, and nothing shows a secret."""
        result = self.run(*arguments, "--json", **variables)
        document = json.loads(result.stdout)
        assert result.exit_code == (0 if document["ok"] else UNWELL), result.output
        assert all((one["advice"] is None) == (one["state"] == "ok") for one in document["checks"])
        assert self.environment["TRIBUTARY_TOKEN"] not in result.output
        assert "hunter2" not in result.output
        return {one["check"]: (one["state"], one["found"]) for one in document["checks"]}


@pytest.fixture
def patient(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Patient]:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": database_url})
    with open_operator(settings) as operator:
        secret = operator.create_tribe("default").token.secret
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with open_memory(settings) as memory, running(memory) as started:
        write_connection(home, Connection(url=started.url, token=secret))
        environment = {
            "TRIBUTARY_HOME": str(home),
            "TRIBUTARY_URL": started.url,
            "TRIBUTARY_TOKEN": secret,
            "TRIBUTARY_DATABASE_URL": database_url,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": str(tmp_path / "config"),
            "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        }
        yield Patient(monkeypatch=monkeypatch, environment=environment, database_url=database_url)


def states(found: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    return {check: state for check, (state, _) in found.items()}


def test_where_all_is_well_every_line_says_ok_and_it_ends_with_0(patient: Patient) -> None:
    found = patient.found()
    port = found.pop("port")  # somebody's server may listen on this computer
    assert {state for state, _ in found.values()} == {"ok"}, found
    assert port[0] in ("ok", "bad")
    assert found["token"] == ("ok", "good, curator's, a curator")
    assert found["version"] == ("ok", f"{__version__}, the same on both sides")
    assert {"writer pgvector version", "writer schema revision", "writer oldest code", "process recall", "embedder"} <= set(found)
    lines = patient.run().stdout.splitlines()
    assert lines[-1].endswith(" unknown.")
    assert all(line.startswith(("ok ", "bad ", "unknown ", "   ")) for line in lines[:-1])


def test_a_token_that_is_none_and_a_server_that_is_away_are_told_apart(patient: Patient) -> None:
    good = patient.environment["TRIBUTARY_URL"]
    found = patient.found(TRIBUTARY_TOKEN="trb_wrong")
    assert (found["server"][0], found["token"][0]) == ("ok", "bad")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        found = patient.found(TRIBUTARY_URL=f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert found["server"] == ("bad", "unreachable")
    assert found["clock"][0] == "unknown"
    assert "token" not in found
    patient.environment["TRIBUTARY_URL"] = good


def test_what_hangs_is_unknown_in_time_and_hides_nothing_else(patient: Patient) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        found = patient.found("--patience", "3", TRIBUTARY_URL=f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert found["server"] == ("unknown", "no answer within 3 seconds")
    assert found["settings"][0] == "ok"


@contextmanager
def server_saying(headers: Mapping[str, str], version: str = __version__) -> Iterator[str]:
    """Serves a health reply with these headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"status": "ok", "version": version}).encode()
            self.send_response_only(200)
            for name, value in {"content-type": "application/json", "content-length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_clock_that_is_off_and_a_server_of_another_version_are_bad(patient: Patient) -> None:
    with server_saying({"date": "Sun, 01 Mar 2020 12:00:00 GMT"}, version="9.9.9") as url:
        found = patient.found(TRIBUTARY_URL=url)
    assert found["clock"][0] == "bad"
    assert found["version"] == ("bad", f"the server is 9.9.9, this is {__version__}")
    with server_saying({}) as url:
        assert patient.found(TRIBUTARY_URL=url)["clock"] == ("unknown", "the server told no time")


def test_rights_that_are_too_wide_are_bad(patient: Patient) -> None:
    home = Path(patient.environment["TRIBUTARY_HOME"])
    home.chmod(0o777)
    (home / CONNECTION_FILE).chmod(0o644)
    found = patient.found()
    assert (found["home"][0], found["connection file"][0]) == ("bad", "bad")
    (home / CONNECTION_FILE).write_text("{")
    assert patient.found()["connection file"][0] == "bad"


WRONG = {
    "settings": {"TRIBUTARY_EXACT_LIMIT": "-1"},
    "models": {"TRIBUTARY_JUDGE": "bedrock"},
    "pooler": {"TRIBUTARY_DATABASE_URL": "postgresql://x:hunter2@127.0.0.1:6432/tributary"},
    "AWS credentials": {"TRIBUTARY_PENDING_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/pending"},
    "home": {"TRIBUTARY_HOME": "/dev/null/nowhere"},
}


@pytest.mark.parametrize("check", WRONG)
def test_a_wrong_setting_is_bad_where_it_belongs(patient: Patient, check: str) -> None:
    assert patient.found(**WRONG[check])[check][0] == "bad"


def test_credentials_that_are_there_are_ok_and_never_shown(patient: Patient) -> None:
    known = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_REGION": "eu-central-1"}
    assert patient.found(**WRONG["AWS credentials"], **known)["AWS credentials"][0] == "ok"


def test_a_database_that_is_away_or_not_migrated_says_so_without_its_password(patient: Patient, empty_database_url: str) -> None:
    found = patient.found(TRIBUTARY_DATABASE_URL="postgresql://x:hunter2@127.0.0.1:1/tributary")
    assert {state for check, (state, _) in found.items() if check.startswith("writer")} == {"unknown"}
    found = patient.found(TRIBUTARY_DATABASE_URL=empty_database_url)
    assert found["writer schema revision"] == ("unknown", "not_migrated")


def test_an_embedder_that_has_drifted_is_bad(patient: Patient) -> None:
    assert patient.found()["process recall"][0] == "ok"
    with psycopg.connect(patient.database_url, autocommit=True) as connection:
        moved = "SELECT o.embedding FROM tributary.space_reference o WHERE o.sentence <> r.sentence ORDER BY o.sentence LIMIT 1"
        changed = connection.execute(f"UPDATE tributary.space_reference r SET embedding = ({moved})".encode())
        assert changed.rowcount > 1
    assert "bad" in {state for check, (state, _) in patient.found().items() if check.startswith("process")}


def test_what_cannot_be_told_is_not_ok(patient: Patient) -> None:
    found = patient.found("--tribe", "nobody")
    assert found["recall"] == ("unknown", "there is no tribe 'nobody' to try one in")
    assert "bad" not in set(states({name: one for name, one in found.items() if name != "port"}).values())
    assert patient.run("--tribe", "nobody").exit_code == UNWELL


def test_a_check_that_breaks_is_unknown_and_the_next_one_runs(patient: Patient) -> None:
    def broken(_: Ground) -> list[Finding]:
        raise ValueError("hunter2")

    def well(_: Ground) -> list[Finding]:
        return [Finding(check="b", state=State.OK, found="well")]

    looks: list[tuple[str, Callable[[Ground], list[Finding]]]] = [("a", broken), ("b", well)]
    ground = Ground(doors=patient.doors(), tribe="default", patience_s=5)
    found = list(examine(ground, [Check(name=name, look=look) for name, look in looks]))
    assert [(one.check, one.state) for one in found] == [("a", State.UNKNOWN), ("b", State.OK)]
    assert "hunter2" not in found[0].found


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("postgresql://a@acme.proxy-c1x2.eu-central-1.rds.amazonaws.com:5432/t", "RDS Proxy"),
        ("postgresql://a@acme.cluster-c1x2.eu-central-1.rds.amazonaws.com/t", None),
        ("postgresql://a@localhost:6432/t", "PgBouncer"),
        ("postgresql://a@pgbouncer.internal/t", "PgBouncer"),
        ("postgresql://a@/t?host=/run/socket", None),
        ("postgresql://a@localhost:nonsense/t", None),
    ],
)
def test_a_pooler_is_guessed_from_the_address(url: str, kind: str | None) -> None:
    assert pooler_of(url) == kind
