"""What the API says, and what a receipt says, in the form in which another road is asked about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tributary.core import ids
from tributary.core.errors import InvalidRequest
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.independent.catalogue import LATEST, Value
from tributary.edges.cli.independent.comparing import Claim
from tributary.edges.cli.independent.roads import Cause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tributary.client import Lesson, Memory

_FIELDS = ("status", "learned", "activated", "deactivated", "successor", "text_sha256")


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """Everything that is claimed of a tribe as of one tick: `tribe` its clock and, where they are known, its counts."""

    tribe_id: UUID
    tick: int
    counts: Claim | None
    lessons: Mapping[UUID, Claim]


def of_api(memory: Memory, *, lessons: Sequence[str], limit: int) -> Claimed:
    """Asks the API how the tribe stands, and its newest `limit` lessons, or those that are named, at one and the same tick."""
    stats = memory.stats()
    tick = stats.tick
    page = next(memory.pages(status="any", page_size=max(1, min(limit, 100)), as_of=tick))
    counts = Claim(about="tribe", fields={f"lessons.{status}": count for status, count in sorted(stats.lessons.items())})
    found = {one: _asked(memory, one, tick) for one in lessons} if lessons else {one.id: _claim(one) for one in page.lessons}
    return Claimed(
        tribe_id=_tribe(page.receipt.document()),
        tick=tick,
        counts=counts,
        lessons={_lesson_id(one): claim for one, claim in found.items()},
    )


def of_receipt(memory: Memory, document: Mapping[str, Any]) -> Claimed:
    """Returns what a receipt claims as of its tick: that each hit was believed, and what the API says of each as of then.

    `document` is the receipt, or all that `recall --json` printed: then it holds the texts that were shown, too, and these count,
    not what the API shows now. Raises CommandFailed for what is none.
    """
    receipt = document["receipt"] if isinstance(document.get("receipt"), dict) else document
    tribe_id, tick = _tribe(receipt), _tick(receipt)
    shown = dict(_texts(document))
    lessons: dict[UUID, Claim] = {}
    for hit in _hits(receipt):
        claim = _asked(memory, hit, tick)
        said: dict[str, Value] = dict(claim.fields)
        if receipt.get("query_digest") is not None:  # a listing's lessons need not be believed
            said["believed"] = "yes"
        unknown = dict(claim.unknown)
        if hit in shown:
            said["text_sha256"] = _hash(shown[hit])
            unknown.pop("text_sha256", None)
        lessons[_lesson_id(hit)] = Claim(about=hit, fields=said, unknown=unknown)
    return Claimed(tribe_id=tribe_id, tick=tick, counts=None, lessons=lessons)


def _asked(memory: Memory, lesson: str, tick: int) -> Claim:
    from tributary.client import NotFound

    try:
        return _claim(memory.lesson(lesson, as_of=tick).lesson)
    except NotFound:
        return Claim(about=lesson, fields={}, unknown=dict.fromkeys(_FIELDS, Cause.NOT_SHOWN))


def _claim(lesson: Lesson) -> Claim:
    successor = None if lesson.superseded_by is None else str(_lesson_id(lesson.superseded_by))
    return Claim(
        about=lesson.id,
        fields={
            "status": lesson.status,
            "learned": lesson.learned.tick,
            "activated": lesson.activated.tick if lesson.activated else None,
            "deactivated": lesson.deactivated.tick if lesson.deactivated else None,
            "successor": successor,
            "text_sha256": _hash(lesson.text) if lesson.text else None,
        },
    )


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _tribe(receipt: Mapping[str, Any]) -> UUID:
    try:
        (searched,) = receipt["searched"]
        return UUID(searched["tribe"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CommandFailed(
            "invalid_request", "the receipt does not name one tribe by its id, so nothing can be looked up"
        ) from None


def _tick(receipt: Mapping[str, Any]) -> int:
    tick = receipt["searched"][0].get("tick")
    if type(tick) is not int or not 0 <= tick <= LATEST:
        raise CommandFailed("invalid_request", "the receipt names no tick, so nothing can be looked up")
    return tick


def _hits(receipt: Mapping[str, Any]) -> Iterator[str]:
    hits = receipt.get("hits")
    for one in hits if isinstance(hits, list) else []:
        if not isinstance(one, dict) or not isinstance(one.get("id"), str):
            raise CommandFailed("invalid_request", "a hit of the receipt has no id")
        yield one["id"]


def _texts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields ids and texts of the lessons that a recall printed beside its receipt."""
    hits = document.get("hits") if "receipt" in document else None
    for one in hits if isinstance(hits, list) else []:
        lesson = one.get("lesson") if isinstance(one, dict) else None
        if isinstance(lesson, dict) and isinstance(lesson.get("id"), str) and isinstance(lesson.get("text"), str):
            yield lesson["id"], lesson["text"]


def _lesson_id(shown: str) -> UUID:
    try:
        return ids.parse(ids.Prefix.LESSON, shown, field="lesson")
    except InvalidRequest as error:
        raise CommandFailed("invalid_request", error.detail) from None
