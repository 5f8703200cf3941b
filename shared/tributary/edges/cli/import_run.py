"""An import at work: files are read, compared with what the tribe holds of them, and what is new or changed is learned."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tributary.contract.limits import BATCH_LESSONS, REPLACES
from tributary.core.lesson import Status
from tributary.edges.cli.import_report import GONE, REFUSED, RETIRED, Report
from tributary.transfer.documents import (
    START_CHARACTERS,
    STREAMED,
    ByteSource,
    Change,
    Compared,
    Comparison,
    Found,
    Held,
    Item,
    Piece,
    Refusal,
    Remark,
    Unreadable,
    digest_of,
    file_prefix,
    place_key,
    read,
    words_of,
)

if TYPE_CHECKING:
    from tributary.client import Attempt, Learned, Lesson, Memory, TributaryError

_BATCH_S = 25.0
"""What a batch may take before the rest of it is kept as pending."""
_QUICK_S = 2.0
_SLOW_S = 8.0
_FIRST_BATCH = 25
_FEWEST = 5
_MOST_TRIES = 6
_LONGEST_WAIT_S = 90.0
"""A server that asks for more patience than this has had enough for today."""
_PAGE = 100


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A lesson to be learned, and those in whose place it comes."""

    item: Item
    held: tuple[Held, ...]
    tries: int = 0

    @property
    def believed(self) -> tuple[Held, ...]:
        return tuple(one for one in self.held if one.status is Status.ACTIVE)


class Importer:
    """Imports one file after another. Nothing of it is kept but in the tribe, so that another run goes on where one ended."""

    def __init__(
        self,
        memory: Memory,
        report: Report,
        *,
        tags: Mapping[str, str],
        dry_run: bool,
        retire_missing: bool,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._memory = memory
        self._report = report
        self._tags = tags
        self._dry_run = dry_run
        self._retire_missing = retire_missing
        self._clock = clock
        self._sleep = sleep
        self._waiting: list[Entry] = []
        self._missing: list[Held] = []
        self._said_by: set[str] = set()
        """Lessons from elsewhere that say what something in these files says, which is not learned a second time."""
        self._size = _FIRST_BATCH
        self._me = self._own_name()

    def file(self, found: Found, stream: ByteSource) -> None:
        """Imports one file; what of it cannot be read is reported, and then nothing of it counts as gone."""
        self._report.files += 1
        comparison = Comparison(self._held(ref_prefix=file_prefix(found.name)))
        whole = True
        pieces = read(stream, found.name, found.form)
        most = BATCH_LESSONS if found.form in STREAMED else None
        known = False
        began = _state(found)
        while True:
            items, refused, more = self._taken(pieces, most, found)
            if _state(found) != began:
                self._report.refusal(Refusal(file=found.name, reason="changed while it was read; import it again"))
                return
            whole = whole and not refused
            for compared in comparison.of(items, beside=self._beside(items)):
                known = known or bool(compared.held)
                self._decide(compared)
            if not more:
                break
        self._end(found, comparison.gone(), whole=whole, known=known)

    def finish(self) -> None:
        """Learns what is still waiting for a batch to be full, and then retires what is missing."""
        while self._waiting:
            self._learn()
        for held in self._missing:
            if held.lesson_id in self._said_by:
                self._report.lesson(GONE, held.ref, lesson=held.lesson_id, note="another of these files says the same")
            else:
                self._retire(held)
        self._missing.clear()

    def _end(self, found: Found, gone: Sequence[Held], *, whole: bool, known: bool) -> None:
        """Deals with what a file does not hold any more."""
        retire = self._retire_missing and whole
        if retire and gone and not known:
            text = "not one lesson of it was found again, so none is retired: another file may have had this name"
            self._report.remark(Remark(file=found.name, text=text))
            retire = False
        for held in gone:
            self._gone(held, retire=retire)

    # ---- reading

    def _taken(self, pieces: Iterator[Piece], most: int | None, found: Found) -> tuple[list[Item], bool, bool]:
        """Returns the next items, all of them when `most` is None, whether something was refused, and whether there are more."""
        items: list[Item] = []
        refused = False
        try:
            while (most is None or len(items) < most) and (piece := next(pieces, None)) is not None:
                if isinstance(piece, Item):
                    item = replace(piece, tags={**piece.tags, **self._tags})
                    if (rule := _broken_rule(item)) is None:
                        items.append(item)
                    else:
                        self._report.lesson(REFUSED, item.place.ref, note=rule)
                        refused = True
                elif isinstance(piece, Refusal):
                    self._report.refusal(piece)
                    refused = True
                else:
                    self._report.remark(piece)
        except (Unreadable, OSError) as error:
            reason = str(error) if isinstance(error, Unreadable) else f"cannot be read: {error.strerror}"
            self._report.refusal(Refusal(file=found.name, reason=reason))
            return items, True, False
        return items, refused, len(items) == most

    # ---- what the tribe holds

    def _own_name(self) -> str | None:
        """Returns the name by which the tribe knows who imports; None while it has taught nothing."""
        first = next(iter(self._memory.lessons(status="any", mine=True, page_size=1)), None)
        return None if first is None else first.author

    def _held(self, *, ref_prefix: str | None = None, ref: str | None = None) -> Iterator[Held]:
        """Yields what the tribe holds of a file, with what of one's own a screen holds back."""
        seen: set[str] = set()
        for mine in (True, False) if self._me is not None else (False,):
            for lesson in self._memory.lessons(status="any", ref=ref, ref_prefix=ref_prefix, mine=mine, page_size=_PAGE):
                if lesson.id not in seen and lesson.status != "erased":
                    seen.add(lesson.id)
                    yield _as_held(lesson)

    def _beside(self, items: Sequence[Item]) -> list[Held]:
        refs = dict.fromkeys(one.ref for one in items if one.elsewhere)
        return [held for ref in refs for held in self._held(ref=ref)]

    # ---- deciding

    def _decide(self, compared: Compared) -> None:
        item, held = compared.item, compared.held
        for author in {one.author for one in held} - {self._me}:
            self._report.of_another(author)
        if compared.change is Change.SAME:
            note = "" if not held or held[0].status is Status.ACTIVE else f"it is {held[0].status}"
            what = "same" if self._dry_run else "unchanged"
            self._report.lesson(what, item.ref, lesson=held[0].lesson_id if held else None, note=note)
        elif self._dry_run:
            self._foretell(compared)
        else:
            self._waiting.append(Entry(item=item, held=held))
            while len(self._waiting) >= self._size:
                self._learn()

    def _foretell(self, compared: Compared) -> None:
        item, held = compared.item, compared.held
        others = sorted({one.author for one in held} - {self._me})
        note = f"taught by {', '.join(others)}: disputed, unless you are a curator" if others else ""
        self._report.lesson(compared.change.value, item.ref, lesson=held[0].lesson_id if held else None, note=note)

    def _gone(self, held: Held, *, retire: bool) -> None:
        if held.author != self._me:
            self._report.of_another(held.author)
        if self._dry_run or not retire or held.author != self._me:
            self._report.lesson(GONE, held.ref, lesson=held.lesson_id)
        else:
            self._missing.append(held)

    def _retire(self, held: Held) -> None:
        from tributary.client import TributaryError

        try:
            self._memory.retire(held.lesson_id)
            self._report.lesson(RETIRED, held.ref, lesson=held.lesson_id)
        except TributaryError as error:
            if error.code != "wrong_standing":
                raise
            self._report.lesson(GONE, held.ref, lesson=held.lesson_id, note=error.detail)

    # ---- learning

    def _learn(self) -> None:
        """Has one batch learned, and puts back what is to be tried again."""
        batch, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
        began = self._clock()
        documents = [_document(one.item, replaces=one.believed[:REPLACES]) for one in batch]
        attempts = self._memory.learn_all(documents, deadline_s=_BATCH_S)
        self._keep_pace(len(batch), self._clock() - began)
        again: list[Entry] = []
        wait_s = 0.0
        for entry, attempt in zip(batch, attempts, strict=True):
            if attempt.result is not None:
                self._learned(entry, attempt.result)
            else:
                more_s = self._failed(entry, attempt, again)
                wait_s = max(wait_s, more_s)
        self._waiting = [*again, *self._waiting]
        if wait_s:
            self._sleep(wait_s)

    def _keep_pace(self, lessons: int, took_s: float) -> None:
        """Asks for as much at a time as the server does in some seconds."""
        if took_s < _QUICK_S and lessons >= self._size:
            self._size = min(BATCH_LESSONS, self._size + self._size // 2)
        elif took_s > _SLOW_S:
            self._size = max(_FEWEST, self._size // 2)

    def _learned(self, entry: Entry, result: Learned) -> None:
        lesson = result.lesson
        if lesson is not None and result.outcome in ("learned", "superseded") and self._me is None:
            self._me = lesson.author
        if lesson is not None and result.outcome in ("unchanged", "reinforced"):
            self._said_by.add(lesson.id)
        note = result.reason if result.outcome not in ("learned", "superseded") else ""
        self._report.lesson(result.outcome, entry.item.ref, lesson=lesson.id if lesson else None, note=note)
        for one in entry.held:
            if one.status in (Status.PENDING, Status.DISPUTED) and one.author == self._me:
                self._withdraw(one)

    def _withdraw(self, held: Held) -> None:
        """Ends a lesson of one's own that was never believed, now that the file says otherwise."""
        from tributary.client import Forbidden, WrongStanding

        try:
            self._memory.retire(held.lesson_id)
        except (Forbidden, WrongStanding):  # others said the same, or it has ended
            return

    def _failed(self, entry: Entry, attempt: Attempt, again: list[Entry]) -> float:
        """Deals with one lesson that was not learned; returns how many seconds to wait before the next batch."""
        from tributary.client import Forbidden, Unavailable, WrongStanding

        error = attempt.error
        if error is None:
            return 0.0
        tried = replace(entry, tries=entry.tries + 1)
        if tried.tries < _MOST_TRIES:
            if isinstance(error, Unavailable):
                wait_s = error.retry_after if error.retry_after is not None else float(2**entry.tries)
                if wait_s > _LONGEST_WAIT_S:
                    raise error
                again.append(tried)
                return wait_s
            if isinstance(error, WrongStanding) and entry.believed:
                self._look_again(tried, again)
                return 0.0
        if isinstance(error, Forbidden) and entry.believed:
            self._contest(entry)
        else:
            self._refused(entry, error)
        return 0.0

    def _look_again(self, entry: Entry, again: list[Entry]) -> None:
        """Compares a lesson anew, since what it was to replace was changed by somebody in the meantime."""
        held = self._held(ref_prefix=f"{entry.item.place.key}:")
        (compared,) = Comparison(held).of([entry.item])
        if compared.change is Change.SAME:
            known = compared.held[0].lesson_id if compared.held else None
            self._report.lesson("unchanged", entry.item.ref, lesson=known)
        else:
            again.append(replace(entry, held=compared.held))

    def _contest(self, entry: Entry) -> None:
        """Says what a file says now against the lesson of another agent: replacing it is a curator's, who is told by this."""
        from tributary.client import TributaryError, source_of

        item = entry.item
        other = next((one for one in entry.believed if one.author != self._me), entry.believed[0])
        if other.words == item.words:
            note = f"taught by {other.author}, under other words about it"
            self._report.lesson("unchanged", item.ref, lesson=other.lesson_id, note=note)
            self._said_by.add(other.lesson_id)
            return
        try:
            source = source_of("imported", item.ref)
            result = self._memory.contest(other.lesson_id, item.text, source=source, situation=item.situation)
        except TributaryError as error:
            self._refused(entry, error)
        else:
            # of what was to be replaced, what was never believed and is one's own is withdrawn all the same
            self._learned(replace(entry, held=tuple(one for one in entry.held if one not in entry.believed)), result)

    def _refused(self, entry: Entry, error: TributaryError) -> None:
        self._report.lesson(REFUSED, entry.item.ref, note=f"{error.code}: {error.detail}")


def _state(found: Found) -> tuple[int, ...]:
    """Returns by what one tells that a file is still the one that it was."""
    try:
        known = found.path.stat()
    except OSError:
        return ()
    return known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns


def _broken_rule(item: Item) -> str | None:
    """Returns what learn would refuse in a lesson, before anything is asked about it."""
    from tributary.client import InvalidRequest
    from tributary.client.values import as_request

    try:
        as_request(_document(item))
    except InvalidRequest as error:
        return error.detail
    return None


def _document(item: Item, *, replaces: Sequence[Held] = ()) -> dict[str, object]:
    """Returns a lesson as learn takes it."""
    own = item.more.get("source")
    source = {"how": "imported", **(own if isinstance(own, Mapping) else {"ref": item.ref})}
    source.setdefault("ref", item.ref)
    said: dict[str, object] = {"text": item.text, "situation": item.situation, "kind": item.kind, "subject": item.subject}
    said |= {"tags": dict(item.tags), **item.more, "source": source if own is None or isinstance(own, Mapping) else own}
    if replaces:
        said["replaces"] = [one.lesson_id for one in replaces]
    return said


def _as_held(lesson: Lesson) -> Held:
    ref = lesson.source.ref or ""
    return Held(
        lesson_id=lesson.id,
        ref=ref,
        key=place_key(ref),
        digest=digest_of(lesson.text, lesson.situation, lesson.subject, lesson.kind, lesson.tags),
        words=words_of(lesson.text),
        start=lesson.text[:START_CHARACTERS],
        status=Status(lesson.status),
        author=lesson.author,
    )
