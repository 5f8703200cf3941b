"""A filter of a list: one of a few words, as links that say which one is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tributary.client.errors import broken
from tributary.edges.dashboard.visit import Visit


@dataclass(frozen=True, kw_only=True)
class Choice:
    """`options` are the words of the address, each with what people read; the first is taken when none is asked for."""

    name: str
    label: str
    options: Mapping[str, str]
    taken: str


def choice(visit: Visit, name: str, label: str, options: Mapping[str, str]) -> Choice:
    """Returns what the visit's query takes of `options`; raises InvalidRequest for what is none of them."""
    taken = visit.asked(name) or next(iter(options))
    if taken not in options:
        raise broken(name, f"must be one of {', '.join(options)}")
    return Choice(name=name, label=label, options=options, taken=taken)
