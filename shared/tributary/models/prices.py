"""What providers ask for their models: one dated table, and the operator's own where it is set up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Self

from tributary.core.errors import BadSetting

_MILLION = Decimal(1_000_000)
_PROVIDERS = ("bedrock:", "openai:", "claude:", "typesafe:")
_LEAST_EXPONENT = -12
"""Of a price, which bounds how long it and what is reckoned from it are when they are written out."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    input: Decimal
    output: Decimal


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices by provider and model as in `ModelCall.model`, as of a day."""

    as_of: date
    by_model: Mapping[str, Price]

    def of(self, model: str, *, input_tokens: int | None, output_tokens: int | None) -> Decimal | None:
        """Returns what a call costs in US dollars; None without a price for the model, or tokens to reckon from."""
        price = self.known(model)
        if price is None or (input_tokens is None and output_tokens is None):
            return None
        return (price.input * (input_tokens or 0) + price.output * (output_tokens or 0)) / _MILLION

    def known(self, model: str) -> Price | None:
        """Returns the model's price. An inference profile costs what its model costs: `us.`, `eu.` and the like are left off."""
        if model in self.by_model:
            return self.by_model[model]
        provider, _, name = model.partition(":")
        return self.by_model.get(f"{provider}:{without_profile(name)}")

    @classmethod
    def shipped(cls) -> Self:
        """Returns the table that comes with this version."""
        return cls._read(_shipped())

    def with_file(self, file: Path) -> Self:
        """Returns the prices with those of a file of the same form before them; raises BadSetting."""
        try:
            own = self._read(file.read_text("utf-8"))
        except (OSError, UnicodeDecodeError):
            raise BadSetting(f"TRIBUTARY_PRICES_FILE: cannot be read (it is '{file}')") from None
        except (ValueError, KeyError, TypeError, AttributeError, InvalidOperation, RecursionError):
            raise BadSetting(f"TRIBUTARY_PRICES_FILE: must be JSON such as {_EXAMPLE} (it is '{file}')") from None
        if strange := next((name for name in own.by_model if not name.startswith(_PROVIDERS)), None):
            known = ", ".join(_PROVIDERS)
            raise BadSetting(
                f"TRIBUTARY_PRICES_FILE: names must begin with one of {known}, but there is {strange[:80]!r} (it is '{file}')"
            )
        return type(self)(as_of=max(self.as_of, own.as_of), by_model={**self.by_model, **own.by_model})

    @classmethod
    def _read(cls, text: str) -> Self:
        document = json.loads(text, parse_float=Decimal, parse_int=Decimal)
        return cls(
            as_of=date.fromisoformat(document["as_of"]),
            by_model={name: _price(one) for name, one in document["usd_per_million_tokens"].items()},
        )


_EXAMPLE = '{"as_of": "2026-01-31", "usd_per_million_tokens": {"openai:gpt-5-mini": {"input": 0.25, "output": 2}}}'
_PROFILES = frozenset({"us", "eu", "apac", "global", "us-gov", "au", "jp", "ca"})


def without_profile(model: str) -> str:
    """Returns the id of the model behind an inference profile's, `us.cohere.embed-v4:0`; another id as it is."""
    area, _, rest = model.partition(".")
    return rest if area in _PROFILES else model


@cache
def _shipped() -> str:
    return resources.files(__package__).joinpath("prices.json").read_text("utf-8")


def _price(document: Mapping[str, object]) -> Price:
    values = [Decimal(str(document[name])) for name in ("input", "output")]
    if not all(_is_amount(value) for value in values):
        raise ValueError("a price is no amount")
    return Price(input=values[0], output=values[1])


def _is_amount(value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= _LEAST_EXPONENT and 0 <= value <= _MILLION
