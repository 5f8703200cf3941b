"""One app, many threads: no request is ever taken for another one."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.contract.samples import UNKNOWN_LESSON, Context, event_of
from tests.contract.stand_in import READER, WRITER, StandIn
from tributary.edges.lambda_http.app import App

READ_BY_THE_RESOLVER = ["requestContext", "rawPath"]


class Held(dict[str, Any]):
    """An event that stops whoever first looks at `key` until it is let go."""

    def __init__(self, event: dict[str, Any], key: str) -> None:
        super().__init__(event)
        self.key = key
        self.reached, self.let_go = threading.Event(), threading.Event()

    def __getitem__(self, key: str) -> Any:
        if key == self.key and not self.reached.is_set():
            self.reached.set()
            self.let_go.wait(30)
        return super().__getitem__(key)


@pytest.mark.parametrize("key", READ_BY_THE_RESOLVER)
def test_request_that_is_held_up_while_another_one_passes_stays_itself(key: str) -> None:
    memory = StandIn()
    app = App("recall", lambda: memory)
    held = Held(event_of("GET", f"/v1/lessons/{UNKNOWN_LESSON}", principal=READER), key)
    other = event_of("POST", "/v1/recall", principal=WRITER, body=b'{"query": "q"}')
    with ThreadPoolExecutor() as threads:
        first = threads.submit(app, held, Context())
        assert held.reached.wait(30)
        second = threads.submit(app, other, Context()).result()
        held.let_go.set()
        assert json.loads(first.result()["body"])["code"] == "not_found"
    assert second["statusCode"] == 200
    assert [call["principal"] for call in memory.calls_of("lesson")] == [READER]
    assert [call["principal"] for call in memory.calls_of("recall")] == [WRITER]
