"""`tributary mcp` for real: its own PostgreSQL and model, the official Python client, the bare wire, signals, and the hook."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.talking import PATIENCE_S, Bare, command, over_stdio, run, surroundings
from tributary.contract.home import Connection, write_connection
from tributary.edges.cli.own_agent import AGENTS_FILE
from tributary.edges.gateway import running
from tributary.service import Settings, open_cells, open_operator

DOCS = Path(__file__).parents[2] / "docs" / "mcp"
LESSON = {
    "text": "The deploy API of payments needs X-Batch: true, else it answers 429",
    "situation": "deploying payments through the deploy API",
    "how": "observed",
    "ref": "run:88",
}
NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


@pytest.fixture(scope="module")
def at_home() -> Iterator[dict[str, str]]:
    """A home whose database its first user makes."""
    with surroundings() as environment:
        yield environment


def test_two_agents_over_two_servers_share_a_lesson_and_one_confirms_it(at_home: dict[str, str]) -> None:
    async def talk() -> tuple[Any, ...]:
        async with over_stdio(at_home, "--agent", "alice") as alice, over_stdio(at_home, "--agent", "bob", mode="legacy") as bob:
            learned = await alice.call_tool("tribal_learn", LESSON)
            again = await alice.call_tool("tribal_learn", LESSON)
            recalled = await bob.call_tool("tribal_recall", {"query": "deploy payments"})
            lesson = recalled.structured_content["lessons"][0]["id"]
            confirmed = await bob.call_tool("tribal_reinforce", {"lesson": lesson})
            twice = await bob.call_tool("tribal_reinforce", {"lesson": lesson})
            own = await alice.call_tool("tribal_reinforce", {"lesson": lesson})
            return learned, again, recalled, confirmed, twice, own

    learned, again, recalled, *confirmations = run(talk)
    assert learned.structured_content["outcome"] == "learned"
    assert again.structured_content["outcome"] == "unchanged"
    (hit,) = recalled.structured_content["lessons"]
    assert (hit["id"], hit["author"]) == (learned.structured_content["lesson"], "alice")
    assert re.search(r"<tributary-lessons-[0-9a-f]{16}>\nlesson les_", recalled.content[0].text)
    assert recalled.structured_content["receipt"]["coverage"] == "complete"
    counted = [(one.structured_content["outcome"], one.structured_content["confirmations"]) for one in confirmations]
    assert counted == [("reinforced", 1), ("unchanged", 1), ("unchanged", 1)]


def test_a_session_begins_with_what_is_known_of_its_project(at_home: dict[str, str], tmp_path: Path) -> None:
    project = tmp_path / "checkout"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "payments"\n')
    given = {"session_id": "1", "cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
    hook = json.loads((DOCS / "claude-code-settings.json").read_text())["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    program, *arguments = hook.split()
    assert program == "tributary"
    done = subprocess.run(
        command(*arguments, "--within", str(PATIENCE_S)),
        env=at_home,
        input=json.dumps(given),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["hookEventName"] == "SessionStart"
    assert "X-Batch: true" in said["additionalContext"]
    assert "never instructions" in said["additionalContext"]


def test_tokens_of_agents_are_their_owners_alone(at_home: dict[str, str]) -> None:
    kept = Path(at_home["TRIBUTARY_HOME"], AGENTS_FILE)
    assert kept.stat().st_mode & 0o077 == 0
    (named,) = json.loads(kept.read_text()).values()
    assert {"alice", "bob"} <= set(named)


@pytest.mark.parametrize("given", ["no JSON", '{"cwd": "/nowhere"}'])
def test_a_hook_without_a_memory_says_so_in_one_line_and_fails_nothing(given: str) -> None:
    with surroundings(TRIBUTARY_URL="http://127.0.0.1:1", TRIBUTARY_TOKEN="trb_x") as environment:
        done = subprocess.run(
            command("hook", "session-start"), env=environment, input=given, capture_output=True, encoding="utf-8", check=False
        )
    assert done.returncode == 0
    said = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert said == "The shared memory could not be asked (unreachable): do not conclude that nothing is known."


def test_initialize_and_the_tools_need_no_database_and_a_call_says_that_there_is_none() -> None:
    with surroundings(TRIBUTARY_DATABASE_URL=NOWHERE) as environment, Bare(environment) as bare:
        assert bare.begin()["result"]["serverInfo"]["name"] == "tributary"
        bare.send("tools/list", request=1)
        assert "tribal_learn" in {tool["name"] for tool in bare.receive()["result"]["tools"]}
        result = bare.call("tribal_recall", {"query": "deploy"}, request=2)
        assert (result["isError"], result["_meta"]["tributary/code"]) == (True, "unavailable")
        assert "do not conclude that nothing is known" in result["content"][0]["text"]
        bare.raw("no JSON, but a secret")
        bare.send("ping", request=3)
        assert bare.receive()["id"] == 3
        code, said, remarked = bare.end()
    assert (code, said) == (0, "")
    assert "Traceback" not in remarked
    assert "secret" not in remarked


def test_a_home_that_cannot_be_used_is_named() -> None:
    with surroundings(TRIBUTARY_HOME="/dev/null/home") as environment, Bare(environment) as bare:
        bare.begin()
        result = bare.call("tribal_recall", {"query": "deploy"}, request=1)
        code, said, remarked = bare.end()
    assert result["_meta"]["tributary/code"] == "bad_setting"
    assert "cannot use /dev/null/home: Not a directory" in result["content"][0]["text"]
    assert (code, said, remarked) == (0, "", "")


@pytest.mark.parametrize(
    ("number", "greeted"),
    [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGHUP, True)],
    ids=["SIGTERM-before", "SIGTERM-after", "SIGHUP-after"],
)
def test_a_signal_ends_it_though_its_client_stays(number: signal.Signals, greeted: bool) -> None:
    with surroundings(TRIBUTARY_DATABASE_URL=NOWHERE) as environment, Bare(environment) as bare:
        if greeted:
            bare.begin()
            bare.send("ping", request=1)
            assert bare.receive()["result"] == {}
        else:
            taken_away(bare)
        code, said, remarked = bare.end(number)
    assert (code, said) == (0, "")
    assert "Traceback" not in remarked


def taken_away(bare: Bare) -> None:
    """Waits until the process has taken its standard output away: from then on it knows what to do with a signal."""
    own = f"/proc/{bare.process.pid}/fd/"
    while Path(own + "0").resolve() != Path("/dev/null"):
        assert bare.process.poll() is None


ELSEWHERE = """
import signal, threading, time
from tributary.edges.cli.signals import stopping_on_signals
from tributary.edges.mcp import greeting, wire
claimed = wire.claim()

def later():
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

with stopping_on_signals():
    threading.Thread(target=later, daemon=True).start()
    try:
        greeting.greet(claimed)
    except KeyboardInterrupt:
        print("told to stop")
"""


def test_a_signal_that_interrupts_no_read_ends_the_wait_for_the_first_line_all_the_same() -> None:
    # Another thread takes it, as it may come just before the read blocks: in neither case the read itself ends.
    with surroundings() as environment, Bare(environment, [command()[0], "-c", ELSEWHERE]) as bare:
        code, said, remarked = bare.rest()
    assert (code, said, remarked) == (0, "", "told to stop\n")


NOISY = """
import ctypes, os, subprocess, sys
from tributary.edges.mcp import wire
claimed = wire.claim()
print("printed")
sys.stdout.flush()
os.write(1, b"written\\n")
ctypes.CDLL(None).puts(b"put by C")
ctypes.CDLL(None).fflush(None)
subprocess.run(["sh", "-c", "echo said by a child; cat"], check=True)
claimed.write_line(claimed.read_line().decode())
"""


def test_whatever_is_printed_goes_to_standard_error_and_no_child_reads_what_is_the_protocols() -> None:
    with surroundings() as environment, Bare(environment, [command()[0], "-c", NOISY]) as bare:
        bare.raw('"the protocol"')
        code, said, remarked = bare.end()
    assert (code, said) == (0, '"the protocol"\n')
    assert remarked.splitlines() == ["printed", "written", "put by C", "said by a child"]


def test_where_a_local_server_answers_it_is_asked_as_an_agent_of_ones_own_until_it_goes(database_url: str) -> None:
    settings = Settings.model_validate({"TRIBUTARY_DATABASE_URL": database_url})
    with open_operator(settings) as operator:
        token = operator.create_tribe("default").token.secret
    with (
        surroundings(TRIBUTARY_DATABASE_URL=database_url) as environment,
        Bare(environment, command("mcp", "--agent", "carol")) as bare,
    ):
        home = Path(environment["TRIBUTARY_HOME"])
        home.mkdir()
        with open_cells(settings) as cells:
            with running(cells) as server:
                write_connection(home, Connection(url=server.url, token=token))
                bare.begin()
                assert bare.call("tribal_learn", LESSON, request=1)["structuredContent"]["outcome"] == "learned"
                cells.home.usage.flush()
            counted = cells.home.stats(cells.authenticate(token))
            assert counted.by_agent is not None
            assert {one.name for one in counted.by_agent} >= {"carol"}
        again = bare.call("tribal_learn", LESSON, request=2)["structuredContent"]  # the very call that finds the server gone
        assert again["outcome"] == "unchanged"
        assert bare.call("tribal_stats", {}, request=3)["structuredContent"]["lessons"] == {"active": 1}
        assert bare.end()[0] == 0


def test_a_name_where_a_token_says_who_asks_is_refused() -> None:
    with surroundings(TRIBUTARY_TOKEN="trb_x") as environment:
        done = subprocess.run(
            command("mcp", "--agent", "alice"),
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode != 0
    assert "--agent is for a local memory" in done.stderr
    assert done.stdout == ""


# -- the configurations of docs/mcp


def parsed(name: str) -> dict[str, Any]:
    """Reads JSON with comments on lines of their own, as the programs that it is for do."""
    lines = (DOCS / name).read_text(encoding="utf-8").splitlines()
    document: dict[str, Any] = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    return document


def started_by(name: str) -> list[str]:
    """Returns the command that a configuration starts the server with."""
    document = parsed(name)
    (servers,) = (document[key] for key in ("mcpServers", "servers", "mcp") if key in document)
    entry = servers["tributary"]
    if isinstance(entry["command"], list):
        return list(entry["command"])
    return [entry["command"], *entry["args"]]


LOCAL = ("claude-code.json", "cursor.json", "opencode.jsonc", "vscode.json")
REMOTE = ("claude-code-http.json", "cursor-http.json", "opencode-http.jsonc", "vscode-http.json")


def test_every_configuration_is_known_here_and_named_in_the_docs() -> None:
    files = {path.name for path in DOCS.iterdir()}
    assert files == {*LOCAL, *REMOTE, "claude-code-settings.json"}
    page = (DOCS.parent / "mcp.md").read_text(encoding="utf-8")
    assert all(f"(mcp/{name})" in page for name in files)


def test_the_command_of_every_configuration_starts_a_server_that_lists_its_tools() -> None:
    commands = {tuple(started_by(name)) for name in LOCAL}
    assert {one[0] for one in commands} == {"tributary"}
    for _, *arguments in commands:
        with surroundings(TRIBUTARY_DATABASE_URL=NOWHERE) as environment, Bare(environment, command(*arguments)) as bare:
            bare.begin()
            bare.send("tools/list", request=1)
            assert "tribal_recall" in {tool["name"] for tool in bare.receive()["result"]["tools"]}


@pytest.mark.parametrize("name", REMOTE)
def test_a_configuration_over_http_names_the_route_and_sends_a_bearer_token(name: str) -> None:
    document = parsed(name)
    (servers,) = (document[key] for key in ("mcpServers", "servers", "mcp") if key in document)
    entry = servers["tributary"]
    assert entry["url"].endswith("/mcp")
    assert re.fullmatch(r"Bearer \S*\{\S+\}", entry["headers"]["Authorization"])
