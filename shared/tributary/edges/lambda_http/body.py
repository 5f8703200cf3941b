"""Reads the body of a request into a model of the contract, or says what is wrong with it, field by field."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from tributary.contract.limits import BODY_BYTES
from tributary.contract.models import FieldProblem
from tributary.edges.lambda_http.headers import header
from tributary.edges.lambda_http.port import Event
from tributary.edges.lambda_http.problems import Refused, invalid, invalid_field
from tributary.edges.lambda_http.rules import MOST_PROBLEMS, dotted, explain

Model = TypeVar("Model", bound=BaseModel)

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class _Twice:
    """Stands in a parsed object for the value of a name that was given more than once."""


def read_body(event: Event, model: type[Model], *, most_bytes: int = BODY_BYTES) -> Model:
    """Returns the body of `event` as `model`; raises Refused naming each field that breaks a rule."""
    raw = _raw(event)
    if len(raw) > most_bytes:
        raise _too_large(len(raw), most_bytes)
    if not raw:
        if any(field.is_required() for field in model.model_fields.values()):
            raise invalid_field("body", "is required: a JSON object")
        return model()
    require_json(event)
    document = _parsed(raw)
    unsound = [FieldProblem(field=dotted(path), rule=rule) for path, rule in _unsound(document)]
    if unsound:
        raise invalid(*unsound[:MOST_PROBLEMS])
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise invalid(*explain(error.errors(include_input=False, include_url=False), document)) from error


def read_bytes(event: Event, *, most_bytes: int) -> bytes:
    """Returns the body of `event` as it came; raises Refused for none, or for too many bytes."""
    raw = _raw(event)
    if len(raw) > most_bytes:
        raise _too_large(len(raw), most_bytes)
    if not raw:
        raise invalid_field("body", "is required: the bytes of the file")
    return raw


def read_item(item: Mapping[str, object], model: type[Model]) -> Model:
    """Returns one item of a body that was read as `model`; raises Refused naming each field of it that breaks a rule."""
    try:
        return model.model_validate_json(json.dumps(item))
    except ValidationError as error:
        raise invalid(*explain(error.errors(include_input=False, include_url=False), item)) from error


def _too_large(size: int, most_bytes: int) -> Refused:
    rule = f"is {size} bytes; at most {most_bytes} are read"
    return Refused("too_large", f"body {rule}", errors=[FieldProblem(field="body", rule=rule)])


def _raw(event: Event) -> bytes:
    body = event.get("body") or ""
    try:
        return base64.b64decode(body, validate=True) if event.get("isBase64Encoded") else body.encode("utf-8")
    except UnicodeEncodeError as error:
        raise invalid_field("body", "must be UTF-8") from error
    except (binascii.Error, ValueError) as error:
        raise invalid_field("body", "is marked as base64 but is not") from error


def require_json(event: Event) -> None:
    """Raises Refused unless the body is said to be JSON, as it is."""
    media_type = header(event, "content-type").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refused("unsupported_media_type", "send the body with 'Content-Type: application/json'")
    if header(event, "content-encoding").strip().lower() not in ("", "identity"):
        raise Refused("unsupported_media_type", "send the body without Content-Encoding")


def _parsed(raw: bytes) -> dict[str, object]:
    try:
        document = json.loads(raw.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise invalid_field("body", "must be UTF-8") from error
    except json.JSONDecodeError as error:
        raise invalid_field("body", f"is not JSON at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise invalid_field("body", "is nested too deeply") from error
    except ValueError as error:
        raise invalid_field("body", "holds a number with too many digits") from error
    if not isinstance(document, dict):
        raise invalid_field("body", "must be a JSON object")
    return document


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for name, value in pairs:
        result[name] = _Twice() if name in result else value
    return result


def _unsound(document: object) -> Iterator[tuple[tuple[object, ...], str]]:
    """Yields (path, rule) for what JSON's grammar lets through and nothing here could keep: no order, no recursion.

    pydantic's own parser refuses lone surrogates as a whole, naming no field, and takes the last of two equal names.
    """
    waiting: list[tuple[tuple[object, ...], object]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            for name, inner in value.items():
                if _LONE_SURROGATE.search(name):
                    yield (*path, name), "must not contain a lone surrogate"
                waiting.append(((*path, name), inner))
        elif isinstance(value, list):
            waiting.extend(((*path, index), inner) for index, inner in enumerate(value))
        elif isinstance(value, str):
            if _LONE_SURROGATE.search(value):
                yield path, "must not contain a lone surrogate"
        elif isinstance(value, _Twice):
            yield path, "is given more than once"
