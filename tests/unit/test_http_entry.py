"""What a warm function keeps, and what it makes anew."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tributary.edges.lambda_http.entry import once


def test_thing_is_made_at_the_first_call_and_kept() -> None:
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    get = once(make)
    assert made == []
    assert get() is get() is made[0]
    assert len(made) == 1


def test_thing_that_could_not_be_made_is_tried_again() -> None:
    failures = [OSError("not yet")]

    def make() -> str:
        if failures:
            raise failures.pop()
        return "made"

    get = once(make)
    with pytest.raises(OSError, match="not yet"):
        get()
    assert get() == get() == "made"


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("tributary.edges.lambda_http", {"aws_lambda_powertools", "pydantic", "psycopg"}),
        ("tributary.edges.lambda_http.authorizer", {"aws_lambda_powertools", "pydantic", "psycopg"}),
        ("tributary.edges.lambda_http.app", {"psycopg", "numpy", "onnxruntime", "boto3", "tributary.edges.lambda_http.page"}),
    ],
)
def test_import_is_light(module: str, absent: set[str]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert module in modules
    assert absent & set(modules) == set()
