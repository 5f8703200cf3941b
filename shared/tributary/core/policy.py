"""Which source outranks which in a tribe, and how much it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from tributary.core.errors import Corrupt, InvalidRequest
from tributary.core.lesson import Draft, How, Lesson
from tributary.core.limits import CAPACITY, POLICY_RULES

Checked = TypeVar("Checked")


class Equals(StrEnum):
    """What a conflict between sources of equal rank comes to."""

    DISPUTE = "dispute"
    NEWEST_OBSERVATION = "newest_observation"


@dataclass(frozen=True, kw_only=True)
class Precedence:
    """Lessons whose source is `how` (with evidence, when `with_evidence`) outrank those whose source is one of `over`."""

    how: How
    with_evidence: bool
    over: frozenset[How]

    def holds(self, draft: Draft, old: Lesson) -> bool:
        evident = bool(draft.evidence) or not self.with_evidence
        return draft.source.how is self.how and evident and old.source.how in self.over


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Which source outranks which in a tribe; `version` counts its changes, from 1.

    `capacity` is how many believed lessons the tribe keeps (None: all of them); the gardener evicts what is above it.
    """

    version: int = 1
    precedence: tuple[Precedence, ...] = (
        Precedence(how=How.OBSERVED, with_evidence=True, over=frozenset({How.IMPORTED, How.TOLD})),
    )
    equals: Equals = Equals.DISPUTE
    capacity: int | None = None

    def outranks(self, draft: Draft, old: Lesson) -> bool:
        if any(rule.holds(draft, old) for rule in self.precedence):
            return True
        both_observed = draft.source.how is How.OBSERVED and old.source.how is How.OBSERVED
        return self.equals is Equals.NEWEST_OBSERVATION and both_observed

    @classmethod
    def from_document(cls, version: int, document: Mapping[str, object]) -> Policy:
        """Returns the policy stored as `{"precedence": [{"how", "with_evidence", "over"}], "equals", "capacity"}`.

        Each may be left out; {} is the default policy. Raises Corrupt when it is stored otherwise.
        """
        default = cls(version=version)
        try:
            stored = document.get("precedence")
            precedence = default.precedence if stored is None else tuple(map(_precedence, _checked(stored, list)))
            equals = Equals(str(document.get("equals", default.equals)))
            policy = cls(version=version, precedence=precedence, equals=equals, capacity=_capacity(document.get("capacity")))
            policy.check()
            return policy
        except (AttributeError, KeyError, TypeError, ValueError, InvalidRequest):
            raise Corrupt("the tribe's stored policy is not what it should be; store {} for the default one") from None

    def document(self) -> dict[str, object]:
        """Returns what `from_document` reads back."""
        return {
            "precedence": [
                {"how": rule.how.value, "with_evidence": rule.with_evidence, "over": sorted(one.value for one in rule.over)}
                for rule in self.precedence
            ],
            "equals": self.equals.value,
            "capacity": self.capacity,
        }

    def check(self) -> None:
        """Raises InvalidRequest for too many rules, or a capacity out of bounds."""
        if len(self.precedence) > POLICY_RULES:
            raise InvalidRequest("precedence", f"has {len(self.precedence)} rules; at most {POLICY_RULES} are allowed")
        if self.capacity is not None and not 1 <= self.capacity <= CAPACITY:
            raise InvalidRequest("capacity", f"must be from 1 to {CAPACITY}, or null to keep everything")


def _precedence(rule: Mapping[str, object]) -> Precedence:
    return Precedence(
        how=How(str(rule["how"])),
        with_evidence=_checked(rule["with_evidence"], bool),
        over=frozenset(How(one) for one in _checked(rule["over"], list)),
    )


def _capacity(value: object) -> int | None:
    return None if value is None else _checked(value, int)


def _checked(value: object, kind: type[Checked]) -> Checked:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"not a {kind.__name__}")
    return value
