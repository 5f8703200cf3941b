"""Made from driver.py by `make async-client`: change that one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import httpx

from tributary.client.aws import SigV4
from tributary.client.conversation import Result, Send, Steps, Wait
from tributary.client.driver import _CONNECT_S, _reason, _refused_for_good
from tributary.client.errors import BadReply, NotConfigured
from tributary.client.place import Place, is_loopback
from tributary.client.replies import Answer, NoAnswer
from tributary.client.tracing import trace_headers
from tributary.contract import limits


class AsyncSleep(Protocol):
    """Waits for so many seconds."""

    async def __call__(self, seconds: float, /) -> None: ...


class AsyncDriver:
    """Carries out conversations on one pool of connections. Tasks of one event loop may share it."""

    def __init__(
        self,
        place: Place,
        *,
        transport: httpx.AsyncBaseTransport | None,
        clock: Callable[[], float],
        sleep: AsyncSleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        try:
            self._http = httpx.AsyncClient(
                transport=transport,
                auth=SigV4(place.signing) if place.signing else None,
                trust_env=not is_loopback(place.url),  # a proxy of the environment cannot reach this computer's own server
                follow_redirects=False,  # it would carry the token along
            )
        except (ImportError, ValueError) as error:
            raise NotConfigured(f"the proxy settings of the environment do not work: {error}") from error

    async def run(self, steps: Steps[Result]) -> Result:
        """Returns what the conversation comes to, or raises its error."""
        try:
            step = next(steps)
            while True:
                if isinstance(step, Wait):
                    await self._sleep(step.seconds)
                    step = steps.send(None)
                else:
                    step = steps.send(await self._send(step))
        except StopIteration as done:
            result: Result = done.value
            return result

    async def close(self) -> None:
        await self._http.aclose()

    async def _send(self, step: Send) -> Answer | NoAnswer:
        end = self._clock() + step.timeout_s
        timeout = httpx.Timeout(step.timeout_s, connect=min(step.timeout_s, _CONNECT_S))
        try:
            async with self._http.stream(
                step.method,
                step.url,
                headers={**step.headers, **trace_headers()},
                content=step.body,
                timeout=timeout,
                auth=None if step.elsewhere else httpx.USE_CLIENT_DEFAULT,
            ) as reply:
                body = await self._read(reply, end)
        except httpx.DecodingError as error:
            raise BadReply("the server's reply cannot be decoded; is the address right?") from error
        except httpx.TimeoutException:
            return NoAnswer(reason="it took too long")
        except httpx.RequestError as error:
            return NoAnswer(reason=_reason(error), lasting=_refused_for_good(error))
        if body is None:
            return NoAnswer(reason="it took too long")
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return Answer(status=reply.status_code, headers=headers, body=body)

    async def _read(self, reply: httpx.Response, end: float) -> bytes | None:
        """Returns the body, or None when it comes too slowly; raises BadReply when it is larger than any reply may be."""
        body = bytearray()
        async for chunk in reply.aiter_bytes():
            body += chunk
            if len(body) > limits.REQUEST_BYTES:
                raise BadReply(f"the server's reply is larger than {limits.REQUEST_BYTES} bytes; is the address right?")
            if self._clock() > end:
                return None
        return bytes(body)
