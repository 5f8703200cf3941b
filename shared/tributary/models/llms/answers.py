"""What language models answer, read with distrust: one JSON object of a sane size, or ModelMalformed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from tributary.core.errors import ModelMalformed
from tributary.core.ports import Prompt
from tributary.models.metering import Meter

MOST_ANSWER_BYTES = 1024 * 1024
"""Of one answer; what is larger answers nothing that is asked here."""
_MOST_TOKENS = 1_000_000_000
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)


def written_out(prompt: Prompt) -> str:
    """Returns the instructions with the form of the answer in words, for a model that takes no schema."""
    schema = json.dumps(prompt.schema, ensure_ascii=False)
    return f"{prompt.instructions}\n\nAnswer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}"


def object_in(text: object) -> Mapping[str, object]:
    """Returns the one JSON object that the text is, alone or as one fenced block; raises ModelMalformed."""
    if not isinstance(text, str) or not text.strip():
        raise ModelMalformed("the model answered nothing")
    if len(text) > MOST_ANSWER_BYTES:
        raise ModelMalformed(_TOO_LARGE)
    bare = text.strip()
    if fenced := _FENCED.fullmatch(bare):
        bare = fenced[1]
    try:
        return _object(json.loads(bare, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=each_once))
    except (ValueError, RecursionError):
        raise ModelMalformed("the model's answer is not JSON") from None


def object_given(value: object) -> Mapping[str, object]:
    """Returns a JSON object that a client has read already, such as a tool's input; raises ModelMalformed."""
    found = _object(value)
    try:
        size = len(json.dumps(found, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        raise ModelMalformed("the model's answer is not JSON") from None
    if size > MOST_ANSWER_BYTES:
        raise ModelMalformed(_TOO_LARGE)
    return found


def each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Makes an object of what JSON says it holds, as a hook of `json.loads`; raises ValueError where a name comes twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a name twice, so it says two things")
    return found


def note_usage(meter: Meter, *, inputs: object, outputs: object, cost: object = None) -> None:
    """Notes on the meter what a provider says of tokens and US dollars, where it makes sense."""
    meter.input_tokens = _tokens(inputs)
    meter.output_tokens = _tokens(outputs)
    meter.cost_usd = _dollars(cost)


def part(document: object, name: str) -> Mapping[str, object]:
    """Returns the object of that name in the document; an empty one when there is none."""
    found = document.get(name) if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def parts(document: object, name: str) -> list[Mapping[str, object]]:
    """Returns the objects of the list of that name in the document."""
    found = document.get(name) if isinstance(document, Mapping) else None
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


_TOO_LARGE = f"the model's answer is larger than {MOST_ANSWER_BYTES} bytes"


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ModelMalformed("the model's answer is no JSON object")
    return value


def _no_number(_: str) -> NoReturn:
    raise ValueError("no JSON")


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError("a number is too large to be read")
    return number


def _tokens(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def _dollars(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= 1_000_000 else None
