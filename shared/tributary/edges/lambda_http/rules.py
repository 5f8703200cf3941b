"""From pydantic's findings to (field, rule) pairs that a caller can act on. No value that was sent is ever repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tributary.contract.models import FieldProblem

MOST_PROBLEMS = 20
"""A reply names at most so many fields."""
_NAME_CHARACTERS = 64
_MOMENT = "must be an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z"
_FIELD_OF_WHOLE_BODY_RULE = {"reversed": "valid_until"}
"""Rules about several fields, and the field that each is reported at."""

Finding = Mapping[str, Any]
Words = Callable[[Mapping[str, Any]], str]

_RULES: dict[str, str | Words] = {
    "missing": "is required",
    "extra_forbidden": "is no known field",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "literal_error": lambda ctx: f"must be one of {_plain_choices(str(ctx['expected']))}",
    "greater_than_equal": lambda ctx: f"must be at least {_plain_number(ctx['ge'])}",
    "greater_than": lambda ctx: f"must be more than {_plain_number(ctx['gt'])}",
    "less_than_equal": lambda ctx: f"must be at most {_plain_number(ctx['le'])}",
    "less_than": lambda ctx: f"must be less than {_plain_number(ctx['lt'])}",
    "string_too_long": lambda ctx: f"must have at most {ctx['max_length']} characters",
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "datetime_object_invalid": _MOMENT,
    "timezone_aware": "must have an offset, such as Z or +02:00",
}


def explain(findings: Iterable[Finding], document: object) -> list[FieldProblem]:
    """Returns one problem a field for pydantic's error list about `document`, the parsed JSON that was checked."""
    rules: dict[str, list[str]] = {}
    for finding in findings:
        kept, sent = _resolve(finding["loc"], document, kind=finding["type"])
        field = _FIELD_OF_WHOLE_BODY_RULE.get(finding["type"]) or dotted(kept)
        rule = rule_of(finding, sent).removeprefix(f"{field} ")
        known = rules.setdefault(field, [])
        if rule not in known:
            known.append(rule)
    problems = [FieldProblem(field=field, rule=_either(known)) for field, known in rules.items()]
    return problems[:MOST_PROBLEMS]


def _either(rules: Sequence[str]) -> str:
    first, *others = rules
    return ", or ".join([first, *(rule.removeprefix("must be ") for rule in others)])


def rule_of(finding: Finding, sent: object) -> str:
    """Returns the broken rule in plain words; `sent` is what was there, looked at only for its type."""
    kind = finding["type"]
    ctx: Mapping[str, Any] = finding.get("ctx") or {}
    if kind == "too_long" and "max_length" in ctx:
        unit = "characters" if isinstance(sent, str) else "entries"
        return f"must have at most {ctx['max_length']} {unit}"
    words = _RULES.get(kind)
    if words is not None:
        return words if isinstance(words, str) else words(ctx)
    # The contract's own checks write their message themselves.
    return str(finding["msg"])


def dotted(path: Sequence[object]) -> str:
    """Returns `evidence.0.ref` for a path into the body, `body` for the body itself."""
    return ".".join(_shown(piece) for piece in path) or "body"


def _shown(piece: object) -> str:
    # Names of unknown fields are the caller's words: cut short, and printable whatever they are.
    text = str(piece)[:_NAME_CHARACTERS]
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _resolve(location: Sequence[object], document: object, *, kind: str) -> tuple[list[object], object]:
    """Returns the part of `location` that is a path into `document`, and what stands there.

    pydantic also puts the names of union members and the marker of dictionary keys into a location; they are no fields.
    """
    kept: list[object] = []
    here = document
    for index, piece in enumerate(location):
        if _holds(here, piece):
            here = here[piece]  # type: ignore[index]  # _holds said so
        elif kind == "missing" and index == len(location) - 1:
            here = None
        else:
            continue
        kept.append(piece)
    return kept, here


def _holds(value: object, piece: object) -> bool:
    if isinstance(value, list):
        return isinstance(piece, int) and piece < len(value)
    return isinstance(value, dict) and piece in value


def _plain_choices(expected: str) -> str:
    return expected.replace("'", "").replace(" or ", ", ")


def _plain_number(value: float) -> str:
    return str(int(value) if value == int(value) else value)
