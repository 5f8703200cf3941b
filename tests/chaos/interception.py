"""A relay that does something, once, around the statement that it waits for, and cuts the connection that it heard it on."""

from __future__ import annotations

import contextlib
import re
import select
import socket
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from tests.wire import Relay
from tributary.store import statement

READY_FOR_QUERY = b"Z\0\0\0\5I"
"""The end of an answer to an autocommitted statement: what it did is committed."""


class When(StrEnum):
    BEFORE_IT_IS_SENT_ON = "before it is sent on"
    ONCE_IT_IS_ANSWERED = "once it is answered, before the answer is sent on"


class Interceptor(Relay):
    """Calls `act` the first time that it hears the named statement of `learn.sql`, and cuts that connection.

    Nobody is let in after that, unless the relay is `lasting`.
    """

    def __init__(
        self, folder: Path, target: str, *, name: str, when: When, act: Callable[[], None], lasting: bool = False
    ) -> None:
        called = re.search(r"tributary\.\w+\(", statement("learn", name))
        assert called is not None
        self._awaited = called.group().encode()
        self._when = when
        self._act = act
        self._lasting = lasting
        self.acted = False
        super().__init__(folder, target)

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        said = answer = b""
        heard = False
        with client, server, contextlib.suppress(OSError, ValueError):
            while True:
                ready, _, _ = select.select([client, server], [], [], 1)
                for one in ready:
                    data = one.recv(65536)
                    if not data:
                        return
                    if one is client:
                        said = (said + data)[-65536:]
                        heard = heard or (not self.acted and self._awaited in said)
                        if heard and self._when is When.BEFORE_IT_IS_SENT_ON:
                            self._end()
                            return
                        server.sendall(data)
                    elif heard:
                        answer += data
                        if answer.endswith(READY_FOR_QUERY):
                            self._end()
                            return
                    else:
                        client.sendall(data)

    def _end(self) -> None:
        self.acted = True
        if not self._lasting:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
        self._act()
