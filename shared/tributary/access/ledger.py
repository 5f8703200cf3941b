"""The ledger of what calls of models cost a tribe: an account for each piece of work, written down when that is done.

Whoever is charged never waits for the ledger more than once, and never fails by it: what cannot be written now is kept for the
next time. A call has an id from the moment that it is charged, so that handing it over twice counts it once; only a process that
is killed loses what it had not handed over yet.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date
from decimal import Decimal
from functools import wraps
from typing import Protocol, TypeVar, cast
from uuid import UUID

from psycopg.types.json import Jsonb

from tributary.core.agent import Principal
from tributary.core.clock import Now, utc_now
from tributary.core.costs import Budget, Spent
from tributary.core.errors import NotMigrated, Overloaded, TributaryError, Unavailable
from tributary.core.ids import new_id
from tributary.core.spending import ModelCall, Purpose, account, on_account
from tributary.store import Database, rows, statement
from tributary.telemetry import Event, log

MOST = 10_000
"""Calls that wait in a process at most, should the database stay away: beyond them, the oldest are given up."""
EARLY = 500
"""Calls of one piece of work after which they are handed over before it is done, without the decision that they led to."""
ATTEMPTS = 2
"""The second in case that the connection was an old one."""
AWAY_S = 30.0
"""For so long after it could not be written nobody's answer waits for the ledger."""
FRESH_S = 5.0
"""How old the sums of a day may be that a budget is held against: by so much several processes may overspend it together."""
COST_PLACES = Decimal("1e-12")
"""What is kept of a cost, in US dollars: a millionth of the cheapest token."""
MOST_COST_USD = Decimal(1_000_000)
"""A provider that says that one call cost more is wrong."""
_MOST_TOKENS = 2**53
_AWAY = (Unavailable, Overloaded, NotMigrated)
Method = TypeVar("Method", bound=Callable[..., object])


@dataclass(kw_only=True)
class Entry:
    """One call as it is written down."""

    tribe_id: UUID
    day: date
    spent: Spent
    document: dict[str, object]


class Ledger:
    """Keeps accounts for tribes. Thread-safe; `database` is the writer, never a replica."""

    def __init__(
        self,
        database: Database,
        budget: Budget | None = None,
        *,
        now: Now = utc_now,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget = budget or Budget()
        self._database = database
        self._now = now
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: list[Entry] = []
        self._away_until = -math.inf
        # of each tribe and day: what this process charged, and how much of that is in the database
        self._charged: dict[tuple[UUID, date], Spent] = defaultdict(Spent)
        self._written: dict[tuple[UUID, date], Spent] = defaultdict(Spent)
        self._others: dict[UUID, tuple[date, float, Spent]] = {}
        self._reserved: dict[UUID, int] = defaultdict(int)
        """Calls of the strong judge that are set aside in this process, and not charged yet."""
        self._dearest: dict[UUID, tuple[date, Decimal]] = {}
        """What one of them cost at most on the newest day."""

    @contextmanager
    def on(self, tribe_id: UUID, agent_id: UUID | None = None) -> Iterator[None]:
        """Charges a tribe for what the block calls, and writes it down at its end.

        Within work that is done for the same tribe already, that one's account stays the one that is charged.
        """
        at_hand = account()
        if isinstance(at_hand, _Account) and at_hand.is_for(self, tribe_id):
            yield
            return
        opened = _Account(self, tribe_id, agent_id)
        try:
            with on_account(opened):
                yield
        finally:
            opened.close()

    def may_spend(self, tribe_id: UUID) -> bool:
        """Tells whether the budget of the day allows what can be gone without; not when what was spent cannot be read."""
        return self._grant(tribe_id, 1, reserve=False) > 0

    def reserve(self, tribe_id: UUID, calls: int) -> int:
        """Sets calls of the strong judge aside and returns how many the budget of the day allows; to be given back, or charged.

        What is set aside counts as spent: by calls, and by what such a call cost at most today, as far as that is known here.
        """
        return self._grant(tribe_id, calls, reserve=True)

    def give_back(self, tribe_id: UUID, calls: int) -> None:
        """Takes back what was set aside and is not needed any more."""
        with self._lock:
            self._set_aside(tribe_id, -calls)

    def flush(self, *, at_last: bool = False) -> None:
        """Writes down what was kept, unless the database was away a moment ago; `at_last` tries all the same."""
        if at_last:
            self._away_until = -math.inf
        self.hand_over([])

    def flush_when_due(self) -> None:
        """Writes down what was kept: for a process that has no background of its own."""
        self.flush()

    def note(self, entry: Entry, *, reserved: bool = False) -> None:
        """Counts a call against its day's budget from now on, in the place of one that was set aside if it was `reserved`."""
        with self._lock:
            self._charged[entry.tribe_id, entry.day] += entry.spent
            if reserved:
                self._set_aside(entry.tribe_id, -1)
                known = self._dearest.get(entry.tribe_id)
                if known is None or (entry.day, entry.spent.cost_usd) > known:
                    self._dearest[entry.tribe_id] = (entry.day, entry.spent.cost_usd)

    def hand_over(self, entries: list[Entry]) -> None:
        """Writes entries down, with those that were kept; keeps what cannot be written now."""
        with self._lock:
            handed, self._kept = self._kept + entries, []
            away = self._clock() < self._away_until
        left = handed if away else self._write(handed)
        if left and not away:
            self._away_until = self._clock() + AWAY_S
        self.keep(left)

    def keep(self, entries: list[Entry]) -> None:
        """Keeps entries for the next time."""
        with self._lock:
            every = entries + self._kept
            given_up, self._kept = every[:-MOST], every[-MOST:]
        if given_up:
            log.event(Event.LEDGER_LOST, level=log.ERROR, calls=len(given_up), code="too_many")

    def _write(self, entries: list[Entry]) -> list[Entry]:
        """Writes entries in one statement; returns those that are still to be written. One that is refused is given up."""
        if not entries:
            return []
        calls = Jsonb([one.document for one in entries])
        try:
            ((taken,),) = self._database.rows(statement("access", "charge"), {"calls": calls}, attempts=ATTEMPTS)
        except Exception as error:  # whatever it is, it is no matter of whoever was charged
            code = error.code if isinstance(error, TributaryError) else "internal"
            if isinstance(error, _AWAY):
                log.event(Event.LEDGER_DELAYED, level=log.WARNING, error=error, code=code, calls=len(entries))
                return entries
            if len(entries) > 1:  # what is refused must not keep the others from being written
                half = len(entries) // 2
                return self._write(entries[:half]) + self._write(entries[half:])
            log.event(Event.LEDGER_LOST, level=log.ERROR, error=error, code=code, calls=1)
        else:
            if not taken:
                log.event(Event.LEDGER_DELAYED, level=log.WARNING, code=Unavailable.code, calls=len(entries))
                return entries
        with self._lock:
            for one in entries:
                self._written[one.tribe_id, one.day] += one.spent
        return []

    def _grant(self, tribe_id: UUID, calls: int, *, reserve: bool) -> int:
        """Returns how many calls the budget allows beside those that are set aside; none when what was spent cannot be read."""
        if not self.budget.bounded:
            return calls
        today = self._now().astimezone(UTC).date()
        try:
            others = self._read_when_old(tribe_id, today)
        except TributaryError as error:
            log.event(Event.LEDGER_DELAYED, level=log.WARNING, error=error, code=error.code, calls=0)
            return 0
        with self._lock:
            day, dearest = self._dearest.get(tribe_id, (today, Decimal(0)))
            each = dearest if day == today else Decimal(0)
            aside = self._reserved.get(tribe_id, 0)
            spent = others + self._charged[tribe_id, today] + Spent(calls=aside, cost_usd=aside * each)
            granted = self.budget.grants(spent, most=calls, usd_per_call=each)
            if reserve:
                self._set_aside(tribe_id, granted)
            return granted

    def _set_aside(self, tribe_id: UUID, calls: int) -> None:
        self._reserved[tribe_id] += calls
        if not self._reserved[tribe_id]:
            del self._reserved[tribe_id]

    def _read_when_old(self, tribe_id: UUID, today: date) -> Spent:
        """Returns what others spent today, as of a few seconds ago at most."""
        with self._lock:
            known = self._others.get(tribe_id)
            if known is not None and known[0] == today and self._clock() - known[1] < FRESH_S:
                return known[2]
            ours = self._written[tribe_id, today]  # before it is read: what is written meanwhile counts twice rather than never
        read_at = self._clock()
        row = rows.document(self._database.value(statement("access", "spent"), {"tribe_id": tribe_id, "day": today}))
        others = Spent(calls=int(row["calls"]), cost_usd=Decimal(row["cost_usd"])) - ours
        with self._lock:
            self._others[tribe_id] = (today, read_at, others)
            for book in (self._charged, self._written):
                for key in [key for key in book if key[1] < today]:
                    del book[key]
        return others


class _Account:
    """The account of one piece of work. Thread-safe: models are called side by side."""

    def __init__(self, ledger: Ledger, tribe_id: UUID, agent_id: UUID | None) -> None:
        self._ledger = ledger
        self._tribe_id = tribe_id
        self._agent_id = agent_id
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._undecided = 0
        """From where on entries were made for no decision yet."""
        self._closed = False
        self._reserved = 0

    def is_for(self, ledger: Ledger, tribe_id: UUID) -> bool:
        return self._ledger is ledger and self._tribe_id == tribe_id

    def charge(self, call: ModelCall) -> None:
        try:
            entry = _entry(self._tribe_id, self._agent_id, call)
            self._ledger.note(entry, reserved=call.purpose is Purpose.STRONG_JUDGE and self._took_reserved())
            with self._lock:
                self._entries.append(entry)
                early = self._take() if len(self._entries) >= EARLY else []
                late = self._take() if self._closed else []  # a call that nobody waited for any more
            if early:
                self._ledger.hand_over(early)
            self._ledger.keep(late)
        except Exception as error:
            log.event(Event.LEDGER_LOST, level=log.ERROR, error=error, code="internal", calls=1)

    def may_spend(self) -> bool:
        return self._ledger.may_spend(self._tribe_id)

    @contextmanager
    def reserve(self, calls: int) -> Iterator[int]:
        granted = self._ledger.reserve(self._tribe_id, calls)
        with self._lock:
            self._reserved += granted
        try:
            yield granted
        finally:
            with self._lock:
                left = min(granted, self._reserved)
                self._reserved -= left
            self._ledger.give_back(self._tribe_id, left)

    def decided(self, decision_id: UUID | None) -> None:
        with self._lock:
            for entry in self._entries[self._undecided :]:
                entry.document["decision_id"] = None if decision_id is None else str(decision_id)
            self._undecided = len(self._entries)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            entries = self._take()
        if entries:
            self._ledger.hand_over(entries)

    def _took_reserved(self) -> bool:
        with self._lock:
            took = self._reserved > 0
            self._reserved -= took
            return took

    def _take(self) -> list[Entry]:
        entries, self._entries, self._undecided = self._entries, [], 0
        return entries


class HasLedger(Protocol):
    @property
    def ledger(self) -> Ledger: ...


def charged(method: Method) -> Method:
    """Has a door's method, whose first argument is the caller, charge the caller's tribe for the models that it calls."""

    @wraps(method)
    def opened(self: HasLedger, principal: Principal, *args: object, **kwargs: object) -> object:
        with self.ledger.on(principal.tribe_id, principal.agent_id):
            return method(self, principal, *args, **kwargs)

    return cast(Method, opened)


def _entry(tribe_id: UUID, agent_id: UUID | None, call: ModelCall) -> Entry:
    """Returns a call as it is written down; a figure that a provider got wrong counts as not said."""
    cost = _cost(call.cost_usd)
    document: dict[str, object] = {
        "tribe_id": str(tribe_id),
        "call_id": str(new_id()),
        "at": call.at.isoformat(),
        "agent_id": None if agent_id is None else str(agent_id),
        "decision_id": None,
        "purpose": call.purpose.value,
        "model": call.model.encode(errors="replace").decode().replace("\x00", "?"),
        "ended": call.end.value,
        "input_tokens": _tokens(call.input_tokens),
        "output_tokens": _tokens(call.output_tokens),
        "cost_usd": None if cost is None else f"{cost:f}",
        "ms": round(call.ms, 3) if math.isfinite(call.ms) else 0.0,
    }
    spent = Spent(calls=1, cost_usd=cost or Decimal(0))
    return Entry(tribe_id=tribe_id, day=call.at.astimezone(UTC).date(), spent=spent, document=document)


def _cost(said: Decimal | None) -> Decimal | None:
    """Returns a cost with as many places as the database takes."""
    if said is None or not said.is_finite() or not 0 <= said <= MOST_COST_USD:
        return None
    return said.quantize(COST_PLACES)


def _tokens(said: int | None) -> int | None:
    return said if said is not None and 0 <= said <= _MOST_TOKENS else None
