"""Tells by a message in an Amazon SQS queue, which wakes the function that settles."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Protocol, cast
from uuid import UUID

from tributary.queues.message import PendingMessage

WAIT_S = 0.8
"""Whoever tells waits no longer, whatever the network does: making the client, a look-up of its name and a handshake included."""
_CONNECT_S = 0.4
_READ_S = 0.6
MOST_AT_ONCE = 16
"""Messages that are being sent; when so many hang, no further one is begun."""


class Client(Protocol):
    """The part of boto3's SQS client that is used here."""

    def send_message(self, *, QueueUrl: str, MessageBody: str) -> object: ...  # noqa: N803  (the library's names)


class SqsNotice:
    """A `PendingNotice` over SQS. Thread-safe. Its library is loaded, and its client made, at the first use."""

    def __init__(self, url: str, *, region: str, cell: str | None = None, make: Callable[[str], Client] | None = None) -> None:
        self._url = url
        self._region = region
        self._cell = cell
        self._make = make or _client
        self._lock = threading.Lock()
        self._sending = threading.Semaphore(MOST_AT_ONCE)

    def prepare(self) -> None:
        """Loads the library and makes the client, beside whatever the process does; a failure is told by `tell`."""

        def run() -> None:
            try:
                self._sender()
            except Exception:
                return

        threading.Thread(target=run, name="pending-notice", daemon=True).start()

    def tell(self, tribe_id: UUID) -> None:
        """Sends one message; raises what the library does, and TimeoutError when that takes too long: it may still arrive."""
        if not self._sending.acquire(blocking=False):
            raise TimeoutError(f"{MOST_AT_ONCE} earlier messages hang")
        ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

        def run() -> None:
            try:
                message = PendingMessage(tribe_id=tribe_id, cell=self._cell)
                self._sender().send_message(QueueUrl=self._url, MessageBody=message.body())
                ended.put(None)
            except BaseException as error:  # raised again where it is waited for
                ended.put(error)
            finally:
                self._sending.release()

        threading.Thread(target=run, name="pending-notice", daemon=True).start()
        try:
            error = ended.get(timeout=WAIT_S)
        except queue.Empty:
            raise TimeoutError(f"the queue did not answer within {WAIT_S:g} s") from None
        if error is not None:
            raise error

    def _sender(self) -> Client:
        with self._lock:
            return self._client

    @cached_property
    def _client(self) -> Client:
        return self._make(self._region)


def _client(region: str) -> Client:
    import boto3
    from botocore.config import Config

    config = Config(connect_timeout=_CONNECT_S, read_timeout=_READ_S, retries={"total_max_attempts": 1, "mode": "standard"})
    # a session of its own: the default one is no thread's to share while a client is made
    return cast(Client, boto3.session.Session().client("sqs", region_name=region, config=config))
