"""API Gateway with IAM authorization, on loopback: it checks each request's signature and says to the function who signed.

The signature is worked out anew from what came over the wire. Behind it is the code that Lambda runs, over an open memory.
"""

from __future__ import annotations

import hmac
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from tests.contract.samples import Context
from tests.sigv4 import ALGORITHM, canonical_request, signature
from tributary.contract.routes import ROUTES
from tributary.core.clock import utc_now
from tributary.core.ids import new_id
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.http_event import HttpRequest, to_event
from tributary.edges.lambda_http.port import Door
from tributary.edges.lambda_http.routing import find

REGION = "eu-central-1"
_SHOWN = re.compile(rf"{ALGORITHM} Credential=([^/]+)/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{{64}})")
_MUST_BE_SIGNED = {"host", "x-amz-date", "content-type", "idempotency-key", "x-amz-security-token"}
"""Where they come at all."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Whom AWS knows, and how requests of this caller are signed."""

    key_id: str
    secret: str = field(repr=False)
    arn: str
    session: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What the AWS tools of this caller read."""
        session = {"AWS_SESSION_TOKEN": self.session} if self.session else {}
        return {"AWS_ACCESS_KEY_ID": self.key_id, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": REGION, **session}


@dataclass(kw_only=True)
class IamGateway:
    """What came to the gateway. `fails` so many requests with 503 before it lets others through, once their signatures hold."""

    url: str = ""
    targets: list[str] = field(default_factory=list)
    """Path and query of the requests that were let in, as they were on the wire."""
    faults: list[str] = field(default_factory=list)
    """Why requests were not let in."""
    authorizations: list[str] = field(default_factory=list)
    fails: int = 0
    redirects_to: str | None = None


def fault_of(method: str, target: str, headers: Mapping[str, str], body: bytes, caller: Caller | None) -> str | None:
    """Returns what keeps a request from being one of `caller`; None when it is. Header names are in lower case."""
    shown = _SHOWN.fullmatch(headers.get("authorization", ""))
    if shown is None or caller is None or shown[1] != caller.key_id:
        return "nobody signed"
    _, scope, names, given = shown.groups()
    date = headers.get("x-amz-date", "")
    if scope != f"{date[:8]}/{REGION}/execute-api/aws4_request":
        return f"scope {scope}"
    at = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if abs(utc_now() - at) > timedelta(minutes=5):
        return f"date {date}"
    if headers.get("x-amz-security-token") != caller.session:
        return "session token"
    if missing := (_MUST_BE_SIGNED & headers.keys()) - set(names.split(";")):
        return f"not signed: {missing}"
    wanted = signature(canonical_request(method, target, headers, names, body), date=date, scope=scope, secret=caller.secret)
    return None if hmac.compare_digest(given, wanted) else "signature"


@contextmanager
def iam_gateway(memory: Door, callers: Callable[[], list[Caller]]) -> Iterator[IamGateway]:
    """Serves a memory to those callers, below the path `/pr%20od,1`, which has to be signed as it is sent."""
    seen = IamGateway()
    apps = {name: App(name, lambda: memory) for name in {route.function for route in ROUTES}}
    prefix = "/pr%20od,1"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  (the base class's name)

        def _serve(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", "0")))
            seen.authorizations.append(headers.get("authorization", ""))
            key_id = (_SHOWN.fullmatch(headers.get("authorization", "")) or [None, None])[1]
            caller = next((one for one in callers() if one.key_id == key_id), None)
            parts = urlsplit(self.path)
            match = find(self.command, unquote(parts.path.removeprefix(prefix)))
            fault = fault_of(self.command, self.path, headers, body, caller) if match is None or match.route.role else None
            if fault is not None:
                seen.faults.append(fault)
                self._answer(403, {}, json.dumps({"message": "Forbidden"}))
                return
            seen.targets.append(self.path)
            if seen.redirects_to is not None:
                self._answer(307, {"Location": seen.redirects_to}, "")
                return
            if seen.fails:
                seen.fails -= 1
                self._answer(503, {}, json.dumps({"message": "Service Unavailable"}))
                return
            request = HttpRequest(
                method=self.command,
                path=unquote(parts.path.removeprefix(prefix)),
                query_string=parts.query,
                headers=tuple(headers.items()),
                protocol=self.protocol_version,
                source_ip="127.0.0.1",
                body=body,
            )
            event = to_event(request, match, request_id=new_id().hex, at=utc_now())
            if caller is not None:
                event["requestContext"]["authorizer"] = {"iam": {"accountId": "123456789012", "userArn": caller.arn}}
            reply = apps[match.route.function if match else "recall"](event, Context())
            self._answer(reply["statusCode"], reply["headers"], reply.get("body") or "")

        def _answer(self, status: int, headers: Mapping[str, str], body: str) -> None:
            content = body.encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = _serve  # noqa: N815  (the base class's names)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        seen.url = f"http://127.0.0.1:{server.server_port}{prefix}"
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
