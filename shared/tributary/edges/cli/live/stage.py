"""What the steps of a run share: the server, the agents, words that no other run has, and what was made so far."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from tributary.client import Memory, NotFound, observed
from tributary.client.place import is_loopback
from tributary.client.receipts import Receipt
from tributary.client.values import Lesson
from tributary.contract.models import LearnReply, LessonReply
from tributary.edges.cli.live.step import NotTried, Unexpected, equal

Found = TypeVar("Found")

_TIMEOUT_S = 60.0
_BETWEEN_LOOKS_S = 0.5
_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A reply as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    document: Any


@dataclass(frozen=True, kw_only=True)
class Member:
    """An agent of this run."""

    id: str
    name: str
    memory: Memory
    token: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Taught:
    """What became of a lesson, once it was settled. `tick` is one at which it stands so."""

    id: str
    outcome: str
    tick: int
    decision: str
    dispute: str | None


class Stage:
    """One run against one server. Opened clients are closed with it."""

    def __init__(self, url: str, curator_token: str, *, wait_s: float, origin: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.wait_s = wait_s
        self.origin = origin
        self.word = "".join(secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS) for _ in range(5))
        """Names all that this run makes."""
        # As the SDK does it: a proxy of the environment cannot reach this computer's own server.
        own = is_loopback(self.url)
        self.http = httpx.Client(base_url=self.url, timeout=_TIMEOUT_S, follow_redirects=False, trust_env=not own)
        self.curator = self.member("", "curator", curator_token)
        self.members: dict[str, Member] = {}
        self.names: list[str] = []
        """Names of the agents that were made, or may have been."""
        self.own_curator: str | None = None
        """The name of the curator, when it was made for this run: it is ended last, since it ends the rest."""
        self.lessons: list[str] = []
        self.taught: dict[str, Taught] = {}
        self.receipts: dict[str, Receipt] = {}
        self.ids: dict[str, str] = {}
        """Ids that a later step needs, by what they are of."""
        self.actions: dict[str, tuple[str, str]] = {}
        """Ids and leases of the actions that were begun."""
        self.warnings: list[str] = []
        self.version: str | None = None
        self.tick = 0
        """The latest tick that a reply to this run had: what was done then must be seen from now on."""
        self.began_at: int | None = None
        """The tribe's tick before the first lesson of this run."""

    def about(self, thing: str) -> str:
        """Returns the name of a thing that lessons of this run are about."""
        return f"{self.word}-{thing}"

    @property
    def source(self) -> str:
        """The reference that this run's lessons name as their source."""
        return f"verify-live:{self.word}"

    def made(self, lesson: LessonReply) -> bool:
        """Tells whether a lesson is of this run."""
        return lesson.source.ref == self.source or lesson.author in self.names

    def member(self, identity: str, name: str, token: str) -> Member:
        memory = Memory(self.url, token, timeout_s=_TIMEOUT_S, environment={})
        return Member(id=identity, name=name, memory=memory, token=token)

    def ask(
        self,
        method: str,
        path: str,
        *,
        by: Member | None = None,
        token: str | None = None,
        body: object = None,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        status: int = 200,
    ) -> Answer:
        """Sends one request as it is and returns the reply; raises Unexpected when its status is another one."""
        sent = dict(headers or {})
        shown = by.token if by is not None else token
        if shown is not None:
            sent["authorization"] = f"Bearer {shown}"
        content = raw if raw is not None else None if body is None else json.dumps(body).encode()
        if content is not None:
            sent["content-type"] = "application/json"
        try:
            reply = self.http.request(method, path, content=content, headers=sent)
        except httpx.HTTPError as error:
            raise Unexpected(f"HTTP {status} of {method} {path}", f"no answer ({type(error).__name__})") from error
        try:
            document = reply.json()
        except ValueError:
            document = None
        if reply.status_code != status:
            refused = 400 <= reply.status_code < 500
            raise Unexpected(f"HTTP {status} of {method} {path}", _status(reply.status_code, document), refused=refused)
        return Answer(status=reply.status_code, headers=reply.headers, document=document)

    def problem(self, answer: Answer, code: str) -> None:
        """Raises Unexpected unless a reply is a problem of that code, in problem+json."""
        equal("content type", "application/problem+json", answer.headers.get("content-type", "").partition(";")[0])
        equal("code", code, answer.document.get("code") if isinstance(answer.document, dict) else None)

    def teach(self, key: str, by: str, text: str, *, thing: str, idempotency_key: str | None = None) -> Taught:
        """Learns a lesson about a thing of this run and keeps what became of it under `key`."""
        learned = self.members[by].memory.learn(
            text,
            situation=f"working with {self.about(thing)}",
            subject=self.about(thing),
            source=observed(self.source),
            idempotency_key=idempotency_key,
        )
        return self.note(key, by, learned)

    def note(self, key: str, by: str, learned: LearnReply) -> Taught:
        """Keeps what became of a lesson, having waited for a pending one to be settled; raises Unexpected when it never is."""
        if learned.lesson is None:
            raise Unexpected("a lesson in the reply", "none")
        lesson = learned.lesson.id
        if lesson not in self.lessons:
            self.lessons.append(lesson)
        outcome: str = learned.outcome
        self.tick = max(self.tick, learned.tick)
        tick, dispute = learned.tick, learned.dispute
        if outcome == "pending":
            outcome, tick = self._settled(lesson, by)
        if outcome == "disputed" and dispute is None:
            dispute = next((one.id for one in self.members[by].memory.curation.disputes(lesson=lesson)), None)
        self.tick = max(self.tick, tick)
        found = Taught(id=lesson, outcome=outcome, tick=tick, decision=learned.decision, dispute=dispute)
        self.taught[key] = found
        return found

    def lesson(self, lesson: str, *, by: str = "reader") -> Lesson:
        """Returns a lesson as of the latest tick of this run, or later; raises Unexpected when it never comes to that."""

        def look() -> tuple[Lesson, Receipt]:
            found = self.members[by].memory.lesson(lesson)
            return found.lesson, found.receipt

        return self.current(look)

    def current(self, look: Callable[[], tuple[Found, Receipt]]) -> Found:
        """Looks until what is found is as of the latest tick of this run: a replica that is read may be behind for a moment."""
        end = time.monotonic() + self.wait_s
        while True:
            try:
                found, receipt = look()
                tick = receipt.searched[0].tick
                if tick >= self.tick:
                    return found
                behind = f"tick {tick}"
            except NotFound as error:
                behind = error.detail
            if time.monotonic() >= end:
                raise Unexpected(f"a reading as of tick {self.tick} or later", behind)
            time.sleep(_BETWEEN_LOOKS_S)

    def _settled(self, lesson: str, by: str) -> tuple[str, int]:
        """Returns how a pending lesson stands once it is settled, as an outcome, and the tick since which it does."""
        end = time.monotonic() + self.wait_s
        while True:
            found = self.lesson(lesson, by=by)
            if found.status != "pending":
                tick = found.activated.tick if found.activated else self.members[by].memory.stats().tick
                return {"active": "learned"}.get(found.status, found.status), tick
            if time.monotonic() >= end:
                raise Unexpected(f"lesson {lesson} settled within {self.wait_s:g} s", "it is pending still")
            time.sleep(_BETWEEN_LOOKS_S)

    def require_own_policy(self) -> None:
        """Raises NotTried where equals do not dispute each other by the tribe's policy."""
        if self.curator.memory.curation.policy().equals != "dispute":
            raise NotTried("by this tribe's policy the newest observation replaces its equal")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for one in (self.curator, *self.members.values()):
            one.memory.close()
        self.http.close()


def _status(status: int, document: object) -> str:
    if isinstance(document, dict) and isinstance(document.get("code"), str):
        return f"HTTP {status}, {document['code']}: {document.get('detail')}"
    return f"HTTP {status}"
