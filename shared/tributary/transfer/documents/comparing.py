"""What a file says now beside what the tribe holds of it: new, same, changed and gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from tributary.core.lesson import Status
from tributary.transfer.documents.item import Item

START_CHARACTERS = 200
_ALIKE = 0.6
"""How alike two entries of a list must begin, from 0 to 1, to be taken for one that was edited."""
_LIVE = frozenset({Status.ACTIVE, Status.PENDING, Status.DISPUTED, Status.QUARANTINED})


class Change(StrEnum):
    NEW = "new"
    SAME = "same"
    CHANGED = "changed"


@dataclass(frozen=True, kw_only=True)
class Held:
    """A lesson of the tribe's that came from the file, as much of it as is compared. `start` is how its text begins."""

    lesson_id: str
    ref: str
    key: str
    digest: bytes
    words: bytes
    start: str
    status: Status
    author: str

    @property
    def live(self) -> bool:
        """Tells whether the tribe believes it, or may yet."""
        return self.status in _LIVE


@dataclass(frozen=True, kw_only=True)
class Compared:
    """`held` are the lessons that say the same, or those in whose place the item comes."""

    item: Item
    change: Change
    held: tuple[Held, ...] = ()


class Comparison:
    """Compares the items of one file, some at a time, with what is held of it."""

    def __init__(self, held: Iterable[Held]) -> None:
        self._open: dict[str, Held] = {}
        self._by_digest: dict[bytes, list[Held]] = defaultdict(list)
        self._by_key: dict[str, list[Held]] = defaultdict(list)
        self._by_words: dict[bytes, list[Held]] = defaultdict(list)
        self._replaced: set[tuple[str, bytes]] = set()
        self._said: dict[bytes, Held | None] = {}
        for one in held:
            if one.live:
                self._open[one.lesson_id] = one
                self._by_digest[one.digest].append(one)
                self._by_key[one.key].append(one)
                self._by_words[one.words].append(one)
            elif one.status is Status.SUPERSEDED:
                self._replaced.add((one.key, one.digest))

    def of(self, items: Sequence[Item], *, beside: Iterable[Held] = ()) -> list[Compared]:
        """Returns how each item compares. `beside` is what is held of the other sources that items name.

        Equal lessons come first, so that nothing is taken for another that only moved. Then equal words, at the same place or
        another: of sections that changed places neither's words are ever without a lesson. Then what has a place of its own
        has changed; of entries that share one, those that begin alike.
        """
        elsewhere = {(one.ref, one.digest): one for one in beside if one.live}
        found: dict[int, Compared] = {}
        for number, item in enumerate(items):
            same = self._same(item, elsewhere)
            if same is not None:
                found[number] = Compared(item=item, change=Change.SAME, held=same)
        rest = [number for number in range(len(items)) if number not in found]
        changed = self._changed({number: items[number] for number in rest if not items[number].elsewhere})
        for number in rest:
            item = items[number]
            if held := changed.get(number):
                found[number] = Compared(item=item, change=Change.CHANGED, held=held)
            elif (item.place.key, item.digest) in self._replaced:
                # another lesson has taken its place since, and would be contradicted once more
                found[number] = Compared(item=item, change=Change.SAME)
            else:
                found[number] = Compared(item=item, change=Change.NEW)
        return [found[number] for number in range(len(items))]

    def gone(self) -> list[Held]:
        """Returns what is held and was not found again, but for what a screen holds back, which is a curator's."""
        return [one for one in self._open.values() if one.status is not Status.QUARANTINED]

    def _same(self, item: Item, elsewhere: dict[tuple[str, bytes], Held]) -> tuple[Held, ...] | None:
        digest = item.digest
        if item.elsewhere:
            known = elsewhere.get((item.ref, digest))
            said = digest in self._said
            self._said.setdefault(digest, known)
            return (known,) if known else () if said else None
        waiting = [one for one in self._by_digest[digest] if one.lesson_id in self._open]
        if waiting:
            known = next((one for one in waiting if one.key == item.place.key), waiting[0])
            self._take(known)
            self._said[digest] = known
            return (known,)
        if digest in self._said:  # the same twice in one file
            known = self._said[digest]
            return (known,) if known else ()
        self._said[digest] = None
        return None

    def _changed(self, items: dict[int, Item]) -> dict[int, tuple[Held, ...]]:
        found = self._reworded(items)
        shared: dict[str, list[int]] = defaultdict(list)
        for number, item in items.items():
            if number in found:
                continue
            if item.place.alone:
                if held := self._waiting(item.place.key):
                    found[number] = held
                    self._take(*held)
            else:
                shared[item.place.key].append(number)
        for key, numbers in shared.items():
            pairs = sorted(
                (
                    (-_alike(items[number].text, one.start), number, one.lesson_id)
                    for number in numbers
                    for one in self._waiting(key)
                ),
            )
            for unlike, number, lesson_id in pairs:
                if -unlike >= _ALIKE and number not in found and lesson_id in self._open:
                    found[number] = (self._open[lesson_id],)
                    self._take(self._open[lesson_id])
        return found

    def _reworded(self, items: dict[int, Item]) -> dict[int, tuple[Held, ...]]:
        """Pairs what has the same words and is otherwise another lesson: where it was, then where it was moved to."""
        found: dict[int, tuple[Held, ...]] = {}
        for number, item in items.items():
            here = [
                one for one in self._by_words.get(item.words, ()) if one.key == item.place.key and one.lesson_id in self._open
            ]
            if here:
                found[number] = self._waiting(item.place.key) if item.place.alone else (here[0],)
                self._take(*found[number])
        for number, item in items.items():
            there = next((one for one in self._by_words.get(item.words, ()) if one.lesson_id in self._open), None)
            if number not in found and there is not None:
                found[number] = (there,)
                self._take(there)
        return found

    def _waiting(self, key: str) -> tuple[Held, ...]:
        return tuple(one for one in self._by_key[key] if one.lesson_id in self._open)

    def _take(self, *held: Held) -> None:
        for one in held:
            self._open.pop(one.lesson_id, None)


def _alike(text: str, start: str) -> float:
    return SequenceMatcher(None, text[:START_CHARACTERS], start, autojunk=False).ratio()
