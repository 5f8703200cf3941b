"""PostgreSQL: connections, the schema and its functions, migrations, and the embedded server."""

from tributary.store import failures, rows
from tributary.store.database import Database, Target, connect
from tributary.store.level import CODE_LEVEL, check_level, check_revision, is_known
from tributary.store.patience import within
from tributary.store.queries import statement
from tributary.store.reading import Reading, Replicated, Side, Watched, may_answer_still
from tributary.store.roles import OWNER, RUNTIME

__all__ = [
    "CODE_LEVEL",
    "OWNER",
    "RUNTIME",
    "Database",
    "Reading",
    "Replicated",
    "Side",
    "Target",
    "Watched",
    "check_level",
    "check_revision",
    "connect",
    "failures",
    "is_known",
    "may_answer_still",
    "rows",
    "statement",
    "within",
]
