"""A proxy in front of a gateway that notes what is asked and falsifies what it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tributary.edges.lambda_http.routing import find


@dataclass(frozen=True, kw_only=True)
class Passed:
    """A request and its answer. `operation` is that of the route, None when no route has it."""

    operation: str | None
    path: str
    asked: Any
    status: int
    answer: Any
    headers: Mapping[str, str]


Falsify = Callable[[Passed], Passed | None]
"""Returns another answer, or None to let it pass."""


@dataclass
class Proxy:
    url: str
    asked: list[str | None] = field(default_factory=list)
    """Operations, in the order in which they were asked for."""
    before: Callable[[str | None, Any], Any] = lambda _, body: body
    """Changes the body of a request before it goes on."""
    after: Falsify = lambda _: None
    falsified: int = 0

    def forget(self) -> None:
        self.asked.clear()
        self.before = lambda _, body: body
        self.after = lambda _: None
        self.falsified = 0


@contextmanager
def falsifying(gateway: str) -> Iterator[Proxy]:
    """Serves the gateway at another address while the block runs."""
    with httpx.Client(base_url=gateway, trust_env=False, timeout=60) as client:

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  (the base class's name)

            def _pass(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length") or 0))
                match = find(self.command, self.path.partition("?")[0])
                operation = match.route.operation if match else None
                proxy.asked.append(operation)
                is_json = bool(content) and "json" in self.headers.get("content-type", "")
                asked = proxy.before(operation, json.loads(content) if is_json else None)
                own = ("host", "content-length", "connection", "accept-encoding")
                headers = {name: value for name, value in self.headers.items() if name.lower() not in own}
                body = json.dumps(asked).encode() if is_json else content or None
                reply = client.request(self.command, self.path, headers=headers, content=body)
                self._send(operation, asked, reply)

            def _send(self, operation: str | None, asked: Any, reply: httpx.Response) -> None:
                answer = reply.json() if "json" in reply.headers.get("content-type", "") else reply.text
                passed = Passed(
                    operation=operation,
                    path=self.path,
                    asked=asked,
                    status=reply.status_code,
                    answer=answer,
                    headers={name: value for name, value in reply.headers.items() if name != "content-length"},
                )
                changed = proxy.after(replace(passed, answer=json.loads(json.dumps(answer))))
                proxy.falsified += changed is not None
                passed = changed or passed
                content = passed.answer.encode() if isinstance(passed.answer, str) else json.dumps(passed.answer).encode()
                self.send_response(passed.status)
                for name, value in passed.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_OPTIONS = _pass  # noqa: N815  (names that the base class looks for)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        proxy = Proxy(url=f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
