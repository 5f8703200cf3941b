"""Vectors of texts that were just asked for are kept: questions repeat, and each costs a request over the wire."""

from __future__ import annotations

import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Protocol

from tributary.core.errors import BadSetting, ModelTimedOut
from tributary.core.ports import Embedder, SpaceDefinition, Vector


class Warmable(Embedder, Protocol):
    """An embedder that can be made ready before its first use."""

    @property
    def tests_only(self) -> bool: ...

    def warm(self) -> None: ...


class CachedEmbedder:
    """Gives what the embedder gives, and keeps the vectors of the `size` texts that were used last. Safe to share.

    A text that another thread is just asking for is waited for instead of being asked for twice. Failures are not kept. For
    embedders over a wire: one in this process has no request to save.
    """

    def __init__(self, embedder: Warmable, size: int) -> None:
        """Keeps none when `size` is 0; raises BadSetting when it is no number of texts."""
        if type(size) is not int or size < 0:
            raise BadSetting(f"TRIBUTARY_EMBEDDER_CACHE: must be a whole number, 0 or more (it is {size!r})")
        self._embedder = embedder
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, array[float]] = OrderedDict()
        self._asked: dict[str, Future[array[float] | None]] = {}
        """Texts that a thread is just asking for; None comes when it got no answer."""

    @property
    def tests_only(self) -> bool:
        return self._embedder.tests_only

    @property
    def space(self) -> SpaceDefinition:
        return self._embedder.space

    def warm(self) -> None:
        """Makes the embedder ready; raises what it raises."""
        self._embedder.warm()

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        """Returns one vector a text, in order, which is the caller's own; raises what the embedder raises."""
        if self._size == 0:
            return self._embedder.embed(texts, timeout_s=timeout_s)
        until = None if timeout_s is None else time.monotonic() + timeout_s
        found: dict[str, array[float]] = {}
        while missing := [text for text in dict.fromkeys(texts) if text not in found]:
            mine, others = self._claim(missing, found)
            if mine:
                found.update(self._ask(mine, until))
            for text, pending in others.items():
                if (vector := _waited_for(pending, until)) is not None:
                    found[text] = vector
        return [found[text].tolist() for text in texts]

    def _claim(
        self, texts: Sequence[str], found: dict[str, array[float]]
    ) -> tuple[dict[str, Future[array[float] | None]], dict[str, Future[array[float] | None]]]:
        """Puts what is kept into `found`; returns the texts that the caller must ask for, and those that others ask for."""
        mine: dict[str, Future[array[float] | None]] = {}
        others: dict[str, Future[array[float] | None]] = {}
        with self._lock:
            for text in texts:
                if (kept := self._kept.get(text)) is not None:
                    self._kept.move_to_end(text)
                    found[text] = kept
                elif (pending := self._asked.get(text)) is not None:
                    others[text] = pending
                else:
                    mine[text] = self._asked[text] = Future()
        return mine, others

    def _ask(self, mine: dict[str, Future[array[float] | None]], until: float | None) -> dict[str, array[float]]:
        """Asks for the texts that were claimed, keeps their vectors, and tells those who wait, whatever happens."""
        made: dict[str, array[float]] = {}
        try:
            vectors = self._embedder.embed(list(mine), timeout_s=_left(until))
            made = {text: array("d", vector) for text, vector in zip(mine, vectors, strict=True)}
        finally:
            with self._lock:
                self._kept.update(made)
                while len(self._kept) > self._size:
                    self._kept.popitem(last=False)
                for text in mine:
                    del self._asked[text]
            for text, pending in mine.items():
                pending.set_result(made.get(text))
        return made


def _waited_for(pending: Future[array[float] | None], until: float | None) -> array[float] | None:
    try:
        return pending.result(_left(until))
    except FutureTimeout:
        raise ModelTimedOut("another request for the same text was not answered in time") from None


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())
