"""Reads the query string of a request against the parameters that its route declares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import cast
from urllib.parse import parse_qsl

from pydantic import TypeAdapter, ValidationError

from tributary.contract.models import FieldProblem
from tributary.contract.route import QueryParameter
from tributary.contract.values import Moment
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.problems import invalid, invalid_field
from tributary.edges.lambda_http.rules import dotted

_MOST_PARAMETERS = 50
MOST_CHARACTERS = 200
_WHOLE_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def read_query(event: Event, declared: tuple[QueryParameter, ...]) -> Mapping[str, str]:
    """Returns the parameters, defaults filled in; raises Refused naming each that is unknown, doubled or breaks its schema.

    Of one that may be given more than once it holds the last: `read_repeated` gives them all.
    """
    try:
        pairs = parse_qsl(
            event.get("rawQueryString") or "", keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeDecodeError as error:
        raise invalid_field("query", "must be percent-encoded UTF-8") from error
    except ValueError as error:
        raise invalid_field("query", f"must have at most {_MOST_PARAMETERS} parameters") from error
    known = {parameter.name: parameter for parameter in declared}
    given: dict[str, str] = {}
    problems: dict[str, str] = {}
    times = Counter(name for name, _ in pairs)
    for name, value in pairs:
        rule = _broken_rule(known.get(name), value, times=times[name])
        if rule:
            problems.setdefault(dotted([name]), rule)
        given[name] = value
    if problems:
        raise invalid(*(FieldProblem(field=field, rule=rule) for field, rule in problems.items()))
    defaults = {one.name: str(one.schema["default"]) for one in declared if "default" in one.schema}
    return defaults | given


def read_repeated(event: Event, name: str) -> tuple[str, ...]:
    """Returns each value of a parameter that may be given more than once, of a query that `read_query` let pass."""
    pairs = parse_qsl(event.get("rawQueryString") or "", keep_blank_values=True, errors="strict")
    return tuple(value for one, value in pairs if one == name)


def tags(values: Iterable[str]) -> dict[str, str]:
    """Returns the tags that `key=value` texts name; raises Refused for a text without `=`, and for a key that is named twice."""
    found: dict[str, str] = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals:
            raise invalid_field("tag", "must be key=value (in a URL, write = within the value as %3D)")
        if key in found:
            raise invalid_field("tag", f"names the key '{key}' more than once")
        found[key] = value
    return found


def as_of(given: Mapping[str, str], name: str = "as_of") -> int | datetime | None:
    """Returns the tick or the instant that a parameter names; raises Refused when it is neither."""
    text = given.get(name)
    if text is None:
        return None
    if _WHOLE_NUMBER.fullmatch(text):
        return int(text)
    try:
        return TypeAdapter(Moment).validate_python(text)
    except ValidationError as error:
        rule = "must be a tick of this tribe, or an RFC 3339 time with an offset (in a URL, write + as %2B)"
        raise invalid_field(name, rule) from error


def day(given: Mapping[str, str], name: str) -> date | None:
    """Returns the day that a parameter names, None when it is absent; raises Refused when it names none."""
    text = given.get(name)
    if text is None:
        return None
    try:
        return date.fromisoformat(text if _DAY.fullmatch(text) else "")
    except ValueError as error:
        raise invalid_field(name, "must be a day such as 2026-03-01") from error


def _broken_rule(parameter: QueryParameter | None, value: str, *, times: int) -> str | None:
    if parameter is None:
        return "is no parameter of this route"
    schema = parameter.schema
    most_times = 1
    if schema["type"] == "array":
        most_times = cast(int, schema["maxItems"])
        schema = cast("dict[str, object]", schema["items"])
    if times > most_times:
        return "is given more than once" if most_times == 1 else f"is given more than {most_times} times"
    if not value or "\x00" in value:
        return "must not be empty or contain the NUL character"
    most = cast(int, schema.get("maxLength", MOST_CHARACTERS))
    if len(value) > most:
        return f"must have at most {most} characters"
    if schema["type"] == "integer":
        return _broken_number_rule(schema, value)
    choices = cast("list[str] | None", schema.get("enum"))
    if choices is not None and value not in choices:
        return f"must be one of {', '.join(choices)}"
    return None


def _broken_number_rule(schema: Mapping[str, object], value: str) -> str | None:
    low, high = cast(int, schema["minimum"]), cast(int, schema["maximum"])
    if _WHOLE_NUMBER.fullmatch(value) and low <= int(value) <= high:
        return None
    return f"must be a whole number from {low} to {high}"
