"""Lambda's Invoke API on loopback, in front of the real handlers in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.contract.deployed import Deployed
from tests.providers.server import Asked, ProviderServer, Reply

PATH = r"/2015-03-31/functions/(?P<name>[^/]+)/invocations"


@contextmanager
def lambda_api(functions: Mapping[str, Deployed]) -> Iterator[ProviderServer]:
    """Serves the functions by their names; what a handler raises is answered as Lambda answers it."""

    def invoke(asked: Asked) -> Reply:
        function = functions.get(asked.match["name"])
        if function is None:
            return refused(404, "ResourceNotFoundException")
        answer = function(asked.body)
        if isinstance(answer, dict) and "raised" in answer:
            return unhandled({"errorType": answer["raised"], "errorMessage": "hunter2", "stackTrace": []})
        return Reply(document=answer)

    with ProviderServer([("POST", PATH, invoke)]) as server:
        yield server


def refused(status: int, code: str) -> Reply:
    """What Lambda itself answers where it invokes nothing."""
    return Reply(status=status, document={"Type": "User", "Message": "hunter2"}, headers={"x-amzn-ErrorType": code})


def unhandled(document: dict[str, Any]) -> Reply:
    return Reply(document=document, headers={"X-Amz-Function-Error": "Unhandled"})
