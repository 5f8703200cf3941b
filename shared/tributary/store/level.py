"""Which schema this code may run on: a contracting migration says how old the code may be (`schema_requirement`)."""

from __future__ import annotations

from tributary.core.errors import CodeTooOld, NotMigrated

CODE_LEVEL = 1
"""Raised by each release whose code can do without something that a contracting migration then removes."""


def check_level(oldest_code: int) -> None:
    """Raises CodeTooOld when the schema asks for newer code than this."""
    if oldest_code > CODE_LEVEL:
        raise CodeTooOld


BASELINE = "baseline.9"
"""The revision of the first migration, counted up whenever that is rewritten, which ends with the first release."""
OTHER_VERSION = (
    "the database holds the schema of another version of Tributary, which this one does not know: a newer one, or one"
    " from before the first release; use that version, or a new database"
)
_REWRITTEN = "baseline."
"""Begins the revisions that were rewritten, not migrated from."""


def is_known(revision: str) -> bool:
    """Tells whether a schema of this revision can be migrated to this code's, or is a later one, whose level says the rest."""
    return revision == BASELINE or (bool(revision) and not revision.startswith(_REWRITTEN))


def check_revision(revision: str) -> None:
    """Raises NotMigrated, saying that migrating is no remedy, when the schema is one that no migration leads from."""
    if not is_known(revision):
        raise NotMigrated(OTHER_VERSION)
