"""The tribe's memory as an agent holds it."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Literal, TypeVar

import httpx

from tributary.client import calls
from tributary.client.blocking import BlockingDriver
from tributary.client.calls import Call, LessonDetail, Page, Require
from tributary.client.conversation import converse
from tributary.client.errors import BadReply
from tributary.client.hits import Hit, Hits
from tributary.client.place import find_place
from tributary.client.values import Lesson, Moment, broken, shown_moment
from tributary.contract.models import Evidence, HealthReply, Kind, LearnReply, ReinforceReply, Source, Status

Result = TypeVar("Result")


class Memory:
    """One tribe's shared memory, reached over HTTP as one agent.

    Without arguments it goes to TRIBUTARY_URL with TRIBUTARY_TOKEN, read now, else to the local server that `tributary serve`
    runs. Threads may share one. Every call raises only the errors of `tributary.client.errors`.

    `timeout_s` bounds a whole call, all its tries together. `transport`, `clock`, `sleep` and `jitter` are there for tests.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if not 0 < timeout_s < float("inf"):
            raise broken("timeout_s", "must be a number of seconds above zero")
        self._place = find_place(url, token, os.environ if environment is None else environment)
        self._timeout_s = timeout_s
        self._clock = clock
        self._jitter = jitter
        self._driver = BlockingDriver(self._place, transport=transport, clock=clock, sleep=sleep)

    @property
    def url(self) -> str:
        """The server's address."""
        return self._place.url

    def learn(  # noqa: PLR0913
        self,
        text: str,
        *,
        situation: str,
        source: Source,
        kind: Kind = "gotcha",
        subject: str | None = None,
        tags: Mapping[str, str] | None = None,
        evidence: Iterable[Evidence | Mapping[str, object]] = (),
        rationale: str | None = None,
        confidence: float = 0.7,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        keep_until: datetime | None = None,
        deadline_s: float | None = None,
        idempotency_key: str | None = None,
    ) -> LearnReply:
        """Hands a lesson to the tribe and returns what became of it.

        `situation` says when the lesson applies, `source` how you know, as in `observed("run:88")`. The outcome may be
        `disputed`, `quarantined` or, past `deadline_s`, `pending`: then it is kept, but not believed yet. A key is made for
        each call, so that a lost reply is no second lesson; give your own to be safe across restarts as well.
        """
        call = calls.learn(
            text,
            situation=situation,
            source=source,
            kind=kind,
            subject=subject,
            tags=tags,
            evidence=evidence,
            rationale=rationale,
            confidence=confidence,
            valid_from=valid_from,
            valid_until=valid_until,
            keep_until=keep_until,
            deadline_s=deadline_s,
            idempotency_key=_key(idempotency_key),
        )
        return self._run(call)

    def reinforce(self, lesson: str | Lesson | Hit, *, idempotency_key: str | None = None) -> ReinforceReply:
        """Confirms that a lesson held; each agent other than its author counts once."""
        return self._run(calls.reinforce(lesson, idempotency_key=_key(idempotency_key)))

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        kinds: Sequence[Kind] = (),
        subject: str | None = None,
        tags: Mapping[str, str] | None = None,
        min_confidence: float = 0.0,
        as_of: Moment | None = None,
        at_least: int | None = None,
        include_stale: bool = False,
        require: Require = "any",
    ) -> Hits:
        """Returns what the tribe believes about `query`, best first, with the receipt of the search.

        `as_of` asks for the belief at a tick or a time. `at_least` is the tick of an earlier reply whose effect must be
        seen. `require="vector"` refuses an answer that was found by words alone.
        """
        call = calls.recall(
            query,
            limit=limit,
            kinds=kinds,
            subject=subject,
            tags=tags,
            min_confidence=min_confidence,
            as_of=as_of,
            at_least=at_least,
            include_stale=include_stale,
            require=require,
        )
        return self._run(call)

    def as_of(self, when: Moment) -> View:
        """Returns the memory as it was believed at `when`: a tick, or a time with offset. It can only be read."""
        return View(self, when)

    def lessons(
        self, *, status: Status | Literal["any"] | None = None, page_size: int = 50, as_of: Moment | None = None
    ) -> Iterator[Lesson]:
        """Yields the tribe's lessons, newest first: believed ones, or those of `status`. Pages are fetched as needed."""
        for page in self.pages(status=status, page_size=page_size, as_of=as_of):
            yield from page.lessons

    def pages(
        self, *, status: Status | Literal["any"] | None = None, page_size: int = 50, as_of: Moment | None = None
    ) -> Iterator[Page]:
        """Yields the same lessons as `lessons`, a page at a time, each with its receipt."""
        before: str | None = None
        while True:
            page = self._run(calls.lessons(status=status, page_size=page_size, before=before, as_of=as_of))
            if page.next is not None and page.next == before:
                raise BadReply("the server's next page is the page before")
            yield page
            before = page.next
            if before is None:
                return

    def lesson(self, lesson: str | Lesson | Hit, *, as_of: Moment | None = None) -> LessonDetail:
        """Returns one lesson as it stands, or stood, with what speaks against it."""
        return self._run(calls.lesson(lesson, as_of=as_of))

    def health(self) -> HealthReply:
        """Returns the server's version when it can reach its database; raises Unavailable otherwise. Asks once."""
        return self._run(calls.health())

    def close(self) -> None:
        """Closes the connections; calls after it fail."""
        self._driver.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memory at {self._place.url}>"

    def _run(self, call: Call[Result]) -> Result:
        return self._driver.run(converse(call, self._place, budget_s=self._timeout_s, clock=self._clock, jitter=self._jitter))


class View:
    """A memory as it was believed at one moment. It shares the connections of the memory that it is a view of."""

    def __init__(self, memory: Memory, when: Moment) -> None:
        shown_moment(when)
        self._memory = memory
        self.when = when

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        kinds: Sequence[Kind] = (),
        subject: str | None = None,
        tags: Mapping[str, str] | None = None,
        min_confidence: float = 0.0,
        include_stale: bool = False,
        require: Require = "any",
    ) -> Hits:
        """Returns what the tribe believed then about `query`; the receipt carries the tick."""
        return self._memory.recall(
            query,
            limit=limit,
            kinds=kinds,
            subject=subject,
            tags=tags,
            min_confidence=min_confidence,
            as_of=self.when,
            include_stale=include_stale,
            require=require,
        )

    def lessons(self, *, status: Status | Literal["any"] | None = None, page_size: int = 50) -> Iterator[Lesson]:
        """Yields the lessons of then, newest first."""
        return self._memory.lessons(status=status, page_size=page_size, as_of=self.when)

    def lesson(self, lesson: str | Lesson | Hit) -> LessonDetail:
        """Returns one lesson as it stood then."""
        return self._memory.lesson(lesson, as_of=self.when)

    def __repr__(self) -> str:
        return f"<Memory at {self._memory.url} as of {self.when}>"


def _key(given: str | None) -> str:
    return f"sdk-{uuid.uuid4().hex}" if given is None else given
