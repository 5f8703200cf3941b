"""The tribe's memory as an agent holds it."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

import httpx

from tributary.client import activity_calls, calls, difference, distilling, history, responding
from tributary.client import evidence as evidence_files
from tributary.client.actions import Actions
from tributary.client.aws import Aws
from tributary.client.calls import Attempt, Call, LessonDetail, Page, Require
from tributary.client.conversation import converse
from tributary.client.curation import Curation
from tributary.client.difference import Diff
from tributary.client.driver import Driver, Sleep
from tributary.client.errors import BadReply, InvalidRequest, broken
from tributary.client.feed import Feed
from tributary.client.history import Change, Changes, Timeline
from tributary.client.hits import Hit, Hits, receipt_of
from tributary.client.ids import LessonRef
from tributary.client.keys import key_or_new
from tributary.client.once import Once
from tributary.client.place import find_place
from tributary.client.receipts import Receipt
from tributary.client.responding import Responded
from tributary.client.values import Lesson, LessonDraft, Moment, observed
from tributary.client.view import View
from tributary.contract.activity import ActivityReply, EvaluationReply
from tributary.contract.costs import By, CostsReply
from tributary.contract.curation import RetireCause, RetiredReply
from tributary.contract.distilling import DistillReply, ProposedLessonReply
from tributary.contract.limits import DISTILLED_LESSONS
from tributary.contract.models import Evidence, HealthReply, How, Kind, LearnReply, ReinforceReply, Source, Status, VerifyReply
from tributary.contract.status import MeReply, StatsReply, StatusReply

Result = TypeVar("Result")


class Memory:
    """One tribe's shared memory, reached over HTTP as one agent.

    Without arguments it goes to TRIBUTARY_URL with TRIBUTARY_TOKEN, read now, else to the local server that `tributary serve`
    runs. With `aws`, or TRIBUTARY_AUTH=iam, requests are signed with AWS credentials instead of showing a token.
    Threads may share one. Every call raises only the errors of `tributary.client.errors`.

    `timeout_s` bounds a whole call, all its tries together. `transport`, `clock`, `sleep` and `jitter` are there for tests.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        aws: Aws | None = None,
        timeout_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if not 0 < timeout_s < float("inf"):
            raise broken("timeout_s", "must be a number of seconds above zero")
        self._place = find_place(url, token, os.environ if environment is None else environment, aws)
        self._timeout_s = timeout_s
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._driver = Driver(self._place, transport=transport, clock=clock, sleep=sleep)
        self.curation = Curation(self._run)
        """What curators look through and decide."""
        self.actions = Actions(self._run)
        """Side effects that happen once, step by step."""

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
        wait: bool = True,
        receipts: Iterable[Receipt] = (),
        replaces: Iterable[LessonRef] = (),
        idempotency_key: str | None = None,
    ) -> LearnReply:
        """Hands a lesson to the tribe and returns what became of it.

        `situation` says when the lesson applies, `source` how you know, as in `observed("run:88")`, and `receipts` by which
        recalls you came to it, as in `[hits.receipt]`: they are kept with the decision. `replaces` names up to 8 believed
        lessons of yours (a curator's: any) whose place it takes, whatever a judge says of them. The outcome may be
        `disputed`, `quarantined` or, past `deadline_s` or at once without `wait`, `pending`: then it is kept, but not believed
        yet. Where `deadline_s` is too short for a model to screen it, it is `quarantined` until it was screened. A key is made
        for each call, so that a lost reply is no second lesson; give your own to be safe across restarts too.
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
            wait=wait,
            receipts=receipts,
            replaces=replaces,
            idempotency_key=key_or_new(idempotency_key),
        )
        return self._run(call)

    def learn_all(
        self,
        lessons: Iterable[LessonDraft | ProposedLessonReply | Mapping[str, object]],
        *,
        deadline_s: float | None = None,
        wait: bool = True,
        idempotency_key: str | None = None,
    ) -> list[Attempt]:
        """Hands up to 100 lessons to the tribe in their order and returns what became of each: its result or its error.

        A lesson is a `LessonDraft`, one that `distill` proposed, or a mapping of the fields that `learn` takes; a bad one does
        not sink the others. They share the deadline. Raises what concerns the batch as a whole.
        """
        batch = calls.drafts(lessons)
        errors = [one for one in batch if isinstance(one, InvalidRequest)]
        if len(errors) == len(batch):
            return [Attempt(error=one) for one in errors]
        key = key_or_new(idempotency_key)
        return self._run(calls.learn_all(batch, deadline_s=deadline_s, wait=wait, idempotency_key=key))

    def distill(
        self,
        transcript: str | Iterable[distilling.GivenTurn],
        *,
        ref: str | None = None,
        most: int = DISTILLED_LESSONS,
        deadline_s: float | None = None,
    ) -> DistillReply:
        """Has a model find what is worth remembering in an agent's transcript, and learns none of it: `learn_all` takes it.

        `transcript` is a text, or turns such as `{"role": "tool", "text": "429 Too Many Requests"}`, oldest first; `ref` says
        what it is of, as `run:88`. Each lesson quotes the turns that it rests on. Asks once, and raises NotSetUp when the
        server has no model for it.
        """
        return self._run(distilling.distill(transcript, ref=ref, most=most, deadline_s=deadline_s))

    def respond(
        self,
        message: str,
        *,
        conversation: Iterable[responding.GivenWord] = (),
        incident: str | None = None,
        deadline_s: float | None = None,
    ) -> Responded:
        """Has the incident agent take a turn: it recalls, looks, changes what it may, learns, and says what it found.

        `conversation` is what was said before, such as `{"role": "user", "text": "db-7 is down"}`; `incident` names the
        incident, in which a change is made once. Asks once, and raises NotSetUp when the server has no model for it.
        """
        call = responding.respond(message, conversation=conversation, incident=incident, deadline_s=deadline_s)
        return self._run(call)

    def contest(
        self,
        lesson: LessonRef,
        text: str,
        *,
        source: Source,
        situation: str | None = None,
        evidence: Iterable[Evidence | Mapping[str, object]] = (),
        rationale: str | None = None,
        confidence: float = 0.7,
        deadline_s: float | None = None,
        idempotency_key: str | None = None,
    ) -> LearnReply:
        """Says what holds instead of a believed lesson, or why it does not hold, whatever a judge would say of the two.

        The lesson's author, a curator, or a source that outranks it replaces it; else the two are disputed. What is left out
        is taken from the lesson.
        """
        call = calls.contest(
            lesson,
            text,
            source=source,
            situation=situation,
            evidence=evidence,
            rationale=rationale,
            confidence=confidence,
            deadline_s=deadline_s,
            idempotency_key=key_or_new(idempotency_key),
        )
        return self._run(call)

    def reinforce(
        self, lesson: LessonRef, receipt: Receipt | None = None, *, idempotency_key: str | None = None
    ) -> ReinforceReply:
        """Confirms that a lesson held; each agent other than its author counts once.

        `receipt` is that of the recall that served it, as in `hits.receipt`: the confirmation then names it.
        """
        return self._run(calls.reinforce(lesson, receipt=receipt, idempotency_key=key_or_new(idempotency_key)))

    def feedback(
        self,
        hit: Hit,
        *,
        worked: bool = True,
        note: str | None = None,
        source: Source | None = None,
        idempotency_key: str | None = None,
    ) -> ReinforceReply | LearnReply:
        """Says whether a recalled lesson worked: confirms it with the receipt that served it, or contests it with `note`.

        A note says what holds instead, so it is required when the lesson did not work, and kept nowhere when it did.
        `source` says how you know; by default you saw it happen, with what that recall served.
        """
        if not isinstance(hit, Hit):
            raise broken("hit", "must be a hit of a recall; reinforce() and contest() take ids")
        receipt = receipt_of(hit)
        if worked:
            if note is not None:
                raise broken("note", "must be left out when the lesson worked: a confirmation keeps no words")
            return self.reinforce(hit, receipt, idempotency_key=idempotency_key)
        if note is None or not note.strip():
            raise broken("note", "must say what holds instead, or why the lesson did not work")
        known = source or observed(receipt.id if receipt else None)
        return self.contest(hit, note, source=known, idempotency_key=idempotency_key)

    def retire(self, lesson: LessonRef, cause: RetireCause = "outdated", *, idempotency_key: str | None = None) -> RetiredReply:
        """Ends a lesson, by its author's word or a curator's; what a curator calls wrong is disputed when it comes again."""
        return self._run(calls.retire(lesson, cause=cause, idempotency_key=key_or_new(idempotency_key)))

    def once(
        self,
        key: str,
        function: Callable[[], Any],
        *,
        description: str | None = None,
        lease_s: int = 60,
        wait_s: float = 30.0,
    ) -> Any:
        """Has `function` called once in the tribe for this key, ever, and returns its result, a JSON value, to all who ask.

        The key says what is to happen once, as `reboot:db-7:inc-12`: whoever means the same makes the same key. While another
        one is at it, waits up to `wait_s` seconds, then raises Busy. The lease is renewed while `function` runs; when this
        process is killed it runs out after `lease_s` seconds, and the action is in doubt: this and every later call raises
        InDoubt until a curator has reconciled it. So it is when `function` raises anything but `NotDone`, by which it says that
        nothing happened; then the action may be begun again. A result that cannot be kept raises InvalidRequest, and the action
        is done without it.
        """
        once = Once(self.actions, clock=self._clock, sleep=self._sleep, jitter=self._jitter)
        return once.carry_out(key, function, description=description, lease_s=lease_s, wait_s=wait_s)

    def recall(  # noqa: PLR0913
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
            sources=sources,
            agent=agent,
            subject=subject,
            tags=tags,
            min_confidence=min_confidence,
            as_of=as_of,
            at_least=at_least,
            include_stale=include_stale,
            require=require,
        )
        return self._run(call)

    def verify(self, receipt: Receipt | Mapping[str, object], *, query: str) -> VerifyReply:
        """Has a receipt checked against what the tribe believed at its tick: it agrees, diverges, or that is unknown.

        `receipt` is that of a recall, or its document as `receipt.document()` gave it; `query` the question that it answered.
        """
        return self._run(calls.verify(receipt, query=query))

    def as_of(self, when: Moment) -> View:
        """Returns the memory as it was believed at `when`: a tick, or a time with offset. It can only be read."""
        return View(self, when)

    def lessons(
        self,
        *,
        status: Status | Literal["any"] | None = None,
        page_size: int = 50,
        as_of: Moment | None = None,
        ref: str | None = None,
        ref_prefix: str | None = None,
        mine: bool = False,
        kind: Kind | None = None,
        subject: str | None = None,
        tags: Mapping[str, str] | None = None,
        author: str | None = None,
    ) -> Iterator[Lesson]:
        """Yields the tribe's lessons, newest first: believed ones, or those of `status`. Pages are fetched as needed.

        `ref` asks for those whose source has it, `ref_prefix` for those whose `ref` begins so, as `runbook.md#`; `mine` for your
        own, with those that a screen holds back; `tags` for those that have all of them; `author` for what an agent taught, by
        its id or its name.
        """
        for page in self.pages(
            status=status,
            page_size=page_size,
            as_of=as_of,
            ref=ref,
            ref_prefix=ref_prefix,
            mine=mine,
            kind=kind,
            subject=subject,
            tags=tags,
            author=author,
        ):
            yield from page.lessons

    def pages(  # noqa: PLR0913
        self,
        *,
        status: Status | Literal["any"] | None = None,
        page_size: int = 50,
        as_of: Moment | None = None,
        ref: str | None = None,
        ref_prefix: str | None = None,
        mine: bool = False,
        kind: Kind | None = None,
        subject: str | None = None,
        tags: Mapping[str, str] | None = None,
        author: str | None = None,
        before: str | None = None,
    ) -> Iterator[Page]:
        """Yields the same lessons as `lessons`, a page at a time, each with its receipt; from the page after `before` on."""
        while True:
            call = calls.lessons(
                status=status,
                page_size=page_size,
                before=before,
                as_of=as_of,
                ref=ref,
                ref_prefix=ref_prefix,
                mine=mine,
                kind=kind,
                subject=subject,
                tags=tags,
                author=author,
            )
            page = self._run(call)
            if page.next is not None and page.next == before:
                raise BadReply("the server's next page is the page before")
            yield page
            before = page.next
            if before is None:
                return

    def lesson(self, lesson: LessonRef, *, as_of: Moment | None = None) -> LessonDetail:
        """Returns one lesson as it stands, or stood, with what speaks against it."""
        return self._run(calls.lesson(lesson, as_of=as_of))

    def timeline(self, lesson: LessonRef, *, page_size: int = 100, before: int | None = None) -> Timeline:
        """Returns what happened to a lesson, oldest first, and the lessons that it replaced and that replaced it.

        A long history comes in pages, the newest first: `before=page.next` gives the one of earlier events.
        """
        return self._run(history.timeline(lesson, page_size=page_size, before=before))

    def changes(self, after: int = 0, *, follow: bool = True, page_size: int = 100) -> Iterator[Change]:
        """Yields what changes in the tribe after the tick `after`, in order and without a gap, as it happens, for ever.

        With `follow=False` it ends at the present. While it follows, it outlives whatever may pass: a server that is away is
        asked again, less and less often. To go on later, ask after the tick before that of the last change you handled: a
        tick may hold several. `change_pages` tells where a page ends.
        """
        for page in self.change_pages(after, follow=follow, page_size=page_size):
            yield from page.changes

    def change_pages(self, after: int = 0, *, follow: bool = True, page_size: int = 100) -> Iterator[Changes]:
        """Yields the same changes as `changes`, some whole ticks at a time; `page.tick` is where to go on from."""
        feed = Feed(self._run, clock=self._clock, sleep=self._sleep, jitter=self._jitter, longest_s=self._timeout_s / 2)
        return feed.pages(after, follow=follow, page_size=page_size)

    def change_page(self, after: int = 0, *, page_size: int = 100, newest: bool = False, wait_s: float = 0.0) -> Changes:
        """Returns one page of the same changes: the first after the tick `after`, or, with `newest`, the last up to now.

        It holds whole ticks, after `page.after` and up to `page.tick`. When there is nothing, waits up to `wait_s` seconds, 20
        at most, for a tick, as far as the server lets anybody wait; the page may then be empty.
        """
        wait = int(min(wait_s, self._timeout_s / 2))
        return self._run(history.changes(after=after, page_size=page_size, newest=newest, wait_s=wait))

    def diff(self, from_: Moment = 0, to: Moment | None = None, *, page_size: int = 50, before: str | None = None) -> Diff:
        """Returns what the tribe believed at `to` (now, when left out) and not at `from_`, and the reverse, newest change first.

        A moment is a tick or a time with offset. The result is iterated, or taken by `pages()`, which say to which tick and
        instant the two were resolved, how many lessons began and ended to be believed, and where to go on: all pages are about
        the same two moments. What had expired or withered by a moment was not believed then. Raises InvalidRequest when `to` is
        before `from_`.
        """
        return Diff(self._run, lambda cursor: difference.diff(from_, to, page_size=page_size, before=cursor), before)

    def whoami(self) -> MeReply:
        """Returns the agent that this memory asks as: its name, its role, and its tribe."""
        return self._run(calls.me())

    def attach(self, file: Path | str | bytes, *, content_type: str | None = None, name: str | None = None) -> Evidence:
        """Hands a file, or bytes, of up to 10 MB to the tribe and returns it as evidence for a lesson.

        The same bytes again are not sent again. A file that no lesson refers to is removed after a day. `content_type` is guessed
        from the name when left out. Raises NotSetUp where the server keeps no files.
        """
        attached = evidence_files.attachment(file, content_type=content_type, name=name)
        reply = self._run(evidence_files.announce(attached))
        if reply.upload is not None:
            self._run(evidence_files.send(attached, reply.upload))
            evidence_files.settled(self._run(evidence_files.announce(attached)))
        return attached.as_evidence()

    def evidence(self, ref: Evidence | str) -> bytes:
        """Returns the bytes of a file of the tribe, by what `attach` or a lesson says; they are checked by the hash."""
        return self._run(evidence_files.fetch(ref))

    def stats(self) -> StatsReply:
        """Returns how the tribe stands and is used; what each agent called only to a curator."""
        return self._run(calls.stats())

    def status(self) -> StatusReply:
        """Returns what the server sees of all that a recall needs, and whether it has any path to find something by."""
        return self._run(calls.memory_status())

    def activity(self, *, hours: int = 24) -> ActivityReply:
        """Returns how busy the tribe was in the last `hours` hours, up to 31 days; calls of models only to a curator."""
        return self._run(activity_calls.activity(hours))

    def evaluations(self, *, limit: int = 20) -> list[EvaluationReply]:
        """Returns what evals found of the code and the models, newest run first, as far as the server's database keeps it."""
        return self._run(activity_calls.evaluations(limit)).runs

    def costs(self, *, since: date | None = None, until: date | None = None, by: By = "day") -> CostsReply:
        """Returns what calls of models cost the tribe between two days of UTC, both included; the last 30 when none is said.

        For curators.
        """
        return self._run(calls.costs(since, until, by))

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
