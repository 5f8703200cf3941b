"""What bounds the incident agent, and what it may change of live systems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fnmatch import fnmatchcase

MOST_ROUNDS = 12
"""Questions to the model in one turn."""
MOST_TOOL_CALLS = 8
"""Tools that the model may use in one turn, besides the recall that each turn begins with."""
INCIDENT_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._:@/#-]{0,63}"
IDENTIFIER_PATTERN = r"[A-Za-z][A-Za-z0-9-]{0,62}"
"""How RDS names instances and clusters; the case of letters makes no difference there."""
_TARGETS = re.compile(r"[A-Za-z0-9*?-]{1,63}")


class Change(StrEnum):
    """The verbs of RDS that change something and may be allowed at all, as boto3 names them."""

    REBOOT_DB_INSTANCE = "reboot_db_instance"
    FAILOVER_DB_CLUSTER = "failover_db_cluster"
    MODIFY_DB_INSTANCE = "modify_db_instance"


class Stop(StrEnum):
    """Why a turn ended without the model's own answer."""

    ROUNDS = "rounds"
    CALLS = "calls"
    TIME = "time"
    SPENDING = "spending"
    MODEL = "model"
    ABSENCE = "absence"


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """A change that an operator allows on the targets of a pattern (`*` and `?` stand for what they do in shells)."""

    change: Change
    targets: str

    @classmethod
    def parse(cls, written: str) -> Allowed:
        """Returns what `reboot_db_instance:orders-*` says; raises ValueError with the rule that it breaks."""
        verb, _, targets = written.partition(":")
        if verb not in {one.value for one in Change}:
            raise ValueError(f"must name one of {', '.join(one.value for one in Change)}, not '{verb}'")
        if not _TARGETS.fullmatch(targets):
            raise ValueError(f"must say which targets after a colon, such as {verb}:orders-*")
        return cls(change=Change(verb), targets=targets.lower())

    def __str__(self) -> str:
        return f"{self.change}:{self.targets}"


def is_allowed(allowed: Sequence[Allowed], change: Change, target: str) -> bool:
    """Tells whether one of `allowed` lets `change` be done to `target`."""
    return any(one.change is change and fnmatchcase(target.lower(), one.targets) for one in allowed)


@dataclass(frozen=True, kw_only=True)
class Ceilings:
    """How often the incident agent may be asked and what that may cost: a client in a minute, a turn, a tribe on a day (UTC)."""

    turns_per_minute: int
    turns_per_day: int
    usd_per_turn: Decimal
    usd_per_day: Decimal
