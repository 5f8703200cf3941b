"""JSON lines in the form that learn takes, one lesson each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NoReturn

from tributary.core.lesson import Kind
from tributary.transfer.documents.item import Item, Place, Refusal, printable
from tributary.transfer.documents.lines import LINE_BYTES, ByteSource, bounded_lines

_OWN = ("id", "text", "situation", "kind", "subject", "tags")
_MORE = ("source", "evidence", "rationale", "confidence", "valid_from", "valid_until", "keep_until")
_SHOWN_CHARACTERS = 40
NO_TEXT = "holds half of a character, a surrogate without its other one"


class _Bad(Exception):
    """A line is no lesson; the message says why."""


def jsonl(stream: ByteSource, file: str) -> Iterator[Item | Refusal]:
    """Yields a lesson a line, or why it is none; blank lines are passed over.

    What has an `id` is known by it when its text changes. A line without a source of its own is imported from the file.
    """
    for number, line in enumerate(bounded_lines(stream), 1):
        try:
            if line is None or line.strip():
                yield _item(_object(line, first=number == 1), file, number)
        except _Bad as error:
            yield Refusal(file=file, line=number, reason=str(error))


def anchor_of(own: object, *said: str) -> str:
    """Returns what something is known by within its file: its id, else what is said."""
    if isinstance(own, str) and printable(own):
        return printable(own)
    if isinstance(own, int) and not isinstance(own, bool):
        return str(own)
    return hashlib.blake2b("\0".join(said).encode(errors="surrogatepass"), digest_size=8).hexdigest()


def is_text(value: object) -> bool:
    """Tells whether all that JSON says can be written: it may name halves of characters, which nothing can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _object(line: bytes | None, *, first: bool) -> dict[str, object]:
    if line is None:
        raise _Bad(f"the line has more than {LINE_BYTES} bytes")
    try:
        given = json.loads(line.decode("utf-8-sig" if first else "utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise _Bad(f"byte {error.start + 1} of the line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _Bad(f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError):
        raise _Bad("is not JSON that can be read: it is nested too deep, or holds NaN or Infinity") from None
    if not isinstance(given, dict):
        raise _Bad("must be a JSON object")
    if not is_text(given):
        raise _Bad(NO_TEXT)
    return given


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((repeated, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _Bad(f"the key {json.dumps(repeated[:_SHOWN_CHARACTERS])} is given twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _item(given: Mapping[str, object], file: str, number: int) -> Item:
    """Returns a line's lesson. What else breaks a rule of learn is said when it is sent, or would be."""
    unknown = next((key for key in given if key not in (*_OWN, *_MORE)), None)
    if unknown is not None:
        raise _Bad(f"{json.dumps(unknown[:_SHOWN_CHARACTERS])} is no field of a lesson that can be imported")
    text, situation = (_text(given, name) for name in ("text", "situation"))
    subject, kind, tags = given.get("subject"), given.get("kind", Kind.GOTCHA.value), given.get("tags") or {}
    if subject is not None and not isinstance(subject, str):
        raise _Bad("subject: must be a text")
    if kind not in set(Kind):
        raise _Bad(f"kind: must be one of {', '.join(Kind)}")
    if not isinstance(tags, dict) or not all(isinstance(one, str) for one in tags.values()):
        raise _Bad("tags: must be an object of texts")
    return Item(
        place=Place(file=file, anchor=anchor_of(given.get("id"), text, situation), line=number),
        text=text,
        situation=situation,
        kind=str(kind),
        subject=subject,
        tags=tags,
        more={name: given[name] for name in _MORE if given.get(name) is not None},
    )


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise _Bad(f"{name}: {'is missing' if value is None else 'must be a text'}")
    return value
