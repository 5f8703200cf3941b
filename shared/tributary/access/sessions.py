"""Sessions of people at the dashboard: who hands in an agent's token acts as that agent, for hours, by another secret.

    trs_<secret>          of the home cell: the process's own database
    trs_<cell>_<secret>   of a named cell

They are made, hashed and looked up as tokens are (`access.tokens`), and for the same reasons. So a browser keeps no token, and
what it does keep ends soon, and ends at once with its token or its agent.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, IPv6Network, ip_address

from tributary.access.tokens import cell_of, new_secret, principal_of, shape_of, token_hash
from tributary.core.agent import Principal, SignedIn
from tributary.core.clock import Now, utc_now
from tributary.core.errors import TooManyTries, Unauthenticated, UnknownCell
from tributary.core.ids import new_id
from tributary.store import Database, rows, statement

LASTS = timedelta(hours=12)
"""How long a session lasts that its token outlives."""
MOST_FAILURES = 10
"""So many sign-ins of one source that fail within `WITHIN` have it wait until the first of them is longer ago."""
WITHIN = timedelta(minutes=5)
MOST_SOURCES = 10_000
"""Sources whose failures are kept: those that failed last."""
MOST_SESSIONS = 20
"""Sessions that one token has at a time; one more ends the oldest."""
_PREFIX = "trs_"
_SHAPE = shape_of(_PREFIX)
_PURPOSE = b"tributary sign-in from "


def session_cell_of(secret: str) -> str | None:
    """Returns the cell that a session names, None for the home cell; raises Unauthenticated for what cannot be a session."""
    shape = _SHAPE.fullmatch(secret)
    if shape is None:
        raise Unauthenticated("this is no session; sign in")
    return shape[1]


@dataclass(frozen=True, kw_only=True)
class Sessions:
    """Signs people in and out. Fails closed: a try that cannot be counted is refused."""

    database: Database
    now: Now = utc_now
    cell: str | None = None
    """The name of the database, which the secrets carry."""

    def begin(self, token: str, *, source: str) -> SignedIn:
        """Signs in by an agent's token; the audit tells of it. `source` is the address that the try came from.

        Raises Unauthenticated for a token that is unknown, expired or revoked, and TooManyTries with the seconds to wait,
        whatever the token, once too many tries of the source failed. What cannot be a token of this cell is no guess at one:
        it is refused without asking the database, and not counted.
        """
        named = cell_of(token)
        if named not in (None, self.cell):
            raise UnknownCell(named)
        secret = new_secret(_PREFIX, self.cell)
        found = self.database.value(
            statement("access", "begin_session"),
            {
                "source": source_hash(source),
                "token_hash": token_hash(token),
                "session_hash": token_hash(secret),
                "audit_id": new_id(),
                "most_failures": MOST_FAILURES,
                "within": WITHIN,
                "most_sources": MOST_SOURCES,
                "lasts": LASTS,
                "most_sessions": MOST_SESSIONS,
                **self._now,
            },
        )
        if found is None:
            raise Unauthenticated("the token is unknown, expired or revoked")
        row = rows.document(found)
        if "wait_s" in row:
            raise TooManyTries(retry_after_s=row["wait_s"])
        return SignedIn(secret=secret, principal=principal_of(row, cell=self.cell), ends_at=rows.moment(row["ends_at"]))

    def principal(self, secret: str) -> Principal:
        """Returns the agent that is signed in, with its role as stored now. Writes nothing.

        Raises Unauthenticated when the session is unknown or has ended, and when its token or its agent was revoked.
        """
        self._check_cell(secret)
        found = self.database.value(statement("access", "session"), {"session_hash": token_hash(secret), **self._now})
        if found is None:
            raise Unauthenticated("the session has ended; sign in again")
        return principal_of(rows.document(found), cell=self.cell)

    def end(self, secret: str) -> None:
        """Signs out; the audit tells of it. Raises Unauthenticated for what cannot be a session, nothing for one that ended."""
        self._check_cell(secret)
        self.database.value(
            statement("access", "end_session"), {"session_hash": token_hash(secret), "audit_id": new_id(), **self._now}
        )

    def _check_cell(self, secret: str) -> None:
        named = session_cell_of(secret)
        if named not in (None, self.cell):
            raise UnknownCell(named)

    @property
    def _now(self) -> dict[str, object]:
        # the database's clock, so that a host whose own is wrong signs nobody out
        return {"now": None if self.now is utc_now else self.now()}


def source_hash(source: str) -> bytes:
    """Returns the 32 bytes by which the database is told a source. It adds a secret of its own before it keeps them."""
    return hashlib.sha256(_PURPOSE + _source(source).encode(errors="replace")).digest()


def _source(address: str) -> str:
    """Returns what counts as one source: an IPv4 address, the 64 bits of an IPv6 address that a network has, or the text itself.

    Within its network whoever has an IPv6 address has 2^64 of them.
    """
    try:
        known = ip_address(address.strip())
    except ValueError:
        return address
    if not isinstance(known, IPv6Address):
        return str(known)
    return str(known.ipv4_mapped or IPv6Network((int(known), 64), strict=False))
