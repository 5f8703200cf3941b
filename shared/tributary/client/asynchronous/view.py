"""Made from view.py by `make async-client`: change that one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from tributary.client.calls import LessonDetail, Require
from tributary.client.hits import Hits
from tributary.client.ids import LessonRef
from tributary.client.values import Lesson, Moment, shown_moment
from tributary.contract.models import How, Kind, Status

if TYPE_CHECKING:
    from tributary.client.asynchronous.memory import AsyncMemory


class AsyncView:
    """A memory as it was believed at one moment. It shares the connections of the memory that it is a view of."""

    def __init__(self, memory: AsyncMemory, when: Moment) -> None:
        shown_moment(when)
        self._memory = memory
        self.when = when

    async def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        kinds: Sequence[Kind] = (),
        sources: Sequence[How] = (),
        agent: str | None = None,
        subject: str | None = None,
        tags: Mapping[str, str] | None = None,
        min_confidence: float = 0.0,
        include_stale: bool = False,
        require: Require = "any",
    ) -> Hits:
        """Returns what the tribe believed then about `query`; the receipt carries the tick."""
        return await self._memory.recall(
            query,
            limit=limit,
            kinds=kinds,
            sources=sources,
            agent=agent,
            subject=subject,
            tags=tags,
            min_confidence=min_confidence,
            as_of=self.when,
            include_stale=include_stale,
            require=require,
        )

    def lessons(self, *, status: Status | Literal["any"] | None = None, page_size: int = 50) -> AsyncIterator[Lesson]:
        """Yields the lessons of then, newest first."""
        return self._memory.lessons(status=status, page_size=page_size, as_of=self.when)

    async def lesson(self, lesson: LessonRef) -> LessonDetail:
        """Returns one lesson as it stood then."""
        return await self._memory.lesson(lesson, as_of=self.when)

    def __repr__(self) -> str:
        return f"<AsyncMemory at {self._memory.url} as of {self.when}>"
