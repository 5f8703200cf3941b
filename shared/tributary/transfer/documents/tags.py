"""Front matter and metadata as tags: pairs of short texts that a recall can be narrowed by."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tributary.core.errors import InvalidRequest
from tributary.core.limits import TAGS, check_tags

_DEEPEST = 3
_LISTS_OF_TAGS = ("tags", "tag", "keywords", "labels", "categories", "category")
_NAME_CHARACTERS = 60


def tags_of(values: Mapping[str, object], *, but: Collection[str] = ()) -> tuple[dict[str, str], tuple[str, ...]]:
    """Returns the tags that can be made of `values`, and the names of those that cannot: too long, too many, or nested too deep.

    What is nested is named KEY.KEY. Lists called tags, keywords, labels or categories give a tag each, tag:NAME=true; others are
    one text, with commas. What says nothing gives none.
    """
    tags: dict[str, str] = {}
    left_out: list[str] = []
    for key, value in _flat(values):
        if key in but or value == "":
            continue
        if value is not None and len(tags) < TAGS and _fits(key, value):
            tags[key] = value
        else:
            left_out.append(key[:_NAME_CHARACTERS])
    return tags, tuple(left_out)


def _flat(values: Mapping[str, object]) -> Iterator[tuple[str, str | None]]:
    """Yields each key with its text, None where it is nested too deep."""
    waiting: list[tuple[str, object, int]] = [(str(key), value, 1) for key, value in values.items()]
    for key, value, depth in waiting:
        if isinstance(value, Mapping):
            if depth == _DEEPEST:
                yield key, None
            else:
                waiting += [(f"{key}.{inner}", one, depth + 1) for inner, one in value.items()]
        elif key in _LISTS_OF_TAGS and isinstance(value, list | str):
            words = value if isinstance(value, list) else value.split(",")
            yield from ((f"tag:{name}", "true") for one in words if (name := _text(one).lstrip("#").strip()))
        elif isinstance(value, list):
            yield key, ", ".join(text for one in value if (text := _text(one)))
        else:
            yield key, _text(value)


def _text(value: object) -> str:
    """Returns a scalar as one line; nothing for what is none."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _fits(key: str, value: str) -> bool:
    try:
        check_tags({key: value})
    except InvalidRequest:
        return False
    return True
