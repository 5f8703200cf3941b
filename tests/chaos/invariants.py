"""Every invariant of the design, checked over a whole database by the tables alone, whatever was done to it before."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from tests.chaos import books
from tests.chaos.invariants_sql import OF_A_TRIBE, OF_THE_DATABASE
from tests.history.model import ACTIVE, MOVES, NEXT, RETIRED
from tributary.core.lesson import Draft, How, Kind, Source
from tributary.core.normal import content_hash, subject_key, text_hash
from tributary.core.terms import terms_of

OF_LEARNS_ALONE = frozenset(
    {
        "a lesson without its vector",
        "a quarantined lesson with a vector",
        "a decision without its event",
        "a decision that no key answers with",
        "a key without its decision",
        "a contradiction without its rivals",
        "a disputed lesson without its dispute",
        "a confirmation without its event, or an event without it",
    }
)
"""The rules of the books that hold where nothing but learning was done. OF_A_TRIBE says of every life what they say of learns."""

BY_SQL = {**{rule: query for rule, query in books.RULES.items() if rule not in OF_LEARNS_ALONE}, **OF_A_TRIBE}
TRANSITION = "a lesson came to a status that it could not come to"
OTHER_TERMS = "a lesson is found by other terms than its own"
OTHER_HASH = "a hash is not of its lesson's words"
SECRET = "a secret is kept in the clear"
ERASED = "erased words are still kept"
BY_HAND = (TRANSITION, OTHER_TERMS, OTHER_HASH, SECRET, ERASED)

_SECRETS = re.compile(r"tr[bs]_[A-Za-z0-9_-]{43}|lease_[0-9a-f]{64}")
_EVICTED = "evicted"

Row = dict[str, Any]


def broken(url: str, *, erased: Collection[str] = ()) -> list[str]:
    """Returns what is broken in the database at `url`, as "tribe: rule: rows"; nothing where every invariant holds.

    `erased` are words that were erased and not said again: no table may hold them any more. `url` is a superuser's.
    """
    with psycopg.connect(url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")  # one snapshot: it may be asked under load
        return broken_in(connection, erased=erased)


def broken_in(connection: psycopg.Connection, *, erased: Collection[str] = (), only: str | None = None) -> list[str]:
    """Returns what `broken` does, as the connection's transaction sees it; of one rule alone where it is named."""
    tribes = connection.execute("SELECT tribe_id, name FROM tributary.tribe ORDER BY name").fetchall()
    found = [f"{name}: {told}" for tribe_id, name in tribes for told in _of_tribe(connection, tribe_id, only)]
    for rule in _asked(OF_THE_DATABASE, only):
        rows = connection.execute(OF_THE_DATABASE[rule]).fetchmany(3)
        found += [f"{rule}: {rows}"] if rows else []
    return found + (list(_dumped(connection, erased)) if _asked((SECRET, ERASED), only) else [])


def _asked(rules: Iterable[str], only: str | None) -> list[str]:
    return [rule for rule in rules if only in (None, rule)]


def _of_tribe(connection: psycopg.Connection, tribe_id: UUID, only: str | None) -> Iterator[str]:
    for rule in _asked(BY_SQL, only):
        if rows := connection.execute(BY_SQL[rule], {"tribe": tribe_id}).fetchmany(3):
            yield f"{rule}: {rows}"
    if _asked((TRANSITION, OTHER_TERMS, OTHER_HASH), only):
        lessons, events = _lessons(connection, tribe_id), _events(connection, tribe_id)
        for rule, wrong in (
            (TRANSITION, _impossible(events)),
            (OTHER_TERMS, _other_terms(lessons)),
            (OTHER_HASH, _other_hash(lessons)),
        ):
            if wrong:
                yield f"{rule}: {wrong[:3]}"


def _lessons(connection: psycopg.Connection, tribe_id: UUID) -> list[Row]:
    return _rows(
        connection,
        """SELECT l.*, t.secret, ARRAY(SELECT x.term FROM tributary.lesson_term x
                  WHERE (x.tribe_id, x.lesson_id) = (l.tribe_id, l.lesson_id)) AS terms,
                  tributary.needs_vector_v1(l.status, l.activated_tick, l.rejected_as) AS looked_for
           FROM tributary.lesson l JOIN tributary.tribe t USING (tribe_id) WHERE l.tribe_id = %s ORDER BY l.lesson_id""",
        tribe_id,
    )


def _events(connection: psycopg.Connection, tribe_id: UUID) -> list[Row]:
    query = "SELECT lesson_id, tick, event, status FROM tributary.lesson_event WHERE tribe_id = %s ORDER BY tick, seq"
    return _rows(connection, query, tribe_id)


def _impossible(events: list[Row]) -> list[tuple[UUID, int]]:
    """Returns (lesson, tick) of each event that the state machine of DESIGN does not have."""
    after = {**NEXT, ACTIVE: NEXT[ACTIVE] | {_EVICTED}, _EVICTED: NEXT[RETIRED]}
    brings = {**MOVES, _EVICTED: _EVICTED}
    stands: dict[UUID, str | None] = defaultdict(lambda: None)
    found = []
    for row in events:
        before, now = stands[row["lesson_id"]], brings.get(row["event"])
        legal = row["status"] == before if now is None else row["status"] == now and now in after[before]
        if not legal:
            found.append((row["lesson_id"], row["tick"]))
        stands[row["lesson_id"]] = row["status"]
    return found


def _other_terms(lessons: list[Row]) -> list[UUID]:
    """What is looked for has all of its terms, and what was never looked for has none."""

    def whole(row: Row) -> bool:
        kept = set(row["terms"])
        own = set() if row["text"] is None else set(terms_of(f"{row['situation']}\n{row['text']}"))
        return kept == own or (not kept and not row["looked_for"])

    return [row["lesson_id"] for row in lessons if not whole(row)]


def _other_hash(lessons: list[Row]) -> list[UUID]:
    return [row["lesson_id"] for row in lessons if row["text"] is not None and not _hashes_itself(row)]


def _hashes_itself(row: Row) -> bool:
    said = Draft(
        text=row["text"],
        situation=row["situation"],
        subject=row["subject"],
        kind=Kind(row["kind"]),
        source=Source(how=How(row["source_how"]), ref=row["source_ref"]),
    )
    secret = bytes(row["secret"])
    return (
        bytes(row["content_hash"]) == content_hash(said, secret=secret)
        and row["text_hash"] is not None
        and bytes(row["text_hash"]) == text_hash(said, secret=secret)
        and row["subject_key"] == subject_key(row["subject"])
    )


def _dumped(connection: psycopg.Connection, erased: Collection[str]) -> Iterator[str]:
    """Looks for secrets and erased words through every row of every table."""
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tributary' ORDER BY 1").fetchall()
    for (table,) in tables:
        query = sql.SQL("SELECT t::text FROM tributary.{} t").format(sql.Identifier(table))
        lines = [] if table == "lesson_vector" else [str(line) for (line,) in connection.execute(query)]
        if any(_SECRETS.search(line) for line in lines):
            yield f"{SECRET}: {table}"
        if any(words in line for words in erased for line in lines):
            yield f"{ERASED}: {table}"


def _rows(connection: psycopg.Connection, query: str, tribe_id: UUID) -> list[Row]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), (tribe_id,)).fetchall()
