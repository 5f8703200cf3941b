"""The dashboard's image without Docker: the Dockerfile's own lines, carried out in a folder and a fresh virtual environment."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tributary.edges.dashboard.headers import HEADERS

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "functions" / "dashboard" / "Dockerfile"
NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
GRACE_S = 10
PATIENCE_S = 60
_WAY_TO_THE_INDEX = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT", "REQUESTS_CA")


def instructions() -> list[tuple[str, str]]:
    """Returns the instructions of the Dockerfile with what each is given."""
    lines = [line for line in DOCKERFILE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [(word, given.strip()) for word, _, given in (line.partition(" ") for line in whole)]


def given_to(instruction: str) -> list[str]:
    return [given for word, given in instructions() if word == instruction]


@dataclass(frozen=True, kw_only=True)
class Image:
    """What the Dockerfile made: its working folder, and an environment in which its Python comes first."""

    app: Path
    environment: dict[str, str]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    app, python = folder / "app", folder / "python"
    subprocess.run([sys.executable, "-m", "venv", python], check=True)
    environment = {"PATH": f"{python / 'bin'}:/usr/bin:/bin", "HOME": str(Path.home()), "LC_ALL": "C.UTF-8"}
    # which index is asked, and how it is reached, is this machine's to say; what is installed depends on nothing of it
    way = {name: value for name, value in os.environ.items() if name.upper().startswith(_WAY_TO_THE_INDEX)}
    way |= {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    way |= dict(given.split("=", 1) for given in given_to("ARG"))
    app.mkdir()
    for word, given in instructions():
        if word == "COPY":
            copy(shlex.split(given), app)
        elif word == "RUN" and given.startswith("pip "):
            done = subprocess.run(
                ["/bin/sh", "-ec", given],
                cwd=app,
                env=environment | way,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
    return Image(app=app, environment=environment)


def copy(words: list[str], app: Path) -> None:
    """Does what COPY does: several files into a folder, or one folder's content into another one."""
    *sources, target = words
    for source in sources:
        assert allowed(source), f"{source} is kept from the build by .dockerignore"
        if (ROOT / source).is_dir():
            shutil.copytree(
                ROOT / source, app / target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            (app / target).mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, app / target)


def allowed(source: str) -> bool:
    """Tells whether .dockerignore lets a path through: it names what goes to a build, and keeps all else from it."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    return any(
        source.rstrip("/") == name or source.startswith(f"{name}/") for name in (one[1:] for one in lines if one[:1] == "!")
    )


@contextmanager
def started(image: Image, database_url: str, **variables: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """Runs the image's own command, as the container would be run, until it accepts connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (command,) = given_to("CMD")
    environment = {**image.environment, "PORT": str(port), "TRIBUTARY_DATABASE_URL": database_url, **variables}
    process = subprocess.Popen(
        json.loads(command), cwd=image.app, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:
            until = time.monotonic() + PATIENCE_S
            while True:
                try:
                    client.get("/nowhere")
                    break
                except httpx.TransportError:
                    assert process.poll() is None, process.communicate()[0]
                    assert time.monotonic() < until, "it does not listen"
                    time.sleep(0.05)
            yield client, process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_image_serves_the_status_of_a_real_database_and_ends_on_sigterm(image: Image, database_url: str) -> None:
    with started(image, database_url) as (client, process):
        page, health = client.get("/sign-in"), client.get("/health")
        assert (page.status_code, health.status_code) == (200, 200), health.text
        assert "not ready" not in page.text
        assert page.headers.items() >= HEADERS.items()
        stylesheet = page.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
        assert client.get(stylesheet).headers["content-type"] == "text/css; charset=utf-8"
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=GRACE_S)
    assert process.returncode == -signal.SIGTERM
    assert said == ""


def test_image_without_its_database_says_so_and_ends_on_sigterm_all_the_same(image: Image) -> None:
    with started(image, NOWHERE) as (client, process):
        page, health = client.get("/sign-in"), client.get("/health")
        assert (page.status_code, health.status_code) == (200, 503)
        assert "not ready" in page.text
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=GRACE_S)
    assert process.returncode == -signal.SIGTERM
    assert {json.loads(line)["event"] for line in said.splitlines()} <= {"database.retried", "database.unavailable"}


def test_image_holds_what_is_pinned_and_installed_not_what_lies_beside_it(image: Image) -> None:
    asked = "import tributary, sys, importlib.metadata as m; print(tributary.__file__, m.version('fastapi'), m.version('mangum'))"
    path, *versions = run_in(image, asked).split()
    assert Path(path).is_relative_to(image.app.parent / "python")
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    assert versions == [pinned["fastapi"], pinned["mangum"]]


def run_in(image: Image, code: str) -> str:
    """Returns what the image's Python prints of a program."""
    python = image.environment["PATH"].partition(":")[0] + "/python"
    done = subprocess.run([python, "-c", code], cwd="/", env=image.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_image_opens_a_memory_and_has_a_client_for_every_model_that_the_settings_may_choose(image: Image) -> None:
    """For these are asked in the dashboard's own process, and nothing of it is imported before it is needed."""
    tried = "import boto3, openai, typesafe_sdk, opentelemetry.sdk.trace, tributary.edges.lambda_http.app, tributary.client"
    run_in(image, f"{tried}; from tributary.service import open_memory")


_ECHO = """
async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": f"{scope['scheme']} {scope['client'][0]}".encode()})
def container_app():
    return app
"""


@pytest.mark.parametrize(
    ("trusted", "told"),
    [("127.0.0.0/8", "https 198.51.100.7"), ("169.254.0.0/16", "http 127.0.0.1")],
    ids=["from the proxy", "from elsewhere"],
)
def test_where_a_viewer_is_believed_of_the_proxy_alone_and_of_what_he_claims_nothing(
    image: Image, tmp_path: Path, trusted: str, told: str
) -> None:
    """Sign-ins are counted by it: neither may one viewer be another by a header, nor all of them the proxy."""
    package = tmp_path / "tributary" / "edges" / "dashboard"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_ECHO)
    for folder in (package.parent, package.parent.parent):
        (folder / "__init__.py").write_text("")
    claimed = {"x-forwarded-for": "203.0.113.1, 198.51.100.7", "x-forwarded-proto": "https"}
    with started(image, NOWHERE, FORWARDED_ALLOW_IPS=trusted, PYTHONPATH=str(tmp_path)) as (client, _):
        assert client.get("/", headers=claimed).text == told


def test_image_is_of_a_fixed_python_and_runs_as_nobody_who_is_privileged() -> None:
    assert given_to("FROM") == ["python:3.13-slim"]
    *_, user = given_to("USER")
    assert user.isdecimal()
    assert int(user) >= 1000
    order = [word for word, _ in instructions()]
    assert order.index("USER") < order.index("CMD")
    assert given_to("EXPOSE") == ["8080"]
    assert "${PORT:-8080}" in (ROOT / "functions" / "dashboard" / "start").read_text()
    assert (ROOT / "functions" / "dashboard" / "start").stat().st_mode & stat.S_IXOTH
    assert [given for given in given_to("RUN") if not given.startswith("pip ")] == [
        "useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin dashboard"
    ], "every other line that builds it is carried out above"
