"""One tribe's turn in a run: what was found there, and what each rule came to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from tributary.access import Ledger
from tributary.core.errors import TributaryError, Unavailable
from tributary.core.evidence import EvidenceStore
from tributary.core.garden import Backlog, Rule, RuleReport, TribeReport
from tributary.core.policy import Policy
from tributary.garden.budget import Budget
from tributary.learn import Learner
from tributary.store import Database, check_level, rows, statement
from tributary.telemetry import Event, Span, log, traces

GATE_LESSONS = 200
"""Most lessons that are changed while the gate is held once."""


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """For how long what no belief depends on is kept. `replies` bounds how late a lost reply can be asked for again."""

    replies: timedelta = timedelta(days=7)
    days: timedelta = timedelta(days=90)
    """Counts of what agents and tribes did on a day."""
    paces: timedelta = timedelta(days=1)
    """How far an agent was ahead of its pace, sessions of the dashboard, and failed sign-ins, after that was over."""
    calls: timedelta = timedelta(days=90)
    """Single calls of models; their sums stay."""
    hours: timedelta = timedelta(days=32)
    """Counts of what happened in an hour: a day more than the activity of a tribe is told of."""

    def cutoffs(self, now: datetime) -> dict[str, object]:
        return {
            "replies_before": now - self.replies,
            "days_before": (now - self.days).date(),
            "spent_before": now - self.paces,
            "calls_before": now - self.calls,
            "hours_before": now - self.hours,
        }


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What the rules work with."""

    database: Database
    learner: Learner
    exact_limit: int
    keeping: Keeping
    ledger: Ledger
    evidence: EvidenceStore | None
    """What keeps the bytes of evidence files."""
    database_time: bool = True
    """Whether leases run out by the database's clock, rather than by that of the visit, which a test has set."""

    def now_for(self, now: datetime) -> datetime | None:
        """Returns the instant that the schema's functions are told for a visit at `now`; None for the database's own."""
        return None if self.database_time else now


@dataclass(frozen=True, kw_only=True)
class Building:
    """The space that a tribe builds beside the one that it serves from, and how many lessons need a vector there."""

    space_id: int
    name: str
    missing: int


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What there was to do in a tribe at a tick. Counts of lessons, where nothing else is said."""

    at: str
    """The database's instant, as it is written there."""
    tick: int
    policy: Policy
    active: int
    pending: int
    quarantined: int
    disputes: int
    challenges: int
    oldest_dispute_s: float
    """Seconds since the oldest open dispute was opened, 0 when none is."""
    clock_ahead_s: float
    """Seconds by which the tribe's clock is ahead of the database's, 0 when it is not."""
    overdue: int
    """Actions whose lease ran out."""
    in_doubt: int
    """Actions in doubt besides them."""
    unscreened: int
    unjudged: int
    unembedded: int
    unindexed: int
    """Believed lessons whose vectors wait beside the tribe's index; none where it has no index."""
    building: Building | None
    outgrown: bool
    prunable: bool

    @property
    def crowded(self) -> bool:
        """Whether more lessons stand as active than the tribe has room for; some of them may have lapsed."""
        return self.policy.capacity is not None and self.active > self.policy.capacity


@dataclass
class Tally:
    """What a rule comes to while it works."""

    kinds: Counter[str] = field(default_factory=Counter)
    left: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failed: str | None = None
    ms: float = 0.0

    def did(self, kind: str, count: int = 1) -> None:
        self.kinds[kind] += count

    def leave(self, count: int, because: str | None = None) -> None:
        """Notes what waits for another run; `because` is a code, None for want of time."""
        self.left += max(0, count)
        if because is not None:
            self.refuse(because, count)

    def refuse(self, code: str, count: int = 1) -> None:
        self.refused[code] += count

    def report(self, rule: Rule) -> RuleReport:
        return RuleReport(
            rule=rule,
            done=self.kinds.total(),
            kinds={kind: count for kind, count in self.kinds.items() if count},
            left=self.left,
            refused={code: count for code, count in self.refused.items() if count},
            failed=self.failed,
            ms=self.ms,
        )


@dataclass(kw_only=True)
class Visit:
    """A tribe's turn. `now` is the instant for all of it."""

    tools: Tools
    tribe_id: UUID
    name: str
    now: datetime
    budget: Budget
    dry_run: bool
    survey: Survey
    tallies: dict[Rule, Tally] = field(default_factory=dict)

    def tally(self, rule: Rule) -> Tally:
        return self.tallies.setdefault(rule, Tally())

    @contextmanager
    def working(self, rule: Rule) -> Iterator[Tally]:
        """Lets a rule fail on its own: what goes wrong is logged and reported. A lost database is not its own, and goes on up."""
        tally = self.tally(rule)
        began = time.monotonic()
        try:
            with traces.span(Span.GARDEN_RULE, rule=rule.value) as span:
                yield tally
                span.note(done=tally.kinds.total(), left=tally.left)
        except Unavailable as error:
            tally.failed = error.code
            raise
        except TributaryError as error:
            tally.failed = error.code
            log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, rule=rule.value, code=error.code)
        except Exception as error:
            tally.failed = "internal"
            log.event(Event.GARDEN_FAILED, level=log.ERROR, error=error, rule=rule.value, code="internal")
        finally:
            tally.ms += (time.monotonic() - began) * 1000

    @property
    def busy(self) -> bool:
        """Whether any rule did something so far."""
        return any(tally.kinds.total() for tally in self.tallies.values())

    def look_again(self) -> None:
        self.survey = survey(self.tools, self.tribe_id, self.now)

    def report(self, *, failed: str | None, ms: float) -> TribeReport:
        done = tuple(self.tallies[rule].report(rule) for rule in Rule if rule in self.tallies)
        found = self.survey
        backlog = Backlog(
            pending=found.pending,
            quarantined=found.quarantined,
            disputes=found.disputes,
            challenges=found.challenges,
            oldest_dispute_s=found.oldest_dispute_s,
            clock_ahead_s=found.clock_ahead_s,
            in_doubt=found.overdue + found.in_doubt,
        )
        return TribeReport(tribe_id=self.tribe_id, name=self.name, rules=done, failed=failed, ms=ms, backlog=backlog)


def survey(tools: Tools, tribe_id: UUID, now: datetime) -> Survey:
    """Reads what there is to do; raises NotFound, and CodeTooOld when this code may not touch the schema any more."""
    parameters = {"tribe_id": tribe_id, "exact_limit": tools.exact_limit, "now": tools.now_for(now), **tools.keeping.cutoffs(now)}
    row = rows.document(tools.database.value(statement("garden", "survey"), parameters))
    check_level(row["oldest_code"])
    return Survey(
        at=row["at"],
        tick=row["tick"],
        policy=Policy.from_document(row["policy_version"], row["policy"]),
        active=row["active"],
        pending=row["pending"],
        quarantined=row["quarantined"],
        disputes=row["disputes"],
        challenges=row["challenges"],
        oldest_dispute_s=row["oldest_dispute_s"],
        clock_ahead_s=row["clock_ahead_s"],
        overdue=row["overdue"],
        in_doubt=row["in_doubt"],
        unscreened=row["unscreened"],
        unjudged=row["unjudged"],
        unembedded=row["unembedded"] or 0,
        unindexed=row["unindexed"],
        building=None if row["building"] is None else Building(**row["building"]),
        outgrown=bool(row["outgrown"]),
        prunable=row["prunable"],
    )
