"""Field types of the API: each states its rule in words that a user can act on."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from tributary.contract import limits

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII)


def _storable(value: str) -> str:
    if "\x00" in value:
        raise PydanticCustomError("nul", "must not contain the NUL character")
    if _LONE_SURROGATE.search(value):
        raise PydanticCustomError("lone_surrogate", "must not contain a lone surrogate")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "must not be empty or white space")
    return value


def _at_most(max_bytes: int) -> Callable[[str], str]:
    def check(value: str) -> str:
        size = len(value.encode("utf-8", "surrogatepass"))
        if size > max_bytes:
            raise PydanticCustomError(
                "too_long", "is {size} bytes of UTF-8; at most {most} are kept", {"size": size, "most": max_bytes}
            )
        return value

    return check


def _within(max_bytes: int) -> tuple[AfterValidator, object]:
    """Returns the rule of a text of at most so many bytes, and how the description tells it: no character is less than a byte."""
    told = Field(description=f"At most {max_bytes // 1024} KB of UTF-8.", json_schema_extra={"maxLength": max_bytes})
    return AfterValidator(_at_most(max_bytes)), told


def _spelled_out(value: object) -> object:
    # pydantic reads bare digits as Unix seconds: "418", a tick in quotes, would quietly mean the year 1970.
    spelled_out = isinstance(value, datetime) or (isinstance(value, str) and _RFC_3339.fullmatch(value))
    if not spelled_out:
        raise PydanticCustomError("moment", "must be an RFC 3339 time with an offset, such as 2026-03-01T12:00:00Z")
    return value


NAME = "[A-Za-z0-9][A-Za-z0-9._:@/-]{0,99}"


def _named(value: str) -> str:
    if not re.fullmatch(NAME, value):
        rule = "must be 1 to 100 letters, digits or . _ : @ / -, beginning with a letter or digit"
        raise PydanticCustomError("name", rule)
    return value


def _within_reach(value: datetime) -> datetime:
    try:
        year = value.astimezone(UTC).year
    except OverflowError:
        year = 0
    if not 2 <= year <= 9998:
        raise PydanticCustomError("moment_range", "must lie within the years 2 to 9998; leave it out for no bound")
    return value


Name = Annotated[str, AfterValidator(_named), Field(json_schema_extra={"pattern": f"^{NAME}$"})]
Storable = Annotated[str, AfterValidator(_storable)]
Filled = Annotated[Storable, AfterValidator(_not_blank), Field(json_schema_extra={"minLength": 1, "pattern": r"\S"})]
Text = Annotated[Filled, *_within(limits.TEXT_BYTES)]
Situation = Annotated[Filled, *_within(limits.SITUATION_BYTES)]
Rationale = Annotated[Filled, *_within(limits.RATIONALE_BYTES)]
Query = Annotated[Filled, *_within(limits.QUERY_BYTES)]
Subject = Annotated[Filled, Field(max_length=limits.SUBJECT_CHARACTERS)]
TagKey = Annotated[Filled, Field(max_length=limits.TAG_KEY_CHARACTERS)]
TagValue = Annotated[Filled, Field(max_length=limits.TAG_VALUE_CHARACTERS)]
Tags = Annotated[dict[TagKey, TagValue], Field(max_length=limits.TAGS, json_schema_extra={"additionalProperties": False})]
Ref = Annotated[Filled, Field(max_length=limits.REF_CHARACTERS)]
Note = Annotated[Filled, Field(max_length=limits.EVIDENCE_CHARACTERS)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Tick = Annotated[int, Field(ge=0, lt=2**63)]
Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_spelled_out), AfterValidator(_within_reach)]
TokenId = Annotated[str, StringConstraints(pattern=r"^tok_[0-9a-f]{32}$")]
LessonId = Annotated[str, StringConstraints(pattern=r"^les_[0-9a-f]{32}$")]
