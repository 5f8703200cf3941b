"""What a gardener's run came to, rule by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self
from uuid import UUID


class Rule(StrEnum):
    """What a gardener does, in this order."""

    SETTLE = "settle"
    RESCREEN = "rescreen"
    REJUDGE = "rejudge"
    STAMP = "stamp"
    EVICT = "evict"
    EMBED = "embed"
    INDEX = "index"
    DOUBT = "doubt"
    PRUNE = "prune"


@dataclass(frozen=True, kw_only=True)
class RuleReport:
    """What one rule came to. In a dry run `done` is what would be done.

    done      how many things were done; `kinds` says of which kind they were, by code
    left      how many are due and wait for another run: for want of time, or for the reasons in `refused`
    refused   what may not or could not be done, by code
    failed    the code of the error that ended the rule, None when none did
    """

    rule: Rule
    done: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    left: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    failed: str | None = None
    ms: float = 0.0

    @property
    def idle(self) -> bool:
        return not (self.done or self.left or self.refused or self.failed)

    def document(self) -> dict[str, object]:
        return {
            "rule": self.rule.value,
            "done": self.done,
            "kinds": dict(sorted(self.kinds.items())),
            "left": self.left,
            "refused": dict(sorted(self.refused.items())),
            "failed": self.failed,
            "ms": round(self.ms, 3),
        }


@dataclass(frozen=True, kw_only=True)
class Gardening:
    """The last run in a tribe, by the database's clock. Of its rules those that it reached, without `kinds` and `ms`.

    `failed` is the code of what ended it before its last rule.
    """

    began_at: datetime
    ended_at: datetime
    rules: tuple[RuleReport, ...]
    failed: str | None = None

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed: a code after each rule's name, and by itself that of what no rule failed with."""
        of_rules = tuple(f"{one.rule.value}: {one.failed}" for one in self.rules if one.failed)
        known = {one.failed for one in self.rules}
        return of_rules if self.failed is None or self.failed in known else (*of_rules, self.failed)


_SHORTEST_PERIOD = timedelta(hours=1)
_LONGEST_PERIOD = timedelta(days=1)


def longest_absence(every: timedelta) -> timedelta:
    """Returns how old the last run may be where one is due that often: two periods, as the alarm for an absent gardener waits.

    A period counts as an hour at least; one of zero leaves the gardener to a schedule that nobody
    here knows, and counts as a day.
    """
    return 2 * (max(every, _SHORTEST_PERIOD) if every else _LONGEST_PERIOD)


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """What waits for a judge or a curator at the end of a run: counts, and seconds since the oldest open dispute was opened.

    And by how many seconds the tribe's clock is ahead of the wall clock, as it is after a host's clock was wrong.
    """

    pending: int = 0
    quarantined: int = 0
    disputes: int = 0
    challenges: int = 0
    oldest_dispute_s: float = 0.0
    clock_ahead_s: float = 0.0
    in_doubt: int = 0
    """Actions of which nobody knows whether their effect happened."""

    def __add__(self, other: Backlog) -> Backlog:
        return Backlog(
            pending=self.pending + other.pending,
            quarantined=self.quarantined + other.quarantined,
            disputes=self.disputes + other.disputes,
            challenges=self.challenges + other.challenges,
            oldest_dispute_s=max(self.oldest_dispute_s, other.oldest_dispute_s),
            clock_ahead_s=max(self.clock_ahead_s, other.clock_ahead_s),
            in_doubt=self.in_doubt + other.in_doubt,
        )


@dataclass(frozen=True, kw_only=True)
class TribeReport:
    """A run in one tribe. `failed` is the code of what ended it before its last rule; rules that it did not reach are absent.

    `cell` is the tribe's, where its database has a name.
    """

    tribe_id: UUID
    name: str
    rules: tuple[RuleReport, ...]
    failed: str | None = None
    ms: float = 0.0
    cell: str | None = None
    backlog: Backlog = Backlog()

    def rule(self, rule: Rule) -> RuleReport:
        """Returns what a rule came to; an empty report when the run did not reach it."""
        return next((one for one in self.rules if one.rule is rule), RuleReport(rule=rule))

    def document(self) -> dict[str, object]:
        return {
            "tribe": self.name,
            "rules": [one.document() for one in self.rules],
            "failed": self.failed,
            "ms": round(self.ms, 3),
            **({} if self.cell is None else {"cell": self.cell}),
        }


@dataclass(frozen=True, kw_only=True)
class CellReport:
    """How one of several cells fared. `cell` is None for the own one without a name; `failed` as in `GardenReport`."""

    cell: str | None
    tribes: int
    waiting: int
    failed: str | None

    def document(self) -> dict[str, object]:
        return {"cell": self.cell, "tribes": self.tribes, "waiting": self.waiting, "failed": self.failed}


@dataclass(frozen=True, kw_only=True)
class GardenReport:
    """A run over one or all tribes. `waiting` counts the tribes that it had no time for or that a lost database kept it from.

    `failed` is the code of what ended the run early; of several cells, which are in `cells`, the first one's that has any.
    """

    dry_run: bool
    tribes: tuple[TribeReport, ...]
    waiting: int = 0
    failed: str | None = None
    ms: float = 0.0
    cells: tuple[CellReport, ...] = ()

    @classmethod
    def of_cells(cls, reports: Sequence[tuple[str | None, GardenReport]], *, dry_run: bool) -> Self:
        """Returns one report of the runs in several cells."""
        return cls(
            dry_run=dry_run,
            tribes=tuple(replace(tribe, cell=cell) for cell, report in reports for tribe in report.tribes),
            waiting=sum(report.waiting for _, report in reports),
            failed=next((report.failed for _, report in reports if report.failed), None),
            ms=sum(report.ms for _, report in reports),
            cells=tuple(
                CellReport(cell=cell, tribes=len(report.tribes), waiting=report.waiting, failed=report.failed)
                for cell, report in reports
            ),
        )

    def without(self, code: str) -> Self:
        """Returns the report without the cells that failed with this code."""
        kept = tuple(one for one in self.cells if one.failed != code)
        return replace(self, cells=kept, failed=next((one.failed for one in kept if one.failed), None))

    @property
    def total(self) -> tuple[RuleReport, ...]:
        """What each rule came to in all tribes; `failed` is the first error of any."""
        return tuple(_sum(rule, [tribe.rule(rule) for tribe in self.tribes]) for rule in Rule)

    @property
    def backlog(self) -> Backlog:
        """What waits in the tribes that it came to; the age is that of the oldest dispute of all."""
        return sum((tribe.backlog for tribe in self.tribes), start=Backlog())

    def rule(self, rule: Rule) -> RuleReport:
        return next(one for one in self.total if one.rule is rule)

    @property
    def idle(self) -> bool:
        """Whether nothing was done, left or refused, and nothing failed."""
        well = self.failed is None and not self.waiting and not any(tribe.failed for tribe in self.tribes)
        return well and all(one.idle for one in self.total)

    def document(self) -> dict[str, object]:
        """Returns the report as plain JSON."""
        return {
            "dry_run": self.dry_run,
            "total": [one.document() for one in self.total],
            "tribes": [one.document() for one in self.tribes],
            "waiting": self.waiting,
            "failed": self.failed,
            "ms": round(self.ms, 3),
            **({"cells": [one.document() for one in self.cells]} if self.cells else {}),
        }


def _sum(rule: Rule, reports: Iterable[RuleReport]) -> RuleReport:
    every = list(reports)
    kinds: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for one in every:
        kinds.update(one.kinds)
        refused.update(one.refused)
    return RuleReport(
        rule=rule,
        done=sum(one.done for one in every),
        kinds=kinds,
        left=sum(one.left for one in every),
        refused=refused,
        failed=next((one.failed for one in every if one.failed), None),
        ms=sum(one.ms for one in every),
    )
