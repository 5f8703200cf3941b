"""Where the SDK finds the server and the token, and that no token goes to another address than its own."""

from __future__ import annotations

import http.server
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import tributary
from tests.unit.client_fakes import Tribe
from tributary.client import DEFAULT_URL, Memory, NotConfigured
from tributary.client.place import find_place, is_loopback
from tributary.contract.home import Connection, read_connection, write_connection
from tributary.edges.cli.connection import Lease, keep_token

OTHER = "https://memory.example.org"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"TRIBUTARY_HOME": str(tmp_path)}


@pytest.fixture
def served(home: dict[str, str], tmp_path: Path) -> dict[str, str]:
    write_connection(tmp_path, Connection(url="http://127.0.0.1:9001", token="kept"))
    return home


def found(url: str | None, token: str | None, environment: dict[str, str]) -> tuple[str, str | None]:
    place = find_place(url, token, environment)
    return place.url, place.token


def test_arguments_come_before_the_environment_and_that_before_the_connection_file(served: dict[str, str]) -> None:
    assert found(None, None, served) == ("http://127.0.0.1:9001", "kept")
    variables = {**served, "TRIBUTARY_URL": OTHER, "TRIBUTARY_TOKEN": "set"}
    assert found(None, None, variables) == (OTHER, "set")
    assert found("http://10.0.0.1:1/", "given", variables) == ("http://10.0.0.1:1", "given")
    assert found(None, "given", variables) == (OTHER, "given")


def test_a_token_alone_goes_to_the_local_server(home: dict[str, str], served: dict[str, str]) -> None:
    assert found(None, None, {**served, "TRIBUTARY_TOKEN": "set"}) == ("http://127.0.0.1:9001", "set")
    assert found(None, "given", {"TRIBUTARY_HOME": "/nonexistent"}) == (DEFAULT_URL, "given")


def test_the_token_in_the_connection_file_goes_to_no_other_address(served: dict[str, str]) -> None:
    with pytest.raises(NotConfigured, match="no token for https"):
        find_place(None, None, {**served, "TRIBUTARY_URL": OTHER})
    with pytest.raises(NotConfigured, match="no token for https"):
        find_place(OTHER, None, served)
    assert found("http://127.0.0.1:9001/", None, served) == ("http://127.0.0.1:9001", "kept")


def test_the_token_of_the_environment_goes_to_no_other_address_than_the_environments(home: dict[str, str]) -> None:
    variables = {**home, "TRIBUTARY_URL": OTHER, "TRIBUTARY_TOKEN": "set"}
    with pytest.raises(NotConfigured, match="pass the token along"):
        find_place("http://evil.example", None, variables)
    assert found(OTHER, None, variables) == (OTHER, "set")


def test_without_any_server_the_error_says_how_to_start_one(home: dict[str, str]) -> None:
    with pytest.raises(NotConfigured, match="tributary serve") as caught:
        Memory(environment=home)
    assert caught.value.code == "not_configured"


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8377",
        "ftp://x",
        "http://",
        "http://user:secret@x",
        "http://x?a=b",
        "http://x#f",
        "http://x:99999",
        "http://x:0",
        "http://[::1",
        "http://a b",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_repeated(home: dict[str, str], url: str) -> None:
    for given, variables in ((url, home), (None, {**home, "TRIBUTARY_URL": url})):
        with pytest.raises(NotConfigured) as caught:
            find_place(given, "t", variables)
        assert "secret" not in str(caught.value)


def test_a_path_in_front_of_the_api_is_kept(home: dict[str, str]) -> None:
    tribe = Tribe()
    tribe.before = lambda _: httpx.Response(200, json=tribe.replies["recall"])
    with Memory("https://x.example/prod/", "t", transport=httpx.MockTransport(tribe), environment=home) as memory:
        memory.recall("q")
    assert str(tribe.requests[0].url) == "https://x.example/prod/v1/recall"


@pytest.mark.parametrize("token", [" ", "two words", "ünïcode", "a\r\nb"])
def test_a_token_that_is_no_word_is_refused(home: dict[str, str], token: str) -> None:
    with pytest.raises(NotConfigured, match="token"):
        find_place(None, token, home)


def test_a_line_break_after_a_token_does_not_matter(home: dict[str, str]) -> None:
    assert find_place(None, "t\r\n", home).token == "t"


def test_an_empty_variable_counts_as_none(served: dict[str, str]) -> None:
    variables = {**served, "TRIBUTARY_URL": "", "TRIBUTARY_TOKEN": ""}
    assert found(None, None, variables) == ("http://127.0.0.1:9001", "kept")


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1", True),
        ("http://localhost", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example.org", False),
    ],
)
def test_this_computer_is_told_from_others(url: str, local: bool) -> None:
    assert is_loopback(url) is local


@pytest.fixture
def port() -> Iterator[int]:
    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"status": "ok", "version": "0"}')

        def log_message(self, *_: object) -> None:
            return

    server = http.server.HTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_environment_is_read_when_a_memory_is_made_and_no_proxy_stands_before_this_computer(port: int) -> None:
    program = "import os\nfrom tributary.client import Memory\n"
    program += f"os.environ.update(TRIBUTARY_URL='http://127.0.0.1:{port}', TRIBUTARY_TOKEN='t')\n"
    program += "with Memory() as memory: print(memory.health().status)\n"
    proxies = {"http_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"}
    environment = {**os.environ, **proxies, "PYTHONPATH": str(Path(tributary.__file__).parents[1])}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr


def test_proxy_settings_that_do_not_work_are_named(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    with pytest.raises(NotConfigured, match="proxy"):
        Memory(OTHER, "t", environment=home)


def test_the_sdk_needs_nothing_of_the_server() -> None:
    program = "import sys\nimport tributary.client\nprint(*sorted(sys.modules))\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(tributary.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {name.split(".")[1] for name in loaded if name.startswith("tributary.")} == {"client", "contract"}
    others = {"asyncio", "anyio", "boto3", "botocore", "numpy", "opentelemetry", "psycopg", "pydantic_settings", "typer"}
    assert not others & set(loaded), "something is loaded before it is needed"


def test_the_base_install_brings_httpx_and_pydantic_and_no_more() -> None:
    project = tomllib.loads((Path(tributary.__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.split(r"[^\w-]", one)[0] for one in project["dependencies"]] == ["httpx", "pydantic"]


def test_a_server_that_keeps_no_token_is_found_by_its_home_and_a_token_that_is_kept_goes_to_it(
    home: dict[str, str], tmp_path: Path
) -> None:
    """As beside the original of a memory that was restored: what is asked of the one must not reach the other."""
    lease = Lease(tmp_path)
    assert found(None, "given", home) == (DEFAULT_URL, "given")
    lease.serves_at("http://127.0.0.1:8390")
    second = Lease(tmp_path)
    second.serves_at("http://127.0.0.1:9999")  # not the one that the home is known by
    assert found(None, "given", home) == ("http://127.0.0.1:8390", "given")
    keep_token(home, "made")
    assert read_connection(tmp_path) == Connection(url="http://127.0.0.1:8390", token="made")
    assert found(None, None, home) == ("http://127.0.0.1:8390", "made")
    for one in (second, lease):
        one.close()
