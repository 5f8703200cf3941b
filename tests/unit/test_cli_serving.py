"""What `serve` does around the server: the first start, the connection file, several servers, what it says."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import tributary
from tests.unit.cli_fakes import Surroundings
from tributary.client import DEFAULT_PORT, DEFAULT_URL
from tributary.contract.home import Connection, read_connection, write_connection
from tributary.core.agent import Role
from tributary.edges import gateway
from tributary.edges.cli.app import app
from tributary.edges.cli.connection import Lease

PATIENCE_S = 30.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "ho me"


@pytest.fixture
def around(home: Path) -> Surroundings:
    return Surroundings(environment={"TRIBUTARY_HOME": str(home)})


def serve(around: Surroundings, *arguments: str) -> Result:
    result = CliRunner().invoke(app, ["serve", "--port", "0", *arguments], obj=around.doors())
    assert "Traceback" not in result.output
    return result


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.01)


def test_the_first_start_makes_a_tribe_and_its_curator_and_shows_the_token_once(around: Surroundings, home: Path) -> None:
    first = serve(around)
    assert first.exit_code == 0
    assert "This is the first start: tribe 'default' was made, with its curator 'curator'." in first.stdout
    assert "  trb_secret-1\n" in first.stdout
    assert "http://127.0.0.1:45678" in first.stdout
    assert f"Data: {home}" in first.stdout
    assert "TRIBUTARY_CORS_ORIGINS is empty" in first.stdout
    assert first.stderr == "Stopped.\n"
    kept = home / "connection.json"
    assert read_connection(home) == Connection(url="http://127.0.0.1:45678", token="trb_secret-1")
    assert kept.stat().st_mode & 0o077 == 0
    assert home.stat().st_mode & 0o077 == 0
    second = serve(around)
    assert "trb_secret-1" not in second.stdout
    assert "Tribe 'default' was made on 2026-03-01 12:00:00 UTC, with its curator 'curator'." in second.stdout
    assert f"A token of agent 'curator' is kept in {kept}." in second.stdout
    assert around.operator.migrated == 2
    assert list(around.operator.kept) == ["default"]


def test_the_models_that_it_works_with_are_named(around: Surroundings, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="tributary"):
        said = serve(around).stdout
    line = "Models: judge local/7, no strong judge, screen s\\x1b/2, embedder minilm, distiller openai:gpt-5."
    assert line in said.splitlines()
    (logged,) = [record for record in caplog.records if record.message == "service.models"]
    of = {"judge": "local/7", "strong_judge": None, "screen": "s\x1b/2", "embedder": "minilm", "distiller": "openai:gpt-5"}
    assert vars(logged)["fields"] == of
    assert json.loads(serve(around, "--json").stdout)["models"] == of


def test_machines_are_told_in_one_json_value(around: Surroundings, home: Path) -> None:
    first = json.loads(serve(around, "--json").stdout)
    assert (first["first_start"], first["token"], first["url"]) == (True, "trb_secret-1", "http://127.0.0.1:45678")
    assert first["connection_file"] == str(home / "connection.json")
    second = json.loads(serve(around, "--json").stdout)
    assert (second["first_start"], second["token"]) == (False, None)


def test_the_printed_curl_lines_are_whole_words_for_a_shell_on_every_start(around: Surroundings) -> None:
    for start in (serve(around), serve(around)):
        lines = [line for line in start.stdout.splitlines() if line.startswith("  curl ")]
        for line, path in zip(lines, ("/v1/lessons", "/v1/recall"), strict=True):
            printing = line.replace("curl -sS", "printf '%s\\n'", 1)
            shown = subprocess.run(["sh", "-c", printing], capture_output=True, text=True, check=True).stdout
            assert shown.startswith(f"http://127.0.0.1:45678{path}\n-H\nAuthorization: Bearer trb_secret-1\n-H\n")
            json.loads(shown.splitlines()[-1])


def test_another_tribe_is_named_and_used(around: Surroundings) -> None:
    assert "tribe 'ops' was made" in serve(around, "--tribe", "ops").stdout
    missing = serve(around)
    assert missing.exit_code == 5
    assert "there is no tribe 'default' in this database, but 'ops'" in missing.stderr
    assert serve(around, "--tribe", "ops").exit_code == 0
    assert list(around.operator.kept) == ["ops"]


def test_a_token_that_the_database_does_not_know_is_left_and_told_of(around: Surroundings, home: Path) -> None:
    around.operator.create_tribe("default")
    home.mkdir(mode=0o700)
    foreign = Connection(url="http://127.0.0.1:9001", token="of-another-database")
    write_connection(home, foreign)
    result = serve(around)
    assert "No token that this database knows is kept in" in result.stdout
    assert "tributary agent create NAME --role curator" in result.stdout
    assert "$TRIBUTARY_TOKEN" in result.stdout
    assert read_connection(home) == foreign


def test_the_first_start_on_another_database_sets_the_old_token_aside(around: Surroundings, home: Path) -> None:
    home.mkdir(mode=0o700)
    write_connection(home, Connection(url="http://127.0.0.1:9001", token="of-another-database"))
    result = serve(around)
    (aside,) = home.glob("connection-*.json")
    assert json.loads(aside.read_text())["token"] == "of-another-database"
    assert str(aside) in result.stdout
    kept = read_connection(home)
    assert kept is not None
    assert kept.token == "trb_secret-1"


def test_a_token_is_kept_even_when_the_server_then_fails_to_start(around: Surroundings, home: Path) -> None:
    def fail() -> None:
        raise RuntimeError

    around.while_serving = fail
    assert serve(around).exit_code == 70
    assert read_connection(home) == Connection(url="http://127.0.0.1:45678", token="trb_secret-1")


@pytest.mark.parametrize(
    ("host", "warned", "url"),
    [
        ("127.0.0.1", False, "http://127.0.0.1:45678"),
        ("::1", False, "http://[::1]:45678"),
        ("localhost", False, "http://localhost:45678"),
        ("0.0.0.0", True, "http://127.0.0.1:45678"),
        ("::", True, "http://[::1]:45678"),
    ],
)
def test_tokens_that_travel_unencrypted_are_warned_of(
    around: Surroundings, home: Path, host: str, warned: bool, url: str
) -> None:
    if ":" in host and not socket.has_ipv6:
        pytest.skip("this computer has no IPv6")
    result = serve(around, "--host", host)
    assert ("unencrypted" in result.stderr) is warned
    kept = read_connection(home)
    assert kept is not None
    assert kept.url == url


def test_origins_that_browsers_may_call_from_are_named(around: Surroundings) -> None:
    around.settings["cors_origins"] = ("https://app.example",)
    assert "Browsers may call it from https://app.example." in serve(around).stdout


def test_no_part_of_a_database_address_is_shown(around: Surroundings) -> None:
    around.settings["database_url"] = "postgresql://user:secret@db/x"
    result = serve(around)
    assert "the database that DATABASE_URL names" in result.stdout
    assert "secret@" not in result.output


def test_a_taken_port_is_told_before_anything_is_made(around: Surroundings, home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = serve(around, "--port", port)
    assert result.exit_code == 5
    assert f"port {port} is taken" in result.stderr
    assert not home.exists()
    assert not around.operator.kept


def test_an_address_that_is_not_this_computers_is_told(around: Surroundings) -> None:
    assert serve(around, "--host", "no such host").exit_code == 7
    assert serve(around, "--host", "203.0.113.1").exit_code == 7


def test_the_default_port_is_the_same_at_every_door(around: Surroundings) -> None:
    assert gateway.DEFAULT_PORT == DEFAULT_PORT
    shown = CliRunner().invoke(app, ["serve", "--help"], obj=around.doors()).stdout
    assert f"default: {DEFAULT_PORT}" in shown
    assert DEFAULT_URL.endswith(f":{DEFAULT_PORT}")


class OtherServer:
    """A process that holds the right to be named in the connection file, as another `serve` does."""

    PROGRAM = """
import sys
from pathlib import Path
from tributary.core.agent import Role
from tributary.contract.home import Connection
from tributary.edges.cli.connection import Lease
lease = Lease(Path(sys.argv[1]))
lease.follow(lambda: Connection(url="http://127.0.0.1:9001", token=sys.argv[2]))
print(lease.held, flush=True)
sys.stdin.read()
"""

    def __init__(self, home: Path, token: str = "trb_secret-1") -> None:
        environment = {"PYTHONPATH": str(Path(tributary.__file__).parents[1])}
        command = [sys.executable, "-c", self.PROGRAM, str(home), token]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.held = self.process.stdout.readline() == "True\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def test_of_two_servers_the_first_stays_named_until_it_ends_even_by_a_kill(around: Surroundings, home: Path) -> None:
    serve(around)
    other = OtherServer(home)
    assert other.held
    seen: list[Any] = []

    def while_serving() -> None:
        seen.append(read_connection(home))
        other.kill()
        until(lambda: read_connection(home) == Connection(url="http://127.0.0.1:45678", token="trb_secret-1"))

    around.while_serving = while_serving
    result = serve(around)
    assert result.exit_code == 0, result.output
    assert seen == [Connection(url="http://127.0.0.1:9001", token="trb_secret-1")]
    assert "still go to http://127.0.0.1:9001" in result.stdout


@pytest.mark.parametrize(("kept", "after"), [("trb_secret-2", "trb_secret-2"), ("of-another-database", "trb_secret-1")])
def test_a_server_that_takes_over_the_name_keeps_a_token_that_is_good(
    around: Surroundings, home: Path, kept: str, after: str
) -> None:
    serve(around)
    around.operator.create_agent("default", "me", Role.WRITER)
    other = OtherServer(home)

    def while_serving() -> None:
        write_connection(home, Connection(url="http://127.0.0.1:9001", token=kept))
        other.kill()
        until(lambda: read_connection(home) == Connection(url="http://127.0.0.1:45678", token=after))

    around.while_serving = while_serving
    result = serve(around)
    assert result.exit_code == 0, result.output


def test_a_server_that_ends_in_good_order_leaves_the_name_to_the_one_that_waits(home: Path) -> None:
    home.mkdir()
    first = Lease(home)
    other = OtherServer(home)
    assert first.held
    assert not other.held
    first.follow(lambda: Connection(url="http://127.0.0.1:1", token="t"))
    assert read_connection(home) == Connection(url="http://127.0.0.1:1", token="t")
    first.close()
    until(lambda: read_connection(home) == Connection(url="http://127.0.0.1:9001", token="trb_secret-1"))
    other.kill()


def test_a_first_start_beside_a_live_server_of_another_database_leaves_its_name(around: Surroundings, home: Path) -> None:
    home.mkdir(mode=0o700)
    other = OtherServer(home, "of-another-database")
    seen: list[Connection | None] = []
    around.while_serving = lambda: seen.append(read_connection(home))
    result = serve(around)
    other.kill()
    assert seen == [Connection(url="http://127.0.0.1:9001", token="of-another-database")]
    assert list(home.glob("connection-*.json")) == []
    assert "trb_secret-1" in result.stdout
    assert "is kept in" not in result.stdout


def test_a_first_start_waits_for_another_ones_first_start(around: Surroundings, home: Path) -> None:
    home.mkdir(mode=0o700)
    program = """
import sys, time
from pathlib import Path
from tributary.edges.cli.connection import setting_up
with setting_up(Path(sys.argv[1])):
    print("holding", flush=True)
    time.sleep(0.5)
    Path(sys.argv[1], "done").touch()
"""
    environment = {"PYTHONPATH": str(Path(tributary.__file__).parents[1])}
    command = [sys.executable, "-c", program, str(home)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "holding\n"
        around.operator.when_migrating = lambda: seen.append((home / "done").exists())
        seen: list[bool] = []
        assert serve(around).exit_code == 0
    assert seen == [True]
