"""One function in the real runtime client of Lambda, under AWS's emulator, invoked over HTTP."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from layers.memory.recipe import ROOT
from tests.infra.lambda_kit import HERE, built_layer, isolation, kit
from tests.network import free_port

_PATIENCE_S = 30.0
_NOBODY = "65534:65534"


class Emulated:
    """A function that runs while the block does, with the environment that Lambda gives it and what is given here.

    Its disk is the layer, the function's folder and the interpreter, read-only; `attempts` tells what it tried to write.
    """

    def __init__(
        self, function: str, environment: Mapping[str, str], *, layer: Path | None = None, task: Path | None = None
    ) -> None:
        self._function = function
        self._environment = environment
        self._layer = layer or built_layer()
        self._task = task or ROOT / "functions" / function

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="lambda", ignore_cleanup_errors=True)
        self._tmp, root = Path(self._folder.name) / "tmp", Path(self._folder.name) / "root"
        for folder in (self._tmp, root):
            folder.mkdir()
        self._tmp.chmod(0o1777)
        Path(self._folder.name).chmod(0o755)
        port, runtime_port = free_port(), free_port()
        self._log = Path(self._folder.name) / "log"
        served = [f"--runtime-interface-emulator-address=127.0.0.1:{port}", f"--runtime-api-address=127.0.0.1:{runtime_port}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(root, served),
                cwd=self._task,
                env=None if isolation() else self._variables(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60)
        self._wait_for(port)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._client.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(10)
        self._folder.cleanup()

    def __call__(self, event: Mapping[str, Any]) -> Any:
        """Returns the response to `event`, or {"raised": <name of the exception's class>}; the first call starts it."""
        content = json.dumps(event)
        answer = self._client.post("/2015-03-31/functions/function/invocations", content=content).json()
        return {"raised": answer["errorType"]} if isinstance(answer, dict) and "errorType" in answer else answer

    @property
    def log(self) -> str:
        """What the function and the emulator wrote until now."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def attempts(self) -> list[str]:
        """What was tried to be written outside /tmp."""
        noted = self._tmp / "attempts"
        return noted.read_text(encoding="utf-8").splitlines() if noted.exists() else []

    @property
    def init_ms(self) -> float:
        """How long the start took: the interpreter's, and all that the handler's module does when it is imported."""
        return max(float(one) for one in re.findall(r"INIT REPORT\(durationMs: ([\d.]+)\)", self.log))

    def _command(self, root: Path, served: Sequence[str]) -> list[str]:
        python = f"/var/lang/bin/python{kit().target.python}" if isolation() else str(kit().python)
        program = "/var/emulator/emulator" if isolation() else str(kit().program / "emulator")
        command = [program, *served, python, "-m", "awslambdaric", "handler.handler"]
        if not isolation():
            return command
        folders = (root, self._layer, self._task, kit().lang, kit().runtime, kit().program, self._tmp)
        variables = [f"{name}={value}" for name, value in self._variables().items()]
        user = _NOBODY if os.geteuid() == 0 else ""
        return [*isolation(), "sh", str(HERE / "isolated.sh"), *map(str, folders), user, *variables, *command]

    def _variables(self) -> dict[str, str]:
        there = isolation()
        here = (self._layer, self._task, kit().runtime)
        opt, task, runtime = ("/opt", "/var/task", "/var/runtime") if there else map(str, here)
        return {
            "LANG": "en_US.UTF-8",
            "TZ": ":UTC",
            "PATH": "/var/lang/bin:/usr/local/bin:/usr/bin:/bin:/opt/bin" if there else os.environ["PATH"],
            "LD_LIBRARY_PATH": f"/var/lang/lib:{task}:{task}/lib:{opt}/lib" if there else os.environ.get("LD_LIBRARY_PATH", ""),
            "PYTHONPATH": f"{opt}/python:{task}:{runtime}",
            "LAMBDA_TASK_ROOT": task,
            "LAMBDA_RUNTIME_DIR": runtime,
            "AWS_EXECUTION_ENV": f"AWS_Lambda_python{kit().target.python}",
            "AWS_LAMBDA_FUNCTION_NAME": f"tributary-{self._function}",
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
            "AWS_LAMBDA_FUNCTION_TIMEOUT": "30",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            **({} if there else {"TMPDIR": str(self._tmp), "WATCHED_REFUSES": "1"}),
            **self._environment,
        }

    def _wait_for(self, port: int) -> None:
        until = time.monotonic() + _PATIENCE_S
        while self._process.poll() is None and time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError(f"the emulator did not start: {self.log}")
